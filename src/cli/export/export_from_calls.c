/*
 * Exports that are made of calls, of a trace or of text.
 */
#include "cli/input/call_input.h"
#include "cli/export/export_source.h"
#include "cli/output/message.h"

static int
open_calls(void *state, const struct options *options,
    const struct hwtd_format_options *how, const char **name)
{
	struct call_input *in = state;
	const int code = call_input_open(in, options,
	    HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS);

	(void)how;
	*name = in->name;
	return (code);
}

static int
begin_calls(void *state, const struct hwtd_format_options *how,
    struct hwtd_export **export_out, struct hwtd_error *err)
{
	struct call_input *in = state;

	return (hwtd_export_open_calls(in->calls, how, export_out, err));
}

static uint64_t
bytes_of_calls(const void *state)
{
	return (call_input_bytes(state));
}

static uint64_t
bytes_read_of_calls(const void *state)
{
	return (call_input_bytes_read(state));
}

static int
say_error_of_calls(const void *state, const struct hwtd_error *err)
{
	return (call_input_say_error(state, err));
}

static int
judge_calls(const void *state)
{
	const struct call_input *in = state;
	struct hwtd_calls_info info = { .size = sizeof(info) };
	uint64_t gaps = 0;

	if (hwtd_calls_info(in->calls, &info) == HWTD_OK)
		for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
			gaps += info.gaps[i];
	if (gaps != 0)
		say_warning("%s: %llu gap%s of %llu bytes: what ran there is "
			    "written as not traced",
		    in->name, (unsigned long long)gaps, gaps == 1 ? "" : "s",
		    (unsigned long long)info.gap_bytes);
	return (call_input_judge(in));
}

static void
close_calls(void *state)
{
	call_input_close(state);
}

const struct export_source export_from_calls = {
	.state_bytes = sizeof(struct call_input),
	.open = open_calls,
	.begin = begin_calls,
	.bytes = bytes_of_calls,
	.bytes_read = bytes_read_of_calls,
	.say_error = say_error_of_calls,
	.judge = judge_calls,
	.close = close_calls,
};
