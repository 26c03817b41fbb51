/*
 * Text of perf-script(1): which files are mapped, and stacks of branches, as
 * "perf script -F ip,brstack --show-mmap-events" prints them.
 *
 * "PERF_RECORD_MMAP2 pid/tid: [0xADDRESS(0xLENGTH) @ 0xOFFSET 00:00 0 0]: r-xp path"
 * for each executable segment before code of it is named, and again where another
 * process is told of, since readers know one place of a file at a time; then
 * "ip 0xFROM/0xTO/-/-/-/0 ...", the newest branch first.  Addresses are those at
 * which code ran.  Whether a branch was predicted is not known, so it is "-".
 *
 * Source: Linux, tools/perf/builtin-script.c; LLVM 22, llvm-profgen/PerfReader.cpp.
 */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "export/compilers/branch_stack.h"
#include "export/compilers/code_export.h"
#include "export/compilers/last_insn.h"

#define ROWS 1024
#define READS 16

#define DEFAULT_DEPTH 1024u
#define MAX_DEPTH 65536u

/* Bytes of a path that are printed; readers look at its last part. */
#define PATH_MAX_BYTES 4096u

#define PAGE UINT64_C(4096)

/* A file as a process has it. */
struct load {
	uint32_t pid, section, image;
	/* How far it was moved; without a layout the section is what is known. */
	uint64_t bias;
	bool has_bias;
	bool told;
};

/* An image whose headers were asked for. */
struct layout {
	bool asked, known;
	struct hwtdi_image_layout layout;
};

struct script {
	struct hwtdi_compiler_state told;
	struct hwtd_export *ex;
	const struct hwtd_trace *trace;
	struct hwtd_event *rows;
	struct hwtdi_last_insns *last;
	struct hwtdi_branch_stacks stacks;
	/* By image. */
	struct layout *layouts;
	size_t n_layouts;
	struct load *loads;
	size_t n_loads, cap_loads;
	/* Of loads, by process and section. */
	struct hwtdi_index index;
	/* Of the row before. */
	uint32_t context, section, pid;
	bool wanted, has_before;
	/* Whose loads were told last; plus 1. */
	uint64_t told_pid;
};

/* Text. */

