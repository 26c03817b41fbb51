/*
 * Taking bytes of rings: looks into them.
 */
#include <string.h>

#include "base/fail.h"
#include "capture/session_internal.h"

#define FRAME_BYTES 16u
#define PAGE 4096u
/* A thread that is not in so many lists is no more: one may be short. */
#define GONE_LISTS 3u
/* A position that is not told is asked for again. */
#define ASK_TRIES 3
/* Copies until no interrupt comes during one. */
#define STEADY_TRIES 8

/* Of a ring: where it stands, as told; UINT64_MAX: nobody says. */
static uint64_t
ask_position(struct hwtdi_session *s, const struct hwtdi_node *node)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtdi_hwt_position p;

	/* Also what is outside of the buffer: where it was lost, more is known. */
	for (int i = 0; i < ASK_TRIES; i++)
		if (hwtdi_hwt_position(s->hwt, node->fd, &p, &inner) ==
		    HWTD_OK)
			return ((uint64_t)(uint32_t)p.ident *
				s->hwt->page_size +
			    p.offset);
	return (UINT64_MAX);
}

/* Something may have been written since the last look. */
static bool
is_due(const struct hwtdi_node *node, uint64_t told)
{
	if (told != node->told || node->n_records > 0 || node->open)
		return (true);
	if (node->ring.kind != HWTDI_LOOK_RESTARTS)
		return (false);
	if (node->before_known && node->switches_known)
		return (node->before.switches != node->switches);
	/* A slice that ends where the one before it did. */
	return (memcmp(node->ring.now, node->buffer, PAGE) != 0);
}

/* What is known of the thread of a node before its ring is copied. */
static void
read_ring(struct hwtdi_node *node, bool all)
{
	const struct hwtdi_thread *thread = &node->before;
	const struct hwtdi_look_hints hints = {
		.state = thread->running ? HWTDI_LOOK_ON : HWTDI_LOOK_OFF,
		.switches_known = node->switches_known,
		.switches = thread->switches - node->switches,
	};

	/* One that is not listed may be gone, and this be its last look. */
	if (all ||
	    (node->ring.kind == HWTDI_LOOK_RESTARTS && !node->before_known))
		hwtdi_look_read_all(&node->ring, node->buffer,
		    node->look_told.before);
	else
		hwtdi_look_read(&node->ring, node->buffer,
		    node->look_told.before,
		    node->before_known ? &hints : NULL);
}

/*
 * A CPU that START left out, because it slept or because another context has all of
 * them, has no position, and a kernel that is asked for it panics.  The buffer is
 * empty then, while all that is written begins with a PSB at its start.
 */
static bool
has_position(const struct hwtdi_session *s, struct hwtdi_node *node)
{
	uint64_t first = 0;

	if (s->options.backend != HWTDI_BACKEND_PT ||
	    s->options.mode != HWTDI_HWT_CPU)
		return (true);
	if (!node->written) {
		hwtdi_look_copy(&first, node->buffer, sizeof(first));
		node->written = first != 0;
	}
	return (node->written);
}

void
hwtdi_session_look(struct hwtdi_session *s,
    const struct hwtdi_thread_list *before, bool all, bool again)
{
	/* Records that come behind this tell of the threads of these. */
	if (s->options.backend == HWTDI_BACKEND_SPE && s->hwt->started)
		(void)hwtdi_session_pop(s, NULL);
	for (size_t i = 0; i < s->n_nodes; i++) {
		struct hwtdi_node *node = &s->nodes[i];
		const struct hwtdi_thread *thread;

		if (again && !node->moved)
			continue;
		node->looking = false;
		/* What was stopped has its last bytes still. */
		if (node->done || node->ring.size == 0 || !s->hwt->started ||
		    !has_position(s, node))
			continue;
		thread = hwtdi_thread_list_find(before, node->tid);
		node->before_known = thread != NULL;
		if (thread != NULL || before->n == 0 ||
		    node->tid == HWTD_NO_ID)
			node->absent = 0;
		else
			node->absent++;
		if (thread != NULL)
			node->before = *thread;
		node->look_told.before = ask_position(s, node);
		if (!all && !again && node->absent < GONE_LISTS &&
		    !is_due(node, node->look_told.before))
			continue;
		/* What was copied before is of another time. */
		read_ring(node, all || again);
		node->look_told.after = ask_position(s, node);
		node->looking = true;
		node->settled = node->moved = false;
	}
}

