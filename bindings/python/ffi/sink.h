/*
 * What an export wrote since it was last asked, until Python has taken it.
 *
 * So Python's code runs between two steps.  Only where one step writes very much
 * is it called from inside, so that there is a limit to what is held, and to how
 * long signals wait.
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

/*
 * In Python: take what there is.  `arg` is that of hwtpy_sink_create().
 *
 * @return 0, or an errno value; the export fails with it.
 */
#ifdef HWTPY_CFFI
extern "Python+C" int hwtpy_sink_drain(void *arg);
#endif

/*
 * Python is asked inside of a step when `full` bytes are there.  NULL: out of
 * memory.
 */
struct hwtpy_sink *hwtpy_sink_create(void *arg, size_t full);

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
