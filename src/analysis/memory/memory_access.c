/*
 * Accesses to cache lines, and how lines are shared.
 */
#include "analysis/memory/memory_access.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/sort.h"

_Static_assert(sizeof(struct hwtdi_access_key) == 48, "no padding");

int
hwtdi_access_add(struct hwtdi_accesses *accesses, struct hwtd_context *ctx,
    const struct hwtdi_access *access, uint32_t max, struct hwtd_error *err)
{
	const struct hwtdi_access_key *key = &access->key;
	const uint64_t hash = hwtdi_hash(ctx, key, sizeof(*key));
	struct hwtdi_access *a;
	size_t tries = 0;
	uint32_t no;
	int rc;

	accesses->n_order = 0;
	while (hwtdi_index_next(&accesses->index, hash, &tries, &no)) {
		a = &accesses->at[no];
		if (memcmp(&a->key, key, sizeof(*key)) != 0)
			continue;
		a->loads += access->loads;
		a->stores += access->stores;
		a->transfers += access->transfers;
		a->latency += access->latency;
		return (HWTD_OK);
	}
	if (accesses->n >= max) {
		accesses->lost += access->loads + access->stores;
		return (HWTD_OK);
	}
	rc = hwtdi_index_reserve(&accesses->index, ctx, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ctx, &accesses->at, &accesses->cap,
		    accesses->n + 1, sizeof(*accesses->at), err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_index_put(&accesses->index, hash, (uint32_t)accesses->n);
	accesses->at[accesses->n++] = *access;
	return (HWTD_OK);
}

void
hwtdi_accesses_fini(struct hwtdi_accesses *accesses, struct hwtd_context *ctx)
{
	hwtdi_array_free(ctx, accesses->at, accesses->cap,
	    sizeof(*accesses->at));
	hwtdi_array_free(ctx, accesses->order, accesses->cap_order,
	    sizeof(*accesses->order));
	hwtdi_index_fini(&accesses->index, ctx);
	memset(accesses, 0, sizeof(*accesses));
}

/* An access while they are sorted; `user` is who made it. */
struct sorted {
	const struct hwtdi_access *access;
	uint64_t user;
	uint32_t no;
};

#define COMPARE(a, b)                                                         \
	do {                                                                  \
		if ((a) != (b))                                               \
			return ((a) < (b) ? -1 : 1);                          \
	} while (0)

static int
by_line(const void *va, const void *vb)
{
	const struct hwtdi_access_key *a = &((const struct sorted *)va)
						->access->key;
	const struct hwtdi_access_key *b = &((const struct sorted *)vb)
						->access->key;

	COMPARE(a->line, b->line);
	COMPARE(a->offset, b->offset);
	COMPARE(a->pid, b->pid);
	COMPARE(a->tid, b->tid);
	COMPARE(a->cpu, b->cpu);
	COMPARE(a->pc, b->pc);
	COMPARE(a->source, b->source);
	COMPARE(a->flags, b->flags);
	COMPARE(a->family, b->family);
	return (0);
}

static int
by_user(const void *va, const void *vb)
{
	const struct sorted *a = va, *b = vb;

	COMPARE(a->user, b->user);
	COMPARE(a->access->key.cpu, b->access->key.cpu);
	return (0);
}

static int
by_cpu(const void *va, const void *vb)
{
	const struct sorted *a = va, *b = vb;

	COMPARE(a->access->key.cpu, b->access->key.cpu);
	return (0);
}

/* A thread; where that is not known, a CPU. */
static uint64_t
user_of(const struct hwtdi_access_key *key)
{
	if (key->tid != HWTD_NO_ID)
		return ((uint64_t)key->pid << 32 | key->tid);
	return (UINT64_MAX << 32 | key->cpu);
}

/* How those at one byte of a line share it; users are neighbours in order. */
static uint32_t
judge_byte(const struct sorted *s, size_t n)
{
	bool written = false, shared = false;

	for (size_t i = 0; i < n; i++) {
		written |= s[i].access->stores != 0;
		shared |= s[i].user != s[0].user;
	}
	if (!written)
		return (HWTD_MEMORY_SHARING_NONE);
	return (shared ? HWTD_MEMORY_SHARING_TRUE : HWTD_MEMORY_SHARING_FALSE);
}

static void
judge_line(struct hwtdi_memory_line *line, struct sorted *s, size_t n)
{
	uint32_t how = HWTD_MEMORY_SHARING_NONE;
	size_t end;

	for (size_t i = 0; i < n; i = end) {
		end = i + 1;
		while (end < n &&
		    s[end].access->key.offset == s[i].access->key.offset)
			end++;
		how |= judge_byte(s + i, end - i);
	}
	/* What is left does not need their order. */
	qsort(s, n, sizeof(*s), by_cpu);
	for (size_t i = 0; i < n; i++)
		line->cpus += s[i].access->key.cpu != HWTD_NO_ID &&
		    (i == 0 ||
			s[i].access->key.cpu != s[i - 1].access->key.cpu);
	qsort(s, n, sizeof(*s), by_user);
	for (size_t i = 0; i < n; i = end) {
		bool writes = false;

		for (end = i; end < n && s[end].user == s[i].user; end++)
			writes |= s[end].access->stores != 0;
		line->users++;
		line->writers += writes;
	}
	/* A byte that only its writer touches is no trouble to one user. */
	line->sharing = line->users < 2 ? HWTD_MEMORY_SHARING_NONE : how;
}

_Static_assert((HWTD_MEMORY_SHARING_FALSE | HWTD_MEMORY_SHARING_TRUE) ==
	HWTD_MEMORY_SHARING_MIXED,
    "how bytes are shared adds up");

int
hwtdi_accesses_judge(struct hwtdi_accesses *accesses, struct hwtd_context *ctx,
    struct hwtdi_memory_rows *lines, struct hwtd_error *err)
{
	const size_t n = accesses->n;
	struct sorted *s;
	size_t end;
	int rc;

	for (size_t i = 0; i < lines->n; i++)
		memset(&lines->at[i].line, 0, sizeof(lines->at[i].line));
	if (n == 0)
		return (HWTD_OK);
	rc = hwtdi_array_grow(ctx, &accesses->order, &accesses->cap_order, n,
	    sizeof(*accesses->order), err);
	if (rc != HWTD_OK)
		return (rc);
	s = hwtdi_alloc(ctx, n * sizeof(*s));
	if (s == NULL)
		return (hwtdi_fail_nomem(err, n * sizeof(*s)));
	for (size_t i = 0; i < n; i++) {
		s[i].access = &accesses->at[i];
		s[i].user = user_of(&accesses->at[i].key);
		s[i].no = (uint32_t)i;
	}
	rc = hwtdi_sort(ctx, s, n, sizeof(*s), by_line, err);
	for (size_t i = 0; i < n; i++)
		accesses->order[i] = s[i].no;
	accesses->n_order = n;
	for (size_t i = 0; i < n && rc == HWTD_OK; i = end) {
		struct hwtdi_memory_line
		    *line = &lines->at[s[i].access->key.line].line;

		end = i + 1;
		while (end < n &&
		    s[end].access->key.line == s[i].access->key.line)
			end++;
		line->first = (uint32_t)i;
		line->end = (uint32_t)end;
		judge_line(line, s + i, end - i);
		rc = hwtdi_poll(ctx, err);
	}
	hwtdi_free(ctx, s, n * sizeof(*s));
	return (rc);
}
