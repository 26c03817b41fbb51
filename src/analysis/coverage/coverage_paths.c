/*
 * Which images and source files a coverage is of, and what their paths become.
 */
#include "analysis/coverage/coverage_paths.h"

#include <fnmatch.h>
#include <string.h>

#include "base/fail.h"

static int
copy_text(struct hwtd_context *library, struct hwtdi_cov_texts *to,
    const char *text, struct hwtd_error *err)
{
	if (text == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "a text of the options is NULL"));
	to->at[to->n] = hwtdi_strdup(library, text);
	if (to->at[to->n] == NULL)
		return (hwtdi_fail_nomem(err, strlen(text) + 1));
	to->n++;
	return (HWTD_OK);
}

static int
make_room(struct hwtd_context *library, struct hwtdi_cov_texts *to,
    const void *from, size_t n, struct hwtd_error *err)
{
	if (n == 0)
		return (HWTD_OK);
	if (from == NULL || n > SIZE_MAX / sizeof(*to->at))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "there should be %zu texts", n));
	to->at = hwtdi_alloc(library, n * sizeof(*to->at));
	return (to->at != NULL ? HWTD_OK
			       : hwtdi_fail_nomem(err, n * sizeof(*to->at)));
}

/* Each list has as much room as it should have texts: that frees it. */
static void
free_texts(struct hwtd_context *library, struct hwtdi_cov_texts *texts,
    size_t n)
{
	for (size_t i = 0; i < texts->n; i++)
		hwtdi_strfree(library, texts->at[i]);
	hwtdi_free(library, texts->at, n * sizeof(*texts->at));
	memset(texts, 0, sizeof(*texts));
}

static int
copy_texts(struct hwtd_context *library, struct hwtdi_cov_texts *to,
    const char *const *from, size_t n, struct hwtd_error *err)
{
	int rc = make_room(library, to, from, n, err);

	for (size_t i = 0; rc == HWTD_OK && i < n; i++)
		rc = copy_text(library, to, from[i], err);
	if (rc != HWTD_OK)
		free_texts(library, to, n);
	return (rc);
}

static int
copy_maps(struct hwtdi_cov_paths *p, const struct hwtd_path_map *maps,
    size_t n, struct hwtd_error *err)
{
	int rc = make_room(p->library, &p->olds, maps, n, err);

	if (rc == HWTD_OK)
		rc = make_room(p->library, &p->news, maps, n, err);
	for (size_t i = 0; rc == HWTD_OK && i < n; i++) {
		rc = copy_text(p->library, &p->olds, maps[i].old_prefix, err);
		if (rc == HWTD_OK)
			rc = copy_text(p->library, &p->news,
			    maps[i].new_prefix, err);
	}
	if (rc != HWTD_OK) {
		free_texts(p->library, &p->olds, n);
		free_texts(p->library, &p->news, n);
	}
	return (rc);
}

int
hwtdi_cov_paths_init(struct hwtdi_cov_paths *paths,
    struct hwtd_context *library, const struct hwtd_coverage_options *o,
    struct hwtd_error *err)
{
	int rc;

	memset(paths, 0, sizeof(*paths));
	paths->library = library;
	rc = copy_texts(library, &paths->images, o->images, o->n_images, err);
	if (rc == HWTD_OK)
		rc = copy_texts(library, &paths->sources, o->sources,
		    o->n_sources, err);
	if (rc == HWTD_OK)
		rc = copy_texts(library, &paths->excludes, o->excludes,
		    o->n_excludes, err);
	if (rc == HWTD_OK)
		rc = copy_maps(paths, o->maps, o->n_maps, err);
	if (rc != HWTD_OK)
		hwtdi_cov_paths_fini(paths);
	return (rc);
}

void
hwtdi_cov_paths_fini(struct hwtdi_cov_paths *paths)
{
	free_texts(paths->library, &paths->images, paths->images.n);
	free_texts(paths->library, &paths->sources, paths->sources.n);
	free_texts(paths->library, &paths->excludes, paths->excludes.n);
	free_texts(paths->library, &paths->olds, paths->olds.n);
	free_texts(paths->library, &paths->news, paths->news.n);
}

