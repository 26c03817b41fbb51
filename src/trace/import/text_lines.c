/*
 * Lines of a text file of any size, as mails and terminals leave them.
 */
#include "trace/import/text_lines.h"

#include <string.h>

#include "base/fail.h"

#define PART_BYTES ((size_t)64 << 10)

#define ESCAPE '\033'

int
hwtdi_lines_init(struct hwtdi_lines *lines, const struct hwtd_trace *trace,
    uint64_t limit, struct hwtd_error *err)
{
	memset(lines, 0, sizeof(*lines));
	lines->trace = trace;
	lines->limit = limit < trace->file.size ? limit : trace->file.size;
	lines->part = hwtdi_alloc(trace->library, PART_BYTES);
	if (lines->part == NULL)
		return (hwtdi_fail_nomem(err, PART_BYTES));
	return (HWTD_OK);
}

void
hwtdi_lines_fini(struct hwtdi_lines *lines)
{
	hwtdi_free(lines->trace->library, lines->part, PART_BYTES);
	lines->part = NULL;
}

static int
fill(struct hwtdi_lines *lines, struct hwtd_error *err)
{
	const uint64_t left = lines->limit - lines->end;
	const size_t n = left < PART_BYTES ? (size_t)left : PART_BYTES;
	int rc;

	if (n == 0)
		return (HWTD_END);
	rc = hwtdi_trace_file_read(&lines->trace->file, lines->end,
	    lines->part, n, err);
	if (rc != HWTD_OK)
		return (rc);
	lines->n_part = n;
	lines->at = 0;
	lines->end += n;
	return (HWTD_OK);
}

/* Take bytes of the line up to its end, or all that are at hand. */
static bool
take(struct hwtdi_lines *lines)
{
	const uint8_t *from = lines->part + lines->at;
	const size_t left = lines->n_part - lines->at;
	const uint8_t *stop = memchr(from, '\n', left);
	const size_t n = stop != NULL ? (size_t)(stop - from) : left;
	const size_t room = HWTDI_LINE_MAX - lines->n;
	const size_t copied = n < room ? n : room;

	memcpy(lines->line + lines->n, from, copied);
	lines->n += copied;
	lines->at += n + (stop != NULL);
	return (stop != NULL);
}

static bool
is_blank(char c)
{
	return (c == ' ' || c == '\t' || c == '\r');
}

/* Colours are sequences from ESC [ up to a letter. */
static void
clean(struct hwtdi_lines *lines)
{
	size_t from = 0, to = 0;

	while (from < lines->n &&
	    (is_blank(lines->line[from]) || lines->line[from] == '>'))
		from++;
	while (from < lines->n) {
		const char c = lines->line[from++];

		if (c != ESCAPE) {
			/* A NUL would hide what is behind it. */
			lines->line[to++] = c != '\0' ? c : ' ';
			continue;
		}
		while (from < lines->n &&
		    ((unsigned char)lines->line[from] < '@' ||
			lines->line[from] == '['))
			from++;
		if (from < lines->n)
			from++;
	}
	while (to > 0 && is_blank(lines->line[to - 1]))
		to--;
	lines->n = to;
	lines->line[to] = '\0';
}

int
hwtdi_lines_next(struct hwtdi_lines *lines, struct hwtd_error *err)
{
	bool begun = false;

	lines->n = 0;
	for (;;) {
		int rc = HWTD_OK;

		if (lines->at == lines->n_part)
			rc = fill(lines, err);
		/* The last line may have no end. */
		if (rc == HWTD_END && begun)
			break;
		if (rc != HWTD_OK)
			return (rc);
		if (!begun)
			lines->off = lines->end - lines->n_part + lines->at;
		begun = true;
		if (take(lines))
			break;
	}
	lines->number++;
	clean(lines);
	return (HWTD_OK);
}
