/*
 * Fuzz harness of coverage: 4 bytes of choices, then an ELF file with symbols and
 * debug information, of which some code is said to have run.  Two halves of that
 * have to be the whole, and lcov is written of it.
 */
#include <hwtdecode/hwtdecode.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/coverage/coverage_internal.h"
#include "analysis/coverage/coverage_unit.h"
#include "fuzz.h"
#include "support/coverage_text.h"
#include "trace/symbolizer.h"

#define MAX_INPUT ((size_t)1 << 17)
#define CHOICES 4
/* Stretches of code that ran. */
#define STRETCHES 256

struct input {
	const uint8_t *choices;
	uint64_t n_bytes;
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	struct hwtd_symbolizer *symbolizer;
};

/* Every stretch, or each other one. */
static int
add_counts(const struct input *in, struct hwtd_coverage *c, unsigned int first,
    unsigned int step)
{
	const uint64_t apart = in->n_bytes / STRETCHES + 1;
	int rc = HWTD_OK;

	for (unsigned int i = first; rc == HWTD_OK && i < STRETCHES;
	     i += step) {
		const uint64_t off = i * apart + in->choices[0] % apart;
		const struct hwtdi_cov_count count = { off,
			off + 1 + in->choices[2] % (2 * apart), i % 7 + 1 };
		const struct hwtdi_cov_edge edge = { off, off - i % 5 * apart,
			i + 1, i % 9 == 0 ? HWTD_NO_ID : 0, i % 4 + 1 };

		rc = hwtdi_cov_add(&c->store, 0, HWTDI_COV_COUNTS, &count,
		    NULL);
		if (rc == HWTD_OK)
			rc = hwtdi_cov_add(&c->store, 0, HWTDI_COV_EDGES,
			    &edge, NULL);
	}
	if (rc == HWTD_OK)
		rc = hwtdi_cov_tidy(&c->store, 0, HWTDI_COV_COUNTS, NULL);
	if (rc == HWTD_OK)
		rc = hwtdi_cov_tidy(&c->store, 0, HWTDI_COV_EDGES, NULL);
	return (rc);
}

static int
look_at(const struct input *in, struct hwtd_coverage *c)
{
	static struct hwtdi_cov_look look;
	struct hwtdi_symbol_image *image;
	int rc;

	rc = hwtdi_symbolizer_image(in->symbolizer, 0, &image, NULL);
	if (rc != HWTD_OK)
		return (rc);
	memset(&look, 0, sizeof(look));
	look.store = &c->store;
	look.paths = &c->paths;
	look.flags = c->flags;
	look.symbols = image;
	rc = hwtdi_cov_look_init(&look, NULL);
	for (uint32_t i = 0; rc == HWTD_OK && image->dwarf != NULL &&
	     i < hwtdi_dwarf_walk_units(image->dwarf);
	     i++)
		rc = hwtdi_cov_look_unit(&look, i, NULL);
	if (rc == HWTD_OK)
		rc = hwtdi_cov_look_symbols(&look, NULL);
	hwtdi_cov_look_fini(&look);
	return (rc);
}

/* NULL: a limit was reached. */
static struct hwtd_coverage *
cover(const struct input *in, unsigned int first, unsigned int step)
{
	const struct hwtd_coverage_options o = { .size = sizeof(o),
		.flags = in->choices[1] & 4 };
	struct hwtd_coverage *c;
	uint32_t no;
	int rc;

	FUZZ_CHECK(hwtd_coverage_create(in->ctx, &o, &c, NULL) == HWTD_OK,
	    "create");
	FUZZ_CHECK(hwtdi_cov_image_add(&c->store, "image", NULL, 0, &no,
		       NULL) == HWTD_OK,
	    "image");
	rc = add_counts(in, c, first, step);
	if (rc == HWTD_OK)
		rc = look_at(in, c);
	FUZZ_CHECK(rc == HWTD_OK || rc == HWTD_E_NOMEM || rc == HWTD_E_LIMIT,
	    "%d", rc);
	if (rc == HWTD_OK)
		return (c);
	hwtd_coverage_close(c);
	return (NULL);
}

