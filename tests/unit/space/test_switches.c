/*
 * Who runs on a CPU or in a stream, and what threads are called.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "space/switches.h"
#include "support/failing_allocator.h"
#include "support/sample_trace.h"

#define NO HWTD_NO_ID

struct fixture {
	struct failing_allocator f;
	struct hwtd_context *ctx;
	struct hwtd_record r[64];
	size_t n;
	struct hwtdi_position *position;
	struct hwtdi_switches *s;
};

static void
begin(struct fixture *x)
{
	struct hwtd_context_options o = { .size = sizeof(o) };

	memset(x, 0, sizeof(*x));
	failing_allocator_init(&x->f);
	o.allocator = &x->f.allocator;
	assert_int_equal(hwtd_context_create(&o, &x->ctx, NULL), HWTD_OK);
}

static struct hwtd_record *
add(struct fixture *x, uint32_t type, uint32_t pid, uint32_t tid)
{
	struct hwtd_record *r = &x->r[x->n++];

	assert_true(x->n <= 64);
	r->size = sizeof(*r);
	r->type = type;
	r->pid = pid;
	r->tid = tid;
	r->cpu = r->stream = r->image = NO;
	return (r);
}

static void
add_at(struct fixture *x, uint32_t type, uint32_t cpu, uint64_t time_ns,
    uint32_t pid, uint32_t tid)
{
	struct hwtd_record *r = add(x, type, pid, tid);

	r->flags = HWTD_RECF_TIME;
	r->cpu = cpu;
	r->time_ns = time_ns;
}

static void
add_name(struct fixture *x, uint32_t type, uint64_t time_ns, uint32_t pid,
    uint32_t tid, const char *name)
{
	add_at(x, type, NO, time_ns, pid, tid);
	x->r[x->n - 1].name = name;
}

static void
build(struct fixture *x)
{
	assert_int_equal(hwtdi_position_create(x->ctx, x->r, x->n,
			     &x->position, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_switches_create(x->ctx, x->r, x->position,
			     &x->s, NULL),
	    HWTD_OK);
}

static void
end(struct fixture *x)
{
	hwtdi_switches_destroy(x->s);
	hwtdi_position_destroy(x->position);
	hwtd_context_destroy(x->ctx);
	assert_int_equal(x->f.blocks, 0);
}

static void
assert_runs(const struct fixture *x, uint32_t cpu, uint64_t time_ns,
    uint32_t pid, uint32_t tid, uint64_t until)
{
	struct hwtdi_runner got;
	bool known = hwtdi_switches_at_time(x->s, cpu, time_ns, &got);

	assert_int_equal(known, pid != NO || tid != NO);
	assert_int_equal(got.pid, pid);
	assert_int_equal(got.tid, tid);
	assert_true(got.until == until);
}

/* Nobody is known to run behind a switch that only says who stopped. */
static void
who_was_switched_out_runs_no_more(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x);
	add_at(&x, HWTD_REC_SWITCH, 1, 10, 77, 78);
	add_at(&x, HWTD_REC_SWITCH, 1, 20, 77, 78);
	x.r[1].flags |= HWTD_RECF_SWITCH_OUT;
	build(&x);
	assert_runs(&x, 1, 15, 77, 78, 20);
	assert_runs(&x, 1, 25, NO, NO, UINT64_MAX);
	end(&x);
}

static void
add_out(struct fixture *x, uint32_t cpu, uint64_t time_ns, uint32_t pid,
    uint32_t tid)
{
	add_at(x, HWTD_REC_SWITCH, cpu, time_ns, pid, tid);
	x->r[x->n - 1].flags |= HWTD_RECF_SWITCH_OUT;
}

