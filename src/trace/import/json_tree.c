/*
 * JSON texts as trees, by json-c.
 *
 * json-c takes its memory from malloc(), so what a tree will need is estimated
 * before it is made, and counts against the limits of the context.
 */
#include "trace/import/json_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* What json-c needs at the most for an object or array, and for a value. */
#define BYTES_PER_TREE 1536u
#define BYTES_PER_VALUE 256u

#define PLACE_MAX 96u

/* Bytes that the tree of a text takes at the most. */
static uint64_t
estimate(const uint8_t *text, size_t n)
{
	uint64_t trees = 0, values = 1;

	for (size_t i = 0; i < n; i++) {
		trees += text[i] == '{' || text[i] == '[';
		values += text[i] == ',' || text[i] == ':';
	}
	return (n * (uint64_t)2 + trees * BYTES_PER_TREE +
	    values * BYTES_PER_VALUE);
}

static int
check_room(const struct hwtd_context *ctx, uint64_t bytes,
    struct hwtd_error *err)
{
	uint64_t held = atomic_load(&ctx->memory);

	if (bytes > ctx->max_alloc)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "the JSON text may need %" PRIu64
		    " bytes of memory; max_alloc is %" PRIu64,
		    bytes, ctx->max_alloc));
	if (held > ctx->max_memory || bytes > ctx->max_memory - held)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "the JSON text may need %" PRIu64
		    " bytes of memory; max_memory is %" PRIu64,
		    bytes, ctx->max_memory));
	return (HWTD_OK);
}

static int
fail_parse(enum json_tokener_error why, const uint8_t *text, size_t n,
    size_t at, struct hwtd_error *err)
{
	size_t line = 1, column = 1;

	if (why == json_tokener_error_depth)
		return (hwtdi_fail_at(err, HWTD_E_LIMIT, at,
		    "JSON is nested deeper than %d", HWTDI_JSON_DEPTH));
	for (size_t i = 0; i < at && i < n; i++) {
		column++;
		if (text[i] == '\n') {
			line++;
			column = 1;
		}
	}
	if (why == json_tokener_continue)
		return (hwtdi_fail_at(err, HWTD_E_CORRUPT, n,
		    "JSON ends too early, in line %zu", line));
	return (hwtdi_fail_at(err, HWTD_E_CORRUPT, at,
	    "no JSON in line %zu, column %zu: %s", line, column,
	    json_tokener_error_desc(why)));
}

static bool
is_space(uint8_t c)
{
	return (c == ' ' || c == '\t' || c == '\r' || c == '\n');
}

int
hwtdi_json_init(struct hwtdi_json *root, struct hwtd_context *ctx,
    const uint8_t *text, size_t n, struct hwtd_error *err)
{
	struct json_tokener *tokener;
	size_t end;
	int rc;

	memset(root, 0, sizeof(*root));
	if (n > INT_MAX)
		return (hwtdi_fail(err, HWTD_E_LIMIT, "JSON of %zu bytes", n));
	rc = check_room(ctx, estimate(text, n), err);
	if (rc != HWTD_OK)
		return (rc);
	tokener = json_tokener_new_ex(HWTDI_JSON_DEPTH);
	if (tokener == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*root)));
	json_tokener_set_flags(tokener,
	    JSON_TOKENER_VALIDATE_UTF8 | JSON_TOKENER_STRICT |
		JSON_TOKENER_ALLOW_TRAILING_CHARS);
	root->value = json_tokener_parse_ex(tokener, (const char *)text,
	    (int)n);
	end = json_tokener_get_parse_end(tokener);
	if (root->value == NULL)
		rc = fail_parse(json_tokener_get_error(tokener), text, n, end,
		    err);
	json_tokener_free(tokener);
	while (rc == HWTD_OK && end < n && is_space(text[end]))
		end++;
	if (rc == HWTD_OK && end < n)
		rc = hwtdi_fail_at(err, HWTD_E_CORRUPT, end,
		    "something follows the JSON text, from byte %zu on", end);
	root->there = true;
	if (rc != HWTD_OK)
		hwtdi_json_fini(root);
	return (rc);
}

void
hwtdi_json_fini(struct hwtdi_json *root)
{
	(void)json_object_put(root->value);
	root->value = NULL;
}

/* The place of a value; the outermost parts are left out if it is long. */
static void
place(const struct hwtdi_json *at, char out[PLACE_MAX])
{
	size_t start = PLACE_MAX - 1;

	out[start] = '\0';
	for (; at->parent != NULL; at = at->parent) {
		char part[PLACE_MAX];
		int n;

		if (at->field != NULL)
			n = snprintf(part, sizeof(part), "%s%.40s",
			    at->parent->parent != NULL ? "." : "", at->field);
		else
			n = snprintf(part, sizeof(part), "[%zu]", at->index);
		if (n < 0 || (size_t)n > start)
			break;
		start -= (size_t)n;
		memcpy(out + start, part, (size_t)n);
	}
	memmove(out, out + start, PLACE_MAX - start);
}

