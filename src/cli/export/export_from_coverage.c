/*
 * Exports that are made of coverage.
 */
#include "cli/input/coverage_input.h"
#include "cli/export/export_source.h"
#include "cli/output/message.h"

struct coverage_source {
	struct coverage_input in;
	/* Of a step that failed, after its message. */
	int code;
};

static int
open_coverage(void *state, const struct options *options,
    const struct hwtd_format_options *how, const char **name)
{
	struct coverage_source *s = state;
	const int code = coverage_input_open(&s->in, options);

	(void)how;
	*name = options->operands[0];
	return (code);
}

static int
fill_coverage(void *state, struct hwtd_error *err)
{
	struct coverage_source *s = state;

	(void)err;
	return (coverage_input_step(&s->in, &s->code));
}

static int
begin_coverage(void *state, const struct hwtd_format_options *how,
    struct hwtd_export **export_out, struct hwtd_error *err)
{
	struct coverage_source *s = state;

	return (hwtd_export_open_coverage(s->in.coverage, how, export_out,
	    err));
}

static uint64_t
bytes_of_coverage(const void *state)
{
	const struct coverage_source *s = state;

	return (coverage_input_bytes(&s->in));
}

static uint64_t
bytes_read_of_coverage(const void *state)
{
	const struct coverage_source *s = state;

	return (coverage_input_bytes_read(&s->in));
}

static int
say_error_of_coverage(const void *state, const struct hwtd_error *err)
{
	const struct coverage_source *s = state;

	if (s->code != EXIT_DONE)
		return (s->code);
	return (say_library_error(coverage_input_name(&s->in), err));
}

static int
judge_coverage(const void *state)
{
	const struct coverage_source *s = state;
	struct hwtd_coverage_info info = { .size = sizeof(info) };
	uint64_t gaps = 0;

	if (hwtd_coverage_info(s->in.coverage, &info, NULL) == HWTD_OK)
		for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
			gaps += info.gaps[i];
	if (gaps != 0)
		say_warning("%s: %llu gap%s of %llu bytes: what ran there is "
			    "not in it",
		    coverage_input_name(&s->in), (unsigned long long)gaps,
		    gaps == 1 ? "" : "s", (unsigned long long)info.gap_bytes);
	return (s->in.loss);
}

static void
close_coverage(void *state)
{
	struct coverage_source *s = state;

	coverage_input_close(&s->in);
}

const struct export_source export_from_coverage = {
	.state_bytes = sizeof(struct coverage_source),
	.open = open_coverage,
	.fill = fill_coverage,
	.begin = begin_coverage,
	.bytes = bytes_of_coverage,
	.bytes_read = bytes_read_of_coverage,
	.say_error = say_error_of_coverage,
	.judge = judge_coverage,
	.close = close_coverage,
};