static void
who_stops_first_ran_from_the_beginning(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x);
	add_out(&x, 0, 10, 1, 2);
	add_at(&x, HWTD_REC_SWITCH, 0, 20, 3, 4);
	/* At once another one starts. */
	add_out(&x, 1, 10, 5, 6);
	add_at(&x, HWTD_REC_SWITCH, 1, 10, 7, 8);
	/* Known by its thread only, until another record tells. */
	add_out(&x, 2, 10, NO, 4);
	/* What it did before it stopped. */
	add_at(&x, HWTD_REC_EXEC, 3, 5, 1, 2);
	add_out(&x, 3, 10, 1, 2);
	/* Right at the start: nothing is before. */
	add_out(&x, 4, 0, 1, 2);
	build(&x);
	assert_runs(&x, 0, 0, 1, 2, 10);
	assert_runs(&x, 0, 9, 1, 2, 10);
	assert_runs(&x, 0, 10, NO, NO, 20);
	assert_runs(&x, 0, 20, 3, 4, UINT64_MAX);
	assert_runs(&x, 1, 0, 5, 6, 10);
	assert_runs(&x, 1, 10, 7, 8, UINT64_MAX);
	assert_runs(&x, 2, 0, 3, 4, 10);
	assert_runs(&x, 3, 0, 1, 2, 10);
	assert_runs(&x, 3, 10, NO, NO, UINT64_MAX);
	assert_runs(&x, 4, 0, NO, NO, UINT64_MAX);
	end(&x);
}

static void
who_is_not_known_at_the_beginning_stays_so(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x);
	/* The first switch tells who starts. */
	add_at(&x, HWTD_REC_SWITCH, 0, 10, 1, 2);
	add_out(&x, 0, 20, 1, 2);
	/* Nobody knows who stopped. */
	add_out(&x, 1, 10, NO, NO);
	add_at(&x, HWTD_REC_SWITCH, 1, 20, 1, 2);
	add_out(&x, 1, 30, 1, 2);
	/* Only the first: that a switch is missing says nothing of when. */
	add_out(&x, 2, 10, 1, 2);
	add_out(&x, 2, 20, 3, 4);
	/* Another one ran before. */
	add_at(&x, HWTD_REC_EXEC, 3, 5, 3, 4);
	add_out(&x, 3, 10, 1, 2);
	/* The thread was made after the beginning. */
	add_at(&x, HWTD_REC_FORK, NO, 5, 9, 9);
	add_at(&x, HWTD_REC_MMAP, NO, 6, 9, 9);
	add_out(&x, 4, 10, 9, 9);
	build(&x);
	assert_runs(&x, 0, 0, NO, NO, 10);
	assert_runs(&x, 0, 10, 1, 2, 20);
	assert_runs(&x, 1, 0, NO, NO, 20);
	assert_runs(&x, 1, 20, 1, 2, 30);
	assert_runs(&x, 2, 0, 1, 2, 10);
	assert_runs(&x, 2, 10, NO, NO, UINT64_MAX);
	assert_runs(&x, 3, 0, NO, NO, 5);
	assert_runs(&x, 3, 5, 3, 4, 10);
	assert_runs(&x, 4, 0, NO, NO, UINT64_MAX);
	end(&x);
}

static void
who_stops_first_ran_from_the_first_byte(void **state)
{
	struct hwtdi_runner got;
	struct fixture x;

	(void)state;
	begin(&x);
	for (uint32_t i = 0; i < 2; i++) {
		struct hwtd_record *r = add(&x, HWTD_REC_SWITCH, 10 + i, 20);

		r->flags = HWTD_RECF_STREAM_OFF | HWTD_RECF_SWITCH_OUT;
		r->stream = 5;
		/* The later record is of the earlier byte. */
		r->stream_off = 300 - 100 * i;
	}
	build(&x);
	assert_true(hwtdi_switches_at_offset(x.s, 5, 0, &got));
	assert_int_equal(got.pid, 11);
	assert_int_equal(got.until, 200);
	assert_false(hwtdi_switches_at_offset(x.s, 5, 200, &got));
	assert_false(hwtdi_switches_at_offset(x.s, 4, 0, &got));
	end(&x);
}

