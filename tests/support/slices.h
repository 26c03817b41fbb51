/*
 * Begins and ends on tracks, as viewers take them: whether they nest; for tests of
 * what is exported.
 */
#ifndef TEST_SLICES_H
#define TEST_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slice {
	uint64_t track, at;
	/* Which one in the file. */
	size_t no;
	bool begins;
};

/* All zero: none. */
struct slices {
	struct slice *at;
	size_t n, cap;
	size_t begun;
};

void slices_add(struct slices *s, uint64_t track, uint64_t at, bool begins);

/*
 * By time, and equal times as they come, each end has a begin and each begin an
 * end.  Forgets all.
 */
bool slices_nest(struct slices *s);

/* The events of a file of Chrome's format that the library wrote. */
bool slices_of_chrome(struct slices *s, const char *text, size_t n);
/* Those of packets of Perfetto; false: it is no such file. */
bool slices_of_perfetto(struct slices *s, const uint8_t *bytes, size_t n);
/* Those of speedscope, each profile a track. */
bool slices_of_speedscope(struct slices *s, const char *text, size_t n);

#endif /* TEST_SLICES_H */
