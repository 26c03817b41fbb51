/*
 * Tables of samples: rows come out, sorted.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/memory/memory_internal.h"
#include "base/fail.h"
#include "base/sort.h"

/* Sorting. */

#define SORT_KEYS 4

/* A row while it is sorted: by `keys`, highest first, then by what it is. */
struct sorted {
	uint64_t keys[SORT_KEYS];
	const struct hwtdi_memory_data *row;
	const struct hwtdi_text_pool *names;
	uint32_t no;
	bool by_symbol;
};

/* A mean with 8 bits behind the point. */
static uint64_t
mean_of(const struct hwtdi_latency *l)
{
	return (l->n == 0 ? 0 : (l->sum << 8) / l->n);
}

static void
set_keys(struct sorted *s, uint32_t sort)
{
	static const uint8_t counts[HWTD_MEMORY_SORTS] = {
		[HWTD_MEMORY_BY_L1_MISSES] = HWTDI_MC_L1_MISSES,
		[HWTD_MEMORY_BY_LLC_MISSES] = HWTDI_MC_LLC_MISSES,
		[HWTD_MEMORY_BY_TLB_MISSES] = HWTDI_MC_TLB_MISSES,
		[HWTD_MEMORY_BY_REMOTE] = HWTDI_MC_REMOTE,
		[HWTD_MEMORY_BY_MISPREDICTED] = HWTDI_MC_MISPREDICTED,
		[HWTD_MEMORY_BY_TRANSFERS] = HWTDI_MC_TRANSFERS,
	};
	const struct hwtdi_memory_data *row = s->row;
	const struct hwtdi_latency *total = &row->latency[HWTD_MEMORY_TOTAL];
	const uint64_t samples = row->counts[HWTDI_MC_SAMPLES];

	switch (sort) {
	case HWTD_MEMORY_BY_SAMPLES:
		s->keys[0] = samples;
		break;
	case HWTD_MEMORY_BY_WEIGHT:
		s->keys[0] = row->weight;
		break;
	case HWTD_MEMORY_BY_LATENCY:
		s->keys[0] = total->sum + total->saturated_sum;
		break;
	case HWTD_MEMORY_BY_MAX:
		s->keys[0] = total->n_saturated != 0 ? total->limit
						     : total->max;
		s->keys[1] = total->n_saturated;
		break;
	case HWTD_MEMORY_BY_MEAN:
		s->keys[0] = mean_of(total);
		break;
	case HWTD_MEMORY_BY_SHARING:
		s->keys[0] = row->line.sharing != HWTD_MEMORY_SHARING_NONE;
		s->keys[1] = row->counts[HWTDI_MC_TRANSFERS];
		s->keys[2] = row->counts[HWTDI_MC_L1_MISSES];
		s->keys[3] = samples;
		break;
	case HWTD_MEMORY_BY_KEY:
		break;
	default:
		s->keys[0] = row->counts[counts[sort]];
		s->keys[1] = samples;
		break;
	}
}

#define COMPARE(a, b)                                                         \
	do {                                                                  \
		if ((a) != (b))                                               \
			return ((a) < (b) ? -1 : 1);                          \
	} while (0)

/* By what they are: the same whatever order they were made in. */
static int
compare_rows(const struct sorted *sa, const struct sorted *sb)
{
	const struct hwtdi_memory_key *a = &sa->row->key, *b = &sb->row->key;
	int order;

	order = hwtdi_text_pool_compare(sa->names, a->name, b->name);
	if (order == 0 && sa->by_symbol)
		order = hwtdi_text_pool_compare(sa->names, (uint32_t)a->a,
		    (uint32_t)b->a);
	if (order != 0)
		return (order);
	if (!sa->by_symbol)
		COMPARE(a->a, b->a);
	COMPARE(a->b, b->b);
	COMPARE(a->c, b->c);
	COMPARE(a->d, b->d);
	COMPARE(a->e, b->e);
	COMPARE(a->flags, b->flags);
	return (0);
}

