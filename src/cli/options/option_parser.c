/*
 * Parsing a command line with the option table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options/call_options.h"
#include "cli/options/diff_options.h"
#include "cli/options/hist_options.h"
#include "cli/options/coresight_options.h"
#include "cli/options/coverage_options.h"
#include "cli/options/export_options.h"
#include "cli/options/flame_options.h"
#include "cli/options/image_options.h"
#include "cli/output/message.h"
#include "cli/options/option_values.h"
#include "cli/options/packet_options.h"
#include "cli/options/perf_options.h"
#include "cli/options/record_options.h"
#include "cli/options/report_options.h"
#include "cli/options/sample_options.h"
#include "cli/options/search_options.h"
#include "cli/options/spe_options.h"

/* A word this far from a known one may be meant to be it. */
static unsigned int
near_enough(const char *word)
{
	const size_t n = strlen(word);

	return (n < 4 ? 1 : n < 8 ? 2 : 3);
}

static void
unknown_option(const struct command *command, const char *name)
{
	const struct option_entry *best = NULL;
	const struct option_entry *elsewhere = NULL;
	unsigned int best_distance = near_enough(name) + 1;

	for (const struct option_entry *e = option_table; e->name != NULL;
	     e++) {
		if ((e->commands & command->bit) == 0) {
			if (strcmp(e->name, name) == 0)
				elsewhere = e;
			continue;
		}
		unsigned int distance = word_distance(name, e->name);

		/* What was cut short is near, whatever the length. */
		if (strlen(name) >= 2 &&
		    strncmp(name, e->name, strlen(name)) == 0)
			distance = 0;
		if (distance < best_distance) {
			best_distance = distance;
			best = e;
		}
	}
	if (elsewhere != NULL)
		say_error("%s does not take --%s", command->name, name);
	else
		say_error("unknown option --%s", name);
	if (elsewhere == NULL && best != NULL)
		say_hint("did you mean --%s?", best->name);
	else
		say_hint("'hwtdecode help %s' lists its options",
		    command->name);
}

static const struct option_entry *
find_long(const struct command *command, const char *name, size_t n)
{
	for (const struct option_entry *e = option_table; e->name != NULL;
	     e++) {
		if ((e->commands & command->bit) != 0 &&
		    strlen(e->name) == n && memcmp(e->name, name, n) == 0)
			return (e);
	}
	return (NULL);
}

static const struct option_entry *
find_short(const struct command *command, char letter)
{
	for (const struct option_entry *e = option_table; e->name != NULL;
	     e++) {
		if ((e->commands & command->bit) != 0 && e->letter == letter)
			return (e);
	}
	return (NULL);
}

/* True if nothing is wrong; else false after a message. */
static bool
accept(const struct option_entry *entry, const char *value,
    enum value_fault fault)
{
	switch (fault) {
	case VALUE_FINE:
		return (true);
	case VALUE_SHAPE:
		say_error("--%s: '%s' is not %s", entry->name, value,
		    entry->choices != NULL ? entry->choices : entry->value);
		break;
	case VALUE_LARGE:
		say_error("--%s: '%s' is too large", entry->name, value);
		break;
	case VALUE_BACKWARDS:
		say_error("--%s: '%s' ends before it starts", entry->name,
		    value);
		break;
	case VALUE_EMPTY:
		say_error("--%s: '%s' is empty: its end is not part of it",
		    entry->name, value);
		break;
	case VALUE_NO_MEMORY:
		say_error("out of memory");
		return (false);
	}
	say_hint("%s", entry->help);
	return (false);
}

bool
option_number(const struct option_entry *entry, const char *value,
    uint64_t min, uint64_t max, uint64_t *out)
{
	if (parse_number_in(value, min, max, out))
		return (true);
	say_error("--%s: '%s' is not a number from %llu to %llu", entry->name,
	    value, (unsigned long long)min, (unsigned long long)max);
	return (false);
}

