/*
 * Snapshots in a perf.data that have bytes of the snapshot before them again.
 *
 * A snapshot is a copy of what is in memory.  Where less was written since the
 * last one than there is room, the old bytes come again, followed by the new.
 */
#include "base/fail.h"
#include "base/hash.h"
#include "trace/import/perf/perf_queues.h"

/* Less than this may be alike by accident. */
#define LEAST 32u

/* Without anything that is written once only, more has to be alike. */
#define LEAST_PLAIN 4096u

/* In memory at once. */
#define MAX_BYTES ((uint64_t)256 << 20)

/* A TSC behind a PSB: bytes that are written once only. */
static bool
has_time(const uint8_t *at, size_t n)
{
	static const uint8_t psb[] = { 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
		0x02, 0x82 };

	for (size_t i = 0; i + 2 * sizeof(psb) <= n; i++) {
		const size_t left = n - i - sizeof(psb);

		if (memcmp(at + i, psb, sizeof(psb)) == 0 &&
		    memchr(at + i + sizeof(psb), 0x19,
			left < 24 ? left : 24) != NULL)
			return (true);
	}
	return (false);
}

/*
 * How many bytes at the end of what is old are at the start of what is new, at the
 * most: the sums of as many bytes there and there are compared, and bytes where sums
 * are equal.  Its time depends on how many bytes there are, and not on which.
 */
static uint64_t
find(const struct hwtdi_perf_file *f, const uint8_t *old, size_t n_old,
    const uint8_t *new, size_t n_new)
{
	const uint64_t by = hwtdi_hash(f->trace->library, "overlap", 7) | 1;
	const size_t most = n_old < n_new ? n_old : n_new;
	uint64_t power = 1, first = 0, last = 0;
	size_t n = 0;

	for (size_t i = 1; i <= most; i++) {
		first = first * by + new[i - 1];
		last += old[n_old - i] * power;
		power *= by;
		if (first == last && i >= LEAST)
			n = i;
	}
	if (n == 0 || memcmp(old + n_old - n, new, n) != 0)
		return (0);
	return (n >= LEAST_PLAIN || f->aux.kind == PERF_AUXTRACE_ARM_SPE ||
		    has_time(new, n)
		? n
		: 0);
}

static int
copy(const struct hwtdi_perf_file *f, const struct hwtdi_perf_buffer *buffer,
    uint8_t *out)
{
	if (buffer->bytes == NULL)
		return (hwtdi_trace_file_read(&f->trace->file,
		    buffer->data_off, out, (size_t)buffer->n_data, f->err));
	memcpy(out, buffer->bytes, (size_t)buffer->n_data);
	return (HWTD_OK);
}

int
hwtdi_perf_overlap(struct hwtdi_perf_file *f,
    const struct hwtdi_perf_buffer *before,
    const struct hwtdi_perf_buffer *buffer, uint64_t *out,
    uint64_t *filler_out)
{
	struct hwtd_context *ctx = f->trace->library;
	const uint64_t n_old = before->n_data, n_new = buffer->n_data;
	uint8_t *old;
	int rc;

	*out = *filler_out = 0;
	if (f->opts->sideband_only != 0 || n_old > MAX_BYTES ||
	    n_new > MAX_BYTES || before->n_told != n_old)
		return (HWTD_OK);
	old = hwtdi_alloc(ctx, (size_t)(n_old + n_new));
	if (old == NULL)
		return (hwtdi_trace_no_room(ctx, n_old + n_new, f->err));
	rc = copy(f, before, old);
	if (rc == HWTD_OK)
		rc = copy(f, buffer, old + n_old);
	for (size_t filler = 0; rc == HWTD_OK && *out == 0 &&
	     filler < HWTDI_PERF_ALIGNMENT && filler < n_old;
	     filler++) {
		if (filler > 0 && old[n_old - filler] != 0)
			break;
		*filler_out = filler;
		*out = find(f, old, (size_t)n_old - filler, old + n_old,
		    (size_t)n_new);
	}
	hwtdi_free(ctx, old, (size_t)(n_old + n_new));
	return (rc);
}
