/*
 * Functions, files and lines of code in a program, with what was inlined there.
 * No trace is needed: a trace of nothing but an image has names, too.
 *
 * usage: symbolize PROGRAM OFFSET ...
 *
 * Offsets are those of bytes in the file.
 */
#include <hwtdecode/hwtdecode.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PLACES 256

static const char *
or_unknown(const char *text)
{
	return (text != NULL ? text : "?");
}

static void
print_symbol(const struct hwtd_symbol *symbol)
{
	/* What is not known is NULL, and no failure; `fault` may tell why. */
	printf("%#" PRIx64 " %s", symbol->file_off, or_unknown(symbol->text));
	if (symbol->name != NULL)
		printf("+%#" PRIx64, symbol->offset);
	printf("\n");
	if (symbol->fault != NULL)
		printf("    not read: %s\n", symbol->fault);
	/* The innermost function is the first, its caller the next. */
	for (uint32_t i = 0; i < symbol->n_frames; i++) {
		const struct hwtd_symbol_frame *frame = &symbol->frames[i];

		printf("    %s at %s:%" PRIu32 "%s\n",
		    or_unknown(frame->function), or_unknown(frame->file),
		    frame->line,
		    (frame->flags & HWTD_FRAMEF_INLINED) != 0 ? ", inlined"
							      : "");
	}
}

int
main(int argc, char **argv)
{
	static struct hwtd_where where[PLACES];
	static struct hwtd_symbol symbols[PLACES];
	const struct hwtd_image_desc image = { .size = sizeof(image),
		.path = argc > 1 ? argv[1] : "" };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_symbolizer *names = NULL;
	struct hwtd_context *ctx = NULL;
	struct hwtd_trace *trace = NULL;
	size_t n = 0;
	uint32_t id = 0;
	int rc;

	if (argc < 3 || argc > 2 + PLACES) {
		fprintf(stderr, "usage: symbolize PROGRAM OFFSET ...\n");
		return (2);
	}
	rc = hwtd_context_create(NULL, &ctx, &err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_create(ctx, NULL, &trace, &err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_add_image(trace, &image, &id, &err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_seal(trace, &err);
	if (rc == HWTD_OK)
		rc = hwtd_symbolizer_open(trace, NULL, &names, &err);
	for (int i = 2; i < argc; i++)
		where[n++] = (struct hwtd_where){ .flags = HWTD_WHERE_IMAGE,
			.image = id,
			.address = strtoull(argv[i], NULL, 0) };
	/* All at once: each file is opened, and each function read, once. */
	if (rc == HWTD_OK)
		rc = hwtd_symbolize(names, where, sizeof(where[0]), n, symbols,
		    sizeof(symbols[0]), &err);
	if (rc == HWTD_OK)
		for (size_t i = 0; i < n; i++)
			print_symbol(&symbols[i]);
	else
		fprintf(stderr, "symbolize: %s\n", err.message);
	hwtd_symbolizer_close(names);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	return (rc == HWTD_OK ? 0 : 1);
}
