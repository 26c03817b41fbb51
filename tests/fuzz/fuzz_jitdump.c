/*
 * Fuzz harness of jitdump files: a byte of choices (what is known of stamps and
 * the process), then the file.
 */
#include <hwtdecode/hwtdecode.h>
#include <inttypes.h>
#include <stdlib.h>

#include "fuzz.h"
#include "trace/import/jitdump.h"

#define MAX_INPUT ((size_t)1 << 16)

#define SAME_CLOCK 0x1
#define HAS_COUNTS 0x2
#define HAS_PID 0x4

struct input {
	const uint8_t *file;
	size_t n;
	uint8_t choices;
};

static bool
occurs(const struct input *in, const void *bytes, size_t n)
{
	const uint8_t *at = in->file, *end = in->file + in->n;

	while (n <= (size_t)(end - at) &&
	    (at = memchr(at, *(const uint8_t *)bytes,
		 (size_t)(end - at) - n + 1)) != NULL) {
		if (memcmp(at, bytes, n) == 0)
			return (true);
		at++;
	}
	return (false);
}

static void
check_record(const struct hwtd_trace *trace, const struct input *in,
    const struct hwtd_record *r, uint64_t n_code)
{
	const uint32_t known = HWTD_RECF_ADDR | HWTD_RECF_LEN |
	    HWTD_RECF_FILE_OFF | HWTD_RECF_JIT;
	struct hwtd_mapping m = { .size = sizeof(m) };
	int rc;

	FUZZ_CHECK(r->type == HWTD_REC_CODE && (r->flags & known) == known,
	    "record of type %" PRIu32 ", flags %#" PRIx32, r->type, r->flags);
	FUZZ_CHECK(r->len != 0 && r->file_off < n_code &&
		r->len <= n_code - r->file_off,
	    "code %#" PRIx64 "+%#" PRIx64 " of %#" PRIx64, r->file_off, r->len,
	    n_code);
	FUZZ_CHECK(r->len - 1 <= UINT64_MAX - r->addr, "code wraps");
	FUZZ_CHECK(r->name == NULL ||
		(r->name[0] != '\0' &&
		    occurs(in, r->name, strlen(r->name) + 1)),
	    "a name that is not in the file");
	FUZZ_CHECK((in->choices & HAS_PID) == 0 || r->pid == 5, "process");
	rc = hwtd_space_lookup(trace, r->pid, NULL, r->addr, &m);
	FUZZ_CHECK(rc == HWTD_OK || rc == HWTD_E_STATE,
	    "nothing at %#" PRIx64 " of %" PRIu32, r->addr, r->pid);
}

/* Each piece of the image is one of the file. */
static void
check_code(const struct hwtd_trace *trace, const struct input *in)
{
	struct hwtd_section s = { .size = sizeof(s) };

	for (uint32_t i = 0; hwtd_trace_section(trace, i, &s) == HWTD_OK;
	     i++) {
		size_t n = (size_t)s.length, got = 0;
		uint8_t *bytes = malloc(n);

		FUZZ_CHECK(bytes != NULL, "out of memory");
		FUZZ_CHECK(hwtd_trace_read_code(trace, i, s.address, bytes, n,
			       &got) == HWTD_OK &&
			got == n,
		    "section %" PRIu32 ": %zu of %zu bytes", i, got, n);
		/* Looking for long ones that repeat takes long. */
		FUZZ_CHECK(i > 64 || occurs(in, bytes, n),
		    "section %" PRIu32 " is not in the file", i);
		free(bytes);
	}
}

static void
check_trace(struct hwtd_trace *trace, const struct input *in,
    const struct hwtdi_jitdump_sum *sum)
{
	struct hwtd_image_info image = { .size = sizeof(image) };
	struct hwtd_record r = { .size = sizeof(r) };
	uint64_t n = 0;

	FUZZ_CHECK(hwtd_trace_seal(trace, NULL) == HWTD_OK, "seal");
	FUZZ_CHECK(hwtd_trace_image(trace, sum->image, &image) == HWTD_OK &&
		image.n_bytes <= in->n,
	    "%" PRIu64 " bytes of code", image.n_bytes);
	for (; hwtd_trace_record(trace, n, &r) == HWTD_OK; n++)
		check_record(trace, in, &r, image.n_bytes);
	FUZZ_CHECK(n == sum->n_loads + sum->n_moves,
	    "%" PRIu64 " records, %" PRIu64 " loads, %" PRIu64 " moves", n,
	    sum->n_loads, sum->n_moves);
	check_code(trace, in);
}

static void
run(struct hwtd_context *ctx, const struct input *in)
{
	const struct hwtd_clock clock = { .counts_per = 3,
		.ns_per = 1,
		.base_count = 1000,
		.base_ns = 5 };
	struct hwtdi_jitdump_how how = {
		.pid = (in->choices & HAS_PID) != 0 ? 5 : HWTD_NO_ID,
		.same_clock = (in->choices & SAME_CLOCK) != 0,
		.counts = (in->choices & HAS_COUNTS) != 0 ? &clock : NULL,
	};
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_jitdump_sum sum;
	struct hwtd_trace *trace;
	/* Just as large, so that a read past the end is noticed. */
	uint8_t *copy = malloc(in->n != 0 ? in->n : 1);
	int rc;

	FUZZ_CHECK(copy != NULL, "out of memory");
	if (in->n > 0)
		memcpy(copy, in->file, in->n);
	FUZZ_CHECK(hwtd_trace_create(ctx, NULL, &trace, NULL) == HWTD_OK,
	    "no trace");
	rc = hwtdi_jitdump_add(trace, "jit.dump", copy, in->n, &how, &sum,
	    &err);
	free(copy);
	FUZZ_CHECK(rc == HWTD_OK || rc == HWTD_E_UNRECOGNIZED ||
		rc == HWTD_E_UNSUPPORTED || rc == HWTD_E_CORRUPT,
	    "add: %d %s", rc, err.message);
	if (rc == HWTD_OK)
		check_trace(trace, in, &sum);
	hwtd_trace_close(trace);
}

static void
no_log(void *arg, const struct hwtd_log_record *record)
{
	(void)arg;
	(void)record;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct hwtd_context_options opts = { .size = sizeof(opts),
		.log = no_log };
	struct input in;
	struct hwtd_context *ctx;
	uint64_t held = 0;

	if (size == 0 || size > MAX_INPUT)
		return (0);
	in = (struct input){ data + 1, size - 1, data[0] };
	FUZZ_CHECK(hwtd_context_create(&opts, &ctx, NULL) == HWTD_OK,
	    "no context");
	run(ctx, &in);
	hwtd_context_memory(ctx, &held, NULL);
	FUZZ_CHECK(held == 0, "%" PRIu64 " bytes are still held", held);
	hwtd_context_destroy(ctx);
	return (0);
}
