/*
 * Options of record: what is traced, and how.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/output/message.h"
#include "cli/options/option_values.h"
#include "cli/options/record_options.h"
#include "cli/options/search_options.h"

#define TECHS 4

static const char *const words[TECHS] = {
	[HWTD_TECH_INTEL_PT] = "pt",
	[HWTD_TECH_CORESIGHT] = "coresight",
	[HWTD_TECH_SPE] = "spe",
};

/* An option that only `tech` has. */
static void
needs(struct options *options, uint32_t tech, const struct option_entry *entry)
{
	if (options->record.named_by[tech] == NULL)
		options->record.named_by[tech] = entry->name;
}

static bool
say_fault(const struct option_entry *entry, const char *value,
    enum value_fault fault)
{
	if (fault == VALUE_NO_MEMORY)
		say_error("out of memory");
	else if (fault == VALUE_LARGE)
		say_error("--%s: '%s' is too large", entry->name, value);
	else if (fault == VALUE_BACKWARDS)
		say_error("--%s: '%s' ends before it starts", entry->name,
		    value);
	else
		say_error("--%s: '%s' is not %s", entry->name, value,
		    entry->value);
	if (fault != VALUE_NO_MEMORY)
		say_hint("%s", entry->help);
	return (false);
}

static bool
take_size(const struct option_entry *entry, const char *value, uint64_t *out)
{
	const enum value_fault fault = parse_size(value, out);

	if (fault == VALUE_FINE && *out == 0) {
		say_error("--%s: 0 bytes are too few", entry->name);
		return (false);
	}
	return (fault == VALUE_FINE || say_fault(entry, value, fault));
}

static bool
take_time(const struct option_entry *entry, const char *value, uint64_t *out)
{
	const enum value_fault fault = parse_duration(value, out);

	if (fault == VALUE_FINE && *out == 0) {
		say_error("--%s: no time at all is too short", entry->name);
		return (false);
	}
	return (fault == VALUE_FINE || say_fault(entry, value, fault));
}

static bool
take_pt_option(struct options *options, const struct option_entry *entry,
    const char *value, bool *known)
{
	static const struct {
		enum option_id id;
		uint32_t flag;
	} flags[] = {
		{ OPTION_TSC, HWTD_CAPTURE_PTF_TSC },
		{ OPTION_MTC, HWTD_CAPTURE_PTF_MTC },
		{ OPTION_CYC, HWTD_CAPTURE_PTF_CYC },
		{ OPTION_PTWRITE, HWTD_CAPTURE_PTF_PTWRITE },
		{ OPTION_NO_BRANCHES, HWTD_CAPTURE_PTF_NO_BRANCHES },
		{ OPTION_NO_TNT, HWTD_CAPTURE_PTF_NO_TNT },
		{ OPTION_ANY_BUFFER, HWTD_CAPTURE_PTF_ANY_BUFFER },
		{ OPTION_PSB, 0 },
	};
	struct hwtd_capture_pt *pt = &options->record.pt;
	uint64_t number = 0;

	*known = false;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (flags[i].id == entry->id) {
			pt->flags |= flags[i].flag;
			*known = true;
		}
	}
	if (!*known)
		return (true);
	needs(options, HWTD_TECH_INTEL_PT, entry);
	if (entry->value != NULL &&
	    !option_number(entry, value, 0, 15, &number))
		return (false);
	if (entry->id == OPTION_MTC)
		pt->mtc_freq = (uint8_t)number;
	if (entry->id == OPTION_CYC)
		pt->cyc_threshold = (uint8_t)number;
	if (entry->id == OPTION_PSB)
		pt->psb_freq = (uint8_t)number;
	return (true);
}

static bool
take_spe_sampling(struct options *options, const struct option_entry *entry,
    const char *value, bool *known)
{
	struct hwtd_capture_spe *spe = &options->record.spe;
	uint64_t number = 0;
	size_t choice = 0;

	*known = entry->id == OPTION_INTERVAL || entry->id == OPTION_CONTEXT;
	if (!*known)
		return (true);
	needs(options, HWTD_TECH_SPE, entry);
	if (entry->id == OPTION_INTERVAL) {
		if (!option_number(entry, value, 1, UINT32_MAX, &number))
			return (false);
		spe->interval = (uint32_t)number;
		return (true);
	}
	(void)parse_choice(value, entry->choices, &choice);
	spe->flags = choice == 1 ? HWTD_CAPTURE_SPEF_CPU_CONTEXT
	    : choice == 2	 ? HWTD_CAPTURE_SPEF_NO_CONTEXT
				 : 0;
	return (true);
}

