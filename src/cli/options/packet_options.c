/*
 * Options of the command packets: names of kinds and what to tell.
 */
#include <string.h>

#include "cli/output/message.h"
#include "cli/options/option_values.h"
#include "cli/options/packet_options.h"

bool
is_packet_kind(uint32_t kind)
{
	const char *name = hwtd_packet_kind_name(kind);

	return (kind == HWTD_PK_UNKNOWN ||
	    strcmp(name, hwtd_packet_kind_name(HWTD_PK_UNKNOWN)) != 0);
}

/* Add the kind of that name, else those of "name.*"; false: there is none. */
static bool
add_kinds(uint64_t kinds[PACKET_KIND_WORDS], const char *word, size_t n)
{
	bool found = false;

	for (uint32_t kind = 0; kind < HWTD_PACKET_KINDS; kind++) {
		const char *name = hwtd_packet_kind_name(kind);
		const uint64_t bit = UINT64_C(1) << kind % 64;

		if (!is_packet_kind(kind) || strncmp(name, word, n) != 0)
			continue;
		if (name[n] != '\0' && name[n] != '.')
			continue;
		kinds[kind / 64] |= bit;
		found = true;
		if (name[n] == '\0')
			break;
	}
	return (found);
}

static void
say_no_kind(const struct options *options, const struct option_entry *entry,
    const char *text, size_t n)
{
	const char *best = NULL;
	unsigned int best_distance = 3;
	char word[32] = "";

	if (n < sizeof(word))
		memcpy(word, text, n);
	for (uint32_t kind = 0; kind < HWTD_PACKET_KINDS; kind++) {
		const char *name = hwtd_packet_kind_name(kind);
		const unsigned int distance = word_distance(word, name);

		if (word[0] == '\0' || distance >= best_distance)
			continue;
		best_distance = distance;
		best = name;
	}
	say_error("--%s: there is no kind '%.*s'", entry->name,
	    (int)(n < 64 ? n : 64), text);
	if (best != NULL)
		say_hint("did you mean %s?", best);
	else
		say_hint("'hwtdecode help %s' lists the kinds",
		    options->command->name);
}

static bool
take_packet_kinds(struct options *options, const struct option_entry *entry,
    const char *value)
{
	for (const char *rest = value;;) {
		const size_t n = strcspn(rest, ",");

		if (n == 0 || !add_kinds(options->packet_kinds, rest, n)) {
			say_no_kind(options, entry, rest, n);
			return (false);
		}
		if (rest[n] == '\0')
			return (true);
		rest += n + 1;
	}
}

bool
check_packet_options(const struct options *options)
{
	if (!options->perf_style)
		return (true);
	if (options->format != FORMAT_TEXT) {
		say_error("--style perf is text: it has no other --format");
		return (false);
	}
	if (options->times_wanted || options->raw) {
		say_error("--style perf: its lines have all bytes, and no "
			  "times: leave out --%s",
		    options->raw ? "raw" : "times");
		return (false);
	}
	return (true);
}

bool
take_packet_option(struct options *options, const struct option_entry *entry,
    const char *value, bool *known)
{
	*known = true;
	switch (entry->id) {
	case OPTION_PACKET_KIND:
		return (take_packet_kinds(options, entry, value));
	case OPTION_TIMES:
		options->times_wanted = true;
		return (true);
	case OPTION_STYLE:
		options->perf_style = strcmp(value, "perf") == 0;
		return (true);
	case OPTION_RAW:
		options->raw = true;
		return (true);
	case OPTION_NO_SYNC:
		options->no_sync = true;
		return (true);
	default:
		*known = false;
		return (true);
	}
}