static void
switches_say_who_runs(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x);
	add_at(&x, HWTD_REC_SWITCH, 1, 30, 7, 8);
	add_at(&x, HWTD_REC_SWITCH, 0, 10, 1, 1);
	/* Said again: no change. */
	add_at(&x, HWTD_REC_SWITCH, 0, 15, 1, 1);
	add_at(&x, HWTD_REC_SWITCH, 0, 20, 1, 2);
	/* Nobody known. */
	add_at(&x, HWTD_REC_SWITCH, 0, 40, NO, NO);
	add_at(&x, HWTD_REC_SWITCH, 0, UINT64_MAX, 3, 3);
	build(&x);
	assert_runs(&x, 0, 0, NO, NO, 10);
	assert_runs(&x, 0, 9, NO, NO, 10);
	assert_runs(&x, 0, 10, 1, 1, 20);
	assert_runs(&x, 0, 19, 1, 1, 20);
	assert_runs(&x, 0, 20, 1, 2, 40);
	assert_runs(&x, 0, 40, NO, NO, UINT64_MAX);
	assert_runs(&x, 0, UINT64_MAX, 3, 3, UINT64_MAX);
	assert_runs(&x, 1, 29, NO, NO, 30);
	assert_runs(&x, 1, 30, 7, 8, UINT64_MAX);
	assert_runs(&x, 2, 30, NO, NO, UINT64_MAX);
	end(&x);
}

static void
last_of_one_time_counts(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x);
	add_at(&x, HWTD_REC_SWITCH, 0, 10, 1, 1);
	add_at(&x, HWTD_REC_SWITCH, 0, 20, NO, NO);
	add_at(&x, HWTD_REC_SWITCH, 0, 20, 2, 2);
	/* Out and in of the same thread: nothing changed. */
	add_at(&x, HWTD_REC_SWITCH, 0, 30, NO, NO);
	add_at(&x, HWTD_REC_SWITCH, 0, 30, 2, 2);
	add_at(&x, HWTD_REC_SWITCH, 0, 40, 1, 1);
	build(&x);
	assert_runs(&x, 0, 19, 1, 1, 20);
	assert_runs(&x, 0, 20, 2, 2, 40);
	assert_runs(&x, 0, 30, 2, 2, 40);
	assert_runs(&x, 0, 40, 1, 1, UINT64_MAX);
	end(&x);
}

static void
bytes_of_a_stream_say_it_too(void **state)
{
	struct hwtdi_runner got;
	struct hwtd_record *r;
	struct fixture x;

	(void)state;
	begin(&x);
	for (uint32_t i = 0; i < 3; i++) {
		r = add(&x, HWTD_REC_SWITCH, 10 + i, 20 + i);
		r->flags = HWTD_RECF_STREAM_OFF;
		r->stream = 5;
		r->stream_off = 300 - 100 * i;
	}
	/* No place: says nothing. */
	(void)add(&x, HWTD_REC_SWITCH, 1, 1);
	build(&x);
	assert_false(hwtdi_switches_at_offset(x.s, 5, 99, &got));
	assert_int_equal(got.until, 100);
	assert_true(hwtdi_switches_at_offset(x.s, 5, 100, &got));
	assert_int_equal(got.pid, 12);
	assert_int_equal(got.tid, 22);
	assert_int_equal(got.until, 200);
	assert_true(hwtdi_switches_at_offset(x.s, 5, 1000, &got));
	assert_int_equal(got.pid, 10);
	assert_true(got.until == UINT64_MAX);
	assert_false(hwtdi_switches_at_offset(x.s, 4, 100, &got));
	end(&x);
}

