/*
 * pprof's profile.proto: stacks, or blocks of code where there are no stacks, with
 * all that they weigh.
 *
 * Source: pprof, proto/profile.proto.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/profile/function_text.h"
#include "base/fail.h"
#include "base/text_pool.h"
#include "export/formats.h"
#include "export/stacks/profile_addresses.h"
#include "export/stacks/profile_walk.h"
#include "export/protobuf_writer.h"

#define STEP_BYTES 65536u
#define BATCH 64
/* Frames of a stack; those that are farther from its leaf are summed up. */
#define DEFAULT_DEPTH 1024u
#define THREAD_TEXT 512
/* Of HWTD_MAX_BUILD_ID bytes, as text. */
#define BUILD_ID_TEXT (2 * HWTD_MAX_BUILD_ID + 1)

/* Fields of messages. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
	TYPE_TYPE = 1,
	TYPE_UNIT = 2,
	SAMPLE_LOCATION_ID = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_STR = 2,
	LABEL_NUM = 3,
	MAPPING_ID = 1,
	MAPPING_MEMORY_START = 2,
	MAPPING_MEMORY_LIMIT = 3,
	MAPPING_FILE_OFFSET = 4,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8,
	MAPPING_HAS_LINE_NUMBERS = 9,
	MAPPING_HAS_INLINE_FRAMES = 10,
	LOCATION_ID = 1,
	LOCATION_MAPPING_ID = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION_ID = 1,
	LINE_LINE = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
	FUNCTION_START_LINE = 5
};

enum {
	VALUE_CALLS,
	VALUE_INSNS,
	VALUE_CYCLES,
	VALUE_TIME,
	VALUE_GAPS
};

#define VALUES 5

enum phase {
	PHASE_TYPES,
	PHASE_STACKS,
	PHASE_BLOCKS,
	PHASE_PLACES,
	PHASE_MAPPINGS,
	PHASE_STRINGS,
	PHASE_END
};

struct pprof {
	struct hwtdi_profile_walk walk;
	struct hwtdi_profile_addresses code;
	struct hwtdi_protobuf pb;
	struct hwtdi_text_pool strings;
	enum phase phase;
	uint32_t max_depth;
	/* Shape [n_functions + HWTDI_PLACES]: places that samples have. */
	uint8_t *used;
	/* The same: texts of files of what was inlined, + 1; 0: none. */
	uint32_t *files;
	/* Shape [n_images]: time or instructions of their own code. */
	uint64_t *weights;
	/* Of the thread at hand: number of its text, 0: none. */
	uint32_t thread_text;
	struct hwtd_profile_thread thread;
	uint64_t at;
};

/* Numbers of pprof begin with 1. */
static uint64_t
id_of(uint64_t number)
{
	return (number + 1);
}

static uint32_t
n_places(const struct pprof *p)
{
	return (p->walk.info.n_functions + HWTDI_PLACES);
}

static void
close_pprof(struct hwtd_export *ex)
{
	struct pprof *p = ex->state;

	if (p->used != NULL)
		hwtdi_free(ex->ctx, p->used, n_places(p));
	if (p->files != NULL)
		hwtdi_free(ex->ctx, p->files, n_places(p) * sizeof(*p->files));
	if (p->weights != NULL)
		hwtdi_free(ex->ctx, p->weights,
		    ((size_t)p->walk.info.n_images + 1) * sizeof(*p->weights));
	hwtdi_text_pool_fini(&p->strings, ex->ctx);
	hwtdi_protobuf_fini(&p->pb);
	hwtdi_profile_addresses_close(&p->code);
	hwtdi_profile_walk_close(&p->walk);
}

static int
open_pprof(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct pprof *p = ex->state;
	int rc;

	if (ex->source.profile == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "format pprof is made of a profile, not of a flame"));
	p->max_depth = ex->options.max_depth != 0 ? ex->options.max_depth
						  : DEFAULT_DEPTH;
	hwtdi_protobuf_init(&p->pb, ex->ctx);
	rc = hwtdi_profile_walk_open(&p->walk, ex->ctx, ex->source.profile,
	    err);
	if (rc == HWTD_OK)
		rc = hwtdi_profile_addresses_open(&p->code, ex->ctx,
		    ex->source.profile, &p->walk.info, err);
	if (rc == HWTD_OK) {
		p->used = hwtdi_zalloc(ex->ctx, n_places(p));
		p->files = hwtdi_zalloc(ex->ctx,
		    n_places(p) * sizeof(*p->files));
		p->weights = hwtdi_zalloc(ex->ctx,
		    ((size_t)p->walk.info.n_images + 1) * sizeof(*p->weights));
		if (p->used == NULL || p->files == NULL || p->weights == NULL)
			rc = hwtdi_fail_nomem(err, n_places(p));
	}
	if (rc != HWTD_OK)
		close_pprof(ex);
	return (rc);
}

