/*
 * The format of callgrind: what functions weigh, and whom they call.
 *
 * A call weighs what was executed in it with all that it called, but a function
 * that is running already, somewhere below, adds nothing by being called again: so
 * what leads to a function adds up to what it weighs with all it called, once.
 * Readers that look for cycles find the same.  Every function is called: those that
 * were found running are by one of their thread.
 *
 * Source: Valgrind, "Callgrind Format Specification".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile/function_text.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/sort.h"
#include "base/text_pool.h"
#include "export/formats.h"
#include "export/stacks/line_text.h"
#include "export/stacks/profile_addresses.h"
#include "export/stacks/profile_walk.h"

#define STEP_BYTES 65536u

enum {
	EVENT_INSNS,
	EVENT_CYCLES,
	EVENT_TIME,
	EVENT_GAPS,
	EVENT_OFF
};

#define EVENTS 5

static const struct {
	const char *name, *meaning;
} events[EVENTS] = {
	[EVENT_INSNS] = { "Ir", "Instructions" },
	[EVENT_CYCLES] = { "Cycles", "CPU cycles" },
	[EVENT_TIME] = { "Ns", "Time (ns)" },
	[EVENT_GAPS] = { "GapNs", "Time in gaps (ns)" },
	[EVENT_OFF] = { "OffNs", "Time not running (ns)" },
};

struct cost {
	uint64_t of[EVENTS];
};

struct arc {
	uint32_t from, to;
	uint64_t calls;
	struct cost cost;
};

enum phase {
	PHASE_HEAD,
	PHASE_BODY
};

struct callgrind {
	struct hwtdi_profile_walk walk;
	struct hwtdi_profile_addresses code;
	enum phase phase;
	/* In the order in which they are written; so many. */
	uint8_t shown[EVENTS];
	size_t n_shown;
	/* Functions, what is none, and threads. */
	uint32_t n_places;
	/* Shape [n_places]: of itself; calls of it that are running. */
	struct cost *self;
	uint32_t *running;
	struct arc *arcs;
	size_t n_arcs, cap_arcs;
	struct hwtdi_index arc_index;
	/* Files by number; names of which numbers were given already. */
	struct hwtdi_text_pool files;
	size_t n_files;
	uint8_t *named_places, *named_images;
	/* What is written next. */
	uint32_t place;
	size_t arc;
	uint64_t block;
};

static void
add_cost(struct cost *to, const struct hwtd_profile_sums *from)
{
	const uint64_t values[EVENTS] = {
		[EVENT_INSNS] = from->insns,
		[EVENT_CYCLES] = from->cycles,
		[EVENT_TIME] = from->ns,
		[EVENT_GAPS] = from->gap_ns,
		[EVENT_OFF] = from->off_ns,
	};

	for (size_t i = 0; i < EVENTS; i++)
		to->of[i] = to->of[i] > UINT64_MAX - values[i]
		    ? UINT64_MAX
		    : to->of[i] + values[i];
}

/* Collecting. */

static int
find_arc(struct hwtd_export *ex, uint32_t from, uint32_t to,
    struct arc **arc_out, struct hwtd_error *err)
{
	struct callgrind *c = ex->state;
	const uint64_t hash = hwtdi_hash_pair(ex->ctx->seed, from, to);
	size_t tries = 0;
	uint32_t no;
	int rc;

	while (hwtdi_index_next(&c->arc_index, hash, &tries, &no))
		if (c->arcs[no].from == from && c->arcs[no].to == to) {
			*arc_out = &c->arcs[no];
			return (HWTD_OK);
		}
	rc = hwtdi_index_reserve(&c->arc_index, ex->ctx, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ex->ctx, &c->arcs, &c->cap_arcs,
		    c->n_arcs + 1, sizeof(*c->arcs), err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_index_put(&c->arc_index, hash, (uint32_t)c->n_arcs);
	*arc_out = &c->arcs[c->n_arcs++];
	**arc_out = (struct arc){ .from = from, .to = to };
	return (HWTD_OK);
}

/* The root of a thread is a place of its own. */
static uint32_t
place_at(const struct callgrind *c, uint32_t depth)
{
	const uint32_t root = c->walk.info.n_functions + HWTDI_PLACES;

	return (depth == 0 && c->walk.thread < c->walk.info.n_threads
		? root + c->walk.thread
		: c->walk.path[depth]);
}

static int
add_node(struct hwtd_export *ex, const struct hwtd_profile_node *node,
    struct hwtd_error *err)
{
	struct callgrind *c = ex->state;
	const uint32_t place = place_at(c, node->depth);
	struct arc *arc;
	int rc;