static int
compare(const void *va, const void *vb)
{
	const struct sorted *a = va, *b = vb;
	const bool a_is_other = (a->row->key.flags & HWTD_MEMORY_ROW_OTHER) !=
	    0;
	const bool b_is_other = (b->row->key.flags & HWTD_MEMORY_ROW_OTHER) !=
	    0;

	if (a_is_other != b_is_other)
		return (a_is_other ? 1 : -1);
	for (size_t i = 0; i < SORT_KEYS; i++)
		COMPARE(b->keys[i], a->keys[i]);
	return (compare_rows(a, b));
}

static int
sort_rows(struct hwtd_memory *memory, uint32_t table, uint32_t sort,
    struct hwtd_error *err)
{
	struct hwtdi_memory_rows *rows = &memory->tables[table];
	struct sorted *s;
	int rc;

	rc = hwtdi_array_grow(memory->library, &rows->order, &rows->cap_order,
	    rows->n, sizeof(*rows->order), err);
	if (rc != HWTD_OK)
		return (rc);
	s = hwtdi_zalloc(memory->library, rows->n * sizeof(*s));
	if (s == NULL)
		return (hwtdi_fail_nomem(err, rows->n * sizeof(*s)));
	for (size_t i = 0; i < rows->n; i++) {
		s[i].row = &rows->at[i];
		s[i].names = &memory->names;
		s[i].no = (uint32_t)i;
		s[i].by_symbol = table == HWTD_MEMORY_SYMBOL;
		set_keys(&s[i], sort);
	}
	rc = hwtdi_sort(memory->library, s, rows->n, sizeof(*s), compare, err);
	for (size_t i = 0; i < rows->n; i++)
		rows->order[i] = s[i].no;
	rows->n_order = rows->n;
	rows->sorted = rc == HWTD_OK;
	hwtdi_free(memory->library, s, rows->n * sizeof(*s));
	return (rc);
}

int
hwtd_memory_sort(struct hwtd_memory *memory, uint32_t table, uint32_t sort,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (memory == NULL || table >= HWTD_MEMORY_TABLES ||
	    sort >= HWTD_MEMORY_SORTS ||
	    (sort == HWTD_MEMORY_BY_SHARING && table != HWTD_MEMORY_LINE))
		return (hwtdi_fail(err, HWTD_E_INVALID, "table %u, sort %u",
		    table, sort));
	if (!hwtdi_memory_has(memory, table))
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "the table by %s was not asked for",
		    hwtd_memory_table_name(table)));
	if (sort == HWTD_MEMORY_BY_SHARING &&
	    (memory->options.flags & HWTD_MEMORY_KEEP_ACCESSES) == 0)
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "accesses were not kept"));
	memory->tables[table].sorted = false;
	if (table == HWTD_MEMORY_LINE)
		rc = hwtdi_accesses_judge(&memory->accesses, memory->library,
		    &memory->tables[table], err);
	return (rc == HWTD_OK ? sort_rows(memory, table, sort, err) : rc);
}

/* Reading. */

/* HWTD_OK, and the table if it can be read. */
static int
check_read(const struct hwtd_memory *memory, uint32_t table, const void *out,
    size_t stride, size_t cap, size_t *n_out,
    const struct hwtdi_memory_rows **rows_out)
{
	if (n_out != NULL)
		*n_out = 0;
	if (memory == NULL || out == NULL || n_out == NULL || cap == 0 ||
	    stride == 0 || stride % 8 != 0 || table >= HWTD_MEMORY_TABLES)
		return (HWTD_E_INVALID);
	if (!hwtdi_memory_has(memory, table))
		return (HWTD_E_NOT_FOUND);
	*rows_out = &memory->tables[table];
	return ((*rows_out)->sorted ? HWTD_OK : HWTD_E_STATE);
}

