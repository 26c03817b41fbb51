/*
 * Fuzz harness of ELF files: headers, where code lies, modules laid out and
 * relocated.
 *
 * An input is 16 bytes of choices, then the file.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "fuzz.h"
#include "image/elf_patched.h"
#include "image/elf_symbols.h"

#define CHOICES 16

struct input {
	uint64_t address;
	uint64_t page;
	bool has_file_off;
	bool has_length;
	uint64_t file_off;
	/* Just as large as the file, so that a read past it is noticed. */
	uint8_t *bytes;
	size_t n;
};

/* Pieces lie in the file and in the address space. */
static void
check_layout(const struct input *in, const struct hwtdi_elf_layout *l)
{
	for (size_t i = 0; i < l->n_pieces; i++) {
		const struct hwtdi_elf_piece *p = &l->pieces[i];

		FUZZ_CHECK(p->length != 0 && p->file_off < in->n &&
			p->length <= in->n - p->file_off,
		    "piece %zu: %#" PRIx64 "+%#" PRIx64 " of %zu bytes", i,
		    p->file_off, p->length, in->n);
		FUZZ_CHECK(p->length - 1 <= UINT64_MAX - p->address,
		    "piece %zu: wraps", i);
	}
}

static void
check_file(const struct input *in, const struct hwtdi_elf_file *f)
{
	FUZZ_CHECK(f->n_segments <= HWTDI_ELF_MAX_SEGMENTS, "segments");
	FUZZ_CHECK(f->build_id.n <= HWTDI_BUILD_ID_MAX, "build-id");
	FUZZ_CHECK(memchr(f->interpreter, 0, sizeof(f->interpreter)) != NULL &&
		memchr(f->debug_link, 0, sizeof(f->debug_link)) != NULL,
	    "text without end");
	FUZZ_CHECK((f->n_faults == 0) == (f->fault.code == HWTD_OK),
	    "%" PRIu32 " faults, code %d", f->n_faults, f->fault.code);
	for (size_t i = 0; i < f->n_segments; i++) {
		const struct hwtdi_elf_segment *s = &f->segments[i];

		FUZZ_CHECK(s->file_bytes != 0 && s->file_off < in->n &&
			s->file_bytes <= in->n - s->file_off,
		    "segment %zu: %#" PRIx64 "+%#" PRIx64, i, s->file_off,
		    s->file_bytes);
		FUZZ_CHECK(s->file_bytes <= s->memory_bytes &&
			s->memory_bytes - 1 <= UINT64_MAX - s->vaddr,
		    "segment %zu: memory", i);
	}
}

/*
 * What a mapping says must be what the layout at its bias says, if segments
 * are laid out as mmap can map them.
 */
static void
find_bias(const struct input *in, struct hwtd_context *ctx,
    const struct hwtdi_elf_file *f)
{
	struct hwtdi_elf_mapping m[2] = { { .address = in->address } };
	struct hwtdi_elf_layout l;
	struct hwtdi_elf_bias bias;
	int rc;

	m[0].has_file_off = in->has_file_off;
	m[0].has_length = in->has_length;
	m[0].file_off = in->file_off;
	m[0].length = in->page != 0 ? in->page : HWTDI_ELF_PAGE;
	m[1] = m[0];
	rc = hwtdi_elf_bias_of_mappings(f, m, 2, in->page, &bias, NULL);
	if (rc != HWTD_OK) {
		FUZZ_CHECK(bias.n_fits == 0, "%d, %" PRIu32 " fits", rc,
		    bias.n_fits);
		return;
	}
	FUZZ_CHECK(bias.n_fits > 0 && bias.segment < f->n_segments,
	    "segment %" PRIu32, bias.segment);
	FUZZ_CHECK(f->type == HWTDI_ELF_DYN || bias.bias == 0, "bias");
	FUZZ_CHECK(hwtdi_elf_layout_init(&l, ctx, f, bias.bias, in->page,
		       NULL) == HWTD_OK,
	    "layout");
	check_layout(in, &l);
	hwtdi_elf_layout_fini(&l, ctx);
}

static void
read_file(const struct input *in, struct hwtd_context *ctx)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_elf_layout l;
	struct hwtdi_elf_file f;
	int rc = hwtdi_elf_file_init(&f, ctx, "f", in->bytes, in->n, &err);

	if (rc != HWTD_OK) {
		FUZZ_CHECK(rc == HWTD_E_UNRECOGNIZED || rc == HWTD_E_CORRUPT ||
			rc == HWTD_E_UNSUPPORTED,
		    "%d: %s", rc, err.message);
		return;
	}
	check_file(in, &f);
	rc = hwtdi_elf_layout_init(&l, ctx, &f,
	    hwtdi_elf_bias_of_base(&f, in->address, in->page), in->page, NULL);
	FUZZ_CHECK(rc == HWTD_OK, "layout: %d", rc);
	check_layout(in, &l);
	FUZZ_CHECK(l.n_pieces + l.n_left_out == f.n_segments, "pieces");
	hwtdi_elf_layout_fini(&l, ctx);
	find_bias(in, ctx, &f);
	hwtdi_elf_file_fini(&f, ctx);
}

