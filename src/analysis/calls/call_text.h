/*
 * Calls out of a file of text, as perf-script(1) writes it.
 */
#ifndef HWTDI_CALL_TEXT_H
#define HWTDI_CALL_TEXT_H

#include "analysis/calls/branch_text.h"
#include "analysis/calls/call_feed.h"

/* Callers of a sample; those further out are left out. */
#define HWTDI_TEXT_CALLERS 4096u

struct hwtdi_text_thread {
	struct hwtdi_call_feed feed;
	bool has_time;
	uint64_t last_ns;
};

struct hwtdi_call_text {
	struct hwtd_context *library;
	struct hwtdi_call_threads *threads;
	struct hwtdi_call_functions *functions;
	bool interpolate;
	/* One for each thread, and the time of its last line, of any kind. */
	struct hwtdi_text_thread *feeds;
	size_t n_feeds, cap_feeds;

	int fd;
	/* Bytes that were read and not taken, from `begin` on. */
	char *bytes;
	size_t begin, n;
	bool at_end;
	/* A line was too long: the rest of it is left out. */
	bool skipping;

	/* The sample that callers are of, innermost first. */
	bool in_sample;
	struct hwtdi_step sample;
	struct hwtdi_caller *callers;
	size_t n_callers, cap_callers;
	/* The event whose samples count: the first one. */
	char *event;
	size_t n_event;
	/* For names, which end in NUL. */
	char *name;

	uint64_t n_bytes, lines, bad_lines, first_bad_line, gaps;
};

/* Open a file.  HWTD_E_IO, HWTD_E_NOMEM, HWTD_E_UNRECOGNIZED. */
int hwtdi_call_text_init(struct hwtdi_call_text *text, const char *path,
    struct hwtdi_call_threads *threads, struct hwtdi_call_functions *functions,
    bool interpolate, struct hwtd_error *err);

/* Some more lines.  HWTD_END: that was all.  HWTD_E_IO, HWTD_E_NOMEM. */
int hwtdi_call_text_work(struct hwtdi_call_text *text, struct hwtd_error *err);
void hwtdi_call_text_fini(struct hwtdi_call_text *text);

#endif /* HWTDI_CALL_TEXT_H */