/* Into the caller's element, which may be of another version. */
static void
put(void *out, size_t stride, size_t i, const void *from, size_t n)
{
	char *at = (char *)out + i * stride;

	memset(at, 0, stride);
	memcpy(at, from, n < stride ? n : stride);
}

const char *
hwtdi_memory_source_name(uint32_t family, bool of_stores, uint64_t source)
{
	/* What these CPUs tell there of stores means nothing. */
	if (of_stores &&
	    (family == HWTDI_SPE_FAMILY_ARM ||
		family == HWTDI_SPE_FAMILY_ARM_ASSUMED))
		return (NULL);
	return (hwtdi_spe_source_name((enum hwtdi_spe_family)family, source));
}

/* Latencies of samples have 32 bits at most. */
static void
read_latency(const struct hwtdi_latency *l, struct hwtd_memory_latency *out)
{
	bool more;

	out->n = l->n;
	out->sum = l->sum;
	out->n_saturated = l->n_saturated;
	out->saturated_sum = l->saturated_sum;
	out->min = (uint32_t)l->min;
	out->max = (uint32_t)l->max;
	out->p50 = (uint32_t)hwtdi_latency_percentile(l, 50, &more);
	out->at_least |= more ? 1u : 0u;
	out->p90 = (uint32_t)hwtdi_latency_percentile(l, 90, &more);
	out->at_least |= more ? 2u : 0u;
	out->p99 = (uint32_t)hwtdi_latency_percentile(l, 99, &more);
	out->at_least |= more ? 4u : 0u;
	out->longest = (uint32_t)hwtdi_latency_longest(l, &more);
	out->at_least |= more ? 8u : 0u;
}

static void
read_counts(const struct hwtdi_memory_data *row, struct hwtd_memory_row *out)
{
	const uint64_t *counts = row->counts;

	out->samples = counts[HWTDI_MC_SAMPLES];
	out->weight = row->weight;
	out->loads = counts[HWTDI_MC_LOADS];
	out->stores = counts[HWTDI_MC_STORES];
	out->atomics = counts[HWTDI_MC_ATOMICS];
	out->branches = counts[HWTDI_MC_BRANCHES];
	out->others = counts[HWTDI_MC_OTHERS];
	out->taken = counts[HWTDI_MC_TAKEN];
	out->mispredicted = counts[HWTDI_MC_MISPREDICTED];
	out->not_retired = counts[HWTDI_MC_NOT_RETIRED];
	out->exceptions = counts[HWTDI_MC_EXCEPTIONS];
	out->l1_accesses = counts[HWTDI_MC_L1_ACCESSES];
	out->l1_misses = counts[HWTDI_MC_L1_MISSES];
	out->l2_accesses = counts[HWTDI_MC_L2_ACCESSES];
	out->l2_misses = counts[HWTDI_MC_L2_MISSES];
	out->llc_accesses = counts[HWTDI_MC_LLC_ACCESSES];
	out->llc_misses = counts[HWTDI_MC_LLC_MISSES];
	out->tlb_accesses = counts[HWTDI_MC_TLB_ACCESSES];
	out->tlb_misses = counts[HWTDI_MC_TLB_MISSES];
	out->misaligned = counts[HWTDI_MC_MISALIGNED];
	out->remote = counts[HWTDI_MC_REMOTE];
	out->transfers = counts[HWTDI_MC_TRANSFERS];
	out->modified = counts[HWTDI_MC_MODIFIED];
	for (size_t i = 0; i < HWTD_MEMORY_LEVELS; i++) {
		out->at_level[i] = counts[HWTDI_MC_AT_LEVEL + i];
		out->missed_level[i] = counts[HWTDI_MC_MISSED_LEVEL + i];
	}
	for (size_t i = 0; i < HWTD_MEMORY_LATENCIES; i++)
		read_latency(&row->latency[i], &out->latency[i]);
}

/* Byte of the symbol, or of the file. */
static uint64_t
off_of(const struct hwtdi_memory_place *place)
{
	if (place->symbol != 0)
		return (place->symbol_off);
	return (place->image != 0 ? place->file_off : 0);
}

