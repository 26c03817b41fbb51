/*
 * Numbers of hwt(4) and threads of the kernel: who is paired with whom, and who is
 * not.
 */
#include <hwtdecode/hwtdecode.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "capture/thread_table.h"
#include "simkernel/simkernel.h"
#include "support/failing_allocator.h"

struct scene {
	struct failing_allocator memory;
	struct hwtd_context *ctx;
	struct hwtdi_thread_table table;
	struct hwtdi_thread_list list;
	struct hwtdi_thread threads[100];
	size_t untraced;
};

static void
start(struct scene *s)
{
	const struct hwtd_context_options o = {
		.size = sizeof(o),
		.allocator = &s->memory.allocator,
	};

	memset(s, 0, sizeof(*s));
	failing_allocator_init(&s->memory);
	assert_int_equal(hwtd_context_create(&o, &s->ctx, NULL), HWTD_OK);
	s->list.threads = s->threads;
	s->list.known = true;
}

static void
end(struct scene *s)
{
	hwtdi_thread_table_fini(&s->table, s->ctx);
	hwtd_context_destroy(s->ctx);
	assert_int_equal(s->memory.blocks, 0);
}

/* The kernel lists these; ends with 0. */
static void
list(struct scene *s, const uint32_t *tids)
{
	for (s->list.n = 0; tids[s->list.n] != 0; s->list.n++) {
		s->threads[s->list.n].tid = tids[s->list.n];
		(void)snprintf(s->threads[s->list.n].name,
		    sizeof(s->threads[0].name), "t%u", tids[s->list.n]);
	}
}

#define LIST(s, ...) list(s, (const uint32_t[]){ __VA_ARGS__, 0 })

static void
add(struct scene *s, uint32_t number)
{
	assert_int_equal(hwtdi_thread_table_add(&s->table, s->ctx, number,
			     NULL),
	    HWTD_OK);
}

static void
pair(struct scene *s, bool newer)
{
	size_t n;

	assert_int_equal(hwtdi_thread_table_pair(&s->table, s->ctx, &s->list,
			     newer, &n, NULL),
	    HWTD_OK);
	s->untraced += n;
}

static void
assert_tid(const struct scene *s, uint32_t number, uint32_t tid)
{
	assert_int_equal(hwtdi_thread_table_tid(&s->table, number), tid);
}

static void
numbers_and_threads_are_paired_in_order(void **state)
{
	struct scene s;

	(void)state;
	start(&s);
	assert_tid(&s, 0, HWTD_NO_ID);
	add(&s, 0);
	add(&s, 1);
	/* One that comes twice is one. */
	add(&s, 1);
	assert_tid(&s, 1, HWTD_NO_ID);
	LIST(&s, 500, 400);
	pair(&s, true);
	assert_tid(&s, 0, 500);
	assert_tid(&s, 1, 400);
	add(&s, 2);
	LIST(&s, 500, 400, 450);
	pair(&s, true);
	assert_tid(&s, 2, 450);
	assert_int_equal(s.untraced, 0);
	end(&s);
}

static void
a_list_that_has_a_thread_twice_gives_no_other_its_number(void **state)
{
	struct scene s;

	(void)state;
	start(&s);
	add(&s, 0);
	add(&s, 1);
	add(&s, 2);
	LIST(&s, 500, 500, 400);
	/* Not of the list any more. */
	s.threads[3].tid = 300;
	pair(&s, true);
	assert_tid(&s, 0, 500);
	assert_tid(&s, 1, 400);
	assert_tid(&s, 2, HWTD_NO_ID);
	end(&s);
}

static int
list_odd(void *state, pid_t pid, struct hwtdi_thread *out, size_t room,
    size_t *n)
{
	const uint32_t tids[] = { HWTD_NO_ID, 500, HWTD_NO_ID - 1 };

	(void)state;
	(void)pid;
	*n = 3;
	for (size_t i = 0; i < 3 && i < room; i++) {
		memset(&out[i], 0, sizeof(out[i]));
		out[i].tid = tids[i];
	}
	return (0);
}

static void
what_no_thread_can_be_is_not_listed(void **state)
{
	const struct hwtdi_system sys = { .threads = list_odd };
	struct hwtdi_thread_list odd = { 0 };
	struct scene s;

	(void)state;
	start(&s);
	assert_int_equal(hwtdi_thread_list_read(&odd, s.ctx, &sys, 1, NULL),
	    HWTD_OK);
	assert_int_equal(odd.n, 1);
	assert_int_equal(odd.threads[0].tid, 500);
	hwtdi_thread_list_fini(&odd, s.ctx);
	end(&s);
}

static void
a_thread_that_is_gone_gets_no_number_of_a_later_one(void **state)
{
	struct scene s;

	(void)state;
	start(&s);
	add(&s, 0);
	LIST(&s, 500);
	pair(&s, true);
	/* 400 came and went, and 300 came. */
	add(&s, 1);
	LIST(&s, 500);
	pair(&s, true);
	assert_tid(&s, 1, HWTD_NO_ID);
	add(&s, 2);
	/* Of before all that. */
	LIST(&s, 500, 400);
	pair(&s, false);
	assert_tid(&s, 2, HWTD_NO_ID);
	LIST(&s, 500, 300);
	pair(&s, false);
	assert_tid(&s, 2, 300);
	assert_int_equal(s.untraced, 0);
	end(&s);
}

