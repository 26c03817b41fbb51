/*
 * What an image has to be seen: lines and functions of its DWARF, functions of its
 * symbols, branches of its code.
 */
#ifndef HWTDI_COVERAGE_UNIT_H
#define HWTDI_COVERAGE_UNIT_H

#include "analysis/coverage/coverage_code.h"
#include "analysis/coverage/coverage_paths.h"
#include "analysis/coverage/coverage_store.h"
#include "image/dwarf_walk.h"

/* Code that debug information speaks of, by address. */
struct hwtdi_cov_span {
	uint64_t low, high;
};

/* An image that is being looked at. */
struct hwtdi_cov_look {
	struct hwtdi_cov_store *store;
	const struct hwtdi_cov_paths *paths;
	/* HWTD_COVERAGE_* of the options. */
	uint32_t flags;
	/* Number in the store; counts and edges of it are tidy. */
	uint32_t image;
	struct hwtdi_symbol_image *symbols;
	struct hwtdi_cov_code code;
	struct hwtdi_cov_span *spans;
	size_t n_spans, cap_spans;
	/* What may still be read: units can share tables. */
	uint64_t left;
	char path[HWTDI_COV_PATH_MAX], mapped[HWTDI_COV_PATH_MAX];
};

/* HWTD_E_NOMEM. */
int hwtdi_cov_look_init(struct hwtdi_cov_look *look, struct hwtd_error *err);

/* Add what a unit of its DWARF has.  HWTD_E_NOMEM, HWTD_E_LIMIT. */
int hwtdi_cov_look_unit(struct hwtdi_cov_look *look, uint32_t unit,
    struct hwtd_error *err);

/* All units were added: what symbols have besides. */
int hwtdi_cov_look_symbols(struct hwtdi_cov_look *look,
    struct hwtd_error *err);

void hwtdi_cov_look_fini(struct hwtdi_cov_look *look);

#endif /* HWTDI_COVERAGE_UNIT_H */
