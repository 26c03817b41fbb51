/*
 * What a profile keeps: images, functions, threads, stacks and code, each once by
 * content, and how to add to it.
 *
 * Numbers here are those of arrival.  Those that readers tell come of the order
 * of contents, see profile_order.h.
 */
#ifndef HWTDI_PROFILE_STORE_H
#define HWTDI_PROFILE_STORE_H

#include <hwtdecode/profile.h>

#include "base/text_pool.h"
#include "base/users.h"

/* Numbers of texts are of the profile's pool; 0: none. */
struct hwtdi_profile_image {
	uint32_t name;
	uint32_t n_build_id;
	uint32_t flags;
	uint8_t build_id[HWTD_MAX_BUILD_ID];
};

struct hwtdi_profile_function {
	uint64_t file_off;
	uint64_t bytes;
	uint64_t link_address;
	/* Number, or HWTD_NO_ID. */
	uint32_t image;
	uint32_t name, linkage_name;
	uint32_t file, line;
	/* HWTD_PROFILE_FUNCTIONF_* bits. */
	uint32_t flags;
};

struct hwtdi_profile_thread {
	uint32_t pid, tid, stream;
	uint32_t name;
	uint64_t idle_ns;
};

/* Numbers are before those of the children. */
struct hwtdi_profile_node {
	uint32_t parent;
	uint32_t function;
	uint32_t thread;
	uint32_t type;
	uint32_t flags;
	uint32_t depth;
	struct hwtd_profile_sums self;
};

struct hwtdi_profile_line {
	uint32_t file, line;
};

/* Of an instruction; source: Intel SDM vol. 2, "Instruction Format". */
#define HWTDI_PROFILE_INSN_MAX 15u

/* Code of one image, function and line, each instruction executed equally often. */
struct hwtdi_profile_code {
	uint64_t off;
	uint64_t count;
	/* Of lengths of instructions, the first. */
	size_t lengths;
	/* Numbers, or HWTD_NO_ID. */
	uint32_t image;
	uint32_t function, inlined, line;
	uint32_t generation;
	uint32_t bytes, insns;
	uint8_t isa, branch;
};

/* Instructions of a thread on a CPU, out of rows. */
struct hwtdi_profile_place {
	/* HWTD_NO_ID: not known. */
	uint32_t thread, cpu;
	uint64_t insns;
};

struct hwtdi_profile_order;

/* A source that is being added. */
struct hwtdi_profile_adding {
	const void *by;
	/*
	 * Frees it; `keep`: what it has so far is added to the profile.
	 * HWTD_E_NOMEM, HWTD_E_LIMIT.
	 */
	int (*end)(struct hwtd_profile *p, struct hwtdi_profile_adding *adding,
	    bool keep, struct hwtd_error *err);
};

struct hwtd_profile {
	struct hwtd_context *library;
	struct hwtdi_users users;
	struct hwtd_profile_options options;
	struct hwtdi_text_pool texts;

	struct hwtdi_profile_image *images;
	size_t n_images, cap_images;
	struct hwtdi_index image_index;
	struct hwtdi_profile_function *functions;
	size_t n_functions, cap_functions;
	struct hwtdi_index function_index;
	struct hwtdi_profile_thread *threads;
	size_t n_threads, cap_threads;
	struct hwtdi_index thread_index;
	struct hwtdi_profile_line *lines;
	size_t n_lines, cap_lines;
	struct hwtdi_index line_index;
	struct hwtdi_profile_node *nodes;
	size_t n_nodes, cap_nodes;
	struct hwtdi_index node_index;
	struct hwtdi_profile_place *places;
	size_t n_places, cap_places;
	struct hwtdi_index place_index;
	struct hwtd_profile_edge *edges;
	size_t n_edges, cap_edges;
	struct hwtdi_index edge_index;