static void
what_only_the_runner_does_says_who_runs(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x);
	add_at(&x, HWTD_REC_EXEC, 0, 10, 4, 4);
	/* About a child; the parent runs. */
	add_at(&x, HWTD_REC_FORK, 0, 20, 5, 5);
	add_at(&x, HWTD_REC_THREAD_NAME, 0, 25, 6, 6);
	add_at(&x, HWTD_REC_EXIT, 0, 30, 7, 7);
	add_at(&x, HWTD_REC_THREAD_EXIT, 0, 40, 7, 8);
	add_at(&x, HWTD_REC_EXIT, 0, 50, 9, NO);
	build(&x);
	assert_runs(&x, 0, 9, NO, NO, 10);
	assert_runs(&x, 0, 10, 4, 4, 30);
	assert_runs(&x, 0, 30, 7, 7, 40);
	assert_runs(&x, 0, 40, 7, 8, UINT64_MAX);
	end(&x);
}

static void
processes_of_threads_are_found(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x);
	add_at(&x, HWTD_REC_SWITCH, 0, 5, NO, 11);
	add_at(&x, HWTD_REC_SWITCH, 0, 6, NO, 12);
	add_at(&x, HWTD_REC_SWITCH, 0, 7, NO, 13);
	add_at(&x, HWTD_REC_MMAP, NO, 10, 1, 11);
	/* The thread is made here: before, 12 was another one. */
	add_at(&x, HWTD_REC_THREAD_CREATE, NO, 10, 1, 12);
	add_at(&x, HWTD_REC_SWITCH, 0, 20, NO, 11);
	add_at(&x, HWTD_REC_SWITCH, 0, 30, NO, 12);
	add_at(&x, HWTD_REC_FORK, NO, 40, 2, 11);
	add_at(&x, HWTD_REC_SWITCH, 0, 50, NO, 11);
	build(&x);
	assert_runs(&x, 0, 5, 1, 11, 6);
	assert_runs(&x, 0, 6, NO, 12, 7);
	assert_runs(&x, 0, 7, NO, 13, 20);
	assert_runs(&x, 0, 20, 1, 11, 30);
	assert_runs(&x, 0, 30, 1, 12, 50);
	assert_runs(&x, 0, 50, 2, 11, UINT64_MAX);
	assert_int_equal(hwtdi_switches_process(x.s, 11, 0), 1);
	assert_int_equal(hwtdi_switches_process(x.s, 11, UINT64_MAX), 2);
	assert_int_equal(hwtdi_switches_process(x.s, 12, 0), NO);
	assert_int_equal(hwtdi_switches_process(x.s, 12, 5), 1);
	assert_int_equal(hwtdi_switches_process(x.s, 99, 5), NO);
	end(&x);
}

static void
threads_have_names_over_time(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x);
	/* A recorder names what runs, then says whose child it is. */
	add_name(&x, HWTD_REC_THREAD_NAME, 0, 1, 1, "start");
	add_name(&x, HWTD_REC_FORK, 0, 1, 1, NULL);
	add_name(&x, HWTD_REC_THREAD_NAME, 10, 1, 1, "later");
	add_name(&x, HWTD_REC_EXIT, 20, 1, 1, NULL);
	/* The id is used again. */
	add_name(&x, HWTD_REC_FORK, 30, 1, 1, NULL);
	add_name(&x, HWTD_REC_THREAD_NAME, 40, 1, 1, "again");
	add_name(&x, HWTD_REC_THREAD_CREATE, 50, 1, 2, "worker");
	add_name(&x, HWTD_REC_EXEC, 60, 1, 1, "/bin/sh");
	build(&x);
	assert_null(hwtdi_switches_name(x.s, 1, 0));
	assert_string_equal(hwtdi_switches_name(x.s, 1, 1), "start");
	assert_string_equal(hwtdi_switches_name(x.s, 1, 2), "start");
	assert_string_equal(hwtdi_switches_name(x.s, 1, 4), "later");
	assert_null(hwtdi_switches_name(x.s, 1, 5));
	assert_string_equal(hwtdi_switches_name(x.s, 1, 6), "again");
	assert_string_equal(hwtdi_switches_name(x.s, 1, UINT64_MAX), "again");
	assert_string_equal(hwtdi_switches_name(x.s, 2, UINT64_MAX), "worker");
	assert_null(hwtdi_switches_name(x.s, 3, UINT64_MAX));
	end(&x);
}

