/*
 * Lines of a text file of any size, as mails and terminals leave them.
 */
#ifndef HWTDI_TEXT_LINES_H
#define HWTDI_TEXT_LINES_H

#include "trace/trace_internal.h"

/* Of longer lines this much is looked at. */
#define HWTDI_LINE_MAX 511

struct hwtdi_lines {
	const struct hwtd_trace *trace;
	/* Bytes of the file at hand, up to `end` in it. */
	uint8_t *part;
	size_t n_part, at;
	uint64_t end;
	/* Nothing behind this is read. */
	uint64_t limit;

	/*
	 * The line, with a NUL behind it, without its end, colours, and the blanks
	 * and marks of quotation before it.
	 */
	char line[HWTDI_LINE_MAX + 1];
	size_t n;
	/* Where it begins in the file; its number, from 1. */
	uint64_t off;
	uint64_t number;
};

int hwtdi_lines_init(struct hwtdi_lines *lines, const struct hwtd_trace *trace,
    uint64_t limit, struct hwtd_error *err);
void hwtdi_lines_fini(struct hwtdi_lines *lines);

/* HWTD_OK; HWTD_END: there are no more. */
int hwtdi_lines_next(struct hwtdi_lines *lines, struct hwtd_error *err);

#endif /* HWTDI_TEXT_LINES_H */
