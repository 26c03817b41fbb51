/*
 * Options of the command diff.
 */
#include <string.h>

#include "cli/options/diff_options.h"
#include "cli/output/message.h"
#include "cli/options/option_values.h"

/* "functions,flow" */
static bool
take_parts(struct options *options, const struct option_entry *entry,
    const char *value)
{
	uint32_t parts = 0;

	for (const char *at = value;; at++) {
		const size_t n = strcspn(at, ",");
		char word[16];
		size_t choice;

		if (n >= sizeof(word))
			break;
		memcpy(word, at, n);
		word[n] = '\0';
		if (!parse_choice(word, DIFF_PARTS, &choice))
			break;
		parts |= 1u << choice;
		at += n;
		if (*at == '\0') {
			options->diff_parts = parts;
			return (true);
		}
	}
	say_error("--%s: '%s' is no list of what there is", entry->name,
	    value);
	say_hint("for instance functions,flow; all: "
		 "functions,edges,branches,flow");
	return (false);
}

static bool
take_number(const struct option_entry *entry, const char *value, uint64_t min,
    uint64_t max, uint32_t *out)
{
	uint64_t number = 0;

	if (!option_number(entry, value, min, max, &number))
		return (false);
	*out = (uint32_t)number;
	return (true);
}

bool
take_diff_option(struct options *options, const struct option_entry *entry,
    const char *value, bool *known)
{
	size_t choice = 0;

	*known = true;
	switch (entry->id) {
	case OPTION_SHOW:
		return (take_parts(options, entry, value));
	case OPTION_DIFF_BY:
		(void)parse_choice(value, entry->choices, &choice);
		options->diff_by = (uint32_t)choice;
		options->has_diff_by = true;
		return (true);
	case OPTION_NORMALIZE:
		options->normalize = true;
		return (true);
	case OPTION_THRESHOLD:
		if (parse_percent(value, &options->threshold))
			return (true);
		say_error("--%s: '%s' is no percentage", entry->name, value);
		say_hint("for instance 0.5");
		return (false);
	case OPTION_DIVERGENCES:
		return (take_number(entry, value, 1, UINT32_MAX,
		    &options->divergences));
	case OPTION_BLOCKS:
		return (take_number(entry, value, 1, 1024, &options->blocks));
	case OPTION_WINDOW:
		return (take_number(entry, value, 64, 1u << 22,
		    &options->window));
	case OPTION_WITH_KERNEL:
		options->with_kernel = true;
		return (true);
	case OPTION_TID_A:
		return (take_number(entry, value, 0, UINT32_MAX - 2,
		    &options->one_tid[0]));
	case OPTION_TID_B:
		return (take_number(entry, value, 0, UINT32_MAX - 2,
		    &options->one_tid[1]));
	case OPTION_EXIT_CODE:
		options->exit_code = true;
		return (true);
	default:
		*known = false;
		return (true);
	}
}