/* A thread that is in both lists was switched in or out meanwhile. */
static bool
was_switched(const struct hwtdi_node *node, const struct hwtdi_thread *now)
{
	/* One counts as off its CPU a moment before its position is told. */
	return (node->before_known && now != NULL &&
	    (now->switches != node->before.switches ||
		now->running != node->before.running ||
		(!now->running &&
		    node->look_told.before != node->look_told.after)));
}

bool
hwtdi_session_steady(struct hwtdi_session *s,
    const struct hwtdi_thread_list *after)
{
	bool steady = true;

	for (size_t i = 0; i < s->n_nodes; i++) {
		struct hwtdi_node *node = &s->nodes[i];
		const struct hwtdi_thread *thread;

		/* Of one that was steady what came later says nothing. */
		if (!node->looking || node->settled)
			continue;
		thread = hwtdi_thread_list_find(after, node->tid);
		node->after_known = thread != NULL;
		if (thread != NULL)
			node->after = *thread;
		node->moved = was_switched(node, thread);
		node->settled = !node->moved;
		steady = steady && !node->moved;
	}
	return (steady);
}

static void
fill_hints(const struct hwtdi_session *s, struct hwtdi_node *node,
    struct hwtdi_look_hints *hints)
{
	const struct hwtdi_thread *now = node->after_known ? &node->after
							   : NULL;
	const bool steady = now != NULL && node->before_known &&
	    !was_switched(node, now);

	memset(hints, 0, sizeof(*hints));
	/* CPUs that were stopped write no more. */
	if (s->options.mode == HWTDI_HWT_CPU &&
	    s->hwt->state == HWTDI_HWT_STOPPED)
		hints->state = HWTDI_LOOK_OFF;
	hints->records = node->records;
	hints->n_records = node->n_records;
	if (steady) {
		hints->state = now->running ? HWTDI_LOOK_ON : HWTDI_LOOK_OFF;
		hints->switches_known = node->switches_known;
		hints->switches = now->switches - node->switches;
		node->switches = now->switches;
	}
	node->switches_known = steady;
}

/*
 * What is written of a piece: bytes of a sink begin with a frame, also behind a loss.
 * What is left over of several slices, whose seams nobody knows, would tell of what
 * never ran: none of it is.
 */
static struct hwtdi_look_piece
cut_piece(const struct hwtdi_session *s, struct hwtdi_node *node,
    const struct hwtdi_look_piece *from)
{
	const size_t frame = (size_t)(-from->at % FRAME_BYTES);
	struct hwtdi_look_piece piece = *from;
	size_t cut = 0;

	if (node->skipped) {
		piece.joins = false;
		piece.why = HWTD_EXTENT_AFTER_LOSS;
	}
	/* Where no page was ever told, behind a position may be the same slice. */
	if (piece.mixed || (piece.older && !node->ring.pages))
		cut = piece.n;
	else if (s->options.backend == HWTDI_BACKEND_CORESIGHT && !piece.joins)
		cut = frame < piece.n ? frame : piece.n;
	piece.bytes += cut;
	piece.n -= cut;
	node->skipped = piece.n == 0;
	return (piece);
}

static int
write_pieces(struct hwtdi_session *s, struct hwtdi_node *node,
    const struct hwtdi_look *look, uint64_t time_ns, bool exact,
    struct hwtd_error *err)
{
	uint64_t n = 0, left_out = 0;
	uint32_t stream;
	int rc = HWTD_OK;

