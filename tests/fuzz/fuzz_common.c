/*
 * What the fuzz harnesses share: failing, files of given bytes, extents.
 */
#ifdef __linux__
#define _GNU_SOURCE
#endif
#include "fuzz.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

_Noreturn void
fuzz_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	(void)fprintf(stderr, "%s:%d: ", file, line);
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
	abort();
}

void
fuzz_file_open(struct fuzz_file *file, const void *bytes, size_t n)
{
	const uint8_t *at = bytes;

#ifdef __linux__
	file->fd = memfd_create("fuzz", MFD_CLOEXEC);
	(void)snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d",
	    file->fd);
	file->unlink = false;
#else
	(void)snprintf(file->path, sizeof(file->path),
	    P_tmpdir "/fuzz.XXXXXX");
	file->fd = mkstemp(file->path);
	file->unlink = true;
#endif
	FUZZ_CHECK(file->fd >= 0, "no temporary file");
	while (n > 0) {
		ssize_t done = write(file->fd, at, n);

		FUZZ_CHECK(done > 0, "cannot write a temporary file");
		at += done;
		n -= (size_t)done;
	}
}

void
fuzz_file_close(struct fuzz_file *file)
{
	if (file->unlink)
		(void)unlink(file->path);
	(void)close(file->fd);
}

bool
fuzz_extent(const struct hwtd_trace *trace, uint32_t stream, size_t i,
    uint64_t n_bytes, uint64_t *end_inout, struct hwtd_extent *out)
{
	const uint64_t end = *end_inout;

	*out = (struct hwtd_extent){ .size = sizeof(*out) };
	if (hwtd_trace_extent(trace, stream, i, out) != HWTD_OK) {
		FUZZ_CHECK(end == n_bytes,
		    "extents up to %" PRIu64 " of %" PRIu64, end, n_bytes);
		return (false);
	}
	FUZZ_CHECK(out->start >= end && out->end >= out->start &&
		out->end <= n_bytes,
	    "extent %" PRIu64 "-%" PRIu64 " behind %" PRIu64, out->start,
	    out->end, end);
	FUZZ_CHECK(out->start == end || out->why == HWTD_EXTENT_AFTER_DAMAGE,
	    "a hole at %" PRIu64 " without damage", end);
	*end_inout = out->end;
	return (true);
}
