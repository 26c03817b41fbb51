/*
 * Options of the command export, and the formats that they name.
 */
#include <stdio.h>
#include <string.h>

#include "cli/options/export_options.h"
#include "cli/output/message.h"
#include "cli/options/option_values.h"

/* Rows of the command events. */
static const struct {
	const char *name;
	enum output_format format;
} row_formats[] = {
	{ "csv", FORMAT_CSV },
	{ "jsonl", FORMAT_JSONL },
};

#define N_ROW_FORMATS (sizeof(row_formats) / sizeof(row_formats[0]))

static bool
take_length(const struct option_entry *entry, const char *value, uint64_t *out)
{
	if (parse_duration(value, out) == VALUE_FINE)
		return (true);
	say_error("--%s: '%s' is no length of time", entry->name, value);
	say_hint("for instance 1500, 20us or 1.5ms");
	return (false);
}

bool
take_export_option(struct options *options, const struct option_entry *entry,
    const char *value, bool *known)
{
	struct export_options *const e = &options->export;
	size_t choice = 0;

	*known = true;
	switch (entry->id) {
	case OPTION_TO:
		e->to = value;
		return (true);
	case OPTION_TITLE:
		e->title = value;
		return (true);
	case OPTION_PROGRAM:
		e->program = value;
		return (true);
	case OPTION_SPLIT_SIZE:
		if (parse_size(value, &e->split_bytes) == VALUE_FINE &&
		    e->split_bytes != 0)
			return (true);
		say_error("--%s: '%s' is no size", entry->name, value);
		say_hint("for instance 100M");
		return (false);
	case OPTION_RESOLUTION:
		return (take_length(entry, value, &e->resolution_ns));
	case OPTION_VALUE:
		/* In the order of hwtd_export_value, from 1. */
		(void)parse_choice(value, entry->choices, &choice);
		e->value = (uint32_t)choice + 1;
		return (true);
	case OPTION_DETAILS:
		e->flags |= HWTD_EXPORT_DETAILS;
		return (true);
	case OPTION_COUNTERS:
		e->flags |= HWTD_EXPORT_COUNTERS;
		return (true);
	case OPTION_CODE:
		e->code = true;
		return (true);
	case OPTION_GZIP:
		e->flags |= HWTD_EXPORT_GZIP;
		return (true);
	default:
		*known = false;
		return (true);
	}
}

/* Formats. */

/* A text of `n` bytes ends in this. */
static bool
ends_in(const char *text, size_t n, const char *end, size_t n_end)
{
	return (n > n_end && memcmp(text + n - n_end, end, n_end) == 0);
}

/* The longest of the suffixes that a name ends in; 0: none. */
static size_t
suffix_bytes(const char *suffixes, const char *name, size_t n)
{
	size_t longest = 0;

	for (const char *at = suffixes; *at != '\0';) {
		const size_t bytes = strcspn(at, " ");

		if (bytes > longest && ends_in(name, n, at, bytes))
			longest = bytes;
		at += bytes;
		at += strspn(at, " ");
	}
	return (longest);
}

static bool
by_suffix(const char *path, struct export_target *out)
{
	struct hwtd_export_format_info f = { .size = sizeof(f) };
	size_t n = strlen(path), longest = 0;
	char end[8];

	if (ends_in(path, n, ".gz", 3)) {
		out->flags |= HWTD_EXPORT_GZIP;
		n -= 3;
	}
	for (size_t i = 0; i < N_ROW_FORMATS; i++) {
		(void)snprintf(end, sizeof(end), ".%s", row_formats[i].name);
		if (!ends_in(path, n, end, strlen(end)))
			continue;
		longest = strlen(end);
		out->rows = true;
		out->row_format = row_formats[i].format;
	}
	for (size_t i = 0; hwtd_export_format_info(i, &f) == HWTD_OK; i++) {
		/* The name that is told first, of equal ones. */
		size_t bytes = suffix_bytes(f.suffixes, path, n);

		/* ".pb.gz" is as good as ".pb" of what is always packed. */
		if (bytes == 0)
			bytes = suffix_bytes(f.suffixes, path, strlen(path));
		if (bytes <= longest)
			continue;
		longest = bytes;
		out->rows = false;
		out->format = f;
	}
	return (longest != 0);
}