/* Strings. */

/* A text by its number in the table; 0 if there is no memory, which is told. */
static uint64_t
string_of(struct hwtd_export *ex, const char *text)
{
	struct pprof *p = ex->state;
	struct hwtd_error err;
	uint32_t number = 0;

	hwtdi_error_begin(&err);
	if (hwtdi_text_pool_add(&p->strings, ex->ctx, text, &number, &err) !=
	    HWTD_OK)
		hwtdi_sink_fail(&ex->sink, &err);
	return (number);
}

static void
put_string(struct hwtd_export *ex, uint32_t field, const char *text)
{
	struct pprof *p = ex->state;

	if (text != NULL && text[0] != '\0')
		hwtdi_protobuf_u64(&p->pb, field, string_of(ex, text));
}

/* What there is to be told of all. */

static void
put_types(struct hwtd_export *ex)
{
	static const char *const types[VALUES][2] = {
		[VALUE_CALLS] = { "calls", "count" },
		[VALUE_INSNS] = { "instructions", "count" },
		[VALUE_CYCLES] = { "cycles", "count" },
		[VALUE_TIME] = { "time", "nanoseconds" },
		[VALUE_GAPS] = { "gaps", "nanoseconds" },
	};
	struct pprof *p = ex->state;
	const struct hwtd_profile_info *info = &p->walk.info;
	int first = info->total.ns != 0 ? VALUE_TIME : VALUE_INSNS;
	char text[256];

	for (size_t i = 0; i < VALUES; i++) {
		const size_t begin = hwtdi_protobuf_begin(&p->pb,
		    PROFILE_SAMPLE_TYPE);

		put_string(ex, TYPE_TYPE, types[i][0]);
		put_string(ex, TYPE_UNIT, types[i][1]);
		hwtdi_protobuf_end(&p->pb, begin);
	}
	switch (ex->options.value) {
	case HWTD_VALUE_INSNS:
		first = VALUE_INSNS;
		break;
	case HWTD_VALUE_TIME:
		first = VALUE_TIME;
		break;
	case HWTD_VALUE_CYCLES:
		first = VALUE_CYCLES;
		break;
	case HWTD_VALUE_CALLS:
		first = VALUE_CALLS;
		break;
	default:
		break;
	}
	put_string(ex, PROFILE_DEFAULT_SAMPLE_TYPE, types[first][0]);
	put_string(ex, PROFILE_COMMENT, ex->options.title);
	hwtdi_unseen_text(info, text, sizeof(text));
	put_string(ex, PROFILE_COMMENT, text);
}

/* Samples. */

/* Numbers are signed there. */
static void
put_value(struct pprof *p, uint64_t v)
{
	hwtdi_protobuf_packed(&p->pb, v > INT64_MAX ? INT64_MAX : v);
}

static void
put_values(struct pprof *p, const struct hwtd_profile_sums *sums)
{
	const size_t begin = hwtdi_protobuf_begin(&p->pb, SAMPLE_VALUE);

	put_value(p, sums->calls);
	put_value(p, sums->insns);
	put_value(p, sums->cycles);
	put_value(p, sums->ns);
	put_value(p, sums->gap_ns);
	hwtdi_protobuf_end(&p->pb, begin);
}

static void
put_number_label(struct hwtd_export *ex, const char *key, uint32_t number)
{
	struct pprof *p = ex->state;
	size_t begin;

	if (number == HWTD_NO_ID)
		return;
	begin = hwtdi_protobuf_begin(&p->pb, SAMPLE_LABEL);
	put_string(ex, LABEL_KEY, key);
	hwtdi_protobuf_u64(&p->pb, LABEL_NUM, number);
	hwtdi_protobuf_end(&p->pb, begin);
}

static void
put_labels(struct hwtd_export *ex)
{
	struct pprof *p = ex->state;
	size_t begin;

	if (p->thread_text == 0)
		return;
	begin = hwtdi_protobuf_begin(&p->pb, SAMPLE_LABEL);
	put_string(ex, LABEL_KEY, "thread");
	hwtdi_protobuf_u64(&p->pb, LABEL_STR, p->thread_text);
	hwtdi_protobuf_end(&p->pb, begin);
	put_number_label(ex, "pid", p->thread.pid);
	put_number_label(ex, "tid", p->thread.tid);
}

