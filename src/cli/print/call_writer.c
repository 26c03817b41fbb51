/*
 * Printing calls as they end: the lines of those around come before.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/print/call_writer.h"
#include "cli/output/json_line.h"
#include "cli/output/message.h"

void
call_writer_init(struct call_writer *writer, struct output *out,
    const struct options *options, const struct hwtd_calls *calls)
{
	*writer = (struct call_writer){ .out = out,
		.options = options,
		.calls = calls };
}

void
call_writer_fini(struct call_writer *writer)
{
	for (size_t i = 0; i < writer->n_lines; i++)
		free(writer->lines[i].calls);
	free(writer->lines);
	free(writer->owners);
	writer->lines = NULL;
	writer->owners = NULL;
	writer->n_lines = writer->n_owners = 0;
}

/* Names. */

void
call_write_name(struct output *out, const struct hwtd_calls *calls,
    uint32_t function, uint32_t type, uint32_t flags)
{
	struct hwtd_call_function f = { .size = sizeof(f) };

	if (hwtd_calls_function(calls, function, &f) != HWTD_OK) {
		output_text(out,
		    (flags & HWTD_CALLF_UNTRACED) == 0	   ? "[unknown]"
			: type == HWTD_CALL_TYPE_SYSCALL   ? "[syscall]"
			: type == HWTD_CALL_TYPE_INTERRUPT ? "[interrupt]"
			: type == HWTD_CALL_TYPE_EXCEPTION ? "[exception]"
							   : "[untraced]");
		return;
	}
	if (f.name != NULL)
		output_escaped(out, f.name);
	else
		output_hex(out, f.address);
}

static bool
is_trigger(const struct call_writer *writer, const struct hwtd_call *row)
{
	struct hwtd_call_function f = { .size = sizeof(f) };

	return (writer->options->trigger == NULL ||
	    (hwtd_calls_function(writer->calls, row->function, &f) ==
		    HWTD_OK &&
		f.name != NULL &&
		strcmp(f.name, writer->options->trigger) == 0));
}

/* Stacks. */

/* NULL: out of memory. */
static struct call_owner *
owner_of(struct call_writer *writer, uint32_t thread)
{
	const size_t n = (size_t)thread + thread / 2 + 16;
	struct call_owner *owners;

	if (thread < writer->n_owners)
		return (&writer->owners[thread]);
	owners = realloc(writer->owners, n * sizeof(*owners));
	if (owners == NULL)
		return (NULL);
	memset(owners + writer->n_owners, 0,
	    (n - writer->n_owners) * sizeof(*owners));
	writer->owners = owners;
	writer->n_owners = n;
	return (&owners[thread]);
}

static struct call_line *
line_of(struct call_writer *writer, const struct hwtd_call *row)
{
	struct call_owner *owner = owner_of(writer, row->thread);
	struct call_line *lines = writer->lines;

	if (owner == NULL)
		return (NULL);
	/* Mostly it is the stack that was used last. */
	for (size_t i = 0; i <= writer->n_lines && owner->n > 0; i++) {
		const size_t at = i == 0 ? owner->last : i - 1;

		if (at < writer->n_lines && lines[at].thread == row->thread &&
		    lines[at].stack == row->stack) {
			owner->last = at;
			return (&lines[at]);
		}
	}
	if (writer->n_lines == writer->cap_lines) {
		const size_t cap = writer->cap_lines * 2 + 16;

		lines = realloc(lines, cap * sizeof(*lines));
		if (lines == NULL)
			return (NULL);
		writer->lines = lines;
		writer->cap_lines = cap;
	}
	owner->n++;
	owner->last = writer->n_lines;
	lines = &writer->lines[writer->n_lines++];
	*lines = (struct call_line){ .thread = row->thread,
		.stack = row->stack };
	return (lines);
}

