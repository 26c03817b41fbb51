/*
 * Every allocation of every step, from opening to closing, fails once: the
 * call says so, nothing leaks, and the same call works when memory is back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <hwtdecode/hwtdecode.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/mapped_trace.h"
#include "support/temp_dir.h"

#define CASE(name) TEST_FIXTURES "/pt-good/" name
/* Details of all kinds, several contexts, time. */
#define FULL CASE("power-events-tell-the-sleep-and-the-wake")
#define TIMED CASE("timing-packets-never-change-the-flow")

/* What a failed step does. */
enum policy {
	/* All that was made is given up. */
	GIVE_UP,
	/* Memory comes back, and the step is made again. */
	TRY_AGAIN
};

struct run {
	struct failing_allocator memory;
	enum policy policy;
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	struct hwtd_events *ev;
	struct hwtd_packets *packets;
	/* What was read: a hash over rows and details. */
	uint64_t hash;
	uint64_t rows;
	/* The first failure. */
	int rc;
	bool failed_once;
};

static struct temp_dir dir;

/* True: the step is done.  `again` is set if it is to be made again. */
static bool
judge(struct run *r, int rc, const struct hwtd_error *err, const char *what,
    bool *again)
{
	*again = false;
	if (rc == HWTD_OK || rc == HWTD_END)
		return (true);
	if (rc != HWTD_E_NOMEM)
		fail_msg("%s: %d %s", what, rc, err->message);
	if (err->code != HWTD_E_NOMEM)
		fail_msg("%s: the error says %d, the call %d", what, err->code,
		    rc);
	if (r->failed_once)
		fail_msg("%s: failed twice: %s", what, err->message);
	r->failed_once = true;
	r->rc = rc;
	*again = r->policy == TRY_AGAIN;
	failing_allocator_arm(&r->memory, 0, false);
	return (false);
}

/* Make a call; leave the function if it failed for good. */
#define STEP(r, call)                                                         \
	do {                                                                  \
		struct hwtd_error err = { .size = sizeof(err) };              \
		bool again_ = true;                                           \
		while (again_ && !judge((r), (call), &err, #call, &again_))   \
			if (!again_)                                          \
				return (false);                               \
	} while (0)

static void
add_hash(struct run *r, const void *bytes, size_t n)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < n; i++)
		r->hash = (r->hash ^ at[i]) * 1099511628211u;
}

static void
add_rows(struct run *r, const struct hwtd_batch *b)
{
	/* Numbers of details count from the start of a batch, which may end
	 * elsewhere after a failure; so details are taken in their place. */
	for (size_t i = 0; i < b->n; i++) {
		struct hwtd_event row = b->events[i];

		if (row.kind == HWTD_EV_GAP)
			add_hash(r, &b->gaps[row.value], sizeof(*b->gaps));
		else if (row.kind == HWTD_EV_MARKER)
			add_hash(r, &b->markers[row.value],
			    sizeof(*b->markers));
		else if (row.kind == HWTD_EV_POWER)
			add_hash(r, &b->powers[row.value], sizeof(*b->powers));
		row.value = 0;
		add_hash(r, &row, sizeof(row));
	}
	r->rows += b->n;
}

static const struct hwtd_range everything = { 0, UINT64_MAX };

static int
open_events(struct run *r, uint32_t level, uint32_t jobs,
    struct hwtd_error *err)
{
	struct hwtd_events_options opts = { .size = sizeof(opts) };

	opts.level = level;
	opts.jobs = jobs;
	opts.engine = "libipt";
	opts.addresses = &everything;
	opts.n_addresses = 1;
	return (hwtd_events_open(r->trace, &opts, &r->ev, err));
}

/* Where a cursor is put before it is read. */
enum place {
	AT_START,
	SOUGHT_BY_TIME,
	SOUGHT_BY_OFFSET
};

static int
seek(struct run *r, enum place place, struct hwtd_error *err)
{
	return (place == SOUGHT_BY_OFFSET
		? hwtd_events_seek_offset(r->ev, 0, 0, err)
		: hwtd_events_seek_ns(r->ev, 0, err));
}

/* A cursor whose read failed must be sought, or closed. */
static void
recover(struct run *r, enum place place, uint32_t level, uint32_t jobs)
{
	struct hwtd_error err = { .size = sizeof(err) };

	if (place == AT_START) {
		hwtd_events_close(r->ev);
		r->ev = NULL;
		assert_int_equal(open_events(r, level, jobs, &err), HWTD_OK);
	} else {
		assert_int_equal(seek(r, place, &err), HWTD_OK);
	}
}