	add_cost(&c->self[place], &node->self);
	c->running[place]++;
	if (node->depth == 0)
		return (HWTD_OK);
	rc = find_arc(ex, place_at(c, node->depth - 1), place, &arc, err);
	if (rc != HWTD_OK)
		return (rc);
	arc->calls = arc->calls > UINT64_MAX - node->self.calls
	    ? UINT64_MAX
	    : arc->calls + node->self.calls;
	if (c->running[place] == 1)
		add_cost(&arc->cost, &node->total);
	return (HWTD_OK);
}

static int
by_caller(const void *a, const void *b)
{
	const struct arc *x = a, *y = b;

	if (x->from != y->from)
		return (x->from < y->from ? -1 : 1);
	return (x->to < y->to ? -1 : x->to > y->to);
}

/*
 * The path is that of the node that was read last, so places that ended are those
 * of the path before; they are kept aside.
 */
static int
collect(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct callgrind *c = ex->state;
	struct hwtd_profile_node node;
	uint32_t *open = NULL;
	size_t cap = 0, n = 0;
	int rc;

	while ((rc = hwtdi_profile_walk_next(&c->walk, &node, err)) ==
	    HWTD_OK) {
		while (n > node.depth)
			c->running[open[--n]]--;
		rc = hwtdi_array_grow(ex->ctx, &open, &cap, n + 1,
		    sizeof(*open), err);
		if (rc == HWTD_OK)
			rc = add_node(ex, &node, err);
		if (rc != HWTD_OK)
			break;
		open[n++] = place_at(c, node.depth);
	}
	hwtdi_array_free(ex->ctx, open, cap, sizeof(*open));
	if (rc != HWTD_END)
		return (rc);
	hwtdi_index_fini(&c->arc_index, ex->ctx);
	return (hwtdi_sort(ex->ctx, c->arcs, c->n_arcs, sizeof(*c->arcs),
	    by_caller, err));
}

static void
choose_events(struct hwtd_export *ex)
{
	struct callgrind *c = ex->state;
	const struct hwtd_profile_sums *total = &c->walk.info.total;
	struct cost all = { .of = { 0 } };
	uint8_t first = total->ns != 0 ? EVENT_TIME : EVENT_INSNS;

	add_cost(&all, total);
	if (ex->options.value == HWTD_VALUE_INSNS)
		first = EVENT_INSNS;
	else if (ex->options.value == HWTD_VALUE_TIME)
		first = EVENT_TIME;
	else if (ex->options.value == HWTD_VALUE_CYCLES)
		first = EVENT_CYCLES;
	c->shown[c->n_shown++] = first;
	for (uint8_t i = 0; i < EVENTS; i++)
		if (i != first && all.of[i] != 0)
			c->shown[c->n_shown++] = i;
}

static size_t
named_bytes(const struct callgrind *c)
{
	return ((size_t)c->n_places + c->walk.info.n_images + 1);
}

static void
close_callgrind(struct hwtd_export *ex)
{
	struct callgrind *c = ex->state;

	if (c->self != NULL)
		hwtdi_free(ex->ctx, c->self, c->n_places * sizeof(*c->self));
	if (c->running != NULL)
		hwtdi_free(ex->ctx, c->running,
		    c->n_places * sizeof(*c->running));
	if (c->named_places != NULL)
		hwtdi_free(ex->ctx, c->named_places, named_bytes(c));
	hwtdi_array_free(ex->ctx, c->arcs, c->cap_arcs, sizeof(*c->arcs));
	hwtdi_index_fini(&c->arc_index, ex->ctx);
	hwtdi_text_pool_fini(&c->files, ex->ctx);
	hwtdi_profile_addresses_close(&c->code);
	hwtdi_profile_walk_close(&c->walk);
}

static int
make_places(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct callgrind *c = ex->state;

	c->n_places = c->walk.info.n_functions + HWTDI_PLACES +
	    c->walk.info.n_threads;
	c->self = hwtdi_zalloc(ex->ctx, c->n_places * sizeof(*c->self));
	c->running = hwtdi_zalloc(ex->ctx, c->n_places * sizeof(*c->running));
	c->named_places = hwtdi_zalloc(ex->ctx, named_bytes(c));
	if (c->self == NULL || c->running == NULL || c->named_places == NULL)
		return (hwtdi_fail_nomem(err, c->n_places * sizeof(*c->self)));
	c->named_images = c->named_places + c->n_places;
	return (HWTD_OK);
}

static int
open_callgrind(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct callgrind *c = ex->state;
	int rc;

	if (ex->source.profile == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "format callgrind is made of a profile, not of a flame"));
	if (ex->options.value == HWTD_VALUE_CALLS)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "calls are no cost in format callgrind"));
	rc = hwtdi_profile_walk_open(&c->walk, ex->ctx, ex->source.profile,
	    err);
	if (rc == HWTD_OK)
		rc = hwtdi_profile_addresses_open(&c->code, ex->ctx,
		    ex->source.profile, &c->walk.info, err);
	if (rc == HWTD_OK)
		rc = make_places(ex, err);
	if (rc == HWTD_OK)
		rc = collect(ex, err);
	if (rc == HWTD_OK)
		choose_events(ex);
	else
		close_callgrind(ex);
	return (rc);
}

