/*
 * hwtdecode record --list: what a machine can record with, whom one may trace,
 * and what is missing.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/input/input.h"
#include "cli/output/json_line.h"
#include "cli/output/message.h"
#include "cli/print/record_report.h"

/* Whether one may trace, and why. */
struct permission {
	bool may;
	char text[HWTD_CAPTURE_TEXT];
};

static void
write_modes(struct output *out, uint32_t modes)
{
	if ((modes & HWTD_CAPTURE_MODEF_THREADS) != 0)
		output_text(out, "threads");
	if (modes == (HWTD_CAPTURE_MODEF_THREADS | HWTD_CAPTURE_MODEF_CPUS))
		output_char(out, '|');
	if ((modes & HWTD_CAPTURE_MODEF_CPUS) != 0)
		output_text(out, "cpus");
}

static void
write_text(struct output *out, const struct hwtd_capture_backend *b)
{
	output_format(out, "%-10s %s: ", tech_name(b->tech),
	    b->usable != 0 ? "yes" : "no");
	output_escaped(out, b->text);
	output_char(out, '\n');
	if (b->usable != 0) {
		output_format(out,
		    "%-10s buffers of %" PRIu64 " to %" PRIu64
		    " bytes, by default %" PRIu64 "; ",
		    "", b->least_bytes, b->most_bytes, b->default_bytes);
		if (b->n_ranges != 0)
			output_format(out, "%" PRIu32 " ranges of filters; ",
			    b->n_ranges);
		else
			output_text(out, "no filters; ");
		write_modes(out, b->modes);
		output_char(out, '\n');
	}
	if (b->help[0] != '\0') {
		output_format(out, "%-10s try: ", "");
		output_escaped(out, b->help);
		output_char(out, '\n');
	}
}

static void
write_json(struct output *out, const struct hwtd_capture_backend *b)
{
	json_begin(out, "record_backend");
	json_name(out, "tech", tech_name(b->tech));
	json_bool(out, "usable", b->usable != 0);
	json_u64(out, "least_bytes", b->least_bytes);
	json_u64(out, "most_bytes", b->most_bytes);
	json_u64(out, "default_bytes", b->default_bytes);
	json_u64(out, "ranges", b->n_ranges);
	json_bool(out, "threads",
	    (b->modes & HWTD_CAPTURE_MODEF_THREADS) != 0);
	json_bool(out, "cpus", (b->modes & HWTD_CAPTURE_MODEF_CPUS) != 0);
	json_string(out, "text", b->text);
	json_string(out, "help", b->help);
	json_end(out);
}

static void
write_csv(struct output *out, const struct hwtd_capture_backend *b)
{
	output_text(out, tech_name(b->tech));
	output_format(out,
	    ",%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",",
	    b->usable != 0, b->least_bytes, b->most_bytes, b->default_bytes,
	    b->n_ranges);
	write_modes(out, b->modes);
	output_char(out, ',');
	output_csv_string(out, b->text);
	output_char(out, ',');
	output_csv_string(out, b->help);
	output_char(out, '\n');
}

static void
write_permission(struct output *out, const struct options *options,
    const struct permission *p)
{
	const uint32_t pid = options->record.pid;

	switch (options->format) {
	case FORMAT_TEXT:
		if (pid != 0)
			output_format(out,
			    "process %" PRIu32 " may %sbe traced", pid,
			    p->may ? "" : "not ");
		else
			output_format(out, "you may %strace",
			    p->may ? "" : "not ");
		output_text(out, ": ");
		output_escaped(out, p->text);
		output_char(out, '\n');
		break;
	case FORMAT_JSONL:
		json_begin(out, "record_allowed");
		if (pid != 0)
			json_u64(out, "pid", pid);
		json_bool(out, "allowed", p->may);
		json_string(out, "text", p->text);
		json_end(out);
		break;
	case FORMAT_CSV:
		output_format(out, "allowed,%d,,,,,,", p->may);
		output_csv_string(out, p->text);
		output_text(out, ",\n");
		break;
	}
}

static void
write_backends(struct output *out, const struct options *options,
    struct hwtd_context *library)
{
	struct hwtd_capture_backend b = { .size = sizeof(b) };

	if (options->format == FORMAT_CSV && !options->no_header)
		output_text(out,
		    "tech,usable,least_bytes,most_bytes,default_bytes,ranges,"
		    "modes,text,help\n");
	for (size_t i = 0;
	     hwtd_capture_backend(library, i, &b, NULL) == HWTD_OK; i++) {
		if (options->format == FORMAT_TEXT)
			write_text(out, &b);
		else if (options->format == FORMAT_JSONL)
			write_json(out, &b);
		else
			write_csv(out, &b);
	}
}

int
record_list(const struct options *options, struct hwtd_context *library)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct permission p = { .may = false };
	struct output out;
	int rc;

	rc = hwtd_capture_allowed(library, options->record.pid, p.text, &err);
	p.may = rc == HWTD_OK;
	if (rc == HWTD_E_UNSUPPORTED) {
		(void)snprintf(p.text, sizeof(p.text), "%s", err.message);
	} else if (rc < 0) {
		say_error("%s", err.message);
		return (EXIT_FAILED);
	}
	if (!output_open(&out, options->output))
		return (EXIT_FAILED);
	write_backends(&out, options, library);
	write_permission(&out, options, &p);
	return (output_close(&out, true) ? EXIT_DONE : EXIT_FAILED);
}