static void
begin_thread(struct hwtd_export *ex)
{
	struct pprof *p = ex->state;
	char text[THREAD_TEXT];

	p->thread_text = 0;
	if (p->walk.thread == HWTD_NO_ID)
		return;
	p->thread = (struct hwtd_profile_thread){ .size = sizeof(p->thread),
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID };
	(void)hwtd_profile_thread(p->walk.profile, p->walk.thread, &p->thread);
	hwtdi_thread_text(p->walk.profile, p->walk.thread, text, sizeof(text));
	p->thread_text = (uint32_t)string_of(ex, text);
}

/* The image with most of the work is the program, for the reader. */
static void
add_weight(struct pprof *p, const struct hwtd_profile_node *node)
{
	struct hwtd_profile_function f = { .size = sizeof(f) };
	uint64_t *to, weight;

	if (node->function >= p->walk.info.n_functions ||
	    hwtd_profile_function(p->walk.profile, node->function, &f) !=
		HWTD_OK ||
	    f.image >= p->walk.info.n_images)
		return;
	to = &p->weights[f.image];
	weight = p->walk.info.total.ns != 0 ? node->self.ns : node->self.insns;
	*to = *to > UINT64_MAX - weight ? UINT64_MAX : *to + weight;
}

static void
put_stack(struct hwtd_export *ex, const struct hwtd_profile_node *node)
{
	struct pprof *p = ex->state;
	const struct hwtd_profile_sums *self = &node->self;
	const size_t sample = hwtdi_protobuf_begin(&p->pb, PROFILE_SAMPLE);
	const size_t ids = hwtdi_protobuf_begin(&p->pb, SAMPLE_LOCATION_ID);
	uint32_t frames = 0, place;

	for (uint32_t i = node->depth; i > 0 && frames < p->max_depth;
	     i--, frames++) {
		place = p->walk.path[i];
		p->used[place] = 1;
		hwtdi_protobuf_packed(&p->pb, id_of(place));
	}
	if (frames < node->depth || node->depth == 0) {
		place = p->walk.info.n_functions +
		    (node->depth == 0 ? HWTDI_PLACE_UNKNOWN
				      : HWTDI_PLACE_DEEPER);
		p->used[place] = 1;
		hwtdi_protobuf_packed(&p->pb, id_of(place));
		ex->info.merged += node->depth - frames;
	}
	hwtdi_protobuf_end(&p->pb, ids);
	put_values(p, self);
	put_labels(ex);
	hwtdi_protobuf_end(&p->pb, sample);
	add_weight(p, node);
	ex->info.rows++;
}

/* True: there may be more. */
static bool
step_stacks(struct hwtd_export *ex, int *rc, struct hwtd_error *err)
{
	struct pprof *p = ex->state;
	struct hwtd_profile_node node;

	*rc = hwtdi_profile_walk_next(&p->walk, &node, err);
	if (*rc != HWTD_OK)
		return (false);
	if (node.depth == 0)
		begin_thread(ex);
	if ((node.self.calls | node.self.insns | node.self.cycles |
		node.self.ns | node.self.gap_ns) != 0)
		put_stack(ex, &node);
	return (true);
}

/* Code without stacks: each block is a place of its own. */

static void
put_line(struct pprof *p, uint32_t function, uint32_t line)
{
	const size_t begin = hwtdi_protobuf_begin(&p->pb, LOCATION_LINE);
	const uint32_t place = function < p->walk.info.n_functions
	    ? function
	    : p->walk.info.n_functions + HWTDI_PLACE_UNKNOWN;

	p->used[place] = 1;
	hwtdi_protobuf_u64(&p->pb, LINE_FUNCTION_ID, id_of(place));
	if (line != 0)
		hwtdi_protobuf_u64(&p->pb, LINE_LINE, line);
	hwtdi_protobuf_end(&p->pb, begin);
}

