/*
 * Payloads of .hwt chunks to and from bytes: fields, streams, images, records,
 * damages.
 */
#ifndef HWTDI_HWT_FIELDS_H
#define HWTDI_HWT_FIELDS_H

#include "base/bytes.h"
#include "trace/container/hwt_chunk.h"
#include "trace/trace_internal.h"

/* A payload that grows. */
struct hwtdi_hwt_buffer {
	struct hwtd_context *library;
	uint8_t *bytes;
	size_t n;
	size_t cap;
};

/* Writers.  All return HWTD_OK or HWTD_E_NOMEM. */
int hwtdi_hwt_put_field(struct hwtdi_hwt_buffer *to, uint16_t tag,
    const void *value, size_t n, struct hwtd_error *err);
/* NULL puts nothing. */
int hwtdi_hwt_put_text(struct hwtdi_hwt_buffer *to, uint16_t tag,
    const char *text, struct hwtd_error *err);
int hwtdi_hwt_put_stream(struct hwtdi_hwt_buffer *to,
    const struct hwtd_stream_desc *desc, struct hwtd_error *err);
int hwtdi_hwt_put_record(struct hwtdi_hwt_buffer *to,
    const struct hwtd_record *record, struct hwtd_error *err);
/* One that is no hole of its stream. */
int hwtdi_hwt_put_damage(struct hwtdi_hwt_buffer *to,
    const struct hwtd_damage *damage, struct hwtd_error *err);

/* What the file says about an image. */
struct hwtdi_hwt_image {
	uint64_t offset;
	uint64_t n_bytes;
	uint64_t address;
	uint64_t sum;
	/* HWTDI_HWT_IMAGE_* */
	uint32_t flags;
	uint32_t n_build_id;
	uint8_t build_id[HWTD_MAX_BUILD_ID];
	/* Ids of images; HWTD_NO_ID: none. */
	uint32_t same_bytes;
	uint32_t same_file;
};

int hwtdi_hwt_put_image(struct hwtdi_hwt_buffer *to,
    const struct hwtdi_hwt_image *image, const char *path,
    struct hwtd_error *err);

/*
 * Readers.  HWTD_E_CORRUPT fills `err` with what is wrong in the payload;
 * texts are owned copies, given back with hwtdi_strfree().
 */
struct hwtdi_hwt_field {
	uint16_t tag;
	const uint8_t *value;
	size_t n;
};

/* HWTD_OK, HWTD_END or HWTD_E_CORRUPT. */
int hwtdi_hwt_get_field(struct hwtdi_bytes *from, struct hwtdi_hwt_field *out,
    struct hwtd_error *err);

/* Replaces *text_inout. */
int hwtdi_hwt_get_text(struct hwtd_context *ctx,
    const struct hwtdi_hwt_field *field, char **text_inout,
    struct hwtd_error *err);

/* What the file says about a stream; `desc` points to the others. */
struct hwtdi_hwt_stream {
	struct hwtd_stream_desc desc;
	struct hwtd_pt_config pt;
	struct hwtd_coresight_config coresight;
	struct hwtd_spe_config spe;
};

/* `desc.name` is *name_out. */
int hwtdi_hwt_get_stream(struct hwtd_context *ctx, struct hwtdi_bytes from,
    struct hwtdi_hwt_stream *out, char **name_out, struct hwtd_error *err);
int hwtdi_hwt_get_image(struct hwtd_context *ctx, struct hwtdi_bytes from,
    struct hwtdi_hwt_image *image, char **path_out, struct hwtd_error *err);

/* The next record: HWTD_OK, HWTD_END or another; `*name_out` may be NULL. */
int hwtdi_hwt_get_record(struct hwtd_context *ctx, struct hwtdi_bytes *from,
    struct hwtd_record *record, char **name_out, struct hwtd_error *err);

/* The next damage: HWTD_OK, HWTD_END or HWTD_E_CORRUPT. */
int hwtdi_hwt_get_damage(struct hwtdi_bytes *from, struct hwtd_damage *damage,
    struct hwtd_error *err);

#endif /* HWTDI_HWT_FIELDS_H */