static bool
take_filter(struct options *options, const struct option_entry *entry,
    const char *value, uint32_t mode)
{
	struct hwtd_pt_filter filter = { .mode = mode };

	if (!accept(entry, value,
		parse_inclusive_range(value, &filter.start, &filter.end)))
		return (false);
	if (options->n_pt_filters == HWTD_PT_MAX_FILTERS) {
		say_error("--%s: Intel PT has at most %d filters", entry->name,
		    HWTD_PT_MAX_FILTERS);
		return (false);
	}
	options->pt.filters[options->n_pt_filters++] = filter;
	return (true);
}

static bool
take_kinds(struct options *options, const struct option_entry *entry,
    const char *value)
{
	const char *rest = value;

	for (;;) {
		const size_t n = strcspn(rest, ",");
		const char *best = NULL;
		unsigned int best_distance = 4;
		uint32_t kind = 1;
		char word[32] = "";

		if (n < sizeof(word))
			memcpy(word, rest, n);
		for (; kind < HWTD_EV_KINDS; kind++) {
			const char *name = hwtd_event_kind_name(kind);
			const unsigned int distance = word_distance(word,
			    name);

			if (strcmp(word, name) == 0)
				break;
			if (distance < best_distance) {
				best_distance = distance;
				best = name;
			}
		}
		if (kind == HWTD_EV_KINDS) {
			say_error("--%s: there is no kind '%.*s'", entry->name,
			    (int)(n < 64 ? n : 64), rest);
			if (best != NULL)
				say_hint("did you mean %s?", best);
			else
				say_hint("'hwtdecode help %s' lists the kinds",
				    options->command->name);
			return (false);
		}
		options->kinds |= 1u << kind;
		if (rest[n] == '\0')
			return (true);
		rest += n + 1;
	}
}

static bool
take_engine(struct options *options, const struct option_entry *entry,
    const char *value)
{
	struct hwtd_engine engine = { .size = sizeof(engine) };
	char names[256] = "";
	size_t n = 0;

	for (size_t i = 0; hwtd_engine(i, &engine) == HWTD_OK; i++) {
		const int more = snprintf(names + n, sizeof(names) - n, "%s%s",
		    n > 0 ? ", " : "", engine.name);

		if (strcmp(engine.name, value) == 0) {
			options->engine = value;
			return (true);
		}
		if (more > 0 && (size_t)more < sizeof(names) - n)
			n += (size_t)more;
	}
	names[n] = '\0';
	say_error("--%s: there is no engine '%s'", entry->name, value);
	say_hint("this build has: %s", n > 0 ? names : "none");
	return (false);
}

static bool
take_range(const struct option_entry *entry, const char *value,
    struct range_list *list,
    enum value_fault (*parse)(const char *text, struct hwtd_range *out))
{
	struct hwtd_range range;

	if (!accept(entry, value, parse(value, &range)))
		return (false);
	if (!range_list_add(list, range)) {
		say_error("out of memory");
		return (false);
	}
	return (true);
}

static bool
take_ids(const struct option_entry *entry, const char *value,
    struct id_list *list)
{
	return (accept(entry, value, parse_id_list(value, list)));
}

