/*
 * Files of raw trace bytes: recognised by a sync pattern or by the user's
 * word, read where they lie.
 */
#include "trace/import/raw.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"

/* Source: Intel SDM vol. 3C, "Packet Stream Boundary (PSB) Packet". */
static const uint8_t psb[16] = { 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02,
	0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82 };

/* How far a pattern is looked for, and how much is looked at in one go. */
#define SEARCH_BYTES ((uint64_t)1 << 20)
#define SEARCH_PART ((size_t)64 << 10)

static bool
holds_psb(const uint8_t *bytes, size_t n)
{
	const uint8_t *at = bytes;

	while (n - (size_t)(at - bytes) >= sizeof(psb)) {
		size_t left = n - (size_t)(at - bytes) - (sizeof(psb) - 1);

		at = memchr(at, psb[0], left);
		if (at == NULL)
			return (false);
		if (memcmp(at, psb, sizeof(psb)) == 0)
			return (true);
		at++;
	}
	return (false);
}

static int
find_psb(const struct hwtd_trace *trace, bool *found_out,
    struct hwtd_error *err)
{
	const struct hwtdi_trace_file *file = &trace->file;
	const uint64_t end = file->size < SEARCH_BYTES ? file->size
						       : SEARCH_BYTES;
	uint8_t *part;
	uint64_t at = 0;
	int rc = HWTD_OK;

	*found_out = false;
	part = hwtdi_alloc(trace->library, SEARCH_PART);
	if (part == NULL)
		return (hwtdi_fail_nomem(err, SEARCH_PART));
	while (end - at >= sizeof(psb)) {
		size_t n = end - at < SEARCH_PART ? (size_t)(end - at)
						  : SEARCH_PART;

		rc = hwtdi_trace_file_read(file, at, part, n, err);
		if (rc != HWTD_OK)
			break;
		*found_out = holds_psb(part, n);
		if (*found_out || at + n == end)
			break;
		/* The pattern may lie across the joint. */
		at += n - (sizeof(psb) - 1);
	}
	hwtdi_free(trace->library, part, SEARCH_PART);
	return (rc);
}

static uint32_t
minus_1(uint32_t id_plus_1)
{
	return (id_plus_1 != 0 ? id_plus_1 - 1 : HWTD_NO_ID);
}

int
hwtdi_raw_import(struct hwtd_trace *trace,
    const struct hwtd_open_options *opts, struct hwtd_error *err)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	struct hwtdi_stretch stretch = { .kind = HWTDI_STRETCH_FILE };
	const char *slash;
	uint32_t id;
	bool found;
	int rc;

	desc.tech = opts->tech;
	if (desc.tech == HWTD_TECH_UNKNOWN) {
		rc = find_psb(trace, &found, err);
		if (rc != HWTD_OK)
			return (rc);
		if (!found)
			return (hwtdi_fail(err, HWTD_E_UNRECOGNIZED,
			    "neither a .hwt header nor an LLDB trace bundle "
			    "nor an Intel PT sync pattern in the first "
			    "%" PRIu64
			    " bytes; if it is a raw trace, name its "
			    "technology (--tech pt)",
			    trace->file.size < SEARCH_BYTES ? trace->file.size
							    : SEARCH_BYTES));
		desc.tech = HWTD_TECH_INTEL_PT;
	}
	desc.cpu = minus_1(opts->cpu_plus_1);
	desc.pid = minus_1(opts->pid_plus_1);
	desc.tid = minus_1(opts->tid_plus_1);
	desc.pt = opts->pt;
	desc.clock = opts->clock;
	slash = strrchr(trace->file.path, '/');
	desc.name = slash != NULL && slash[1] != '\0' ? slash + 1
						      : trace->file.path;
	rc = hwtd_trace_add_stream(trace, &desc, &id, err);
	if (rc != HWTD_OK)
		return (rc);
	stretch.length = trace->file.size;
	trace->format = "raw";
	return (hwtdi_stream_place(trace->library, trace->streams[id],
	    &stretch, err));
}