/* Lines of lcov begin with a word of its, and nothing breaks them. */
static int
check_lcov(void *arg, const void *bytes, size_t n)
{
	static const char *const words[] = { "TN:", "SF:", "FN:", "FNDA:",
		"FNF:", "FNH:", "BRDA:", "BRF:", "BRH:", "DA:", "LF:", "LH:",
		"end_of_record\n" };
	const char *text = bytes;
	bool *at_start = arg;

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		FUZZ_CHECK(text[i] == '\n' || (unsigned char)text[i] >= 0x20,
		    "a control character at %zu", i);
		/* A word that goes on in the next call is not looked at. */
		while (*at_start && i + 14 < n &&
		    k < sizeof(words) / sizeof(words[0]) &&
		    memcmp(text + i, words[k], strlen(words[k])) != 0)
			k++;
		FUZZ_CHECK(k < sizeof(words) / sizeof(words[0]),
		    "a line begins with %.12s", text + i);
		*at_start = text[i] == '\n';
	}
	return (0);
}

static void
export_all(struct hwtd_coverage *c)
{
	bool at_start = true;
	const struct hwtd_format_options how = { .size = sizeof(how),
		.format = HWTD_FORMAT_LCOV,
		.write = check_lcov,
		.write_arg = &at_start,
		.title = "" };
	struct hwtd_export *ex;

	FUZZ_CHECK(hwtd_export_open_coverage(c, &how, &ex, NULL) == HWTD_OK,
	    "export");
	while (hwtd_export_write(ex, NULL) == HWTD_OK)
		;
	hwtd_export_close(ex);
}

static void
compare(struct hwtd_coverage *whole, struct hwtd_coverage *a,
    struct hwtd_coverage *b)
{
	char *want, *got;

	FUZZ_CHECK(hwtd_coverage_merge(a, b, NULL) == HWTD_OK, "merge");
	want = coverage_text(whole);
	got = coverage_text(a);
	for (size_t i = 0; want[i] != '\0' || got[i] != '\0'; i++)
		FUZZ_CHECK(want[i] == got[i], "%.80s, but halves %.80s",
		    want + (i < 40 ? 0 : i - 40), got + (i < 40 ? 0 : i - 40));
	free(want);
	free(got);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct hwtd_search nowhere = { .size = sizeof(nowhere),
		.flags = HWTD_SEARCH_NO_ORIGINAL };
	const struct hwtd_context_options limits = { .size = sizeof(limits),
		.max_memory = (uint64_t)512 << 20 };
	const struct hwtd_symbolizer_options opts = { .size = sizeof(opts),
		.search = &nowhere };
	struct hwtd_image_desc image = { .size = sizeof(image),
		.path = "image" };
	struct input in = { .choices = data };
	struct hwtd_coverage *whole, *a, *b;
	uint64_t now = 0;

	if (size < CHOICES + 64 || size > MAX_INPUT)
		return (0);
	if (hwtd_context_create(&limits, &in.ctx, NULL) != HWTD_OK)
		return (0);
	FUZZ_CHECK(hwtd_trace_create(in.ctx, NULL, &in.trace, NULL) == HWTD_OK,
	    "create");
	image.bytes = data + CHOICES;
	image.n_bytes = in.n_bytes = size - CHOICES;
	FUZZ_CHECK(hwtd_trace_add_image(in.trace, &image, NULL, NULL) ==
		HWTD_OK,
	    "add");
	FUZZ_CHECK(hwtd_trace_seal(in.trace, NULL) == HWTD_OK, "seal");
	FUZZ_CHECK(hwtd_symbolizer_open(in.trace, &opts, &in.symbolizer,
		       NULL) == HWTD_OK,
	    "open");
	whole = cover(&in, 0, 1);
	a = cover(&in, 0, 2);
	b = cover(&in, 1, 2);
	if (whole != NULL && a != NULL && b != NULL) {
		compare(whole, a, b);
		export_all(whole);
	}
	hwtd_coverage_close(whole);
	hwtd_coverage_close(a);
	hwtd_coverage_close(b);
	hwtd_symbolizer_close(in.symbolizer);
	hwtd_trace_close(in.trace);
	hwtd_context_memory(in.ctx, &now, NULL);
	FUZZ_CHECK(now == 0, "%" PRIu64 " bytes were not given back", now);
	hwtd_context_destroy(in.ctx);
	return (0);
}
