/*
 * Execution contexts: equal ones have one id, from any thread.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <xxhash.h>

#include "support/chosen_key.h"
#include "trace/exec_context.h"
#include "trace/trace_model.h"

#define THREADS 4
#define CONTEXTS 3000

struct fixture {
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
};

static int
set_up(void **state)
{
	static struct fixture f;

	assert_int_equal(hwtd_context_create(NULL, &f.ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_create(f.ctx, NULL, &f.trace, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_seal(f.trace, NULL), HWTD_OK);
	*state = &f;
	return (0);
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	hwtd_trace_close(f->trace);
	hwtd_context_destroy(f->ctx);
	return (0);
}

static uint32_t
intern(struct hwtd_trace *trace, const struct hwtd_exec_context *context)
{
	uint32_t id = HWTD_NO_ID;

	assert_int_equal(hwtdi_trace_intern_context(trace, context, &id, NULL),
	    HWTD_OK);
	return (id);
}

static void
ids_count_from_0_and_stay(void **state)
{
	struct fixture *f = *state;
	struct hwtd_exec_context c = { .size = sizeof(c) };
	struct hwtd_exec_context out = { .size = sizeof(out) };

	assert_int_equal(hwtd_trace_exec_context(f->trace, 0, &out),
	    HWTD_E_NOT_FOUND);
	for (uint32_t i = 0; i < CONTEXTS; i++) {
		c.tid = i;
		assert_int_equal(intern(f->trace, &c), i);
	}
	for (uint32_t i = 0; i < CONTEXTS; i++) {
		c.tid = i;
		assert_int_equal(intern(f->trace, &c), i);
		assert_int_equal(hwtd_trace_exec_context(f->trace, i, &out),
		    HWTD_OK);
		assert_int_equal(out.tid, i);
	}
	assert_int_equal(hwtd_trace_exec_context(f->trace, CONTEXTS, &out),
	    HWTD_E_NOT_FOUND);
}

static void
each_known_field_makes_a_difference(void **state)
{
	struct fixture *f = *state;
	struct hwtd_exec_context c[16];
	size_t n = 0;

	memset(c, 0, sizeof(c));
	n++;
	c[n++].pid = 1;
	c[n++].tid = 1;
	c[n++].cpu = 1;
	c[n++].epoch = 1;
	c[n++].flags = HWTD_CTXF_GUEST;
	c[n].flags = HWTD_CTXF_CR3;
	c[n++].cr3 = 1;
	c[n++].flags = HWTD_CTXF_CR3;
	c[n].flags = HWTD_CTXF_VMCS;
	c[n++].vmcs = 1;
	c[n].flags = HWTD_CTXF_CONTEXTIDR;
	c[n++].contextidr = 1;
	c[n].flags = HWTD_CTXF_VMID;
	c[n++].vmid = 1;
	c[n].flags = HWTD_CTXF_LEVEL;
	c[n++].level = 1;
	c[n].flags = HWTD_CTXF_SECURITY;
	c[n++].security = 1;
	for (size_t i = 0; i < n; i++)
		assert_int_equal(intern(f->trace, &c[i]), i);
}

static void
unknown_fields_make_no_difference(void **state)
{
	struct fixture *f = *state;
	struct hwtd_exec_context a = { .size = sizeof(a) };
	struct hwtd_exec_context b = { .size = sizeof(b) };
	struct hwtd_exec_context out = { .size = sizeof(out) };

	b.size = 0;
	b.cr3 = 5;
	b.vmcs = 6;
	b.contextidr = 7;
	b.vmid = 8;
	b.level = 1;
	b.security = 2;
	b.reserved = 3;
	assert_int_equal(intern(f->trace, &b), intern(f->trace, &a));
	assert_int_equal(hwtd_trace_exec_context(f->trace, 0, &out), HWTD_OK);
	assert_int_equal(out.size, sizeof(out));
	assert_int_equal(out.cr3, 0);
}

static void
contexts_that_were_chosen_for_a_hash_are_not_slow(void **state)
{
	static uint32_t tids[CHOSEN_KEYS];
	struct fixture *f = *state;
	struct hwtd_exec_context c;
	double start;
	uint32_t n = 0;

	memset(&c, 0, sizeof(c));
	c.size = sizeof(c);
	for (; n < CHOSEN_KEYS; c.tid++)
		if (is_chosen(XXH3_64bits(&c, sizeof(c))))
			tids[n++] = c.tid;
	start = cpu_seconds();
	for (uint32_t i = 0; i < n; i++) {
		c.tid = tids[i];
		assert_int_equal(intern(f->trace, &c), i);
	}
	assert_true(cpu_seconds() - start < chosen_seconds());
}

struct worker {
	pthread_t thread;
	struct hwtd_trace *trace;
	uint32_t start;
	uint32_t ids[CONTEXTS];
	int bad;
};

static void *
work(void *arg)
{
	struct worker *w = arg;

	for (uint32_t i = 0; i < CONTEXTS; i++) {
		const uint32_t pid = (w->start + i) % CONTEXTS;
		struct hwtd_exec_context c = { .size = sizeof(c), .pid = pid };
		struct hwtd_exec_context out = { .size = sizeof(out) };

		if (hwtdi_trace_intern_context(w->trace, &c, &w->ids[pid],
			NULL) != HWTD_OK ||
		    hwtd_trace_exec_context(w->trace, w->ids[pid], &out) !=
			HWTD_OK ||
		    out.pid != pid)
			w->bad++;
	}
	return (NULL);
}

static void
threads_agree_on_ids(void **state)
{
	static struct worker workers[THREADS];
	struct fixture *f = *state;
	struct hwtd_exec_context out = { .size = sizeof(out) };

	for (uint32_t i = 0; i < THREADS; i++) {
		workers[i].trace = f->trace;
		workers[i].start = i * (CONTEXTS / THREADS);
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work,
				     &workers[i]),
		    0);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
	for (uint32_t i = 0; i < THREADS; i++) {
		assert_int_equal(workers[i].bad, 0);
		assert_memory_equal(workers[i].ids, workers[0].ids,
		    sizeof(workers[0].ids));
	}
	assert_int_equal(hwtd_trace_exec_context(f->trace, CONTEXTS - 1, &out),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_exec_context(f->trace, CONTEXTS, &out),
	    HWTD_E_NOT_FOUND);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(ids_count_from_0_and_stay),
		T(each_known_field_makes_a_difference),
		T(unknown_fields_make_no_difference),
		T(threads_agree_on_ids),
		T(contexts_that_were_chosen_for_a_hash_are_not_slow),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
