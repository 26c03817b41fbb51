/*
 * Writing the rows of a report, and what was not seen.
 */
#include "cli/output/json_line.h"
#include "cli/output/loss.h"
#include "cli/output/message.h"
#include "cli/print/report_table.h"

static bool
follows_calls(const struct report *r)
{
	return (r->source == HWTD_PROFILE_CALLS);
}

/* Names. */

static struct hwtd_profile_function
function_of(const struct report *r, uint32_t id)
{
	struct hwtd_profile_function f = { .size = sizeof(f),
		.image = HWTD_NO_ID };

	if (id != HWTD_NO_ID)
		(void)hwtd_profile_function(r->profile, id, &f);
	return (f);
}

static struct hwtd_profile_image
image_of(const struct report *r, uint32_t id)
{
	struct hwtd_profile_image image = { .size = sizeof(image) };

	if (id != HWTD_NO_ID)
		(void)hwtd_profile_image(r->profile, id, &image);
	return (image);
}

static struct hwtd_profile_thread
thread_of(const struct report *r, uint32_t id)
{
	struct hwtd_profile_thread thread = { .size = sizeof(thread),
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.stream = HWTD_NO_ID };

	if (id != HWTD_NO_ID)
		(void)hwtd_profile_thread(r->profile, id, &thread);
	return (thread);
}

const char *
report_row_name(const struct report *r, const struct hwtd_profile_row *row)
{
	switch (r->options->report_by) {
	case HWTD_PROFILE_BY_LINE:
		return (row->file);
	case HWTD_PROFILE_BY_IMAGE:
		return (image_of(r, row->image).name);
	case HWTD_PROFILE_BY_THREAD:
		return (thread_of(r, row->thread).name);
	case HWTD_PROFILE_BY_CPU:
		return (NULL);
	default:
		return (function_of(r, row->function).name);
	}
}

/* What is said where there is no name. */
static const char *
stand_in(uint32_t flags, uint32_t type)
{
	if ((flags & HWTD_PROFILE_NODEF_ROOT) != 0)
		return ("[no call]");
	if ((flags & HWTD_PROFILE_NODEF_OTHERS) != 0)
		return ("[others]");
	if ((flags & HWTD_PROFILE_NODEF_UNTRACED) == 0)
		return ("[unknown]");
	return (type == HWTD_CALL_TYPE_SYSCALL	   ? "[syscall]"
		: type == HWTD_CALL_TYPE_INTERRUPT ? "[interrupt]"
		: type == HWTD_CALL_TYPE_EXCEPTION ? "[exception]"
						   : "[untraced]");
}

static void
write_function(const struct report *r, uint32_t id, uint32_t flags,
    uint32_t type)
{
	const struct hwtd_profile_function f = function_of(r, id);

	if (id == HWTD_NO_ID)
		output_text(r->out, stand_in(flags, type));
	else if (f.name != NULL)
		output_escaped(r->out, f.name);
	else
		output_hex(r->out, f.file_off);
	if ((f.flags & HWTD_PROFILE_FUNCTIONF_INLINED) != 0)
		output_text(r->out, " (inlined)");
}

static void
write_image(const struct report *r, uint32_t id)
{
	const char *name = image_of(r, id).name;
	const char *slash;

	if (name == NULL)
		return;
	slash = strrchr(name, '/');
	output_text(r->out, "  [");
	output_escaped(r->out,
	    slash != NULL && slash[1] != '\0' ? slash + 1 : name);
	output_char(r->out, ']');
}

static void
write_thread(const struct report *r, uint32_t id)
{
	const struct hwtd_profile_thread t = thread_of(r, id);

	if (t.pid != HWTD_NO_ID)
		output_format(r->out, "%u/", t.pid);
	if (t.tid != HWTD_NO_ID)
		output_format(r->out, "%u", t.tid);
	else if (t.stream != HWTD_NO_ID)
		output_format(r->out, "stream%u", t.stream);
	else
		output_char(r->out, '-');
	if (t.name != NULL) {
		output_text(r->out, "  ");
		output_escaped(r->out, t.name);
	}
}

