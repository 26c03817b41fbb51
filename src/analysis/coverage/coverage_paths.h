/*
 * Which images and source files a coverage is of, and what their paths become.
 */
#ifndef HWTDI_COVERAGE_PATHS_H
#define HWTDI_COVERAGE_PATHS_H

#include <hwtdecode/coverage.h>

#include "base/library.h"

/* Bytes of a path of a source file. */
#define HWTDI_COV_PATH_MAX 16384u

/* Texts of the options, copied. */
struct hwtdi_cov_texts {
	char **at;
	size_t n;
};

struct hwtdi_cov_paths {
	struct hwtd_context *library;
	struct hwtdi_cov_texts images, sources, excludes, olds, news;
};

/* HWTD_E_INVALID (a NULL), HWTD_E_NOMEM. */
int hwtdi_cov_paths_init(struct hwtdi_cov_paths *paths,
    struct hwtd_context *library, const struct hwtd_coverage_options *o,
    struct hwtd_error *err);
void hwtdi_cov_paths_fini(struct hwtdi_cov_paths *paths);

/* Whether an image was chosen. */
bool hwtdi_cov_paths_has_image(const struct hwtdi_cov_paths *paths,
    const char *path, const uint8_t *build_id, size_t n_build_id);

/* Some source files are left out; and so is what has none. */
bool hwtdi_cov_paths_chosen(const struct hwtdi_cov_paths *paths);
bool hwtdi_cov_paths_only_sources(const struct hwtdi_cov_paths *paths);

/*
 * What a path becomes: without "." and "..", mapped; in `buf`.  False: it was left
 * out, or is too long.
 */
bool hwtdi_cov_paths_map(const struct hwtdi_cov_paths *paths, const char *path,
    char buf[HWTDI_COV_PATH_MAX]);

#endif /* HWTDI_COVERAGE_PATHS_H */
