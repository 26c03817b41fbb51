/*
 * A processed profile of the Firefox Profiler while it is written: its threads, of
 * what is kept of them.
 */
#ifndef HWTDI_FIREFOX_THREAD_H
#define HWTDI_FIREFOX_THREAD_H

#include "base/text_pool.h"
#include "export/calls/call_spool.h"
#include "export/json_writer.h"

/* Times are ms with so many digits: ns. */
#define HWTDI_FIREFOX_DIGITS 6

enum hwtdi_firefox_category {
	CATEGORY_OTHER,
	CATEGORY_CODE,
	CATEGORY_UNTRACED,
	CATEGORY_GAP,
	CATEGORIES
};

/* A stack is another one and the function that it called. */
struct hwtdi_firefox_stack {
	uint32_t prefix, func;
};

struct hwtdi_firefox_func {
	uint32_t name;
	/* Of the texts of the file; place in its list of libraries, or NO_ID. */
	uint32_t text, lib;
};

enum hwtdi_firefox_column {
	COLUMN_STACK,
	COLUMN_TIME,
	COLUMN_WEIGHT,
	COLUMN_MARKER_BEGIN,
	COLUMN_MARKER_END,
	COLUMN_MARKER_NAME,
	COLUMN_MARKER_DATA,
	COLUMN_MARKER_CATEGORY,
	COLUMN_MARKER_PHASE
};

struct hwtdi_firefox {
	/* First, as hwtdi_timeline_step() wants it. */
	struct hwtdi_spool spool;
	struct hwtdi_json_writer json;
	/* Of the file. */
	struct hwtdi_text_pool texts;
	uint32_t *libs;
	size_t n_libs, cap_libs;
	/* By text: place in `libs`, + 1. */
	uint32_t *lib_places;
	size_t n_lib_places;
	uint32_t gap_text;
	/* Of the thread that is written; its times are from here on. */
	uint64_t from;
	struct hwtdi_firefox_stack *stacks;
	size_t n_stacks, cap_stacks;
	struct hwtdi_index stack_index;
	struct hwtdi_firefox_func *funcs;
	size_t n_funcs, cap_funcs;
	/* By name: place in `funcs`, + 1. */
	uint32_t *places;
	size_t n_places;
	/* Where reading stands: the stack, and since when. */
	enum hwtdi_firefox_column column;
	uint32_t *path;
	size_t n_path, cap_path;
	uint64_t since;
	size_t n_samples, n_markers;
};

/* The number of a text of the file; an empty one is as good as none. */
int hwtdi_firefox_text(struct hwtdi_firefox *s, const char *text,
    uint32_t *out, struct hwtd_error *err);

/* Forget the tables of the thread that was written last. */
void hwtdi_firefox_reset(struct hwtdi_firefox *s);

/* A thread, with all its tables, as a value of JSON. */
int hwtdi_firefox_put_thread(struct hwtdi_firefox *s, uint32_t thread,
    struct hwtd_error *err);

#endif /* HWTDI_FIREFOX_THREAD_H */
