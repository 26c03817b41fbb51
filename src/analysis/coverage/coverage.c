/*
 * Coverage: what the public interface says.
 */
#include <string.h>

#include "analysis/coverage/coverage_internal.h"
#include "base/fail.h"

#define KNOWN_FLAGS                                                           \
	(HWTD_COVERAGE_NO_LINES | HWTD_COVERAGE_NO_DEBUG_FILES |              \
	    HWTD_COVERAGE_RAW_NAMES)

int
hwtd_coverage_create(struct hwtd_context *ctx,
    const struct hwtd_coverage_options *opts,
    struct hwtd_coverage **coverage_out, struct hwtd_error *err)
{
	struct hwtd_coverage_options o;
	struct hwtd_coverage *c;
	int rc;

	if (ctx == NULL || coverage_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL"));
	rc = hwtdi_options_copy(&o, sizeof(o), opts, err);
	if (rc != HWTD_OK)
		return (rc);
	if ((o.flags & ~(uint32_t)KNOWN_FLAGS) != 0 || o.reserved != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "coverage flags %#x, %#x are not known", o.flags,
		    o.reserved));
	c = hwtdi_zalloc(ctx, sizeof(*c));
	if (c == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*c)));
	c->library = hwtdi_context_hold(ctx);
	c->store.library = ctx;
	c->paths.library = ctx;
	c->flags = o.flags;
	c->has_search = o.search != NULL;
	if (c->has_search)
		rc = hwtdi_search_init(&c->search, ctx, o.search, err);
	if (rc == HWTD_OK)
		rc = hwtdi_cov_paths_init(&c->paths, ctx, &o, err);
	if (rc != HWTD_OK) {
		hwtd_coverage_close(c);
		return (rc);
	}
	*coverage_out = c;
	return (HWTD_OK);
}

static void
end_adding(struct hwtd_coverage *c)
{
	hwtdi_cov_adding_destroy(c->adding);
	c->adding = NULL;
}

struct hwtd_coverage *
hwtdi_coverage_hold(struct hwtd_coverage *coverage)
{
	hwtdi_users_add(&coverage->users);
	return (coverage);
}

void
hwtd_coverage_close(struct hwtd_coverage *coverage)
{
	struct hwtd_context *library;

	if (coverage == NULL || !hwtdi_users_drop(&coverage->users))
		return;
	library = coverage->library;
	end_adding(coverage);
	hwtdi_cov_sums_fini(&coverage->sums);
	hwtdi_cov_store_fini(&coverage->store);
	hwtdi_cov_paths_fini(&coverage->paths);
	hwtdi_search_fini(&coverage->search, library);
	hwtdi_free(library, coverage, sizeof(*coverage));
	hwtd_context_destroy(library);
}

/* Adding. */

static int
take(struct hwtd_coverage *to, const struct hwtdi_cov_store *from,
    struct hwtd_error *err)
{
	int rc;

	rc = hwtdi_cov_store_merge(&to->store, from, err);
	if (rc == HWTD_OK)
		hwtdi_cov_sums_fini(&to->sums);
	return (rc);
}

int
hwtd_coverage_add_runs(struct hwtd_coverage *coverage, struct hwtd_runs *runs,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (coverage == NULL || runs == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL"));
	if (coverage->adding == NULL)
		rc = hwtdi_cov_adding_create(coverage, runs, &coverage->adding,
		    err);
	else if (!hwtdi_cov_adding_is_of(coverage->adding, runs))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "other runs are being added, and not to their end"));
	if (rc == HWTD_OK)
		rc = hwtdi_cov_adding_step(coverage->adding, err);
	if (rc == HWTD_OK)
		return (HWTD_OK);
	if (rc == HWTD_END) {
		const int taken = take(coverage,
		    hwtdi_cov_adding_part(coverage->adding), err);

		if (taken != HWTD_OK)
			rc = taken;
	}
	end_adding(coverage);
	return (rc);
}

int
hwtd_coverage_merge(struct hwtd_coverage *into,
    const struct hwtd_coverage *from, struct hwtd_error *err)
{
	if (into == NULL || from == NULL || into == from)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "two coverages are needed to merge them"));
	if (into->adding != NULL || from->adding != NULL)
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "runs are being added; go on until the end"));
	return (take(into, &from->store, err));
}

/* Reading. */

