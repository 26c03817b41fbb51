/*
 * A writer of CoreSight formatter frames.
 *
 * Even places hold an ID, or data whose low bit goes to the last byte; odd ones
 * hold data.  An ID that comes at an odd place is written at the even place
 * before, with the flag that the byte behind it is still of the source before.
 */
#include "frame_writer.h"

#include <assert.h>
#include <string.h>

void
frame_writer_init(struct frame_writer *w, uint8_t *out, size_t cap)
{
	memset(w, 0, sizeof(*w));
	w->out = out;
	w->cap = cap;
	w->id = 0xff;
}

void
frame_writer_raw(struct frame_writer *w, const uint8_t *bytes, size_t n)
{
	assert(n <= w->cap - w->n);
	memcpy(w->out + w->n, bytes, n);
	w->n += n;
}

static void
end_frame(struct frame_writer *w)
{
	static const uint8_t fsync[] = { 0xff, 0xff, 0xff, 0x7f };

	if (w->fsync_every != 0 && w->frames++ % w->fsync_every == 0)
		frame_writer_raw(w, fsync, sizeof(fsync));
	for (size_t i = 0; i < sizeof(w->frame); i += 2) {
		if (w->hsync_every != 0 &&
		    ++w->halfwords % w->hsync_every == 0)
			frame_writer_raw(w, fsync + 2, 2);
		frame_writer_raw(w, w->frame + i, 2);
	}
	memset(w->frame, 0, sizeof(w->frame));
	w->place = 0;
}

static void
put_data(struct frame_writer *w, uint8_t byte)
{
	const unsigned int place = w->place & 15;

	if (place % 2 == 0) {
		w->frame[place] = byte & 0xfe;
		w->frame[15] |= (uint8_t)((byte & 1) << place / 2);
	} else {
		w->frame[place] = byte;
	}
	if (++w->place == 15)
		end_frame(w);
}

/*
 * At an even place; for an odd one the data before it moves there.  Data comes
 * between two IDs, so what is moved is data.
 */
static void
put_id(struct frame_writer *w, uint8_t id)
{
	if (w->place % 2 != 0) {
		const unsigned int even = w->place - 1;
		const uint8_t before = (uint8_t)(w->frame[even] |
		    (w->frame[15] >> even / 2 & 1));

		w->frame[even] = (uint8_t)(id << 1 | 1);
		w->frame[15] |= (uint8_t)(1 << even / 2);
		w->frame[w->place++] = before;
	} else {
		w->frame[w->place] = (uint8_t)(id << 1 | 1);
		if (++w->place == 15)
			end_frame(w);
	}
	w->id = id;
}

void
frame_writer_put(struct frame_writer *w, uint8_t id, uint8_t byte)
{
	if (id != w->id)
		put_id(w, id);
	put_data(w, byte);
}

void
frame_writer_finish(struct frame_writer *w)
{
	if (w->place != 0)
		put_id(w, 0);
	while (w->place != 0)
		put_data(w, 0);
}
