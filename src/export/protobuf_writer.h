/*
 * Writing messages of protocol buffers into memory.
 *
 * Source: Protocol Buffers, "Encoding".
 */
#ifndef HWTDI_PROTOBUF_WRITER_H
#define HWTDI_PROTOBUF_WRITER_H

#include "export/export_sink.h"

/* Bytes of messages; all zero but `ctx`: none. */
struct hwtdi_protobuf {
	struct hwtd_context *ctx;
	uint8_t *bytes;
	size_t n, cap;
	/* Out of memory: what is there is not whole. */
	bool failed;
};

void hwtdi_protobuf_init(struct hwtdi_protobuf *pb, struct hwtd_context *ctx);
void hwtdi_protobuf_fini(struct hwtdi_protobuf *pb);
/* Forget all; memory is kept. */
void hwtdi_protobuf_clear(struct hwtdi_protobuf *pb);

/* Fields by number. */
void hwtdi_protobuf_u64(struct hwtdi_protobuf *pb, uint32_t field, uint64_t v);
/* int32 and int64; what is below 0 takes ten bytes. */
void hwtdi_protobuf_i64(struct hwtdi_protobuf *pb, uint32_t field, int64_t v);
void hwtdi_protobuf_fixed64(struct hwtdi_protobuf *pb, uint32_t field,
    uint64_t v);
void hwtdi_protobuf_double(struct hwtdi_protobuf *pb, uint32_t field,
    double v);
void hwtdi_protobuf_bytes(struct hwtdi_protobuf *pb, uint32_t field,
    const void *bytes, size_t n);
/* Any bytes as a string, as hwtdi_json_put_string() makes it. */
void hwtdi_protobuf_string(struct hwtdi_protobuf *pb, uint32_t field,
    const char *text, size_t n);
/* NULL: nothing. */
void hwtdi_protobuf_text(struct hwtdi_protobuf *pb, uint32_t field,
    const char *text);
/* A number of a packed repeated field, between begin and end. */
void hwtdi_protobuf_packed(struct hwtdi_protobuf *pb, uint64_t v);

/* A message in it, up to the end: give back what begin returned. */
size_t hwtdi_protobuf_begin(struct hwtdi_protobuf *pb, uint32_t field);
void hwtdi_protobuf_end(struct hwtdi_protobuf *pb, size_t begin);

/* Put all into a sink and forget it; HWTD_E_NOMEM is the sink's then. */
void hwtdi_protobuf_flush(struct hwtdi_protobuf *pb, struct hwtdi_sink *sink);

#endif /* HWTDI_PROTOBUF_WRITER_H */