static void
write_what(const struct report *r, const struct hwtd_profile_row *row)
{
	struct output *out = r->out;

	switch (r->options->report_by) {
	case HWTD_PROFILE_BY_LINE:
		if (row->file == NULL) {
			output_text(out, "[unknown]");
		} else {
			output_escaped(out, row->file);
			output_format(out, ":%u", row->line);
		}
		write_image(r, row->image);
		break;
	case HWTD_PROFILE_BY_IMAGE:
		if (row->image == HWTD_NO_ID)
			output_text(out, stand_in(row->flags, row->type));
		else if (image_of(r, row->image).name != NULL)
			output_escaped(out, image_of(r, row->image).name);
		else
			output_text(out, "[unknown]");
		break;
	case HWTD_PROFILE_BY_THREAD:
		write_thread(r, row->thread);
		break;
	case HWTD_PROFILE_BY_CPU:
		if (row->cpu == HWTD_NO_ID)
			output_char(out, '-');
		else
			output_format(out, "%u", row->cpu);
		break;
	case HWTD_PROFILE_BY_ADDRESS:
		output_hex(out, row->file_off);
		output_format(out, "+%u  ", row->bytes);
		/* FALLTHROUGH */
	default:
		write_function(r, row->function, row->flags, row->type);
		write_image(r, row->image);
		break;
	}
	output_char(out, '\n');
}

/* Text. */

/* Functions, lines and blocks are counted as such. */
static bool
has_entered(const struct report *r)
{
	const uint32_t by = r->options->report_by;

	return (r->source == HWTD_PROFILE_RUNS && by != HWTD_PROFILE_BY_IMAGE);
}

static const char *
entered_name(const struct report *r)
{
	const uint32_t by = r->options->report_by;

	return (by == HWTD_PROFILE_BY_FUNCTION || by == HWTD_PROFILE_BY_INLINE
		? "entered"
		: "count");
}

static void
write_text_header(const struct report *r)
{
	struct output *out = r->out;

	if (follows_calls(r)) {
		output_format(out, "%7s %7s", "self", "total");
		if (r->has_insns)
			output_format(out, " %14s %14s", "self_insns",
			    "total_insns");
		output_format(out, " %12s", "calls");
		if (r->has_time)
			output_format(out, " %14s %14s %12s", "self_ns",
			    "total_ns", "gap_ns");
		if (r->has_cycles)
			output_format(out, " %14s %14s", "self_cycles",
			    "total_cycles");
	} else {
		output_format(out, "%7s %14s", "self", "insns");
		if (has_entered(r))
			output_format(out, " %12s", entered_name(r));
	}
	output_format(out, "  %s\n",
	    hwtd_profile_by_name(r->options->report_by));
}

static void
write_text(const struct report *r, const struct hwtd_profile_row *row)
{
	struct output *out = r->out;
	const struct hwtd_profile_sums *self = &row->self;
	const struct hwtd_profile_sums *total = &row->total;

	output_format(out, "%6.2f%% ", report_percent(r, report_self(r, row)));
	if (follows_calls(r)) {
		output_format(out, "%6.2f%%",
		    report_percent(r, report_total(r, row)));
		if (r->has_insns)
			output_format(out, " %14llu %14llu",
			    (unsigned long long)self->insns,
			    (unsigned long long)total->insns);
		output_format(out, " %12llu", (unsigned long long)self->calls);
		if (r->has_time)
			output_format(out, " %14llu %14llu %12llu",
			    (unsigned long long)self->ns,
			    (unsigned long long)total->ns,
			    (unsigned long long)total->gap_ns);
		if (r->has_cycles)
			output_format(out, " %14llu %14llu",
			    (unsigned long long)self->cycles,
			    (unsigned long long)total->cycles);
	} else {
		output_format(out, "%14llu", (unsigned long long)row->insns);
		if (has_entered(r))
			output_format(out, " %12llu",
			    (unsigned long long)row->entered);
	}
	output_text(out, "  ");
	write_what(r, row);
}

