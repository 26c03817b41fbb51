/*
 * Option structs of older and newer callers: a shorter one is taken as it is,
 * a longer one only when what this library does not know is zero.
 */
#include <hwtdecode/hwtdecode.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Room behind a struct for fields of the future. */
#define FUTURE 64

struct fixture {
	struct hwtd_context *ctx;
	struct hwtd_trace *building;
	struct hwtd_trace *sealed;
	/* Raw bytes to open, and a file to save to. */
	char raw[32];
	char saved[32];
	char empty[32];
};

/* Calls an entry with `opts` as its option struct and undoes what it did. */
typedef int (*call_fn)(struct fixture *f, void *opts, struct hwtd_error *err);

/* A file in the working folder that holds `n` bytes; its name is filled in. */
static int
make_file(char name[32], const void *bytes, size_t n)
{
	int fd;

	(void)snprintf(name, 32, "test_sizes.XXXXXX");
	fd = mkstemp(name);
	if (fd < 0)
		return (-1);
	if (write(fd, bytes, n) != (ssize_t)n) {
		(void)close(fd);
		return (-1);
	}
	return (close(fd));
}

static int
setup(void **state)
{
	/* Source: Intel SDM vol. 3C, "Packet Stream Boundary (PSB) Packet". */
	static const uint8_t psb[] = { 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
		0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
		/* PSBEND. */
		0x02, 0x23 };
	struct fixture *f = calloc(1, sizeof(*f));

	if (f == NULL || make_file(f->raw, psb, sizeof(psb)) != 0 ||
	    make_file(f->saved, "", 0) != 0 ||
	    make_file(f->empty, "", 0) != 0 ||
	    hwtd_context_create(NULL, &f->ctx, NULL) != HWTD_OK ||
	    hwtd_trace_create(f->ctx, NULL, &f->building, NULL) != HWTD_OK ||
	    hwtd_trace_create(f->ctx, NULL, &f->sealed, NULL) != HWTD_OK ||
	    hwtd_trace_seal(f->sealed, NULL) != HWTD_OK)
		return (-1);
	*state = f;
	return (0);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	hwtd_trace_close(f->building);
	hwtd_trace_close(f->sealed);
	hwtd_context_destroy(f->ctx);
	(void)unlink(f->raw);
	(void)unlink(f->saved);
	(void)unlink(f->empty);
	free(f);
	return (0);
}

static int
call_context(struct fixture *f, void *opts, struct hwtd_error *err)
{
	struct hwtd_context *ctx = NULL;
	int rc = hwtd_context_create(opts, &ctx, err);

	(void)f;
	hwtd_context_destroy(ctx);
	return (rc);
}

static int
call_trace(struct fixture *f, void *opts, struct hwtd_error *err)
{
	struct hwtd_trace *trace = NULL;
	int rc = hwtd_trace_create(f->ctx, opts, &trace, err);

	hwtd_trace_close(trace);
	return (rc);
}

static int
call_open(struct fixture *f, void *opts, struct hwtd_error *err)
{
	struct hwtd_trace *trace = NULL;
	int rc = hwtd_trace_open(f->ctx, f->raw, opts, &trace, err);

	hwtd_trace_close(trace);
	return (rc);
}

/* The path, where there is room for it, is the fixture's. */
static int
call_perf_records(struct fixture *f, void *opts, struct hwtd_error *err)
{
	const size_t end = offsetof(struct hwtd_perf_records, path) +
	    sizeof(const char *);
	const struct hwtd_open_options o = { .size = sizeof(o),
		.tech = HWTD_TECH_INTEL_PT,
		.perf_records = opts,
		.n_perf_records = 1 };
	const char *path = f->empty;
	struct hwtd_trace *trace = NULL;
	size_t size;
	int rc;

	memcpy(&size, opts, sizeof(size));
	if (size >= end)
		memcpy((uint8_t *)opts + end - sizeof(path), &path,
		    sizeof(path));
	rc = hwtd_trace_open(f->ctx, f->raw, &o, &trace, err);
	hwtd_trace_close(trace);
	return (rc);
}

static int
call_save(struct fixture *f, void *opts, struct hwtd_error *err)
{
	return (hwtd_trace_save(f->sealed, f->saved, opts, err));
}