static void
put_block(struct hwtd_export *ex, const struct hwtd_profile_block *block,
    uint64_t number)
{
	struct pprof *p = ex->state;
	const uint64_t id = id_of(number + n_places(p));
	const bool inlined = block->inlined != HWTD_NO_ID &&
	    block->inlined != block->function;
	struct hwtd_profile_sums sums = { .insns = 0 };
	size_t begin, ids;

	sums.insns = block->insns != 0 &&
		block->count > UINT64_MAX / block->insns
	    ? UINT64_MAX
	    : block->count * block->insns;
	begin = hwtdi_protobuf_begin(&p->pb, PROFILE_SAMPLE);
	ids = hwtdi_protobuf_begin(&p->pb, SAMPLE_LOCATION_ID);
	hwtdi_protobuf_packed(&p->pb, id);
	hwtdi_protobuf_end(&p->pb, ids);
	put_values(p, &sums);
	hwtdi_protobuf_end(&p->pb, begin);

	begin = hwtdi_protobuf_begin(&p->pb, PROFILE_LOCATION);
	hwtdi_protobuf_u64(&p->pb, LOCATION_ID, id);
	if (block->image < p->walk.info.n_images) {
		hwtdi_protobuf_u64(&p->pb, LOCATION_MAPPING_ID,
		    id_of(block->image));
		p->weights[block->image] += sums.insns;
	}
	hwtdi_protobuf_u64(&p->pb, LOCATION_ADDRESS,
	    hwtdi_profile_address(&p->code, block->image, block->file_off));
	if (inlined) {
		put_line(p, block->inlined, block->line);
		if (block->inlined < p->walk.info.n_functions &&
		    p->files[block->inlined] == 0)
			p->files[block->inlined] = (uint32_t)string_of(ex,
						       block->file) +
			    1;
	}
	put_line(p, block->function, inlined ? 0 : block->line);
	hwtdi_protobuf_end(&p->pb, begin);
	ex->info.rows++;
}

static bool
step_blocks(struct hwtd_export *ex, int *rc, struct hwtd_error *err)
{
	struct pprof *p = ex->state;
	struct hwtd_profile_block blocks[BATCH];
	size_t n;

	*rc = hwtd_profile_blocks(p->walk.profile, p->at, blocks,
	    sizeof(*blocks), BATCH, &n);
	if (*rc == HWTD_END)
		return (false);
	if (*rc != HWTD_OK) {
		(void)hwtdi_fail(err, *rc,
		    "code of the profile cannot be read");
		return (false);
	}
	for (size_t i = 0; i < n; i++)
		put_block(ex, &blocks[i], p->at + i);
	p->at += n;
	return (true);
}

/* What samples name. */

static void
put_place(struct hwtd_export *ex, uint32_t place)
{
	struct pprof *p = ex->state;
	const uint32_t n = p->walk.info.n_functions;
	struct hwtd_profile_function f = { .size = sizeof(f),
		.image = HWTD_NO_ID };
	struct hwtd_profile_image image = { .size = sizeof(image) };
	char text[HWTDI_FUNCTION_TEXT];
	const char *name = place < n ? NULL : hwtdi_place_name(place - n);
	size_t begin, line;

	if (place < n)
		(void)hwtd_profile_function(p->walk.profile, place, &f);
	if (f.image < p->walk.info.n_images)
		(void)hwtd_profile_image(p->walk.profile, f.image, &image);
	if (place < n && f.name != NULL) {
		name = f.name;
	} else if (place < n) {
		hwtdi_function_text(&f, &image, text);
		name = text;
	}
	begin = hwtdi_protobuf_begin(&p->pb, PROFILE_FUNCTION);
	hwtdi_protobuf_u64(&p->pb, FUNCTION_ID, id_of(place));
	put_string(ex, FUNCTION_NAME, name);
	put_string(ex, FUNCTION_SYSTEM_NAME,
	    f.linkage_name != NULL ? f.linkage_name : name);
	if (f.file == NULL && p->files[place] > 1)
		hwtdi_protobuf_u64(&p->pb, FUNCTION_FILENAME,
		    p->files[place] - 1);
	put_string(ex, FUNCTION_FILENAME, f.file);
	if (f.line != 0)
		hwtdi_protobuf_u64(&p->pb, FUNCTION_START_LINE, f.line);
	hwtdi_protobuf_end(&p->pb, begin);

	/* Of blocks there are places already. */
	if (p->at != 0)
		return;
	begin = hwtdi_protobuf_begin(&p->pb, PROFILE_LOCATION);
	hwtdi_protobuf_u64(&p->pb, LOCATION_ID, id_of(place));
	if (f.image < p->walk.info.n_images)
		hwtdi_protobuf_u64(&p->pb, LOCATION_MAPPING_ID,
		    id_of(f.image));
	if (place < n)
		hwtdi_protobuf_u64(&p->pb, LOCATION_ADDRESS,
		    hwtdi_profile_function_address(&p->code, &f));
	line = hwtdi_protobuf_begin(&p->pb, LOCATION_LINE);
	hwtdi_protobuf_u64(&p->pb, LINE_FUNCTION_ID, id_of(place));
	if (f.line != 0)
		hwtdi_protobuf_u64(&p->pb, LINE_LINE, f.line);
	hwtdi_protobuf_end(&p->pb, line);
	hwtdi_protobuf_end(&p->pb, begin);
}

