/*
 * The caller's error struct, and structs of other sizes than ours.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/fail.h"

static void
failure_fills_the_struct(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };

	(void)state;
	assert_int_equal(hwtdi_fail(&err, HWTD_E_CORRUPT, "value %d", 7),
	    HWTD_E_CORRUPT);
	assert_int_equal(err.size, sizeof(err));
	assert_int_equal(err.code, HWTD_E_CORRUPT);
	assert_int_equal(err.sys_errno, 0);
	assert_true(err.offset == UINT64_MAX);
	assert_true(err.addr == UINT64_MAX);
	assert_string_equal(err.message, "value 7");
	assert_int_equal(hwtdi_fail_at(&err, HWTD_E_LIMIT, 99, "x"),
	    HWTD_E_LIMIT);
	assert_int_equal(err.offset, 99);
	assert_int_equal(hwtdi_fail_sys(&err, ENOENT, "x"), HWTD_E_IO);
	assert_int_equal(err.sys_errno, ENOENT);
	assert_true(err.offset == UINT64_MAX);
	assert_int_equal(hwtdi_fail_nomem(&err, 12), HWTD_E_NOMEM);
	assert_non_null(strstr(err.message, "12"));
	assert_int_equal(hwtdi_fail(NULL, HWTD_E_IO, "x"), HWTD_E_IO);
}

static void
long_messages_are_cut_at_the_tail(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	char text[500];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	(void)hwtdi_fail(&err, HWTD_E_IO, "%s", text);
	assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
	hwtdi_fail_prefix(&err, "file %d", 3);
	assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
	assert_memory_equal(err.message, "file 3: aaa", 11);
}

static void
context_goes_in_front(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };

	(void)state;
	(void)hwtdi_fail_at(&err, HWTD_E_CORRUPT, 5, "bad");
	hwtdi_fail_prefix(&err, "inner");
	hwtdi_fail_prefix(&err, "outer");
	assert_string_equal(err.message, "outer: inner: bad");
	assert_int_equal(err.offset, 5);
	hwtdi_fail_prefix(NULL, "x");
}

/* A caller with an older, shorter error struct. */
static void
shorter_struct_is_not_overrun(void **state)
{
	union {
		struct hwtd_error err;
		uint8_t bytes[sizeof(struct hwtd_error)];
	} u;
	const size_t part = offsetof(struct hwtd_error, message) + 4;

	(void)state;
	memset(&u, 0x77, sizeof(u));
	u.err.size = part;
	(void)hwtdi_fail(&u.err, HWTD_E_IO, "abcdefgh");
	assert_int_equal(u.err.size, part);
	assert_memory_equal(u.err.message, "abc", 4);
	assert_int_equal(u.bytes[part], 0x77);
	u.err.size = 3;
	u.err.code = 1;
	(void)hwtdi_fail(&u.err, HWTD_E_IO, "x");
	assert_int_equal(u.err.code, 1);
}

struct options {
	size_t size;
	uint32_t a;
	uint32_t b;
};

static void
options_of_every_size_are_copied_or_refused(void **state)
{
	struct {
		struct options known;
		uint8_t more[8];
	} user = { .known = { .a = 1, .b = 2 } };
	struct options out;

	(void)state;
	assert_int_equal(hwtdi_options_copy(&out, sizeof(out), NULL, NULL),
	    HWTD_OK);
	assert_int_equal(out.size, sizeof(out));
	assert_int_equal(out.a, 0);
	for (size_t size = 0; size <= sizeof(user); size++) {
		int rc;

		user.known.size = size;
		rc = hwtdi_options_copy(&out, sizeof(out), &user.known, NULL);
		if (size < sizeof(size_t)) {
			assert_int_equal(rc, HWTD_E_INVALID);
			continue;
		}
		assert_int_equal(rc, HWTD_OK);
		assert_int_equal(out.size, sizeof(out));
		if (size >= offsetof(struct options, b))
			assert_int_equal(out.a, 1);
		if (size >= sizeof(struct options))
			assert_int_equal(out.b, 2);
		else if (size <= offsetof(struct options, b))
			assert_int_equal(out.b, 0);
	}
	user.more[7] = 1;
	assert_int_equal(hwtdi_options_copy(&out, sizeof(out), &user.known,
			     NULL),
	    HWTD_E_TOO_NEW);
	user.known.size = sizeof(user) - 1;
	assert_int_equal(hwtdi_options_copy(&out, sizeof(out), &user.known,
			     NULL),
	    HWTD_OK);
}