/* A stack that has no calls any more is forgotten. */
static void
drop_line(struct call_writer *writer, struct call_line *line)
{
	if (line->n != 0)
		return;
	free(line->calls);
	writer->owners[line->thread].n--;
	*line = writer->lines[--writer->n_lines];
	if (line != &writer->lines[writer->n_lines])
		writer->owners[line->thread].last = (size_t)(line -
		    writer->lines);
}

static bool
begin_call(struct call_writer *writer, struct call_line *line,
    const struct hwtd_call *row)
{
	const bool inside = line->n != 0 && line->calls[line->n - 1].wanted;
	const bool triggers = is_trigger(writer, row);

	if (line->n == line->cap) {
		const size_t cap = line->cap * 2 + 64;
		struct open_call *calls = realloc(line->calls,
		    cap * sizeof(*calls));

		if (calls == NULL)
			return (false);
		line->calls = calls;
		line->cap = cap;
	}
	if (line->n == 0 && line->lowest > row->depth)
		line->lowest = row->depth;
	line->calls[line->n] = (struct open_call){ .row = *row,
		.level = inside ? line->calls[line->n - 1].level + 1 : 0,
		.wanted = triggers ||
		    (writer->options->trigger != NULL && inside) };
	line->n++;
	writer->triggered |= triggers;
	return (true);
}

/* Text. */

/* Deeper calls have their level as a number. */
#define INDENT_LEVELS 100

static void
write_who(struct output *out, const struct call_writer *writer,
    uint32_t thread)
{
	struct hwtd_call_thread t = { .size = sizeof(t) };

	(void)hwtd_calls_thread(writer->calls, thread, &t);
	if (t.pid != HWTD_NO_ID)
		output_format(out, "%u/", t.pid);
	if (t.tid != HWTD_NO_ID)
		output_format(out, "%u", t.tid);
	else if (t.stream != HWTD_NO_ID)
		output_format(out, "stream%u", t.stream);
	else
		output_char(out, '-');
}

static void
write_start(struct call_writer *writer, const struct hwtd_call *row,
    uint64_t ns, bool known, bool rough, size_t level)
{
	struct output *out = writer->out;

	if (known) {
		output_seconds(out, ns);
		output_char(out, rough ? '~' : ' ');
	} else {
		output_text(out, "- ");
	}
	write_who(out, writer, row->thread);
	if (row->stack != 0)
		output_format(out, "#%u", row->stack);
	output_text(out, "  ");
	for (size_t i = 0; i < level && i < INDENT_LEVELS; i++)
		output_text(out, "  ");
	if (level > INDENT_LEVELS)
		output_format(out, "[%zu] ", level);
}

static void
write_duration(struct output *out, uint64_t ns)
{
	if (ns < 10000)
		output_format(out, "%lluns", (unsigned long long)ns);
	else if (ns < 10000000)
		output_format(out, "%llu.%02lluus",
		    (unsigned long long)(ns / 1000),
		    (unsigned long long)(ns % 1000 / 10));
	else
		output_format(out, "%llu.%02llums",
		    (unsigned long long)(ns / 1000000),
		    (unsigned long long)(ns % 1000000 / 10000));
}

