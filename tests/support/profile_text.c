/*
 * Profiles as text.
 */
#include "support/profile_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
	char *at;
	size_t n, cap;
};

static void __attribute__((format(printf, 2, 3)))
put(struct text *t, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (n < 0)
		abort();
	if (t->n + (size_t)n + 1 > t->cap) {
		t->cap = t->cap * 2 + (size_t)n + 4096;
		t->at = realloc(t->at, t->cap);
		if (t->at == NULL)
			abort();
	}
	va_start(args, fmt);
	(void)vsnprintf(t->at + t->n, t->cap - t->n, fmt, args);
	va_end(args);
	t->n += (size_t)n;
}

static const char *
shown(const char *text)
{
	return (text != NULL ? text : "(none)");
}

static void
put_sums(struct text *t, const struct hwtd_profile_sums *s)
{
	put(t, " [%llu %llu %llu %llu %llu %llu %llu %llu]",
	    (unsigned long long)s->calls, (unsigned long long)s->insns,
	    (unsigned long long)s->cycles, (unsigned long long)s->ns,
	    (unsigned long long)s->gap_ns, (unsigned long long)s->off_ns,
	    (unsigned long long)s->gap_bytes, (unsigned long long)s->gaps);
}

static int
put_info(struct text *t, struct hwtd_profile *p, unsigned int without)
{
	struct hwtd_profile_info info = { .size = sizeof(info) };
	int rc = hwtd_profile_info(p, &info);

	if (rc != HWTD_OK)
		return (rc);
	put(t, "%u images %u functions %u threads %u nodes %llu blocks\n",
	    info.n_images, info.n_functions, info.n_threads, info.n_nodes,
	    (unsigned long long)info.n_blocks);
	if ((without & PROFILE_TEXT_NO_EDGES) == 0)
		put(t, "%llu edges\n", (unsigned long long)info.n_edges);
	put(t, "idle %llu others %llu without %llu %llu",
	    (unsigned long long)info.idle_ns, (unsigned long long)info.others,
	    (unsigned long long)info.without_function,
	    (unsigned long long)info.without_line);
	put_sums(t, &info.total);
	put(t, "\n");
	if ((without & PROFILE_TEXT_NO_SEEN) != 0)
		return (HWTD_OK);
	for (size_t i = 0; i < HWTD_PROFILE_SOURCES; i++) {
		const struct hwtd_profile_seen *s = &info.seen[i];

		put(t, "seen %llu %llu %llu %llu %llu",
		    (unsigned long long)s->added, (unsigned long long)s->bytes,
		    (unsigned long long)s->insns,
		    (unsigned long long)s->gap_bytes,
		    (unsigned long long)s->file_gap_bytes);
		for (size_t k = 0; k < HWTD_GAP_REASONS; k++)
			put(t, " %llu/%llu", (unsigned long long)s->gaps[k],
			    (unsigned long long)s->gap_bytes_by_reason[k]);
		put(t, "\n");
	}
	return (HWTD_OK);
}

static int
put_things(struct text *t, struct hwtd_profile *p)
{
	struct hwtd_profile_image image = { .size = sizeof(image) };
	struct hwtd_profile_function f = { .size = sizeof(f) };
	struct hwtd_profile_thread thread = { .size = sizeof(thread) };
	int rc;

	for (uint32_t i = 0;
	     (rc = hwtd_profile_image(p, i, &image)) == HWTD_OK; i++)
		put(t, "image %s %u %02x%02x %u\n", shown(image.name),
		    image.n_build_id, image.build_id[0], image.build_id[19],
		    image.flags);
	if (rc != HWTD_END)
		return (rc);
	for (uint32_t i = 0; (rc = hwtd_profile_function(p, i, &f)) == HWTD_OK;
	     i++)
		put(t, "function %s %s %s:%u image %u +%llx %llu %x %llx\n",
		    shown(f.name), shown(f.linkage_name), shown(f.file),
		    f.line, f.image, (unsigned long long)f.file_off,
		    (unsigned long long)f.bytes, f.flags,
		    (unsigned long long)f.link_address);
	if (rc != HWTD_END)
		return (rc);
	for (uint32_t i = 0;
	     (rc = hwtd_profile_thread(p, i, &thread)) == HWTD_OK; i++)
		put(t, "thread %s %u %u %u idle %llu\n", shown(thread.name),
		    thread.pid, thread.tid, thread.stream,
		    (unsigned long long)thread.idle_ns);
	return (rc == HWTD_END ? HWTD_OK : rc);
}

static int
put_nodes(struct text *t, struct hwtd_profile *p)
{
	struct hwtd_profile_node nodes[3];
	uint64_t first = 0;
	size_t n;
	int rc;

	while ((rc = hwtd_profile_nodes(p, first, nodes, sizeof(nodes[0]), 3,
		    &n)) == HWTD_OK) {
		for (size_t i = 0; i < n; i++) {
			put(t, "node %llu of %u: %u %u %u %u %u",
			    (unsigned long long)(first + i), nodes[i].parent,
			    nodes[i].function, nodes[i].thread, nodes[i].type,
			    nodes[i].flags, nodes[i].depth);
			put_sums(t, &nodes[i].self);
			put_sums(t, &nodes[i].total);
			put(t, "\n");
		}
		first += n;
	}
	return (rc == HWTD_END ? HWTD_OK : rc);
}