/* Options of the input.  Sets *known when `entry` is one. */
static bool
take_input_option(struct options *options, const struct option_entry *entry,
    const char *value, bool *known)
{
	uint64_t number = 0;
	uint64_t other = 0;

	*known = true;
	switch (entry->id) {
	case OPTION_TECH:
		options->tech = strcmp(value, "coresight") == 0
		    ? HWTD_TECH_CORESIGHT
		    : strcmp(value, "spe") == 0 ? HWTD_TECH_SPE
						: HWTD_TECH_INTEL_PT;
		return (true);
	case OPTION_IMAGE:
		return (take_image(options, value));
	case OPTION_IMAGES:
		options->image_lists[options->n_image_lists++] = value;
		return (take_image_list(options, value));
	case OPTION_PT_CPU:
		options->has_pt = true;
		return (accept(entry, value,
		    parse_pt_cpu(value, &options->pt)));
	case OPTION_PT_MTC_FREQ:
		if (!option_number(entry, value, 0, 15, &number))
			return (false);
		options->has_pt = true;
		options->pt.mtc_freq = (uint8_t)number;
		options->has_mtc_freq = true;
		return (true);
	case OPTION_PT_NOM_FREQ:
		if (!option_number(entry, value, 0, 255, &number))
			return (false);
		options->has_pt = true;
		options->pt.nom_freq = (uint8_t)number;
		return (true);
	case OPTION_PT_CPUID_15H:
		if (!accept(entry, value,
			parse_number_pair(value, '/', &number, &other)))
			return (false);
		if (number > UINT32_MAX || other > UINT32_MAX)
			return (accept(entry, value, VALUE_LARGE));
		options->has_pt = true;
		options->pt.cpuid_15h_eax = (uint32_t)number;
		options->pt.cpuid_15h_ebx = (uint32_t)other;
		return (true);
	case OPTION_PT_FILTER:
		options->has_pt = true;
		return (take_filter(options, entry, value,
		    HWTD_PT_FILTER_TRACE));
	case OPTION_PT_STOP:
		options->has_pt = true;
		return (take_filter(options, entry, value,
		    HWTD_PT_FILTER_STOP));
	case OPTION_CLOCK:
		return (accept(entry, value,
		    parse_clock(value, &options->clock)));
	case OPTION_MAX_MEMORY:
		if (!accept(entry, value, parse_size(value, &number)))
			return (false);
		options->max_memory = number != 0 ? number : UINT64_MAX;
		return (true);
	case OPTION_MAPS:
		options->map_file = value;
		return (true);
	case OPTION_STREAM_CPU:
	case OPTION_STREAM_PID:
	case OPTION_STREAM_TID:
	case OPTION_THREAD:
		if (!option_number(entry, value, 0, HWTD_NO_ID - 1, &number))
			return (false);
		*(entry->id == OPTION_STREAM_CPU	 ? &options->cpu_plus_1
			: entry->id == OPTION_STREAM_PID ? &options->pid_plus_1
			: entry->id == OPTION_THREAD
			? &options->thread_plus_1
			: &options->tid_plus_1) = (uint32_t)number + 1;
		return (true);
	default:
		*known = false;
		return (true);
	}
}

/* Options of rows and decoding; as above. */
static bool
take_decode_option(struct options *options, const struct option_entry *entry,
    const char *value, bool *known)
{
	uint64_t number = 0;

	*known = true;
	switch (entry->id) {
	case OPTION_TIME:
		return (take_range(entry, value, &options->times,
		    parse_time_range));
	case OPTION_ADDRESS:
		return (take_range(entry, value, &options->addresses,
		    parse_address_range));
	case OPTION_OFFSET:
		return (take_range(entry, value, &options->offsets,
		    parse_address_range));
	case OPTION_CPU:
		return (take_ids(entry, value, &options->cpus));
	case OPTION_TID:
		return (take_ids(entry, value, &options->tids));
	case OPTION_PID:
		return (take_ids(entry, value, &options->pids));
	case OPTION_STREAM:
		return (take_ids(entry, value, &options->streams));
	case OPTION_KIND:
		return (take_kinds(options, entry, value));
	case OPTION_LIMIT:
		return (option_number(entry, value, 0, UINT64_MAX - 1,
		    &options->limit));
	case OPTION_JOBS:
		if (!option_number(entry, value, 1, 1024, &number))
			return (false);
		options->jobs = (uint32_t)number;
		return (true);
	case OPTION_ENGINE:
		return (take_engine(options, entry, value));
	case OPTION_STRICT:
		options->strict = true;
		return (true);
	case OPTION_MAX_LOSS:
		return (parse_percent(value, &options->max_loss) ||
		    accept(entry, value, VALUE_SHAPE));
	default:
		*known = false;
		return (true);
	}
}

