/*
 * Filters by address as users write them, and which images they name.
 */
#include <string.h>

#include "base/fail.h"
#include "base/regular_file.h"
#include "capture/address_filter_internal.h"

#define STOP "stop:"

static int
wrong(const char *text, const char *why, struct hwtd_error *err)
{
	return (hwtdi_fail(err, HWTD_E_INVALID,
	    "\"%.60s\" is no filter: %s; write FUNCTION@IMAGE, "
	    "0xA-0xB@IMAGE or @IMAGE",
	    text, why));
}

/*
 * The '@' before the image: before the first path, or else the last one.  Names
 * of functions and versions have no '/'.
 */
static const char *
find_at(const char *text)
{
	for (const char *at = strchr(text, '@'); at != NULL;
	     at = strchr(at + 1, '@'))
		if (at[1] == '/' || strncmp(at + 1, "./", 2) == 0 ||
		    strncmp(at + 1, "../", 3) == 0)
			return (at);
	return (strrchr(text, '@'));
}

/* A number of the text before `end`, decimal or with 0x. */
static bool
take_number(const char **text_inout, const char *end, uint64_t *out)
{
	const char *at = *text_inout;
	uint64_t base = 10, n = 0;
	size_t digits = 0;

	if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
		base = 16;
		at += 2;
	}
	for (; at < end; at++, digits++) {
		uint64_t digit;

		if (*at >= '0' && *at <= '9')
			digit = (uint64_t)(*at - '0');
		else if (base == 16 && *at >= 'a' && *at <= 'f')
			digit = (uint64_t)(*at - 'a') + 10;
		else if (base == 16 && *at >= 'A' && *at <= 'F')
			digit = (uint64_t)(*at - 'A') + 10;
		else
			break;
		if (n > (UINT64_MAX - digit) / base)
			return (false);
		n = n * base + digit;
	}
	*text_inout = at;
	*out = n;
	return (digits > 0);
}

static int
parse_addresses(struct hwtdi_address_filter *filter, const char *at,
    const char *end, struct hwtd_error *err)
{
	uint64_t behind;

	if (!take_number(&at, end, &filter->first) || at == end ||
	    *at++ != '-' || !take_number(&at, end, &behind) || at != end)
		return (wrong(filter->text,
		    "what begins with a digit is two addresses below 2^64, "
		    "with \"-\" between",
		    err));
	if (behind <= filter->first)
		return (wrong(filter->text,
		    "the second address, the first one behind the range, is "
		    "not above the first",
		    err));
	filter->last = behind - 1;
	filter->what = HWTDI_FILTER_ADDRESSES;
	return (HWTD_OK);
}

static int
parse_function(struct hwtdi_address_filter *filter, struct hwtd_context *ctx,
    const char *at, const char *end, struct hwtd_error *err)
{
	const size_t n = (size_t)(end - at);

	if (end[-1] == '@')
		return (wrong(filter->text,
		    "a version of a function, but no image", err));
	filter->function = hwtdi_alloc(ctx, n + 1);
	if (filter->function == NULL)
		return (hwtdi_fail_nomem(err, n + 1));
	memcpy(filter->function, at, n);
	filter->function[n] = '\0';
	filter->what = HWTDI_FILTER_FUNCTION;
	return (HWTD_OK);
}

static int
parse(struct hwtdi_address_filter *filter, struct hwtd_context *ctx,
    struct hwtd_error *err)
{
	const char *text = filter->text;
	const char *at;

	filter->mode = HWTDI_FILTER_TRACE;
	if (strncmp(text, STOP, strlen(STOP)) == 0) {
		filter->mode = HWTDI_FILTER_STOP;
		text += strlen(STOP);
	}
	at = find_at(text);
	if (at == NULL)
		return (wrong(filter->text, "it has no '@'", err));
	filter->image = at + 1;
	if (at[1] == '\0' || at[strlen(at) - 1] == '/')
		return (wrong(filter->text, "it names no image", err));
	if (at == text) {
		filter->what = HWTDI_FILTER_IMAGE;
		return (HWTD_OK);
	}
	if (*text >= '0' && *text <= '9')
		return (parse_addresses(filter, text, at, err));
	return (parse_function(filter, ctx, text, at, err));
}

int
hwtdi_address_filter_parse(struct hwtdi_address_filter *filter,
    struct hwtd_context *ctx, const char *text, struct hwtd_error *err)
{
	int rc;

	memset(filter, 0, sizeof(*filter));
	if (strnlen(text, HWTDI_FILTER_TEXT_MAX) == HWTDI_FILTER_TEXT_MAX)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "\"%.60s...\" is a filter of more than %u bytes", text,
		    HWTDI_FILTER_TEXT_MAX - 1));
	filter->text = hwtdi_strdup(ctx, text);
	if (filter->text == NULL)
		return (hwtdi_fail_nomem(err, strlen(text) + 1));
	rc = parse(filter, ctx, err);
	if (rc != HWTD_OK)
		hwtdi_address_filter_fini(filter, ctx);
	return (rc);
}

void
hwtdi_address_filter_fini(struct hwtdi_address_filter *filter,
    struct hwtd_context *ctx)
{
	hwtdi_strfree(ctx, filter->text);
	hwtdi_strfree(ctx, filter->function);
	hwtdi_array_free(ctx, filter->ranges, filter->cap_ranges,
	    sizeof(*filter->ranges));
	memset(filter, 0, sizeof(*filter));
}

/* Images. */

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return (slash != NULL ? slash + 1 : path);
}

/* Below a folder, a path; false: too long. */
static bool
below(const char *folder, const char *path, char out[HWTDI_SEARCH_PATH_MAX])
{
	size_t n = strlen(folder);
	const size_t m = strlen(path);

	while (n > 0 && folder[n - 1] == '/')
		n--;
	while (*path == '/')
		path++;
	if (n + 1 + m >= HWTDI_SEARCH_PATH_MAX)
		return (false);
	memcpy(out, folder, n);
	out[n] = '/';
	memcpy(out + n + 1, path, strlen(path) + 1);
	return (true);
}

/* A path from the working directory is the end of a whole one. */
static bool
is_end(const char *image, const char *path)
{
	const size_t n = strlen(image), m = strlen(path);

	if (n == m)
		return (strcmp(image, path) == 0);
	return (image[0] != '/' && n < m && path[m - n - 1] == '/' &&
	    strcmp(path + (m - n), image) == 0);
}

static bool
names_path(const char *image, const char *path)
{
	while (strncmp(image, "./", 2) == 0)
		image += 2;
	if (strchr(image, '/') == NULL)
		return (strcmp(image, base_name(path)) == 0);
	return (is_end(image, path));
}

bool
hwtdi_address_filter_names(const struct hwtdi_address_filter *filter,
    const struct hwtdi_image_places *places, const char *path,
    const char *file)
{
	char other[HWTDI_SEARCH_PATH_MAX];
	const char *image = filter->image;

	if (names_path(image, path) ||
	    (file != NULL && names_path(image, file)))
		return (true);
	if (strchr(image, '/') == NULL)
		return (false);
	if (file != NULL)
		return (hwtdi_regular_file_same(image, file));
	for (size_t i = 0; places != NULL && i < places->n_roots; i++)
		if (below(places->roots[i], path, other) &&
		    (strcmp(other, image) == 0 ||
			hwtdi_regular_file_same(image, other)))
			return (true);
	return (strchr(path, '/') != NULL &&
	    hwtdi_regular_file_same(image, path));
}
