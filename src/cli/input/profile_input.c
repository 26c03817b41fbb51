/*
 * The profile that a command makes of calls.
 */
#include "cli/output/interrupt.h"
#include "cli/output/message.h"
#include "cli/input/profile_input.h"
#include "cli/output/progress.h"

int
profile_input_open(struct profile_input *in, const struct options *options,
    uint32_t flags)
{
	const struct hwtd_profile_options how = { .size = sizeof(how),
		.flags = flags };
	struct hwtd_error err = { .size = sizeof(err) };
	int code;

	in->profile = NULL;
	code = call_input_open(&in->calls, options,
	    HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS);
	if (code == EXIT_DONE &&
	    hwtd_profile_create(in->calls.has_trace ? in->calls.input.library
						    : in->calls.library,
		&how, &in->profile, &err) != HWTD_OK)
		code = say_library_error(in->calls.name, &err);
	return (code);
}

int
profile_input_step(struct profile_input *in, struct hwtd_error *err)
{
	return (hwtd_profile_add_calls(in->profile, in->calls.calls, err));
}

int
profile_input_read(struct profile_input *in)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct progress progress;
	int code = EXIT_DONE, rc = HWTD_OK;

	progress_start(&progress, in->calls.options->progress,
	    call_input_bytes(&in->calls));
	while (rc == HWTD_OK && code == EXIT_DONE) {
		rc = profile_input_step(in, &err);
		if (progress_due(&progress))
			progress_show(&progress,
			    call_input_bytes_read(&in->calls));
		if (interrupt_seen())
			code = EXIT_INTERRUPTED;
	}
	progress_end(&progress);
	return (rc < 0 ? call_input_say_error(&in->calls, &err) : code);
}

int
profile_input_judge(const struct profile_input *in)
{
	struct hwtd_calls_info info = { .size = sizeof(info) };
	uint64_t gaps = 0;

	if (hwtd_calls_info(in->calls.calls, &info) == HWTD_OK)
		for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
			gaps += info.gaps[i];
	if (gaps != 0)
		say_warning("%s: %llu gap%s of %llu bytes: what ran there was "
			    "not seen",
		    in->calls.name, (unsigned long long)gaps,
		    gaps == 1 ? "" : "s", (unsigned long long)info.gap_bytes);
	return (call_input_judge(&in->calls));
}

void
profile_input_close(struct profile_input *in)
{
	hwtd_profile_destroy(in->profile);
	call_input_close(&in->calls);
}