static bool
read_all(struct run *r, enum place place, uint32_t level, uint32_t jobs)
{
	struct hwtd_event rows[16];
	struct hwtd_batch batch = { .size = sizeof(batch) };
	uint64_t hash = r->hash, n = r->rows;
	int rc = HWTD_OK;

	batch.events = rows;
	batch.stride = sizeof(rows[0]);
	batch.cap = 16;
	while (rc != HWTD_END) {
		struct hwtd_error err = { .size = sizeof(err) };
		bool again;

		rc = hwtd_events_read(r->ev, &batch, &err);
		if (!judge(r, rc, &err, "hwtd_events_read", &again)) {
			if (!again)
				return (false);
			recover(r, place, level, jobs);
			r->hash = hash;
			r->rows = n;
			rc = HWTD_OK;
			continue;
		}
		if (rc == HWTD_OK)
			add_rows(r, &batch);
	}
	return (true);
}

static bool
read_events(struct run *r, uint32_t level, uint32_t jobs)
{
	STEP(r, open_events(r, level, jobs, &err));
	if (!read_all(r, AT_START, level, jobs))
		return (false);
	for (int place = SOUGHT_BY_TIME; place <= SOUGHT_BY_OFFSET; place++) {
		STEP(r, seek(r, (enum place)place, &err));
		if (!read_all(r, (enum place)place, level, jobs))
			return (false);
	}
	hwtd_events_close(r->ev);
	r->ev = NULL;
	return (true);
}

static bool
read_bytes(struct run *r)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	uint8_t buf[256];
	size_t n = 0;

	for (uint32_t i = 0; hwtd_trace_stream(r->trace, i, &desc) == HWTD_OK;
	     i++) {
		STEP(r,
		    hwtd_trace_read_bytes(r->trace, i, 0, buf, sizeof(buf), &n,
			&err));
		add_hash(r, buf, n);
	}
	return (true);
}

/* A read that failed is made again; nothing is lost by it. */
static bool
read_packets(struct run *r, uint32_t stream, uint32_t flags)
{
	struct hwtd_packets_options opts = { .size = sizeof(opts) };
	struct hwtd_packet_batch batch = { .size = sizeof(batch) };
	int rc = HWTD_OK;

	opts.stream = stream;
	opts.first = 8;
	opts.flags = HWTD_PACKETS_NO_SYNC | flags;
	STEP(r, hwtd_packets_open(r->trace, &opts, &r->packets, &err));
	while (rc != HWTD_END) {
		struct hwtd_error err = { .size = sizeof(err) };
		bool again;

		rc = hwtd_packets_read(r->packets, &batch, &err);
		if (!judge(r, rc, &err, "hwtd_packets_read", &again) && !again)
			return (false);
		if (rc != HWTD_OK)
			continue;
		add_hash(r, batch.packets, batch.n * sizeof(*batch.packets));
		r->rows += batch.n;
	}
	hwtd_packets_close(r->packets);
	r->packets = NULL;
	return (true);
}

static bool
put_stream(struct run *r, const struct hwtd_stream_desc *desc,
    const uint8_t *bytes, size_t n, uint32_t *id)
{
	STEP(r, hwtd_trace_add_stream(r->trace, desc, id, &err));
	STEP(r, hwtd_trace_add_bytes(r->trace, *id, bytes, n, &err));
	return (true);
}

static bool
add_stream(struct run *r, const char *folder, bool timed)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	struct hwtd_pt_config pt = { .size = sizeof(pt) };
	char path[512];
	uint8_t *bytes;
	uint32_t id = 0;
	size_t n;
	bool ok;

	(void)snprintf(path, sizeof(path), "%s/trace.pt", folder);
	bytes = read_file(path, &n);
	pt.cpu_family = 6;
	pt.cpu_model = 0x8f;
	desc.tech = HWTD_TECH_INTEL_PT;
	desc.cpu = 1;
	desc.pid = 2;
	desc.tid = 3;
	desc.name = "a stream";
	desc.pt = &pt;
	if (timed)
		desc.clock = (struct hwtd_clock){ .counts_per = 3,
			.ns_per = 1 };
	ok = put_stream(r, &desc, bytes, n, &id);
	free(bytes);
	if (!ok)
		return (false);
	STEP(r,
	    hwtd_trace_start_extent(r->trace, id, HWTD_EXTENT_AFTER_LOSS,
		&err));
	STEP(r, hwtd_trace_add_bytes(r->trace, id, "\2\202\2\202", 4, &err));
	return (true);
}