/* Names: a number in parentheses, the first time with the text behind it. */

struct what {
	struct hwtd_profile_function function;
	uint64_t address;
	/* The name, between these. */
	const char *open, *name, *close;
	const char *image_name;
	char text[HWTDI_FUNCTION_TEXT];
};

static void
look_up(struct callgrind *c, uint32_t place, struct what *what)
{
	const uint32_t n = c->walk.info.n_functions;
	struct hwtd_profile_image image = { .size = sizeof(image) };

	memset(what, 0, sizeof(*what));
	what->open = what->close = "";
	what->function.size = sizeof(what->function);
	what->function.image = HWTD_NO_ID;
	if (place >= n + HWTDI_PLACES) {
		hwtdi_thread_text(c->walk.profile, place - n - HWTDI_PLACES,
		    what->text, sizeof(what->text));
		what->open = "[thread ";
		what->name = what->text;
		what->close = "]";
		return;
	}
	if (place >= n) {
		what->name = hwtdi_place_name(place - n);
		return;
	}
	(void)hwtd_profile_function(c->walk.profile, place, &what->function);
	if (what->function.image < c->walk.info.n_images)
		(void)hwtd_profile_image(c->walk.profile, what->function.image,
		    &image);
	what->image_name = image.name;
	what->name = what->function.name;
	what->address = hwtdi_profile_function_address(&c->code,
	    &what->function);
	if (what->name == NULL) {
		hwtdi_function_text(&what->function, &image, what->text);
		what->name = what->text;
	}
}

static void
put_image(struct hwtd_export *ex, const char *key, const struct what *what)
{
	struct callgrind *c = ex->state;
	const uint32_t no = what->function.image < c->walk.info.n_images
	    ? what->function.image
	    : c->walk.info.n_images;

	hwtdi_sink_format(&ex->sink, "%s=(%llu)", key,
	    (unsigned long long)no + 1);
	if (c->named_images[no] == 0) {
		hwtdi_sink_char(&ex->sink, ' ');
		hwtdi_line_text(&ex->sink,
		    what->image_name != NULL ? what->image_name : "???", "");
		c->named_images[no] = 1;
	}
	hwtdi_sink_char(&ex->sink, '\n');
}

