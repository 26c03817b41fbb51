/*
 * Two decodes of one stream, row by row: instructions and events, with
 * everything that they say but times and offsets.
 *
 * What differs is written as one line for each place:
 *
 *   differ: after N instructions: A 'row' and N rows more, B 'row' ...
 *   further: after N instructions: A tells N rows of bytes that B lost
 *   fact: after N instructions: A says 'name' is value, B says value
 */
#include "flow_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Rows in which both are looked for to agree again, at first near by; and how
 * many have to.
 */
#define WINDOW 65536
#define NEAR 16
#define ENOUGH 8

/* Values of one fact that only one decode has told so far. */
struct ahead {
	uint64_t *values;
	size_t head, n, cap;
	/* Which decode it is. */
	unsigned int side;
};

struct compare {
	struct hwtd_trace *trace;
	const char *const *engines;
	struct flow_rows side[2];
	FILE *out;
	uint64_t n_differ;
	/* One of both lost where tracing had gone off. */
	bool forgot;
	/* Facts are compared: nothing differed or was lost yet. */
	bool facts;
	uint64_t now[2][FLOW_FACTS];
	struct ahead ahead[FLOW_FACTS];
};

/* Facts. */

static void
put_fact(struct compare *c, unsigned int name, const uint64_t *a,
    const uint64_t *b)
{
	static const char *const names[] = {
		[FLOW_FACT_MODE] = "mode",
		[FLOW_FACT_INTERRUPTS] = "interrupts",
		[FLOW_FACT_TRANSACTION] = "transaction",
		[FLOW_FACT_CR3] = "cr3",
		[FLOW_FACT_VMCS] = "vmcs",
		[FLOW_FACT_RATIO] = "ratio",
	};

	fprintf(c->out, "fact: after %" PRIu64 " instructions: %s",
	    c->side[0].insns, names[name]);
	for (unsigned int i = 0; i < 2; i++) {
		const uint64_t *value = i == 0 ? a : b;

		fprintf(c->out, "%s %s says ", i == 0 ? "" : ",",
		    c->engines[i]);
		if (value == NULL)
			fputs("nothing", c->out);
		else
			fprintf(c->out, "%" PRIx64, *value);
	}
	fputc('\n', c->out);
	c->n_differ++;
	c->facts = false;
}

/* One decode has told a value. */
static void
see_fact(struct compare *c, unsigned int side, const struct flow_fact *fact)
{
	struct ahead *ahead = &c->ahead[fact->name];
	uint64_t other;

	if (!c->facts || c->now[side][fact->name] == fact->value)
		return;
	c->now[side][fact->name] = fact->value;
	if (ahead->head == ahead->n) {
		ahead->head = ahead->n = 0;
		ahead->side = side;
	}
	if (ahead->side == side) {
		if (ahead->n == ahead->cap) {
			ahead->cap = ahead->cap * 2 + 16;
			ahead->values = flow_grow(ahead->values,
			    ahead->cap * sizeof(*ahead->values));
		}
		ahead->values[ahead->n++] = fact->value;
		return;
	}
	other = ahead->values[ahead->head++];
	if (other == fact->value)
		return;
	put_fact(c, fact->name, side == 0 ? &fact->value : &other,
	    side == 0 ? &other : &fact->value);
}

/* What status told before the next row, and what that row itself says. */
static void
see_facts(struct compare *c)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct flow_rows *rows = &c->side[i];
		const struct flow_row *row = flow_rows_at(rows, 0);
		const size_t end = row != NULL ? row->facts : rows->n_facts;
		struct flow_fact fact, own[FLOW_ROW_FACTS];
		size_t n = 0;

		while (rows->fact_head < end && flow_rows_fact(rows, &fact))
			see_fact(c, i, &fact);
		if (row != NULL)
			n = flow_row_facts(c->trace, row, own);
		for (size_t k = 0; k < n; k++)
			see_fact(c, i, &own[k]);
	}
}

static void
end_facts(struct compare *c)
{
	for (unsigned int name = 0; name < FLOW_FACTS; name++) {
		const struct ahead *ahead = &c->ahead[name];
		const uint64_t *value;

		if (!c->facts || ahead->head == ahead->n)
			continue;
		value = &ahead->values[ahead->head];
		put_fact(c, name, ahead->side == 0 ? value : NULL,
		    ahead->side == 1 ? value : NULL);
	}
}

/* Finding where both agree again. */

