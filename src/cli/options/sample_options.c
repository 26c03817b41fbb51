/*
 * Options of the commands spe and mem.
 */
#include <stdlib.h>

#include "cli/output/message.h"
#include "cli/options/option_values.h"
#include "cli/options/sample_options.h"

static bool
take_where(struct options *options, const char *value)
{
	const char **grown = realloc(options->wheres,
	    (options->n_wheres + 1) * sizeof(*grown));

	if (grown == NULL) {
		say_error("out of memory");
		return (false);
	}
	options->wheres = grown;
	options->wheres[options->n_wheres++] = value;
	return (true);
}

static bool
take_line_bytes(struct options *options, const struct option_entry *entry,
    const char *value)
{
	uint64_t number = 0;

	if (!option_number(entry, value, 8, 4096, &number))
		return (false);
	if ((number & (number - 1)) != 0) {
		say_error("--%s: '%s' is no power of 2", entry->name, value);
		return (false);
	}
	options->line_bytes = (uint32_t)number;
	return (true);
}

bool
take_sample_option(struct options *options, const struct option_entry *entry,
    const char *value, bool *known)
{
	size_t choice = 0;

	*known = true;
	if (entry->choices != NULL)
		(void)parse_choice(value, entry->choices, &choice);
	switch (entry->id) {
	case OPTION_LINE_BYTES:
		return (take_line_bytes(options, entry, value));
	case OPTION_BY:
		options->by = (uint32_t)choice;
		return (true);
	case OPTION_SORT:
		options->has_sort = true;
		options->sort = (uint32_t)choice;
		return (true);
	case OPTION_TOP:
		return (option_number(entry, value, 0, UINT32_MAX,
		    &options->top));
	case OPTION_WHERE:
		return (take_where(options, value));
	case OPTION_ACCESSES:
		options->accesses = true;
		return (true);
	case OPTION_PHYSICAL:
		options->physical = true;
		return (true);
	case OPTION_HISTOGRAM:
		options->histogram = true;
		return (true);
	default:
		*known = false;
		return (true);
	}
}
