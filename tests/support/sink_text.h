/*
 * What was put into a sink, as text; for tests of writers.
 */
#ifndef TEST_SINK_TEXT_H
#define TEST_SINK_TEXT_H

#include "export/export_sink.h"
#include "support/failing_allocator.h"

struct sink_text {
	struct failing_allocator memory;
	struct hwtd_context *ctx;
	struct hwtdi_sink sink;
	char *text;
	size_t n, cap;
	/* write() fails with it, if it is not 0. */
	int error;
	/* Calls of next(). */
	unsigned int nexts;
};

/* 0: done. */
int sink_text_init(struct sink_text *out);
/* The same, packed. */
int sink_text_init_packed(struct sink_text *out);
/* What was put since this was called last, with a NUL; all is given on. */
const char *sink_text_get(struct sink_text *out);
void sink_text_fini(struct sink_text *out);

#endif /* TEST_SINK_TEXT_H */