/* Images. */

static bool
is_build_id(const char *text, const uint8_t *build_id, size_t n)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++)
		if (text[2 * i] != digits[build_id[i] >> 4] ||
		    text[2 * i + 1] != digits[build_id[i] & 15])
			return (false);
	return (n != 0 && text[2 * n] == '\0');
}

static bool
ends_with(const char *path, const char *end)
{
	const size_t n = strlen(path), n_end = strlen(end);

	if (n_end == 0 || n_end > n || strcmp(path + (n - n_end), end) != 0)
		return (false);
	return (n == n_end || path[n - n_end - 1] == '/' || end[0] == '/');
}

bool
hwtdi_cov_paths_has_image(const struct hwtdi_cov_paths *paths,
    const char *path, const uint8_t *build_id, size_t n_build_id)
{
	for (size_t i = 0; i < paths->images.n; i++) {
		const char *text = paths->images.at[i];

		if ((path != NULL && ends_with(path, text)) ||
		    (strlen(text) == 2 * n_build_id &&
			is_build_id(text, build_id, n_build_id)))
			return (true);
	}
	return (paths->images.n == 0);
}

/* Source files. */

bool
hwtdi_cov_paths_chosen(const struct hwtdi_cov_paths *paths)
{
	return (paths->sources.n + paths->excludes.n != 0);
}

bool
hwtdi_cov_paths_only_sources(const struct hwtdi_cov_paths *paths)
{
	return (paths->sources.n != 0);
}

static bool
begins_with(const char *path, const char *prefix)
{
	return (strncmp(path, prefix, strlen(prefix)) == 0);
}

/* Without "//", "/./" and "x/../"; there is room for one more byte. */
static void
shorten(char *path)
{
	const bool is_absolute = path[0] == '/';
	/* What cannot be taken back with "..". */
	char *root = path + is_absolute;
	char *to = root;
	const char *from = root;
	bool is_last = false;

	while (!is_last) {
		const size_t n = strcspn(from, "/");
		const bool is_up = n == 2 && from[0] == '.' && from[1] == '.';

		is_last = from[n] == '\0';
		if (is_up && to > root) {
			for (to--; to > root && to[-1] != '/';)
				to--;
		} else if (n != 0 && (n != 1 || from[0] != '.') &&
		    (!is_up || !is_absolute)) {
			memmove(to, from, n);
			to += n;
			*to++ = '/';
			if (is_up)
				root = to;
		}
		from += n + 1;
	}
	/* The last one has no '/' behind it. */
	if (to > path + is_absolute)
		to--;
	*to = '\0';
}

bool
hwtdi_cov_paths_map(const struct hwtdi_cov_paths *paths, const char *path,
    char buf[HWTDI_COV_PATH_MAX])
{
	size_t n = strlen(path);
	bool found = paths->sources.n == 0;

	if (n + 2 > HWTDI_COV_PATH_MAX)
		return (false);
	memcpy(buf, path, n + 1);
	shorten(buf);
	for (size_t i = 0; i < paths->olds.n; i++) {
		const size_t n_old = strlen(paths->olds.at[i]);
		const size_t n_new = strlen(paths->news.at[i]);

		if (!begins_with(buf, paths->olds.at[i]))
			continue;
		n = strlen(buf + n_old);
		if (n_new + n + 1 > HWTDI_COV_PATH_MAX)
			return (false);
		memmove(buf + n_new, buf + n_old, n + 1);
		memcpy(buf, paths->news.at[i], n_new);
		break;
	}
	for (size_t i = 0; !found && i < paths->sources.n; i++)
		found = begins_with(buf, paths->sources.at[i]);
	for (size_t i = 0; found && i < paths->excludes.n; i++)
		found = fnmatch(paths->excludes.at[i], buf, 0) != 0;
	return (found && buf[0] != '\0');
}
