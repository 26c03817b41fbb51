/*
 * Options that describe raw bytes of Arm SPE, and buffers of raw bytes.
 */
#include "cli/options/spe_options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/output/message.h"
#include "cli/options/option_values.h"

static bool
add_buffer(struct options *options, uint64_t off)
{
	struct hwtd_buffer *buffers = realloc(options->buffers,
	    (options->n_buffers + 1) * sizeof(*buffers));

	if (buffers == NULL) {
		say_error("out of memory");
		return (false);
	}
	options->buffers = buffers;
	buffers[options->n_buffers++] = (struct hwtd_buffer){ off, 0,
		HWTD_NO_ID };
	return (true);
}

static bool
take_splits(struct options *options, const struct option_entry *entry,
    const char *value)
{
	if (strcmp(value, "auto") == 0) {
		options->find_buffers = true;
		return (true);
	}
	if (options->n_buffers == 0 && !add_buffer(options, 0))
		return (false);
	for (const char *at = value;; at++) {
		const size_t n = strcspn(at, ",");
		uint64_t off = 0;

		if (parse_number(at, n, &off) != VALUE_FINE) {
			say_error("--%s: '%.*s' is no offset", entry->name,
			    (int)(n < 64 ? n : 64), at);
			return (false);
		}
		if (off <= options->buffers[options->n_buffers - 1].off) {
			say_error("--%s: offsets must rise, and the first "
				  "buffer begins at 0 anyway",
			    entry->name);
			return (false);
		}
		if (!add_buffer(options, off))
			return (false);
		at += n;
		if (*at == '\0')
			return (true);
	}
}

bool
check_spe_options(const struct options *options)
{
	if (!options->find_buffers || options->tech == HWTD_TECH_SPE)
		return (true);
	say_error("--split-at auto: only Arm SPE tells where buffers begin");
	say_hint("give --tech spe, or the offsets");
	return (false);
}

static bool
take_cpu(struct options *options, const struct option_entry *entry,
    const char *value)
{
	uint64_t midr = hwtd_spe_cpu_midr(value);
	unsigned int best_distance = 4;
	const char *best = NULL;
	const char *name;

	if (midr != 0 || parse_number_in(value, 1, UINT32_MAX, &midr)) {
		options->spe.midr = (uint32_t)midr;
		return (true);
	}
	say_error(
	    "--%s: '%s' is no CPU that is known, nor a value of MIDR_EL1",
	    entry->name, value);
	for (size_t i = 0; (name = hwtd_spe_cpu_at(i)) != NULL; i++) {
		const unsigned int distance = word_distance(value, name);

		if (distance < best_distance) {
			best_distance = distance;
			best = name;
		}
	}
	if (best != NULL)
		say_hint("did you mean %s?", best);
	else
		say_hint("Linux tells MIDR_EL1 in /sys/devices/system/cpu/"
			 "cpu0/regs/identification/midr_el1");
	return (false);
}

/* "1.4" is 5: PMSVer counts from 1. */
static bool
take_version(struct options *options, const struct option_entry *entry,
    const char *value)
{
	uint64_t minor = 0;

	if (strncmp(value, "1.", 2) == 0 &&
	    parse_number_in(value + 2, 0, 14, &minor)) {
		options->spe.version = (uint32_t)minor + 1;
		return (true);
	}
	say_error("--%s: '%s' is no version of SPE", entry->name, value);
	say_hint("they are 1.0 to 1.5; ID_AA64DFR0_EL1.PMSVer is 1 for 1.0");
	return (false);
}

static bool
take_interval(struct options *options, const struct option_entry *entry,
    const char *value)
{
	if (parse_number_in(value, 1, UINT64_MAX, &options->spe.interval))
		return (true);
	say_error("--%s: '%s' is no number of operations", entry->name, value);
	return (false);
}

static bool
take_config(struct options *options, const struct option_entry *entry,
    const char *value, bool *known)
{
	size_t choice = 0;

	*known = true;
	if (entry->choices != NULL)
		(void)parse_choice(value, entry->choices, &choice);
	switch (entry->id) {
	case OPTION_SPE_CPU:
		return (take_cpu(options, entry, value));
	case OPTION_SPE_VERSION:
		return (take_version(options, entry, value));
	case OPTION_SPE_OWNER:
		options->spe.owner = HWTD_SPE_OWNER_THREAD + (uint32_t)choice;
		return (true);
	case OPTION_SPE_COUNTER_BITS:
		options->spe.counter_bits = choice == 0 ? 12 : 16;
		return (true);
	case OPTION_SPE_INTERVAL:
		return (take_interval(options, entry, value));
	default:
		*known = false;
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
		break;
	}
	if (!take_config(options, entry, value, known))
		return (false);
	options->has_spe |= *known;
	return (true);
}

/* A stream says another value than the user did. */
static bool
differs(const struct hwtd_stream_desc *stream, uint64_t given, uint64_t said)
{
	return (stream->tech == HWTD_TECH_SPE && given != 0 && said != 0 &&
	    given != said);
}

void
warn_of_unused_spe(const struct hwtd_trace *trace, uint32_t n_streams,
    const char *name, const struct options *options)
{
	const struct hwtd_spe_config *mine = &options->spe;
	struct {
		const char *option;
		bool unused;
	} all[] = {
		{ "spe-cpu", false },
		{ "spe-version", false },
		{ "spe-owner", false },
		{ "spe-counter-bits", false },
		{ "spe-interval", false },
	};

	for (uint32_t i = 0; options->has_spe && i < n_streams; i++) {
		struct hwtd_stream_desc s = { .size = sizeof(s) };

		if (hwtd_trace_stream(trace, i, &s) != HWTD_OK ||
		    s.spe == NULL)
			continue;
		all[0].unused |= differs(&s, mine->midr, s.spe->midr);
		all[1].unused |= differs(&s, mine->version, s.spe->version);
		all[2].unused |= differs(&s, mine->owner, s.spe->owner);
		all[3].unused |= differs(&s, mine->counter_bits,
		    s.spe->counter_bits);
		all[4].unused |= differs(&s, mine->interval, s.spe->interval);
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].unused)
			say_warning("%s: --%s is not used where the file "
				    "itself says another one",
			    name, all[i].option);
}

void
spe_options_fini(struct options *options)
{
	free(options->buffers);
}