int
hwtdi_coverage_sums(struct hwtd_coverage *coverage,
    const struct hwtdi_cov_sums **out, struct hwtd_error *err)
{
	*out = &coverage->sums;
	if (coverage->adding != NULL)
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "runs are being added; go on until the end"));
	return (hwtdi_cov_sums_make(&coverage->sums, &coverage->store, err));
}

int
hwtd_coverage_info(struct hwtd_coverage *coverage,
    struct hwtd_coverage_info *out, struct hwtd_error *err)
{
	const struct hwtdi_cov_sums *sums;
	int rc;

	if (coverage == NULL || out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL"));
	rc = hwtdi_coverage_sums(coverage, &sums, err);
	return (rc == HWTD_OK
		? hwtdi_result_copy(out, &sums->info, sizeof(sums->info))
		: rc);
}

/* Rows of a table; `table` is one of the sums of the coverage. */
static int
read_rows(struct hwtd_coverage *coverage, const struct hwtdi_cov_table *table,
    size_t elem, uint64_t first, void *out, size_t stride, size_t cap,
    size_t *n_out, struct hwtd_error *err)
{
	const struct hwtdi_cov_sums *sums;
	int rc;

	if (n_out != NULL)
		*n_out = 0;
	if (coverage == NULL || out == NULL || n_out == NULL || cap == 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL, or there is no room"));
	if (stride < elem || stride % 8 != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "rows are %zu bytes apart; they need %zu, by 8", stride,
		    elem));
	rc = hwtdi_coverage_sums(coverage, &sums, err);
	if (rc == HWTD_OK && table == &coverage->sums.edges)
		rc = hwtdi_cov_sums_make_edges(&coverage->sums,
		    &coverage->store, err);
	if (rc != HWTD_OK)
		return (rc);
	if (first >= table->n)
		return (HWTD_END);
	if (cap > table->n - first)
		cap = table->n - (size_t)first;
	for (size_t i = 0; i < cap; i++) {
		char *to = (char *)out + i * stride;

		memset(to, 0, stride);
		memcpy(to,
		    (const char *)table->at + ((size_t)first + i) * elem,
		    elem);
	}
	*n_out = cap;
	return (HWTD_OK);
}

int
hwtd_coverage_images(struct hwtd_coverage *coverage, uint64_t first,
    struct hwtd_coverage_image *out, size_t stride, size_t cap, size_t *n_out,
    struct hwtd_error *err)
{
	return (read_rows(coverage,
	    coverage != NULL ? &coverage->sums.images : NULL, sizeof(*out),
	    first, out, stride, cap, n_out, err));
}

int
hwtd_coverage_files(struct hwtd_coverage *coverage, uint64_t first,
    struct hwtd_coverage_file *out, size_t stride, size_t cap, size_t *n_out,
    struct hwtd_error *err)
{
	return (read_rows(coverage,
	    coverage != NULL ? &coverage->sums.files : NULL, sizeof(*out),
	    first, out, stride, cap, n_out, err));
}

int
hwtd_coverage_functions(struct hwtd_coverage *coverage, uint64_t first,
    struct hwtd_coverage_function *out, size_t stride, size_t cap,
    size_t *n_out, struct hwtd_error *err)
{
	return (read_rows(coverage,
	    coverage != NULL ? &coverage->sums.functions : NULL, sizeof(*out),
	    first, out, stride, cap, n_out, err));
}

int
hwtd_coverage_lines(struct hwtd_coverage *coverage, uint64_t first,
    struct hwtd_coverage_line *out, size_t stride, size_t cap, size_t *n_out,
    struct hwtd_error *err)
{
	return (read_rows(coverage,
	    coverage != NULL ? &coverage->sums.lines : NULL, sizeof(*out),
	    first, out, stride, cap, n_out, err));
}

int
hwtd_coverage_branches(struct hwtd_coverage *coverage, uint64_t first,
    struct hwtd_coverage_branch *out, size_t stride, size_t cap, size_t *n_out,
    struct hwtd_error *err)
{
	return (read_rows(coverage,
	    coverage != NULL ? &coverage->sums.branches : NULL, sizeof(*out),
	    first, out, stride, cap, n_out, err));
}

int
hwtd_coverage_edges(struct hwtd_coverage *coverage, uint64_t first,
    struct hwtd_coverage_edge *out, size_t stride, size_t cap, size_t *n_out,
    struct hwtd_error *err)
{
	return (read_rows(coverage,
	    coverage != NULL ? &coverage->sums.edges : NULL, sizeof(*out),
	    first, out, stride, cap, n_out, err));
}
