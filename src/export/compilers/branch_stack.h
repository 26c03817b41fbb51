/*
 * Stacks of branches: what each thread took, in order, cut where it is not known
 * how execution went on.
 *
 * Code of kernels and that of programs are threads of their own each: what a
 * program is interrupted for, and calls of its kernel, are no branches of it.
 */
#ifndef HWTDI_BRANCH_STACK_H
#define HWTDI_BRANCH_STACK_H

#include <hwtdecode/event.h>
#include <stdbool.h>

#include "base/index.h"

/* A branch that was taken; an address that is not known is 0. */
struct hwtdi_stack_branch {
	uint64_t from, to;
	/* An hwtd_branch; NONE: it is not one, but an end or a begin. */
	uint8_t branch;
	/* `from`, and `to`, is code that is wanted. */
	bool from_wanted, to_wanted;
};

/* Of one thread. */
struct hwtdi_branch_stack {
	uint32_t context;
	/* The oldest first. */
	struct hwtdi_stack_branch *branches;
	size_t n, cap;
	/* The oldest was handed out before. */
	bool again;
	/* Number for hwtdi_index; see branch_stack.c. */
	uint64_t key;
	/* Where execution goes on, if that is known. */
	bool going_on;
	uint64_t next;
	/* The last instruction; it is not the end of a branch in `branches`. */
	bool open;
	bool last_wanted;
	uint64_t last;
	/* What was lost before that, of the stream and of all. */
	uint32_t stream;
	uint64_t stream_gaps, gaps;
};

/* Takes a stack that is full or cut. */
typedef void (*hwtdi_stack_fn)(void *arg,
    const struct hwtdi_branch_stack *stack);

struct hwtdi_stack_stream {
	/* Index + 1 of the stack that was added to last: programs, kernels. */
	size_t last[2];
	uint32_t last_context[2];
	uint64_t gaps;
};

struct hwtdi_branch_stacks {
	struct hwtd_context *ctx;
	const struct hwtd_trace *trace;
	/* Branches of a stack that is handed out, about. */
	size_t most;
	hwtdi_stack_fn put;
	void *arg;
	struct hwtdi_branch_stack *stacks;
	size_t n, cap;
	struct hwtdi_index index;
	struct hwtdi_stack_stream *streams;
	size_t n_streams;
	uint64_t gaps, gaps_of_all;
	/* How often a stack began without a branch. */
	uint64_t starts;
};

int hwtdi_branch_stacks_init(struct hwtdi_branch_stacks *s,
    const struct hwtd_trace *trace, size_t most, hwtdi_stack_fn put, void *arg,
    struct hwtd_error *err);
void hwtdi_branch_stacks_fini(struct hwtdi_branch_stacks *s);

/* A row of code, and its last instruction; whether it is of code that is wanted. */
int hwtdi_branch_stacks_add(struct hwtdi_branch_stacks *s,
    const struct hwtd_event *row, uint64_t last, bool wanted,
    struct hwtd_error *err);

/* Something of a stream, or HWTD_NO_ID: of any, is not known. */
void hwtdi_branch_stacks_gap(struct hwtdi_branch_stacks *s, uint32_t stream);

/* All is told: hand out what is left. */
int hwtdi_branch_stacks_end(struct hwtdi_branch_stacks *s,
    struct hwtd_error *err);

#endif /* HWTDI_BRANCH_STACK_H */
