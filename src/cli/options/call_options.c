/*
 * Options of the command calls.
 */
#include <stdio.h>
#include <string.h>

#include "cli/options/call_options.h"
#include "cli/output/message.h"
#include "cli/options/option_values.h"

/* A length of time, as --time has its ends. */
static bool
take_duration(const struct option_entry *entry, const char *value,
    uint64_t *out)
{
	struct hwtd_range range;
	char from[64];

	/* The first end of a range that is open. */
	if (strchr(value, '-') != NULL || value[0] == '\0' ||
	    strlen(value) + 2 > sizeof(from) ||
	    snprintf(from, sizeof(from), "%s-", value) < 0 ||
	    parse_time_range(from, &range) != VALUE_FINE) {
		say_error("--%s: '%s' is no length of time", entry->name,
		    value);
		say_hint("for instance 1500, 20us or 1.5ms");
		return (false);
	}
	*out = range.start;
	return (true);
}

bool
take_call_option(struct options *options, const struct option_entry *entry,
    const char *value, bool *known)
{
	uint64_t number = 0;

	*known = true;
	switch (entry->id) {
	case OPTION_MIN_DURATION:
		return (take_duration(entry, value,
		    &options->min_duration_ns));
	case OPTION_MAX_DEPTH:
		if (!option_number(entry, value, 1, INT32_MAX, &number))
			return (false);
		options->max_depth = (uint32_t)number;
		return (true);
	case OPTION_TRIGGER:
		if (value[0] == '\0') {
			say_error("--%s: '' is no name", entry->name);
			return (false);
		}
		options->trigger = value;
		return (true);
	case OPTION_ENTERS:
		options->enters = true;
		return (true);
	case OPTION_FUNCTIONS:
		options->functions = true;
		return (true);
	case OPTION_NO_INTERPOLATION:
		options->no_interpolation = true;
		return (true);
	case OPTION_TEXT:
		options->text_input = true;
		return (true);
	default:
		*known = false;
		return (true);
	}
}