/* Knows every other name. */
static bool
resolve(void *arg, const char *name, uint64_t *address_out)
{
	const struct input *in = arg;

	FUZZ_CHECK(strlen(name) < HWTDI_ELF_TEXT_MAX, "name without end");
	*address_out = in->address + strlen(name);
	return ((strlen(name) & 1) != 0);
}

/* What is left lies in the file. */
static void
left(void *arg, uint64_t off, uint64_t n)
{
	const struct input *in = arg;

	FUZZ_CHECK(off < in->n && n <= in->n - off, "left outside");
}

/* Bytes outside of what was placed as code stay. */
static void
check_copy(const struct input *in, const struct hwtdi_elf_layout *l,
    const uint8_t *copy)
{
	for (size_t i = 0; i < in->n; i++) {
		bool code = false;

		if (copy[i] == in->bytes[i])
			continue;
		for (size_t k = 0; k < l->n_pieces && !code; k++)
			code = i >= l->pieces[k].file_off &&
			    i - l->pieces[k].file_off < l->pieces[k].length;
		FUZZ_CHECK(code, "byte %zu was changed and is no code", i);
	}
}

/* What is offered to others is found again, unless files dispute it. */
static void
use_symbols(struct input *in, struct hwtd_context *ctx,
    const struct hwtdi_elf_object *o)
{
	struct hwtdi_elf_symbols s = { 0 };
	uint64_t address;
	bool found;

	FUZZ_CHECK(hwtdi_elf_symbols_add_object(&s, ctx, o, NULL) == HWTD_OK,
	    "symbols of an object");
	FUZZ_CHECK(hwtdi_elf_symbols_add_linked(&s, ctx, &o->tables,
		       in->address, &found, NULL) == HWTD_OK,
	    "symbols");
	for (size_t i = 0; i < s.n; i++)
		FUZZ_CHECK(hwtdi_elf_symbols_find(&s, s.at[i].name,
			       &address) == !s.at[i].disputed,
		    "symbol %zu", i);
	hwtdi_elf_symbols_fini(&s, ctx);
}

static void
use_object(struct input *in, struct hwtd_context *ctx,
    const struct hwtdi_elf_object *o)
{
	struct hwtdi_elf_relocated done;
	struct hwtdi_elf_layout l;
	uint8_t *copy = malloc(in->n != 0 ? in->n : 1);
	int rc;

	FUZZ_CHECK(copy != NULL, "no memory");
	memcpy(copy, in->bytes, in->n);
	FUZZ_CHECK(hwtdi_elf_object_layout(o, ctx, &l, NULL) == HWTD_OK,
	    "layout");
	check_layout(in, &l);
	rc = hwtdi_elf_relocate(o,
	    &(struct hwtdi_elf_linker){ .arg = in,
		.resolve_fn = resolve,
		.left_fn = left },
	    copy, &done, NULL);
	FUZZ_CHECK(rc == HWTD_OK || rc == HWTD_E_UNSUPPORTED ||
		rc == HWTD_E_CORRUPT,
	    "relocate: %d", rc);
	hwtdi_elf_patch_linux(o,
	    &(struct hwtdi_elf_linker){ .arg = in,
		.left_fn = left,
		.known_fn = left },
	    copy);
	check_copy(in, &l, copy);
	use_symbols(in, ctx, o);
	hwtdi_elf_layout_fini(&l, ctx);
	free(copy);
}

static void
place_object(struct input *in, struct hwtd_context *ctx)
{
	struct hwtdi_elf_object o;

	if (hwtdi_elf_object_init_freebsd(&o, ctx, "f", in->bytes, in->n,
		in->address, NULL) == HWTD_OK) {
		use_object(in, ctx, &o);
		hwtdi_elf_object_fini(&o, ctx);
	}
	if (hwtdi_elf_object_init_linux(&o, ctx, "f", in->bytes, in->n,
		in->address, in->file_off, in->page, NULL) == HWTD_OK) {
		use_object(in, ctx, &o);
		hwtdi_elf_object_fini(&o, ctx);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct fuzz_in choices = { data, size };
	struct hwtd_context *ctx;
	struct input in = { .n = 0 };
	uint64_t held = 0;
	uint8_t how;

	if (size < CHOICES)
		return (0);
	in.address = fuzz_take(&choices, 8);
	how = (uint8_t)fuzz_take(&choices, 1);
	in.page = (uint64_t)1 << (how & 0x1f) & ~(uint64_t)1;
	in.has_file_off = (how & 0x20) != 0;
	in.has_length = (how & 0x40) != 0;
	in.file_off = fuzz_take(&choices, CHOICES - 9);
	in.n = choices.left;
	in.bytes = malloc(in.n != 0 ? in.n : 1);
	FUZZ_CHECK(in.bytes != NULL, "no memory");
	memcpy(in.bytes, choices.at, in.n);
	FUZZ_CHECK(hwtd_context_create(NULL, &ctx, &err) == HWTD_OK, "%s",
	    err.message);
	read_file(&in, ctx);
	place_object(&in, ctx);
	hwtd_context_memory(ctx, &held, NULL);
	FUZZ_CHECK(held == 0, "%" PRIu64 " bytes are still held", held);
	hwtd_context_destroy(ctx);
	free(in.bytes);
	return (0);
}
