/*
 * Images: files or memory that can hold code.
 */
#ifndef HWTDECODE_IMAGE_H
#define HWTDECODE_IMAGE_H

#ifndef HWTD_CDEF
#include <hwtdecode/record.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

/** An image to add to a trace: part of a file, or bytes. */
struct hwtd_image_desc {
	/** sizeof(struct hwtd_image_desc). */
	size_t size;
	/** Name of the image in tables and messages, and the file to read. */
	const char *path;
	/** Bytes instead of a file; copied.  NULL: read `path`. */
	const void *bytes;
	/** Bytes at `bytes`; ignored when `bytes` is NULL. */
	uint64_t n_bytes;
	/** First byte of the file that counts. */
	uint64_t offset;
	/** Bytes of the file that count.  0: all from `offset` on. */
	uint64_t length;
	/** HWTD_IMAGEF_* bits. */
	uint32_t flags;
	uint32_t reserved;
	/** Mapped at this address in every address space from the start. */
	uint64_t address;
};

/** `address` is set: map the image there. */
#define HWTD_IMAGEF_ADDRESS 0x1

/** What `section` in a row stands for. */
struct hwtd_section {
	size_t size;
	/** Image id. */
	uint32_t image;
	/** Version of the bytes, from 0. */
	uint32_t generation;
	/** Lowest address at which the section is mapped. */
	uint64_t address;
	/** Bytes. */
	uint64_t length;
	/** Byte offset in the image's file. */
	uint64_t file_off;
	/** Path or name of the image.  Borrowed while the trace is open. */
	const char *path;
};

/** What became of an image that records name. */
enum hwtd_image_state {
	HWTD_IMAGE_UNKNOWN = 0,
	/** Its code is there; if `text` says so, only what is whole of it. */
	HWTD_IMAGE_FOUND = 1,
	/** Its file was not found, or could not be read; `text` says why. */
	HWTD_IMAGE_MISSING = 2,
	/** A file of that name has another build-id; it is not used. */
	HWTD_IMAGE_MISMATCH = 3
};

struct hwtd_image_info {
	size_t size;
	/** An hwtd_image_state. */
	uint32_t state;
	/** Bytes of `build_id`: what records ask for; else that of the file. */
	uint32_t n_build_id;
	uint8_t build_id[HWTD_MAX_BUILD_ID];
	/** Name in records.  Borrowed while the trace is open. */
	const char *path;
	/** File that was read or refused; "" for none.  Borrowed likewise. */
	const char *file;
	/** Bytes of code held. */
	uint64_t n_bytes;
	/** Why it is missing or refused, or what is damaged; one line. */
	char text[96];
	/** HWTD_IMAGE_INFO_* bits. */
	uint32_t flags;
	uint32_t reserved;
};

/** The trace names its file, which is no ELF program, library or object: its
 * bytes are saved only with HWTD_SAVE_ANY_FILE. */
#define HWTD_IMAGE_INFO_NO_PROGRAM 0x1
/** A kernel module that calls what nobody knows; `text` names something. */
#define HWTD_IMAGE_INFO_UNLINKED 0x2

/** Where the files of images are looked for.  All zero means defaults. */
struct hwtd_search {
	/** sizeof(struct hwtd_search). */
	size_t size;
	/** Folders put before recorded paths, for instance a sysroot. */
	const char *const *roots;
	size_t n_roots;
	/**
	 * Folders of files by build-id: xx/yyyy.debug, .build-id/xx/yyyy;
	 * also caches of perf, such as ~/.debug.
	 */
	const char *const *build_id_dirs;
	size_t n_build_id_dirs;
	/** Folders where files lie by their last name, for instance modules. */
	const char *const *dirs;
	size_t n_dirs;
	/** HWTD_SEARCH_* bits. */
	uint32_t flags;
	uint32_t reserved;
};

/** Do not read the path that was recorded as it is. */
#define HWTD_SEARCH_NO_ORIGINAL 0x1

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_IMAGE_H */
