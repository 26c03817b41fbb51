/*
 * Lines that perf-script(1) writes of branches, errors and samples.
 */
#ifndef HWTDI_BRANCH_TEXT_H
#define HWTDI_BRANCH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Part of a line; it does not end in NUL. */
struct hwtdi_text {
	const char *at;
	size_t n;
};

/* "ADDRESS SYMBOL+0xOFFSET (IMAGE)" */
struct hwtdi_text_place {
	uint64_t address;
	/* Empty: the text names none. */
	struct hwtdi_text symbol;
	struct hwtdi_text image;
	bool has_offset;
	uint64_t offset;
};

enum hwtdi_text_kind {
	/* None that is known. */
	HWTDI_TEXT_BAD,
	/* Empty, or a comment. */
	HWTDI_TEXT_EMPTY,
	HWTDI_TEXT_BRANCH,
	/* The trace could not be decoded. */
	HWTDI_TEXT_ERROR,
	/* A sample; its callers are in lines of their own. */
	HWTDI_TEXT_SAMPLE,
	HWTDI_TEXT_CALLER,
	/* Another event of perf, which says nothing of calls. */
	HWTDI_TEXT_OTHER
};

/* Which way a branch went. */
enum hwtdi_text_branch {
	HWTDI_TEXT_NO_BRANCH,
	HWTDI_TEXT_CALL,
	HWTDI_TEXT_RETURN,
	HWTDI_TEXT_JUMP,
	HWTDI_TEXT_CONDITIONAL,
	HWTDI_TEXT_FAR_CALL,
	HWTDI_TEXT_FAR_RETURN,
	HWTDI_TEXT_INTERRUPT,
	HWTDI_TEXT_ABORT
};

struct hwtdi_text_line {
	enum hwtdi_text_kind kind;
	/* HWTD_NO_ID: not known. */
	uint32_t pid, tid;
	bool has_time;
	uint64_t time_ns;
	/* Of a sample: what was counted. */
	struct hwtdi_text event;
	/* BRANCH. */
	enum hwtdi_text_branch branch;
	/* Tracing begins, ends with it. */
	bool starts, ends, async;
	struct hwtdi_text_place from, to;
	/* BRANCH, CALLER: `from` is known. */
	bool has_from, has_to;
};

/* A line without its newline.  Any bytes will do. */
void hwtdi_text_line(const char *line, size_t n, struct hwtdi_text_line *out);

#endif /* HWTDI_BRANCH_TEXT_H */