static void
put_file(struct hwtd_export *ex, const char *key, const char *file)
{
	struct callgrind *c = ex->state;
	struct hwtd_error err;
	uint32_t no = 0;

	hwtdi_error_begin(&err);
	if (hwtdi_text_pool_add(&c->files, ex->ctx,
		file != NULL && file[0] != '\0' ? file : "???", &no,
		&err) != HWTD_OK)
		hwtdi_sink_fail(&ex->sink, &err);
	hwtdi_sink_format(&ex->sink, "%s=(%llu)", key, (unsigned long long)no);
	if (no > c->n_files) {
		c->n_files = no;
		hwtdi_sink_char(&ex->sink, ' ');
		hwtdi_line_text(&ex->sink, hwtdi_text_pool_get(&c->files, no),
		    "");
	}
	hwtdi_sink_char(&ex->sink, '\n');
}

static void
put_function(struct hwtd_export *ex, const char *key, uint32_t place,
    const struct what *what)
{
	struct callgrind *c = ex->state;

	hwtdi_sink_format(&ex->sink, "%s=(%llu)", key,
	    (unsigned long long)place + 1);
	if (c->named_places[place] == 0) {
		hwtdi_sink_char(&ex->sink, ' ');
		hwtdi_sink_text(&ex->sink, what->open);
		hwtdi_line_text(&ex->sink, what->name, "");
		hwtdi_sink_text(&ex->sink, what->close);
		c->named_places[place] = 1;
	}
	hwtdi_sink_char(&ex->sink, '\n');
}

/* Costs. */

/* Addresses and lines as they are: some readers go wrong on relative ones. */
static void
put_cost(struct hwtd_export *ex, uint64_t address, uint32_t line,
    const struct cost *cost)
{
	const struct callgrind *c = ex->state;

	hwtdi_sink_format(&ex->sink, "0x%llx %u", (unsigned long long)address,
	    line);
	for (size_t i = 0; i < c->n_shown; i++) {
		hwtdi_sink_char(&ex->sink, ' ');
		hwtdi_sink_u64(&ex->sink, cost->of[c->shown[i]]);
	}
	hwtdi_sink_char(&ex->sink, '\n');
}

static void
put_head(struct hwtd_export *ex)
{
	struct callgrind *c = ex->state;
	struct hwtdi_sink *sink = &ex->sink;
	char text[256];

	hwtdi_sink_text(sink,
	    "# callgrind format\nversion: 1\ncreator: hwtdecode\ncmd: ");
	hwtdi_line_text(sink,
	    ex->options.title[0] != '\0' ? ex->options.title : "(a trace)",
	    "");
	hwtdi_unseen_text(&c->walk.info, text, sizeof(text));
	hwtdi_sink_format(sink, "\ndesc: Trace: %s\n", text);
	hwtdi_sink_text(sink, "positions: instr line\n");
	for (size_t i = 0; i < c->n_shown; i++)
		hwtdi_sink_format(sink, "event: %s : %s\n",
		    events[c->shown[i]].name, events[c->shown[i]].meaning);
	hwtdi_sink_text(sink, "events:");
	for (size_t i = 0; i < c->n_shown; i++)
		hwtdi_sink_format(sink, " %s", events[c->shown[i]].name);
	hwtdi_sink_char(sink, '\n');
}

static void
put_arc(struct hwtd_export *ex, const struct arc *arc, const struct what *from)
{
	struct callgrind *c = ex->state;
	struct what to;

	look_up(c, arc->to, &to);
	put_image(ex, "cob", &to);
	put_file(ex, "cfi", to.function.file);
	put_function(ex, "cfn", arc->to, &to);
	/* Without a number, what follows would be taken for the caller's own. */
	hwtdi_sink_format(&ex->sink, "calls=%llu 0x%llx %u\n",
	    (unsigned long long)(arc->calls != 0 ? arc->calls : 1),
	    (unsigned long long)to.address, to.function.line);
	put_cost(ex, from->address, from->function.line, &arc->cost);
}

