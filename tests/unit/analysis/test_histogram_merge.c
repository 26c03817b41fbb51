/*
 * Histograms of calls that are merged: those of two runs, and of random parts, which
 * are compared with the whole and with a list that is sorted.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/call_lines.h"
#include "support/memory_trace.h"
#include "support/random_program.h"

/* f: nop, ret.  main: call f and again. */
static const uint8_t code[] = {
	/* 0 */ 0xe8, 0x0b, 0x00, 0x00, 0x00, /* call f */
	/* 5 */ 0xeb, 0xf9, /* jmp main */
	/* 7 */ 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
	/* 10 */ 0x90, 0xc3, /* nop; ret */
};

static struct hwtd_trace *
make_trace(uint64_t at, unsigned int rounds)
{
	const struct hwtd_stream_desc desc = { .cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.clock = { .counts_per = 1, .ns_per = 1 } };
	const struct hwtd_image_desc image = { .size = sizeof(image),
		.path = "prog",
		.bytes = code,
		.n_bytes = sizeof(code),
		.flags = HWTD_IMAGEF_ADDRESS,
		.address = at };
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	pt_psb(&p);
	pt_tsc(&p, 1000);
	pt_fup(&p, PT_IP_48, at);
	pt_mode_exec(&p, 64);
	pt_psbend(&p);
	for (unsigned int i = 0; i < rounds; i++)
		pt_tip(&p, PT_IP_48, at + 5);
	pt_leave_at(&p, at + 5);
	assert_int_equal(hwtd_trace_add_image(trace, &image, NULL, NULL),
	    HWTD_OK);
	(void)mt_stream(trace, &p, &desc);
	pt_free(&p);
	return (mt_seal(trace));
}

/* Two runs of a program, which lies elsewhere in the second. */
static void
runs_of_a_program_are_merged_wherever_it_lies(void **state)
{
	const struct hwtd_histogram_options opts = { .size = sizeof(opts),
		.value = HWTD_HISTOGRAM_INSNS };
	static const uint64_t at[] = { 0x1000, 0x7f0000 };
	struct hwtd_histogram *h[2];
	struct hwtd_histogram_row row;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct hwtd_trace *trace = make_trace(at[i],
		    3 + (unsigned int)i);
		struct hwtd_calls *calls;

		h[i] = cl_histogram(&opts);
		assert_int_equal(hwtd_calls_open(trace, NULL, &calls, NULL),
		    HWTD_OK);
		hwtd_trace_close(trace);
		cl_add(h[i], calls);
	}
	assert_int_equal(hwtd_histogram_merge(h[0], h[1], NULL), HWTD_OK);
	hwtd_histogram_destroy(h[1]);
	assert_int_equal(hwtd_histogram_sort(h[0], HWTD_HISTOGRAM_BY_CALLS,
			     NULL),
	    HWTD_OK);
	/* f: 3 and 4 calls of two instructions. */
	cl_row(h[0], 0, &row);
	assert_null(row.function);
	assert_string_equal(row.image, "prog");
	assert_int_equal(row.flags, HWTD_HISTOGRAM_ROWF_FILE_OFF);
	assert_int_equal(row.address, 0x10);
	assert_int_equal(row.calls, 7);
	assert_int_equal(row.n, 7);
	assert_int_equal(row.min, 2);
	assert_int_equal(row.max, 2);
	assert_int_equal(row.sum, 14);
	hwtd_histogram_destroy(h[0]);
}

/* Random calls, which a list has, too. */

#define THREADS 6u
#define FUNCTIONS 5u
#define MOST 4000u

struct list {
	uint64_t ns[FUNCTIONS][MOST];
	size_t n[FUNCTIONS];
};

/* A round of a thread: calls of functions, each of its own length. */
static void
make_round(struct call_lines *t, struct list *list, uint64_t *random,
    unsigned int tid, uint64_t *now)
{
	const unsigned int calls = 1 + random_below(random, 4);

	for (unsigned int i = 0; i < calls; i++) {
		const unsigned int f = random_below(random, FUNCTIONS);
		const unsigned int bits = random_below(random, 24);
		const uint64_t ns = 1 +
		    random_below(random, UINT32_C(1) << bits);
		char from[32], to[32];

		*now += 1 + random_below(random, 50);
		(void)snprintf(to, sizeof(to), "%x00 f%u+0x0", 0x20 + f, f);
		cl_branch(t, tid, *now, "call", "1000 main+0x0", to);
		*now += ns;
		(void)snprintf(from, sizeof(from), "%x09 f%u+0x9", 0x20 + f,
		    f);
		cl_branch(t, tid, *now, "return", from, "1005 main+0x5");
		assert_true(list->n[f] < MOST);
		list->ns[f][list->n[f]++] = ns;
		*now += 1;
		cl_branch(t, tid, *now, "jmp", "1009 main+0x9",
		    "1000 main+0x0");
	}
}

static int
compare_ns(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y ? -1 : x > y);
}

/* `got` is `want` up to 4096, and at most 1/128 too low above. */
static void
assert_near(uint64_t got, uint64_t want)
{
	assert_true(got <= want);
	if (want < 4096)
		assert_int_equal(got, want);
	else
		assert_true((want - got) * 128 <= want);
}

