/*
 * Fuzz harness of images: adds images anywhere and compares every lookup with
 * a model that looks through all of them.
 */
#include <hwtdecode/hwtdecode.h>
#include <inttypes.h>
#include <stdlib.h>

#include "fuzz.h"
#include "trace/trace_model.h"

#define MAX_IMAGES 48
#define FILE_BYTES 256

/* An image that was taken: content[i] is at address + i, if mapped. */
struct image {
	uint64_t address;
	uint64_t n;
	const uint8_t *content;
	uint32_t id;
	bool mapped;
};

struct model {
	struct image images[MAX_IMAGES];
	size_t n;
	uint8_t pool[FILE_BYTES];
	struct fuzz_file file;
};

/* Addresses near the ends of the space, of pages, and of each other. */
static uint64_t
take_address(struct fuzz_in *in, const struct model *m)
{
	uint8_t how = (uint8_t)fuzz_take(in, 1);
	uint64_t v = fuzz_take(in, 1);

	switch (how & 7) {
	case 0:
		return (v);
	case 1:
		return (UINT64_MAX - v);
	case 2:
		return (((uint64_t)1 << (how >> 3 << 1)) + v - 128);
	case 3:
		return (0x400000 + v);
	case 4:
		return (fuzz_take(in, 8));
	default:
		if (m->n == 0)
			return (v);
		return (m->images[v % m->n].address + (how >> 3) - 8);
	}
}

static bool
wraps(uint64_t address, uint64_t n)
{
	return (n != 0 && n - 1 > UINT64_MAX - address);
}

/* What the call must answer. */
static int
expected(const struct hwtd_image_desc *d, uint64_t *n_out)
{
	*n_out = d->n_bytes;
	if (d->bytes == NULL) {
		if (d->offset > FILE_BYTES ||
		    d->length > FILE_BYTES - d->offset)
			return (HWTD_E_CORRUPT);
		*n_out = d->length != 0 ? d->length : FILE_BYTES - d->offset;
	}
	if ((d->flags & HWTD_IMAGEF_ADDRESS) != 0 && wraps(d->address, *n_out))
		return (HWTD_E_INVALID);
	return (HWTD_OK);
}

static void
add_image(struct fuzz_in *in, struct hwtd_trace *trace, struct model *m)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_image_desc d = { .size = sizeof(d) };
	uint8_t how = (uint8_t)fuzz_take(in, 1);
	struct image *image = &m->images[m->n];
	uint32_t id = HWTD_NO_ID;
	uint64_t n;
	int rc, want;

	d.address = take_address(in, m);
	d.flags = (how & 0x0f) != 0 ? HWTD_IMAGEF_ADDRESS : 0;
	d.offset = fuzz_take(in, (how & 0x80) != 0 ? 8 : 1);
	d.length = fuzz_take(in, (how & 0x40) != 0 ? 8 : 1);
	d.path = m->file.path;
	if ((how & 0x10) != 0) {
		d.offset %= FILE_BYTES;
		d.bytes = m->pool + d.offset;
		d.n_bytes = d.length % (FILE_BYTES - d.offset + 1);
	}
	want = expected(&d, &n);
	rc = hwtd_trace_add_image(trace, &d, &id, &err);
	FUZZ_CHECK(rc == want,
	    "add_image %#" PRIx64 "+%" PRIu64 ": %d, not %d: %s", d.address, n,
	    rc, want, err.message);
	if (rc != HWTD_OK)
		return;
	FUZZ_CHECK(id == m->n, "image id %u, not %zu", id, m->n);
	image->address = d.address;
	image->n = n;
	image->content = m->pool + d.offset;
	image->id = id;
	image->mapped = d.flags != 0;
	m->n++;
}

/* The last image that was added and covers the address. */
static const struct image *
model_find(const struct model *m, uint64_t address)
{
	for (size_t i = m->n; i-- > 0;) {
		const struct image *image = &m->images[i];

		if (image->mapped && address >= image->address &&
		    address - image->address < image->n)
			return (image);
	}
	return (NULL);
}