static bool
take_etm_option(struct options *options, const struct option_entry *entry,
    const char *value, bool *known)
{
	static const struct {
		enum option_id id;
		uint32_t flag;
	} flags[] = {
		{ OPTION_CYCLES, HWTD_CAPTURE_CSF_CYCLES },
		{ OPTION_BRANCH_BROADCAST, HWTD_CAPTURE_CSF_BRANCH_BROADCAST },
		{ OPTION_NO_RETURN_STACK, HWTD_CAPTURE_CSF_NO_RETURN_STACK },
		{ OPTION_NO_TIMESTAMPS, HWTD_CAPTURE_CSF_NO_TIMESTAMPS },
		{ OPTION_NO_CONTEXT, HWTD_CAPTURE_CSF_NO_CONTEXT },
	};
	struct hwtd_capture_coresight *cs = &options->record.coresight;
	uint64_t number = 0;

	*known = false;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (flags[i].id == entry->id) {
			cs->flags |= flags[i].flag;
			*known = true;
		}
	}
	if (!*known)
		return (true);
	needs(options, HWTD_TECH_CORESIGHT, entry);
	if (value[0] == '\0')
		return (true);
	if (!option_number(entry, value, 1, UINT32_MAX, &number))
		return (false);
	cs->cycle_threshold = (uint32_t)number;
	return (true);
}

static bool
take_target(struct options *options, const struct option_entry *entry,
    const char *value, bool *known)
{
	struct record_options *r = &options->record;
	uint64_t number = 0;
	enum value_fault fault;

	*known = true;
	switch (entry->id) {
	case OPTION_RECORD_PID:
		if (!option_number(entry, value, 1, INT32_MAX, &number))
			return (false);
		r->pid = (uint32_t)number;
		return (true);
	case OPTION_CPUS:
		r->by_cpu = true;
		if (strcmp(value, "all") == 0) {
			r->all_cpus = true;
			return (true);
		}
		fault = parse_id_list(value, &r->cpus);
		return (fault == VALUE_FINE || say_fault(entry, value, fault));
	case OPTION_RECORD_TECH:
		r->techs |= 1u
		    << (strcmp(value, "pt") == 0 ? HWTD_TECH_INTEL_PT
			       : strcmp(value, "spe") == 0
			       ? HWTD_TECH_SPE
			       : HWTD_TECH_CORESIGHT);
		return (true);
	case OPTION_USER:
		r->who |= HWTD_CAPTURE_USER;
		return (true);
	case OPTION_KERNEL:
		r->who |= HWTD_CAPTURE_KERNEL;
		return (true);
	case OPTION_FILTER:
		/* No more than there are words. */
		if (r->filters == NULL)
			r->filters = calloc((size_t)options->n_words + 1,
			    sizeof(char *));
		if (r->filters == NULL)
			return (say_fault(entry, value, VALUE_NO_MEMORY));
		r->filters[r->n_filters++] = value;
		return (true);
	default:
		*known = false;
		return (true);
	}
}

bool
take_record_option(struct options *options, const struct option_entry *entry,
    const char *value, bool *known)
{
	static bool (*const takers[])(struct options *,
	    const struct option_entry *, const char *, bool *) = {
		take_target,
		take_pt_option,
		take_spe_sampling,
		take_etm_option,
	};
	struct record_options *r = &options->record;

	for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]); i++) {
		if (!takers[i](options, entry, value, known))
			return (false);
		if (*known)
			return (true);
	}
	*known = true;
	switch (entry->id) {
	case OPTION_BUFFER:
		return (take_size(entry, value, &r->buffer_bytes));
	case OPTION_MAX_SIZE:
		return (take_size(entry, value, &r->max_bytes));
	case OPTION_EVERY:
		return (take_time(entry, value, &r->every_ns));
	case OPTION_MAX_TIME:
		return (take_time(entry, value, &r->max_ns));
	case OPTION_RECORD_ARCHIVE:
		r->archive = true;
		return (true);
	case OPTION_KILL:
		r->kill = true;
		return (true);
	case OPTION_REPLACE:
		r->replace = true;
		return (true);
	case OPTION_LIST:
		r->list = true;
		return (true);
	default:
		*known = false;
		return (true);
	}
}

/* What can be traced only in one way at a time. */
static bool
check_target(const struct options *options)
{
	const struct record_options *r = &options->record;
	const bool program = options->n_operands > 0;

	if (program && r->pid != 0) {
		say_error("record: --pid and the program '%s': take one",
		    options->operands[0]);
		return (false);
	}
	if (r->by_cpu && r->pid != 0) {
		say_error("record: --cpus and --pid: take one");
		say_hint("threads of a process are traced on whatever CPU "
			 "they run");
		return (false);
	}
	if (r->all_cpus && r->cpus.n > 0) {
		say_error("--cpus: all and a list: take one");
		return (false);
	}
	if (!program && r->pid == 0 && !r->by_cpu) {
		say_error("record needs a program, --pid or --cpus");
		say_hint("for instance: hwtdecode record -o run.hwt -- "
			 "program argument");
		return (false);
	}
	if (r->kill && !program) {
		say_error("--kill: there is no program that record starts");
		return (false);
	}
	return (true);
}

