/*
 * The two inputs of diff, and profiles of them.
 */
#include "cli/options/diff_options.h"
#include "cli/print/diff_report.h"
#include "cli/output/interrupt.h"
#include "cli/output/loss.h"
#include "cli/output/message.h"

bool
diff_shows(const struct diff_report *report, unsigned int part)
{
	const uint32_t parts = report->options->diff_parts;

	return (((parts != 0 ? parts : DIFF_PARTS_DEFAULT) >> part & 1) != 0);
}

static bool
follows_calls(const struct diff_report *report)
{
	const uint32_t by = report->by;

	return (by == HWTD_DIFF_BY_TIME || by == HWTD_DIFF_BY_TOTAL_TIME ||
	    by == HWTD_DIFF_BY_CYCLES || report->sides[0].is_text ||
	    report->sides[1].is_text);
}

static int
open_side(struct diff_report *report, unsigned int no)
{
	struct diff_side *s = &report->sides[no];
	int code;

	s->options = *report->options;
	s->options.operands = report->options->operands + no;
	s->options.n_operands = 1;
	/* diff_judge() does, when all is written. */
	s->options.max_loss = -1;
	/* It says what it is. */
	code = call_input_open(&s->input, &s->options,
	    HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS);
	s->name = s->input.name;
	s->is_text = !s->input.has_trace;
	return (code);
}

/* Text has no instructions: everything would be as it was, or gone. */
static int
choose_measure(struct diff_report *report)
{
	const struct diff_side *sides = report->sides;
	const bool text = sides[0].is_text || sides[1].is_text;

	report->by = report->options->diff_by;
	if (!text || !diff_shows(report, DIFF_FUNCTIONS) ||
	    (report->by != HWTD_DIFF_BY_INSNS &&
		report->by != HWTD_DIFF_BY_CYCLES))
		return (EXIT_DONE);
	if (!report->options->has_diff_by) {
		report->by = HWTD_DIFF_BY_CALLS;
		return (EXIT_DONE);
	}
	say_error("%s: text has no %s", sides[sides[0].is_text ? 0 : 1].name,
	    hwtd_diff_by_name(report->by));
	say_hint("say --by calls, time or total-time");
	return (EXIT_BAD_USAGE);
}

int
diff_open(struct diff_report *report)
{
	struct hwtd_error err = { .size = sizeof(err) };
	const struct hwtd_context_options
	    limits = library_options(report->options);
	int code = EXIT_DONE;

	if (strcmp(report->options->operands[0], "-") == 0 &&
	    strcmp(report->options->operands[1], "-") == 0) {
		say_error("both are standard input");
		say_hint("name a file for one of them");
		return (EXIT_BAD_USAGE);
	}
	if (hwtd_context_create(&limits, &report->library, &err) != HWTD_OK)
		return (say_library_error("diff", &err));
	for (unsigned int i = 0; i < 2 && code == EXIT_DONE; i++)
		code = open_side(report, i);
	if (code == EXIT_DONE)
		code = choose_measure(report);
	/* Counts of code need no calls. */
	for (unsigned int i = 0; i < 2 && code == EXIT_DONE; i++) {
		if (follows_calls(report))
			break;
		hwtd_calls_close(report->sides[i].input.calls);
		report->sides[i].input.calls = NULL;
	}
	if (code != EXIT_DONE || !diff_shows(report, DIFF_FLOW) ||
	    (!report->sides[0].is_text && !report->sides[1].is_text))
		return (code);
	if (report->options->diff_parts == 0)
		return (EXIT_DONE);
	say_error("%s: text has no flow that can be compared",
	    report->sides[report->sides[0].is_text ? 0 : 1].name);
	say_hint("say --show functions,edges");
	return (EXIT_BAD_USAGE);
}

void
diff_close(struct diff_report *report)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct diff_side *s = &report->sides[i];

		hwtd_symbolizer_close(s->symbolizer);
		hwtd_profile_destroy(s->profile);
		if (s->input.options != NULL)
			call_input_close(&s->input);
	}
	hwtd_context_destroy(report->library);
}

/* Profiles. */