static bool
add_rest(struct run *r)
{
	struct hwtd_image_desc image = { .size = sizeof(image) };
	struct hwtd_record record = { .size = sizeof(record) };

	image.path = FULL "/code.bin";
	image.flags = HWTD_IMAGEF_ADDRESS;
	image.address = 0x100000;
	STEP(r, hwtd_trace_add_image(r->trace, &image, NULL, &err));
	image.path = "memory";
	image.bytes = "\220\220\220";
	image.n_bytes = 3;
	image.address = 0x100002;
	STEP(r, hwtd_trace_add_image(r->trace, &image, NULL, &err));
	record.type = HWTD_REC_EXEC;
	record.cpu = record.stream = record.image = HWTD_NO_ID;
	record.pid = record.tid = 2;
	record.name = "/bin/program";
	for (int i = 0; i < 20; i++)
		STEP(r, hwtd_trace_add_record(r->trace, &record, &err));
	return (true);
}

/* The pipelines.  False: a step failed and all is to be given up. */

static bool
in_memory(struct run *r)
{
	struct hwtd_trace_options opts = { .size = sizeof(opts) };
	struct hwtd_save_options save = { .size = sizeof(save) };
	char path[300];

	opts.origin = "a test";
	STEP(r, hwtd_trace_create(r->ctx, &opts, &r->trace, &err));
	if (!add_stream(r, FULL, false) || !add_stream(r, TIMED, true) ||
	    !add_rest(r))
		return (false);
	STEP(r, hwtd_trace_seal(r->trace, &err));
	if (!read_events(r, HWTD_LEVEL_BLOCK, 1) ||
	    !read_events(r, HWTD_LEVEL_INSN, 1) ||
	    !read_packets(r, 1, HWTD_PACKETS_TIME))
		return (false);
	temp_dir_file(&dir, "saved.hwt", path);
	save.flags = HWTD_SAVE_IMAGES;
	STEP(r, hwtd_trace_save(r->trace, path, &save, &err));
	return (true);
}

static bool
with_jobs(struct run *r)
{
	STEP(r, hwtd_trace_create(r->ctx, NULL, &r->trace, &err));
	if (!add_stream(r, FULL, true) || !add_stream(r, TIMED, true) ||
	    !add_rest(r))
		return (false);
	STEP(r, hwtd_trace_seal(r->trace, &err));
	return (read_events(r, HWTD_LEVEL_BLOCK, 2));
}

static bool
from_file(struct run *r)
{
	char path[300];

	temp_dir_file(&dir, "input.hwt", path);
	STEP(r, hwtd_trace_open(r->ctx, path, NULL, &r->trace, &err));
	return (read_bytes(r) && read_events(r, HWTD_LEVEL_BLOCK, 1) &&
	    read_packets(r, 0, 0));
}

static bool
from_raw_bytes(struct run *r)
{
	struct hwtd_open_options opts = { .size = sizeof(opts) };
	struct hwtd_image_desc image = { .size = sizeof(image) };

	image.path = TIMED "/code.bin";
	image.flags = HWTD_IMAGEF_ADDRESS;
	image.address = 0x100000;
	opts.images = &image;
	opts.n_images = 1;
	STEP(r,
	    hwtd_trace_open(r->ctx, TIMED "/trace.pt", &opts, &r->trace,
		&err));
	return (read_bytes(r) && read_events(r, HWTD_LEVEL_BLOCK, 1) &&
	    read_packets(r, 0, 0));
}

/* Two names of one file, a third that is not there; saved, opened, saved. */
static bool
with_archive(struct run *r)
{
	static const char *const names[] = { "a.so", "b.so", "gone.so" };
	struct hwtd_save_options save = { .size = sizeof(save) };
	char path[300], paths[3][300];
	struct hwtd_record record;

	save.flags = HWTD_SAVE_IMAGES;
	temp_dir_file(&dir, "archive.hwt", path);
	STEP(r, hwtd_trace_create(r->ctx, NULL, &r->trace, &err));
	if (!add_stream(r, TIMED, false) || !add_rest(r))
		return (false);
	for (uint32_t i = 0; i < 3; i++) {
		record = mr_record(HWTD_REC_MMAP, i, 0x10000, 0x1000);
		record.name = temp_dir_file(&dir, names[i], paths[i]);
		record.flags |= HWTD_RECF_FILE_OFF;
		record.file_off = 0x1000;
		STEP(r, hwtd_trace_add_record(r->trace, &record, &err));
	}
	STEP(r, hwtd_trace_seal(r->trace, &err));
	STEP(r, hwtd_trace_save(r->trace, path, &save, &err));
	hwtd_trace_close(r->trace);
	r->trace = NULL;
	STEP(r, hwtd_trace_open(r->ctx, path, NULL, &r->trace, &err));
	STEP(r, hwtd_trace_save(r->trace, path, &save, &err));
	return (read_events(r, HWTD_LEVEL_BLOCK, 1));
}