/* Options of a way to record need that way, if any is named. */
static bool
check_techs(const struct options *options)
{
	const struct record_options *r = &options->record;
	uint32_t techs = r->techs;

	for (uint32_t tech = 1; tech < TECHS; tech++) {
		const char *name = r->named_by[tech];

		if (name == NULL)
			continue;
		if (r->techs != 0 && (r->techs & (1u << tech)) == 0) {
			say_error("--%s is an option of %s, which --tech does "
				  "not name",
			    name, words[tech]);
			say_hint("add --tech %s, or leave --%s out",
			    words[tech], name);
			return (false);
		}
		techs |= 1u << tech;
	}
	if (r->who != 0 && techs == 1u << HWTD_TECH_CORESIGHT) {
		say_error("--user and --kernel: coresight of hwt(4) always "
			  "records both");
		return (false);
	}
	return (true);
}

bool
check_record_options(const struct options *options)
{
	const struct record_options *r = &options->record;

	if (options->command->bit != COMMAND_RECORD || options->help ||
	    options->version)
		return (true);
	if (r->list) {
		if (options->n_operands == 0)
			return (true);
		say_error("record --list starts no program; '%s' is too much",
		    options->operands[0]);
		return (false);
	}
	if (!check_target(options) || !check_techs(options))
		return (false);
	if (options->output == NULL) {
		say_error("record needs -o FILE");
		say_hint("for instance: hwtdecode record -o run.hwt ...");
		return (false);
	}
	return (true);
}

void
record_options_fini(struct options *options)
{
	free(options->record.cpus.ids);
	free(options->record.filters);
}

/* What a machine records with, of what has options that were given. */
static uint32_t
usable_tech(struct hwtd_context *library)
{
	struct hwtd_capture_backend b = { .size = sizeof(b) };

	for (size_t i = 0;
	     hwtd_capture_backend(library, i, &b, NULL) == HWTD_OK; i++)
		if (b.usable != 0)
			return (b.tech);
	/* Trying says what is missing. */
	return (HWTD_TECH_INTEL_PT);
}

void
record_request_make(struct hwtd_context *library,
    const struct options *options, struct record_request *out)
{
	const struct record_options *r = &options->record;
	struct hwtd_capture_options *o = &out->options;
	uint32_t techs = r->techs;

	memset(out, 0, sizeof(*out));
	for (uint32_t tech = 1; tech < TECHS; tech++)
		if (r->named_by[tech] != NULL)
			techs |= 1u << tech;
	/* Defaults are the library's, but these options need a struct. */
	if (techs == 0 && (r->who != 0 || r->buffer_bytes != 0))
		techs = 1u << usable_tech(library);

	out->pt = r->pt;
	out->pt.size = sizeof(out->pt);
	out->pt.buffer_bytes = r->buffer_bytes;
	out->pt.who = r->who;
	out->spe = r->spe;
	out->spe.size = sizeof(out->spe);
	out->spe.buffer_bytes = r->buffer_bytes;
	out->spe.who = r->who;
	out->coresight = r->coresight;
	out->coresight.size = sizeof(out->coresight);
	out->coresight.buffer_bytes = r->buffer_bytes;
	out->search = search_of(options);

	o->size = sizeof(*o);
	o->output = options->output;
	o->mode = r->by_cpu ? HWTD_CAPTURE_CPUS : HWTD_CAPTURE_THREADS;
	o->flags = (r->archive ? HWTD_CAPTUREF_ARCHIVE : 0) |
	    (r->replace ? HWTD_CAPTUREF_REPLACE : 0) |
	    (r->kill ? HWTD_CAPTUREF_KILL : 0);
	/* One more than there are is NULL. */
	o->argv = options->n_operands > 0 ? options->operands : NULL;
	o->pid = r->pid;
	o->cpus = r->cpus.ids;
	o->n_cpus = r->cpus.n;
	if ((techs & (1u << HWTD_TECH_INTEL_PT)) != 0)
		o->pt = &out->pt;
	if ((techs & (1u << HWTD_TECH_SPE)) != 0)
		o->spe = &out->spe;
	if ((techs & (1u << HWTD_TECH_CORESIGHT)) != 0)
		o->coresight = &out->coresight;
	o->filters = r->filters;
	o->n_filters = r->n_filters;
	o->interval_ns = r->every_ns;
	o->max_bytes = r->max_bytes;
	o->max_ns = r->max_ns;
	o->search = &out->search;
	o->level = options->no_compress ? -1 : options->level;
}
