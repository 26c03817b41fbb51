/*
 * What the fuzz harnesses share: taking an input apart, failing, checks.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <hwtdecode/trace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Every harness has one; libFuzzer or the replay's main() calls it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Tell what was found and abort, so that the input is kept. */
_Noreturn void fuzz_fail(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#define FUZZ_CHECK(what, ...)                                                 \
	do {                                                                  \
		if (!(what))                                                  \
			fuzz_fail(__FILE__, __LINE__, __VA_ARGS__);           \
	} while (0)

/* Takes an input apart from the front; past its end all is 0. */
struct fuzz_in {
	const uint8_t *at;
	size_t left;
};

static inline uint64_t
fuzz_take(struct fuzz_in *in, size_t bytes)
{
	uint64_t v = 0;

	for (size_t i = 0; i < bytes && in->left > 0; i++, in->left--)
		v |= (uint64_t)*in->at++ << (8 * i);
	return (v);
}

/* A file with these bytes; its path, valid until fuzz_file_close(). */
struct fuzz_file {
	int fd;
	char path[64];
	bool unlink;
};

void fuzz_file_open(struct fuzz_file *file, const void *bytes, size_t n);
void fuzz_file_close(struct fuzz_file *file);

/*
 * Extent `i` of a stream of `n_bytes`; false: there is none.  Extents are in order up
 * to the end, and what lies between them is damage.  *end_inout: 0 at first.
 */
bool fuzz_extent(const struct hwtd_trace *trace, uint32_t stream, size_t i,
    uint64_t n_bytes, uint64_t *end_inout, struct hwtd_extent *out);

#endif /* FUZZ_H */