static void
read_place(const struct hwtd_memory *memory,
    const struct hwtdi_memory_data *row, struct hwtd_memory_row *out)
{
	out->image = hwtdi_text_pool_get(&memory->names, row->place.image);
	out->symbol = hwtdi_text_pool_get(&memory->names, row->place.symbol);
	out->symbol_off = off_of(&row->place);
}

/* What the row is, by table. */
static void
read_key(const struct hwtd_memory *memory, uint32_t table,
    const struct hwtdi_memory_data *row, struct hwtd_memory_row *out)
{
	const struct hwtdi_memory_key *key = &row->key;

	out->flags = key->flags;
	if ((key->flags & HWTD_MEMORY_ROW_OTHER) != 0)
		return;
	switch (table) {
	case HWTD_MEMORY_SYMBOL:
		read_place(memory, row, out);
		out->symbol_off = row->place.symbol_address;
		break;
	case HWTD_MEMORY_INSN:
		read_place(memory, row, out);
		if ((key->flags & HWTD_MEMORY_ROW_ADDRESS) != 0)
			out->address = row->address;
		break;
	case HWTD_MEMORY_ADDRESS:
	case HWTD_MEMORY_PAGE:
	case HWTD_MEMORY_LINE:
		out->address = key->a;
		out->pid = key->d;
		break;
	case HWTD_MEMORY_SOURCE:
		out->source = key->a;
		if ((key->flags & HWTD_MEMORY_ROW_SOURCE) != 0)
			out->source_name = hwtdi_memory_source_name(key->d,
			    (key->flags & HWTD_MEMORY_ROW_STORES) != 0,
			    key->a);
		break;
	case HWTD_MEMORY_CPU:
		out->cpu = key->d;
		break;
	case HWTD_MEMORY_THREAD:
		out->pid = key->d;
		out->tid = key->e;
		break;
	default:
		read_place(memory, row, out);
		out->address = key->a;
		out->to = key->b;
		out->prev_target = key->c;
		break;
	}
}

int
hwtd_memory_read(const struct hwtd_memory *memory, uint32_t table,
    uint64_t first, struct hwtd_memory_row *out, size_t stride, size_t cap,
    size_t *n_out)
{
	const struct hwtdi_memory_rows *rows;
	struct hwtd_memory_row row;
	int rc;

	rc = check_read(memory, table, out, stride, cap, n_out, &rows);
	if (rc != HWTD_OK)
		return (rc);
	if (first >= rows->n)
		return (HWTD_END);
	while (*n_out < cap && first + *n_out < rows->n) {
		const struct hwtdi_memory_data
		    *data = &rows->at[rows->order[first + *n_out]];

		memset(&row, 0, sizeof(row));
		row.cpu = row.pid = row.tid = HWTD_NO_ID;
		read_key(memory, table, data, &row);
		read_counts(data, &row);
		row.sharing = data->line.sharing;
		row.users = data->line.users;
		row.writers = data->line.writers;
		row.cpus = data->line.cpus;
		put(out, stride, (*n_out)++, &row, sizeof(row));
	}
	return (HWTD_OK);
}

int
hwtd_memory_histogram(const struct hwtd_memory *memory, uint32_t table,
    uint64_t row, uint32_t kind, uint64_t first,
    struct hwtd_memory_bucket *out, size_t stride, size_t cap, size_t *n_out)
{
	const struct hwtdi_memory_rows *rows;
	const struct hwtdi_latency *l;
	int rc;

