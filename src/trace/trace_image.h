/*
 * The files that records name: found, read, and laid out once each.
 */
#ifndef HWTDI_TRACE_IMAGE_H
#define HWTDI_TRACE_IMAGE_H

#include "base/index.h"
#include "image/elf_file.h"
#include "image/image_search.h"
#include "trace/trace_internal.h"

/* A file that records name; `image` is its number in the trace. */
struct hwtdi_named_file {
	uint32_t image;
	bool is_elf;
	struct hwtdi_elf_file elf;
	/* An object: index + 1 of the last place it was linked for. */
	size_t links;
	/* Its pieces, when it was laid out once. */
	size_t n_pieces;
	/* A kernel: the values of its symbols _text and _stext; once asked. */
	bool asked_start;
	bool has_start[2];
	uint64_t start[2];
	/* How often, and for where at last, its symbols were offered. */
	uint32_t n_offered;
	uint64_t offered_at;
};

/* A part of a file that was saved with the trace; its number there. */
struct hwtdi_file_part {
	const char *path;
	const uint8_t *build_id;
	uint32_t n_build_id;
	uint32_t no;
	/* Of the first one of a file: an image that has its bytes, or none. */
	uint32_t image;
};

/* By path, then by build-id, then by number. */
struct hwtdi_part_list {
	struct hwtdi_file_part *at;
	size_t n, cap;
};

/* All of them, found by name and build-id. */
struct hwtdi_named_files {
	struct hwtd_trace *trace;
	struct hwtdi_named_file **files;
	size_t n, cap;
	/* By name and wanted build-id. */
	struct hwtdi_index index;
	/* As files have them, and as they were when they were loaded. */
	struct hwtdi_part_list parts, linked;
	/* An address of the kernel whose file is asked for; NULL: no kernel. */
	const uint64_t *around;
};

/* Whatever it returns, hwtdi_named_files_fini() has to follow. */
int hwtdi_named_files_init(struct hwtdi_named_files *files,
    struct hwtd_trace *trace, struct hwtd_error *err);
void hwtdi_named_files_fini(struct hwtdi_named_files *files);

/*
 * The file that a record names, looked for and read on first use.  A file
 * that is missing is no failure: its image says so and has no bytes.
 */
int hwtdi_named_files_get(struct hwtdi_named_files *files, const char *name,
    const uint8_t *build_id, uint32_t n_build_id,
    struct hwtdi_named_file **out, struct hwtd_error *err);

/*
 * The next of the parts that were saved of the file of `image` as it was when
 * it was loaded; NULL: there are no more.  *at_inout begins with 0.
 */
const struct hwtdi_image *hwtdi_named_files_next_linked(
    const struct hwtdi_named_files *files, const struct hwtdi_image *image,
    size_t *at_inout);

/* Where files are looked for; borrowed from the trace. */
void hwtdi_named_files_places(const struct hwtdi_named_files *files,
    struct hwtdi_image_places *out);

#endif /* HWTDI_TRACE_IMAGE_H */