static void
numbers_that_were_skipped_have_no_thread(void **state)
{
	struct scene s;

	(void)state;
	start(&s);
	add(&s, 0);
	LIST(&s, 10);
	pair(&s, true);
	add(&s, 2);
	add(&s, 4);
	LIST(&s, 10, 12, 14);
	pair(&s, true);
	assert_tid(&s, 1, HWTD_NO_ID);
	assert_tid(&s, 2, 12);
	assert_tid(&s, 3, HWTD_NO_ID);
	assert_tid(&s, 4, 14);
	/* One that is below others came before. */
	add(&s, 3);
	assert_tid(&s, 3, HWTD_NO_ID);
	end(&s);
}

/* The list is newer than the record: its thread is gone. */
static void
a_thread_that_is_gone_is_not_guessed(void **state)
{
	struct scene s;

	(void)state;
	start(&s);
	add(&s, 0);
	LIST(&s, 10);
	pair(&s, true);
	add(&s, 1);
	add(&s, 2);
	LIST(&s, 10, 12);
	pair(&s, true);
	/* It may be either. */
	assert_tid(&s, 1, HWTD_NO_ID);
	assert_tid(&s, 2, HWTD_NO_ID);
	/* And the next one is not taken for them. */
	add(&s, 3);
	LIST(&s, 10, 12, 13);
	pair(&s, true);
	assert_tid(&s, 3, 13);
	assert_int_equal(s.untraced, 0);
	end(&s);
}

static void
a_record_that_is_on_its_way_is_waited_for(void **state)
{
	struct scene s;

	(void)state;
	start(&s);
	add(&s, 0);
	LIST(&s, 10);
	pair(&s, true);
	LIST(&s, 10, 11, 12);
	for (int i = 0; i < 5; i++)
		pair(&s, false);
	add(&s, 1);
	for (int i = 0; i < 100; i++)
		pair(&s, true);
	assert_int_equal(s.untraced, 0);
	assert_tid(&s, 1, HWTD_NO_ID);
	add(&s, 2);
	pair(&s, true);
	assert_tid(&s, 1, 11);
	assert_tid(&s, 2, 12);
	assert_int_equal(s.untraced, 0);
	end(&s);
}

static void
threads_without_a_record_are_told_once(void **state)
{
	struct scene s;

	(void)state;
	start(&s);
	add(&s, 0);
	LIST(&s, 10);
	pair(&s, true);
	LIST(&s, 10, 11, 12);
	for (int i = 0; i < 50; i++)
		pair(&s, false);
	assert_int_equal(s.untraced, 2);
	/* They are nobody's from now on. */
	add(&s, 3);
	LIST(&s, 10, 11, 12, 13);
	pair(&s, true);
	assert_tid(&s, 3, 13);
	assert_int_equal(s.untraced, 2);
	end(&s);
}

/* The list was made before the thread was: it says nothing of it. */
static void
a_list_that_is_older_gives_up_nobody(void **state)
{
	struct scene s;

	(void)state;
	start(&s);
	add(&s, 0);
	LIST(&s, 10);
	pair(&s, true);
	add(&s, 1);
	pair(&s, false);
	LIST(&s, 10, 11);
	pair(&s, false);
	assert_tid(&s, 1, 11);
	end(&s);
}

static void
a_list_that_is_not_known_changes_nothing(void **state)
{
	struct scene s;

	(void)state;
	start(&s);
	add(&s, 0);
	s.list.known = false;
	for (int i = 0; i < 20; i++)
		pair(&s, i % 2 == 0);
	s.list.known = true;
	/* Nor does one without threads. */
	s.list.n = 0;
	for (int i = 0; i < 20; i++)
		pair(&s, i % 2 == 0);
	LIST(&s, 10);
	pair(&s, true);
	assert_tid(&s, 0, 10);
	end(&s);
}

static void
numbers_beyond_the_limit_are_refused(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct scene s;

	(void)state;
	start(&s);
	assert_int_equal(hwtdi_thread_table_add(&s.table, s.ctx,
			     HWTDI_THREADS_MAX, &err),
	    HWTD_E_LIMIT);
	assert_non_null(strstr(err.message, "65536"));
	add(&s, HWTDI_THREADS_MAX - 1);
	LIST(&s, 10);
	pair(&s, true);
	assert_tid(&s, HWTDI_THREADS_MAX - 1, 10);
	end(&s);
}

/* Names that are told now: "10=t10 12=x". */
static void
assert_renamed(struct scene *s, const char *text)
{
	struct hwtdi_thread_walk walk = { 0 };
	const struct hwtdi_thread *t;
	char got[200] = "";
	size_t n = 0;

	do {
		assert_int_equal(hwtdi_thread_table_renamed(&s->table, s->ctx,
				     &s->list, &walk, &t, NULL),
		    HWTD_OK);
		if (t != NULL)
			n += (size_t)snprintf(got + n, sizeof(got) - n,
			    "%s%u=%s", n > 0 ? " " : "", t->tid, t->name);
	} while (t != NULL);
	assert_string_equal(got, text);
}