/* JSON lines. */

static void
write_json_function(const struct report *r, uint32_t id, const char *key)
{
	const struct hwtd_profile_function f = function_of(r, id);
	struct output *out = r->out;

	if (id == HWTD_NO_ID)
		return;
	if (f.name != NULL)
		json_string(out, key, f.name);
	if (f.linkage_name != NULL)
		json_string(out, "linkage_name", f.linkage_name);
	if ((f.flags & HWTD_PROFILE_FUNCTIONF_INLINED) != 0)
		json_bool(out, "inlined", true);
	if ((f.flags & HWTD_PROFILE_FUNCTIONF_OFFSET) != 0)
		json_hex(out, "function_offset", f.file_off);
	else if ((f.flags & HWTD_PROFILE_FUNCTIONF_ADDRESS) != 0)
		json_hex(out, "function_address", f.file_off);
}

static void
write_json_who(const struct report *r, const struct hwtd_profile_row *row)
{
	const struct hwtd_profile_thread t = thread_of(r, row->thread);
	const struct hwtd_profile_image image = image_of(r, row->image);
	struct output *out = r->out;

	write_json_function(r, row->function, "function");
	if (row->flags != 0)
		json_name(out, "without", stand_in(row->flags, row->type));
	if (image.name != NULL)
		json_string(out, "image", image.name);
	if (row->file != NULL) {
		json_string(out, "file", row->file);
		json_u64(out, "line", row->line);
	}
	if (r->options->report_by == HWTD_PROFILE_BY_ADDRESS) {
		json_hex(out, "offset", row->file_off);
		json_u64(out, "bytes", row->bytes);
	}
	if (row->thread != HWTD_NO_ID) {
		if (t.pid != HWTD_NO_ID)
			json_u64(out, "pid", t.pid);
		if (t.tid != HWTD_NO_ID)
			json_u64(out, "tid", t.tid);
		if (t.stream != HWTD_NO_ID)
			json_u64(out, "stream", t.stream);
		if (t.name != NULL)
			json_string(out, "thread", t.name);
	}
	if (row->cpu != HWTD_NO_ID)
		json_u64(out, "cpu", row->cpu);
}

static void
write_json_sums(const struct report *r, const struct hwtd_profile_sums *self,
    const struct hwtd_profile_sums *total)
{
	struct output *out = r->out;

	json_u64(out, "calls", self->calls);
	if (r->has_insns) {
		json_u64(out, "self_insns", self->insns);
		json_u64(out, "total_insns", total->insns);
	}
	if (r->has_cycles) {
		json_u64(out, "self_cycles", self->cycles);
		json_u64(out, "total_cycles", total->cycles);
	}
	if (r->has_time) {
		json_u64(out, "self_ns", self->ns);
		json_u64(out, "total_ns", total->ns);
		json_u64(out, "self_gap_ns", self->gap_ns);
		json_u64(out, "gap_ns", total->gap_ns);
		json_u64(out, "off_ns", total->off_ns);
	}
	json_u64(out, "gaps", total->gaps);
	json_u64(out, "gap_bytes", total->gap_bytes);
}

static void
write_json(const struct report *r, const struct hwtd_profile_row *row)
{
	struct output *out = r->out;

	json_begin(out, "report_row");
	json_name(out, "by", hwtd_profile_by_name(r->options->report_by));
	write_json_who(r, row);
	json_percent(out, "self_percent",
	    report_percent(r, report_self(r, row)));
	if (follows_calls(r)) {
		json_percent(out, "total_percent",
		    report_percent(r, report_total(r, row)));
		write_json_sums(r, &row->self, &row->total);
	} else {
		json_u64(out, "insns", row->insns);
		if (has_entered(r))
			json_u64(out, entered_name(r), row->entered);
	}
	json_end(out);
}

/* CSV. */

static void
write_csv_percent(struct output *out, bool known, double percent)
{
	output_char(out, ',');
	if (known)
		output_format(out, "%.4f", percent);
}

static void
write_csv_text(struct output *out, const char *text)
{
	output_char(out, ',');
	output_csv_string(out, text != NULL ? text : "");
}