	/* Some may be of the same code until they are put in order. */
	struct hwtdi_profile_code *blocks;
	size_t n_blocks, cap_blocks;
	uint8_t *lengths;
	size_t n_lengths, cap_lengths;
	/* So many when they were put in order last. */
	size_t n_ordered;

	uint64_t others;
	struct hwtd_profile_seen seen[HWTD_PROFILE_SOURCES];

	/* What readers tell; NULL: something was added since. */
	struct hwtdi_profile_order *order;
	/* A source that is not at its end; NULL: none. */
	struct hwtdi_profile_adding *adding;
	bool failed;
};

/*
 * Adders: each adds what is not there yet, and its counts to what is, and gives
 * its number.  Numbers in their input are those of arrival.  HWTD_E_NOMEM,
 * HWTD_E_LIMIT, HWTD_E_INVALID (a number that is not there).
 */
int hwtdi_profile_add_image(struct hwtd_profile *p,
    const struct hwtd_profile_image *image, uint32_t *no_out,
    struct hwtd_error *err);
int hwtdi_profile_add_function(struct hwtd_profile *p,
    const struct hwtd_profile_function *function, uint32_t *no_out,
    struct hwtd_error *err);
int hwtdi_profile_add_thread(struct hwtd_profile *p,
    const struct hwtd_profile_thread *thread, uint32_t *no_out,
    struct hwtd_error *err);
int hwtdi_profile_add_line(struct hwtd_profile *p, const char *file,
    uint32_t line, uint32_t *no_out, struct hwtd_error *err);

/*
 * Of `node` its `self` is added.  `parent` HWTD_NO_ID: a root, which has no
 * function; without HWTD_PROFILE_THREADS also no thread.  When there are too many,
 * it may be that of other calls.
 */
int hwtdi_profile_add_node(struct hwtd_profile *p,
    const struct hwtd_profile_node *node, uint32_t *no_out,
    struct hwtd_error *err);
/* The root that calls of a thread are below. */
int hwtdi_profile_add_root(struct hwtd_profile *p, uint32_t thread,
    uint32_t *no_out, struct hwtd_error *err);

/*
 * `code->lengths` is not looked at: `lengths` are those of its instructions, from 1
 * to 15 bytes, which are `code->bytes` together.
 */
int hwtdi_profile_add_code(struct hwtd_profile *p,
    const struct hwtdi_profile_code *code, const uint8_t *lengths,
    struct hwtd_error *err);
int hwtdi_profile_add_edge(struct hwtd_profile *p,
    const struct hwtd_profile_edge *edge, struct hwtd_error *err);
int hwtdi_profile_add_place(struct hwtd_profile *p,
    const struct hwtdi_profile_place *place, struct hwtd_error *err);
void hwtdi_profile_add_seen(struct hwtd_profile *p,
    enum hwtd_profile_source source, const struct hwtd_profile_seen *seen);

bool hwtdi_profile_find_thread(const struct hwtd_profile *p, uint32_t pid,
    uint32_t tid, uint32_t stream, uint32_t *no_out);
/* Numbers of texts: the one that is known; of two the first by their bytes. */
uint32_t hwtdi_profile_choose_text(const struct hwtd_profile *p, uint32_t a,
    uint32_t b);

void hwtdi_profile_add_sums(struct hwtd_profile_sums *to,
    const struct hwtd_profile_sums *from);
/* Counts stay at their greatest rather than begin anew. */
uint64_t hwtdi_profile_sum(uint64_t a, uint64_t b);

/* Destroyed once more. */
struct hwtd_profile *hwtdi_profile_hold(struct hwtd_profile *p);

/*
 * Something is added next: a source that is not at its end ends, unless it is `by`,
 * and what readers tell is forgotten.  HWTD_E_STATE: it failed before.
 */
int hwtdi_profile_begin(struct hwtd_profile *p, const void *by,
    struct hwtd_error *err);

#endif /* HWTDI_PROFILE_STORE_H */
