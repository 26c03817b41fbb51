/*
 * Stored expectations: made from an account, written, read and compared.  The
 * format is described in hwtdecode(1).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input/expectation.h"
#include "cli/output/message.h"

#define FIRST_LINE EXPECTATION_MARK "1"
#define MAX_LINE 512
/* An expectation has some tens of lines per stream. */
#define MAX_LINES 1000000

static bool
add_line(struct expectation *expectation, const char *key, const char *value)
{
	/* Room grows in powers of two. */
	if ((expectation->n & (expectation->n - 1)) == 0) {
		const size_t room = expectation->n == 0 ? 1
							: 2 * expectation->n;
		struct expectation_line *lines = realloc(expectation->lines,
		    room * sizeof(*lines));

		if (lines == NULL)
			return (false);
		expectation->lines = lines;
	}
	struct expectation_line *line = &expectation->lines[expectation->n];

	line->key = strdup(key);
	line->value = strdup(value);
	if (line->key == NULL || line->value == NULL) {
		free(line->key);
		free(line->value);
		return (false);
	}
	expectation->n++;
	return (true);
}

static int
by_key(const void *a, const void *b)
{
	const struct expectation_line *const *x = a;
	const struct expectation_line *const *y = b;

	return (strcmp((*x)->key, (*y)->key));
}

/* After the last line: makes value_of() work. */
static bool
sort_lines(struct expectation *expectation)
{
	expectation->sorted = calloc(expectation->n + 1,
	    sizeof(*expectation->sorted));
	if (expectation->sorted == NULL)
		return (false);
	for (size_t i = 0; i < expectation->n; i++)
		expectation->sorted[i] = &expectation->lines[i];
	qsort(expectation->sorted, expectation->n,
	    sizeof(*expectation->sorted), by_key);
	return (true);
}

static bool
add_u64(struct expectation *expectation, uint32_t stream, uint64_t value,
    const char *fmt, ...)
{
	char key[128];
	char text[32];
	va_list args;
	const int n = snprintf(key, sizeof(key), "stream.%" PRIu32 ".",
	    stream);

	va_start(args, fmt);
	vsnprintf(key + n, sizeof(key) - (size_t)n, fmt, args);
	va_end(args);
	snprintf(text, sizeof(text), "%" PRIu64, value);
	return (add_line(expectation, key, text));
}

static bool
add_stream(struct expectation *e, const struct stream_account *account)
{
	const struct hwtd_stats *stats = &account->stats;
	const uint32_t id = account->stream;
	char key[64];
	char text[32];
	bool good;

	snprintf(key, sizeof(key), "stream.%" PRIu32 ".tech", id);
	good = add_line(e, key, tech_name(account->tech)) &&
	    add_u64(e, id, stats->bytes, "bytes") &&
	    add_u64(e, id, stats->gap_bytes, "gap-bytes") &&
	    add_u64(e, id, stats->insns, "insns") &&
	    add_u64(e, id, stats->blocks, "blocks");
	snprintf(key, sizeof(key), "stream.%" PRIu32 ".ip-hash", id);
	snprintf(text, sizeof(text), "0x%016" PRIx64, account->ip_hash);
	good = good && add_line(e, key, text);
	for (uint32_t i = 0; good && i < HWTD_EV_KINDS; i++) {
		/* Code is counted above, whatever the level. */
		if (stats->kinds[i] > 0 && i != HWTD_EV_BLOCK &&
		    i != HWTD_EV_INSN)
			good = add_u64(e, id, stats->kinds[i], "rows.%s",
			    hwtd_event_kind_name(i));
	}
	for (uint32_t i = 0; good && i < HWTD_GAP_REASONS; i++) {
		if (stats->gaps[i] == 0 && stats->gap_bytes_by_reason[i] == 0)
			continue;
		good = add_u64(e, id, stats->gaps[i], "gaps.%s.count",
			   hwtd_gap_reason_name(i)) &&
		    add_u64(e, id, stats->gap_bytes_by_reason[i],
			"gaps.%s.bytes", hwtd_gap_reason_name(i));
	}
	return (good);
}

