/*
 * What is kept of the difference of two profiles.
 */
#ifndef HWTDI_DIFF_STORE_H
#define HWTDI_DIFF_STORE_H

#include <hwtdecode/diff.h>

#include "base/text_pool.h"

/* Where nobody knows a function: what is left of an image, or of all. */
#define HWTDI_DIFF_NO_FUNCTION UINT64_MAX

/* What functions are known by. */
struct hwtdi_diff_name {
	/* Numbers of texts; the image without its folders. */
	uint32_t name, image;
	/* Without a name: where it is. */
	uint64_t file_off;
};

struct hwtdi_diff_function {
	struct hwtdi_diff_name key;
	/* As the first profile has it, else the second one. */
	uint32_t image_path;
	/* Bit n: profile n has it. */
	uint32_t in;
	struct hwtd_diff_function row;
};

struct hwtdi_diff_edge {
	/* Numbers of functions. */
	uint32_t from, to;
	uint32_t in;
	uint64_t branches[2], calls[2];
	double change;
};

/* What a branch is known by. */
struct hwtdi_diff_way {
	/* Numbers of images without folders. */
	uint32_t image, to_image;
	uint64_t from_off, to_off;
};

struct hwtdi_diff_branch {
	struct hwtdi_diff_way key;
	/* Numbers of functions. */
	uint32_t from, to;
	uint32_t branch, in;
	uint64_t count[2];
	double change;
};

/* Images by name: what both say of their builds. */
struct hwtdi_diff_image {
	uint32_t name, path;
	/* Bit n: profile n has it; several times. */
	uint32_t in, many;
	uint32_t n_build_id[2];
	uint8_t build_id[2][HWTD_MAX_BUILD_ID];
	bool no_file;
};

struct hwtd_diff {
	struct hwtd_context *library;
	struct hwtd_diff_options options;
	struct hwtd_diff_info info;
	/* Both have counts of code; some have edges. */
	bool with_runs, with_branches;
	struct hwtdi_text_pool texts;
	struct hwtdi_diff_function *functions;
	size_t n_functions, cap_functions;
	struct hwtdi_index function_index;
	struct hwtdi_diff_edge *edges;
	size_t n_edges, cap_edges;
	struct hwtdi_index edge_index;
	struct hwtdi_diff_branch *branches;
	size_t n_branches, cap_branches;
	struct hwtdi_index branch_index;
	struct hwtdi_diff_image *images;
	size_t n_images, cap_images;
	struct hwtdi_index image_index;
	/* In order. */
	uint32_t *order[3];
};

/* Changes, and the order of rows by them.  HWTD_E_NOMEM. */
int hwtdi_diff_order(struct hwtd_diff *d, struct hwtd_error *err);

/* What is measured of a function. */
uint64_t hwtdi_diff_weight(const struct hwtd_diff *d,
    const struct hwtd_diff_function *row, unsigned int side);

#endif /* HWTDI_DIFF_STORE_H */
