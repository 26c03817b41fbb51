/*
 * Writing JSON, piece by piece: commas and quotes come by themselves, and any
 * text becomes one that JSON and UTF-8 allow.
 */
#ifndef HWTDI_JSON_WRITER_H
#define HWTDI_JSON_WRITER_H

#include "export/export_sink.h"

/* Arrays and objects in one another; deeper ones are a mistake of the writer's. */
#define HWTDI_JSON_DEPTH 32u

struct hwtdi_json_writer {
	struct hwtdi_sink *sink;
	/* Something stands before, at each level. */
	uint32_t begun;
	/* Each level: an object. */
	uint32_t objects;
	unsigned int depth;
	/* A key was written, and its value not yet. */
	bool keyed;
};

void hwtdi_json_begin(struct hwtdi_json_writer *json, struct hwtdi_sink *sink);

void hwtdi_json_begin_object(struct hwtdi_json_writer *json);
void hwtdi_json_begin_array(struct hwtdi_json_writer *json);
/* The innermost array or object ends. */
void hwtdi_json_end(struct hwtdi_json_writer *json);
/* A line ends, for people that look at the file: no value. */
void hwtdi_json_newline(struct hwtdi_json_writer *json);

/* In an object, before each value: a name of the format, as it is. */
void hwtdi_json_key(struct hwtdi_json_writer *json, const char *name);

/*
 * Any bytes as text: what is no UTF-8 becomes U+FFFD, and what would be longer
 * than HWTDI_NAME_MAX is cut.
 */
void hwtdi_json_put_string(struct hwtdi_json_writer *json, const char *text,
    size_t n);
/* NULL: null. */
void hwtdi_json_put_text(struct hwtdi_json_writer *json, const char *text);
/* As printf(3), up to 255 bytes; then as hwtdi_json_put_string(). */
void hwtdi_json_put_format(struct hwtdi_json_writer *json, const char *fmt,
    ...) __attribute__((format(printf, 2, 3)));
/* "0x" and hexadecimal digits, in quotes: numbers of JSON are not that exact. */
void hwtdi_json_put_address(struct hwtdi_json_writer *json, uint64_t v);

void hwtdi_json_put_u64(struct hwtdi_json_writer *json, uint64_t v);
void hwtdi_json_put_i64(struct hwtdi_json_writer *json, int64_t v);
/* v / 10^digits, exactly. */
void hwtdi_json_put_decimal(struct hwtdi_json_writer *json, uint64_t v,
    unsigned int digits);
void hwtdi_json_put_bool(struct hwtdi_json_writer *json, bool v);
void hwtdi_json_put_null(struct hwtdi_json_writer *json);

#endif /* HWTDI_JSON_WRITER_H */