/* What a person has to know besides. */
static void
write_remarks(struct output *out, const struct hwtd_call *row)
{
	static const struct {
		uint32_t flag;
		const char *text;
	} flags[] = {
		{ HWTD_CALLF_BEGAN_BEFORE, "began before" },
		{ HWTD_CALLF_BEGAN_UNSEEN, "began unseen" },
		{ HWTD_CALLF_UNPROVEN, "not proven" },
		{ HWTD_CALLF_GUESSED, "stack guessed" },
		{ HWTD_CALLF_SWITCHED, "switched" },
	};
	const char *before = "  (";

	if (row->type != HWTD_CALL_TYPE_CALL &&
	    row->type != HWTD_CALL_TYPE_FOUND &&
	    row->type != HWTD_CALL_TYPE_SAMPLED) {
		output_format(out, "%s%s", before,
		    hwtd_call_type_name(row->type));
		before = ", ";
	}
	if (row->kind == HWTD_CALL_LEAVE && row->end != HWTD_CALL_END_RETURN &&
	    row->end != HWTD_CALL_END_FAR_RETURN &&
	    row->end != HWTD_CALL_END_SAMPLED) {
		output_format(out, "%send: %s", before,
		    hwtd_call_end_name(row->end));
		before = ", ";
	}
	if (row->kind == HWTD_CALL_LEAVE && row->gaps != 0) {
		output_format(out, "%s%u gap%s of ", before, row->gaps,
		    row->gaps == 1 ? "" : "s");
		write_duration(out, row->gap_ns);
		before = ", ";
	}
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if ((row->flags & flags[i].flag) == 0)
			continue;
		output_format(out, "%s%s", before, flags[i].text);
		before = ", ";
	}
	if (before[0] == ',')
		output_char(out, ')');
}

#define ROUGH_BEGIN                                                           \
	(HWTD_CALLF_BEGIN_ESTIMATED | HWTD_CALLF_BEGIN_INTERPOLATED)
#define ROUGH_END (HWTD_CALLF_END_ESTIMATED | HWTD_CALLF_END_INTERPOLATED)

static void
write_begin(struct call_writer *writer, const struct hwtd_call *row,
    size_t level)
{
	struct output *out = writer->out;

	write_start(writer, row, row->begin_ns,
	    (row->flags & HWTD_CALLF_BEGIN_TIME) != 0,
	    (row->flags & ROUGH_BEGIN) != 0, level);
	call_write_name(out, writer->calls, row->function, row->type,
	    row->flags);
	output_text(out, " {");
	write_remarks(out, row);
	output_char(out, '\n');
}

static void
write_times(struct output *out, const struct hwtd_call *row)
{
	const uint32_t both = HWTD_CALLF_BEGIN_TIME | HWTD_CALLF_END_TIME;

	if ((row->flags & both) == both) {
		output_text(out, "  ");
		write_duration(out, row->end_ns - row->begin_ns);
		if (row->self_ns != row->end_ns - row->begin_ns) {
			output_text(out, " self ");
			write_duration(out, row->self_ns);
		}
	}
	if (row->insns != 0)
		output_format(out, "  %llu insns",
		    (unsigned long long)row->insns);
	if ((row->flags & HWTD_CALLF_CYCLES) != 0)
		output_format(out, "  %llu cycles",
		    (unsigned long long)row->cycles);
}

static void
write_end(struct call_writer *writer, const struct hwtd_call *row,
    size_t level, bool begun)
{
	struct output *out = writer->out;

	write_start(writer, row, begun ? row->end_ns : row->begin_ns,
	    (row->flags &
		(begun ? HWTD_CALLF_END_TIME : HWTD_CALLF_BEGIN_TIME)) != 0,
	    (row->flags & (begun ? ROUGH_END : ROUGH_BEGIN)) != 0, level);
	if (begun)
		output_text(out, "} ");
	call_write_name(out, writer->calls, row->function, row->type,
	    row->flags);
	write_times(out, row);
	write_remarks(out, row);
	output_char(out, '\n');
}

static void
write_gap(struct call_writer *writer, const struct call_line *line,
    const struct hwtd_call *row)
{
	struct output *out = writer->out;

	write_start(writer, row, row->begin_ns,
	    (row->flags & HWTD_CALLF_BEGIN_TIME) != 0, false, line->n);
	output_text(out, "[gap of ");
	write_duration(out, row->gap_ns);
	output_format(out, " and %llu bytes]\n",
	    (unsigned long long)row->gap_bytes);
}

/* JSON lines and CSV. */

