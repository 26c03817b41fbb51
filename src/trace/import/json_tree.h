/*
 * JSON texts as trees, read with the place of every value at hand, so that a
 * message can name it: processes[0].threads[1].tid.
 */
#ifndef HWTDI_JSON_TREE_H
#define HWTDI_JSON_TREE_H

#include <hwtdecode/error.h>

#include "base/library.h"

/* Nested objects and arrays; deeper texts are refused. */
#define HWTDI_JSON_DEPTH 16

struct json_object;

/* A value in the tree; `parent` outlives it. */
struct hwtdi_json {
	struct json_object *value;
	/* The text has it, if only as null. */
	bool there;
	const struct hwtdi_json *parent;
	/* Name in an object; NULL: element `index` of an array. */
	const char *field;
	size_t index;
};

/*
 * Parse a text of one object.  HWTD_E_CORRUPT (no JSON; offset says where),
 * HWTD_E_LIMIT (the tree may not fit into max_memory, or is too deep),
 * HWTD_E_NOMEM.
 */
int hwtdi_json_init(struct hwtdi_json *root, struct hwtd_context *ctx,
    const uint8_t *text, size_t n, struct hwtd_error *err);
void hwtdi_json_fini(struct hwtdi_json *root);

/* HWTD_E_CORRUPT "PLACE: message". */
int hwtdi_json_fail(const struct hwtdi_json *at, struct hwtd_error *err,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Put "PLACE: " before the message of an error; `code` again. */
int hwtdi_json_prefix(const struct hwtdi_json *at, struct hwtd_error *err,
    int code);

/* There, and not null. */
bool hwtdi_json_has(const struct hwtdi_json *at);

/* A field of an object, which may be missing.  HWTD_E_CORRUPT: no object. */
int hwtdi_json_field(const struct hwtdi_json *object, const char *name,
    struct hwtdi_json *out, struct hwtd_error *err);

int hwtdi_json_array(const struct hwtdi_json *at, size_t *n_out,
    struct hwtd_error *err);
void hwtdi_json_element(const struct hwtdi_json *array, size_t index,
    struct hwtdi_json *out);

/*
 * The value as what is expected; HWTD_E_CORRUPT if it is missing or something
 * else.  Numbers are whole, from 0 to `most`, which is below UINT64_MAX.  An
 * address may also be a text, decimal or with 0x.  Texts are without NUL and
 * are borrowed from the tree.
 */
int hwtdi_json_number(const struct hwtdi_json *at, uint64_t most,
    uint64_t *out, struct hwtd_error *err);
int hwtdi_json_address(const struct hwtdi_json *at, uint64_t *out,
    struct hwtd_error *err);
int hwtdi_json_text(const struct hwtdi_json *at, const char **out,
    struct hwtd_error *err);

#endif /* HWTDI_JSON_TREE_H */