static int
call_stream(struct fixture *f, void *opts, struct hwtd_error *err)
{
	uint32_t id;

	return (hwtd_trace_add_stream(f->building, opts, &id, err));
}

static int
call_record(struct fixture *f, void *opts, struct hwtd_error *err)
{
	return (hwtd_trace_add_record(f->building, opts, err));
}

static int
call_image(struct fixture *f, void *opts, struct hwtd_error *err)
{
	return (hwtd_trace_add_image(f->building, opts, NULL, err));
}

static int
call_events(struct fixture *f, void *opts, struct hwtd_error *err)
{
	struct hwtd_events *ev = NULL;
	int rc = hwtd_events_open(f->sealed, opts, &ev, err);

	hwtd_events_close(ev);
	return (rc);
}

static int
call_export(struct fixture *f, void *opts, struct hwtd_error *err)
{
	struct ArrowArrayStream stream;
	struct hwtd_events *ev = NULL;
	int rc = hwtd_events_open(f->sealed, NULL, &ev, err);

	if (rc == HWTD_OK)
		rc = hwtd_events_export(ev, opts, &stream, err);
	if (rc == HWTD_OK)
		stream.release(&stream);
	else
		hwtd_events_close(ev);
	return (rc);
}

static int
call_runs(struct fixture *f, void *opts, struct hwtd_error *err)
{
	struct hwtd_runs *runs = NULL;
	int rc = hwtd_runs_open(f->sealed, opts, &runs, err);

	hwtd_runs_close(runs);
	return (rc);
}

static int
call_memory(struct fixture *f, void *opts, struct hwtd_error *err)
{
	struct hwtd_memory *memory = NULL;
	int rc = hwtd_memory_open(f->sealed, opts, &memory, err);

	hwtd_memory_close(memory);
	return (rc);
}

static int
call_symbolizer(struct fixture *f, void *opts, struct hwtd_error *err)
{
	struct hwtd_symbolizer *symbolizer = NULL;
	int rc = hwtd_symbolizer_open(f->sealed, opts, &symbolizer, err);

	hwtd_symbolizer_close(symbolizer);
	return (rc);
}

static int
call_profile(struct fixture *f, void *opts, struct hwtd_error *err)
{
	struct hwtd_profile *profile = NULL;
	int rc = hwtd_profile_create(f->ctx, opts, &profile, err);

	hwtd_profile_destroy(profile);
	return (rc);
}

static int
call_flame(struct fixture *f, void *opts, struct hwtd_error *err)
{
	struct hwtd_profile *profile = NULL;
	struct hwtd_flame *flame = NULL;
	int rc = hwtd_profile_create(f->ctx, NULL, &profile, err);

	if (rc == HWTD_OK)
		rc = hwtd_flame_open(profile, opts, &flame, err);
	hwtd_flame_close(flame);
	hwtd_profile_destroy(profile);
	return (rc);
}

static int
call_calls(struct fixture *f, void *opts, struct hwtd_error *err)
{
	struct hwtd_calls *calls = NULL;
	int rc = hwtd_calls_open(f->sealed, opts, &calls, err);

	hwtd_calls_close(calls);
	return (rc);
}

static int
call_events_of_calls(struct fixture *f, void *opts, struct hwtd_error *err)
{
	const struct hwtd_calls_options o = { .size = sizeof(o),
		.events = opts };
	struct hwtd_calls *calls = NULL;
	int rc = hwtd_calls_open(f->sealed, &o, &calls, err);

	hwtd_calls_close(calls);
	return (rc);
}

static int
call_events_of_runs(struct fixture *f, void *opts, struct hwtd_error *err)
{
	const struct hwtd_runs_options o = { .size = sizeof(o),
		.events = opts };
	struct hwtd_runs *runs = NULL;
	int rc = hwtd_runs_open(f->sealed, &o, &runs, err);

	hwtd_runs_close(runs);
	return (rc);
}

static int
call_pt_config(struct fixture *f, void *opts, struct hwtd_error *err)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	uint32_t id;

	desc.tech = HWTD_TECH_INTEL_PT;
	desc.pt = opts;
	return (hwtd_trace_add_stream(f->building, &desc, &id, err));
}

