/*
 * A small trace with some of everything, and the comparison of two traces.
 */
#include "support/sample_trace.h"

#include <stdlib.h>
#include <string.h>

#include "trace/trace_model.h"

uint64_t
next_random(uint64_t *state)
{
	/* SplitMix64. */
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (z ^ (z >> 31));
}

void
random_bytes(uint64_t seed, void *to, size_t n)
{
	uint8_t *at = to;

	for (size_t i = 0; i < n; i++)
		at[i] = (uint8_t)next_random(&seed);
}

static int
add_streams(struct hwtd_trace *trace, struct hwtd_error *err)
{
	static const struct hwtd_pt_config pt = {
		.size = sizeof(pt),
		.cpu_family = 6,
		.cpu_model = 0x8e,
		.cpu_stepping = 10,
		.mtc_freq = 3,
		.nom_freq = 30,
		.cpuid_15h_eax = 2,
		.cpuid_15h_ebx = 250,
		.filters = { { HWTD_PT_FILTER_TRACE, 0, 0x1000, 0x1fff },
		    { HWTD_PT_FILTER_STOP, 0, UINT64_MAX - 1, UINT64_MAX } },
	};
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	uint32_t id;
	int rc;

	d.tech = HWTD_TECH_INTEL_PT;
	d.cpu = 3;
	d.pid = HWTD_NO_ID;
	d.tid = HWTD_NO_ID;
	d.name = "cpu 3";
	d.pt = &pt;
	rc = hwtd_trace_add_stream(trace, &d, &id, err);
	d.tech = HWTD_TECH_SPE;
	d.cpu = HWTD_NO_ID;
	d.pid = 77;
	d.tid = 78;
	d.name = NULL;
	d.pt = NULL;
	d.clock.counts_per = 3;
	d.clock.ns_per = 7;
	d.clock.base_count = UINT64_MAX;
	d.clock.base_ns = 123456789;
	d.clock.wrap_base = UINT64_C(1) << 56;
	d.clock.wrap_mask = (UINT64_C(1) << 56) - 1;
	if (rc == HWTD_OK)
		rc = hwtd_trace_add_stream(trace, &d, &id, err);
	memset(&d.clock, 0, sizeof(d.clock));
	d.tech = HWTD_TECH_CORESIGHT;
	d.name = "without bytes";
	if (rc == HWTD_OK)
		rc = hwtd_trace_add_stream(trace, &d, &id, err);
	return (rc);
}

