/*
 * Stacks of branches.
 *
 * A reader of such stacks takes for executed what lies between where a branch led
 * to and the next one.  So a stack that is cut ends with an entry from the last
 * instruction to 0, and the next one begins with one from 0: nothing is lost, and
 * nothing is told across the cut.  One that is full is cut at a branch that both
 * have, which is no call, since calls are counted.
 */
#include "export/compilers/branch_stack.h"

#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "trace/trace_model.h"

/* Bits of keys: of a stream whose thread is not known, of a guest, of a kernel. */
#define KEY_STREAM (UINT64_C(1) << 32)
#define KEY_GUEST (UINT64_C(1) << 33)
#define KEY_KERNEL (UINT64_C(1) << 34)

int
hwtdi_branch_stacks_init(struct hwtdi_branch_stacks *s,
    const struct hwtd_trace *trace, size_t most, hwtdi_stack_fn put, void *arg,
    struct hwtd_error *err)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };

	memset(s, 0, sizeof(*s));
	(void)hwtd_trace_info(trace, &info);
	s->ctx = hwtdi_trace_library(trace);
	s->trace = trace;
	s->most = most;
	s->put = put;
	s->arg = arg;
	s->n_streams = info.n_streams;
	s->streams = hwtdi_zalloc(s->ctx, s->n_streams * sizeof(*s->streams));
	if (s->streams == NULL && s->n_streams > 0)
		return (hwtdi_fail_nomem(err,
		    s->n_streams * sizeof(*s->streams)));
	return (HWTD_OK);
}

void
hwtdi_branch_stacks_fini(struct hwtdi_branch_stacks *s)
{
	if (s->ctx == NULL)
		return;
	for (size_t i = 0; i < s->n; i++)
		hwtdi_array_free(s->ctx, s->stacks[i].branches,
		    s->stacks[i].cap, sizeof(*s->stacks[i].branches));
	hwtdi_array_free(s->ctx, s->stacks, s->cap, sizeof(*s->stacks));
	hwtdi_index_fini(&s->index, s->ctx);
	hwtdi_free(s->ctx, s->streams, s->n_streams * sizeof(*s->streams));
	memset(s, 0, sizeof(*s));
}

/* Whose stack it is. */

static uint64_t
key_of(const struct hwtdi_branch_stacks *s, const struct hwtd_event *row,
    bool kernel)
{
	struct hwtd_exec_context who = { .size = sizeof(who) };
	uint64_t key = kernel ? KEY_KERNEL : 0;

	if (hwtd_trace_exec_context(s->trace, row->context, &who) != HWTD_OK ||
	    who.tid == HWTD_NO_ID || (who.flags & HWTD_CTXF_GUEST) != 0)
		key |= KEY_STREAM | row->stream;
	else
		key |= who.tid;
	return ((who.flags & HWTD_CTXF_GUEST) != 0 ? key | KEY_GUEST : key);
}

static int
find(struct hwtdi_branch_stacks *s, uint64_t key, size_t *no_out,
    struct hwtd_error *err)
{
	const uint64_t hash = hwtdi_hash(s->ctx, &key, sizeof(key));
	uint32_t no;
	size_t tries = 0;
	int rc;

	while (hwtdi_index_next(&s->index, hash, &tries, &no))
		if (s->stacks[no].key == key) {
			*no_out = no;
			return (HWTD_OK);
		}
	rc = hwtdi_index_reserve(&s->index, s->ctx, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(s->ctx, &s->stacks, &s->cap, s->n + 1,
		    sizeof(*s->stacks), err);
	if (rc != HWTD_OK)
		return (rc);
	memset(&s->stacks[s->n], 0, sizeof(*s->stacks));
	s->stacks[s->n].key = key;
	hwtdi_index_put(&s->index, hash, (uint32_t)s->n);
	*no_out = s->n++;
	return (HWTD_OK);
}

/* Branches. */

static int
push(struct hwtdi_branch_stacks *s, struct hwtdi_branch_stack *k,
    const struct hwtdi_stack_branch *b, struct hwtd_error *err)
{
	int rc = hwtdi_array_grow(s->ctx, &k->branches, &k->cap, k->n + 1,
	    sizeof(*b), err);

	if (rc == HWTD_OK)
		k->branches[k->n++] = *b;
	return (rc);
}

/* The newest branch leads to code that is not wanted, and comes from there. */
static void
forget_unwanted(struct hwtdi_branch_stack *k)
{
	if (k->n > (k->again ? 1u : 0u) &&
	    !k->branches[k->n - 1].from_wanted &&
	    !k->branches[k->n - 1].to_wanted)
		k->n--;
}

static void
hand_out(struct hwtdi_branch_stacks *s, struct hwtdi_branch_stack *k)
{
	/* A stack of what was told before tells nothing. */
	if (k->n > (k->again ? 1u : 0u))
		s->put(s->arg, k);
	k->n = 0;
	k->again = false;
}

/* It is not known how execution went on. */
static int
cut(struct hwtdi_branch_stacks *s, struct hwtdi_branch_stack *k,
    struct hwtd_error *err)
{
	const struct hwtdi_stack_branch end = { .from = k->last,
		.from_wanted = k->last_wanted };
	int rc = HWTD_OK;

