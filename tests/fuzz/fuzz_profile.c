/*
 * Fuzz harness of profiles: what is kept, with names of any bytes, and merging.  An
 * input is a byte of choices (bit 0: few nodes; bit 1: a root for each thread; the
 * rest: in which order parts are merged) and things that are added, each to a
 * profile of all and to one of three parts.
 *
 * The parts merged say what the whole does; tables add up to the same.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/profile/profile_store.h"
#include "fuzz.h"
#include "support/profile_text.h"

#define PARTS 3u
#define ALL (PARTS + 1u)
/* The last one is the whole. */
#define WHOLE PARTS
#define THINGS 32u
#define DEPTH 16u

/* Numbers of arrival of the same thing in each profile. */
struct thing {
	uint32_t no[ALL];
};

struct things {
	struct thing at[THINGS];
	size_t n;
};

/* Where the calls of a part are: in the whole, in the part. */
struct path {
	uint32_t at[DEPTH][2];
	size_t n;
};

struct run {
	struct hwtd_profile *p[ALL];
	struct things images, functions, threads, lines;
	struct path paths[PARTS];
	char name[300];
};

#define check(call)                                                           \
	do {                                                                  \
		const int rc_ = (call);                                       \
                                                                              \
		FUZZ_CHECK(rc_ == HWTD_OK, "it failed: %d", rc_);             \
	} while (0)

/* One of those that are there, or none. */
static const struct thing *
choose(const struct things *things, struct fuzz_in *in)
{
	static const struct thing none = { { HWTD_NO_ID, HWTD_NO_ID,
	    HWTD_NO_ID, HWTD_NO_ID } };
	const uint64_t i = fuzz_take(in, 1) % (things->n + 1);

	return (i == things->n ? &none : &things->at[i]);
}

static struct thing *
new_thing(struct things *things)
{
	return (things->n == THINGS ? NULL : &things->at[things->n++]);
}

/* Any bytes but NUL; sometimes a long one. */
static const char *
take_name(struct run *run, struct fuzz_in *in)
{
	size_t n = (size_t)fuzz_take(in, 1) % 12, i = 0;

	if (n == 11)
		n = sizeof(run->name) - 1;
	for (; i < n && in->left > 0; i++) {
		run->name[i] = (char)fuzz_take(in, 1);
		if (run->name[i] == '\0')
			break;
	}
	run->name[i] = '\0';
	return (i == 0 ? NULL : run->name);
}

static void
add_image(struct run *run, struct fuzz_in *in)
{
	struct hwtd_profile_image image = { .size = sizeof(image) };
	struct thing *t = new_thing(&run->images);

	if (t == NULL)
		return;
	image.name = take_name(run, in);
	image.n_build_id = (uint32_t)fuzz_take(in, 1) % 33;
	image.build_id[0] = (uint8_t)image.n_build_id;
	image.flags = (uint32_t)fuzz_take(in, 1) & 1;
	for (size_t i = 0; i < ALL; i++)
		check(hwtdi_profile_add_image(run->p[i], &image, &t->no[i],
		    NULL));
}

static void
add_function(struct run *run, struct fuzz_in *in)
{
	struct hwtd_profile_function f = { .size = sizeof(f) };
	const struct thing *image = choose(&run->images, in);
	struct thing *t = new_thing(&run->functions);

	if (t == NULL)
		return;
	f.name = take_name(run, in);
	f.file_off = fuzz_take(in, 1) & 31;
	f.flags = (uint32_t)fuzz_take(in, 1) & 15;
	f.bytes = fuzz_take(in, 1);
	f.line = (uint32_t)fuzz_take(in, 1) & 3;
	f.file = f.line == 3 ? "file" : NULL;
	f.linkage_name = f.line == 2 ? "linkage" : NULL;
	for (size_t i = 0; i < ALL; i++) {
		f.image = image->no[i];
		check(hwtdi_profile_add_function(run->p[i], &f, &t->no[i],
		    NULL));
	}
}

static void
add_thread(struct run *run, struct fuzz_in *in)
{
	struct hwtd_profile_thread thread = { .size = sizeof(thread) };
	struct thing *t = new_thing(&run->threads);

	if (t == NULL)
		return;
	thread.pid = (uint32_t)fuzz_take(in, 1) & 3;
	thread.tid = (uint32_t)fuzz_take(in, 1) & 3;
	thread.stream = HWTD_NO_ID;
	thread.name = take_name(run, in);
	for (size_t i = 0; i < ALL; i++)
		check(hwtdi_profile_add_thread(run->p[i], &thread, &t->no[i],
		    NULL));
}