static void
write_csv_who(const struct report *r, const struct hwtd_profile_row *row)
{
	const struct hwtd_profile_function f = function_of(r, row->function);
	const struct hwtd_profile_thread t = thread_of(r, row->thread);
	const bool block = r->options->report_by == HWTD_PROFILE_BY_ADDRESS;
	const uint32_t placed = HWTD_PROFILE_FUNCTIONF_OFFSET |
	    HWTD_PROFILE_FUNCTIONF_ADDRESS;
	struct output *out = r->out;

	output_csv_string(out,
	    f.name != NULL	  ? f.name
		: row->flags != 0 ? stand_in(row->flags, row->type)
				  : "");
	write_csv_text(out, f.linkage_name);
	output_csv_u64(out, row->function != HWTD_NO_ID,
	    (f.flags & HWTD_PROFILE_FUNCTIONF_INLINED) != 0);
	write_csv_text(out, image_of(r, row->image).name);
	output_csv_hex(out, block || (f.flags & placed) != 0,
	    block ? row->file_off : f.file_off);
	output_csv_u64(out, block, row->bytes);
	write_csv_text(out, row->file);
	output_csv_u64(out, row->file != NULL, row->line);
	output_csv_u64(out, t.pid != HWTD_NO_ID, t.pid);
	output_csv_u64(out, t.tid != HWTD_NO_ID, t.tid);
	output_csv_u64(out, t.stream != HWTD_NO_ID, t.stream);
	write_csv_text(out, t.name);
	output_csv_u64(out, row->cpu != HWTD_NO_ID, row->cpu);
}

static void
write_csv(const struct report *r, const struct hwtd_profile_row *row)
{
	const struct hwtd_profile_sums *self = &row->self;
	const struct hwtd_profile_sums *total = &row->total;
	const bool calls = follows_calls(r);
	struct output *out = r->out;

	write_csv_who(r, row);
	write_csv_percent(out, true, report_percent(r, report_self(r, row)));
	write_csv_percent(out, calls, report_percent(r, report_total(r, row)));
	output_csv_u64(out, !calls, row->insns);
	output_csv_u64(out, has_entered(r), row->entered);
	output_csv_u64(out, calls, self->calls);
	output_csv_u64(out, calls && r->has_insns, self->insns);
	output_csv_u64(out, calls && r->has_insns, total->insns);
	output_csv_u64(out, r->has_cycles, self->cycles);
	output_csv_u64(out, r->has_cycles, total->cycles);
	output_csv_u64(out, r->has_time, self->ns);
	output_csv_u64(out, r->has_time, total->ns);
	output_csv_u64(out, r->has_time, self->gap_ns);
	output_csv_u64(out, r->has_time, total->gap_ns);
	output_csv_u64(out, r->has_time, total->off_ns);
	output_csv_u64(out, calls, total->gaps);
	output_csv_u64(out, calls, total->gap_bytes);
	output_char(out, '\n');
}

/* Rows. */

#define CSV_COLUMNS 29

void
report_write_header(const struct report *r)
{
	if (r->options->no_header)
		return;
	if (r->options->format == FORMAT_TEXT)
		write_text_header(r);
	else if (r->options->format == FORMAT_CSV)
		output_text(r->out,
		    "function,linkage_name,inlined,image,offset,bytes,file,"
		    "line,pid,tid,stream,thread,cpu,self_percent,"
		    "total_percent,insns,entered,calls,self_insns,"
		    "total_insns,self_cycles,total_cycles,self_ns,total_ns,"
		    "self_gap_ns,gap_ns,off_ns,gaps,gap_bytes\n");
}

void
report_write_row(const struct report *r, const struct hwtd_profile_row *row)
{
	if (r->options->format == FORMAT_TEXT)
		write_text(r, row);
	else if (r->options->format == FORMAT_JSONL)
		write_json(r, row);
	else
		write_csv(r, row);
}

/* Relatives. */

