/*
 * CoreSight cases of the fixtures, as traces in memory.
 */
#ifndef TEST_CS_CASE_H
#define TEST_CS_CASE_H

#include <stdbool.h>

#include "support/memory_trace.h"

#define CS_CASE_SOURCES 8
#define CS_CASE_PIECES 64

struct cs_case {
	/* An hwtd_framing. */
	uint32_t framing;
	struct hwtd_coresight_config sources[CS_CASE_SOURCES];
	size_t n_sources;
	/* What the source, or the sink, wrote. */
	uint8_t *bytes;
	size_t n;
	struct {
		uint64_t address;
		uint8_t *bytes;
		size_t n;
	} code[CS_CASE_PIECES];
	size_t n_code;
	/* OpenCSD, or a version of it, is known to decode it as something else. */
	bool wrong;
};

void cs_case_load(const char *folder, struct cs_case *out);
void cs_case_free(struct cs_case *c);

/* Of the bytes from `first` on; sealed.  Streams of sources come last. */
struct hwtd_trace *cs_case_trace(const struct cs_case *c, size_t first);

/* Of the first `n` bytes, and in another extent all of them. */
struct hwtd_trace *cs_case_trace_cut(const struct cs_case *c, size_t n);

/* Of both, each with its sink; code is that of both. */
struct hwtd_trace *cs_case_two_sinks(const struct cs_case *a,
    const struct cs_case *b);

#endif /* TEST_CS_CASE_H */
