/*
 * A sink that keeps what it is given.
 */
#include "support/sink_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int
take(void *arg, const void *bytes, size_t n)
{
	struct sink_text *out = arg;

	if (out->error != 0)
		return (out->error);
	if (out->n + n + 1 > out->cap) {
		out->cap = (out->n + n + 1) * 2;
		out->text = realloc(out->text, out->cap);
		if (out->text == NULL)
			return (ENOMEM);
	}
	memcpy(out->text + out->n, bytes, n);
	out->n += n;
	out->text[out->n] = '\0';
	return (0);
}

static int
next(void *arg)
{
	struct sink_text *out = arg;

	out->nexts++;
	return (out->error);
}

static int
init(struct sink_text *out, bool packed)
{
	struct hwtd_context_options o = { .size = sizeof(o) };

	memset(out, 0, sizeof(*out));
	failing_allocator_init(&out->memory);
	o.allocator = &out->memory.allocator;
	if (hwtd_context_create(&o, &out->ctx, NULL) != HWTD_OK)
		return (-1);
	return (hwtdi_sink_init(&out->sink, out->ctx, take, next, out, packed,
	    NULL));
}

int
sink_text_init(struct sink_text *out)
{
	return (init(out, false));
}

int
sink_text_init_packed(struct sink_text *out)
{
	return (init(out, true));
}

const char *
sink_text_get(struct sink_text *out)
{
	const int rc = hwtdi_sink_flush(&out->sink, NULL);

	if (rc != HWTD_OK || out->text == NULL)
		return ("");
	out->n = 0;
	return (out->text);
}

void
sink_text_fini(struct sink_text *out)
{
	hwtdi_sink_fini(&out->sink);
	hwtd_context_destroy(out->ctx);
	free(out->text);
	out->text = NULL;
}
