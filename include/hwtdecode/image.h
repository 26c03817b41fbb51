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

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_IMAGE_H */
