/*
 * JSON lines: keys and values, without building anything in memory.
 */
#include "cli/output/json_line.h"

/* Longest key with its quotes, comma and colon, plus a number. */
#define MAX_PAIR 64

void
json_begin(struct output *out, const char *type)
{
	output_format(out, "{\"schema\":%d,\"type\":\"%s\"", JSON_SCHEMA,
	    type);
}

void
json_end(struct output *out)
{
	output_bytes(out, "}\n", 2);
}

void
json_key(struct output *out, const char *name)
{
	const size_t n = strlen(name);

	output_room(out, MAX_PAIR);
	*out->at++ = ',';
	*out->at++ = '"';
	memcpy(out->at, name, n);
	out->at += n;
	*out->at++ = '"';
	*out->at++ = ':';
}

void
json_u64(struct output *out, const char *name, uint64_t value)
{
	json_key(out, name);
	out->at = format_u64(out->at, value);
}

void
json_hex(struct output *out, const char *name, uint64_t value)
{
	json_key(out, name);
	*out->at++ = '"';
	out->at = format_hex(out->at, value);
	*out->at++ = '"';
}

void
json_bool(struct output *out, const char *name, bool value)
{
	json_key(out, name);
	output_text(out, value ? "true" : "false");
}

void
json_name(struct output *out, const char *name, const char *value)
{
	json_key(out, name);
	output_char(out, '"');
	output_text(out, value);
	output_char(out, '"');
}

void
json_string(struct output *out, const char *name, const char *value)
{
	json_key(out, name);
	output_json_string(out, value);
}

void
json_percent(struct output *out, const char *name, double value)
{
	json_key(out, name);
	output_format(out, "%.6g", value);
}