static int
add_runs(struct diff_report *report, struct diff_side *s)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events_options events;
	struct hwtd_runs_options how = { .size = sizeof(how),
		.flags = HWTD_RUNS_EDGES,
		.events = &events };
	struct hwtd_runs_info info = { .size = sizeof(info) };
	struct hwtd_runs *runs;
	int code = EXIT_DONE, rc;

	input_events_options(&s->options, &events);
	if (hwtd_runs_open(s->input.input.trace, &how, &runs, &err) != HWTD_OK)
		return (say_library_error(s->name, &err));
	do {
		rc = hwtd_profile_add_runs(s->profile, runs, NULL, &err);
		if (progress_due(&report->progress) &&
		    hwtd_runs_info(runs, &info) == HWTD_OK)
			progress_show(&report->progress, info.bytes);
		if (rc == HWTD_OK && interrupt_seen())
			code = EXIT_INTERRUPTED;
	} while (rc == HWTD_OK && code == EXIT_DONE);
	if (code == EXIT_DONE && rc != HWTD_END)
		code = call_input_say_error(&s->input, &err);
	hwtd_runs_close(runs);
	return (code);
}

static int
add_calls(struct diff_report *report, struct diff_side *s)
{
	struct hwtd_error err = { .size = sizeof(err) };
	int code = EXIT_DONE, rc;

	do {
		rc = hwtd_profile_add_calls(s->profile, s->input.calls, &err);
		if (progress_due(&report->progress))
			progress_show(&report->progress,
			    call_input_bytes_read(&s->input));
		if (rc == HWTD_OK && interrupt_seen())
			code = EXIT_INTERRUPTED;
	} while (rc == HWTD_OK && code == EXIT_DONE);
	if (code == EXIT_DONE && rc != HWTD_END)
		code = call_input_say_error(&s->input, &err);
	/* What of the text is no branch is said. */
	if (code == EXIT_DONE && s->is_text)
		code = call_input_judge(&s->input);
	return (code);
}

/* Of calls without time all would be as it was, or gone. */
static int
check_measure(const struct diff_report *report, const struct diff_side *s)
{
	struct hwtd_profile_info info = { .size = sizeof(info) };
	const bool by_cycles = report->by == HWTD_DIFF_BY_CYCLES;

	if (report->by != HWTD_DIFF_BY_TIME &&
	    report->by != HWTD_DIFF_BY_TOTAL_TIME && !by_cycles)
		return (EXIT_DONE);
	if (hwtd_profile_info(s->profile, &info) != HWTD_OK ||
	    info.total.calls == 0 ||
	    (by_cycles ? info.total.cycles : info.total.ns) != 0)
		return (EXIT_DONE);
	say_error("%s: of its calls no %s are known", s->name,
	    by_cycles ? "cycles" : "times");
	say_hint("say --by %s", s->is_text ? "calls" : "insns or calls");
	return (EXIT_FAILED);
}

int
diff_read_profiles(struct diff_report *report)
{
	struct hwtd_error err = { .size = sizeof(err) };
	int code = EXIT_DONE;

	for (unsigned int i = 0; i < 2 && code == EXIT_DONE; i++) {
		struct diff_side *s = &report->sides[i];

		if (hwtd_profile_create(report->library, NULL, &s->profile,
			&err) != HWTD_OK)
			return (say_library_error(s->name, &err));
		progress_start(&report->progress, report->options->progress,
		    call_input_bytes(&s->input));
		code = follows_calls(report) ? add_calls(report, s)
					     : add_runs(report, s);
		progress_end(&report->progress);
		if (code == EXIT_DONE)
			code = check_measure(report, s);
	}
	return (code);
}

/* What was lost of a side is in the lines before the tables. */
static bool
says_loss(const struct options *o)
{
	return (o->format == FORMAT_JSONL ||
	    (o->format == FORMAT_TEXT && !o->no_header));
}

int
diff_judge(const struct diff_report *report)
{
	int code = EXIT_DONE;

	for (unsigned int i = 0; i < 2; i++) {
		const struct diff_side *s = &report->sides[i];
		struct hwtd_profile_info info = { .size = sizeof(info) };
		struct hwtd_stats stats = s->stats;

		if (s->profile != NULL) {
			memset(&stats, 0, sizeof(stats));
			(void)hwtd_profile_info(s->profile, &info);
		}
		for (size_t k = 0; k < HWTD_PROFILE_SOURCES; k++) {
			const struct hwtd_profile_seen *seen = &info.seen[k];

			stats.bytes += seen->bytes;
			stats.gap_bytes += seen->gap_bytes;
			stats.file_gap_bytes += seen->file_gap_bytes;
			for (size_t r = 0; r < HWTD_GAP_REASONS; r++)
				stats.gaps[r] += seen->gaps[r];
		}
		if (!says_loss(report->options))
			loss_warn(s->name, &stats);
		if (loss_exit_code(s->name, &stats,
			report->options->max_loss) != EXIT_DONE)
			code = EXIT_LOSS;
	}
	return (code);
}