void
report_write_relative_header(const struct report *r)
{
	const bool callers = r->options->callers != NULL;
	struct output *out = r->out;

	if (r->options->no_header)
		return;
	if (r->options->format == FORMAT_TEXT) {
		output_format(out, "%12s", "calls");
		if (follows_calls(r) && r->has_insns)
			output_format(out, " %14s", "insns");
		if (r->has_time)
			output_format(out, " %14s %12s", "ns", "gap_ns");
		output_format(out, "  %-9s %s\n", "type",
		    callers ? "caller -> function" : "function -> callee");
	} else if (r->options->format == FORMAT_CSV) {
		output_text(out,
		    "caller,caller_image,callee,callee_image,type,calls,"
		    "insns,cycles,ns,gap_ns,off_ns,gaps,gap_bytes\n");
	}
}

/* From here on: of a caller and of what it called. */
struct pair {
	uint32_t caller, callee;
	uint64_t calls;
	const struct hwtd_profile_relative *relative;
};

/* Without a function: what a call of its kind leads to. */
static void
write_end(const struct report *r, const struct pair *pair, uint32_t id)
{
	const bool led_to = id == pair->callee;

	if (id == HWTD_NO_ID && !led_to)
		output_text(r->out, "[unknown]");
	else
		write_function(r, id,
		    led_to && pair->relative->type != HWTD_CALL_TYPE_CALL
			? HWTD_PROFILE_NODEF_UNTRACED
			: 0,
		    pair->relative->type);
	write_image(r, function_of(r, id).image);
}

static void
write_pair_text(const struct report *r, const struct pair *pair)
{
	const struct hwtd_profile_sums *sums = &pair->relative->sums;
	struct output *out = r->out;

	output_format(out, "%12llu", (unsigned long long)pair->calls);
	if (follows_calls(r) && r->has_insns)
		output_format(out, " %14llu", (unsigned long long)sums->insns);
	if (r->has_time)
		output_format(out, " %14llu %12llu",
		    (unsigned long long)sums->ns,
		    (unsigned long long)sums->gap_ns);
	output_format(out, "  %-9s ",
	    hwtd_call_type_name(pair->relative->type));
	write_end(r, pair, pair->caller);
	output_text(out, " -> ");
	write_end(r, pair, pair->callee);
	output_char(out, '\n');
}

static void
write_pair_json(const struct report *r, const struct pair *pair)
{
	const struct hwtd_profile_sums *sums = &pair->relative->sums;
	const struct hwtd_profile_function a = function_of(r, pair->caller);
	const struct hwtd_profile_function b = function_of(r, pair->callee);
	struct output *out = r->out;

	json_begin(out, "report_relative");
	if (a.name != NULL)
		json_string(out, "caller", a.name);
	if (image_of(r, a.image).name != NULL)
		json_string(out, "caller_image", image_of(r, a.image).name);
	if (b.name != NULL)
		json_string(out, "callee", b.name);
	if (image_of(r, b.image).name != NULL)
		json_string(out, "callee_image", image_of(r, b.image).name);
	json_name(out, "call", hwtd_call_type_name(pair->relative->type));
	json_u64(out, "calls", pair->calls);
	if (follows_calls(r)) {
		if (r->has_insns)
			json_u64(out, "insns", sums->insns);
		if (r->has_cycles)
			json_u64(out, "cycles", sums->cycles);
		if (r->has_time) {
			json_u64(out, "ns", sums->ns);
			json_u64(out, "gap_ns", sums->gap_ns);
			json_u64(out, "off_ns", sums->off_ns);
		}
		json_u64(out, "gaps", sums->gaps);
		json_u64(out, "gap_bytes", sums->gap_bytes);
	}
	json_end(out);
}