static void
write_function_keys(struct call_writer *writer, const struct hwtd_call *row)
{
	struct hwtd_call_function f = { .size = sizeof(f) };
	struct output *out = writer->out;

	if (hwtd_calls_function(writer->calls, row->function, &f) != HWTD_OK)
		return;
	if (f.name != NULL)
		json_string(out, "function", f.name);
	if (f.image != NULL)
		json_string(out, "image", f.image);
	if ((f.flags & HWTD_CALL_FUNCTIONF_ADDRESS) != 0)
		json_hex(out, "function_address", f.address);
}

static void
write_who_keys(struct call_writer *writer, const struct hwtd_call *row)
{
	struct hwtd_call_thread t = { .size = sizeof(t) };
	struct output *out = writer->out;

	(void)hwtd_calls_thread(writer->calls, row->thread, &t);
	json_u64(out, "thread", row->thread);
	if (t.pid != HWTD_NO_ID)
		json_u64(out, "pid", t.pid);
	if (t.tid != HWTD_NO_ID)
		json_u64(out, "tid", t.tid);
	if (t.stream != HWTD_NO_ID)
		json_u64(out, "stream", t.stream);
	json_u64(out, "stack", row->stack);
}

static void
write_flags(struct output *out, uint32_t flags)
{
	static const struct {
		uint32_t flag;
		const char *name;
	} names[] = {
		{ HWTD_CALLF_BEGIN_ESTIMATED, "begin_estimated" },
		{ HWTD_CALLF_END_ESTIMATED, "end_estimated" },
		{ HWTD_CALLF_BEGIN_INTERPOLATED, "begin_interpolated" },
		{ HWTD_CALLF_END_INTERPOLATED, "end_interpolated" },
		{ HWTD_CALLF_BEGAN_BEFORE, "began_before" },
		{ HWTD_CALLF_BEGAN_UNSEEN, "began_unseen" },
		{ HWTD_CALLF_UNPROVEN, "unproven" },
		{ HWTD_CALLF_UNTRACED, "untraced" },
		{ HWTD_CALLF_GUESSED, "guessed" },
		{ HWTD_CALLF_SWITCHED, "switched" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if ((flags & names[i].flag) != 0)
			json_bool(out, names[i].name, true);
	}
}

/* A depth can be below 0. */
static void
write_depth(struct output *out, int32_t depth)
{
	json_key(out, "depth");
	output_format(out, "%d", depth);
}

static void
write_json(struct call_writer *writer, const struct hwtd_call *row)
{
	struct output *out = writer->out;
	const bool leaves = row->kind == HWTD_CALL_LEAVE;

	json_begin(out, leaves ? "call" : "call_enter");
	json_u64(out, "id", row->id);
	write_who_keys(writer, row);
	write_depth(out, row->depth);
	write_function_keys(writer, row);
	json_name(out, "began_by", hwtd_call_type_name(row->type));
	if (leaves)
		json_name(out, "ended_by", hwtd_call_end_name(row->end));
	if ((row->flags & HWTD_CALLF_ADDRESS) != 0)
		json_hex(out, "address", row->address);
	if ((row->flags & HWTD_CALLF_SITE) != 0)
		json_hex(out, "call_site", row->call_site);
	if ((row->flags & HWTD_CALLF_BEGIN_TIME) != 0)
		json_u64(out, "begin_ns", row->begin_ns);
	if (leaves) {
		if ((row->flags & HWTD_CALLF_END_TIME) != 0) {
			json_u64(out, "end_ns", row->end_ns);
			json_u64(out, "ns", row->ns);
			json_u64(out, "self_ns", row->self_ns);
			json_u64(out, "gap_ns", row->gap_ns);
			json_u64(out, "off_ns", row->off_ns);
			json_u64(out, "self_gap_ns", row->self_gap_ns);
			json_u64(out, "self_off_ns", row->self_off_ns);
		}
		json_u64(out, "gaps", row->gaps);
		json_u64(out, "gap_bytes", row->gap_bytes);
		json_u64(out, "insns", row->insns);
		json_u64(out, "self_insns", row->self_insns);
		if ((row->flags & HWTD_CALLF_CYCLES) != 0) {
			json_u64(out, "cycles", row->cycles);
			json_u64(out, "self_cycles", row->self_cycles);
		}
	}
	write_flags(out, row->flags);
	json_end(out);
}

static void
write_json_gap(struct call_writer *writer, const struct hwtd_call *row)
{
	struct output *out = writer->out;

	json_begin(out, "call_gap");
	write_who_keys(writer, row);
	write_depth(out, row->depth);
	if ((row->flags & HWTD_CALLF_BEGIN_TIME) != 0) {
		json_u64(out, "begin_ns", row->begin_ns);
		json_u64(out, "end_ns", row->end_ns);
	}
	json_u64(out, "gap_bytes", row->gap_bytes);
	json_end(out);
}

static void
write_csv(struct call_writer *writer, const struct hwtd_call *row)
{
	struct hwtd_call_function f = { .size = sizeof(f) };
	struct hwtd_call_thread t = { .size = sizeof(t) };
	struct output *out = writer->out;
	const bool ends = (row->flags & HWTD_CALLF_END_TIME) != 0;
	const bool named = hwtd_calls_function(writer->calls, row->function,
			       &f) == HWTD_OK;

	(void)hwtd_calls_thread(writer->calls, row->thread, &t);
	output_u64(out, row->id);
	output_csv_u64(out, t.pid != HWTD_NO_ID, t.pid);
	output_csv_u64(out, t.tid != HWTD_NO_ID, t.tid);
	output_csv_u64(out, t.stream != HWTD_NO_ID, t.stream);
	output_csv_u64(out, true, row->stack);
	output_format(out, ",%d,", row->depth);
	if (named && f.name != NULL)
		output_csv_string(out, f.name);
	output_csv_hex(out, (row->flags & HWTD_CALLF_ADDRESS) != 0,
	    row->address);
	output_csv_hex(out, (row->flags & HWTD_CALLF_SITE) != 0,
	    row->call_site);
	output_format(out, ",%s,%s", hwtd_call_type_name(row->type),
	    hwtd_call_end_name(row->end));
	output_csv_u64(out, (row->flags & HWTD_CALLF_BEGIN_TIME) != 0,
	    row->begin_ns);
	output_csv_u64(out, ends, row->end_ns);
	output_csv_u64(out, ends, row->ns);
	output_csv_u64(out, ends, row->self_ns);
	output_csv_u64(out, ends, row->gap_ns);
	output_csv_u64(out, ends, row->off_ns);
	output_csv_u64(out, true, row->gaps);
	output_csv_u64(out, true, row->gap_bytes);
	output_csv_u64(out, true, row->insns);
	output_csv_u64(out, true, row->self_insns);
	output_csv_u64(out, (row->flags & HWTD_CALLF_CYCLES) != 0,
	    row->cycles);
	output_csv_hex(out, true, row->flags);
	output_csv_u64(out, true, row->thread);
	output_char(out, ',');
	if (named && f.image != NULL)
		output_csv_string(out, f.image);
	output_csv_hex(out,
	    named && (f.flags & HWTD_CALL_FUNCTIONF_ADDRESS) != 0, f.address);
	output_csv_u64(out, ends, row->self_gap_ns);
	output_csv_u64(out, ends, row->self_off_ns);
	output_csv_u64(out, (row->flags & HWTD_CALLF_CYCLES) != 0,
	    row->self_cycles);
	output_char(out, '\n');
}

/* Rows. */

void
call_write_header(struct call_writer *writer)
{
	if (writer->options->no_header ||
	    writer->options->format != FORMAT_CSV)
		return;
	output_text(writer->out,
	    "id,pid,tid,stream,stack,depth,function,address,call_site,began_"
	    "by,ended_by,begin_ns,end_ns,ns,self_ns,gap_ns,off_ns,gaps,gap_"
	    "bytes,insns,self_insns,cycles,flags,thread,image,function_"
	    "address,self_gap_ns,self_off_ns,self_cycles\n");
}

/* Long enough, if that is known, and not too deep. */
static bool
is_shown(struct call_writer *writer, const struct hwtd_call *row, size_t level)
{
	const struct options *o = writer->options;
	const uint32_t both = HWTD_CALLF_BEGIN_TIME | HWTD_CALLF_END_TIME;

	if (o->max_depth != 0 && level >= o->max_depth)
		return (false);
	if (o->min_duration_ns == 0)
		return (true);
	if ((row->flags & both) != both) {
		writer->untimed++;
		return (false);
	}
	return (row->end_ns - row->begin_ns >= o->min_duration_ns);
}

/* Begins of calls around the highest one: the outer ones are printed. */
static void
write_around(struct call_writer *writer, struct call_line *line)
{
	size_t i = line->n - 1;

	while (i > 0 && line->calls[i - 1].wanted &&
	    !line->calls[i - 1].printed)
		i--;
	for (; i + 1 < line->n; i++) {
		struct open_call *around = &line->calls[i];

		write_begin(writer, &around->row, around->level);
		around->printed = true;
	}
}

/* The highest call ends. */
static bool
end_call(struct call_writer *writer, struct call_line *line,
    const struct hwtd_call *row)
{
	struct open_call *call = &line->calls[line->n - 1];
	const size_t level = call->level;
	bool shown = call->wanted &&
	    (call->printed || is_shown(writer, row, level));

	if (shown) {
		switch (writer->options->format) {
		case FORMAT_TEXT:
			write_around(writer, line);
			write_end(writer, row, level, call->printed);
			break;
		case FORMAT_JSONL:
			write_json(writer, row);
			break;
		case FORMAT_CSV:
			write_csv(writer, row);
			break;
		}
	}
	line->n--;
	drop_line(writer, line);
	return (shown);
}

static void
take_gap(struct call_writer *writer, const struct call_line *line,
    const struct hwtd_call *row)
{
	if (writer->options->trigger != NULL &&
	    (line->n == 0 || !line->calls[line->n - 1].wanted))
		return;
	if (writer->options->format == FORMAT_TEXT)
		write_gap(writer, line, row);
	else if (writer->options->format == FORMAT_JSONL)
		write_json_gap(writer, row);
}

bool
call_write(struct call_writer *writer, const struct hwtd_call *row)
{
	struct call_line *line = line_of(writer, row);
	bool counts = false;

	if (line == NULL || writer->out->failed != 0)
		return (false);
	switch (row->kind) {
	case HWTD_CALL_ENTER:
		if (!begin_call(writer, line, row))
			return (false);
		if (writer->options->enters &&
		    writer->options->format == FORMAT_JSONL &&
		    line->calls[line->n - 1].wanted)
			write_json(writer, row);
		break;
	case HWTD_CALL_LEAVE:
		counts = line->n != 0 && end_call(writer, line, row);
		break;
	case HWTD_CALL_GAP:
		take_gap(writer, line, row);
		break;
	default:
		break;
	}
	writer->rows += counts;
	return (counts);
}

void
call_write_info(struct call_writer *writer)
{
	struct hwtd_calls_info info = { .size = sizeof(info) };
	struct output *out = writer->out;

	if (writer->options->format != FORMAT_JSONL ||
	    hwtd_calls_info(writer->calls, &info) != HWTD_OK)
		return;
	json_begin(out, "call_info");
	json_u64(out, "calls", info.calls);
	json_u64(out, "limited", info.limited);
	json_u64(out, "threads", info.n_threads);
	json_u64(out, "functions", info.n_functions);
	json_u64(out, "bytes", info.bytes);
	json_u64(out, "gap_bytes", info.gap_bytes);
	json_u64(out, "lines", info.lines);
	json_u64(out, "bad_lines", info.bad_lines);
	json_end(out);
}