static const uint8_t nop[1] = { 0x90 };
static const struct hwtd_stream_desc a_stream = {
	.size = sizeof(a_stream),
	.tech = HWTD_TECH_INTEL_PT,
	.cpu = HWTD_NO_ID,
	.pid = HWTD_NO_ID,
	.tid = HWTD_NO_ID,
};
static const struct hwtd_record a_record = {
	.size = sizeof(a_record),
	.type = HWTD_REC_EXIT,
	.cpu = HWTD_NO_ID,
	.pid = 1,
	.tid = 1,
	.stream = HWTD_NO_ID,
	.image = HWTD_NO_ID,
};
static const struct hwtd_image_desc an_image = {
	.size = sizeof(an_image),
	.path = "nop",
	.bytes = nop,
	.n_bytes = sizeof(nop),
};

static const struct {
	const char *name;
	call_fn call;
	size_t known;
	/* A valid struct; NULL: all zero is valid. */
	const void *valid;
} cases[] = {
	{ "context options", call_context, sizeof(struct hwtd_context_options),
	    NULL },
	{ "trace options", call_trace, sizeof(struct hwtd_trace_options),
	    NULL },
	{ "open options", call_open, sizeof(struct hwtd_open_options), NULL },
	{ "records of perf", call_perf_records,
	    sizeof(struct hwtd_perf_records), NULL },
	{ "save options", call_save, sizeof(struct hwtd_save_options), NULL },
	{ "stream", call_stream, sizeof(a_stream), &a_stream },
	{ "record", call_record, sizeof(a_record), &a_record },
	{ "image", call_image, sizeof(an_image), &an_image },
	{ "events options", call_events, sizeof(struct hwtd_events_options),
	    NULL },
	{ "export options", call_export, sizeof(struct hwtd_export_options),
	    NULL },
	{ "runs options", call_runs, sizeof(struct hwtd_runs_options), NULL },
	{ "profile options", call_profile, sizeof(struct hwtd_profile_options),
	    NULL },
	{ "flame options", call_flame, sizeof(struct hwtd_flame_options),
	    NULL },
	{ "calls options", call_calls, sizeof(struct hwtd_calls_options),
	    NULL },
	{ "events options of calls", call_events_of_calls,
	    sizeof(struct hwtd_events_options), NULL },
	{ "memory options", call_memory, sizeof(struct hwtd_memory_options),
	    NULL },
	{ "symbolizer options", call_symbolizer,
	    sizeof(struct hwtd_symbolizer_options), NULL },
	{ "events options of runs", call_events_of_runs,
	    sizeof(struct hwtd_events_options), NULL },
	{ "configuration of Intel PT", call_pt_config,
	    sizeof(struct hwtd_pt_config), NULL },
};

#define N_CASES (sizeof(cases) / sizeof(cases[0]))

/* Call case `i` with `valid` cut to `size`, or zeros, and a last byte. */
static int
call_with(struct fixture *f, size_t i, const void *valid, size_t size,
    uint8_t tail, struct hwtd_error *err)
{
	/* Exactly `size` bytes, so that a sanitizer sees reads past them. */
	uint8_t *opts = calloc(1, size > sizeof(size) ? size : sizeof(size));
	int rc;

	assert_non_null(opts);
	if (valid != NULL)
		memcpy(opts, valid,
		    size < cases[i].known ? size : cases[i].known);
	if (tail != 0)
		opts[size - 1] = tail;
	memcpy(opts, &size, sizeof(size));
	memset(err, 0, sizeof(*err));
	err->size = sizeof(*err);
	rc = cases[i].call(f, opts, err);
	free(opts);
	return (rc);
}

static int
call(struct fixture *f, size_t i, size_t size, uint8_t tail,
    struct hwtd_error *err)
{
	return (call_with(f, i, cases[i].valid, size, tail, err));
}

static void
size_as_known_is_taken(void **state)
{
	struct hwtd_error err;
	int rc;

	for (size_t i = 0; i < N_CASES; i++) {
		print_message("case %s\n", cases[i].name);
		rc = call(*state, i, cases[i].known, 0, &err);
		assert_int_equal(rc, HWTD_OK);
	}
}

static void
newer_caller_with_zero_tail_is_taken(void **state)
{
	struct hwtd_error err;
	int rc;

	for (size_t i = 0; i < N_CASES; i++) {
		print_message("case %s\n", cases[i].name);
		rc = call(*state, i, cases[i].known + FUTURE, 0, &err);
		assert_int_equal(rc, HWTD_OK);
	}
}