static void
add_line(struct run *run, struct fuzz_in *in)
{
	struct thing *t = new_thing(&run->lines);
	const char *file;
	uint32_t line;

	if (t == NULL)
		return;
	file = take_name(run, in);
	line = (uint32_t)fuzz_take(in, 1);
	for (size_t i = 0; i < ALL; i++)
		check(hwtdi_profile_add_line(run->p[i], file, line, &t->no[i],
		    NULL));
}

/* A call in the one that runs, or of another thread. */
static void
add_call(struct run *run, uint32_t part, struct fuzz_in *in)
{
	const struct thing *function = choose(&run->functions, in);
	const struct thing *thread = choose(&run->threads, in);
	struct path *path = &run->paths[part];
	const uint32_t both[2] = { WHOLE, part };
	struct hwtd_profile_node node = {
		.self = { .calls = fuzz_take(in, 1),
		    .insns = fuzz_take(in, 8),
		    .ns = fuzz_take(in, 1),
		    .gap_bytes = fuzz_take(in, 1) }
	};
	uint32_t root;

	node.thread = HWTD_NO_ID;
	node.type = (uint32_t)fuzz_take(in, 1) % HWTD_CALL_TYPES;
	node.flags = (uint32_t)fuzz_take(in, 1) & HWTD_PROFILE_NODEF_UNTRACED;
	if (path->n == DEPTH)
		path->n = 0;
	for (size_t i = 0; i < 2; i++) {
		struct hwtd_profile *p = run->p[both[i]];

		if (path->n == 0)
			check(hwtdi_profile_add_root(p, thread->no[both[i]],
			    &root, NULL));
		node.parent = path->n == 0 ? root : path->at[path->n - 1][i];
		node.function = function->no[both[i]];
		check(hwtdi_profile_add_node(p, &node, &path->at[path->n][i],
		    NULL));
	}
	path->n++;
}

static void
add_code(struct run *run, uint32_t part, struct fuzz_in *in)
{
	const struct thing *image = choose(&run->images, in);
	const struct thing *function = choose(&run->functions, in);
	const struct thing *inlined = choose(&run->functions, in);
	const struct thing *line = choose(&run->lines, in);
	const uint32_t both[2] = { WHOLE, part };
	struct hwtdi_profile_code code = { .off = fuzz_take(in, 1) & 63,
		.count = fuzz_take(in, 1) };
	uint8_t lengths[8];

	code.insns = 1 + (uint32_t)fuzz_take(in, 1) % 8;
	for (size_t i = 0; i < code.insns; i++) {
		lengths[i] = (uint8_t)(1 + fuzz_take(in, 1) % 15);
		code.bytes += lengths[i];
	}
	code.branch = (uint8_t)(fuzz_take(in, 1) % 4);
	code.isa = (uint8_t)(fuzz_take(in, 1) % 2);
	code.generation = (uint32_t)fuzz_take(in, 1) % 2;
	for (size_t i = 0; i < 2; i++) {
		code.image = image->no[both[i]];
		code.function = function->no[both[i]];
		code.inlined = inlined->no[both[i]];
		code.line = line->no[both[i]];
		check(hwtdi_profile_add_code(run->p[both[i]], &code, lengths,
		    NULL));
	}
}

static void
add_edge(struct run *run, uint32_t part, struct fuzz_in *in)
{
	const struct thing *image = choose(&run->images, in);
	const struct thing *from = choose(&run->functions, in);
	const struct thing *to = choose(&run->functions, in);
	const struct thing *thread = choose(&run->threads, in);
	const uint32_t both[2] = { WHOLE, part };
	struct hwtd_profile_edge e = { .from_off = fuzz_take(in, 1),
		.to_off = fuzz_take(in, 1),
		.count = fuzz_take(in, 8),
		.to_image = HWTD_NO_ID };
	struct hwtdi_profile_place place = { .cpu = (uint32_t)fuzz_take(in, 1),
		.insns = fuzz_take(in, 8) };

	e.branch = (uint32_t)fuzz_take(in, 1) % 10;
	e.flags = (uint32_t)fuzz_take(in, 1) & 1;
	for (size_t i = 0; i < 2; i++) {
		e.from_image = image->no[both[i]];
		e.from_function = from->no[both[i]];
		e.to_function = to->no[both[i]];
		check(hwtdi_profile_add_edge(run->p[both[i]], &e, NULL));
		place.thread = thread->no[both[i]];
		check(hwtdi_profile_add_place(run->p[both[i]], &place, NULL));
	}
}

