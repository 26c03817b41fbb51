/*
 * Options of the command coverage.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/options/coverage_options.h"
#include "cli/output/message.h"
#include "cli/options/option_values.h"

static bool
add_text(struct folder_list *list, const struct option_entry *entry,
    const char *value)
{
	const char **grown;

	if (value[0] == '\0') {
		say_error("--%s: '' is nothing to choose by", entry->name);
		return (false);
	}
	grown = realloc(list->paths, (list->n + 1) * sizeof(*grown));
	if (grown == NULL) {
		say_error("out of memory");
		return (false);
	}
	list->paths = grown;
	list->paths[list->n++] = value;
	return (true);
}

static bool
add_map(struct coverage_options *c, char *old_prefix, const char *new_prefix)
{
	struct hwtd_path_map *grown = realloc(c->maps,
	    (c->n_maps + 1) * sizeof(*grown));

	if (grown == NULL) {
		say_error("out of memory");
		free(old_prefix);
		return (false);
	}
	c->maps = grown;
	c->maps[c->n_maps++] = (struct hwtd_path_map){
		.old_prefix = old_prefix,
		.new_prefix = new_prefix
	};
	return (true);
}

/* OLD=NEW; the first '=' divides. */
static bool
take_map(struct coverage_options *c, const struct option_entry *entry,
    const char *value)
{
	const char *equal = strchr(value, '=');
	char *old_prefix;

	if (equal == NULL || equal == value) {
		say_error("--%s: '%s' is not OLD=NEW", entry->name, value);
		say_hint("for instance --map /build/src=src");
		return (false);
	}
	old_prefix = strndup(value, (size_t)(equal - value));
	if (old_prefix == NULL) {
		say_error("out of memory");
		return (false);
	}
	return (add_map(c, old_prefix, equal + 1));
}

static bool
take_prefix(struct coverage_options *c, const struct option_entry *entry,
    const char *value)
{
	char *old_prefix;

	if (value[0] == '\0') {
		say_error("--%s: '' is no prefix", entry->name);
		return (false);
	}
	old_prefix = strdup(value);
	if (old_prefix == NULL) {
		say_error("out of memory");
		return (false);
	}
	return (add_map(c, old_prefix, ""));
}

/* PERCENT[,line|function|branch] */
static bool
take_limit(struct coverage_options *c, const struct option_entry *entry,
    const char *value)
{
	const char *comma = strchr(value, ',');
	size_t what = 0;
	char number[32];
	size_t n = comma != NULL ? (size_t)(comma - value) : strlen(value);
	double percent;

	if (n < sizeof(number)) {
		memcpy(number, value, n);
		number[n] = '\0';
		if (parse_percent(number, &percent) &&
		    (comma == NULL ||
			parse_choice(comma + 1, "line|function|branch",
			    &what))) {
			c->fail_under[what] = percent;
			c->has_limit[what] = true;
			return (true);
		}
	}
	say_error("--%s: '%s' is not PERCENT[,line|function|branch]",
	    entry->name, value);
	say_hint("for instance --fail-under 80 or --fail-under 75,branch");
	return (false);
}

bool
take_coverage_option(struct options *options, const struct option_entry *entry,
    const char *value, bool *known)
{
	struct coverage_options *const c = &options->coverage;
	size_t choice = 0;

	*known = true;
	switch (entry->id) {
	case OPTION_COVERAGE_BY:
		(void)parse_choice(value, entry->choices, &choice);
		c->by = (enum coverage_by)choice;
		return (true);
	case OPTION_COVERAGE_FORMAT:
		/* The first ones are those of other commands. */
		(void)parse_choice(value, entry->choices, &choice);
		c->to_lcov = choice > FORMAT_CSV;
		options->format = c->to_lcov ? FORMAT_TEXT
					     : (enum output_format)choice;
		return (true);
	case OPTION_UNCOVERED:
		c->uncovered = true;
		return (true);
	case OPTION_LCOV:
		if (value[0] == '\0' || strcmp(value, "-") == 0) {
			say_error("--%s needs the name of a file",
			    entry->name);
			say_hint("--format lcov writes to standard output");
			return (false);
		}
		c->lcov = value;
		return (true);
	case OPTION_ONLY_IMAGE:
		return (add_text(&c->images, entry, value));
	case OPTION_SOURCE:
		return (add_text(&c->sources, entry, value));
	case OPTION_EXCLUDE:
		return (add_text(&c->excludes, entry, value));
	case OPTION_PATH_MAP:
		return (take_map(c, entry, value));
	case OPTION_STRIP_PREFIX:
		return (take_prefix(c, entry, value));
	case OPTION_FAIL_UNDER:
		return (take_limit(c, entry, value));
	default:
		*known = false;
		return (true);
	}
}

struct hwtd_coverage_options
coverage_options_of(const struct options *options)
{
	const struct coverage_options *const c = &options->coverage;

	return ((struct hwtd_coverage_options){
	    .size = sizeof(struct hwtd_coverage_options),
	    .images = c->images.paths,
	    .n_images = c->images.n,
	    .maps = c->maps,
	    .n_maps = c->n_maps,
	    .sources = c->sources.paths,
	    .n_sources = c->sources.n,
	    .excludes = c->excludes.paths,
	    .n_excludes = c->excludes.n });
}

void
coverage_options_fini(struct options *options)
{
	struct coverage_options *const c = &options->coverage;

	for (size_t i = 0; i < c->n_maps; i++) {
		char *old_prefix;

		/* It is a copy. */
		memcpy(&old_prefix, &c->maps[i].old_prefix,
		    sizeof(old_prefix));
		free(old_prefix);
	}
	free(c->maps);
	free(c->images.paths);
	free(c->sources.paths);
	free(c->excludes.paths);
}