static void
check_list(struct hwtd_histogram *h, struct list *list)
{
	for (unsigned int f = 0; f < FUNCTIONS; f++) {
		const size_t n = list->n[f];
		uint64_t *ns = list->ns[f], sum = 0;
		struct hwtd_histogram_row row;
		char name[8];

		(void)snprintf(name, sizeof(name), "f%u", f);
		cl_row_of(h, name, &row);
		qsort(ns, n, sizeof(*ns), compare_ns);
		for (size_t i = 0; i < n; i++)
			sum += ns[i];
		assert_int_equal(row.n, n);
		assert_int_equal(row.sum, sum);
		assert_int_equal(row.min, ns[0]);
		assert_int_equal(row.max, ns[n - 1]);
		assert_near(row.p50, ns[(n * 50 + 99) / 100 - 1]);
		assert_near(row.p90, ns[(n * 90 + 99) / 100 - 1]);
		assert_near(row.p99, ns[(n * 99 + 99) / 100 - 1]);
		assert_near(row.p999, ns[(n * 999 + 999) / 1000 - 1]);
	}
}

/* All that readers tell. */
static void
dump(struct hwtd_histogram *h, uint32_t sort, struct call_lines *out)
{
	struct hwtd_histogram_info info = { .size = sizeof(info) };

	out->n = 0;
	assert_int_equal(hwtd_histogram_sort(h, sort, NULL), HWTD_OK);
	assert_int_equal(hwtd_histogram_info(h, &info), HWTD_OK);
	cl_say(out, "%" PRIu64 " rows %" PRIu64 " bytes %" PRIu64 " gaps\n",
	    info.n_rows, info.bytes, info.gaps[0]);
	for (uint64_t i = 0; i <= info.n_rows; i++) {
		const uint64_t no = i < info.n_rows ? i : HWTD_HISTOGRAM_ALL;
		struct hwtd_histogram_row r;
		uint64_t at = 0;
		size_t n;

		cl_row(h, no, &r);
		cl_say(out,
		    "%s %s %" PRIx64 " %x: %" PRIu64 " %" PRIu64 " %" PRIu64
		    " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		    " %" PRIu64 " %" PRIu64 "\n",
		    r.function != NULL ? r.function : "-",
		    r.image != NULL ? r.image : "-", r.address, r.flags,
		    r.calls, r.n, r.unseen, r.estimated, r.interpolated, r.min,
		    r.max, r.sum, r.p50, r.p999);
		for (;;) {
			struct hwtd_histogram_bucket b[7];
			const int rc = hwtd_histogram_buckets(h, no, at, b,
			    sizeof(b[0]), 7, &n);

			if (rc == HWTD_END)
				break;
			assert_int_equal(rc, HWTD_OK);
			for (size_t k = 0; k < n; k++)
				cl_say(out,
				    " %" PRIu64 "-%" PRIu64 ":%" PRIu64,
				    b[k].first, b[k].last, b[k].n);
			at += n;
		}
		assert_int_equal(at, r.n_buckets);
		cl_say(out, "\n");
	}
}

/*
 * Parts are merged by pairs that are chosen at random, so in any order and
 * grouping.
 */
static void
merge_all(struct hwtd_histogram **parts, size_t n, uint64_t *random)
{
	while (n > 1) {
		const size_t a = random_below(random, (uint32_t)n);
		size_t b = random_below(random, (uint32_t)n - 1);

		b += b >= a;
		assert_int_equal(hwtd_histogram_merge(parts[a], parts[b],
				     NULL),
		    HWTD_OK);
		hwtd_histogram_destroy(parts[b]);
		parts[b] = parts[--n];
	}
}

static void
parts_of_random_calls_are_merged_to_the_whole(void **state)
{
	static struct list list;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct call_lines all = { 0 }, of[THREADS] = { { 0 } };
		struct call_lines want = { 0 }, got = { 0 };
		struct hwtd_histogram *parts[THREADS], *whole;
		uint64_t random = seed, now[THREADS] = { 0 };
		size_t n_parts = 1 + random_below(&random, THREADS);

		memset(&list, 0, sizeof(list));
		for (size_t round = 0; round < 300; round++) {
			const unsigned int i = random_below(&random, THREADS);
			struct call_lines one = { 0 };

			make_round(&one, &list, &random, i, &now[i]);
			cl_append(&all, &one);
			cl_append(&of[i], &one);
			free(one.at);
		}
		whole = cl_histogram(NULL);
		cl_add_text(whole, all.at, all.n);
		check_list(whole, &list);
		for (size_t i = 0; i < n_parts; i++)
			parts[i] = cl_histogram(NULL);
		/* A thread is in one part; a part may have several, or none. */
		for (size_t i = 0; i < THREADS; i++)
			if (of[i].n != 0)
				cl_add_text(parts[random_below(&random,
						(uint32_t)n_parts)],
				    of[i].at, of[i].n);
		merge_all(parts, n_parts, &random);
		for (uint32_t sort = 0; sort < HWTD_HISTOGRAM_SORTS; sort++) {
			dump(whole, sort, &want);
			dump(parts[0], sort, &got);
			assert_string_equal(got.at, want.at);
		}
		hwtd_histogram_destroy(whole);
		hwtd_histogram_destroy(parts[0]);
		for (size_t i = 0; i < THREADS; i++)
			free(of[i].at);
		free(all.at);
		free(want.at);
		free(got.at);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    runs_of_a_program_are_merged_wherever_it_lies),
		cmocka_unit_test(
		    parts_of_random_calls_are_merged_to_the_whole),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
