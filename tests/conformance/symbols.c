/*
 * Names code of a file, as llvm-symbolizer does: reads offsets in the file, a
 * hexadecimal number on each line, and prints what is known of each.
 *
 * usage: hwtdecode-symbols FILE [BUILD-ID-FOLDER]
 *
 * For each offset: "symbol NAME START", then for each frame "frame FUNCTION",
 * LINKAGE, FILE, LINE and COLUMN behind tabs, then an empty line; "-" is not known.
 */
#include <hwtdecode/hwtdecode.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 256

static const char *
text(const char *s)
{
	return (s != NULL ? s : "-");
}

static void
print(const struct hwtd_symbol *s)
{
	printf("symbol\t%s\t0x%" PRIx64 "\t%s\n", text(s->name),
	    s->symbol_address, text(s->fault));
	for (uint32_t i = 0; i < s->n_frames; i++)
		printf("frame\t%s\t%s\t%s\t%" PRIu32 "\t%" PRIu32 "\n",
		    text(s->frames[i].function),
		    text(s->frames[i].linkage_name), text(s->frames[i].file),
		    s->frames[i].line, s->frames[i].column);
	printf("\n");
}

static int
name_all(struct hwtd_symbolizer *symbolizer, struct hwtd_error *err)
{
	struct hwtd_where where[BATCH];
	struct hwtd_symbol symbols[BATCH];
	char line[64];
	size_t n;
	int rc = HWTD_OK;

	do {
		memset(where, 0, sizeof(where));
		for (n = 0;
		     n < BATCH && fgets(line, sizeof(line), stdin) != NULL;
		     n++) {
			where[n].flags = HWTD_WHERE_IMAGE;
			where[n].address = strtoull(line, NULL, 16);
		}
		rc = hwtd_symbolize(symbolizer, where, sizeof(where[0]), n,
		    symbols, sizeof(symbols[0]), err);
		for (size_t i = 0; rc == HWTD_OK && i < n; i++)
			print(&symbols[i]);
	} while (rc == HWTD_OK && n == BATCH);
	return (rc);
}

int
main(int argc, char **argv)
{
	const char *const dirs[1] = { argc > 2 ? argv[2] : NULL };
	const struct hwtd_search search = { .size = sizeof(search),
		.build_id_dirs = dirs,
		.n_build_id_dirs = argc > 2 ? 1 : 0 };
	const struct hwtd_symbolizer_options opts = { .size = sizeof(opts),
		.search = &search };
	const struct hwtd_image_desc image = { .size = sizeof(image),
		.path = argc > 1 ? argv[1] : NULL };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_symbolizer *symbolizer = NULL;
	struct hwtd_trace *trace = NULL;
	struct hwtd_context *ctx = NULL;
	int rc;

	if (argc < 2) {
		fprintf(stderr, "usage: hwtdecode-symbols FILE [FOLDER]\n");
		return (2);
	}
	rc = hwtd_context_create(NULL, &ctx, &err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_create(ctx, NULL, &trace, &err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_add_image(trace, &image, NULL, &err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_seal(trace, &err);
	if (rc == HWTD_OK)
		rc = hwtd_symbolizer_open(trace, &opts, &symbolizer, &err);
	if (rc == HWTD_OK)
		rc = name_all(symbolizer, &err);
	if (rc != HWTD_OK)
		fprintf(stderr, "%s\n", err.message);
	hwtd_symbolizer_close(symbolizer);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	return (rc == HWTD_OK ? 0 : 1);
}