static bool
take_other_option(struct options *options, const struct option_entry *entry,
    const char *value)
{
	size_t choice = 0;
	uint64_t number = 0;

	if (entry->choices != NULL)
		(void)parse_choice(value, entry->choices, &choice);
	switch (entry->id) {
	case OPTION_GAPS:
		options->gaps = true;
		return (true);
	case OPTION_EXPECT:
		options->expect = value;
		return (true);
	case OPTION_UPDATE:
		options->update = true;
		return (true);
	case OPTION_TIME_SPAN:
		options->time_span = true;
		return (true);
	case OPTION_DISASM:
		options->disasm = true;
		return (true);
	case OPTION_SYNTAX:
		options->att_syntax = choice == 1;
		return (true);
	case OPTION_BYTES:
		options->code_bytes = true;
		return (true);
	case OPTION_SYMBOLS:
		options->symbols = true;
		return (true);
	case OPTION_LINES:
		options->symbols = true;
		options->lines = true;
		return (true);
	case OPTION_NO_COMPRESS:
		options->no_compress = true;
		return (true);
	case OPTION_LEVEL:
		if (!option_number(entry, value, 1, 19, &number))
			return (false);
		options->level = (int)number;
		return (true);
	case OPTION_EMBED:
		options->embed = true;
		return (true);
	case OPTION_NO_EMBED:
		options->no_embed = true;
		return (true);
	case OPTION_ANY_FILE:
		options->any_file = true;
		return (true);
	case OPTION_FORMAT:
		options->format = (enum output_format)choice;
		return (true);
	case OPTION_OUTPUT:
		if (value[0] == '\0')
			return (accept(entry, value, VALUE_SHAPE));
		options->output = value;
		return (true);
	case OPTION_NO_HEADER:
		options->no_header = true;
		return (true);
	case OPTION_COLOR:
		options->color = (enum color_choice)choice;
		return (true);
	case OPTION_PROGRESS:
		options->progress = true;
		return (true);
	case OPTION_HELP:
		options->help = true;
		return (true);
	case OPTION_VERSION:
		options->version = true;
		return (true);
	default:
		return (false);
	}
}

static bool
take(struct options *options, const struct option_entry *entry,
    const char *value)
{
	static bool (*const takers[])(struct options *,
	    const struct option_entry *, const char *, bool *) = {
		take_input_option,
		take_coresight_option,
		take_spe_option,
		take_perf_option,
		take_space_option,
		take_packet_option,
		take_sample_option,
		take_record_option,
		take_call_option,
		take_report_option,
		take_export_option,
		take_flame_option,
		take_coverage_option,
		take_hist_option,
		take_diff_option,
		take_decode_option,
	};
	bool known;
	size_t choice;

	if (value == NULL)
		value = "";
	if (entry->choices != NULL &&
	    !parse_choice(value, entry->choices, &choice))
		return (accept(entry, value, VALUE_SHAPE));
	for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]); i++) {
		if (!takers[i](options, entry, value, &known))
			return (false);
		if (known)
			return (true);
	}
	return (take_other_option(options, entry, value));
}

static bool
take_long(struct options *options, int argc, char *const argv[], int *i)
{
	const char *name = argv[*i] + 2;
	const char *equal = strchr(name, '=');
	const size_t n = equal != NULL ? (size_t)(equal - name) : strlen(name);
	const struct option_entry *entry = find_long(options->command, name,
	    n);

	if (entry == NULL) {
		char word[64] = "";

		memcpy(word, name, n < sizeof(word) ? n : sizeof(word) - 1);
		unknown_option(options->command, word);
		return (false);
	}
	if (entry->value == NULL) {
		if (equal != NULL) {
			say_error("--%s takes no value", entry->name);
			return (false);
		}
		return (take(options, entry, NULL));
	}
	if (equal != NULL)
		return (take(options, entry, equal + 1));
	/* One that need not have a value does not take the next word. */
	if (entry->value[0] == '[')
		return (take(options, entry, NULL));
	if (*i + 1 == argc) {
		say_error("--%s needs a value: %s", entry->name, entry->value);
		return (false);
	}
	return (take(options, entry, argv[++*i]));
}

