/*
 * Tables of samples: what Python would take one by one.
 */
#ifndef HWTPY_MEMORY_ROWS_H
#define HWTPY_MEMORY_ROWS_H

#ifndef HWTD_CDEF
#include <hwtdecode/hwtdecode.h>
#endif

/*
 * Read rows of `events`, a few times up to `n_rows` of them, and add the samples
 * to `memory`.  `rows` is room.  HWTD_END when all was read; else as
 * hwtd_events_read() and hwtd_memory_add().
 */
int hwtpy_memory_step(struct hwtd_memory *memory, struct hwtd_events *events,
    struct hwtd_event *rows, size_t n_rows, struct hwtd_error *err);

/** A row, and what follows from it: columns have one member each. */
struct hwtpy_memory_row {
	struct hwtd_memory_row row;
	/** By hwtd_memory_latency_kind; see HWTPY_MEMORY_MEAN. */
	double mean[4];
	/** HWTPY_MEMORY_* bits; the first two shifted by the kind of latency. */
	uint32_t known;
	uint32_t reserved;
};

/** There is a latency below the limit; there is one at all. */
#define HWTPY_MEMORY_MEAN 0x1
#define HWTPY_MEMORY_LATENCY 0x10
/** `symbol_off` is a byte of the image's file. */
#define HWTPY_MEMORY_IMAGE_OFFSET 0x100
/** Whether it is taken. */
#define HWTPY_MEMORY_TAKEN 0x200
/** It is what had no room. */
#define HWTPY_MEMORY_OTHER 0x400

/* As hwtd_memory_read(). */
int hwtpy_memory_read(const struct hwtd_memory *memory, uint32_t table,
    uint64_t first, struct hwtpy_memory_row *out, size_t cap, size_t *n_out);

/** An access, and the line that it is to. */
struct hwtpy_access {
	struct hwtd_memory_access access;
	uint64_t line;
	/** An hwtd_memory_sharing. */
	uint32_t sharing;
	uint32_t reserved;
};

/* As hwtd_memory_accesses(), of a row that was read. */
int hwtpy_memory_accesses(const struct hwtd_memory *memory, uint64_t row_no,
    const struct hwtd_memory_row *row, uint64_t first,
    struct hwtpy_access *out, size_t cap, size_t *n_out);

/** What records tell of buffers of samples. */
struct hwtpy_buffers {
	uint64_t n;
	uint64_t collided;
	/** Samples were lost. */
	uint64_t cut_short;
};

/* Add records [first, first + n) of a trace.  HWTD_END past the last. */
int hwtpy_memory_buffers(const struct hwtd_trace *trace, uint64_t first,
    uint64_t n, struct hwtpy_buffers *out);

#endif /* HWTPY_MEMORY_ROWS_H */
