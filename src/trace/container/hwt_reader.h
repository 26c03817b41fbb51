/*
 * Reading .hwt files into a trace.
 */
#ifndef HWTDI_HWT_READER_H
#define HWTDI_HWT_READER_H

#include "base/bytes.h"
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

/* Ids that may be missing before a stream or an image: lost descriptions. */
#define HWTDI_HWT_MAX_LOST_IDS 4096u

/* What the file calls an image: one of the trace, or a part of a file. */
struct hwtdi_hwt_image_id {
	uint32_t no;
	bool part;
};

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
	/* Numbers of the next record, and of the next damage that the file tells of. */
	uint64_t next_record;
	uint64_t next_damage;
	/*
	 * So many damages of the trace are of an earlier file; none comes
	 * after number `own_from`.
	 */
	size_t n_earlier;
	size_t own_from;
	/* It says that others are not listed: the last one, whatever comes. */
	bool has_more;
	struct hwtd_damage more;
	/* Unpacked bytes that the trace keeps in memory. */
	struct hwtdi_hwt_kept kept;
	struct hwtdi_hwt_loading loading;
	/* By the ids of the file. */
	struct hwtdi_hwt_image_id *image_ids;
	size_t n_image_ids, cap_image_ids;
};

/* Damages of this file that were noted so far. */
static inline size_t
hwtdi_hwt_n_own_damages(const struct hwtdi_hwt_reader *reader)
{
	return (reader->trace->n_damages - reader->n_earlier);
}

/* Note that a chunk was not taken in. */
int hwtdi_hwt_refuse(struct hwtdi_hwt_reader *reader,
    const struct hwtdi_hwt_header *header, const char *what,
    struct hwtd_error *err);

/* The same for an error in the payload; other errors end the reading. */
int hwtdi_hwt_refuse_for(struct hwtdi_hwt_reader *reader,
    const struct hwtdi_hwt_header *header, const struct hwtd_error *inner,
    struct hwtd_error *err);

/* Unpack a payload, *ok_out false if it is damaged; that was noted then. */
int hwtdi_hwt_take_payload(struct hwtdi_hwt_reader *reader,
    const struct hwtdi_hwt_header *header, struct hwtdi_bytes *out,
    bool *ok_out, struct hwtd_error *err);

/* Take in a description of an image, and bytes of it. */
int hwtdi_hwt_accept_image(struct hwtdi_hwt_reader *reader,
    const struct hwtdi_hwt_header *header, struct hwtd_error *err);
int hwtdi_hwt_accept_image_data(struct hwtdi_hwt_reader *reader,
    const struct hwtdi_hwt_header *header, struct hwtd_error *err);

/* No bytes of images will follow; and give up what images were read with. */
int hwtdi_hwt_finish_images(struct hwtdi_hwt_reader *reader,
    struct hwtd_error *err);
void hwtdi_hwt_drop_images(struct hwtdi_hwt_reader *reader);

/* The image of the trace that the file calls `id`; HWTD_NO_ID: there is none. */
uint32_t hwtdi_hwt_image_of(const struct hwtdi_hwt_reader *reader,
    uint32_t id);

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
