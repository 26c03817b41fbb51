/*
 * The table of functions: how often each was called, and how long that took.
 */
#include <stdlib.h>

#include "cli/print/call_writer.h"
#include "cli/output/json_line.h"
#include "cli/output/message.h"

struct table_row {
	uint32_t function;
	struct hwtd_call_times times;
};

/* Most time of its own first; what is equal in the order it was found in. */
static int
by_self(const void *a, const void *b)
{
	const struct table_row *x = a, *y = b;

	if (x->times.all_self_ns != y->times.all_self_ns)
		return (x->times.all_self_ns < y->times.all_self_ns ? 1 : -1);
	if (x->times.calls != y->times.calls)
		return (x->times.calls < y->times.calls ? 1 : -1);
	return (x->function > y->function ? 1 : -1);
}

static void
write_text(struct output *out, const struct hwtd_calls *calls,
    const struct table_row *row)
{
	const struct hwtd_call_times *t = &row->times;

	output_format(out,
	    "%12llu %12llu %14llu %12llu %12llu %12llu %12llu  ",
	    (unsigned long long)t->calls, (unsigned long long)t->whole,
	    (unsigned long long)t->all_self_ns, (unsigned long long)t->p50_ns,
	    (unsigned long long)t->p90_ns, (unsigned long long)t->p99_ns,
	    (unsigned long long)t->max_ns);
	call_write_name(out, calls, row->function, 0, 0);
	output_char(out, '\n');
}

static void
write_json(struct output *out, const struct hwtd_call_function *f,
    const struct table_row *row)
{
	const struct hwtd_call_times *t = &row->times;

	json_begin(out, "call_function");
	if (f->name != NULL)
		json_string(out, "function", f->name);
	if (f->image != NULL)
		json_string(out, "image", f->image);
	if ((f->flags & HWTD_CALL_FUNCTIONF_ADDRESS) != 0)
		json_hex(out, "function_address", f->address);
	json_u64(out, "calls", t->calls);
	json_u64(out, "whole", t->whole);
	json_u64(out, "ns", t->ns);
	json_u64(out, "self_ns", t->self_ns);
	json_u64(out, "all_self_ns", t->all_self_ns);
	json_u64(out, "min_ns", t->min_ns);
	json_u64(out, "p50_ns", t->p50_ns);
	json_u64(out, "p90_ns", t->p90_ns);
	json_u64(out, "p99_ns", t->p99_ns);
	json_u64(out, "max_ns", t->max_ns);
	json_u64(out, "self_insns", t->self_insns);
	json_u64(out, "self_cycles", t->self_cycles);
	json_end(out);
}

static void
write_csv(struct output *out, const struct hwtd_call_function *f,
    const struct table_row *row)
{
	const struct hwtd_call_times *t = &row->times;

	output_csv_string(out, f->name != NULL ? f->name : "");
	output_csv_hex(out, (f->flags & HWTD_CALL_FUNCTIONF_ADDRESS) != 0,
	    f->address);
	output_csv_u64(out, true, t->calls);
	output_csv_u64(out, true, t->whole);
	output_csv_u64(out, true, t->ns);
	output_csv_u64(out, true, t->self_ns);
	output_csv_u64(out, true, t->all_self_ns);
	output_csv_u64(out, true, t->min_ns);
	output_csv_u64(out, true, t->p50_ns);
	output_csv_u64(out, true, t->p90_ns);
	output_csv_u64(out, true, t->p99_ns);
	output_csv_u64(out, true, t->max_ns);
	output_csv_u64(out, true, t->self_insns);
	output_csv_u64(out, true, t->self_cycles);
	output_char(out, ',');
	if (f->image != NULL)
		output_csv_string(out, f->image);
	output_char(out, '\n');
}

static void
write_header(struct output *out, const struct options *options)
{
	if (options->no_header)
		return;
	if (options->format == FORMAT_TEXT)
		output_format(out, "%12s %12s %14s %12s %12s %12s %12s  %s\n",
		    "calls", "whole", "self_ns", "p50_ns", "p90_ns", "p99_ns",
		    "max_ns", "function");
	else if (options->format == FORMAT_CSV)
		output_text(out,
		    "function,function_address,calls,whole,ns,self_ns,all_"
		    "self_"
		    "ns,min_ns,p50_ns,p90_ns,p99_ns,max_ns,self_insns,self_"
		    "cycles,image\n");
}

int
call_write_functions(struct output *out, const struct options *options,
    const struct hwtd_calls *calls)
{
	struct hwtd_calls_info info = { .size = sizeof(info) };
	struct table_row *rows;
	size_t n = 0;

	(void)hwtd_calls_info(calls, &info);
	rows = calloc((size_t)info.n_functions + 1, sizeof(*rows));
	if (rows == NULL) {
		say_error("out of memory");
		return (EXIT_FAILED);
	}
	for (uint32_t i = 0; i < info.n_functions; i++) {
		rows[n].function = i;
		rows[n].times.size = sizeof(rows[n].times);
		if (hwtd_calls_times(calls, i, &rows[n].times) == HWTD_OK &&
		    rows[n].times.calls != 0)
			n++;
	}
	qsort(rows, n, sizeof(*rows), by_self);
	write_header(out, options);
	for (size_t i = 0; i < n && i < options->limit; i++) {
		struct hwtd_call_function f = { .size = sizeof(f) };

		(void)hwtd_calls_function(calls, rows[i].function, &f);
		if (options->format == FORMAT_TEXT)
			write_text(out, calls, &rows[i]);
		else if (options->format == FORMAT_JSONL)
			write_json(out, &f, &rows[i]);
		else
			write_csv(out, &f, &rows[i]);
	}
	free(rows);
	return (EXIT_DONE);
}