bool
expectation_of(struct expectation *expectation, const struct account *account)
{
	char text[32];
	bool good;

	memset(expectation, 0, sizeof(*expectation));
	snprintf(text, sizeof(text), "%zu", account->n_streams);
	good = add_line(expectation, "streams", text);
	for (size_t i = 0; good && i < account->n_streams; i++)
		good = add_stream(expectation, &account->streams[i]);
	good = good && sort_lines(expectation);
	if (!good)
		say_error("out of memory");
	return (good);
}

static bool
read_line(struct expectation *expectation, const char *path,
    unsigned int number, char *line)
{
	char *value;

	line[strcspn(line, "\r\n")] = '\0';
	if (number == 1) {
		if (strcmp(line, FIRST_LINE) == 0)
			return (true);
		say_error("%s: line 1: not '%s'", path, FIRST_LINE);
		say_hint("name a file that --update has written");
		return (false);
	}
	if (line[0] == '\0' || line[0] == '#')
		return (true);
	value = strchr(line, ' ');
	if (value == NULL || value == line || value[1] == '\0') {
		say_error("%s: line %u: not 'key value'", path, number);
		return (false);
	}
	*value++ = '\0';
	if (!add_line(expectation, line, value)) {
		say_error("out of memory");
		return (false);
	}
	return (true);
}

bool
expectation_read(struct expectation *expectation, const char *path,
    int *code_out)
{
	FILE *file = fopen(path, "r");
	char line[MAX_LINE];
	unsigned int number = 0;
	bool good = true;

	memset(expectation, 0, sizeof(*expectation));
	*code_out = EXIT_FAILED;
	if (file == NULL) {
		say_error("%s: %s", path, strerror(errno));
		if (errno == ENOENT)
			say_hint("--update writes it");
		return (false);
	}
	while (good && fgets(line, sizeof(line), file) != NULL) {
		number++;
		if ((strchr(line, '\n') == NULL && !feof(file)) ||
		    number > MAX_LINES) {
			say_error("%s: line %u: too long", path, number);
			good = false;
			break;
		}
		good = read_line(expectation, path, number, line);
	}
	if (good && ferror(file)) {
		say_error("%s: %s", path, strerror(errno));
		good = false;
	} else if (good && number == 0) {
		say_error("%s: empty", path);
		say_hint("--update writes it");
		good = false;
	}
	fclose(file);
	if (good && !sort_lines(expectation)) {
		say_error("out of memory");
		good = false;
	}
	for (size_t i = 1; good && i < expectation->n; i++) {
		if (by_key(&expectation->sorted[i - 1],
			&expectation->sorted[i]) == 0) {
			say_error("%s: '%s' stands there twice", path,
			    expectation->sorted[i]->key);
			good = false;
		}
	}
	return (good);
}

bool
expectation_write(const struct expectation *expectation, const char *path)
{
	struct output out;

	if (!output_open(&out, path))
		return (false);
	output_text(&out, FIRST_LINE "\n");
	for (size_t i = 0; i < expectation->n; i++) {
		output_text(&out, expectation->lines[i].key);
		output_char(&out, ' ');
		output_text(&out, expectation->lines[i].value);
		output_char(&out, '\n');
	}
	return (output_close(&out, true));
}

static const char *
value_of(const struct expectation *expectation, const char *key)
{
	size_t low = 0;
	size_t high = expectation->n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const int order = strcmp(expectation->sorted[mid]->key, key);

		if (order == 0)
			return (expectation->sorted[mid]->value);
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return (NULL);
}

size_t
expectation_compare(const struct expectation *expected,
    const struct expectation *found, difference_fn on_difference, void *arg)
{
	size_t n = 0;

	for (size_t i = 0; i < expected->n; i++) {
		const struct expectation_line *line = &expected->lines[i];
		const char *value = value_of(found, line->key);

		if (value != NULL && strcmp(value, line->value) == 0)
			continue;
		on_difference(arg, line->key, line->value, value);
		n++;
	}
	for (size_t i = 0; i < found->n; i++) {
		const struct expectation_line *line = &found->lines[i];

		if (value_of(expected, line->key) != NULL)
			continue;
		on_difference(arg, line->key, NULL, line->value);
		n++;
	}
	return (n);
}

void
expectation_fini(struct expectation *expectation)
{
	for (size_t i = 0; i < expectation->n; i++) {
		free(expectation->lines[i].key);
		free(expectation->lines[i].value);
	}
	free(expectation->lines);
	free(expectation->sorted);
	memset(expectation, 0, sizeof(*expectation));
}
