/*
 * Coverage as lcov has it: known files word by word, and names of anybody's making
 * that break no line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "analysis/coverage/coverage_internal.h"
#include "support/failing_allocator.h"

struct text {
	char *bytes;
	size_t n;
	/* Bytes that are taken before it fails; 0: all. */
	size_t most;
};

static int
take(void *arg, const void *bytes, size_t n)
{
	struct text *t = arg;

	if (t->most != 0 && t->n + n > t->most)
		return (ENOSPC);
	t->bytes = realloc(t->bytes, t->n + n + 1);
	assert_non_null(t->bytes);
	memcpy(t->bytes + t->n, bytes, n);
	t->n += n;
	t->bytes[t->n] = '\0';
	return (0);
}

static int
export_lcov(struct hwtd_coverage *c, struct text *out,
    struct hwtd_export_info *info, struct hwtd_error *err)
{
	const struct hwtd_format_options how = { .size = sizeof(how),
		.format = HWTD_FORMAT_LCOV,
		.write = take,
		.write_arg = out,
		.title = "lcov has none" };
	struct hwtd_export *ex;
	int rc = hwtd_export_open_coverage(c, &how, &ex, err);

	if (rc != HWTD_OK)
		return (rc);
	while ((rc = hwtd_export_write(ex, err)) == HWTD_OK)
		;
	if (info != NULL)
		assert_int_equal(hwtd_export_info(ex, info), HWTD_OK);
	hwtd_export_close(ex);
	return (rc);
}

static uint32_t
text(struct hwtd_coverage *c, const char *value)
{
	uint32_t no;

	assert_int_equal(hwtdi_text_pool_add(&c->store.texts, c->library,
			     value, &no, NULL),
	    HWTD_OK);
	return (no);
}

static void
add(struct hwtd_coverage *c, enum hwtdi_cov_kind kind, const void *entry)
{
	assert_int_equal(hwtdi_cov_add(&c->store, 0, kind, entry, NULL),
	    HWTD_OK);
}

/* A function with one body of 8 bytes at `off`. */
static void
function(struct hwtd_coverage *c, const char *name, const char *linkage,
    const char *file, uint32_t line, uint64_t off, uint32_t flags)
{
	const struct hwtdi_cov_func f = { .name = text(c, name),
		.linkage = text(c, linkage),
		.file = text(c, file),
		.line = line,
		.image = HWTD_NO_ID };
	struct hwtdi_cov_body body = { .off = off, .flags = flags };

	assert_int_equal(hwtdi_cov_func_add(&c->store, &f, false, &body.func,
			     NULL),
	    HWTD_OK);
	add(c, HWTDI_COV_BODIES, &body);
}

static void
line(struct hwtd_coverage *c, const char *file, uint32_t no, uint64_t off,
    uint64_t count)
{
	const struct hwtdi_cov_line l = { text(c, file), no };
	const struct hwtdi_cov_count n = { off, off + 4, count };
	const struct hwtdi_cov_piece p = { .off = off,
		.end = off + 4,
		.file = l.file,
		.line = no,
		.func = HWTD_NO_ID };

	add(c, HWTDI_COV_LINES, &l);
	if (count == 0)
		return;
	add(c, HWTDI_COV_COUNTS, &n);
	add(c, HWTDI_COV_PIECES, &p);
}

static void
branch(struct hwtd_coverage *c, const char *file, uint32_t no, uint64_t off,
    uint64_t taken, uint64_t not_taken)
{
	const struct hwtdi_cov_site s = { .off = off,
		.to = off + 20,
		.file = text(c, file),
		.line = no,
		.branch = HWTD_BRANCH_CONDITIONAL,
		.length = 2,
		.is_direct = true };
	const struct hwtdi_cov_edge t = { off, off + 20, taken, 0, 1 };
	const struct hwtdi_cov_edge n = { off, off + 2, not_taken, 0, 1 };

	add(c, HWTDI_COV_SITES, &s);
	if (taken != 0)
		add(c, HWTDI_COV_EDGES, &t);
	if (not_taken != 0)
		add(c, HWTDI_COV_EDGES, &n);
}

