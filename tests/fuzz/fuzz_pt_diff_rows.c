/*
 * Rows of two engines next to each other, up to where they differ.
 */
#include <stdio.h>

#include "fuzz_pt_diff.h"

const struct fuzz_row *
diff_first_gap(const struct diff_pair *p, const struct fuzz_rows *rows)
{
	for (size_t i = p->i; i < rows->n; i++)
		if (rows->at[i].e.kind == HWTD_EV_GAP &&
		    rows->at[i].detail.gap.reason != HWTD_GAP_OVERFLOW)
			return (&rows->at[i]);
	return (NULL);
}

static bool
same_gap(const struct fuzz_row *a, const struct fuzz_row *b)
{
	return (a->detail.gap.reason == b->detail.gap.reason &&
	    a->detail.gap.addr == b->detail.gap.addr);
}

bool
diff_is_aside(const struct fuzz_row *row)
{
	return (row->e.kind == HWTD_EV_MARKER ||
	    row->e.kind == HWTD_EV_POWER || row->e.kind == HWTD_EV_MODE ||
	    row->e.kind == HWTD_EV_CONTEXT ||
	    row->e.kind == HWTD_EV_FREQUENCY);
}

/*
 * The last code before a gap, of which need not be said where it goes.  Rules
 * look at returns.
 */
static bool
is_last(const struct fuzz_rows *rows, size_t i)
{
	size_t next = i + 1;

	while (next < rows->n && diff_is_aside(&rows->at[next]))
		next++;
	return (next < rows->n && rows->at[next].e.kind == HWTD_EV_GAP &&
	    rows->at[i].e.branch != HWTD_BRANCH_RETURN &&
	    (rows->at[i].e.flags & HWTD_EVF_TARGET) == 0);
}

static bool
same_row(const struct diff_pair *p)
{
	const bool open = is_last(p->native, p->i) || is_last(p->libipt, p->i);
	const uint16_t not_compared = HWTD_EVF_TIME | HWTD_EVF_TIME_ESTIMATED |
	    (open ? HWTD_EVF_TARGET | HWTD_EVF_TAKEN : 0);
	const struct fuzz_row *const a = p->a, *const b = p->b;
	struct fuzz_row x = *a, y = *b;

	if (a->e.kind == HWTD_EV_GAP && b->e.kind == HWTD_EV_GAP)
		return (same_gap(a, b));
	x.e.flags &= (uint16_t)~not_compared;
	y.e.flags &= (uint16_t)~not_compared;
	x.e.stream_off = 0;
	y.e.stream_off = 0;
	if (open)
		x.e.target = y.e.target = 0;
	return (memcmp(&x, &y, sizeof(x)) == 0);
}

static void
tell(const struct diff_pair *p)
{
	const size_t first = p->i > 6 ? p->i - 6 : 0;

	for (size_t i = first; i < p->i; i++)
		fuzz_row_print("both", &p->native->at[i]);
	(void)fprintf(stderr, "from byte %zu\n",
	    (size_t)(p->packets - p->in->packets));
	if (p->a != NULL)
		fuzz_row_print("native", p->a);
	if (p->b != NULL)
		fuzz_row_print("libipt", p->b);
	if (diff_first_gap(p, p->native) != NULL)
		fuzz_row_print("lost native", diff_first_gap(p, p->native));
	if (diff_first_gap(p, p->libipt) != NULL)
		fuzz_row_print("lost libipt", diff_first_gap(p, p->libipt));
	for (size_t i = p->i + 1; i < p->i + 3; i++) {
		if (i < p->native->n)
			fuzz_row_print("then native", &p->native->at[i]);
		if (i < p->libipt->n)
			fuzz_row_print("then libipt", &p->libipt->at[i]);
	}
}

/* If `b` goes on where `a` was cut, which is no branch, make `a` both. */
static bool
join(struct fuzz_row *a, const struct fuzz_row *b)
{
	const uint16_t open = HWTD_EVF_TIME | HWTD_EVF_TIME_ESTIMATED |
	    HWTD_EVF_TARGET | HWTD_EVF_TAKEN;
	const struct hwtd_event x = a->e;

	if (x.kind != HWTD_EV_BLOCK || b->e.kind != HWTD_EV_BLOCK ||
	    x.branch != HWTD_BRANCH_NONE || x.ip + x.bytes != b->e.ip ||
	    (x.flags & HWTD_EVF_TARGET) == 0 || x.target != b->e.ip ||
	    ((x.flags ^ b->e.flags) & ~open) != 0 ||
	    x.context != b->e.context || x.section != b->e.section)
		return (false);
	a->e = b->e;
	a->e.ip = x.ip;
	a->e.insns += x.insns;
	a->e.bytes += x.bytes;
	return (true);
}

/*
 * Rows that restate what holds come in another order, and libipt tells them
 * before the code that leads to the PSB.  Of a packet that comes twice in PSB+
 * it tells both.  So neither they count nor that they cut a block.
 */
static void
drop_status(struct fuzz_rows *rows)
{
	bool dropped = false;
	size_t kept = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct fuzz_row *row = &rows->at[i];

		if ((row->e.flags & HWTD_EVF_STATUS) != 0) {
			dropped = true;
			continue;
		}
		if (!dropped || kept == 0 || !join(&rows->at[kept - 1], row))
			rows->at[kept++] = *row;
		dropped = false;
	}
	rows->n = kept;
}

size_t
diff_rows(const struct diff_input *in, const uint8_t *packets, size_t n,
    struct fuzz_rows *native, struct fuzz_rows *libipt)
{
	struct diff_pair p = { .in = in,
		.packets = packets,
		.n = n,
		.native = native,
		.libipt = libipt };

	drop_status(native);
	drop_status(libipt);
	for (;; p.i++) {
		p.a = p.i < native->n ? &native->at[p.i] : NULL;
		p.b = p.i < libipt->n ? &libipt->at[p.i] : NULL;
		if (p.a == NULL && p.b == NULL)
			return (SIZE_MAX);
		if ((p.a == NULL && native->cut) ||
		    (p.b == NULL && libipt->cut))
			return (SIZE_MAX);
		if (p.a == NULL || p.b == NULL || !same_row(&p))
			break;
		if (p.a->e.kind == HWTD_EV_GAP &&
		    p.a->detail.gap.reason != HWTD_GAP_OVERFLOW)
			return ((size_t)p.a->detail.gap.first);
	}
	if (diff_known(&p) == NULL) {
		tell(&p);
		fuzz_fail(__FILE__, __LINE__,
		    "row %zu: a difference that is not known", p.i);
	}
	return ((size_t)(p.a != NULL ? p.a->e.stream_off : p.b->e.stream_off));
}
