/*
 * Traces that are saved and opened again.  Every failure fails the test.
 */
#ifndef TEST_SAVED_TRACE_H
#define TEST_SAVED_TRACE_H

#include <hwtdecode/hwtdecode.h>

/* Save with HWTD_SAVE_* flags. */
void st_save(struct hwtd_trace *trace, const char *path, uint32_t flags);

/* Open; files are looked for in `dir` by their last name only. */
struct hwtd_trace *st_open(const char *path, const char *dir);

/* The byte of code at an address of a process, at the end of the trace. */
uint8_t st_code(const struct hwtd_trace *trace, uint32_t pid,
    uint64_t address);

/* `n` bytes that do not compress.  Owned: free(). */
uint8_t *st_noise(size_t n, uint64_t seed);

/* Bytes of a file. */
size_t st_size(const char *path);

#endif /* TEST_SAVED_TRACE_H */