/* Both rows say the same, as far as both decodes can know it. */
static bool
same(const struct flow_row *a, const struct flow_row *b, bool forgot)
{
	struct flow_row x;

	if (!forgot || a->event.kind != HWTD_EV_ENABLE)
		return (flow_row_same(a, b));
	x = *a;
	x.event.flags = (uint16_t)((a->event.flags & ~HWTD_EVF_RESUMED) |
	    (b->event.flags & HWTD_EVF_RESUMED));
	return (flow_row_same(&x, b));
}

static bool
forgets(const struct flow_row *row, bool forgot)
{
	return (forgot && row->event.kind != HWTD_EV_ENABLE &&
	    row->event.kind != HWTD_EV_DISABLE);
}

/*
 * From rows `i` and `j` on both say the same for a while, or up to where both
 * lose bytes.
 */
static bool
agree(struct compare *c, size_t i, size_t j, bool forgot)
{
	for (size_t k = 0; k < ENOUGH; k++) {
		const struct flow_row *a = flow_rows_at(&c->side[0], i + k);
		const struct flow_row *b = flow_rows_at(&c->side[1], j + k);

		if (a == NULL || b == NULL)
			return (a == b);
		if (!same(a, b, forgot))
			return (false);
		if (flow_row_is_loss(a))
			return (true);
		forgot = forgets(a, forgot);
	}
	return (true);
}

/* The fewest rows after which both agree. */
static bool
find_near(struct compare *c, size_t *i_out, size_t *j_out)
{
	for (size_t sum = 1; sum <= NEAR; sum++)
		for (size_t i = 0; i <= sum; i++)
			if (agree(c, i, sum - i, c->forgot)) {
				*i_out = i;
				*j_out = sum - i;
				return (true);
			}
	return (false);
}

/* The first of the next rows that lost bytes: which.  False: none. */
static bool
find_loss(struct flow_rows *rows, uint64_t *first_out, uint64_t *end_out)
{
	const struct flow_row *row;

	for (size_t i = 0; i < WINDOW && (row = flow_rows_at(rows, i)) != NULL;
	     i++) {
		if (!flow_row_is_loss(row))
			continue;
		*first_out = row->detail.gap.first;
		*end_out = row->detail.gap.end;
		return (true);
	}
	return (false);
}

/*
 * Rows from `from` on that are of bytes before `*end`; if such a row lost
 * more, *end goes up.
 */
static size_t
rows_before(struct flow_rows *rows, size_t from, uint64_t *end)
{
	const struct flow_row *row;
	size_t n = from;

	for (size_t i = from; (row = flow_rows_at(rows, i)) != NULL &&
	     row->event.stream_off < *end;
	     i++) {
		n = i + 1;
		if (flow_row_is_loss(row) && row->detail.gap.end > *end)
			*end = row->detail.gap.end;
	}
	return (n);
}

/* Behind byte `end` one of both may be on its way to where the other is. */
static bool
find_behind(struct compare *c, uint64_t end, size_t *i_out, size_t *j_out)
{
	size_t i = *i_out, j = *j_out;
	uint64_t before;

	do {
		before = end;
		i = rows_before(&c->side[0], i, &end);
		j = rows_before(&c->side[1], j, &end);
	} while (end != before);
	for (size_t more = 0; more < WINDOW; more++) {
		const struct flow_row *a = flow_rows_at(&c->side[0], i + more);
		const struct flow_row *b = flow_rows_at(&c->side[1], j + more);

		if (agree(c, i + more, j, true)) {
			*i_out = i + more;
			*j_out = j;
			return (true);
		}
		if (agree(c, i, j + more, true)) {
			*i_out = i;
			*j_out = j + more;
			return (true);
		}
		if (a == NULL && b == NULL)
			break;
	}
	return (false);
}

/* All rows that are left. */
static size_t
rest(struct flow_rows *rows)
{
	size_t n = 0;

	while (n < WINDOW && flow_rows_at(rows, n) != NULL)
		n++;
	return (n);
}

/* Differences. */

static void
put_rows(struct compare *c, unsigned int side, size_t n)
{
	const struct flow_row *row = flow_rows_at(&c->side[side], 0);

	fprintf(c->out, "%s %s ", side == 0 ? "" : ",", c->engines[side]);
	if (row == NULL)
		fputs("nothing", c->out);
	else {
		fputc('\'', c->out);
		flow_row_put(c->out, c->trace, row);
		fputc('\'', c->out);
		if (n == 0)
			fputs(" comes later", c->out);
		else if (n > 1)
			fprintf(c->out, " and %zu more", n - 1);
	}
}

