/*
 * Fuzz harness of tables of samples.  An input is: 4 bytes of choices, the bytes
 * of an image, then those of a stream of Arm SPE.
 *
 *	0 the CPU, one of a few
 *	1 rows that a table may have, less one; 0: as many as there are
 *	2 bytes of the image, in parts of 32
 *	3 accesses that are kept; 0: as many as there are
 *
 * Each table that all samples are in counts them all; tables of every other sample
 * that are merged count as much as those of all; rows come in the order asked for.
 */
#include "fuzz.h"

#include <hwtdecode/hwtdecode.h>

#define MOST 8192
#define IMAGE_AT UINT64_C(0x400000)

static const uint32_t cpus[] = { 0, UINT32_C(0x413fd0c1), UINT32_C(0x480fd060),
	UINT32_C(0xc00fac40) };

static struct hwtd_trace *
make_trace(struct hwtd_context *ctx, const uint8_t *image, size_t n_image,
    const uint8_t *bytes, size_t n)
{
	const struct hwtd_image_desc code = {
		.size = sizeof(code),
		.path = "image",
		.bytes = image,
		.n_bytes = n_image,
		.flags = HWTD_IMAGEF_ADDRESS,
		.address = IMAGE_AT,
	};
	const struct hwtd_stream_desc desc = {
		.size = sizeof(desc),
		.tech = HWTD_TECH_SPE,
		.cpu = 1,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
	};
	struct hwtd_trace *trace;
	uint32_t id;

	FUZZ_CHECK(hwtd_trace_create(ctx, NULL, &trace, NULL) == HWTD_OK,
	    "no trace");
	if (n_image > 0)
		FUZZ_CHECK(hwtd_trace_add_image(trace, &code, NULL, NULL) ==
			HWTD_OK,
		    "no image");
	FUZZ_CHECK(hwtd_trace_add_stream(trace, &desc, &id, NULL) == HWTD_OK &&
		hwtd_trace_add_bytes(trace, id, bytes, n, NULL) == HWTD_OK &&
		hwtd_trace_seal(trace, NULL) == HWTD_OK,
	    "no stream");
	return (trace);
}

/* Samples of all into memory[0], in turn into the two others. */
static void
add_samples(struct hwtd_trace *trace, struct hwtd_memory *memory[3])
{
	struct hwtd_event rows[64];
	struct hwtd_events *ev;
	size_t k = 0;

	FUZZ_CHECK(hwtd_events_open(trace, NULL, &ev, NULL) == HWTD_OK,
	    "no cursor");
	for (;;) {
		struct hwtd_batch batch = {
			.size = sizeof(batch),
			.events = rows,
			.stride = sizeof(rows[0]),
			.cap = 64,
		};
		const int rc = hwtd_events_read(ev, &batch, NULL);

		if (rc == HWTD_END)
			break;
		FUZZ_CHECK(rc == HWTD_OK, "reading gives %d", rc);
		for (size_t i = 0; i < batch.n; i++) {
			const struct hwtd_sample *s;

			if (rows[i].kind != HWTD_EV_SAMPLE)
				continue;
			s = &batch.samples[rows[i].value];
			FUZZ_CHECK(hwtd_memory_add(memory[0], &rows[i], s,
				       NULL) == HWTD_OK &&
				hwtd_memory_add(memory[1 + k++ % 2], &rows[i],
				    s, NULL) == HWTD_OK,
			    "a sample is refused");
		}
	}
	hwtd_events_close(ev);
}