	rc = check_read(memory, table, out, stride, cap, n_out, &rows);
	if (rc != HWTD_OK)
		return (rc);
	if (kind >= HWTD_MEMORY_LATENCIES)
		return (HWTD_E_INVALID);
	if (row >= rows->n)
		return (HWTD_END);
	l = &rows->at[rows->order[row]].latency[kind];
	if (first >= l->n_buckets)
		return (HWTD_END);
	while (*n_out < cap && first + *n_out < l->n_buckets) {
		const struct hwtdi_latency_bucket
		    *b = &l->buckets[first + *n_out];
		struct hwtd_memory_bucket bucket = { .n = b->n };
		uint64_t low, last;

		hwtdi_latency_range(b->bucket, &low, &last);
		bucket.first = (uint32_t)low;
		bucket.end = (uint32_t)last + 1;
		put(out, stride, (*n_out)++, &bucket, sizeof(bucket));
	}
	return (HWTD_OK);
}

static void
read_access(const struct hwtd_memory *memory, const struct hwtdi_access *a,
    struct hwtd_memory_access *out)
{
	memset(out, 0, sizeof(*out));
	out->offset = a->key.offset;
	out->cpu = a->key.cpu;
	out->pid = a->key.pid;
	out->tid = a->key.tid;
	out->flags = a->key.flags;
	out->pc = a->key.pc;
	out->source = a->key.source;
	out->loads = a->loads;
	out->stores = a->stores;
	out->transfers = a->transfers;
	out->latency = a->latency;
	if ((a->key.flags & HWTD_MEMORY_ROW_SOURCE) != 0)
		out->source_name = hwtdi_memory_source_name(a->key.family,
		    a->loads == 0, a->key.source);
	out->image = hwtdi_text_pool_get(&memory->names, a->place.image);
	out->symbol = hwtdi_text_pool_get(&memory->names, a->place.symbol);
	out->symbol_off = off_of(&a->place);
}

int
hwtd_memory_accesses(const struct hwtd_memory *memory, uint64_t row,
    uint64_t first, struct hwtd_memory_access *out, size_t stride, size_t cap,
    size_t *n_out)
{
	const struct hwtdi_accesses *accesses;
	const struct hwtdi_memory_rows *rows;
	const struct hwtdi_memory_line *line;
	struct hwtd_memory_access access;
	int rc;

	rc = check_read(memory, HWTD_MEMORY_LINE, out, stride, cap, n_out,
	    &rows);
	if (rc != HWTD_OK)
		return (rc);
	accesses = &memory->accesses;
	if (accesses->n != 0 && accesses->n_order != accesses->n)
		return (HWTD_E_STATE);
	if (row >= rows->n)
		return (HWTD_END);
	line = &rows->at[rows->order[row]].line;
	if (first >= line->end - line->first)
		return (HWTD_END);
	while (*n_out < cap && line->first + first + *n_out < line->end) {
		const uint32_t no = accesses
					->order[line->first + first + *n_out];

		read_access(memory, &accesses->at[no], &access);
		put(out, stride, (*n_out)++, &access, sizeof(access));
	}
	return (HWTD_OK);
}

/* Names. */

static const char *
name_of(const char *const *names, size_t n, uint32_t i)
{
	return (i < n ? names[i] : "unknown");
}

#define NAME(names, i) name_of(names, sizeof(names) / sizeof((names)[0]), i)

const char *
hwtd_memory_table_name(uint32_t table)
{
	static const char *const names[HWTD_MEMORY_TABLES] = { "symbol",
		"insn", "address", "page", "line", "source", "cpu", "thread",
		"branch", "path" };

	return (NAME(names, table));
}

const char *
hwtd_memory_level_name(uint32_t level)
{
	return (hwtdi_spe_level_name(level));
}

const char *
hwtd_memory_sharing_name(uint32_t sharing)
{
	static const char *const names[] = { "none", "false", "true",
		"mixed" };

	return (NAME(names, sharing));
}

const char *
hwtd_memory_sort_name(uint32_t sort)
{
	static const char *const names[HWTD_MEMORY_SORTS] = { "samples",
		"weight", "latency", "max", "mean", "l1-misses", "llc-misses",
		"tlb-misses", "remote", "mispredicted", "transfers", "sharing",
		"key" };

	return (NAME(names, sort));
}
