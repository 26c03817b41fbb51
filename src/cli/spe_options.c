/*
 * Options that describe raw bytes of Arm SPE, and buffers of raw bytes.
 */
#include "cli/spe_options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/option_values.h"

static bool
add_split(struct options *options, uint64_t off)
{
	uint64_t *splits = realloc(options->splits,
	    (options->n_splits + 1) * sizeof(*splits));

	if (splits == NULL) {
		say_error("out of memory");
		return (false);
	}
	options->splits = splits;
	splits[options->n_splits++] = off;
	return (true);
}

static bool
take_splits(struct options *options, const struct option_entry *entry,
    const char *value)
{
	uint64_t last = options->n_splits > 0
	    ? options->splits[options->n_splits - 1]
	    : 0;

	for (const char *at = value;; at++) {
		const size_t n = strcspn(at, ",");
		uint64_t off = 0;

		if (parse_number(at, n, &off) != VALUE_FINE) {
			say_error("--%s: '%.*s' is no offset", entry->name,
			    (int)(n < 64 ? n : 64), at);
			return (false);
		}
		if (off <= last) {
			say_error("--%s: offsets must rise, and the first "
				  "buffer begins at 0 anyway",
			    entry->name);
			return (false);
		}
		last = off;
		if (!add_split(options, off))
			return (false);
		at += n;
		if (*at == '\0')
			return (true);
	}
}

bool
take_spe_option(struct options *options, const struct option_entry *entry,
    const char *value, bool *known)
{
	*known = true;
	switch (entry->id) {
	case OPTION_SPLIT_AT:
		return (take_splits(options, entry, value));
	default:
		*known = false;
		return (true);
	}
}

void
spe_options_fini(struct options *options)
{
	free(options->splits);
}
