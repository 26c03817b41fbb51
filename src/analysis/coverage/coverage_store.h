/*
 * What a coverage keeps of each image: counts that are added up, and sets of what
 * there is.
 *
 * Everything is known by content: texts, places in the file of an image.  So
 * stores can be merged in any order.  Counts are kept by place and not by line,
 * because the greatest of several counts is not known before all are added.
 */
#ifndef HWTDI_COVERAGE_STORE_H
#define HWTDI_COVERAGE_STORE_H

#include <hwtdecode/coverage.h>

#include "base/text_pool.h"

enum hwtdi_cov_kind {
	HWTDI_COV_COUNTS,
	HWTDI_COV_EDGES,
	HWTDI_COV_SITES,
	HWTDI_COV_LINES,
	HWTDI_COV_PIECES,
	HWTDI_COV_BODIES,
	HWTDI_COV_KINDS
};

/* How often each instruction in [off, end) was executed; each once when tidy. */
struct hwtdi_cov_count {
	uint64_t off, end;
	uint64_t count;
};

struct hwtdi_cov_edge {
	uint64_t from, to;
	uint64_t count;
	/* Number in the store, or HWTD_NO_ID: `to` is a virtual address. */
	uint32_t to_image;
	/* An hwtd_branch. */
	uint32_t branch;
};

/* A branch instruction. */
struct hwtdi_cov_site {
	uint64_t off;
	/* Where it leads, if it says so. */
	uint64_t to;
	/* Text of its file, and the line; 0: none. */
	uint32_t file, line;
	/* An hwtd_branch, or CONDITIONAL for all that has a condition. */
	uint8_t branch;
	uint8_t length;
	bool is_direct;
	uint8_t reserved[5];
};

/* A line with code. */
struct hwtdi_cov_line {
	uint32_t file, line;
};

/* Code of a line that ran, and the body that it is in. */
struct hwtdi_cov_piece {
	uint64_t off, end;
	uint64_t body_off;
	uint32_t file, line, func;
	/* HWTDI_COV_* bits. */
	uint32_t flags;
};

/* A function, where it has code. */
struct hwtdi_cov_body {
	/* Where it is entered; NOWHERE: it was inlined somewhere. */
	uint64_t off;
	/* Jumps from within it to there. */
	uint64_t again;
	uint32_t func;
	/* HWTDI_COV_* bits. */
	uint32_t flags;
};

#define HWTDI_COV_NOWHERE UINT64_MAX

#define HWTDI_COV_INLINED 0x1u
/* Of a body: some of it ran. */
#define HWTDI_COV_HIT 0x2u
/* Of a body: it is the rest of one of which the begin was inlined. */
#define HWTDI_COV_PART 0x8u
/* Of a piece: it says nothing of how often its line was executed. */
#define HWTDI_COV_SHADOW 0x4u

struct hwtdi_cov_list {
	void *at;
	size_t n, cap;
	/* The first ones are in order, each once. */
	size_t n_tidy;
};

struct hwtdi_cov_image {
	/* Texts; 0: none. */
	uint32_t name, fault;
	/* HWTD_COVERAGE_IMAGE_* bits. */
	uint32_t flags;
	uint32_t n_build_id;
	uint8_t build_id[HWTD_MAX_BUILD_ID];
	/* Of one that is being made: what it has to be seen is there. */
	bool looked_at;
	struct hwtdi_cov_list lists[HWTDI_COV_KINDS];
};

struct hwtdi_cov_func {
	/* Texts: as files have it, and as people write it. */
	uint32_t name, linkage, text;
	uint32_t file, line;
	/* Of one without a file. */
	uint32_t image;
};

/* All zero but for `library`: empty. */
struct hwtdi_cov_store {
	struct hwtd_context *library;
	struct hwtdi_text_pool texts;
	struct hwtdi_cov_image *images;
	size_t n_images, cap_images;
	struct hwtdi_index image_index;
	struct hwtdi_cov_func *funcs;
	size_t n_funcs, cap_funcs;
	struct hwtdi_index func_index;
	/* Only what is added up. */
	struct hwtd_coverage_info sums;
};

/* The image of a build-id, else of a name.  HWTD_E_NOMEM, HWTD_E_LIMIT. */
int hwtdi_cov_image_add(struct hwtdi_cov_store *store, const char *name,
    const uint8_t *build_id, size_t n_build_id, uint32_t *no_out,
    struct hwtd_error *err);

/* What could not be read of an image. */
int hwtdi_cov_image_fault(struct hwtdi_cov_store *store, uint32_t image,
    const char *fault, struct hwtd_error *err);

/* A function; `raw`: its name is to be shown as it is. */
int hwtdi_cov_func_add(struct hwtdi_cov_store *store,
    const struct hwtdi_cov_func *func, bool raw, uint32_t *no_out,
    struct hwtd_error *err);

/* Add an entry of a kind. */
int hwtdi_cov_add(struct hwtdi_cov_store *store, uint32_t image,
    enum hwtdi_cov_kind kind, const void *entry, struct hwtd_error *err);

/* Entries of a kind. */
static inline const void *
hwtdi_cov_list(const struct hwtdi_cov_store *store, uint32_t image,
    enum hwtdi_cov_kind kind, size_t *n_out)
{
	*n_out = store->images[image].lists[kind].n;
	return (store->images[image].lists[kind].at);
}

/* Have a list in order, each entry once.  HWTD_E_NOMEM: it is as it was. */
int hwtdi_cov_tidy(struct hwtdi_cov_store *store, uint32_t image,
    enum hwtdi_cov_kind kind, struct hwtd_error *err);

/* Of tidy counts: those from this number on end behind `off`. */
size_t hwtdi_cov_counts_find(const struct hwtdi_cov_count *counts, size_t n,
    uint64_t off);

/* Some of [off, end) ran, and how often the instruction at `off`. */
bool hwtdi_cov_ran(const struct hwtdi_cov_count *counts, size_t n,
    uint64_t off, uint64_t end);
uint64_t hwtdi_cov_count_at(const struct hwtdi_cov_count *counts, size_t n,
    uint64_t off);

/* After an error `into` tells what it told before. */
int hwtdi_cov_store_merge(struct hwtdi_cov_store *into,
    const struct hwtdi_cov_store *from, struct hwtd_error *err);

void hwtdi_cov_store_fini(struct hwtdi_cov_store *store);

static inline uint64_t
hwtdi_cov_sum(uint64_t a, uint64_t b)
{
	return (a <= UINT64_MAX - b ? a + b : UINT64_MAX);
}

#endif /* HWTDI_COVERAGE_STORE_H */