static bool
by_name(const char *name, struct export_target *out)
{
	for (size_t i = 0; i < N_ROW_FORMATS; i++) {
		if (strcmp(name, row_formats[i].name) != 0)
			continue;
		out->rows = true;
		out->row_format = row_formats[i].format;
		return (true);
	}
	for (size_t i = 0; hwtd_export_format_info(i, &out->format) == HWTD_OK;
	     i++)
		if (strcmp(name, out->format.name) == 0)
			return (true);
	return (false);
}

static int
no_such_format(const char *name)
{
	struct hwtd_export_format_info f = { .size = sizeof(f) };
	unsigned int best_distance = 4;
	const char *best = NULL;

	for (size_t i = 0; hwtd_export_format_info(i, &f) == HWTD_OK; i++) {
		const unsigned int distance = word_distance(name, f.name);

		if (distance < best_distance) {
			best_distance = distance;
			best = f.name;
		}
	}
	say_error("--to: there is no format '%s'", name);
	if (best != NULL)
		say_hint("did you mean %s?", best);
	else
		say_hint("'hwtdecode export --to help' lists the formats");
	return (EXIT_BAD_USAGE);
}

int
export_target_of(const struct options *options, struct export_target *out)
{
	const struct export_options *const e = &options->export;
	struct export_target of_name = {
		.format = { .size = sizeof(of_name.format) }
	};
	const char *path = options->output;
	bool found = false;

	*out = of_name;
	if (path != NULL)
		found = by_suffix(path, &of_name);
	if (e->to != NULL) {
		if (!by_name(e->to, out))
			return (no_such_format(e->to));
	} else if (found) {
		*out = of_name;
	} else {
		if (path == NULL)
			say_error("export needs a format");
		else
			say_error("%s: the name tells no format", path);
		say_hint("name it with --to; '--to help' lists the formats");
		return (EXIT_BAD_USAGE);
	}
	out->flags = of_name.flags | e->flags;
	if (out->rows && out->flags != 0) {
		say_error("rows are neither packed nor have details");
		say_hint("leave out --gzip, --details and --counters, and .gz "
			 "of -o");
		return (EXIT_BAD_USAGE);
	}
	return (EXIT_DONE);
}

static const char *
source_name(uint32_t source)
{
	switch (source) {
	case HWTD_SOURCE_PROFILE:
		return ("profile");
	case HWTD_SOURCE_CALLS:
		return ("calls");
	case HWTD_SOURCE_RUNS:
		return ("code");
	case HWTD_SOURCE_EVENTS:
		return ("branches");
	case HWTD_SOURCE_COVERAGE:
		return ("coverage");
	default:
		return ("-");
	}
}

void
export_list_formats(struct output *out)
{
	struct hwtd_export_format_info f = { .size = sizeof(f) };

	output_text(out,
	    "format              made of   names end in                    "
	    "for\n");
	for (size_t i = 0; hwtd_export_format_info(i, &f) == HWTD_OK; i++) {
		output_format(out, "%-19s %-9s %-31s %s", f.name,
		    source_name(f.source), f.suffixes, f.viewer);
		if (f.viewer_bytes != 0)
			output_format(out, ", up to %llu MB",
			    (unsigned long long)(f.viewer_bytes / 1000000));
		output_char(out, '\n');
	}
	for (size_t i = 0; i < N_ROW_FORMATS; i++)
		output_format(out, "%-19s %-9s .%-30s %s\n",
		    row_formats[i].name, "events", row_formats[i].name,
		    "rows as the command events prints them");
}