static int
put_code(struct text *t, struct hwtd_profile *p, unsigned int without)
{
	struct hwtd_profile_block b;
	struct hwtd_profile_edge e;
	size_t n;
	int rc;

	for (uint64_t i = 0;
	     (rc = hwtd_profile_blocks(p, i, &b, sizeof(b), 1, &n)) == HWTD_OK;
	     i++)
		put(t, "block %u %u +%llx %llu: %u %u %u %u %s:%u %u %u %u\n",
		    b.image, b.generation, (unsigned long long)b.file_off,
		    (unsigned long long)b.count, b.bytes, b.insns, b.function,
		    b.inlined, shown(b.file), b.line, b.branch, b.isa,
		    b.last_bytes);
	if (rc != HWTD_END)
		return (rc);
	if ((without & PROFILE_TEXT_NO_EDGES) != 0)
		return (HWTD_OK);
	for (uint64_t i = 0;
	     (rc = hwtd_profile_edges(p, i, &e, sizeof(e), 1, &n)) == HWTD_OK;
	     i++)
		put(t, "edge %u+%llx %u+%llx %llu %u %u %u %u\n", e.from_image,
		    (unsigned long long)e.from_off, e.to_image,
		    (unsigned long long)e.to_off, (unsigned long long)e.count,
		    e.from_function, e.to_function, e.branch, e.flags);
	return (rc == HWTD_END ? HWTD_OK : rc);
}

static int
put_rows(struct text *t, struct hwtd_profile *p)
{
	struct hwtd_profile_row row;
	size_t n;
	int rc = HWTD_END;

	for (uint32_t by = 0; by < HWTD_PROFILE_BYS && rc == HWTD_END; by++) {
		put(t, "by %s\n", hwtd_profile_by_name(by));
		for (uint64_t i = 0; (rc = hwtd_profile_rows(p, by, i, &row,
					  sizeof(row), 1, &n)) == HWTD_OK;
		     i++) {
			put(t, "%u %u %u %u %u %u %s:%u %u +%llx %llu %llu",
			    row.function, row.image, row.thread, row.cpu,
			    row.flags, row.type, shown(row.file), row.line,
			    row.bytes, (unsigned long long)row.file_off,
			    (unsigned long long)row.insns,
			    (unsigned long long)row.entered);
			put_sums(t, &row.self);
			put_sums(t, &row.total);
			put(t, "\n");
		}
	}
	return (rc == HWTD_END ? HWTD_OK : rc);
}

static int
put_relatives(struct text *t, struct hwtd_profile *p, unsigned int without)
{
	struct hwtd_profile_function f = { .size = sizeof(f) };
	struct hwtd_profile_relative r;
	size_t n;
	int rc = HWTD_END;

	for (uint32_t id = 0; rc == HWTD_END &&
	     (rc = hwtd_profile_function(p, id, &f)) == HWTD_OK;
	     id++)
		for (uint32_t side = 0; side < 2; side++)
			for (uint64_t i = 0;
			     (rc = hwtd_profile_relatives(p, id, side, i, &r,
				  sizeof(r), 1, &n)) == HWTD_OK;
			     i++) {
				if ((without & PROFILE_TEXT_NO_EDGES) != 0 &&
				    r.sums.calls == 0)
					continue;
				put(t, "%s %u: %u %u %llu",
				    side == 0 ? "caller of" : "callee of", id,
				    r.function, r.type,
				    (without & PROFILE_TEXT_NO_EDGES) != 0
					? 0ull
					: (unsigned long long)r.branches);
				put_sums(t, &r.sums);
				put(t, "\n");
			}
	return (rc == HWTD_END ? HWTD_OK : rc);
}

char *
profile_text(struct hwtd_profile *profile, unsigned int without, int *rc_out)
{
	struct text t = { .n = 0 };
	int rc = put_info(&t, profile, without);

	if (rc == HWTD_OK)
		rc = put_things(&t, profile);
	if (rc == HWTD_OK)
		rc = put_nodes(&t, profile);
	if (rc == HWTD_OK)
		rc = put_code(&t, profile, without);
	if (rc == HWTD_OK)
		rc = put_rows(&t, profile);
	if (rc == HWTD_OK)
		rc = put_relatives(&t, profile, without);
	*rc_out = rc;
	if (rc == HWTD_OK)
		return (t.at);
	free(t.at);
	return (NULL);
}

bool
profile_same(struct hwtd_profile *a, struct hwtd_profile *b,
    unsigned int without, char *why, size_t n)
{
	char *ta, *tb;
	size_t i = 0, line = 0;
	int rc_a, rc_b;
	bool same;

	ta = profile_text(a, without, &rc_a);
	tb = profile_text(b, without, &rc_b);
	if (ta == NULL || tb == NULL) {
		(void)snprintf(why, n, "readers failed: %d, %d", rc_a, rc_b);
		free(ta);
		free(tb);
		return (false);
	}
	for (; ta[i] != '\0' && ta[i] == tb[i]; i++)
		if (ta[i] == '\n')
			line = i + 1;
	same = ta[i] == tb[i];
	if (!same)
		(void)snprintf(why, n,
		    "they differ from here on:\n%.400s\n---\n%.400s",
		    ta + line, tb + line);
	free(ta);
	free(tb);
	return (same);
}