static void
names_are_told_when_they_are_new_or_change(void **state)
{
	struct scene s;

	(void)state;
	start(&s);
	add(&s, 0);
	LIST(&s, 10);
	/* Nobody is paired yet. */
	assert_renamed(&s, "");
	pair(&s, true);
	assert_renamed(&s, "10=t10");
	assert_renamed(&s, "");
	add(&s, 2);
	add(&s, 3);
	LIST(&s, 10, 12, 13);
	pair(&s, true);
	assert_renamed(&s, "12=t12 13=t13");
	/* One without a number in between, and one that is gone. */
	LIST(&s, 10, 99, 13);
	(void)strcpy(s.threads[0].name, "main");
	(void)strcpy(s.threads[2].name, "work");
	assert_renamed(&s, "10=main 13=work");
	assert_renamed(&s, "");
	end(&s);
}

static void
lists_are_read_as_the_kernel_has_them(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	struct hwtdi_thread_list l = { 0 };
	struct hwtdi_thread one = { .tid = 7, .switches = 3 };
	struct scene s;
	pid_t pid;

	(void)state;
	start(&s);
	pid = sim_start(k, sim_program(k, "/bin/p"), "name", 30);
	assert_int_equal(hwtdi_thread_list_read(&l, s.ctx, sim_system(k), pid,
			     NULL),
	    HWTD_OK);
	assert_true(l.known);
	assert_int_equal(l.n, 30);
	for (size_t i = 1; i < l.n; i++)
		assert_true(l.threads[i].tid > l.threads[i - 1].tid);
	assert_string_equal(l.threads[29].name, "name");
	assert_ptr_equal(hwtdi_thread_list_find(&l, l.threads[4].tid),
	    &l.threads[4]);
	assert_null(hwtdi_thread_list_find(&l, 1));
	/* Not to know is no error. */
	assert_int_equal(hwtdi_thread_list_read(&l, s.ctx, sim_system(k),
			     pid + 1, NULL),
	    HWTD_OK);
	assert_false(l.known);
	assert_int_equal(l.n, 0);
	assert_int_equal(hwtdi_thread_list_set(&l, s.ctx, &one, NULL),
	    HWTD_OK);
	assert_true(l.known);
	assert_int_equal(l.n, 1);
	assert_int_equal(hwtdi_thread_list_find(&l, 7)->switches, 3);
	hwtdi_thread_list_fini(&l, s.ctx);
	sim_destroy(k);
	end(&s);
}

static void
no_memory_is_told_and_nothing_is_lost(void **state)
{
	(void)state;
	for (uint64_t n = 1; n < 8; n++) {
		struct hwtdi_thread_walk walk = { 0 };
		const struct hwtdi_thread *t;
		struct scene s;
		size_t untraced;
		int rc, failed = 0;

		start(&s);
		failing_allocator_arm(&s.memory, n, false);
		rc = hwtdi_thread_table_add(&s.table, s.ctx, 0, NULL);
		failed += rc == HWTD_E_NOMEM;
		if (rc != HWTD_OK)
			add(&s, 0);
		LIST(&s, 10);
		pair(&s, true);
		LIST(&s, 10, 11, 12);
		for (int i = 0; i < 20; i++) {
			rc = hwtdi_thread_table_pair(&s.table, s.ctx, &s.list,
			    false, &untraced, NULL);
			failed += rc == HWTD_E_NOMEM;
		}
		rc = hwtdi_thread_table_renamed(&s.table, s.ctx, &s.list,
		    &walk, &t, NULL);
		failed += rc == HWTD_E_NOMEM;
		assert_true(failed <= 1);
		/* Three arrays. */
		assert_int_equal(failed, n <= 3);
		assert_tid(&s, 0, 10);
		failing_allocator_arm(&s.memory, 0, false);
		end(&s);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_and_threads_are_paired_in_order),
		cmocka_unit_test(
		    a_list_that_has_a_thread_twice_gives_no_other_its_number),
		cmocka_unit_test(what_no_thread_can_be_is_not_listed),
		cmocka_unit_test(
		    a_thread_that_is_gone_gets_no_number_of_a_later_one),
		cmocka_unit_test(numbers_that_were_skipped_have_no_thread),
		cmocka_unit_test(a_thread_that_is_gone_is_not_guessed),
		cmocka_unit_test(a_record_that_is_on_its_way_is_waited_for),
		cmocka_unit_test(threads_without_a_record_are_told_once),
		cmocka_unit_test(a_list_that_is_older_gives_up_nobody),
		cmocka_unit_test(a_list_that_is_not_known_changes_nothing),
		cmocka_unit_test(numbers_beyond_the_limit_are_refused),
		cmocka_unit_test(names_are_told_when_they_are_new_or_change),
		cmocka_unit_test(lists_are_read_as_the_kernel_has_them),
		cmocka_unit_test(no_memory_is_told_and_nothing_is_lost),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
