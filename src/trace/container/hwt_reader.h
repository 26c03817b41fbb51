/*
 * Reading .hwt files into a trace.
 */
#ifndef HWTDI_HWT_READER_H
#define HWTDI_HWT_READER_H

#include "trace/container/hwt_chunk.h"
#include "trace/trace_internal.h"

/* Whether the file of a trace is a .hwt file, also if its header is damaged. */
int hwtdi_hwt_recognize(const struct hwtd_trace *trace, bool *is_out,
    struct hwtd_error *err);

/*
 * Fill `trace` from its file.  Payloads of DATA chunks are not read.  Damage
 * is noted in the trace; HWTD_E_UNSUPPORTED, HWTD_E_LIMIT, HWTD_E_IO and
 * HWTD_E_NOMEM end it.
 */
int hwtdi_hwt_read(struct hwtd_trace *trace,
    const struct hwtd_open_options *opts, struct hwtd_error *err);

/* An image whose bytes are being read. */
struct hwtdi_hwt_loading {
	bool active;
	uint32_t id;
	struct hwtdi_hwt_image_bytes {
		uint8_t *at;
		size_t n;
		size_t cap;
	} bytes;
	/* A chunk of it was refused. */
	bool broken;
	/* Of the description. */
	uint64_t file_off;
	size_t damages_before;
};

struct hwtdi_hwt_reader {
	struct hwtd_trace *trace;
	struct hwtdi_hwt_unpacker unpacker;
	/* Number of the next record. */
	uint64_t next_record;
	/* Unpacked bytes that the trace keeps in memory. */
	uint64_t table_bytes;
	uint64_t image_bytes;
	struct hwtdi_hwt_loading loading;
};

/* Take in one chunk, in file order, whose header is valid or indexed. */
int hwtdi_hwt_accept(struct hwtdi_hwt_reader *reader,
    const struct hwtdi_hwt_header *header, struct hwtd_error *err);

/*
 * Take in all chunks by the index.  *done_out is false if there is no usable
 * index; then nothing was taken in and damage was noted if a scan would not
 * find it.
 */
int hwtdi_hwt_read_index(struct hwtdi_hwt_reader *reader, bool *done_out,
    struct hwtd_error *err);

/* Take in all chunks by going from header to header. */
int hwtdi_hwt_scan(struct hwtdi_hwt_reader *reader, struct hwtd_error *err);

/* Read the header at `off`; *valid_out is false if there is none. */
int hwtdi_hwt_read_header(const struct hwtdi_trace_file *file, uint64_t off,
    struct hwtdi_hwt_header *out, bool *valid_out, struct hwtd_error *err);

#endif /* HWTDI_HWT_READER_H */
