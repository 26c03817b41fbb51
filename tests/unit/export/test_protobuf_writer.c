/*
 * Messages of protocol buffers, byte by byte.
 *
 * Source of what is expected: Protocol Buffers, "Encoding", and counting.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "export/protobuf_writer.h"
#include "support/sink_text.h"

static struct sink_text out;

static int
set_up(void **state)
{
	(void)state;
	return (sink_text_init(&out));
}

static int
tear_down(void **state)
{
	(void)state;
	sink_text_fini(&out);
	return (0);
}

#define ASSERT_BYTES(pb, text)                                                \
	do {                                                                  \
		assert_false((pb)->failed);                                   \
		assert_int_equal((pb)->n, sizeof(text) - 1);                  \
		assert_memory_equal((pb)->bytes, text, sizeof(text) - 1);     \
	} while (0)

static void
numbers_have_their_wire_types(void **state)
{
	struct hwtdi_protobuf pb;

	(void)state;
	hwtdi_protobuf_init(&pb, out.ctx);
	hwtdi_protobuf_u64(&pb, 1, 150);
	hwtdi_protobuf_u64(&pb, 16, 0);
	hwtdi_protobuf_u64(&pb, 2, UINT64_MAX);
	hwtdi_protobuf_i64(&pb, 3, -1);
	hwtdi_protobuf_fixed64(&pb, 4, 0x0102030405060708);
	hwtdi_protobuf_double(&pb, 5, 1.0);
	ASSERT_BYTES(&pb,
	    "\x08\x96\x01"
	    "\x80\x01\x00"
	    "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
	    "\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
	    "\x21\x08\x07\x06\x05\x04\x03\x02\x01"
	    "\x29\x00\x00\x00\x00\x00\x00\xf0\x3f");
	hwtdi_protobuf_fini(&pb);
}

static void
text_and_bytes_have_their_length(void **state)
{
	struct hwtdi_protobuf pb;

	(void)state;
	hwtdi_protobuf_init(&pb, out.ctx);
	hwtdi_protobuf_text(&pb, 2, "testing");
	hwtdi_protobuf_text(&pb, 2, NULL);
	hwtdi_protobuf_bytes(&pb, 3, "\xff\x00", 2);
	hwtdi_protobuf_string(&pb, 4, "a\0\xff\"", 4);
	ASSERT_BYTES(&pb,
	    "\x12\x07"
	    "testing"
	    "\x1a\x02\xff\x00"
	    "\x22\x06"
	    "a\0\xef\xbf\xbd\"");
	hwtdi_protobuf_fini(&pb);
}

static void
messages_in_messages_have_lengths_of_one_and_more_bytes(void **state)
{
	static const char filler[200];
	struct hwtdi_protobuf pb;
	size_t outer, inner;

	(void)state;
	hwtdi_protobuf_init(&pb, out.ctx);
	outer = hwtdi_protobuf_begin(&pb, 1);
	inner = hwtdi_protobuf_begin(&pb, 2);
	hwtdi_protobuf_end(&pb, inner);
	inner = hwtdi_protobuf_begin(&pb, 3);
	hwtdi_protobuf_bytes(&pb, 4, filler, sizeof(filler));
	hwtdi_protobuf_end(&pb, inner);
	hwtdi_protobuf_u64(&pb, 5, 1);
	hwtdi_protobuf_end(&pb, outer);
	/* 203 bytes in field 3: 206, and 2 of field 2 and 2 of field 5: 210. */
	assert_false(pb.failed);
	assert_int_equal(pb.n, 3 + 210);
	assert_memory_equal(pb.bytes, "\x0a\xd2\x01\x12\x00\x1a\xcb\x01", 8);
	assert_memory_equal(pb.bytes + 8, "\x22\xc8\x01", 3);
	assert_memory_equal(pb.bytes + 8 + 3 + 200, "\x28\x01", 2);
	hwtdi_protobuf_fini(&pb);
}

static void
packed_numbers_have_no_tags(void **state)
{
	struct hwtdi_protobuf pb;
	size_t at;

	(void)state;
	hwtdi_protobuf_init(&pb, out.ctx);
	at = hwtdi_protobuf_begin(&pb, 4);
	hwtdi_protobuf_packed(&pb, 3);
	hwtdi_protobuf_packed(&pb, 270);
	hwtdi_protobuf_packed(&pb, 86942);
	hwtdi_protobuf_end(&pb, at);
	ASSERT_BYTES(&pb, "\x22\x06\x03\x8e\x02\x9e\xa7\x05");
	hwtdi_protobuf_fini(&pb);
}

static void
out_of_memory_is_told_by_the_sink(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_protobuf pb;
	size_t at;

	(void)state;
	hwtdi_protobuf_init(&pb, out.ctx);
	failing_allocator_arm(&out.memory, 1, true);
	at = hwtdi_protobuf_begin(&pb, 1);
	hwtdi_protobuf_text(&pb, 2, "lost");
	hwtdi_protobuf_end(&pb, at);
	assert_true(pb.failed);
	hwtdi_protobuf_flush(&pb, &out.sink);
	assert_false(pb.failed);
	assert_int_equal(hwtdi_sink_flush(&out.sink, &err), HWTD_E_NOMEM);
	failing_allocator_arm(&out.memory, 0, false);
	hwtdi_protobuf_fini(&pb);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(numbers_have_their_wire_types,
		    set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    text_and_bytes_have_their_length, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    messages_in_messages_have_lengths_of_one_and_more_bytes,
		    set_up, tear_down),
		cmocka_unit_test_setup_teardown(packed_numbers_have_no_tags,
		    set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    out_of_memory_is_told_by_the_sink, set_up, tear_down),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
