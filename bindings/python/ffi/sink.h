/*
 * What an export wrote since it was last asked, until Python has taken it.
 *
 * Nothing of Python runs inside of the library so: a writer that raises, or that
 * uses what is being exported, does so between two steps.
 */
#ifndef HWTPY_SINK_H
#define HWTPY_SINK_H

#ifndef HWTD_CDEF
#include <hwtdecode/hwtdecode.h>
#endif

struct hwtpy_sink;

/** What hwtpy_sink_take() found. */
enum hwtpy_taken {
	/** Nothing is left. */
	HWTPY_TAKEN_NONE = 0,
	HWTPY_TAKEN_BYTES = 1,
	/** What follows is of the next file. */
	HWTPY_TAKEN_NEXT = 2
};

/* NULL: out of memory. */
struct hwtpy_sink *hwtpy_sink_create(void);

/* Set `write`, `write_arg` and, for several files, `next`. */
void hwtpy_sink_connect(struct hwtpy_sink *sink,
    struct hwtd_format_options *options, bool several);

/*
 * The next bytes, or where the next file begins.
 *
 * @return An hwtpy_taken.
 *
 * Lives:  bytes are borrowed until something is written or taken.
 */
int hwtpy_sink_take(struct hwtpy_sink *sink, const void **bytes_out,
    size_t *n_out);

/* It had no room for something. */
bool hwtpy_sink_failed(const struct hwtpy_sink *sink);

void hwtpy_sink_destroy(struct hwtpy_sink *sink);

#endif /* HWTPY_SINK_H */
