/*
 * Which options of export its formats have a use for: what would be passed over
 * is refused, since whoever asked for it takes the file for what it is not.
 */
#include "cli/options/export_options.h"
#include "cli/output/message.h"

#define SOURCE(name) (1u << HWTD_SOURCE_##name)
#define CODE (SOURCE(RUNS) | SOURCE(EVENTS))

struct fit {
	const char *option;
	bool given;
	/* Bits of hwtd_export_source. */
	uint32_t sources;
	const char *whose;
};

/* More than the source says. */
static bool
has_levels(const struct export_target *target)
{
	return (target->format.source != HWTD_SOURCE_PROFILE ||
	    target->format.format != HWTD_FORMAT_CALLGRIND);
}

static bool
fits(const struct fit *f, const struct export_target *target)
{
	return (!target->rows && (f->sources & 1u << target->format.source));
}

static int
refuse(const char *option, const struct export_target *target,
    const char *whose)
{
	say_error("--%s: %s has no use for it", option,
	    target->rows ? "csv and jsonl" : target->format.name);
	say_hint("formats made of %s have; '--to help' lists them", whose);
	return (EXIT_BAD_USAGE);
}

int
export_check_fit(const struct options *o, const struct export_target *target)
{
	const struct export_options *const e = &o->export;
	const struct coverage_options *const c = &o->coverage;
	const struct fit all[] = {
		{ "min-duration", o->min_duration_ns != 0, SOURCE(CALLS),
		    "calls" },
		{ "resolution", e->resolution_ns != 0, SOURCE(CALLS),
		    "calls" },
		{ "details", (e->flags & HWTD_EXPORT_DETAILS) != 0,
		    SOURCE(CALLS), "calls" },
		{ "counters", (e->flags & HWTD_EXPORT_COUNTERS) != 0,
		    SOURCE(CALLS), "calls" },
		{ "max-depth", o->max_depth != 0,
		    SOURCE(CALLS) | SOURCE(PROFILE) | SOURCE(EVENTS),
		    "calls and most of profiles" },
		{ "value", e->value != 0, SOURCE(CALLS) | SOURCE(PROFILE),
		    "calls and profiles" },
		{ "text", o->text_input, SOURCE(CALLS) | SOURCE(PROFILE),
		    "calls and profiles" },
		{ "no-interpolation", o->no_interpolation,
		    SOURCE(CALLS) | SOURCE(PROFILE), "calls and profiles" },
		{ "program", e->program != NULL, CODE, "code and branches" },
		{ "only-image", c->images.n != 0, SOURCE(COVERAGE),
		    "coverage" },
		{ "source", c->sources.n != 0, SOURCE(COVERAGE), "coverage" },
		{ "exclude", c->excludes.n != 0, SOURCE(COVERAGE),
		    "coverage" },
		{ "map, --strip-prefix", c->n_maps != 0, SOURCE(COVERAGE),
		    "coverage" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].given && !fits(&all[i], target))
			return (refuse(all[i].option, target, all[i].whose));
	if (o->max_depth != 0 && !has_levels(target))
		return (refuse("max-depth", target,
		    "calls and most of profiles"));
	if (target->format.source == HWTD_SOURCE_CALLS && !target->rows &&
	    (e->value == HWTD_VALUE_CYCLES || e->value == HWTD_VALUE_CALLS)) {
		say_error("--value: format %s draws time or instructions",
		    target->format.name);
		say_hint("formats made of profiles have all; '--to help' "
			 "lists them");
		return (EXIT_BAD_USAGE);
	}
	return (EXIT_DONE);
}
