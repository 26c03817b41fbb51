/*
 * Finding the file of an image: by build-id, below other roots, under its own
 * path, by base name in folders.
 *
 * Names come from traces and are hostile: what is opened is a regular file or
 * nothing (a FIFO does not block, a folder or a loop of links is an error as
 * of any other file), the number of files is bounded, and a name cannot leave
 * a root or folder through "..".
 */
#ifndef HWTDI_IMAGE_SEARCH_H
#define HWTDI_IMAGE_SEARCH_H

#include "image/elf_file.h"
#include "image/mapped_file.h"

/* Bytes of a path, with its NUL; longer ones are not tried. */
#define HWTDI_SEARCH_PATH_MAX 4096u

/* Paths that one search tries, and files that it reads. */
#define HWTDI_SEARCH_MAX_PATHS 4096u
#define HWTDI_SEARCH_MAX_FILES 64u

/* Where to look, in this order.  All zero: nowhere.  Borrowed. */
struct hwtdi_image_places {
	/*
	 * Folders of files by build-id: XX/YYYY, XX/YYYY/elf, XX/YYYY.debug,
	 * each also below .build-id/, XXYYYY/executable, and perf's cache:
	 * NAME/XXYYYY and NAME/XXYYYY/elf besides.
	 */
	const char *const *build_id_dirs;
	size_t n_build_id_dirs;
	/* Put before the whole path, for instance of another system's files. */
	const char *const *roots;
	size_t n_roots;
	/* Try the path as it is, if it has a '/'. */
	bool as_is;
	/* Folders that hold files of this base name, for instance modules. */
	const char *const *dirs;
	size_t n_dirs;
	/* What the kernel calls its version, as uname -r tells; NULL: unknown. */
	const char *release;
	/* A copy of memory (ET_CORE) has to have this address; NULL: any. */
	const uint64_t *around;
	/* Files are mapped, not read. */
	bool map;
};

/* What is known about a file that was found. */
enum hwtdi_image_verdict {
	HWTDI_IMAGE_UNKNOWN = 0,
	/* The build-id, or the checksum of a debug link, is the one asked for. */
	HWTDI_IMAGE_MATCH = 1,
	/* One side has no build-id. */
	HWTDI_IMAGE_UNCHECKED = 2,
	/* It is another; nothing else was there. */
	HWTDI_IMAGE_MISMATCH = 3
};

struct hwtdi_image_found {
	char path[HWTDI_SEARCH_PATH_MAX];
	/* An hwtdi_image_verdict. */
	uint32_t verdict;
	uint32_t n_paths;
	/* The whole file; one of debug information is not read but mapped. */
	struct hwtdi_mapped_file map;
	uint8_t *bytes;
	uint64_t n_bytes;
	/* `elf` is what its headers say. */
	bool is_elf;
	struct hwtdi_elf_file elf;
};

/*
 * Find the file of image `name`.  `build_id` NULL or of 0 bytes: not known;
 * then the first file is taken.  Otherwise one that matches is taken before
 * one without a build-id, and that before one of another build-id.  Files of
 * debug information, without code, are passed over.
 *
 * Names of perf that are no files: the kernel is the newest copy of its memory
 * in a cache, then its file, also "vmlinux" and "kcore" in `dirs`,
 * "boot/vmlinux" below roots, and below these and / where systems put the
 * files of their release; "[name]" is also "name.ko" in `dirs`.
 *
 * "name.ko.zst", ".xz" and ".gz" are unpacked, unless they lie unpacked in
 * their place.
 *
 * HWTD_E_NOT_FOUND (the message has what was wrong with a file that is
 * there), HWTD_E_NOMEM.
 */
int hwtdi_image_search(struct hwtdi_image_found *found,
    struct hwtd_context *ctx, const char *name,
    const struct hwtdi_build_id *build_id,
    const struct hwtdi_image_places *places, struct hwtd_error *err);

/*
 * Find the debug information of an ELF file that lies at `path`: by its
 * build-id, then by its debug link beside it, in .debug/, and under its path
 * below each root and each folder of build-ids.
 */
int hwtdi_image_search_debug(struct hwtdi_image_found *found,
    struct hwtd_context *ctx, const char *path,
    const struct hwtdi_elf_file *elf, const struct hwtdi_image_places *places,
    struct hwtd_error *err);

/*
 * Find the file `name` that debug information at `path` shares with others: by its
 * build-id, then below roots and folders of build-ids, under its own name, or from
 * the folder of `path` on.  Only what has the build-id matches.
 */
int hwtdi_image_search_shared(struct hwtdi_image_found *found,
    struct hwtd_context *ctx, const char *path, const char *name,
    const struct hwtdi_build_id *build_id,
    const struct hwtdi_image_places *places, struct hwtd_error *err);

/* Whether a path stays in the folder that it is put behind. */
bool hwtdi_search_stays_inside(const char *path);

void hwtdi_image_found_fini(struct hwtdi_image_found *found,
    struct hwtd_context *ctx);

#endif /* HWTDI_IMAGE_SEARCH_H */
