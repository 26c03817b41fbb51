/*
 * Options of the command flame.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options/flame_options.h"
#include "cli/output/message.h"
#include "cli/options/option_values.h"

/* Pixels, with one digit behind a point at most, as tenths. */
static bool
take_pixels(const struct option_entry *entry, const char *value, uint32_t *out)
{
	uint32_t tenths = 0;
	const char *at = value;

	for (; *at >= '0' && *at <= '9' && tenths < 1000; at++)
		tenths = tenths * 10 + (uint32_t)(*at - '0');
	tenths *= 10;
	if (at != value && at[0] == '.' && at[1] >= '0' && at[1] <= '9') {
		tenths += (uint32_t)(at[1] - '0');
		at += 2;
	}
	if (at == value || *at != '\0' || tenths == 0 || tenths > 10000) {
		say_error("--%s: '%s' is no width", entry->name, value);
		say_hint("pixels from 0.1 to 1000, for instance 0.5");
		return (false);
	}
	*out = tenths;
	return (true);
}

bool
take_flame_option(struct options *options, const struct option_entry *entry,
    const char *value, bool *known)
{
	struct flame_options *const f = &options->flame;
	double percent;
	size_t choice = 0;

	*known = true;
	switch (entry->id) {
	case OPTION_FLAME_FORMAT:
		(void)parse_choice(value, entry->choices, &choice);
		f->format = (uint32_t)choice;
		f->has_format = true;
		return (true);
	case OPTION_BY_THREAD:
		f->by_thread = true;
		return (true);
	case OPTION_INVERT:
		f->invert = true;
		return (true);
	case OPTION_ICICLE:
		f->icicle = true;
		return (true);
	case OPTION_BY_NAME:
		f->by_name = true;
		return (true);
	case OPTION_ABSOLUTE:
		f->absolute = true;
		return (true);
	case OPTION_OFF_TIME:
		f->off_time = true;
		return (true);
	case OPTION_MIN_WIDTH:
		return (take_pixels(entry, value, &f->min_width));
	case OPTION_MIN_PERCENT:
		if (!parse_percent(value, &percent)) {
			say_error("--%s: '%s' is no percentage", entry->name,
			    value);
			say_hint("for instance 0.5");
			return (false);
		}
		f->min_ppm = (uint32_t)(percent * 10000 + 0.5);
		f->has_min = true;
		return (true);
	case OPTION_DIFF:
		if (value[0] == '\0') {
			say_error("--%s: '' is no file", entry->name);
			return (false);
		}
		f->diff = value;
		return (true);
	default:
		*known = false;
		return (true);
	}
}

static bool
by_suffix(const char *path, enum flame_format *out)
{
	static const struct {
		const char *suffix;
		enum flame_format format;
	} suffixes[] = {
		{ ".svg", FLAME_SVG },
		{ ".folded", FLAME_FOLDED },
		{ ".collapsed", FLAME_FOLDED },
		{ ".speedscope.json", FLAME_SPEEDSCOPE },
		{ ".jsonl", FLAME_JSONL },
		{ ".csv", FLAME_CSV },
		{ ".txt", FLAME_TEXT },
	};
	const size_t n = strlen(path);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		const size_t end = strlen(suffixes[i].suffix);

		if (n > end &&
		    strcmp(path + n - end, suffixes[i].suffix) == 0) {
			*out = suffixes[i].format;
			return (true);
		}
	}
	return (false);
}

int
flame_format_of(const struct options *options, enum flame_format *out)
{
	const struct flame_options *const f = &options->flame;
	const char *path = options->output;

	*out = FLAME_TEXT;
	if (f->has_format)
		*out = (enum flame_format)f->format;
	else if (path != NULL && strcmp(path, "-") != 0)
		(void)by_suffix(path, out);
	if (*out != FLAME_SVG && (f->icicle || f->min_width != 0)) {
		say_error("--%s: only pictures have that",
		    f->icicle ? "icicle" : "min-width");
		say_hint("--format svg is one");
		return (EXIT_BAD_USAGE);
	}
	if (f->absolute && f->diff == NULL) {
		say_error("--absolute: nothing is compared");
		say_hint("--diff names what to compare with");
		return (EXIT_BAD_USAGE);
	}
	if (f->diff != NULL && *out == FLAME_SPEEDSCOPE) {
		say_error("--diff: speedscope shows no comparisons");
		say_hint("--format svg and folded do");
		return (EXIT_BAD_USAGE);
	}
	if (*out == FLAME_SVG && path == NULL && isatty(STDOUT_FILENO)) {
		say_error("a terminal is no place for a picture");
		say_hint("name a file with -o FILE.svg, or a pipe");
		return (EXIT_BAD_USAGE);
	}
	return (EXIT_DONE);
}
