/*
 * A test of one .hwt file put together by hand.
 */
#include "support/hand_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

int
hand_set_up(void **state)
{
	struct hand_fixture *f = calloc(1, sizeof(*f));

	temp_dir_create(&f->dir);
	(void)temp_dir_file(&f->dir, "hand.hwt", f->path);
	assert_int_equal(hwtd_context_create(NULL, &f->ctx, NULL), HWTD_OK);
	hand_init(&f->file, 1, 0);
	*state = f;
	return (0);
}

int
hand_tear_down(void **state)
{
	struct hand_fixture *f = *state;
	uint64_t now = 1;

	hwtd_context_memory(f->ctx, &now, NULL);
	assert_int_equal(now, 0);
	hwtd_context_destroy(f->ctx);
	temp_dir_remove(&f->dir);
	hand_free(&f->file);
	free(f);
	return (0);
}

void
hand_again(struct hand_fixture *f)
{
	hand_free(&f->file);
	hand_init(&f->file, 1, 0);
}

int
hand_open(struct hand_fixture *f, struct hwtd_trace **out,
    struct hwtd_error *err)
{
	memset(err, 0, sizeof(*err));
	err->size = sizeof(*err);
	hand_save(&f->file, f->path);
	return (hwtd_trace_open(f->ctx, f->path, NULL, out, err));
}

struct hwtd_trace *
hand_must_open(struct hand_fixture *f)
{
	struct hwtd_error err;
	struct hwtd_trace *trace = NULL;

	if (hand_open(f, &trace, &err) != HWTD_OK)
		fail_msg("%s", err.message);
	return (trace);
}

uint32_t
n_damages(const struct hwtd_trace *trace)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };

	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	return (info.n_damages);
}

struct hwtd_damage
damage_at(const struct hwtd_trace *trace, size_t i)
{
	struct hwtd_damage d = { .size = sizeof(d) };

	assert_int_equal(hwtd_trace_damage(trace, i, &d), HWTD_OK);
	return (d);
}

void
assert_stream(const struct hwtd_trace *trace, uint32_t stream, uint64_t off,
    const char *want)
{
	char got[100];
	size_t n;

	assert_int_equal(hwtd_trace_read_bytes(trace, stream, off, got,
			     strlen(want), &n, NULL),
	    HWTD_OK);
	assert_int_equal(n, strlen(want));
	assert_memory_equal(got, want, n);
}
