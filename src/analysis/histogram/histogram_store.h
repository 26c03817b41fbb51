/*
 * Histograms of calls: what is kept of each function, and what is added to it.
 */
#ifndef HWTDI_HISTOGRAM_STORE_H
#define HWTDI_HISTOGRAM_STORE_H

#include <hwtdecode/histogram.h>

#include "analysis/histogram/latency.h"
#include "base/text_pool.h"

/* What functions are known by. */
struct hwtdi_histogram_place {
	/* Numbers of texts; 0: none. */
	uint32_t name, image;
	/* HWTD_HISTOGRAM_ROWF_FILE_OFF, _ADDRESS, _UNTRACED. */
	uint32_t flags;
	/* Untraced: an hwtd_call_type. */
	uint32_t type;
	uint64_t address;
};

struct hwtdi_histogram_key {
	struct hwtdi_histogram_place at;
	/* BETWEEN; else all zero. */
	struct hwtdi_histogram_place to;
};

/* As struct hwtd_histogram_row has them. */
struct hwtdi_histogram_counts {
	uint64_t calls, unseen, gapped, switched, unknown, inexact;
	uint64_t estimated, interpolated;
};

struct hwtdi_histogram_data {
	struct hwtdi_histogram_key key;
	struct hwtdi_histogram_counts counts;
	struct hwtdi_latency spread;
};

/* Of a function of the calls that are being added. */
struct hwtdi_histogram_function {
	bool known;
	/* It is chosen: as `function`, as `to`. */
	bool chosen, chosen_to;
	struct hwtdi_histogram_place place;
	/* Its row, but of BETWEEN; 0: none yet. */
	size_t row_plus_1;
};

/* BETWEEN: a thread of the calls that are being added. */
struct hwtdi_histogram_thread {
	/* `from` was come to, at this time; there was a gap since then. */
	bool open, gapped;
	/* HWTD_CALLF_BEGIN_* bits. */
	uint32_t flags;
	uint64_t begin_ns;
	struct hwtdi_histogram_place from;
};

/* Untraced calls by type, and those of nobody knows what. */
#define HWTDI_HISTOGRAM_NAMELESS (HWTD_CALL_TYPES + 1)

struct hwtd_histogram {
	struct hwtd_context *library;
	uint32_t value, flags;
	/* NULL: all. */
	char *function, *to;
	bool failed;

	struct hwtdi_text_pool names;
	struct hwtdi_histogram_data *at;
	size_t n, cap;
	struct hwtdi_index index;
	/* All in one. */
	struct hwtdi_histogram_data all;
	struct hwtd_histogram_info info;

	/* As sorted. */
	bool sorted;
	size_t *order;
	size_t n_order, cap_order;

	/* The calls that are being added, or NULL. */
	struct hwtd_calls *calls;
	struct hwtd_trace *trace;
	uint64_t seen_calls;
	/* What was read of them so far. */
	struct hwtd_calls_info reading;
	struct hwtd_call *rows;
	struct hwtdi_histogram_function *functions;
	size_t n_functions, cap_functions;
	struct hwtdi_histogram_function nameless[HWTDI_HISTOGRAM_NAMELESS];
	struct hwtdi_histogram_thread *threads;
	size_t n_threads, cap_threads;
};

/* What a value is worth. */
enum hwtdi_histogram_worth {
	HWTDI_WORTH_EXACT,
	HWTDI_WORTH_ESTIMATED,
	HWTDI_WORTH_INTERPOLATED,
	HWTDI_WORTH_UNSEEN,
	HWTDI_WORTH_GAPPED,
	HWTDI_WORTH_SWITCHED,
	HWTDI_WORTH_UNKNOWN
};

/* "*", "?" and "\" in `pattern` are as hwtd_histogram_options says. */
bool hwtdi_histogram_matches(const char *pattern, const char *text);

/* The row of a key; HWTD_E_NOMEM, HWTD_E_LIMIT. */
int hwtdi_histogram_row(struct hwtd_histogram *h,
    const struct hwtdi_histogram_key *key, size_t *row_out,
    struct hwtd_error *err);

/* One value into a row, and into all.  HWTD_E_NOMEM. */
int hwtdi_histogram_put(struct hwtd_histogram *h, size_t row, uint64_t value,
    enum hwtdi_histogram_worth worth, struct hwtd_error *err);

/* What was read of the calls that are being added, into `info`. */
void hwtdi_histogram_add_reading(const struct hwtd_histogram *h,
    struct hwtd_histogram_info *info);

/* Forget the calls that are being added. */
void hwtdi_histogram_end_calls(struct hwtd_histogram *h);

#endif /* HWTDI_HISTOGRAM_STORE_H */