static void
results_fit_the_callers_size(void **state)
{
	const struct options result = { sizeof(result), 1, 2 };
	struct {
		struct options known;
		uint8_t more[8];
	} user;

	(void)state;
	memset(&user, 0x77, sizeof(user));
	user.known.size = sizeof(user);
	assert_int_equal(hwtdi_result_copy(&user, &result, sizeof(result)),
	    HWTD_OK);
	assert_int_equal(user.known.size, sizeof(user));
	assert_int_equal(user.known.b, 2);
	assert_int_equal(user.more[0], 0);
	assert_int_equal(user.more[7], 0);
	memset(&user, 0x77, sizeof(user));
	user.known.size = offsetof(struct options, b);
	assert_int_equal(hwtdi_result_copy(&user, &result, sizeof(result)),
	    HWTD_OK);
	assert_int_equal(user.known.a, 1);
	assert_int_equal(user.known.b, 0x77777777);
	user.known.size = 0;
	assert_int_equal(hwtdi_result_copy(&user, &result, sizeof(result)),
	    HWTD_E_INVALID);
}

static void
an_error_that_is_passed_on_keeps_all_it_says(void **state)
{
	static const int codes[] = { HWTD_E_IO, HWTD_E_UNSUPPORTED,
		HWTD_E_CORRUPT };

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		const struct hwtd_error inner = {
			.size = sizeof(inner),
			.code = codes[i],
			.sys_errno = ENOENT,
			.offset = 0x1234,
			.message = "no such thing",
		};
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtd_error tiny = { .size = sizeof(size_t) };

		assert_int_equal(hwtdi_fail_pass(&err, &inner), codes[i]);
		assert_int_equal(err.code, codes[i]);
		assert_int_equal(err.sys_errno, ENOENT);
		assert_int_equal(err.offset, 0x1234);
		assert_string_equal(err.message, "no such thing");
		/* Nobody's, or too small for a number. */
		assert_int_equal(hwtdi_fail_pass(NULL, &inner), codes[i]);
		assert_int_equal(hwtdi_fail_pass(&tiny, &inner), codes[i]);
		assert_int_equal(tiny.sys_errno, 0);
	}
}

static void
every_code_has_a_text_of_its_own(void **state)
{
	static const int codes[] = { HWTD_OK, HWTD_END, HWTD_AGAIN,
		HWTD_E_INVALID, HWTD_E_NOMEM, HWTD_E_IO, HWTD_E_LIMIT,
		HWTD_E_TOO_NEW, HWTD_E_NOT_FOUND, HWTD_E_STATE, HWTD_E_CORRUPT,
		HWTD_E_UNRECOGNIZED, HWTD_E_UNSUPPORTED, HWTD_E_ENGINE,
		12345 };
	const size_t n = sizeof(codes) / sizeof(codes[0]);

	(void)state;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(hwtd_code_text(codes[i]),
			    hwtd_code_text(codes[k]));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failure_fills_the_struct),
		cmocka_unit_test(long_messages_are_cut_at_the_tail),
		cmocka_unit_test(context_goes_in_front),
		cmocka_unit_test(shorter_struct_is_not_overrun),
		cmocka_unit_test(options_of_every_size_are_copied_or_refused),
		cmocka_unit_test(results_fit_the_callers_size),
		cmocka_unit_test(an_error_that_is_passed_on_keeps_all_it_says),
		cmocka_unit_test(every_code_has_a_text_of_its_own),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