static void
newer_caller_with_unknown_option_is_refused(void **state)
{
	struct hwtd_error err;
	int rc;

	for (size_t i = 0; i < N_CASES; i++) {
		print_message("case %s\n", cases[i].name);
		rc = call(*state, i, cases[i].known + FUTURE, 1, &err);
		assert_int_equal(rc, HWTD_E_TOO_NEW);
		assert_int_equal(err.code, HWTD_E_TOO_NEW);
		assert_true(err.message[0] != '\0');
	}
}

static void
older_caller_without_last_member_is_taken(void **state)
{
	struct hwtd_error err;
	int rc;

	for (size_t i = 0; i < N_CASES; i++) {
		print_message("case %s\n", cases[i].name);
		rc = call(*state, i, cases[i].known - 8, 0, &err);
		assert_int_equal(rc, HWTD_OK);
	}
}

static void
size_zero_is_misuse(void **state)
{
	struct hwtd_error err;
	int rc;

	for (size_t i = 0; i < N_CASES; i++) {
		print_message("case %s\n", cases[i].name);
		rc = call(*state, i, 0, 0, &err);
		assert_int_equal(rc, HWTD_E_INVALID);
	}
}

static void
no_size_reads_outside_the_struct(void **state)
{
	struct hwtd_error err;

	for (size_t i = 0; i < N_CASES; i++)
		for (size_t n = 0; n < cases[i].known + FUTURE; n++)
			(void)call_with(*state, i, NULL, n, 0, &err);
}

static void
older_result_struct_gets_what_fits(void **state)
{
	struct fixture *f = *state;
	struct hwtd_trace_info info;
	uint8_t *older = malloc(16);
	int rc;

	assert_non_null(older);
	memset(&info, 0xff, sizeof(info));
	info.size = 16;
	memcpy(older, &info, 16);
	rc = hwtd_trace_info(f->sealed, (void *)older);
	assert_int_equal(rc, HWTD_OK);
	memcpy(&info, older, 16);
	assert_int_equal(info.size, 16);
	assert_int_equal(info.n_streams, 0);
	free(older);
}

static void
newer_result_struct_gets_zeros_behind(void **state)
{
	struct fixture *f = *state;
	struct {
		struct hwtd_trace_info info;
		uint8_t future[FUTURE];
	} newer;

	memset(&newer, 0xff, sizeof(newer));
	newer.info.size = sizeof(newer);
	assert_int_equal(hwtd_trace_info(f->sealed, &newer.info), HWTD_OK);
	for (size_t i = 0; i < sizeof(newer.future); i++)
		assert_int_equal(newer.future[i], 0);
}

static void
older_error_struct_is_not_overrun(void **state)
{
	const size_t older = offsetof(struct hwtd_error, message) + 8;
	uint8_t *err = calloc(1, older);
	int32_t code;
	int rc;

	(void)state;
	assert_non_null(err);
	memcpy(err, &older, sizeof(older));
	rc = hwtd_context_create(NULL, NULL, (void *)err);
	assert_int_equal(rc, HWTD_E_INVALID);
	memcpy(&code, err + offsetof(struct hwtd_error, code), sizeof(code));
	assert_int_equal(code, HWTD_E_INVALID);
	/* Its text ends inside it. */
	assert_non_null(memchr(err + offsetof(struct hwtd_error, message), 0,
	    older - offsetof(struct hwtd_error, message)));
	free(err);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(size_as_known_is_taken),
		cmocka_unit_test(newer_caller_with_zero_tail_is_taken),
		cmocka_unit_test(newer_caller_with_unknown_option_is_refused),
		cmocka_unit_test(older_caller_without_last_member_is_taken),
		cmocka_unit_test(size_zero_is_misuse),
		cmocka_unit_test(no_size_reads_outside_the_struct),
		cmocka_unit_test(older_result_struct_gets_what_fits),
		cmocka_unit_test(newer_result_struct_gets_zeros_behind),
		cmocka_unit_test(older_error_struct_is_not_overrun),
	};

	return (cmocka_run_group_tests(tests, setup, teardown));
}