static void
write_pair_csv(const struct report *r, const struct pair *pair)
{
	const struct hwtd_profile_sums *sums = &pair->relative->sums;
	const struct hwtd_profile_function a = function_of(r, pair->caller);
	const struct hwtd_profile_function b = function_of(r, pair->callee);
	const bool calls = follows_calls(r);
	struct output *out = r->out;

	output_csv_string(out, a.name != NULL ? a.name : "");
	write_csv_text(out, image_of(r, a.image).name);
	write_csv_text(out, b.name);
	write_csv_text(out, image_of(r, b.image).name);
	write_csv_text(out, hwtd_call_type_name(pair->relative->type));
	output_csv_u64(out, true, pair->calls);
	output_csv_u64(out, calls && r->has_insns, sums->insns);
	output_csv_u64(out, r->has_cycles, sums->cycles);
	output_csv_u64(out, r->has_time, sums->ns);
	output_csv_u64(out, r->has_time, sums->gap_ns);
	output_csv_u64(out, r->has_time, sums->off_ns);
	output_csv_u64(out, calls, sums->gaps);
	output_csv_u64(out, calls, sums->gap_bytes);
	output_char(out, '\n');
}

void
report_write_relative(const struct report *r, uint32_t function,
    const struct hwtd_profile_relative *relative)
{
	const bool callers = r->options->callers != NULL;
	const struct pair pair = {
		.caller = callers ? relative->function : function,
		.callee = callers ? function : relative->function,
		.calls = follows_calls(r) ? relative->sums.calls
					  : relative->branches,
		.relative = relative,
	};

	if (r->options->format == FORMAT_TEXT)
		write_pair_text(r, &pair);
	else if (r->options->format == FORMAT_JSONL)
		write_pair_json(r, &pair);
	else
		write_pair_csv(r, &pair);
}

/* What was not seen. */

static double
share(uint64_t part, uint64_t whole)
{
	return (whole != 0 ? 100.0 * (double)part / (double)whole : 0);
}

static uint64_t
count_gaps(const struct hwtd_profile_seen *seen)
{
	uint64_t n = 0;

	for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
		n += seen->gaps[i];
	return (n);
}

static void
write_unseen_bytes(const struct report *r,
    const struct hwtd_profile_seen *seen)
{
	const uint64_t n = count_gaps(seen);
	struct output *out = r->out;
	const char *before = ": ";

	if (n == 0 && seen->gap_bytes == 0 && seen->file_gap_bytes == 0) {
		output_format(out, "not seen: nothing of %llu bytes\n",
		    (unsigned long long)seen->bytes);
		return;
	}
	output_format(out,
	    "not seen: %llu of %llu bytes (%.2f%%) in %llu gap%s",
	    (unsigned long long)seen->gap_bytes,
	    (unsigned long long)seen->bytes,
	    share(seen->gap_bytes, seen->bytes), (unsigned long long)n,
	    n == 1 ? "" : "s");
	for (uint32_t i = 0; i < HWTD_GAP_REASONS; i++) {
		if (seen->gaps[i] == 0)
			continue;
		output_format(out, "%s%llu %s", before,
		    (unsigned long long)seen->gaps[i],
		    hwtd_gap_reason_name(i));
		before = ", ";
	}
	output_char(out, '\n');
	if (seen->file_gap_bytes != 0)
		output_format(out,
		    "not seen: %llu bytes of the file, which is damaged\n",
		    (unsigned long long)seen->file_gap_bytes);
}

static void
write_inexact(struct output *out, const char *how, uint64_t calls,
    uint64_t timed, const char *where)
{
	if (calls != 0)
		output_format(out,
		    "%s: begin or end of %llu of %llu calls (%.2f%%), %s\n",
		    how, (unsigned long long)calls, (unsigned long long)timed,
		    share(calls, timed), where);
}