	forget_unwanted(k);
	if (k->open && k->last_wanted)
		rc = push(s, k, &end, err);
	if (rc == HWTD_OK)
		hand_out(s, k);
	k->open = false;
	k->going_on = false;
	return (rc);
}

/* Readers count where calls lead, and jumps out of a function may be some. */
static bool
may_be_told_twice(const struct hwtdi_stack_branch *b)
{
	return (b->branch == HWTD_BRANCH_CONDITIONAL ||
	    b->branch == HWTD_BRANCH_RETURN);
}

static void
make_room(struct hwtdi_branch_stacks *s, struct hwtdi_branch_stack *k)
{
	struct hwtdi_stack_branch *newest;

	if (k->n < s->most)
		return;
	newest = &k->branches[k->n - 1];
	if (!may_be_told_twice(newest) && k->n < 2 * s->most)
		return;
	s->put(s->arg, k);
	k->branches[0] = *newest;
	k->n = 1;
	k->again = true;
}

/* Rows. */

static bool
goes_on(const struct hwtdi_branch_stacks *s,
    const struct hwtdi_branch_stack *k, const struct hwtd_event *row,
    bool kernel)
{
	const struct hwtdi_stack_stream *stream = &s->streams[row->stream];
	const size_t no = (size_t)(k - s->stacks);

	if (!k->going_on || k->next != row->ip)
		return (false);
	/* If it did not run there all the time, nor did it elsewhere. */
	if (k->stream == row->stream && stream->last[kernel] == no + 1)
		return (k->stream_gaps == stream->gaps + s->gaps_of_all);
	return (k->gaps == s->gaps);
}

static int
begin(struct hwtdi_branch_stacks *s, struct hwtdi_branch_stack *k,
    const struct hwtd_event *row, bool wanted, struct hwtd_error *err)
{
	const struct hwtdi_stack_branch b = { .to = row->ip,
		.to_wanted = wanted };
	int rc = cut(s, k, err);

	k->context = row->context;
	if (rc != HWTD_OK || !wanted)
		return (rc);
	s->starts++;
	return (push(s, k, &b, err));
}

static bool
is_taken(const struct hwtd_event *row)
{
	const uint16_t both = HWTD_EVF_TAKEN | HWTD_EVF_TARGET;

	return ((row->flags & both) == both &&
	    (row->target ^ row->ip) >> 63 == 0);
}

/* How the row ended. */
static int
follow(struct hwtdi_branch_stacks *s, struct hwtdi_branch_stack *k,
    const struct hwtd_event *row, bool wanted, struct hwtd_error *err)
{
	const struct hwtdi_stack_branch b = { .from = k->last,
		.to = row->target,
		.branch = row->branch,
		.from_wanted = wanted };

	k->open = true;
	k->going_on = true;
	k->next = row->ip + row->bytes;
	switch (row->branch) {
	case HWTD_BRANCH_FAR_CALL:
		/* The program goes on behind it. */
		return (HWTD_OK);
	case HWTD_BRANCH_FAR_JUMP:
	case HWTD_BRANCH_FAR_RETURN:
		k->going_on = false;
		return (HWTD_OK);
	default:
		break;
	}
	if ((row->flags & HWTD_EVF_TAKEN) == 0)
		return (HWTD_OK);
	if (!is_taken(row)) {
		k->going_on = false;
		return (HWTD_OK);
	}
	k->open = false;
	k->next = row->target;
	return (push(s, k, &b, err));
}

int
hwtdi_branch_stacks_add(struct hwtdi_branch_stacks *s,
    const struct hwtd_event *row, uint64_t last, bool wanted,
    struct hwtd_error *err)
{
	const bool kernel = row->ip >> 63 != 0;
	struct hwtdi_stack_stream *stream;
	struct hwtdi_branch_stack *k;
	size_t no;
	int rc;

	if (row->stream >= s->n_streams)
		return (HWTD_OK);
	stream = &s->streams[row->stream];
	no = stream->last[kernel] - 1;
	if (stream->last[kernel] == 0 ||
	    stream->last_context[kernel] != row->context) {
		rc = find(s, key_of(s, row, kernel), &no, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	k = &s->stacks[no];
	if (goes_on(s, k, row, kernel)) {
		if (k->n > 0 && !k->open)
			k->branches[k->n - 1].to_wanted = wanted;
		forget_unwanted(k);
		make_room(s, k);
		rc = HWTD_OK;
	} else {
		rc = begin(s, k, row, wanted, err);
	}
	stream->last[kernel] = no + 1;
	stream->last_context[kernel] = row->context;
	k->stream = row->stream;
	k->stream_gaps = stream->gaps + s->gaps_of_all;
	k->gaps = s->gaps;
	k->last = last;
	k->last_wanted = wanted;
	return (rc == HWTD_OK ? follow(s, k, row, wanted, err) : rc);
}

void
hwtdi_branch_stacks_gap(struct hwtdi_branch_stacks *s, uint32_t stream)
{
	s->gaps++;
	if (stream < s->n_streams)
		s->streams[stream].gaps++;
	else
		s->gaps_of_all++;
}

int
hwtdi_branch_stacks_end(struct hwtdi_branch_stacks *s, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; i < s->n && rc == HWTD_OK; i++)
		rc = cut(s, &s->stacks[i], err);
	return (rc);
}