static struct hwtd_coverage *
create(struct hwtd_context **ctx_out, struct failing_allocator *memory)
{
	const struct hwtd_context_options o = { .size = sizeof(o),
		.allocator = memory != NULL ? &memory->allocator : NULL };
	struct hwtd_coverage *c;
	uint32_t no;

	assert_int_equal(hwtd_context_create(&o, ctx_out, NULL), HWTD_OK);
	assert_int_equal(hwtd_coverage_create(*ctx_out, NULL, &c, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_cov_image_add(&c->store, "a", NULL, 0, &no,
			     NULL),
	    HWTD_OK);
	return (c);
}

static void
files_are_as_lcov_has_them(void **state)
{
	static const char want[] = "TN:\n"
				   "SF:a.c\n"
				   "FN:1,g\n"
				   "FN:2,f\n"
				   "FN:8,_ZN1a1bEii\n"
				   "FNDA:1,g\n"
				   "FNDA:5,f\n"
				   "FNDA:0,_ZN1a1bEii\n"
				   "FNF:3\n"
				   "FNH:2\n"
				   "BRDA:3,0,0,2\n"
				   "BRDA:3,0,1,3\n"
				   "BRDA:3,1,0,0\n"
				   "BRDA:3,1,1,5\n"
				   "BRDA:9,0,0,-\n"
				   "BRDA:9,0,1,-\n"
				   "BRF:6\n"
				   "BRH:3\n"
				   "DA:2,5\n"
				   "DA:3,5\n"
				   "DA:9,0\n"
				   "LF:3\n"
				   "LH:2\n"
				   "end_of_record\n"
				   "TN:\n"
				   "SF:b.c\n"
				   "DA:1,0\n"
				   "LF:1\n"
				   "LH:0\n"
				   "end_of_record\n";
	struct hwtd_export_info info = { .size = sizeof(info) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct text out = { NULL, 0, 0 };
	struct hwtd_context *ctx;
	struct hwtd_coverage *c;

	(void)state;
	c = create(&ctx, NULL);
	function(c, "f", NULL, "a.c", 2, 100, HWTDI_COV_HIT);
	function(c, "b", "_ZN1a1bEii", "a.c", 8, 200, 0);
	/* Without a line; it was entered behind its first instruction. */
	function(c, "g", NULL, "a.c", 0, 300, HWTDI_COV_HIT);
	/* Without a file it is in no file. */
	function(c, "h", NULL, NULL, 0, 400, HWTDI_COV_HIT);
	line(c, "a.c", 2, 100, 5);
	line(c, "a.c", 3, 110, 5);
	line(c, "a.c", 9, 120, 0);
	line(c, "b.c", 1, 130, 0);
	branch(c, "a.c", 3, 110, 2, 3);
	branch(c, "a.c", 3, 112, 0, 5);
	branch(c, "a.c", 9, 122, 0, 0);
	assert_int_equal(export_lcov(c, &out, &info, &err), HWTD_END);
	assert_string_equal(out.bytes, want);
	assert_int_equal(info.rows, 4);
	assert_int_equal(info.bytes, out.n);
	free(out.bytes);
	hwtd_coverage_close(c);
	hwtd_context_destroy(ctx);
}

static void
functions_of_one_name_are_told_apart(void **state)
{
	struct text out = { NULL, 0, 0 };
	struct hwtd_context *ctx;
	struct hwtd_coverage *c;

	(void)state;
	c = create(&ctx, NULL);
	function(c, "f", NULL, "a.c", 2, 100, 0);
	function(c, "f", NULL, "a.c", 7, 200, 0);
	function(c, "f", NULL, "b.c", 7, 300, 0);
	assert_int_equal(export_lcov(c, &out, NULL, NULL), HWTD_END);
	assert_non_null(strstr(out.bytes, "FN:2,f@2\nFN:7,f@7\nFNDA:0,f@2\n"));
	assert_non_null(strstr(out.bytes, "SF:b.c\nFN:7,f\nFNDA:0,f\n"));
	free(out.bytes);
	hwtd_coverage_close(c);
	hwtd_context_destroy(ctx);
}

/* Every line is one of the format, and the sums are those of the lines. */
static void
check_text(const char *text_, size_t n)
{
	unsigned long long fn = 0, fnh = 0, brda = 0, brh = 0, da = 0, lh = 0;
	unsigned long long a, b, d;
	bool in_file = false;

	assert_int_equal(strlen(text_), n);
	for (const char *at = text_; *at != '\0';) {
		const size_t bytes = strcspn(at, "\n");
		char line_[20000], count[32];

		assert_true(bytes < sizeof(line_) && at[bytes] == '\n');
		memcpy(line_, at, bytes);
		line_[bytes] = '\0';
		at += bytes + 1;
		for (const char *c = line_; *c != '\0'; c++)
			assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
		if (strcmp(line_, "TN:") == 0) {
			assert_false(in_file);
			in_file = true;
			fn = fnh = brda = brh = da = lh = 0;
		} else if (strcmp(line_, "end_of_record") == 0) {
			assert_true(in_file);
			in_file = false;
		} else if (strncmp(line_, "SF:", 3) == 0) {
			assert_true(in_file && line_[3] != '\0');
		} else if (sscanf(line_, "FN:%llu,", &a) == 1) {
			assert_null(strchr(strchr(line_, ',') + 1, ','));
			assert_true(a > 0);
			fn++;
		} else if (sscanf(line_, "FNDA:%llu,", &a) == 1) {
			assert_null(strchr(strchr(line_, ',') + 1, ','));
			fnh += a != 0;
		} else if (sscanf(line_, "FNF:%llu", &a) == 1) {
			assert_int_equal(a, fn);
		} else if (sscanf(line_, "FNH:%llu", &a) == 1) {
			assert_int_equal(a, fnh);
		} else if (sscanf(line_, "BRDA:%llu,%llu,%llu,%31s", &a, &b,
			       &d, count) == 4) {
			assert_true(d < 2);
			brda++;
			brh += strcmp(count, "-") != 0 &&
			    strcmp(count, "0") != 0;
		} else if (sscanf(line_, "BRF:%llu", &a) == 1) {
			assert_int_equal(a, brda);
		} else if (sscanf(line_, "BRH:%llu", &a) == 1) {
			assert_int_equal(a, brh);
		} else if (sscanf(line_, "DA:%llu,%llu", &a, &b) == 2) {
			da++;
			lh += b != 0;
		} else if (sscanf(line_, "LF:%llu", &a) == 1) {
			assert_int_equal(a, da);
		} else if (sscanf(line_, "LH:%llu", &a) == 1) {
			assert_int_equal(a, lh);
		} else {
			fail_msg("no line of lcov: %.200s", line_);
		}
	}
	assert_false(in_file);
}

static void
hostile_names_break_no_line(void **state)
{
	char *large = malloc(65537);
	const char *const names[] = { "a,b",
		"a\nDA:1,5\nend_of_record\nTN:", "\r", "\x01\x7f",
		"\xff\xfe\x80", "\xc3", "\xe2\x80\xa8", "\"';",
		"end_of_record", "SF:a", large };
	struct text out = { NULL, 0, 0 };
	struct hwtd_context *ctx;
	struct hwtd_coverage *c;

	(void)state;
	assert_non_null(large);
	memset(large, ',', 65536);
	large[65536] = '\0';
	c = create(&ctx, NULL);
	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		function(c, names[i], NULL, names[i], i, 100 * i,
		    HWTDI_COV_HIT);
		function(c, "x", names[i], "x.c", i, 100 * i + 50, 0);
		line(c, names[i], i + 1, 100 * i, i);
		branch(c, names[i], i + 1, 100 * i + 3, i, 1);
	}
	assert_int_equal(export_lcov(c, &out, NULL, NULL), HWTD_END);
	check_text(out.bytes, out.n);
	assert_non_null(strstr(out.bytes, "FN:1,a\\x2cb\n"));
	assert_non_null(strstr(out.bytes,
	    "SF:a\\x0aDA:1,5\\x0aend_of_record\\x0aTN:\n"));
	assert_non_null(strstr(out.bytes,
	    "SF:\xef\xbf\xbd\xef\xbf\xbd"
	    "\xef\xbf\xbd\n"));
	free(out.bytes);
	free(large);
	hwtd_coverage_close(c);
	hwtd_context_destroy(ctx);
}

static void
what_fails_is_said(void **state)
{
	struct hwtd_format_options how = { .size = sizeof(how),
		.format = HWTD_FORMAT_PERFETTO,
		.write = take };
	struct hwtd_error err = { .size = sizeof(err) };
	struct failing_allocator memory;
	struct text out = { NULL, 0, 1 };
	struct hwtd_export *ex;
	struct hwtd_context *ctx;
	struct hwtd_coverage *c;
	int rc;

	(void)state;
	failing_allocator_init(&memory);
	c = create(&ctx, &memory);
	function(c, "f", NULL, "a.c", 2, 100, 0);
	line(c, "a.c", 2, 100, 5);
	assert_int_equal(export_lcov(c, &out, NULL, &err), HWTD_E_IO);
	assert_int_equal(err.sys_errno, ENOSPC);
	assert_int_equal(hwtd_export_open_coverage(c, &how, &ex, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_export_open_coverage(NULL, &how, &ex, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_export_open_coverage(c, NULL, &ex, &err),
	    HWTD_E_INVALID);
	out.most = 0;
	for (uint64_t n = 1;; n++) {
		hwtdi_cov_sums_fini(&c->sums);
		failing_allocator_arm(&memory, n, false);
		rc = export_lcov(c, &out, NULL, &err);
		failing_allocator_arm(&memory, 0, false);
		if (rc == HWTD_END)
			break;
		assert_int_equal(rc, HWTD_E_NOMEM);
	}
	free(out.bytes);
	hwtd_coverage_close(c);
	hwtd_context_destroy(ctx);
	assert_int_equal(memory.blocks, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_as_lcov_has_them),
		cmocka_unit_test(functions_of_one_name_are_told_apart),
		cmocka_unit_test(hostile_names_break_no_line),
		cmocka_unit_test(what_fails_is_said),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