static void
write_unseen_text(const struct report *r)
{
	const struct hwtd_profile_info *info = &r->info;
	const struct hwtd_profile_seen *seen = &info->seen[r->source];
	const uint64_t time = info->total.ns + info->total.gap_ns +
	    info->total.off_ns + info->idle_ns;

	write_unseen_bytes(r, seen);
	if (r->has_time)
		output_format(r->out,
		    "not seen: %llu of %llu ns (%.2f%%) in gaps; %llu ns "
		    "(%.2f%%) not running\n",
		    (unsigned long long)info->total.gap_ns,
		    (unsigned long long)time, share(info->total.gap_ns, time),
		    (unsigned long long)(info->total.off_ns + info->idle_ns),
		    share(info->total.off_ns + info->idle_ns, time));
	write_inexact(r->out, "interpolated", seen->interpolated_calls,
	    seen->timed_calls, "between timing packets");
	write_inexact(r->out, "estimated", seen->estimated_calls,
	    seen->timed_calls, "the time of the packet before");
	if (info->others != 0)
		output_format(r->out,
		    "not told apart: %llu calls, for want of room\n",
		    (unsigned long long)info->others);
	if (info->without_function != 0)
		output_format(r->out,
		    "no function is known of: %llu instructions (%.2f%%); "
		    "--calls tells them apart by where they were called\n",
		    (unsigned long long)info->without_function,
		    share(info->without_function, r->whole));
	if (info->without_line != 0 &&
	    (r->options->report_by == HWTD_PROFILE_BY_LINE ||
		r->options->report_by == HWTD_PROFILE_BY_INLINE))
		output_format(r->out,
		    "no line is known of: %llu instructions (%.2f%%)\n",
		    (unsigned long long)info->without_line,
		    share(info->without_line, r->whole));
}

static void
write_unseen_json(const struct report *r)
{
	const struct hwtd_profile_info *info = &r->info;
	const struct hwtd_profile_seen *seen = &info->seen[r->source];
	struct output *out = r->out;

	json_begin(out, "report_info");
	json_u64(out, "bytes", seen->bytes);
	if (r->has_insns)
		json_u64(out, "insns", seen->insns);
	json_u64(out, "gap_bytes", seen->gap_bytes);
	json_percent(out, "gap_percent", share(seen->gap_bytes, seen->bytes));
	json_u64(out, "file_gap_bytes", seen->file_gap_bytes);
	json_key(out, "gaps");
	output_char(out, '{');
	for (uint32_t i = 0, n = 0; i < HWTD_GAP_REASONS; i++) {
		if (seen->gaps[i] == 0)
			continue;
		output_format(out, "%s\"%s\":%llu", n++ == 0 ? "" : ",",
		    hwtd_gap_reason_name(i),
		    (unsigned long long)seen->gaps[i]);
	}
	output_char(out, '}');
	if (follows_calls(r)) {
		json_u64(out, "calls", info->total.calls);
		json_u64(out, "others", info->others);
		json_u64(out, "timed_calls", seen->timed_calls);
		json_u64(out, "estimated_calls", seen->estimated_calls);
		json_u64(out, "interpolated_calls", seen->interpolated_calls);
	}
	if (r->has_time) {
		json_u64(out, "ns", info->total.ns);
		json_u64(out, "gap_ns", info->total.gap_ns);
		json_u64(out, "off_ns", info->total.off_ns);
		json_u64(out, "idle_ns", info->idle_ns);
	}
	if (r->source == HWTD_PROFILE_RUNS)
		json_u64(out, "without_function", info->without_function);
	if (r->options->report_by == HWTD_PROFILE_BY_LINE ||
	    r->options->report_by == HWTD_PROFILE_BY_INLINE)
		json_u64(out, "without_line", info->without_line);
	json_end(out);
}

void
report_write_unseen(const struct report *r)
{
	if (r->options->format == FORMAT_TEXT)
		write_unseen_text(r);
	else if (r->options->format == FORMAT_JSONL)
		write_unseen_json(r);
}

void
report_write_interrupted(const struct report *r)
{
	if (!r->interrupted)
		return;
	if (r->options->format == FORMAT_TEXT)
		output_text(r->out,
		    r->info.seen[r->source].added == 0
			? "\ninterrupted before all was counted\n"
			: "\ninterrupted: what was executed later is "
			  "missing\n");
	else if (r->options->format == FORMAT_JSONL) {
		json_begin(r->out, "interrupted");
		json_end(r->out);
	} else {
		output_text(r->out, "interrupted");
		for (size_t i = 1; i < CSV_COLUMNS; i++)
			output_char(r->out, ',');
		output_char(r->out, '\n');
	}
}
