/*
 * Fuzz harness of filters by address: texts of users, and files in which they
 * are looked for.
 *
 * An input is 32 bytes of choices, texts in lines up to a NUL, then the file.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "capture/address_filter.h"
#include "fuzz.h"

#define CHOICES 32
#define ROOM 16
/* The name of the image; texts of the corpus end with it. */
#define IMAGE "/i"

struct input {
	uint64_t addr[2];
	uint64_t base;
	uint8_t kinds;
	uint8_t flags;
	uint64_t file_off;
	uint64_t most;
	const uint8_t *bytes;
	size_t n;
};

static void
add_texts(struct hwtdi_filters *f, const char *text)
{
	char line[256];

	while (*text != '\0') {
		const size_t n = strcspn(text, "\n");
		int rc;

		if (n < sizeof(line)) {
			memcpy(line, text, n);
			line[n] = '\0';
			rc = hwtdi_filters_add(f, line, NULL);
			FUZZ_CHECK(rc == HWTD_OK || rc == HWTD_E_INVALID ||
				rc == HWTD_E_LIMIT,
			    "%s: %d", line, rc);
		}
		text += n + (text[n] == '\n');
	}
}

/* An end of a range of a program is in an executable segment. */
static bool
is_code(const struct input *in, const struct hwtdi_elf_file *elf,
    uint64_t address)
{
	const uint64_t bias = hwtdi_elf_bias_of_program(elf, in->addr[0]);

	for (size_t i = 0; i < elf->n_segments; i++)
		if (address - bias - elf->segments[i].vaddr <
		    elf->segments[i].memory_bytes)
			return (true);
	return (false);
}

static void
check_segments(const struct input *in, struct hwtd_context *ctx,
    const struct hwtdi_filter_range *ranges, size_t n)
{
	struct hwtdi_elf_file elf;

	FUZZ_CHECK(hwtdi_elf_file_init(&elf, ctx, "f", in->bytes, in->n,
		       NULL) == HWTD_OK,
	    "ranges of what is no ELF file");
	for (size_t i = 0; i < n; i++)
		FUZZ_CHECK(is_code(in, &elf, ranges[i].start) &&
			is_code(in, &elf, ranges[i].end),
		    "%#" PRIx64 "-%#" PRIx64 " is no code", ranges[i].start,
		    ranges[i].end);
	hwtdi_elf_file_fini(&elf, ctx);
}

static void
check_ranges(const struct input *in, const struct hwtdi_filters *f,
    bool is_program)
{
	struct hwtdi_filter_range out[ROOM];
	const size_t most = in->most % (ROOM + 1);
	char text[300];
	size_t n;
	int rc = hwtdi_filters_ranges(f, most, out, &n, NULL);

	FUZZ_CHECK(rc == (n > most ? HWTD_E_LIMIT : HWTD_OK), "%zu ranges: %d",
	    n, rc);
	for (size_t i = 0; rc == HWTD_OK && i < n; i++) {
		FUZZ_CHECK(out[i].start <= out[i].end &&
			(out[i].mode == HWTDI_FILTER_TRACE ||
			    out[i].mode == HWTDI_FILTER_STOP),
		    "range %zu", i);
		FUZZ_CHECK(i == 0 || out[i - 1].mode < out[i].mode ||
			(out[i - 1].mode == out[i].mode &&
			    out[i - 1].end < out[i].start &&
			    out[i].start - out[i - 1].end > 1),
		    "ranges %zu and before are not apart", i);
	}
	if (rc == HWTD_OK && n > 0 && is_program)
		check_segments(in, f->library, out, n);
	n = hwtdi_filters_missing(f, text, sizeof(text));
	FUZZ_CHECK((n == 0) == hwtdi_filters_ready(f) && n <= f->n,
	    "%zu missing", n);
	FUZZ_CHECK((text[0] == '\0') == (n == 0), "text of %zu", n);
	(void)hwtdi_filters_guessed(f, text, sizeof(text));
}

static void
look(const struct input *in, struct hwtdi_filters *f, const char *path)
{
	struct hwtdi_filter_load load = { .path = IMAGE,
		.file = path,
		.base = in->base,
		.file_off = in->file_off,
		.length = in->file_off >> 8 };
	bool only_program = true, changed;

	for (size_t i = 0; i < 2; i++) {
		struct hwtd_error err = { .size = sizeof(err) };
		int rc;

		load.kind = (in->kinds >> (2 * i)) & 3;
		load.addr = in->addr[i];
		load.has_file_off = (in->flags >> i & 1) != 0;
		load.has_length = (in->flags >> i & 4) != 0;
		rc = hwtdi_filters_see(f, &load, &changed, &err);
		FUZZ_CHECK(rc == err.code, "%d and %d", rc, err.code);
		FUZZ_CHECK(rc != HWTD_E_NOMEM &&
			(rc == HWTD_E_INVALID) == (load.kind == 0),
		    "%d: %s", rc, err.message);
		only_program = only_program && i == 0 &&
		    load.kind == HWTDI_FILTER_EXECUTABLE;
		check_ranges(in, f, only_program);
	}
	(void)hwtdi_filters_try(f, path, NULL);
	check_ranges(in, f, false);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* An ELF interpreter of the file is not to be found on this machine. */
	static const char *const roots[1] = { "/nonexistent" };
	static const struct hwtdi_image_places places = { .roots = roots,
		.n_roots = 1 };
	struct hwtd_error err = { .size = sizeof(err) };
	struct fuzz_in choices = { data, size };
	struct hwtdi_filters filters;
	struct hwtd_context *ctx;
	struct fuzz_file file;
	const uint8_t *nul;
	struct input in;
	uint64_t held = 0;

	if (size < CHOICES)
		return (0);
	in.addr[0] = fuzz_take(&choices, 8);
	in.addr[1] = fuzz_take(&choices, 8);
	in.base = fuzz_take(&choices, 8);
	in.kinds = (uint8_t)fuzz_take(&choices, 1);
	in.flags = (uint8_t)fuzz_take(&choices, 1);
	in.most = fuzz_take(&choices, 1);
	in.file_off = fuzz_take(&choices, 5);
	nul = memchr(choices.at, 0, choices.left);
	if (nul == NULL)
		return (0);
	in.bytes = nul + 1;
	in.n = (size_t)(data + size - in.bytes);
	FUZZ_CHECK(hwtd_context_create(NULL, &ctx, &err) == HWTD_OK, "%s",
	    err.message);
	fuzz_file_open(&file, in.bytes, in.n);
	hwtdi_filters_init(&filters, ctx, &places,
	    (uint64_t)1 << (12 + (in.flags >> 4)));
	add_texts(&filters, (const char *)choices.at);
	look(&in, &filters, file.path);
	hwtdi_filters_fini(&filters);
	fuzz_file_close(&file);
	hwtd_context_memory(ctx, &held, NULL);
	FUZZ_CHECK(held == 0, "%" PRIu64 " bytes are still held", held);
	hwtd_context_destroy(ctx);
	return (0);
}
