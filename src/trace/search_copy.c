/*
 * A copy of the caller's search options that lives as long as the trace.
 */
#include "trace/search_copy.h"

#include <string.h>

#include "base/fail.h"

static void
free_list(struct hwtd_context *ctx, const char *const *list, size_t n)
{
	char **own = (char **)(uintptr_t)list;

	if (own == NULL)
		return;
	for (size_t i = 0; i < n; i++)
		hwtdi_strfree(ctx, own[i]);
	hwtdi_free(ctx, own, n * sizeof(*own));
}

static int
copy_list(struct hwtd_context *ctx, const char *const *user, size_t n,
    const char *what, const char *const **out, struct hwtd_error *err)
{
	char **own;

	*out = NULL;
	if (n == 0)
		return (HWTD_OK);
	if (user == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID, "%zu %s at NULL", n,
		    what));
	if (n > 4096)
		return (hwtdi_fail(err, HWTD_E_INVALID, "%zu %s; at most 4096",
		    n, what));
	own = hwtdi_zalloc(ctx, n * sizeof(*own));
	if (own == NULL)
		return (hwtdi_fail_nomem(err, n * sizeof(*own)));
	for (size_t i = 0; i < n; i++) {
		own[i] = hwtdi_strdup(ctx, user[i] != NULL ? user[i] : "");
		if (own[i] == NULL) {
			free_list(ctx, (const char *const *)own, n);
			return (hwtdi_fail_nomem(err, n));
		}
	}
	*out = (const char *const *)own;
	return (HWTD_OK);
}

int
hwtdi_search_init(struct hwtdi_search *search, struct hwtd_context *ctx,
    const struct hwtd_search *user, struct hwtd_error *err)
{
	struct hwtd_search o;
	int rc;

	memset(search, 0, sizeof(*search));
	search->o.size = sizeof(search->o);
	rc = hwtdi_options_copy(&o, sizeof(o), user, err);
	if (rc != HWTD_OK)
		return (rc);
	if ((o.flags & ~(uint32_t)HWTD_SEARCH_NO_ORIGINAL) != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "search flags %#x are not known", o.flags));
	search->o.flags = o.flags;
	rc = copy_list(ctx, o.roots, o.n_roots, "roots", &search->o.roots,
	    err);
	if (rc == HWTD_OK) {
		search->o.n_roots = o.n_roots;
		rc = copy_list(ctx, o.build_id_dirs, o.n_build_id_dirs,
		    "build-id folders", &search->o.build_id_dirs, err);
	}
	if (rc == HWTD_OK) {
		search->o.n_build_id_dirs = o.n_build_id_dirs;
		rc = copy_list(ctx, o.dirs, o.n_dirs, "folders",
		    &search->o.dirs, err);
	}
	if (rc == HWTD_OK)
		search->o.n_dirs = o.n_dirs;
	else
		hwtdi_search_fini(search, ctx);
	return (rc);
}

void
hwtdi_search_fini(struct hwtdi_search *search, struct hwtd_context *ctx)
{
	free_list(ctx, search->o.roots, search->o.n_roots);
	free_list(ctx, search->o.build_id_dirs, search->o.n_build_id_dirs);
	free_list(ctx, search->o.dirs, search->o.n_dirs);
	memset(search, 0, sizeof(*search));
}