static int
add_bytes(struct hwtd_trace *trace, struct hwtd_error *err)
{
	uint8_t noise[300];
	uint8_t flat[600];
	int rc;

	random_bytes(1, noise, sizeof(noise));
	memset(flat, 0x41, sizeof(flat));
	rc = hwtd_trace_add_bytes(trace, 0, noise, sizeof(noise), err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_add_bytes(trace, 1, flat, 10, err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_add_bytes(trace, 0, flat, sizeof(flat), err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_start_extent(trace, 0, HWTD_EXTENT_AFTER_LOSS,
		    err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_add_bytes(trace, 0, noise, 100, err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_start_extent(trace, 0, HWTD_EXTENT_NEW, err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_add_bytes(trace, 0, noise + 100, 1, err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_start_extent(trace, 1, HWTD_EXTENT_AFTER_LOSS,
		    err);
	return (rc);
}

static int
add_images(struct hwtd_trace *trace, struct hwtd_error *err)
{
	uint8_t code[200];
	struct hwtd_image_desc d = { .size = sizeof(d) };
	int rc;

	random_bytes(2, code, sizeof(code));
	d.path = "jit";
	d.bytes = code;
	d.n_bytes = sizeof(code);
	d.flags = HWTD_IMAGEF_ADDRESS;
	d.address = 0x10000;
	rc = hwtd_trace_add_image(trace, &d, NULL, err);
	d.path = "top";
	d.n_bytes = 16;
	d.offset = 0x400;
	d.address = UINT64_MAX - 15;
	if (rc == HWTD_OK)
		rc = hwtd_trace_add_image(trace, &d, NULL, err);
	d.path = "over";
	d.n_bytes = 50;
	d.address = 0x10000 + 100;
	if (rc == HWTD_OK)
		rc = hwtd_trace_add_image(trace, &d, NULL, err);
	d.path = "not mapped";
	d.flags = 0;
	if (rc == HWTD_OK)
		rc = hwtd_trace_add_image(trace, &d, NULL, err);
	return (rc);
}

static int
add_records(struct hwtd_trace *trace, struct hwtd_error *err)
{
	struct hwtd_record r = { .size = sizeof(r) };
	int rc = HWTD_OK;

	for (uint32_t i = 0; rc == HWTD_OK && i < HWTD_REC_TYPES; i++) {
		r.type = i;
		r.flags = 0x1fffu & (0x555u * i);
		r.cpu = i;
		r.pid = i == 3 ? HWTD_NO_ID : 1000 + i;
		r.tid = 2000 + i;
		r.stream = i % 2 == 0 ? HWTD_NO_ID : i % 3;
		r.image = i % 2 == 1 ? HWTD_NO_ID : i % 4;
		r.time_ns = 1u << i;
		r.stream_off = i * 10;
		r.addr = UINT64_MAX - i;
		r.len = 4096 + i;
		r.file_off = 512 * i;
		r.base = 3 * i;
		r.value = 5 * i;
		r.vmid = 7 * i;
		r.n_build_id = i;
		memset(r.build_id, (int)i, i);
		r.name = i % 3 == 0 ? NULL
		    : i % 3 == 1    ? ""
				    : "/usr/lib/libexample.so.1";
		rc = hwtd_trace_add_record(trace, &r, err);
	}
	return (rc);
}

int
sample_trace_build(struct hwtd_context *ctx, struct hwtd_trace **out,
    struct hwtd_error *err)
{
	const struct hwtd_trace_options opts = {
		.size = sizeof(opts),
		.origin = "sample 1.0",
	};
	struct hwtd_trace *trace;
	int rc;

	rc = hwtd_trace_create(ctx, &opts, &trace, err);
	if (rc != HWTD_OK)
		return (rc);
	rc = add_streams(trace, err);
	if (rc == HWTD_OK)
		rc = add_bytes(trace, err);
	if (rc == HWTD_OK)
		rc = add_images(trace, err);
	if (rc == HWTD_OK)
		rc = add_records(trace, err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_seal(trace, err);
	if (rc != HWTD_OK) {
		hwtd_trace_close(trace);
		return (rc);
	}
	*out = trace;
	return (HWTD_OK);
}

static int
read_stream(struct hwtd_trace *trace, uint32_t stream)
{
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_window *window = NULL;
	struct hwtd_extent e = { .size = sizeof(e) };
	int rc = hwtd_trace_stream(trace, stream, &d);

	if (rc != HWTD_OK)
		return (rc);
	rc = hwtdi_window_create(trace, stream, &window, &err);
	for (size_t i = 0; rc == HWTD_OK &&
	     hwtd_trace_extent(trace, stream, i, &e) == HWTD_OK;
	     i++) {
		uint64_t at = e.start;

		while (rc == HWTD_OK && at < e.end) {
			struct hwtd_damage damage = { .size = sizeof(damage) };
			const uint8_t *bytes;
			size_t n = e.end - at < 97 ? (size_t)(e.end - at) : 97;

			rc = hwtdi_window_see(window, at, n, &bytes, &damage,
			    &err);
			at += n;
		}
	}
	hwtdi_window_destroy(window);
	return (rc);
}

int
trace_read_all(struct hwtd_trace *trace)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_error err = { .size = sizeof(err) };
	uint8_t buf[4096];
	int rc = hwtd_trace_info(trace, &info);

	for (uint32_t i = 0; rc == HWTD_OK && i < info.n_streams; i++) {
		struct hwtd_stream_desc d = { .size = sizeof(d) };
		uint64_t at = 0;

		rc = read_stream(trace, i);
		if (rc == HWTD_OK)
			rc = hwtd_trace_stream(trace, i, &d);
		while (rc == HWTD_OK && at < d.n_bytes) {
			size_t n;

			rc = hwtd_trace_read_bytes(trace, i, at, buf,
			    sizeof(buf), &n, &err);
			at += n;
		}
	}
	for (uint64_t i = 0; rc == HWTD_OK && i < info.n_records; i++) {
		struct hwtd_record r = { .size = sizeof(r) };

		rc = hwtd_trace_record(trace, i, &r);
	}
	for (uint32_t i = 0; rc == HWTD_OK && i < info.n_sections; i++) {
		struct hwtd_section s = { .size = sizeof(s) };
		size_t n;

		rc = hwtd_trace_section(trace, i, &s);
		if (rc == HWTD_OK)
			(void)hwtd_trace_read_code(trace, i, s.address, buf,
			    sizeof(buf), &n);
	}
	return (rc);
}

static bool
same_text(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		return (a == b);
	return (strcmp(a, b) == 0);
}

static const char *
stream_difference(struct hwtd_trace *a, struct hwtd_trace *b, uint32_t id)
{
	struct hwtd_stream_desc da = { .size = sizeof(da) };
	struct hwtd_stream_desc db = { .size = sizeof(db) };
	struct hwtd_extent ea = { .size = sizeof(ea) };
	struct hwtd_extent eb = { .size = sizeof(eb) };
	const char *difference = NULL;
	uint8_t *ba, *bb;
	size_t na, nb;
	int ra, rb;

	if (hwtd_trace_stream(a, id, &da) != HWTD_OK ||
	    hwtd_trace_stream(b, id, &db) != HWTD_OK)
		return ("a stream is missing");
	if (da.tech != db.tech || da.cpu != db.cpu || da.pid != db.pid ||
	    da.tid != db.tid || da.flags != db.flags ||
	    da.n_bytes != db.n_bytes)
		return ("stream descriptions differ");
	if (!same_text(da.name, db.name))
		return ("stream names differ");
	if (memcmp(&da.clock, &db.clock, sizeof(da.clock)) != 0)
		return ("stream clocks differ");
	if ((da.pt == NULL) != (db.pt == NULL) ||
	    (da.pt != NULL && memcmp(da.pt, db.pt, sizeof(*da.pt)) != 0))
		return ("Intel PT configurations differ");
	for (size_t i = 0;; i++) {
		ra = hwtd_trace_extent(a, id, i, &ea);
		rb = hwtd_trace_extent(b, id, i, &eb);
		if (ra != rb || ea.start != eb.start || ea.end != eb.end ||
		    ea.why != eb.why)
			return ("extents differ");
		if (ra != HWTD_OK)
			break;
	}
	ba = malloc((size_t)da.n_bytes + 1);
	bb = malloc((size_t)da.n_bytes + 1);
	ra = hwtd_trace_read_bytes(a, id, 0, ba, (size_t)da.n_bytes, &na,
	    NULL);
	rb = hwtd_trace_read_bytes(b, id, 0, bb, (size_t)da.n_bytes, &nb,
	    NULL);
	if (ra != HWTD_OK || rb != HWTD_OK)
		difference = "bytes cannot be read";
	else if (na != nb || memcmp(ba, bb, na) != 0)
		difference = "bytes differ";
	free(ba);
	free(bb);
	return (difference);
}

static const char *
record_difference(struct hwtd_trace *a, struct hwtd_trace *b, uint64_t i)
{
	struct hwtd_record ra = { .size = sizeof(ra) };
	struct hwtd_record rb = { .size = sizeof(rb) };
	bool same;

	if (hwtd_trace_record(a, i, &ra) != HWTD_OK ||
	    hwtd_trace_record(b, i, &rb) != HWTD_OK)
		return ("a record is missing");
	same = same_text(ra.name, rb.name);
	ra.name = NULL;
	rb.name = NULL;
	return (same && memcmp(&ra, &rb, sizeof(ra)) == 0 ? NULL
							  : "records differ");
}

static const char *
section_difference(struct hwtd_trace *a, struct hwtd_trace *b, uint32_t id)
{
	struct hwtd_section sa = { .size = sizeof(sa) };
	struct hwtd_section sb = { .size = sizeof(sb) };
	const char *difference = NULL;
	uint8_t *ba, *bb;
	size_t na = 0, nb = 0;
	int ra, rb;

	if (hwtd_trace_section(a, id, &sa) != HWTD_OK ||
	    hwtd_trace_section(b, id, &sb) != HWTD_OK)
		return ("a section is missing");
	if (sa.image != sb.image || sa.generation != sb.generation ||
	    sa.address != sb.address || sa.length != sb.length ||
	    sa.file_off != sb.file_off || !same_text(sa.path, sb.path))
		return ("sections differ");
	ba = malloc((size_t)sa.length + 1);
	bb = malloc((size_t)sa.length + 1);
	ra = hwtd_trace_read_code(a, id, sa.address, ba, (size_t)sa.length,
	    &na);
	rb = hwtd_trace_read_code(b, id, sa.address, bb, (size_t)sa.length,
	    &nb);
	if (ra != rb || na != nb || (na != 0 && memcmp(ba, bb, na) != 0))
		difference = "code differs";
	free(ba);
	free(bb);
	return (difference);
}

/* Code at both ends of each section and just outside. */
static const char *
space_difference(struct hwtd_trace *a, struct hwtd_trace *b, uint32_t id)
{
	struct hwtd_section s = { .size = sizeof(s) };

	(void)hwtd_trace_section(a, id, &s);
	for (int i = -2; i <= 2; i++) {
		const uint64_t at = s.address +
		    (uint64_t)(int64_t)i * (s.length / 2);
		struct hwtdi_span sa = { 0 };
		struct hwtdi_span sb = { 0 };
		int ra = hwtdi_trace_find_code(a,
		    &(struct hwtdi_code_place){ 0 }, at, &sa);
		int rb = hwtdi_trace_find_code(b,
		    &(struct hwtdi_code_place){ 0 }, at, &sb);

		if (ra != rb || sa.address != sb.address ||
		    sa.length != sb.length || sa.section != sb.section)
			return ("spans differ");
		if (ra == HWTD_OK &&
		    memcmp(sa.bytes, sb.bytes, (size_t)sa.length) != 0)
			return ("bytes of spans differ");
	}
	return (NULL);
}

const char *
trace_difference(struct hwtd_trace *a, struct hwtd_trace *b)
{
	struct hwtd_trace_info ia = { .size = sizeof(ia) };
	struct hwtd_trace_info ib = { .size = sizeof(ib) };
	const char *difference = NULL;

	(void)hwtd_trace_info(a, &ia);
	(void)hwtd_trace_info(b, &ib);
	if (ia.n_streams != ib.n_streams || ia.n_images != ib.n_images ||
	    ia.n_sections != ib.n_sections || ia.n_records != ib.n_records ||
	    ia.n_bytes != ib.n_bytes)
		return ("counts differ");
	if (!same_text(ia.origin, ib.origin))
		return ("origins differ");
	for (uint32_t i = 0; difference == NULL && i < ia.n_streams; i++)
		difference = stream_difference(a, b, i);
	for (uint64_t i = 0; difference == NULL && i < ia.n_records; i++)
		difference = record_difference(a, b, i);
	for (uint32_t i = 0; difference == NULL && i < ia.n_sections; i++)
		difference = section_difference(a, b, i);
	for (uint32_t i = 0; difference == NULL && i < ia.n_sections; i++)
		difference = space_difference(a, b, i);
	return (difference);
}
