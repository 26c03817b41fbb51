/*
 * Files of one recording whose names differ by a number.
 */
#include "trace/import/file_family.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* Digits of a number that fits into 32 bits for sure. */
#define MAX_DIGITS 9

/* The number in a name; false: it is no member. */
static bool
number_of(const char *name, const char *prefix, const char *suffix,
    uint32_t *out)
{
	const size_t n = strlen(name), n_prefix = strlen(prefix);
	const size_t n_suffix = strlen(suffix);
	const char *digits = name + n_prefix;
	size_t n_digits;

	if (n <= n_prefix + n_suffix || strncmp(name, prefix, n_prefix) != 0 ||
	    strcmp(name + n - n_suffix, suffix) != 0)
		return (false);
	n_digits = n - n_prefix - n_suffix;
	if (n_digits > MAX_DIGITS || (digits[0] == '0' && n_digits > 1))
		return (false);
	*out = 0;
	for (size_t i = 0; i < n_digits; i++) {
		if (digits[i] < '0' || digits[i] > '9')
			return (false);
		*out = *out * 10 + (uint32_t)(digits[i] - '0');
	}
	return (true);
}

static int
by_number(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x < y ? -1 : x > y);
}

static int
add(struct hwtdi_file_family *family, struct hwtd_context *ctx,
    uint32_t number, struct hwtd_error *err)
{
	int rc;

	if (family->n == HWTDI_FAMILY_MAX)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "more than %u files of one recording", HWTDI_FAMILY_MAX));
	rc = hwtdi_array_grow(ctx, &family->numbers, &family->cap,
	    family->n + 1, sizeof(*family->numbers), err);
	if (rc == HWTD_OK)
		family->numbers[family->n++] = number;
	return (rc);
}

int
hwtdi_file_family_find(struct hwtdi_file_family *family,
    struct hwtd_context *ctx, const char *prefix, const char *suffix,
    struct hwtd_error *err)
{
	const char *slash = strrchr(prefix, '/');
	const char *base = slash != NULL ? slash + 1 : prefix;
	char *folder = hwtdi_strdup(ctx, prefix);
	const struct dirent *entry;
	uint32_t number;
	int rc = HWTD_OK;
	DIR *dir;

	memset(family, 0, sizeof(*family));
	if (folder == NULL)
		return (hwtdi_fail_nomem(err, strlen(prefix) + 1));
	/* Else all that are called by a number would be. */
	if (base[0] == '\0') {
		hwtdi_strfree(ctx, folder);
		return (HWTD_OK);
	}
	/* With its slash, which the root has too; it was allocated so long. */
	dir = NULL;
	if (slash == NULL) {
		dir = opendir(".");
	} else {
		const char held = folder[slash - prefix + 1];

		folder[slash - prefix + 1] = '\0';
		dir = opendir(folder);
		folder[slash - prefix + 1] = held;
	}
	hwtdi_strfree(ctx, folder);
	if (dir == NULL)
		return (HWTD_OK);
	while (rc == HWTD_OK && (entry = readdir(dir)) != NULL)
		if (number_of(entry->d_name, base, suffix, &number))
			rc = add(family, ctx, number, err);
	(void)closedir(dir);
	if (rc != HWTD_OK)
		hwtdi_file_family_fini(family, ctx);
	else if (family->n > 1)
		qsort(family->numbers, family->n, sizeof(*family->numbers),
		    by_number);
	return (rc);
}

void
hwtdi_file_family_fini(struct hwtdi_file_family *family,
    struct hwtd_context *ctx)
{
	hwtdi_array_free(ctx, family->numbers, family->cap,
	    sizeof(*family->numbers));
	memset(family, 0, sizeof(*family));
}

int
hwtdi_file_family_path(struct hwtd_context *ctx, const char *prefix,
    uint32_t number, const char *suffix, char **out, struct hwtd_error *err)
{
	char digits[16];
	size_t room;
	int n;

	n = snprintf(digits, sizeof(digits), "%" PRIu32, number);
	room = strlen(prefix) + (size_t)n + strlen(suffix) + 1;
	*out = hwtdi_alloc(ctx, room);
	if (*out == NULL)
		return (hwtdi_fail_nomem(err, room));
	(void)snprintf(*out, room, "%s%s%s", prefix, digits, suffix);
	return (HWTD_OK);
}
