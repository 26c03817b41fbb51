/*
 * Exports that are made of a profile, of the calls of a trace or of text.
 */
#include "cli/export/export_source.h"
#include "cli/output/message.h"
#include "cli/input/profile_input.h"

static int
open_profile(void *state, const struct options *options,
    const struct hwtd_format_options *how, const char **name)
{
	struct profile_input *in = state;
	const int code = profile_input_open(in, options,
	    HWTD_PROFILE_THREADS | HWTD_PROFILE_LINES);

	(void)how;
	*name = in->calls.name;
	return (code);
}

static int
fill_profile(void *state, struct hwtd_error *err)
{
	return (profile_input_step(state, err));
}

static int
begin_profile(void *state, const struct hwtd_format_options *how,
    struct hwtd_export **export_out, struct hwtd_error *err)
{
	struct profile_input *in = state;

	return (hwtd_export_open_profile(in->profile, how, export_out, err));
}

static uint64_t
bytes_of_profile(const void *state)
{
	const struct profile_input *in = state;

	return (call_input_bytes(&in->calls));
}

static uint64_t
bytes_read_of_profile(const void *state)
{
	const struct profile_input *in = state;

	return (call_input_bytes_read(&in->calls));
}

static int
say_error_of_profile(const void *state, const struct hwtd_error *err)
{
	const struct profile_input *in = state;

	return (call_input_say_error(&in->calls, err));
}

static int
judge_profile(const void *state)
{
	return (profile_input_judge(state));
}

static void
close_profile(void *state)
{
	profile_input_close(state);
}

const struct export_source export_from_profile = {
	.state_bytes = sizeof(struct profile_input),
	.open = open_profile,
	.fill = fill_profile,
	.begin = begin_profile,
	.bytes = bytes_of_profile,
	.bytes_read = bytes_read_of_profile,
	.say_error = say_error_of_profile,
	.judge = judge_profile,
	.close = close_profile,
};