static bool
is_zero(const struct cost *cost)
{
	for (size_t i = 0; i < EVENTS; i++)
		if (cost->of[i] != 0)
			return (false);
	return (true);
}

/* A function, what it weighs itself, and whom it calls. */
static void
put_place(struct hwtd_export *ex)
{
	struct callgrind *c = ex->state;
	const uint32_t place = c->place++;
	const bool calls = c->arc < c->n_arcs && c->arcs[c->arc].from == place;
	struct what what;

	if (!calls && is_zero(&c->self[place]))
		return;
	look_up(c, place, &what);
	hwtdi_sink_char(&ex->sink, '\n');
	put_image(ex, "ob", &what);
	put_file(ex, "fl", what.function.file);
	put_function(ex, "fn", place, &what);
	put_cost(ex, what.address, what.function.line, &c->self[place]);
	for (; c->arc < c->n_arcs && c->arcs[c->arc].from == place; c->arc++)
		put_arc(ex, &c->arcs[c->arc], &what);
	ex->info.rows++;
}

/* Code without stacks: what each block weighs, by line. */
static bool
put_block(struct hwtd_export *ex, int *rc, struct hwtd_error *err)
{
	struct callgrind *c = ex->state;
	struct hwtd_profile_block block;
	struct cost cost = { .of = { 0 } };
	struct what what;
	uint32_t place;
	size_t n;

	*rc = hwtd_profile_blocks(c->walk.profile, c->block, &block,
	    sizeof(block), 1, &n);
	if (*rc < 0)
		(void)hwtdi_fail(err, *rc,
		    "code of the profile cannot be read");
	if (*rc != HWTD_OK)
		return (false);
	place = block.function < c->walk.info.n_functions
	    ? block.function
	    : c->walk.info.n_functions + HWTDI_PLACE_UNKNOWN;
	look_up(c, place, &what);
	what.function.image = block.image;
	hwtdi_sink_char(&ex->sink, '\n');
	put_image(ex, "ob", &what);
	put_file(ex, "fl", what.function.file);
	put_function(ex, "fn", place, &what);
	if (block.file != NULL &&
	    (what.function.file == NULL ||
		strcmp(block.file, what.function.file) != 0))
		put_file(ex, "fi", block.file);
	cost.of[EVENT_INSNS] = block.insns != 0 &&
		block.count > UINT64_MAX / block.insns
	    ? UINT64_MAX
	    : block.count * block.insns;
	put_cost(ex,
	    hwtdi_profile_address(&c->code, block.image, block.file_off),
	    block.line, &cost);
	c->block++;
	ex->info.rows++;
	return (true);
}

static int
step_callgrind(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct callgrind *c = ex->state;
	const uint64_t begin = ex->sink.put;
	const bool blocks = c->walk.info.seen[HWTD_PROFILE_CALLS].added == 0;
	int rc = HWTD_OK;

	if (c->phase == PHASE_HEAD) {
		put_head(ex);
		c->phase = PHASE_BODY;
	}
	while (ex->sink.put - begin < STEP_BYTES && !ex->stopped) {
		if (c->place < c->n_places)
			put_place(ex);
		else if (!blocks || !put_block(ex, &rc, err))
			return (rc < 0 ? rc : HWTD_END);
	}
	return (ex->stopped ? HWTD_END : HWTD_OK);
}

const struct hwtdi_exporter_ops hwtdi_callgrind_ops = {
	.format = HWTD_FORMAT_CALLGRIND,
	.source = HWTD_SOURCE_PROFILE,
	.name = "callgrind",
	.suffixes = ".callgrind callgrind.out",
	.viewer = "callgrind_annotate, KCachegrind",
	.state_bytes = sizeof(struct callgrind),
	.open = open_callgrind,
	.step = step_callgrind,
	.close = close_callgrind,
};