	if (look->n_pieces == 0)
		return (HWTD_OK);
	if (s->options.backend != HWTDI_BACKEND_CORESIGHT)
		rc = hwtdi_session_stream(s, node, err);
	if (rc != HWTD_OK)
		return (rc);
	stream = s->options.backend == HWTDI_BACKEND_CORESIGHT ? s->sink
							       : node->stream;
	for (size_t i = 0; rc == HWTD_OK && i < look->n_pieces; i++) {
		const struct hwtdi_look_piece piece = cut_piece(s, node,
		    &look->pieces[i]);

		if (piece.n > 0)
			rc = hwtdi_capture_file_bytes(s->file, stream,
			    piece.bytes, piece.n, piece.joins, piece.why, err);
		n += piece.n;
		left_out += look->pieces[i].n - piece.n;
	}
	if (rc == HWTD_OK && left_out > 0)
		rc = hwtdi_capture_file_loss(s->file, HWTD_CAPTURE_LOST_BYTES,
		    stream, left_out, err);
	if (rc == HWTD_OK && n > 0)
		rc = hwtdi_session_mark(s, stream, n, time_ns, exact, 0, err);
	return (rc);
}

/* Losses are counted once for each look and kind. */
static int
tell_losses(struct hwtdi_session *s, struct hwtdi_node *node,
    const struct hwtdi_look *look, struct hwtd_error *err)
{
	const uint32_t stream = s->options.backend == HWTDI_BACKEND_CORESIGHT
	    ? s->sink
	    : node->stream;
	int rc = HWTD_OK;

	if (look->lost && look->lost_bytes > 0)
		rc = hwtdi_capture_file_loss(s->file, HWTD_CAPTURE_LOST_BYTES,
		    stream, look->lost_bytes, err);
	if (rc == HWTD_OK && look->missed > 0)
		rc = hwtdi_capture_file_loss(s->file, HWTD_CAPTURE_LOST_SLICES,
		    stream, look->missed, err);
	/* Bytes that are held back are told of when they are not any more. */
	if (look->held_bytes > 0)
		node->doubt = node->doubt || !look->missed_known;
	if (rc == HWTD_OK &&
	    ((look->lost && look->lost_bytes == 0) ||
		(!look->missed_known && look->n_pieces > 0 &&
		    (look->restarted || look->alike)) ||
		(node->doubt && look->held_bytes == 0) ||
		look->position_unknown))
		rc = hwtdi_capture_file_loss(s->file,
		    HWTD_CAPTURE_LOST_UNKNOWN, stream, 1, err);
	node->doubt = node->doubt && look->held_bytes > 0;
	if (rc == HWTD_OK && look->position_doubted)
		rc = hwtdi_capture_file_loss(s->file, HWTD_CAPTURE_DOUBTED,
		    stream, 1, err);
	return (rc);
}

/*
 * The thread of a node is no more, and so writes no more.  Of a process without
 * threads the end tells more.
 */
static bool
is_gone(const struct hwtdi_session *s, const struct hwtdi_node *node,
    const struct hwtdi_thread_list *after)
{
	return (s->options.mode == HWTDI_HWT_THREAD &&
	    s->options.backend == HWTDI_BACKEND_PT && after->n > 0 &&
	    node->absent >= GONE_LISTS &&
	    hwtdi_thread_list_find(after, node->tid) == NULL);
}

/* Hardware writes into this buffer also while the last look is made. */
static bool
goes_on(const struct hwtdi_session *s, const struct hwtdi_node *node,
    const struct hwtdi_thread_list *after)
{
	const struct hwtdi_thread *thread;

	if (s->hwt->state != HWTDI_HWT_RUNNING)
		return (false);
	if (node->ring.kind == HWTDI_LOOK_LIVE ||
	    s->options.mode == HWTDI_HWT_CPU)
		return (true);
	/* A program that could not be stopped. */
	thread = hwtdi_thread_list_find(after, node->tid);
	return (thread != NULL &&
	    (thread->running || was_switched(node, thread)));
}

/* What a look came to goes into the file. */
static int
save(struct hwtdi_session *s, struct hwtdi_node *node,
    const struct hwtdi_look *look, uint64_t time_ns, bool exact,
    struct hwtd_error *err)
{
	int rc;

	node->told = node->look_told.after;
	node->n_records = 0;
	node->open = look->held_bytes > 0;
	rc = write_pieces(s, node, look, time_ns, exact, err);
	return (rc == HWTD_OK ? tell_losses(s, node, look, err) : rc);
}