/* One run of a pipeline in which request `n` fails; 0: none. */
static void
run_once(struct run *r, bool (*pipeline)(struct run *), uint64_t n,
    bool for_ever, enum policy policy)
{
	struct hwtd_context_options opts = { .size = sizeof(opts) };
	struct hwtd_error err = { .size = sizeof(err) };
	uint64_t held = 0;

	memset(r, 0, sizeof(*r));
	failing_allocator_init(&r->memory);
	r->policy = policy;
	failing_allocator_arm(&r->memory, n, for_ever);
	opts.allocator = &r->memory.allocator;
	r->rc = hwtd_context_create(&opts, &r->ctx, &err);
	if (r->rc != HWTD_OK) {
		assert_int_equal(r->rc, HWTD_E_NOMEM);
		assert_int_equal(n, 1);
	} else {
		bool done = pipeline(r);

		assert_true(done || r->failed_once);
		hwtd_events_close(r->ev);
		hwtd_packets_close(r->packets);
		hwtd_trace_close(r->trace);
		hwtd_context_memory(r->ctx, &held, NULL);
		if (held != 0)
			fail_msg("request %" PRIu64 ": %" PRIu64
				 " bytes are still held",
			    n, held);
		hwtd_context_destroy(r->ctx);
	}
	if (atomic_load(&r->memory.blocks) != 0 ||
	    atomic_load(&r->memory.bytes) != 0)
		fail_msg("request %" PRIu64 ": %" PRId64 " blocks leak", n,
		    atomic_load(&r->memory.blocks));
}

static void
run_all(bool (*pipeline)(struct run *), enum policy policy, bool for_ever)
{
	struct run good, bad;
	uint64_t n = 0, requests;

	run_once(&good, pipeline, 0, false, GIVE_UP);
	assert_false(good.failed_once);
	assert_true(good.rows > 0);
	requests = atomic_load(&good.memory.requests);
	do {
		run_once(&bad, pipeline, ++n, for_ever, policy);
		/* Where it was done all the same, nothing is missing. */
		if (!bad.failed_once || policy == TRY_AGAIN)
			if (bad.rc != HWTD_E_NOMEM || bad.failed_once)
				if (bad.hash != good.hash ||
				    bad.rows != good.rows)
					fail_msg("request %" PRIu64
						 ": other rows (%" PRIu64
						 ", not %" PRIu64 ")",
					    n, bad.rows, good.rows);
		/* With several threads there may be more requests than then. */
	} while (n <= requests || (bad.failed_once && n <= 2 * requests));
	assert_false(bad.failed_once);
	assert_int_equal(bad.rc, HWTD_OK);
}

static void
every_way(bool (*pipeline)(struct run *))
{
	run_all(pipeline, GIVE_UP, false);
	run_all(pipeline, GIVE_UP, true);
	run_all(pipeline, TRY_AGAIN, false);
}

static void
trace_in_memory_survives_every_failed_allocation(void **state)
{
	(void)state;
	every_way(in_memory);
}

static void
jobs_survive_every_failed_allocation(void **state)
{
	(void)state;
	every_way(with_jobs);
}

static void
trace_file_survives_every_failed_allocation(void **state)
{
	struct run r;
	char from[300], to[300];

	(void)state;
	/* What the first pipeline saves is the input. */
	run_once(&r, in_memory, 0, false, GIVE_UP);
	assert_int_equal(rename(temp_dir_file(&dir, "saved.hwt", from),
			     temp_dir_file(&dir, "input.hwt", to)),
	    0);
	every_way(from_file);
}

static void
raw_bytes_survive_every_failed_allocation(void **state)
{
	(void)state;
	every_way(from_raw_bytes);
}

static void
archives_survive_every_failed_allocation(void **state)
{
	static const uint8_t code[] = { 0x90, 0xc3 };
	const struct small_elf elf = { .code = code,
		.n_code = sizeof(code),
		.build_id = 1 };
	char path[300];

	(void)state;
	small_elf_write(&elf, temp_dir_file(&dir, "a.so", path));
	small_elf_write(&elf, temp_dir_file(&dir, "b.so", path));
	every_way(with_archive);
}

static int
set_up(void **state)
{
	(void)state;
	temp_dir_create(&dir);
	return (0);
}

static int
tear_down(void **state)
{
	(void)state;
	temp_dir_remove(&dir);
	return (0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    trace_in_memory_survives_every_failed_allocation),
		cmocka_unit_test(jobs_survive_every_failed_allocation),
		cmocka_unit_test(trace_file_survives_every_failed_allocation),
		cmocka_unit_test(raw_bytes_survive_every_failed_allocation),
		cmocka_unit_test(archives_survive_every_failed_allocation),
	};

	return (cmocka_run_group_tests(tests, set_up, tear_down));
}
