/*
 * What a coverage is made of.
 */
#ifndef HWTDI_COVERAGE_INTERNAL_H
#define HWTDI_COVERAGE_INTERNAL_H

#include "analysis/coverage/coverage_paths.h"
#include "analysis/coverage/coverage_sums.h"
#include "base/users.h"
#include "trace/search_copy.h"

struct hwtdi_cov_adding;

struct hwtd_coverage {
	struct hwtd_context *library;
	struct hwtdi_users users;
	uint32_t flags;
	bool has_search;
	struct hwtdi_search search;
	struct hwtdi_cov_paths paths;
	struct hwtdi_cov_store store;
	struct hwtdi_cov_sums sums;
	/* A trace that is being added; NULL: none. */
	struct hwtdi_cov_adding *adding;
};

/* coverage_add.c */

/*
 * Begin with runs of a trace; a step; give up.  After HWTD_END of a step `part`
 * has all of it.
 */
int hwtdi_cov_adding_create(const struct hwtd_coverage *coverage,
    struct hwtd_runs *runs, struct hwtdi_cov_adding **out,
    struct hwtd_error *err);
int hwtdi_cov_adding_step(struct hwtdi_cov_adding *adding,
    struct hwtd_error *err);
const struct hwtdi_cov_store *hwtdi_cov_adding_part(
    const struct hwtdi_cov_adding *adding);
bool hwtdi_cov_adding_is_of(const struct hwtdi_cov_adding *adding,
    const struct hwtd_runs *runs);
void hwtdi_cov_adding_destroy(struct hwtdi_cov_adding *adding);

/* coverage.c, for exporters: make the tables.  HWTD_E_STATE, HWTD_E_NOMEM. */
struct hwtd_coverage *hwtdi_coverage_hold(struct hwtd_coverage *coverage);
int hwtdi_coverage_sums(struct hwtd_coverage *coverage,
    const struct hwtdi_cov_sums **out, struct hwtd_error *err);

#endif /* HWTDI_COVERAGE_INTERNAL_H */