int
hwtdi_json_prefix(const struct hwtdi_json *at, struct hwtd_error *err,
    int code)
{
	char where[PLACE_MAX];

	place(at, where);
	if (where[0] != '\0')
		hwtdi_fail_prefix(err, "%s", where);
	return (code);
}

int
hwtdi_json_fail(const struct hwtdi_json *at, struct hwtd_error *err,
    const char *fmt, ...)
{
	char text[160];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return (hwtdi_json_prefix(at, err,
	    hwtdi_fail(err, HWTD_E_CORRUPT, "%s", text)));
}

static int
fail_type(const struct hwtdi_json *at, const char *expected,
    struct hwtd_error *err)
{
	if (!at->there)
		return (hwtdi_json_fail(at, err, "is missing; expected %s",
		    expected));
	return (hwtdi_json_fail(at, err, "expected %s, found %.40s", expected,
	    json_object_to_json_string(at->value)));
}

bool
hwtdi_json_has(const struct hwtdi_json *at)
{
	return (at->value != NULL);
}

int
hwtdi_json_field(const struct hwtdi_json *object, const char *name,
    struct hwtdi_json *out, struct hwtd_error *err)
{
	if (!json_object_is_type(object->value, json_type_object))
		return (fail_type(object, "an object", err));
	memset(out, 0, sizeof(*out));
	out->parent = object;
	out->field = name;
	out->there = json_object_object_get_ex(object->value, name,
			 &out->value) != 0;
	return (HWTD_OK);
}

int
hwtdi_json_array(const struct hwtdi_json *at, size_t *n_out,
    struct hwtd_error *err)
{
	if (!json_object_is_type(at->value, json_type_array))
		return (fail_type(at, "an array", err));
	*n_out = json_object_array_length(at->value);
	return (HWTD_OK);
}

void
hwtdi_json_element(const struct hwtdi_json *array, size_t index,
    struct hwtdi_json *out)
{
	memset(out, 0, sizeof(*out));
	out->parent = array;
	out->index = index;
	out->there = true;
	out->value = json_object_array_get_idx(array->value, index);
}

int
hwtdi_json_number(const struct hwtdi_json *at, uint64_t most, uint64_t *out,
    struct hwtd_error *err)
{
	uint64_t value;

	if (!json_object_is_type(at->value, json_type_int) ||
	    json_object_get_int64(at->value) < 0)
		return (fail_type(at, "a whole number from 0 on", err));
	/* json-c makes UINT64_MAX of whatever is larger. */
	value = json_object_get_uint64(at->value);
	if (value > most || value == UINT64_MAX)
		return (hwtdi_json_fail(at, err,
		    "%" PRIu64 "%s is too large; at most %" PRIu64, value,
		    value == UINT64_MAX ? " or more" : "", most));
	*out = value;
	return (HWTD_OK);
}

int
hwtdi_json_address(const struct hwtdi_json *at, uint64_t *out,
    struct hwtd_error *err)
{
	const char *text = NULL, *digits;
	char *end;
	int rc, base = 10;

	if (!json_object_is_type(at->value, json_type_string)) {
		if (!json_object_is_type(at->value, json_type_int))
			return (fail_type(at, "a number, or one in a string",
			    err));
		return (hwtdi_json_number(at, UINT64_MAX - 1, out, err));
	}
	rc = hwtdi_json_text(at, &text, err);
	if (rc != HWTD_OK)
		return (rc);
	digits = text;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		digits += 2;
		base = 16;
	}
	errno = 0;
	*out = strtoull(digits, &end, base);
	/* strtoull() takes signs, blanks and a second 0x. */
	if (errno != 0 || *end != '\0' ||
	    strspn(digits, "0123456789abcdefABCDEF") != strlen(digits) ||
	    digits[0] == '\0')
		return (fail_type(at, "a decimal or 0x number", err));
	return (HWTD_OK);
}

int
hwtdi_json_text(const struct hwtdi_json *at, const char **out,
    struct hwtd_error *err)
{
	if (!json_object_is_type(at->value, json_type_string))
		return (fail_type(at, "a string", err));
	*out = json_object_get_string(at->value);
	if (strlen(*out) != (size_t)json_object_get_string_len(at->value))
		return (hwtdi_json_fail(at, err, "holds a NUL character"));
	return (HWTD_OK);
}
