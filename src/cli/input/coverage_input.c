/*
 * Coverage of one input or several, added up.
 */
#include <string.h>

#include "cli/input/coverage_input.h"
#include "cli/options/coverage_options.h"
#include "cli/output/loss.h"
#include "cli/output/message.h"

static int
open_next(struct coverage_input *in)
{
	struct hwtd_runs_options how = { .size = sizeof(how),
		.flags = HWTD_RUNS_EDGES };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events_options events;
	int code;

	in->one = *in->options;
	in->one.operands = in->options->operands + in->next++;
	in->one.n_operands = 1;
	code = input_open(&in->input, &in->one);
	if (code != EXIT_DONE)
		return (code);
	in->is_open = true;
	code = input_check_streams(&in->input, &in->one);
	if (code != EXIT_DONE)
		return (code);
	input_events_options(&in->one, &events);
	how.events = &events;
	if (hwtd_runs_open(in->input.trace, &how, &in->runs, &err) != HWTD_OK)
		return (say_library_error(in->input.name, &err));
	return (EXIT_DONE);
}

int
coverage_input_open(struct coverage_input *in, const struct options *options)
{
	const struct hwtd_context_options context = library_options(options);
	const struct hwtd_coverage_options how = coverage_options_of(options);
	struct hwtd_error err = { .size = sizeof(err) };

	*in = (struct coverage_input){ .options = options };
	if (hwtd_context_create(&context, &in->library, &err) != HWTD_OK ||
	    hwtd_coverage_create(in->library, &how, &in->coverage, &err) !=
		HWTD_OK)
		return (say_library_error(options->operands[0], &err));
	return (open_next(in));
}

static void
close_one(struct coverage_input *in)
{
	hwtd_runs_close(in->runs);
	in->runs = NULL;
	if (in->is_open)
		input_close(&in->input);
	in->is_open = false;
}

/* All of an input was added: what of it was lost? */
static void
judge(struct coverage_input *in)
{
	struct hwtd_runs_info info = { .size = sizeof(info) };
	struct hwtd_stats stats = { .size = sizeof(stats) };

	if (hwtd_runs_info(in->runs, &info) != HWTD_OK)
		return;
	in->bytes += info.bytes;
	stats.bytes = info.bytes;
	stats.gap_bytes = info.gap_bytes;
	stats.file_gap_bytes = info.file_gap_bytes;
	memcpy(stats.gaps, info.gaps, sizeof(stats.gaps));
	/* Neither has a place for it. */
	if (in->options->format == FORMAT_CSV || in->options->coverage.to_lcov)
		loss_warn(in->input.name, &stats);
	if (loss_exit_code(in->input.name, &stats, in->options->max_loss) !=
	    EXIT_DONE)
		in->loss = EXIT_LOSS;
}

int
coverage_input_step(struct coverage_input *in, int *code_out)
{
	struct hwtd_error err = { .size = sizeof(err) };
	int rc = hwtd_coverage_add_runs(in->coverage, in->runs, &err);

	*code_out = EXIT_DONE;
	if (rc == HWTD_OK)
		return (HWTD_OK);
	if (rc != HWTD_END) {
		*code_out = input_say_read_error(&in->input, &in->one, &err);
		return (rc);
	}
	judge(in);
	if (in->next == in->options->n_operands)
		return (HWTD_END);
	close_one(in);
	*code_out = open_next(in);
	return (*code_out == EXIT_DONE ? HWTD_OK : HWTD_E_IO);
}

uint64_t
coverage_input_bytes(const struct coverage_input *in)
{
	return (in->is_open ? in->bytes + in->input.info.n_bytes : 0);
}

uint64_t
coverage_input_bytes_read(const struct coverage_input *in)
{
	struct hwtd_runs_info info = { .size = sizeof(info) };

	if (in->runs == NULL || hwtd_runs_info(in->runs, &info) != HWTD_OK)
		return (in->bytes);
	return (in->bytes + info.bytes);
}

const char *
coverage_input_name(const struct coverage_input *in)
{
	return (in->options->n_operands == 1 && in->is_open ? in->input.name
							    : "all of them");
}

void
coverage_input_close(struct coverage_input *in)
{
	close_one(in);
	hwtd_coverage_close(in->coverage);
	hwtd_context_destroy(in->library);
}
