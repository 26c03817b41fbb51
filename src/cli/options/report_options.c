/*
 * Options of the command report.
 */
#include "cli/options/report_options.h"

#include "cli/output/message.h"
#include "cli/options/option_values.h"

bool
take_report_option(struct options *options, const struct option_entry *entry,
    const char *value, bool *known)
{
	size_t choice = 0;

	*known = true;
	if (entry->choices != NULL)
		(void)parse_choice(value, entry->choices, &choice);
	switch (entry->id) {
	case OPTION_REPORT_BY:
		options->report_by = (uint32_t)choice;
		return (true);
	case OPTION_REPORT_SORT:
		options->report_sort = (uint32_t)choice;
		options->has_report_sort = true;
		return (true);
	case OPTION_PERCENT_LIMIT:
		if (parse_percent(value, &options->percent_limit))
			return (true);
		say_error("--%s: '%s' is no percentage", entry->name, value);
		say_hint("for instance 0.5");
		return (false);
	case OPTION_CALLS:
		options->calls = true;
		return (true);
	case OPTION_INCLUSIVE:
		options->inclusive = true;
		return (true);
	case OPTION_CALLERS:
	case OPTION_CALLEES:
		if (value[0] == '\0') {
			say_error("--%s: '' is no name", entry->name);
			return (false);
		}
		if (entry->id == OPTION_CALLERS)
			options->callers = value;
		else
			options->callees = value;
		return (true);
	default:
		*known = false;
		return (true);
	}
}

static bool
sorts_calls(const struct options *o)
{
	return (o->has_report_sort &&
	    (o->report_sort == REPORT_BY_TOTAL ||
		o->report_sort == REPORT_BY_CALLS ||
		o->report_sort == REPORT_BY_TIME ||
		o->report_sort == REPORT_BY_CYCLES));
}

bool
report_follows_calls(const struct options *o)
{
	return (o->calls || o->inclusive || o->text_input || sorts_calls(o));
}

/* Of these there are counts of code only. */
static bool
is_code(uint32_t by)
{
	return (by == HWTD_PROFILE_BY_LINE || by == HWTD_PROFILE_BY_INLINE ||
	    by == HWTD_PROFILE_BY_ADDRESS);
}

int
check_report_options(const struct options *o)
{
	const char *by = hwtd_profile_by_name(o->report_by);

	if (o->callers != NULL && o->callees != NULL) {
		say_error("--callers and --callees are two reports");
		say_hint("ask for one of them");
		return (EXIT_BAD_USAGE);
	}
	if ((o->callers != NULL || o->callees != NULL) &&
	    o->report_by != HWTD_PROFILE_BY_FUNCTION) {
		say_error("--by %s: functions have callers", by);
		say_hint("leave out --by");
		return (EXIT_BAD_USAGE);
	}
	if (report_follows_calls(o) &&
	    (is_code(o->report_by) || o->report_by == HWTD_PROFILE_BY_CPU)) {
		say_error("--by %s: calls are not told apart by %s", by, by);
		say_hint("leave out --calls, --inclusive, --text, and --sort "
			 "total, calls, time and cycles");
		return (EXIT_BAD_USAGE);
	}
	if (o->has_report_sort && o->report_sort == REPORT_BY_ENTERED &&
	    (report_follows_calls(o) ||
		o->report_by == HWTD_PROFILE_BY_THREAD ||
		o->report_by == HWTD_PROFILE_BY_CPU ||
		o->report_by == HWTD_PROFILE_BY_IMAGE)) {
		say_error(
		    "--sort entered: that is counted of functions, lines "
		    "and blocks, without calls");
		return (EXIT_BAD_USAGE);
	}
	return (EXIT_DONE);
}