/* The next rows differ.  False: both do not agree again. */
static bool
differ(struct compare *c)
{
	uint64_t first[2] = { 0, 0 }, end[2] = { 0, 0 };
	bool lost[2], found;
	size_t i = 0, j = 0;

	for (unsigned int side = 0; side < 2; side++)
		lost[side] = find_loss(&c->side[side], &first[side],
		    &end[side]);
	found = find_near(c, &i, &j);
	if (!found && (lost[0] || lost[1])) {
		/* The first loss of bytes explains it. */
		const unsigned int by = !lost[0] ||
		    (lost[1] && (end[1] < end[0] || first[0] > end[1]));

		found = find_behind(c, end[by], &i, &j);
		c->forgot = true;
	}
	if (!found) {
		i = rest(&c->side[0]);
		j = rest(&c->side[1]);
	}
	fprintf(c->out,
	    "differ: after %" PRIu64 " instructions:", c->side[0].insns);
	put_rows(c, 0, i);
	put_rows(c, 1, j);
	fprintf(c->out, "%s\n", found ? "" : ", to the end");
	c->n_differ++;
	c->facts = false;
	flow_rows_take(&c->side[0], i);
	flow_rows_take(&c->side[1], j);
	return (found);
}

/* Both lost bytes, and one of them goes on earlier.  As differ(). */
static bool
go_on(struct compare *c, uint64_t end_a, uint64_t end_b)
{
	const unsigned int first = end_a < end_b ? 0 : 1;
	const uint64_t end = first == 0 ? end_b : end_a;
	const uint64_t insns = c->side[0].insns;
	size_t n[2] = { 0, 0 };
	bool found = find_behind(c, end, &n[0], &n[1]);

	c->forgot = true;
	if (found && n[0] == 0 && n[1] == 0)
		return (true);
	if (!found || n[1 - first] != 0)
		return (differ(c));
	fprintf(c->out,
	    "further: after %" PRIu64 " instructions: %s tells %zu rows of "
	    "bytes up to %" PRIx64 " that %s lost\n",
	    insns, c->engines[first], n[first], end, c->engines[1 - first]);
	c->n_differ++;
	c->facts = false;
	flow_rows_take(&c->side[first], n[first]);
	return (true);
}

static void
compare_stream(struct compare *c)
{
	bool going = true;

	while (going) {
		const struct flow_row *a = flow_rows_at(&c->side[0], 0);
		const struct flow_row *b = flow_rows_at(&c->side[1], 0);
		uint64_t end_a, end_b;

		if (c->facts)
			see_facts(c);
		if (a == NULL && b == NULL)
			break;
		if (a == NULL || b == NULL || !same(a, b, c->forgot)) {
			going = differ(c);
			continue;
		}
		end_a = flow_row_is_loss(a) ? a->detail.gap.end : 0;
		end_b = flow_row_is_loss(b) ? b->detail.gap.end : 0;
		c->facts = c->facts && !flow_row_is_loss(a);
		c->forgot = forgets(a, c->forgot);
		flow_rows_take(&c->side[0], 1);
		flow_rows_take(&c->side[1], 1);
		if (end_a != end_b)
			going = go_on(c, end_a, end_b);
	}
	if (going)
		end_facts(c);
}

static bool
compare_one(struct hwtd_trace *trace, const struct hwtd_events_options *how,
    const char *const engines[2], FILE *out)
{
	struct compare c = { .trace = trace,
		.engines = engines,
		.out = out,
		.facts = true };

	for (unsigned int i = 0; i < 2; i++) {
		flow_rows_open(&c.side[i], trace, how, engines[i]);
		for (unsigned int name = 0; name < FLOW_FACTS; name++)
			c.now[i][name] = UINT64_MAX;
		/* No transaction is what holds at the start. */
		c.now[i][FLOW_FACT_TRANSACTION] = 0;
	}
	compare_stream(&c);
	fprintf(out,
	    "compared: %" PRIu64 " instructions, %" PRIu64 " differ\n",
	    c.side[0].insns, c.n_differ);
	for (unsigned int i = 0; i < 2; i++)
		flow_rows_close(&c.side[i]);
	for (unsigned int name = 0; name < FLOW_FACTS; name++)
		free(c.ahead[name].values);
	return (c.n_differ == 0);
}

bool
flow_compare(struct hwtd_trace *trace, const struct hwtd_events_options *how,
    const char *const engines[2], FILE *out)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_events_options options = *how;
	bool good = true;

	if (options.n_streams > 0)
		return (compare_one(trace, &options, engines, out));
	if (hwtd_trace_info(trace, &info) != HWTD_OK)
		flow_die("no streams");
	/* Streams are merged by time, which is not compared. */
	for (uint32_t stream = 0; stream < info.n_streams; stream++) {
		options.streams = &stream;
		options.n_streams = 1;
		good = compare_one(trace, &options, engines, out) && good;
	}
	return (good);
}