static void
look_up(const struct hwtd_trace *trace, const struct model *m,
    uint64_t address)
{
	const struct image *image = model_find(m, address);
	struct hwtdi_span span;
	struct hwtd_section section = { .size = sizeof(section) };
	int rc = hwtdi_trace_find_code(trace, &(struct hwtdi_code_place){ 0 },
	    address, &span);

	FUZZ_CHECK(rc == (image != NULL ? HWTD_OK : HWTD_E_NOT_FOUND),
	    "find %#" PRIx64 ": %d", address, rc);
	if (image == NULL)
		return;
	FUZZ_CHECK(hwtd_trace_section(trace, span.section, &section) ==
		    HWTD_OK &&
		section.image == image->id,
	    "%#" PRIx64 ": section %u", address, span.section);
	FUZZ_CHECK(span.length != 0 && address - span.address < span.length &&
		!wraps(span.address, span.length),
	    "%#" PRIx64 ": span %#" PRIx64 "+%" PRIu64, address, span.address,
	    span.length);
	FUZZ_CHECK(memcmp(span.bytes,
		       image->content + (span.address - image->address),
		       (size_t)span.length) == 0,
	    "%#" PRIx64 ": other bytes", address);
	/* The whole span shows this image; most faults are at its ends. */
	for (uint64_t i = 0; i < span.length; i += 1 + span.length / 7)
		FUZZ_CHECK(model_find(m, span.address + i) == image &&
			model_find(m, span.address + span.length - 1 - i) ==
			    image,
		    "%#" PRIx64 ": span is not all of image %u", address,
		    image->id);
}

/* The section of an image; they have the images' order. */
static uint32_t
section_of(const struct hwtd_trace *trace, const struct image *image)
{
	struct hwtd_section s = { .size = sizeof(s) };
	uint32_t no = 0;

	while (hwtd_trace_section(trace, no, &s) == HWTD_OK &&
	    s.image != image->id)
		no++;
	return (no);
}

/* The public way to the same bytes. */
static void
read_code(const struct hwtd_trace *trace, const struct model *m,
    uint64_t address)
{
	const struct image *image = model_find(m, address);
	uint8_t buf[32];
	size_t n = 0;
	uint64_t want;

	if (image == NULL)
		return;
	want = image->n - (address - image->address);
	if (want > sizeof(buf))
		want = sizeof(buf);
	FUZZ_CHECK(hwtd_trace_read_code(trace, section_of(trace, image),
		       address, buf, sizeof(buf), &n) == HWTD_OK &&
		n == want,
	    "read_code %#" PRIx64 ": %zu bytes of %" PRIu64, address, n, want);
	FUZZ_CHECK(memcmp(buf, image->content + (address - image->address),
		       n) == 0,
	    "read_code %#" PRIx64 ": other bytes", address);
}

static void
try(const struct hwtd_trace *trace, const struct model *m, uint64_t address)
{
	look_up(trace, m, address);
	read_code(trace, m, address);
}

static void
run(struct fuzz_in in, struct hwtd_context *ctx, struct model *m)
{
	struct hwtd_error err = { .size = sizeof(err) };
	uint8_t n_images = (uint8_t)(fuzz_take(&in, 1) % MAX_IMAGES);
	struct hwtd_trace *trace;

	FUZZ_CHECK(hwtd_trace_create(ctx, NULL, &trace, &err) == HWTD_OK, "%s",
	    err.message);
	for (uint8_t i = 0; i < n_images; i++)
		add_image(&in, trace, m);
	FUZZ_CHECK(hwtd_trace_seal(trace, &err) == HWTD_OK, "%s", err.message);
	for (size_t i = 0; i < m->n; i++) {
		uint64_t end = m->images[i].address + m->images[i].n;

		for (uint64_t d = 0; d < 3; d++) {
			try(trace, m, m->images[i].address + d - 1);
			try(trace, m, end + d - 1);
		}
	}
	try(trace, m, 0);
	try(trace, m, UINT64_MAX);
	for (int i = 0; i < 16; i++)
		try(trace, m, take_address(&in, m));
	hwtd_trace_close(trace);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *ctx;
	struct model m = { .n = 0 };
	uint64_t held = 0;

	for (size_t i = 0; i < FILE_BYTES; i++)
		m.pool[i] = (uint8_t)(i * 7 + 1);
	fuzz_file_open(&m.file, m.pool, FILE_BYTES);
	FUZZ_CHECK(hwtd_context_create(NULL, &ctx, &err) == HWTD_OK, "%s",
	    err.message);
	run((struct fuzz_in){ data, size }, ctx, &m);
	hwtd_context_memory(ctx, &held, NULL);
	FUZZ_CHECK(held == 0, "%" PRIu64 " bytes are still held", held);
	hwtd_context_destroy(ctx);
	fuzz_file_close(&m.file);
	return (0);
}