static void
read_again(struct hwtdi_session *s, struct hwtdi_node *node)
{
	node->look_told.before = ask_position(s, node);
	hwtdi_look_read_all(&node->ring, node->buffer, node->look_told.before);
	node->look_told.after = ask_position(s, node);
}

/*
 * The last look at a ring that is written all the time: up to the position as
 * ever, then what lies behind it.
 */
static int
take_running(struct hwtdi_session *s, struct hwtdi_node *node,
    struct hwtdi_look_hints *hints, uint64_t time_ns, struct hwtd_error *err)
{
	const struct hwtdi_look_told *told = &node->look_told;
	const uint64_t size = node->ring.size;
	struct hwtdi_look look;
	int rc;

	hwtdi_look_find(&node->ring, told, hints, &look);
	if (told->before > size || node->ring.kind == HWTDI_LOOK_RESTARTS)
		look.lost = true;
	rc = save(s, node, &look, time_ns, false, err);
	if (node->ring.kind != HWTDI_LOOK_ROUND)
		return (rc);
	hints->n_records = 0;
	for (int i = 0; rc == HWTD_OK && i < STEADY_TRIES; i++) {
		const uint64_t before = told->after;

		read_again(s, node);
		if (told->before == before && told->after == before)
			break;
		hwtdi_look_find(&node->ring, told, hints, &look);
		rc = save(s, node, &look, time_ns, false, err);
		read_again(s, node);
	}
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_look_last(&node->ring, told->before, hints, &look);
	/* An interrupt came: the tail may be another one by now. */
	if (told->before != told->after)
		look.lost = true;
	return (save(s, node, &look, time_ns, false, err));
}

/*
 * What a slice wrote behind the last look: else another one, which began since,
 * may have been over it.
 */
static bool
has_tail(const struct hwtdi_look *look)
{
	for (size_t i = 0; i < look->n_pieces; i++)
		if (look->pieces[i].older && look->pieces[i].joins)
			return (true);
	return (false);
}

static int
take(struct hwtdi_session *s, struct hwtdi_node *node,
    const struct hwtdi_thread_list *after, uint64_t time_ns, bool exact,
    bool last, struct hwtd_error *err)
{
	const uint32_t was = node->ring.state;
	/* 0 if the ring was full. */
	const uint64_t at = node->ring.position;
	struct hwtdi_look_hints hints;
	struct hwtdi_look look;
	int rc;

	fill_hints(s, node, &hints);
	/* A thread that came back is told by its number of switches. */
	last = last || is_gone(s, node, after);
	if (last && goes_on(s, node, after)) {
		rc = take_running(s, node, &hints, time_ns, err);
		hwtdi_session_done(s, node);
		return (rc);
	}
	if (last)
		hwtdi_look_last(&node->ring, node->look_told.after, &hints,
		    &look);
	else
		hwtdi_look_find(&node->ring, &node->look_told, &hints, &look);
	if (was != HWTDI_LOOK_OFF && look.restarted &&
	    (at > 0 || look.position > 0) &&
	    (look.position > at % node->ring.size ||
		hints.state != HWTDI_LOOK_OFF) &&
	    !has_tail(&look))
		look.lost = true;
	/* Where bytes may have been written that are not in the look, none is. */
	exact = exact && (last || hints.state == HWTDI_LOOK_OFF) &&
	    look.held_bytes == 0 && !look.position_unknown;
	rc = save(s, node, &look, time_ns, exact, err);
	if (last)
		hwtdi_session_done(s, node);
	return (rc);
}

int
hwtdi_session_take(struct hwtdi_session *s,
    const struct hwtdi_thread_list *after, uint64_t time_ns, bool exact,
    bool last, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (s->options.backend == HWTDI_BACKEND_CORESIGHT &&
	    s->hwt->state == HWTDI_HWT_RUNNING)
		rc = hwtdi_session_sources(s, err);
	for (size_t i = 0; rc == HWTD_OK && i < s->n_nodes; i++)
		if (s->nodes[i].looking)
			rc = take(s, &s->nodes[i], after, time_ns, exact, last,
			    err);
	return (rc);
}
