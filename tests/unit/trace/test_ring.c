/*
 * Memory of a sink as it lies there: turned by any number of bytes, and not
 * turned.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/frame_writer.h"
#include "support/saved_trace.h"
#include "trace/sink/ring.h"

#define DATA_BYTES 40000
#define MEMORY_BYTES 100000

static const uint8_t ids[] = { 0x10, 0x11, 0x55 };

struct memory {
	uint8_t bytes[MEMORY_BYTES];
	size_t n;
};

/*
 * A capture from its start, or what a ring still has of one; at the end the last
 * frame is filled up, or not.
 */
static void
write_capture(struct memory *m, bool from_start, bool filled)
{
	static const uint8_t sync[12] = { [11] = 0x80 };
	uint8_t *noise = st_noise(DATA_BYTES, 7);
	struct frame_writer w;
	size_t who = 0;

	frame_writer_init(&w, m->bytes, sizeof(m->bytes));
	for (size_t i = 0; i < DATA_BYTES; i++) {
		for (size_t k = 0; i % 1000 == 0 && k < sizeof(sync); k++)
			frame_writer_put(&w, ids[who], sync[k]);
		if (noise[i] % 40 == 0)
			who = noise[i] / 40 % sizeof(ids);
		frame_writer_put(&w, ids[who], noise[i]);
	}
	frame_writer_finish(&w);
	m->n = w.n;
	if (!from_start) {
		memmove(m->bytes, m->bytes + 160, m->n - 160);
		m->n -= 160;
	}
	if (!filled)
		m->n -= 320;
	free(noise);
}

static void
turn(const struct memory *m, size_t n, struct memory *out)
{
	memcpy(out->bytes, m->bytes + n, m->n - n);
	memcpy(out->bytes + m->n - n, m->bytes, n);
	out->n = m->n;
}

static struct hwtdi_ring
look(const struct memory *m)
{
	struct hwtdi_ring ring = { .phase = 0 };
	uint8_t across[HWTDI_FRAME_BYTES];
	size_t i;

	for (i = 0; i < sizeof(ids); i++)
		ring.known[ids[i]] = true;
	hwtdi_ring_find_phase(&ring, m->bytes, m->n);
	for (i = ring.phase; i + HWTDI_FRAME_BYTES <= m->n;
	     i += HWTDI_FRAME_BYTES)
		hwtdi_ring_see(&ring, i, m->bytes + i);
	if (m->n - i + ring.phase != HWTDI_FRAME_BYTES)
		return (ring);
	memcpy(across, m->bytes + i, m->n - i);
	memcpy(across + m->n - i, m->bytes, ring.phase);
	hwtdi_ring_see(&ring, i, across);
	return (ring);
}

static void
the_oldest_frame_is_found(void **state)
{
	static struct memory m, turned;
	size_t found = 0;

	(void)state;
	write_capture(&m, true, true);
	for (size_t n = 1; n < m.n; n += 997) {
		struct hwtdi_ring ring;

		turn(&m, n, &turned);
		ring = look(&turned);
		assert_int_equal(ring.phase, (m.n - n) % HWTDI_FRAME_BYTES);
		assert_true(hwtdi_ring_is_turned(&ring));
		assert_int_equal(ring.seam, m.n - n);
		found++;
	}
	assert_true(found > 40);
}

static void
what_is_not_turned_stays_as_it_is(void **state)
{
	static struct memory m;

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct hwtdi_ring ring;

		write_capture(&m, (i & 1) != 0, (i & 2) != 0);
		ring = look(&m);
		assert_int_equal(ring.phase, 0);
		assert_false(hwtdi_ring_is_turned(&ring));
	}
}

/* A capture that goes on where one ended, in one memory. */
static void
two_captures_behind_each_other_are_not_turned(void **state)
{
	static struct memory m, two;
	struct hwtdi_ring ring;

	(void)state;
	write_capture(&m, true, true);
	memcpy(two.bytes, m.bytes, m.n);
	memcpy(two.bytes + m.n, m.bytes, m.n);
	two.n = 2 * m.n;
	ring = look(&two);
	assert_false(hwtdi_ring_is_turned(&ring));
	/* Also if the end of the second one is missing. */
	two.n -= 320;
	ring = look(&two);
	assert_false(hwtdi_ring_is_turned(&ring));
}

/* Without its first bytes: frames are found, and nothing is turned. */
static void
frames_begin_at_any_byte(void **state)
{
	static struct memory m;

	(void)state;
	for (size_t n = 1; n < HWTDI_FRAME_BYTES; n++) {
		struct hwtdi_ring ring;

		write_capture(&m, true, true);
		m.n -= n;
		memmove(m.bytes, m.bytes + n, m.n);
		ring = look(&m);
		assert_int_equal(ring.phase, HWTDI_FRAME_BYTES - n);
		assert_false(hwtdi_ring_is_turned(&ring));
	}
}

static void
noise_has_no_frames(void **state)
{
	static struct memory m;

	(void)state;
	for (uint64_t seed = 1; seed < 20; seed++) {
		uint8_t *noise = st_noise(4096, seed);
		struct hwtdi_ring ring;

		memcpy(m.bytes, noise, 4096);
		m.n = 4096;
		free(noise);
		ring = look(&m);
		assert_int_equal(ring.phase, 0);
		assert_false(hwtdi_ring_is_turned(&ring));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_oldest_frame_is_found),
		cmocka_unit_test(what_is_not_turned_stays_as_it_is),
		cmocka_unit_test(
		    two_captures_behind_each_other_are_not_turned),
		cmocka_unit_test(frames_begin_at_any_byte),
		cmocka_unit_test(noise_has_no_frames),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