/* Read a table in one order; the samples of its rows. */
static uint64_t
read_table(struct hwtd_memory *memory, uint32_t table, uint32_t sort)
{
	uint64_t before = UINT64_MAX, samples = 0;
	struct hwtd_memory_access access;
	struct hwtd_memory_bucket bucket;
	struct hwtd_memory_row row;
	size_t n;

	FUZZ_CHECK(hwtd_memory_sort(memory, table, sort, NULL) == HWTD_OK,
	    "table %u cannot be sorted", table);
	for (uint64_t i = 0; hwtd_memory_read(memory, table, i, &row,
				 sizeof(row), 1, &n) == HWTD_OK;
	     i++) {
		uint64_t used = 0, buckets = 0;

		samples += row.samples;
		if (sort == HWTD_MEMORY_BY_SAMPLES &&
		    (row.flags & HWTD_MEMORY_ROW_OTHER) == 0) {
			FUZZ_CHECK(row.samples <= before, "not in order");
			before = row.samples;
		}
		for (uint64_t k = 0;
		     hwtd_memory_histogram(memory, table, i, HWTD_MEMORY_TOTAL,
			 k, &bucket, sizeof(bucket), 1, &n) == HWTD_OK;
		     k++)
			buckets += bucket.n;
		FUZZ_CHECK(buckets == row.latency[HWTD_MEMORY_TOTAL].n,
		    "a histogram of %llu", (unsigned long long)buckets);
		for (uint64_t k = 0; table == HWTD_MEMORY_LINE &&
		     hwtd_memory_accesses(memory, i, k, &access,
			 sizeof(access), 1, &n) == HWTD_OK;
		     k++)
			used += access.loads + access.stores;
		FUZZ_CHECK(used <= row.samples, "more accesses than samples");
	}
	return (samples);
}

static void
check(struct hwtd_memory *memory[3])
{
	struct hwtd_memory_info all = { .size = sizeof(all) };
	struct hwtd_memory_info both = { .size = sizeof(both) };

	FUZZ_CHECK(hwtd_memory_merge(memory[1], memory[2], NULL) == HWTD_OK,
	    "merging fails");
	(void)hwtd_memory_info(memory[0], &all);
	(void)hwtd_memory_info(memory[1], &both);
	FUZZ_CHECK(all.samples ==
		all.used + all.damaged + all.truncated + all.duplicate +
		    all.headless,
	    "samples are lost");
	FUZZ_CHECK(all.used == both.used && all.samples == both.samples,
	    "merged are others");
	for (uint32_t table = 0; table < HWTD_MEMORY_TABLES; table++)
		for (uint32_t sort = 0; sort < HWTD_MEMORY_SORTS; sort++) {
			uint64_t n;

			if (sort == HWTD_MEMORY_BY_SHARING &&
			    table != HWTD_MEMORY_LINE)
				continue;
			n = read_table(memory[0], table, sort);
			FUZZ_CHECK(n == read_table(memory[1], table, sort),
			    "table %u has others when merged", table);
			FUZZ_CHECK(n == all.used ||
				(table != HWTD_MEMORY_SYMBOL &&
				    table != HWTD_MEMORY_INSN &&
				    table != HWTD_MEMORY_CPU &&
				    table != HWTD_MEMORY_THREAD),
			    "table %u has not all", table);
		}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };
	struct hwtd_memory_options o = {
		.size = sizeof(o),
		.flags = HWTD_MEMORY_KEEP_ACCESSES,
		.interval = 100,
	};
	struct hwtd_memory *memory[3];
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	size_t n_image, n;

	o.midr = cpus[fuzz_take(&in, 1) % 4];
	o.max_rows = (uint32_t)fuzz_take(&in, 1);
	n_image = 32 * (size_t)fuzz_take(&in, 1);
	o.max_accesses = (uint32_t)fuzz_take(&in, 1);
	if (n_image > in.left)
		n_image = in.left;
	n = in.left - n_image < MOST ? in.left - n_image : MOST;
	FUZZ_CHECK(hwtd_context_create(NULL, &ctx, NULL) == HWTD_OK,
	    "no context");
	trace = make_trace(ctx, in.at, n_image, in.at + n_image, n);
	for (size_t i = 0; i < 3; i++)
		FUZZ_CHECK(hwtd_memory_open(trace, &o, &memory[i], NULL) ==
			HWTD_OK,
		    "no tables");
	add_samples(trace, memory);
	check(memory);
	for (size_t i = 0; i < 3; i++)
		hwtd_memory_close(memory[i]);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	return (0);
}
