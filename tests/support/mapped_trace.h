/*
 * Records, images and small ELF files for tests of address spaces.  Every
 * failure fails the test.
 */
#ifndef TEST_MAPPED_TRACE_H
#define TEST_MAPPED_TRACE_H

#include <hwtdecode/hwtdecode.h>

#include "support/memory_trace.h"

/* A trace that looks for files in `dir` by their last name only. */
struct hwtd_trace *mr_create(const char *dir);

/* A record of [addr, addr + len) without anything else; `len` 0: not known. */
struct hwtd_record mr_record(uint32_t type, uint32_t pid, uint64_t addr,
    uint64_t len);
void mr_time(struct hwtd_record *r, uint64_t time_ns);
void mr_place(struct hwtd_record *r, uint32_t stream, uint64_t off);
void mr_add(struct hwtd_trace *trace, const struct hwtd_record *r);

/* An image of bytes that is not mapped; its id. */
uint32_t mr_image(struct hwtd_trace *trace, const char *name,
    const void *bytes, size_t n);

/* A trace of one stream of 100 bytes with images "a" (0) and "b" (1). */
struct hwtd_trace *mr_two_images(const void *a, const void *b, size_t n);

/* Add MMAP of an image; without time, and with. */
void mr_mmap(struct hwtd_trace *trace, uint32_t pid, uint64_t addr,
    uint64_t len, uint32_t image);
void mr_mmap_at(struct hwtd_trace *trace, uint64_t time_ns, uint32_t pid,
    uint64_t addr, uint64_t len, uint32_t image);

/* Add BUFFER: all before it has happened at that byte. */
void mr_buffer(struct hwtd_trace *trace, uint32_t stream, uint64_t off);

struct hwtd_position mr_at_time(uint64_t time_ns);
struct hwtd_position mr_at_byte(uint32_t stream, uint64_t off);

/* What an address shows: `path` and `file_off`; NULL: nothing. */
void mr_assert(const struct hwtd_trace *trace, uint32_t pid,
    const struct hwtd_position *at, uint64_t address, const char *path,
    uint64_t file_off);
/* The same, but there are others. */
void mr_assert_in_doubt(const struct hwtd_trace *trace, uint32_t pid,
    const struct hwtd_position *at, uint64_t address, const char *path);

/*
 * A 64-bit file with code in an executable segment at file offset 0x1000,
 * address `base` + 0x1000; the segment before it starts at `base`.
 */
struct small_elf {
	/* 2: EXEC; else DYN. */
	uint16_t type;
	uint64_t base;
	const void *code;
	size_t n_code;
	/* Each byte of the build-id, 20 of them; 0: none. */
	uint8_t build_id;
	/* NULL: none. */
	const char *interpreter;
};

void small_elf_write(const struct small_elf *elf, const char *path);

#endif /* TEST_MAPPED_TRACE_H */
