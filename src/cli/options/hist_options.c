/*
 * Options of the command hist.
 */
#include "cli/options/hist_options.h"
#include "cli/output/message.h"
#include "cli/options/option_values.h"

/* A pattern of names, which are never empty. */
static bool
take_pattern(const struct option_entry *entry, const char *value,
    const char **out)
{
	if (value[0] == '\0') {
		say_error("--%s: '' is no name", entry->name);
		return (false);
	}
	*out = value;
	return (true);
}

bool
take_hist_option(struct options *options, const struct option_entry *entry,
    const char *value, bool *known)
{
	size_t choice = 0;

	*known = true;
	if (entry->choices != NULL)
		(void)parse_choice(value, entry->choices, &choice);
	switch (entry->id) {
	case OPTION_SYM:
		return (take_pattern(entry, value, &options->symbol));
	case OPTION_FROM:
		return (take_pattern(entry, value, &options->from_symbol));
	case OPTION_TO_SYM:
		return (take_pattern(entry, value, &options->to_symbol));
	case OPTION_HIST_VALUE:
		options->hist_value = (uint32_t)choice + HWTD_HISTOGRAM_TIME;
		return (true);
	case OPTION_HIST_SORT:
		options->sort = (uint32_t)choice;
		options->has_sort = true;
		return (true);
	case OPTION_EXACT:
		options->exact = true;
		return (true);
	case OPTION_BARS:
		options->bars = true;
		return (true);
	case OPTION_BUCKETS:
		options->buckets = true;
		return (true);
	default:
		*known = false;
		return (true);
	}
}
