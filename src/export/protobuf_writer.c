/*
 * Writing messages of protocol buffers.
 *
 * Source: Protocol Buffers, "Encoding".
 */
#include "export/protobuf_writer.h"

#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "export/plain_text.h"

#define VARINT_MOST 10u
#define LEAST_CAP 4096u

enum {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2
};

void
hwtdi_protobuf_init(struct hwtdi_protobuf *pb, struct hwtd_context *ctx)
{
	memset(pb, 0, sizeof(*pb));
	pb->ctx = ctx;
}

void
hwtdi_protobuf_fini(struct hwtdi_protobuf *pb)
{
	hwtdi_array_free(pb->ctx, pb->bytes, pb->cap, 1);
	pb->bytes = NULL;
	pb->n = pb->cap = 0;
}

void
hwtdi_protobuf_clear(struct hwtdi_protobuf *pb)
{
	pb->n = 0;
	pb->failed = false;
}

static bool
has_room(struct hwtdi_protobuf *pb, size_t more)
{
	size_t need = pb->n + more;

	if (need <= pb->cap)
		return (!pb->failed);
	if (need < LEAST_CAP)
		need = LEAST_CAP;
	if (pb->failed ||
	    hwtdi_array_grow(pb->ctx, &pb->bytes, &pb->cap, need, 1, NULL) !=
		HWTD_OK)
		pb->failed = true;
	return (!pb->failed);
}

static size_t
varint(uint8_t *out, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		out[n++] = (uint8_t)(v | 0x80);
	out[n++] = (uint8_t)v;
	return (n);
}

void
hwtdi_protobuf_packed(struct hwtdi_protobuf *pb, uint64_t v)
{
	if (has_room(pb, VARINT_MOST))
		pb->n += varint(pb->bytes + pb->n, v);
}

static void
tag(struct hwtdi_protobuf *pb, uint32_t field, unsigned int wire)
{
	hwtdi_protobuf_packed(pb, (uint64_t)field << 3 | wire);
}

void
hwtdi_protobuf_u64(struct hwtdi_protobuf *pb, uint32_t field, uint64_t v)
{
	tag(pb, field, WIRE_VARINT);
	hwtdi_protobuf_packed(pb, v);
}

void
hwtdi_protobuf_i64(struct hwtdi_protobuf *pb, uint32_t field, int64_t v)
{
	hwtdi_protobuf_u64(pb, field, (uint64_t)v);
}

void
hwtdi_protobuf_fixed64(struct hwtdi_protobuf *pb, uint32_t field, uint64_t v)
{
	tag(pb, field, WIRE_FIXED64);
	if (has_room(pb, sizeof(v))) {
		hwtdi_put_le(pb->bytes + pb->n, v, sizeof(v));
		pb->n += sizeof(v);
	}
}

void
hwtdi_protobuf_double(struct hwtdi_protobuf *pb, uint32_t field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	hwtdi_protobuf_fixed64(pb, field, bits);
}

static void
put(struct hwtdi_protobuf *pb, const void *bytes, size_t n)
{
	if (n > 0 && has_room(pb, n)) {
		memcpy(pb->bytes + pb->n, bytes, n);
		pb->n += n;
	}
}

void
hwtdi_protobuf_bytes(struct hwtdi_protobuf *pb, uint32_t field,
    const void *bytes, size_t n)
{
	tag(pb, field, WIRE_BYTES);
	hwtdi_protobuf_packed(pb, n);
	put(pb, bytes, n);
}

void
hwtdi_protobuf_string(struct hwtdi_protobuf *pb, uint32_t field,
    const char *text, size_t n)
{
	const size_t taken = hwtdi_name_bytes(text, n);
	const size_t begin = hwtdi_protobuf_begin(pb, field);
	size_t from = 0;

	for (size_t i = 0; i < taken;) {
		const size_t bytes = hwtdi_utf8_bytes(text + i, taken - i);

		if (bytes == 0) {
			put(pb, text + from, i - from);
			put(pb, "\xef\xbf\xbd", 3);
			from = i + 1;
		}
		i += bytes != 0 ? bytes : 1;
	}
	put(pb, text + from, taken - from);
	if (taken < n)
		put(pb, "...", 3);
	hwtdi_protobuf_end(pb, begin);
}

void
hwtdi_protobuf_text(struct hwtdi_protobuf *pb, uint32_t field,
    const char *text)
{
	if (text != NULL)
		hwtdi_protobuf_string(pb, field, text, strlen(text));
}

/* Most messages have less than 128 bytes, of which one says how many. */
size_t
hwtdi_protobuf_begin(struct hwtdi_protobuf *pb, uint32_t field)
{
	tag(pb, field, WIRE_BYTES);
	if (has_room(pb, 1))
		pb->n++;
	return (pb->n);
}

void
hwtdi_protobuf_end(struct hwtdi_protobuf *pb, size_t begin)
{
	uint8_t length[VARINT_MOST];
	size_t bytes, n;

	if (pb->failed)
		return;
	bytes = pb->n - begin;
	n = varint(length, bytes);
	if (n > 1) {
		if (!has_room(pb, n - 1))
			return;
		memmove(pb->bytes + begin + n - 1, pb->bytes + begin, bytes);
		pb->n += n - 1;
	}
	memcpy(pb->bytes + begin - 1, length, n);
}

void
hwtdi_protobuf_flush(struct hwtdi_protobuf *pb, struct hwtdi_sink *sink)
{
	struct hwtd_error err;

	if (pb->failed) {
		hwtdi_error_begin(&err);
		(void)hwtdi_fail_nomem(&err, pb->n);
		hwtdi_sink_fail(sink, &err);
	} else if (pb->n > 0)
		hwtdi_sink_put(sink, pb->bytes, pb->n);
	hwtdi_protobuf_clear(pb);
}