static void
put_mapping(struct hwtd_export *ex, uint32_t no)
{
	struct pprof *p = ex->state;
	const struct hwtdi_profile_range *range = &p->code.ranges[no];
	struct hwtd_profile_image image = { .size = sizeof(image) };
	char build_id[BUILD_ID_TEXT] = "";
	size_t begin;

	(void)hwtd_profile_image(p->walk.profile, no, &image);
	for (uint32_t i = 0; i < image.n_build_id && i < HWTD_MAX_BUILD_ID;
	     i++)
		(void)snprintf(build_id + (size_t)2 * i, 3, "%02x",
		    image.build_id[i]);
	begin = hwtdi_protobuf_begin(&p->pb, PROFILE_MAPPING);
	hwtdi_protobuf_u64(&p->pb, MAPPING_ID, id_of(no));
	hwtdi_protobuf_u64(&p->pb, MAPPING_MEMORY_START,
	    hwtdi_profile_address(&p->code, no, range->first));
	hwtdi_protobuf_u64(&p->pb, MAPPING_MEMORY_LIMIT,
	    hwtdi_profile_address(&p->code, no, range->end));
	if ((image.flags & HWTD_PROFILE_IMAGEF_ADDRESSES) == 0)
		hwtdi_protobuf_u64(&p->pb, MAPPING_FILE_OFFSET, range->first);
	put_string(ex, MAPPING_FILENAME, image.name);
	put_string(ex, MAPPING_BUILD_ID, build_id);
	/* Readers look nothing up that is told. */
	hwtdi_protobuf_u64(&p->pb, MAPPING_HAS_FUNCTIONS, 1);
	hwtdi_protobuf_u64(&p->pb, MAPPING_HAS_FILENAMES, 1);
	hwtdi_protobuf_u64(&p->pb, MAPPING_HAS_LINE_NUMBERS, 1);
	hwtdi_protobuf_u64(&p->pb, MAPPING_HAS_INLINE_FRAMES, 1);
	hwtdi_protobuf_end(&p->pb, begin);
}

/* The first one is that of the program. */
static void
put_mappings(struct hwtd_export *ex)
{
	struct pprof *p = ex->state;
	const uint32_t n = p->walk.info.n_images;
	uint32_t first = 0;

	for (uint32_t i = 1; i < n; i++)
		if (p->weights[i] > p->weights[first])
			first = i;
	if (n > 0)
		put_mapping(ex, first);
	for (uint32_t i = 0; i < n; i++)
		if (i != first)
			put_mapping(ex, i);
}

static int
step_pprof(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct pprof *p = ex->state;
	int rc = HWTD_OK;

	while (p->phase != PHASE_END && p->pb.n < STEP_BYTES && rc >= 0) {
		bool more = false;

		rc = HWTD_OK;
		switch (p->phase) {
		case PHASE_TYPES:
			put_types(ex);
			break;
		case PHASE_STACKS:
			more = step_stacks(ex, &rc, err);
			break;
		case PHASE_BLOCKS:
			more = p->walk.info.seen[HWTD_PROFILE_CALLS].added ==
				0 &&
			    step_blocks(ex, &rc, err);
			break;
		case PHASE_PLACES:
			for (uint32_t i = 0; i < n_places(p); i++)
				if (p->used[i] != 0)
					put_place(ex, i);
			break;
		case PHASE_MAPPINGS:
			put_mappings(ex);
			break;
		default:
			hwtdi_protobuf_text(&p->pb, PROFILE_STRING_TABLE, "");
			for (size_t i = 0; i < p->strings.n; i++)
				hwtdi_protobuf_text(&p->pb,
				    PROFILE_STRING_TABLE, p->strings.at[i]);
			break;
		}
		if (!more)
			p->phase++;
	}
	hwtdi_protobuf_flush(&p->pb, &ex->sink);
	if (rc < 0)
		return (rc);
	return (p->phase == PHASE_END ? HWTD_END : HWTD_OK);
}

const struct hwtdi_exporter_ops hwtdi_pprof_ops = {
	.format = HWTD_FORMAT_PPROF,
	.source = HWTD_SOURCE_PROFILE,
	.name = "pprof",
	.suffixes = ".pb.gz .pprof",
	.viewer = "pprof",
	.packed = true,
	.state_bytes = sizeof(struct pprof),
	.open = open_pprof,
	.step = step_pprof,
	.close = close_pprof,
};