static void
put_hex(struct hwtdi_sink *sink, uint64_t v)
{
	char text[16];
	size_t n = sizeof(text);

	do {
		text[--n] = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (v != 0);
	hwtdi_sink_put(sink, text + n, sizeof(text) - n);
}

/* As the kernel writes paths where lines matter. */
static void
put_path(struct hwtdi_sink *sink, const char *path)
{
	size_t n = strlen(path), from = 0;

	/* The end of it is what readers compare. */
	if (n > PATH_MAX_BYTES)
		from = n - PATH_MAX_BYTES;
	for (size_t i = from; i < n; i++) {
		const unsigned char c = (unsigned char)path[i];

		if (c < ' ' || c == 0x7f)
			hwtdi_sink_format(sink, "\\%03o", c);
		else
			hwtdi_sink_char(sink, (char)c);
	}
}

/* Files. */

static void
put_mapping(struct script *s, uint32_t pid, uint64_t address, uint64_t length,
    uint64_t file_off, const char *path)
{
	struct hwtdi_sink *sink = &s->ex->sink;

	if (pid == HWTD_NO_ID)
		hwtdi_sink_text(sink, "PERF_RECORD_MMAP2 -1/0");
	else
		hwtdi_sink_format(sink,
		    "PERF_RECORD_MMAP2 %" PRIu32 "/%" PRIu32, pid, pid);
	hwtdi_sink_format(sink,
	    ": [0x%" PRIx64 "(0x%" PRIx64 ") @ %s%" PRIx64
	    " 00:00 0 0]: r-xp ",
	    address, length, file_off != 0 ? "0x" : "", file_off);
	put_path(sink, path[0] != '\0' ? path : "//anon");
	hwtdi_sink_char(sink, '\n');
}

/* All of its code, the first segment first, or what the section is. */
static void
put_load(struct script *s, struct load *load)
{
	struct hwtd_section section = { .size = sizeof(section) };
	const struct hwtdi_image_layout *layout;

	load->told = true;
	if (hwtd_trace_section(s->trace, load->section, &section) != HWTD_OK)
		return;
	if (!load->has_bias) {
		put_mapping(s, load->pid, section.address, section.length,
		    section.file_off, section.path);
		return;
	}
	layout = &s->layouts[section.image].layout;
	for (size_t i = 0; i < layout->n_segments; i++) {
		const struct hwtdi_layout_segment
		    *segment = &layout->segments[i];
		const uint64_t before = segment->vaddr & (PAGE - 1);

		if (!segment->executable || segment->file_off < before)
			continue;
		put_mapping(s, load->pid, segment->vaddr - before + load->bias,
		    (segment->file_bytes + before + PAGE - 1) & ~(PAGE - 1),
		    segment->file_off - before, section.path);
	}
}

/* The headers of an image, or NULL: it has none. */
static int
layout_of(struct script *s, uint32_t image,
    const struct hwtdi_image_layout **out, struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct layout *l;
	int rc;

	*out = NULL;
	if (image >= s->n_layouts)
		return (HWTD_OK);
	l = &s->layouts[image];
	if (!l->asked) {
		rc = hwtdi_image_layout_init(&l->layout, s->trace, image,
		    &inner);
		if (hwtdi_fail_is_final(rc))
			return (hwtdi_fail_pass(err, &inner));
		l->asked = true;
		l->known = rc == HWTD_OK;
	}
	if (l->known)
		*out = &l->layout;
	return (HWTD_OK);
}

static bool
is_same(const struct load *a, const struct load *b)
{
	return (a->pid == b->pid && a->image == b->image && a->has_bias &&
	    b->has_bias && a->bias == b->bias);
}

/* One of the first `n` loads is the same file at the same place. */
static bool
is_among(const struct script *s, size_t n, const struct load *load)
{
	size_t i = 0;

	while (load->has_bias && i < n && !is_same(&s->loads[i], load))
		i++;
	return (load->has_bias && i < n);
}

/* A section that a process runs code of for the first time. */
static int
add_load(struct script *s, const struct hwtd_event *row, uint64_t hash,
    struct hwtd_error *err)
{
	struct hwtd_section section = { .size = sizeof(section) };
	struct load load = { .pid = s->pid, .section = row->section };
	const struct hwtdi_image_layout *layout;
	uint64_t at;
	bool told;
	int rc;

	if (hwtd_trace_section(s->trace, row->section, &section) != HWTD_OK)
		return (HWTD_OK);
	load.image = section.image;
	rc = layout_of(s, section.image, &layout, err);
	if (rc != HWTD_OK)
		return (rc);
	if (layout != NULL &&
	    hwtdi_image_layout_address(layout,
		row->ip - section.address + section.file_off, &at)) {
		load.has_bias = true;
		load.bias = row->ip - at;
	}
	told = is_among(s, s->n_loads, &load);
	rc = hwtdi_index_reserve(&s->index, s->ex->ctx, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(s->ex->ctx, &s->loads, &s->cap_loads,
		    s->n_loads + 1, sizeof(load), err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_index_put(&s->index, hash, (uint32_t)s->n_loads);
	s->loads[s->n_loads++] = load;
	if (!told && s->told_pid == (uint64_t)s->pid + 1)
		put_load(s, &s->loads[s->n_loads - 1]);
	return (HWTD_OK);
}

static int
see_section(struct script *s, const struct hwtd_event *row,
    struct hwtd_error *err)
{
	const uint64_t key[2] = { s->pid, row->section };
	const uint64_t hash = hwtdi_hash(s->ex->ctx, key, sizeof(key));
	uint32_t no;
	size_t tries = 0;

	while (hwtdi_index_next(&s->index, hash, &tries, &no))
		if (s->loads[no].pid == s->pid &&
		    s->loads[no].section == row->section)
			return (HWTD_OK);
	return (add_load(s, row, hash, err));
}

/*
 * Readers know one place of a file: that of the process that is told of.  What is no
 * file, of which there may be much, they do not look for.
 */
static void
tell_process(struct script *s, uint32_t pid)
{
	if (s->told_pid == (uint64_t)pid + 1)
		return;
	s->told_pid = (uint64_t)pid + 1;
	for (size_t i = 0; i < s->n_loads; i++)
		if (s->loads[i].pid == pid &&
		    (s->loads[i].has_bias || !s->loads[i].told) &&
		    !is_among(s, i, &s->loads[i]))
			put_load(s, &s->loads[i]);
}

/* Rows. */

static uint32_t
pid_of(const struct script *s, uint32_t context)
{
	struct hwtd_exec_context who = { .size = sizeof(who) };

	return (hwtd_trace_exec_context(s->trace, context, &who) == HWTD_OK
		? who.pid
		: HWTD_NO_ID);
}

static bool
is_wanted(const struct script *s, const struct hwtd_event *row)
{
	struct hwtd_section section = { .size = sizeof(section) };

	if (s->ex->source.image == HWTD_NO_ID)
		return (true);
	return ((row->flags & HWTD_EVF_SECTION) != 0 &&
	    hwtd_trace_section(s->trace, row->section, &section) == HWTD_OK &&
	    section.image == s->ex->source.image);
}

/* What does not change from row to row, mostly. */
static int
see(struct script *s, const struct hwtd_event *row, struct hwtd_error *err)
{
	const uint32_t section = (row->flags & HWTD_EVF_SECTION) != 0
	    ? row->section
	    : HWTD_NO_ID;

	if (s->has_before && s->context == row->context &&
	    s->section == section)
		return (HWTD_OK);
	s->has_before = true;
	s->context = row->context;
	s->section = section;
	s->pid = pid_of(s, row->context);
	s->wanted = is_wanted(s, row);
	return (section != HWTD_NO_ID && s->wanted ? see_section(s, row, err)
						   : HWTD_OK);
}

static int
add_row(struct script *s, const struct hwtd_event *row, struct hwtd_error *err)
{
	struct hwtd_compiler_info *info = &s->told.info;
	uint64_t last;
	int rc;

	if (row->kind == HWTD_EV_GAP || row->bytes == 0 ||
	    !hwtdi_last_insn(s->last, row, &last)) {
		hwtdi_branch_stacks_gap(&s->stacks, row->stream);
		return (HWTD_OK);
	}
	rc = see(s, row, err);
	if (rc != HWTD_OK)
		return (rc);
	if (s->wanted)
		info->insns = hwtdi_sum(info->insns, row->insns);
	else
		info->insns_elsewhere = hwtdi_sum(info->insns_elsewhere,
		    row->insns);
	return (hwtdi_branch_stacks_add(&s->stacks, row, last, s->wanted,
	    err));
}

/* A stack is a line. */

static void
count_branch(struct hwtd_compiler_info *info,
    const struct hwtdi_stack_branch *b)
{
	if (b->branch == HWTD_BRANCH_NONE)
		return;
	if (info->image == HWTD_NO_ID || (b->from_wanted && b->to_wanted))
		info->branches++;
	else if (b->from_wanted)
		info->branches_out++;
	else
		info->branches_in++;
}

static void
put_stack(void *arg, const struct hwtdi_branch_stack *stack)
{
	struct script *s = arg;
	struct hwtdi_sink *sink = &s->ex->sink;
	const struct hwtdi_stack_branch
	    *newest = &stack->branches[stack->n - 1];

	tell_process(s, pid_of(s, stack->context));
	put_hex(sink, newest->to != 0 ? newest->to : newest->from);
	for (size_t i = stack->n; i-- > 0;) {
		const struct hwtdi_stack_branch *b = &stack->branches[i];

		hwtdi_sink_put(sink, " 0x", 3);
		put_hex(sink, b->from);
		hwtdi_sink_put(sink, "/0x", 3);
		put_hex(sink, b->to);
		hwtdi_sink_put(sink, "/-/-/-/0", 8);
		if (i > 0 || !stack->again)
			count_branch(&s->told.info, b);
	}
	hwtdi_sink_char(sink, '\n');
	s->told.info.n_ranges++;
	s->told.info.n_branches += stack->n;
	s->ex->info.rows++;
}

/* Opening, stepping and closing. */

static int
make(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct script *s = ex->state;
	const uint32_t depth = ex->options.max_depth != 0
	    ? ex->options.max_depth
	    : DEFAULT_DEPTH;
	struct hwtd_image_info image = { .size = sizeof(image) };
	int rc;

	if (depth > MAX_DEPTH)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "%u branches in a stack; at most %u", depth, MAX_DEPTH));
	s->ex = ex;
	s->trace = ex->source.trace;
	s->told.info.image = ex->source.image;
	while (hwtd_trace_image(s->trace, (uint32_t)s->n_layouts, &image) ==
	    HWTD_OK)
		s->n_layouts++;
	s->layouts = hwtdi_zalloc(ex->ctx, s->n_layouts * sizeof(*s->layouts));
	s->rows = hwtdi_alloc(ex->ctx, ROWS * sizeof(*s->rows));
	if (s->rows == NULL || (s->layouts == NULL && s->n_layouts > 0))
		return (hwtdi_fail_nomem(err, ROWS * sizeof(*s->rows)));
	rc = hwtdi_last_insns_create(ex->ctx, s->trace, &s->last, err);
	if (rc == HWTD_OK)
		rc = hwtdi_branch_stacks_init(&s->stacks, s->trace,
		    depth > 1 ? depth : 2, put_stack, s, err);
	return (rc);
}

static void
close_script(struct hwtd_export *ex)
{
	struct script *s = ex->state;

	for (size_t i = 0; i < s->n_layouts && s->layouts != NULL; i++)
		if (s->layouts[i].known)
			hwtdi_image_layout_fini(&s->layouts[i].layout);
	hwtdi_free(ex->ctx, s->layouts, s->n_layouts * sizeof(*s->layouts));
	hwtdi_free(ex->ctx, s->rows, ROWS * sizeof(*s->rows));
	hwtdi_last_insns_destroy(s->last);
	hwtdi_branch_stacks_fini(&s->stacks);
	hwtdi_array_free(ex->ctx, s->loads, s->cap_loads, sizeof(*s->loads));
	hwtdi_index_fini(&s->index, ex->ctx);
}

static int
open_script(struct hwtd_export *ex, struct hwtd_error *err)
{
	int rc = make(ex, err);

	if (rc != HWTD_OK)
		close_script(ex);
	return (rc);
}

static int
step(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct script *s = ex->state;
	int rc = HWTD_OK;

	if (ex->stopped)
		rc = HWTD_END;
	for (size_t i = 0; i < READS && rc == HWTD_OK; i++) {
		struct hwtd_batch batch = { .size = sizeof(batch),
			.events = s->rows,
			.stride = sizeof(*s->rows),
			.cap = ROWS };

		rc = hwtd_events_read(ex->source.events, &batch, err);
		for (size_t k = 0; rc == HWTD_OK && k < batch.n; k++)
			if (s->rows[k].kind == HWTD_EV_BLOCK ||
			    s->rows[k].kind == HWTD_EV_INSN ||
			    s->rows[k].kind == HWTD_EV_GAP)
				rc = add_row(s, &s->rows[k], err);
	}
	if (rc == HWTD_END) {
		rc = hwtdi_branch_stacks_end(&s->stacks, err);
		rc = rc == HWTD_OK ? HWTD_END : rc;
	}
	s->told.info.starts = s->stacks.starts;
	return (rc);
}

const struct hwtdi_exporter_ops hwtdi_perf_script_ops = {
	.format = HWTD_FORMAT_PERF_SCRIPT,
	.source = HWTD_SOURCE_EVENTS,
	.name = "perf-script",
	.suffixes = ".perf.txt",
	.viewer = "llvm-profgen --perfscript",
	.state_bytes = sizeof(struct script),
	.open = open_script,
	.step = step,
	.close = close_script,
};