/* "-v", "-vo FILE", "-oFILE". */
static bool
take_short(struct options *options, int argc, char *const argv[], int *i)
{
	for (const char *at = argv[*i] + 1; *at != '\0'; at++) {
		const struct option_entry *entry = find_short(options->command,
		    *at);

		if (entry == NULL) {
			say_error("unknown option -%c", *at);
			say_hint("'hwtdecode help %s' lists its options",
			    options->command->name);
			return (false);
		}
		if (entry->value == NULL) {
			if (!take(options, entry, NULL))
				return (false);
			continue;
		}
		if (at[1] != '\0')
			return (take(options, entry, at + 1));
		if (*i + 1 == argc) {
			say_error("-%c needs a value: %s", *at, entry->value);
			return (false);
		}
		return (take(options, entry, argv[++*i]));
	}
	return (true);
}

static bool
check_operands(const struct options *options)
{
	const struct command *command = options->command;

	if (options->help || options->version)
		return (true);
	if (options->n_operands < command->min_operands) {
		say_error("%s needs %s", command->name, command->operands);
		say_hint("'hwtdecode help %s' shows how to use it",
		    command->name);
		return (false);
	}
	if (options->n_operands > command->max_operands) {
		say_error("%s: '%s' is one operand too many", command->name,
		    options->operands[command->max_operands]);
		say_hint("'hwtdecode help %s' shows how to use it",
		    command->name);
		return (false);
	}
	return (true);
}

/* What a hostile trace may take of this machine, unless told otherwise. */
static uint64_t
half_of_memory(void)
{
	const uint64_t least = (uint64_t)1 << 30;
	const long pages = sysconf(_SC_PHYS_PAGES);
	const long page = sysconf(_SC_PAGESIZE);

	if (pages <= 0 || page <= 0 ||
	    (uint64_t)pages / 2 < least / (uint64_t)page)
		return (least);
	return ((uint64_t)pages / 2 * (uint64_t)page);
}

bool
options_parse(struct options *options, const struct command *command, int argc,
    char *const argv[])
{
	bool only_operands = false;

	memset(options, 0, sizeof(*options));
	options->command = command;
	options->words = argv;
	options->n_words = argc;
	options->limit = UINT64_MAX;
	options->max_memory = half_of_memory();
	options->failure = EXIT_BAD_USAGE;
	options->max_loss = -1;
	options->top = UINT64_MAX;
	options->one_tid[0] = options->one_tid[1] = UINT32_MAX;
	options->at.size = sizeof(options->at);
	options->pt.size = sizeof(options->pt);
	options->spe.size = sizeof(options->spe);
	options->operands = calloc((size_t)argc + 1, sizeof(char *));
	options->image_lists = calloc((size_t)argc + 1, sizeof(char *));
	options->config_files = calloc((size_t)argc + 1, sizeof(char *));
	if (options->operands == NULL || options->image_lists == NULL ||
	    options->config_files == NULL) {
		say_error("out of memory");
		return (false);
	}
	for (int i = 0; i < argc; i++) {
		const char *arg = argv[i];

		if (only_operands || arg[0] != '-' || arg[1] == '\0') {
			options->operands[options->n_operands++] = arg;
			/* What follows a program is the program's. */
			if (command->bit == COMMAND_RECORD)
				only_operands = true;
		} else if (strcmp(arg, "--") == 0) {
			only_operands = true;
		} else if (arg[1] == '-') {
			if (!take_long(options, argc, argv, &i))
				return (false);
		} else if (!take_short(options, argc, argv, &i)) {
			return (false);
		}
	}
	return (add_build_id_cache(options) && check_operands(options) &&
	    check_coresight_options(options) && check_spe_options(options) &&
	    check_packet_options(options) && check_record_options(options));
}

void
options_fini(struct options *options)
{
	for (size_t i = 0; i < options->n_images; i++) {
		char *path;

		memcpy(&path, &options->images[i].path, sizeof(path));
		free(path);
	}
	free(options->images);
	search_options_fini(options);
	free(options->wheres);
	coverage_options_fini(options);
	coresight_options_fini(options);
	perf_options_fini(options);
	spe_options_fini(options);
	record_options_fini(options);
	free(options->times.ranges);
	free(options->addresses.ranges);
	free(options->offsets.ranges);
	free(options->cpus.ids);
	free(options->tids.ids);
	free(options->pids.ids);
	free(options->streams.ids);
	free(options->operands);
	free(options->image_lists);
}