static void
random_switches_agree_with_the_slow_way(void **state)
{
	uint64_t seed = 77;

	(void)state;
	for (int round = 0; round < 300; round++) {
		const size_t n = (size_t)(next_random(&seed) % 40);
		struct fixture x;

		begin(&x);
		for (size_t i = 0; i < n; i++) {
			uint32_t cpu = (uint32_t)(next_random(&seed) % 3);
			uint64_t t = next_random(&seed) % 30;
			uint32_t pid = (uint32_t)(next_random(&seed) % 3);
			uint32_t tid = (uint32_t)(next_random(&seed) % 3);

			if (pid == 2)
				pid = tid = NO;
			add_at(&x, HWTD_REC_SWITCH, cpu, t, pid, tid);
		}
		build(&x);
		for (uint32_t cpu = 0; cpu < 4; cpu++) {
			uint32_t pid[32], tid[32];
			uint64_t until = UINT64_MAX;

			for (uint64_t t = 0; t < 32; t++) {
				pid[t] = t == 0 ? NO : pid[t - 1];
				tid[t] = t == 0 ? NO : tid[t - 1];
				for (size_t i = 0; i < n; i++) {
					if (x.r[i].cpu != cpu ||
					    x.r[i].time_ns != t)
						continue;
					pid[t] = x.r[i].pid;
					tid[t] = x.r[i].tid;
				}
			}
			for (uint64_t t = 32; t-- > 0;) {
				if (t < 31 &&
				    (pid[t] != pid[t + 1] ||
					tid[t] != tid[t + 1]))
					until = t + 1;
				assert_runs(&x, cpu, t, pid[t], tid[t], until);
			}
		}
		end(&x);
	}
}

static void
refused_memory_leaves_nothing_behind(void **state)
{
	int rc = HWTD_E_NOMEM;

	(void)state;
	for (uint64_t n = 1; rc != HWTD_OK; n++) {
		struct fixture x;

		begin(&x);
		for (uint32_t i = 0; i < 40; i++) {
			add_at(&x,
			    i % 3 == 0 ? HWTD_REC_FORK : HWTD_REC_SWITCH,
			    9 - i % 10, 50 - i, i % 4 == 0 ? NO : i, i % 7);
			x.r[i].flags |= HWTD_RECF_STREAM_OFF;
			x.r[i].stream = 40 - i;
			x.r[i].name = "name";
			if (i % 2 == 0)
				x.r[i].flags |= HWTD_RECF_SWITCH_OUT;
		}
		assert_int_equal(hwtdi_position_create(x.ctx, x.r, x.n,
				     &x.position, NULL),
		    HWTD_OK);
		failing_allocator_arm(&x.f, n, false);
		rc = hwtdi_switches_create(x.ctx, x.r, x.position, &x.s, NULL);
		if (rc != HWTD_OK)
			assert_int_equal(rc, HWTD_E_NOMEM);
		end(&x);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switches_say_who_runs),
		cmocka_unit_test(who_was_switched_out_runs_no_more),
		cmocka_unit_test(who_stops_first_ran_from_the_beginning),
		cmocka_unit_test(who_is_not_known_at_the_beginning_stays_so),
		cmocka_unit_test(who_stops_first_ran_from_the_first_byte),
		cmocka_unit_test(last_of_one_time_counts),
		cmocka_unit_test(bytes_of_a_stream_say_it_too),
		cmocka_unit_test(what_only_the_runner_does_says_who_runs),
		cmocka_unit_test(processes_of_threads_are_found),
		cmocka_unit_test(threads_have_names_over_time),
		cmocka_unit_test(random_switches_agree_with_the_slow_way),
		cmocka_unit_test(refused_memory_leaves_nothing_behind),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
