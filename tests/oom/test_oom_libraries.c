/*
 * Every malloc() of the process fails once, so also those of the libraries
 * underneath: no crash, and what was read is right or says that it is not.
 *
 * Takes the place of malloc() and so needs glibc and no sanitizer; elsewhere
 * it is skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <hwtdecode/hwtdecode.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/temp_dir.h"

#define CASE TEST_FIXTURES "/pt-good/timing-packets-never-change-the-flow"

/* Requests until one is refused; 0: none is.  Requests so far. */
static uint64_t fail_at, requests;
/* Inside a call of the library. */
static bool armed;

#if defined(__GLIBC__)
#define EXPORT __attribute__((visibility("default")))

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

static bool
refused(void)
{
	if (!armed || ++requests != fail_at)
		return (false);
	errno = ENOMEM;
	return (true);
}

EXPORT void *
malloc(size_t bytes)
{
	return (refused() ? NULL : __libc_malloc(bytes));
}

EXPORT void *
calloc(size_t n, size_t bytes)
{
	return (refused() ? NULL : __libc_calloc(n, bytes));
}

EXPORT void *
realloc(void *old, size_t bytes)
{
	return (refused() ? NULL : __libc_realloc(old, bytes));
}
#endif

struct result {
	uint64_t rows;
	uint64_t insns;
	/* A gap says that an engine failed. */
	bool told;
	bool failed;
};

static struct temp_dir dir;
static uint8_t *packets;
static size_t n_packets;

/* True if the call failed for want of memory; other failures end the test. */
static bool
no_memory(int rc, const struct hwtd_error *err, const char *what)
{
	armed = false;
	if (rc == HWTD_OK || rc == HWTD_END)
		return (false);
	if (rc != HWTD_E_NOMEM && rc != HWTD_E_IO)
		fail_msg("request %lu: %s: %d %s", (unsigned long)fail_at,
		    what, rc, err->message);
	return (true);
}

#define FAILS(call) (armed = true, no_memory((call), &err, #call))

static bool
read_rows(struct hwtd_events *ev, struct result *out)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_stats stats = { .size = sizeof(stats) };
	struct hwtd_batch batch = { .size = sizeof(batch) };
	static struct hwtd_event rows[64];
	int rc = HWTD_OK;

	batch.events = rows;
	batch.stride = sizeof(rows[0]);
	batch.cap = 64;
	while (rc != HWTD_END) {
		if (FAILS(rc = hwtd_events_read(ev, &batch, &err)))
			return (false);
		out->rows += batch.n;
	}
	(void)hwtd_events_stats(ev, &stats);
	out->insns += stats.insns;
	if (stats.gaps[HWTD_GAP_ENGINE] + stats.gaps[HWTD_GAP_LIMIT] > 0)
		out->told = true;
	return (true);
}

static bool
read_trace(struct hwtd_trace *trace, struct result *out)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events *ev;
	bool ok;

	if (FAILS(hwtd_events_open(trace, NULL, &ev, &err)))
		return (false);
	ok = read_rows(ev, out);
	hwtd_events_close(ev);
	return (ok);
}

static bool
build(struct hwtd_context *ctx, struct hwtd_trace **out)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	struct hwtd_image_desc image = { .size = sizeof(image) };
	struct hwtd_trace *trace;
	uint32_t id;

	desc.tech = HWTD_TECH_INTEL_PT;
	desc.cpu = desc.pid = desc.tid = HWTD_NO_ID;
	image.path = CASE "/code.bin";
	image.flags = HWTD_IMAGEF_ADDRESS;
	image.address = 0x100000;
	if (FAILS(hwtd_trace_create(ctx, NULL, &trace, &err)))
		return (false);
	*out = trace;
	return (!FAILS(hwtd_trace_add_stream(trace, &desc, &id, &err)) &&
	    !FAILS(hwtd_trace_add_bytes(trace, id, packets, n_packets,
		&err)) &&
	    !FAILS(hwtd_trace_add_image(trace, &image, NULL, &err)) &&
	    !FAILS(hwtd_trace_seal(trace, &err)));
}

/* Build, read, save, open, read. */
static bool
pipeline(struct hwtd_context *ctx, struct result *out)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_save_options save = { .size = sizeof(save) };
	struct hwtd_trace *trace = NULL, *again = NULL;
	char path[300];
	bool ok;

	temp_dir_file(&dir, "saved.hwt", path);
	save.flags = HWTD_SAVE_IMAGES;
	ok = build(ctx, &trace) && read_trace(trace, out) &&
	    !FAILS(hwtd_trace_save(trace, path, &save, &err)) &&
	    !FAILS(hwtd_trace_open(ctx, path, NULL, &again, &err)) &&
	    read_trace(again, out);
	hwtd_trace_close(again);
	hwtd_trace_close(trace);
	return (ok);
}

static struct result
run(uint64_t n)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct result out = { .rows = 0 };
	struct hwtd_context *ctx;
	uint64_t held = 0;

	fail_at = n;
	requests = 0;
	if (FAILS(hwtd_context_create(NULL, &ctx, &err))) {
		out.failed = true;
		return (out);
	}
	out.failed = !pipeline(ctx, &out);
	hwtd_context_memory(ctx, &held, NULL);
	assert_int_equal(held, 0);
	hwtd_context_destroy(ctx);
	return (out);
}

static void
libraries_underneath_may_run_out_of_memory(void **state)
{
	struct result good, bad;
	uint64_t n = 0, all;

	(void)state;
	good = run(0);
	all = requests;
	if (all == 0)
		skip();
	assert_false(good.failed);
	assert_true(good.rows > 0 && !good.told);
	do {
		bad = run(++n);
		if (!bad.failed && !bad.told)
			assert_true(bad.rows == good.rows &&
			    bad.insns == good.insns);
	} while (n <= all);
	assert_false(bad.failed);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libraries_underneath_may_run_out_of_memory),
	};
	int failed;

	temp_dir_create(&dir);
	packets = read_file(CASE "/trace.pt", &n_packets);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(packets);
	temp_dir_remove(&dir);
	return (failed);
}
