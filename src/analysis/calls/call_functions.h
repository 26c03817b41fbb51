/*
 * Functions that calls lead to: which code is which function, by symbols where
 * there are, else by where it was called.
 */
#ifndef HWTDI_CALL_FUNCTIONS_H
#define HWTDI_CALL_FUNCTIONS_H

#include <hwtdecode/calls.h>
#include <hwtdecode/symbol.h>

#include "analysis/calls/call_stack.h"
#include "analysis/histogram/latency.h"
#include "base/text_pool.h"

/* Times of calls that ended. */
struct hwtdi_call_sums {
	uint64_t calls, whole, ns, self_ns, min_ns, max_ns;
	uint64_t self_insns, self_cycles, all_self_ns;
	struct hwtdi_latency spread;
};

struct hwtdi_call_function {
	uint64_t address;
	uint64_t bytes;
	uint32_t section;
	/* Numbers of names; 0: none. */
	uint32_t name, image;
	/* See struct hwtdi_extent. */
	uint32_t family;
	bool is_cold, resumes;
	bool has_address;
	struct hwtdi_call_sums sums;
};

struct hwtdi_call_answer;

struct hwtdi_call_functions {
	struct hwtd_context *library;
	/* NULL: text, which names functions itself. */
	struct hwtd_trace *trace;
	bool with_symbols;
	struct hwtdi_call_function *at;
	size_t n, cap;
	struct hwtdi_index index;
	struct hwtdi_text_pool names;
	struct hwtd_symbolizer *symbolizer;
	/* Recent answers of symbols. */
	struct hwtdi_call_answer *answers;
};

/* HWTD_E_NOMEM.  The trace (NULL: none) stays open as long. */
int hwtdi_call_functions_init(struct hwtdi_call_functions *f,
    struct hwtd_context *library, struct hwtd_trace *trace, bool with_symbols,
    struct hwtd_error *err);

/*
 * The function at an address of a process.  Without a symbol it is one if it was called;
 * `called`: now it is.  HWTD_E_NOMEM, HWTD_E_LIMIT.
 */
int hwtdi_call_functions_find(struct hwtdi_call_functions *f, uint32_t pid,
    uint32_t section, uint64_t address, bool called, struct hwtdi_extent *out,
    struct hwtd_error *err);

/* A function that text names; `address` NULL: it does not say where. */
int hwtdi_call_functions_named(struct hwtdi_call_functions *f,
    const char *name, const char *image, const uint64_t *address,
    uint32_t *function_out, struct hwtd_error *err);

/* The image of one without a name, as text has it; `image` is of names. */
void hwtdi_call_functions_set_image(struct hwtdi_call_functions *f,
    uint32_t function, uint32_t image);

/* A call ended.  HWTD_E_NOMEM. */
int hwtdi_call_functions_add(struct hwtdi_call_functions *f,
    const struct hwtd_call *row, struct hwtd_error *err);

/* Begin and end of a call are no guess, and were seen. */
bool hwtdi_call_was_seen(const struct hwtd_call *row);

/* There was a gap in it. */
bool hwtdi_call_has_gap(const struct hwtd_call *row);

void hwtdi_call_functions_fini(struct hwtdi_call_functions *f);

#endif /* HWTDI_CALL_FUNCTIONS_H */