static void
add_something(struct run *run, struct fuzz_in *in)
{
	const uint64_t what = fuzz_take(in, 1);
	const uint32_t part = (uint32_t)(what >> 4) % PARTS;

	switch (what % 9) {
	case 0:
		add_image(run, in);
		break;
	case 1:
		add_function(run, in);
		break;
	case 2:
		add_thread(run, in);
		break;
	case 3:
		add_line(run, in);
		break;
	case 4:
	case 5:
		add_call(run, part, in);
		break;
	case 6:
		if (run->paths[part].n > 0)
			run->paths[part].n--;
		break;
	case 7:
		add_code(run, part, in);
		break;
	default:
		add_edge(run, part, in);
		break;
	}
}

/* What rows of a table add up to. */
static struct hwtd_profile_row
sum_rows(struct hwtd_profile *p, uint32_t by)
{
	struct hwtd_profile_row row, all;
	size_t n;

	memset(&all, 0, sizeof(all));
	for (uint64_t i = 0;
	     hwtd_profile_rows(p, by, i, &row, sizeof(row), 1, &n) == HWTD_OK;
	     i++) {
		all.insns = hwtdi_profile_sum(all.insns, row.insns);
		hwtdi_profile_add_sums(&all.self, &row.self);
	}
	return (all);
}

static void
check_tables(struct hwtd_profile *p)
{
	struct hwtd_profile_info info = { .size = sizeof(info) };
	const struct hwtd_profile_row row = sum_rows(p,
	    HWTD_PROFILE_BY_FUNCTION);

	check(hwtd_profile_info(p, &info));
	FUZZ_CHECK(memcmp(&row.self, &info.total, sizeof(info.total)) == 0,
	    "functions add up to %llu calls",
	    (unsigned long long)row.self.calls);
	for (uint32_t by = HWTD_PROFILE_BY_LINE; by <= HWTD_PROFILE_BY_ADDRESS;
	     by++)
		if (by != HWTD_PROFILE_BY_THREAD)
			FUZZ_CHECK(sum_rows(p, by).insns == row.insns,
			    "table %s adds up to something else",
			    hwtd_profile_by_name(by));
}

static void
check_merged(struct run *run, uint64_t order, bool limited)
{
	struct hwtd_profile_info a = { .size = sizeof(a) };
	struct hwtd_profile_info b = { .size = sizeof(b) };
	uint32_t first = (uint32_t)order % PARTS;
	const uint32_t second = (first + 1 + (uint32_t)(order >> 2) % 2) %
	    PARTS;
	const uint32_t third = PARTS - first - second;
	char why[1024];

	if ((order & 16) != 0) {
		check(hwtd_profile_merge(run->p[first], run->p[second], NULL));
		check(hwtd_profile_merge(run->p[first], run->p[third], NULL));
	} else {
		check(hwtd_profile_merge(run->p[second], run->p[third], NULL));
		check(hwtd_profile_merge(run->p[first], run->p[second], NULL));
	}
	check(hwtd_profile_info(run->p[first], &a));
	check(hwtd_profile_info(run->p[WHOLE], &b));
	FUZZ_CHECK(memcmp(&a.total, &b.total, sizeof(a.total)) == 0,
	    "%llu calls, not %llu", (unsigned long long)a.total.calls,
	    (unsigned long long)b.total.calls);
	/* Which calls there is no room for depends on what came first. */
	FUZZ_CHECK(limited ||
		profile_same(run->p[first], run->p[WHOLE], 0, why,
		    sizeof(why)),
	    "%s", why);
	check_tables(run->p[first]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size < 4096 ? size : 4096 };
	const uint64_t choices = fuzz_take(&in, 1);
	const struct hwtd_profile_options opts = { .size = sizeof(opts),
		.flags = (choices & 2) != 0 ? HWTD_PROFILE_THREADS : 0,
		.max_nodes = (choices & 1) != 0 ? 5 : 0 };
	static struct run run;
	struct hwtd_context *ctx;

	memset(&run, 0, sizeof(run));
	check(hwtd_context_create(NULL, &ctx, NULL));
	for (size_t i = 0; i < ALL; i++)
		check(hwtd_profile_create(ctx, &opts, &run.p[i], NULL));
	while (in.left > 0)
		add_something(&run, &in);
	check_tables(run.p[WHOLE]);
	check_merged(&run, choices >> 2, (choices & 1) != 0);
	for (size_t i = 0; i < ALL; i++)
		hwtd_profile_destroy(run.p[i]);
	hwtd_context_destroy(ctx);
	return (0);
}
