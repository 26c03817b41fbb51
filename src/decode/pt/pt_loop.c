/*
 * Endless loops without trace, found by a set of the branches passed.
 */
#include "decode/pt/pt_loop.h"

#include <string.h>

#include "base/fail.h"
#include "base/hash.h"

void
hwtdi_loop_init(struct hwtdi_loop *loop, struct hwtd_context *library)
{
	memset(loop, 0, sizeof(*loop));
	loop->library = library;
	loop->chain = 1;
}

void
hwtdi_loop_fini(struct hwtdi_loop *loop)
{
	hwtdi_array_free(loop->library, loop->marks, loop->n_marks,
	    sizeof(*loop->marks));
	loop->marks = NULL;
	loop->n_marks = 0;
}

/* The mark of `ip` in the chain, or a free one. */
static struct hwtdi_loop_mark *
mark_of(struct hwtdi_loop *loop, uint64_t ip)
{
	size_t mask = loop->n_marks - 1;
	size_t i = (size_t)hwtdi_hash_pair(loop->library->seed, ip, 0) & mask;

	while (loop->marks[i].chain == loop->chain && loop->marks[i].ip != ip)
		i = (i + 1) & mask;
	return (&loop->marks[i]);
}

/* Keep half of the marks free of the chain at hand. */
static int
grow(struct hwtdi_loop *loop, struct hwtd_error *err)
{
	struct hwtdi_loop_mark *old = loop->marks;
	size_t n_old = loop->n_marks;
	size_t n = n_old == 0 ? 64 : n_old * 2;
	struct hwtdi_loop_mark *marks;

	marks = hwtdi_zalloc(loop->library, n * sizeof(*marks));
	if (marks == NULL)
		return (hwtdi_fail_nomem(err, n * sizeof(*marks)));
	loop->marks = marks;
	loop->n_marks = n;
	for (size_t i = 0; i < n_old; i++)
		if (old[i].chain == loop->chain)
			*mark_of(loop, old[i].ip) = old[i];
	hwtdi_array_free(loop->library, old, n_old, sizeof(*old));
	return (HWTD_OK);
}

int
hwtdi_loop_pass(struct hwtdi_loop *loop, uint64_t last_ip, uint32_t insns,
    struct hwtd_error *err)
{
	struct hwtdi_loop_mark *mark;
	int rc;

	if (loop->used_chain != loop->chain) {
		loop->used_chain = loop->chain;
		loop->used = 0;
		loop->insns = 0;
	}
	loop->insns += insns;
	if (loop->insns > HWTDI_LOOP_MAX_INSNS)
		return (HWTD_E_LIMIT);
	if (loop->used * 2 >= loop->n_marks) {
		rc = grow(loop, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	mark = mark_of(loop, last_ip);
	if (mark->chain == loop->chain)
		return (HWTD_END);
	mark->chain = loop->chain;
	mark->ip = last_ip;
	loop->used++;
	return (HWTD_OK);
}
