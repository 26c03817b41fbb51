/*
 * Writing JSON.
 *
 * Source: RFC 8259.
 */
#include "export/json_writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "export/plain_text.h"

#define FORMAT_BYTES 256

void
hwtdi_json_begin(struct hwtdi_json_writer *json, struct hwtdi_sink *sink)
{
	memset(json, 0, sizeof(*json));
	json->sink = sink;
}

/* What stands before a value. */
static void
before(struct hwtdi_json_writer *json)
{
	const uint32_t level = UINT32_C(1) << json->depth;

	if (json->keyed) {
		json->keyed = false;
		return;
	}
	if ((json->begun & level) != 0)
		hwtdi_sink_char(json->sink, ',');
	json->begun |= level;
}

static void
begin(struct hwtdi_json_writer *json, bool object)
{
	before(json);
	hwtdi_sink_char(json->sink, object ? '{' : '[');
	if (json->depth + 1 < HWTDI_JSON_DEPTH)
		json->depth++;
	json->begun &= ~(UINT32_C(1) << json->depth);
	json->objects &= ~(UINT32_C(1) << json->depth);
	json->objects |= (uint32_t)object << json->depth;
}

void
hwtdi_json_begin_object(struct hwtdi_json_writer *json)
{
	begin(json, true);
}

void
hwtdi_json_begin_array(struct hwtdi_json_writer *json)
{
	begin(json, false);
}

void
hwtdi_json_end(struct hwtdi_json_writer *json)
{
	const bool object = (json->objects >> json->depth & 1) != 0;

	hwtdi_sink_char(json->sink, object ? '}' : ']');
	if (json->depth > 0)
		json->depth--;
}

void
hwtdi_json_newline(struct hwtdi_json_writer *json)
{
	hwtdi_sink_char(json->sink, '\n');
}

void
hwtdi_json_key(struct hwtdi_json_writer *json, const char *name)
{
	before(json);
	hwtdi_sink_char(json->sink, '"');
	hwtdi_sink_text(json->sink, name);
	hwtdi_sink_put(json->sink, "\":", 2);
	json->keyed = true;
}

/* Bytes at the front that are written as they are. */
static size_t
plain_bytes(const char *text, size_t n)
{
	size_t i = 0;

	while (i < n && (uint8_t)text[i] >= 0x20 && (uint8_t)text[i] < 0x7f &&
	    text[i] != '"' && text[i] != '\\')
		i++;
	return (i);
}

/* A character that is not plain; its bytes. */
static size_t
put_special(struct hwtdi_sink *sink, const char *text, size_t n)
{
	const uint8_t c = (uint8_t)text[0];
	const size_t bytes = hwtdi_utf8_bytes(text, n);

	if (bytes == 0) {
		hwtdi_sink_put(sink, "\xef\xbf\xbd", 3);
		return (1);
	}
	if (c == '"' || c == '\\') {
		hwtdi_sink_char(sink, '\\');
		hwtdi_sink_char(sink, (char)c);
	} else if (c < 0x20 || c == 0x7f)
		hwtdi_sink_format(sink, "\\u%04x", c);
	else
		hwtdi_sink_put(sink, text, bytes);
	return (bytes);
}

void
hwtdi_json_put_string(struct hwtdi_json_writer *json, const char *text,
    size_t n)
{
	const size_t taken = hwtdi_name_bytes(text, n);

	before(json);
	hwtdi_sink_char(json->sink, '"');
	for (size_t i = 0; i < taken;) {
		const size_t plain = plain_bytes(text + i, taken - i);

		if (plain > 0)
			hwtdi_sink_put(json->sink, text + i, plain);
		else
			i += put_special(json->sink, text + i, taken - i);
		i += plain;
	}
	if (taken < n)
		hwtdi_sink_put(json->sink, "...", 3);
	hwtdi_sink_char(json->sink, '"');
}

void
hwtdi_json_put_text(struct hwtdi_json_writer *json, const char *text)
{
	if (text == NULL)
		hwtdi_json_put_null(json);
	else
		hwtdi_json_put_string(json, text, strlen(text));
}

void
hwtdi_json_put_format(struct hwtdi_json_writer *json, const char *fmt, ...)
{
	char text[FORMAT_BYTES];
	va_list ap;

	va_start(ap, fmt);
	if (vsnprintf(text, sizeof(text), fmt, ap) < 0)
		text[0] = '\0';
	va_end(ap);
	hwtdi_json_put_text(json, text);
}

void
hwtdi_json_put_address(struct hwtdi_json_writer *json, uint64_t v)
{
	before(json);
	hwtdi_sink_format(json->sink, "\"0x%llx\"", (unsigned long long)v);
}

void
hwtdi_json_put_u64(struct hwtdi_json_writer *json, uint64_t v)
{
	before(json);
	hwtdi_sink_u64(json->sink, v);
}

void
hwtdi_json_put_i64(struct hwtdi_json_writer *json, int64_t v)
{
	before(json);
	if (v < 0)
		hwtdi_sink_char(json->sink, '-');
	hwtdi_sink_u64(json->sink, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void
hwtdi_json_put_decimal(struct hwtdi_json_writer *json, uint64_t v,
    unsigned int digits)
{
	before(json);
	hwtdi_sink_decimal(json->sink, v, digits);
}

void
hwtdi_json_put_bool(struct hwtdi_json_writer *json, bool v)
{
	before(json);
	hwtdi_sink_text(json->sink, v ? "true" : "false");
}

void
hwtdi_json_put_null(struct hwtdi_json_writer *json)
{
	before(json);
	hwtdi_sink_text(json->sink, "null");
}
