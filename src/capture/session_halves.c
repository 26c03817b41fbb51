/*
 * Taking bytes of Arm SPE, which hands out halves of buffers through a queue.
 */
#include <string.h>

#include "base/fail.h"
#include "capture/session_internal.h"

/* Of a half that waits: its node. */
static struct hwtdi_node *
node_of(struct hwtdi_session *s, const struct hwtdi_hwt_position *p)
{
	return (p->ident < 0 ? NULL
			     : hwtdi_session_node(s, (uint32_t)p->ident));
}

static bool
is_final(const struct hwtdi_half *half)
{
	return ((half->at.data & HWTDI_HWT_SPE_FINAL) != 0);
}

static unsigned int
bit_of(const struct hwtdi_half *half)
{
	return (1u << (half->at.data & HWTDI_HWT_SPE_HALF));
}

/* Where both halves of a buffer wait sampling stands still. */
static void
see_stall(struct hwtdi_session *s, struct hwtdi_half *half)
{
	struct hwtdi_node *node = node_of(s, &half->at);

	if (node == NULL || is_final(half))
		return;
	node->waiting |= bit_of(half);
	half->stalled = node->waiting == 3;
	/* It may have been full before the other one was given back. */
	half->maybe = !half->stalled && node->served;
}

int
hwtdi_session_pop(struct hwtdi_session *s, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	while (s->n_halves < HWTDI_HALVES) {
		struct hwtdi_half *half = &s->halves[s->n_halves];

		memset(half, 0, sizeof(*half));
		rc = hwtdi_hwt_position(s->hwt, s->hwt->fd, &half->at, err);
		if (rc != HWTD_OK)
			break;
		see_stall(s, half);
		s->n_halves++;
	}
	for (size_t i = 0; i < s->n_nodes; i++)
		s->nodes[i].served = false;
	return (rc == HWTD_AGAIN ? HWTD_OK : rc);
}

/* Losses of a half; *broken_out: what comes behind it does not adjoin it. */
static int
tell_losses(struct hwtdi_session *s, struct hwtdi_node *node,
    const struct hwtdi_half *half, struct hwtd_error *err)
{
	const bool partial = (half->at.data & HWTDI_HWT_SPE_PARTIAL) != 0;
	int rc = HWTD_OK;

	if (half->at.offset > s->half_bytes)
		rc = hwtdi_capture_file_loss(s->file, HWTD_CAPTURE_DOUBTED,
		    node->stream, 1, err);
	if (rc == HWTD_OK && half->stalled)
		rc = hwtdi_capture_file_loss(s->file, HWTD_CAPTURE_LOST_STALLS,
		    node->stream, 1, err);
	if (rc == HWTD_OK && half->maybe)
		rc = hwtdi_capture_file_loss(s->file,
		    HWTD_CAPTURE_LOST_UNKNOWN, node->stream, 1, err);
	/* The kernel never takes the flag back: only the first one tells. */
	if (rc == HWTD_OK && partial && !node->partial)
		rc = hwtdi_capture_file_loss(s->file,
		    HWTD_CAPTURE_LOST_SAMPLES, node->stream, 1, err);
	node->partial = node->partial || partial;
	return (rc);
}

static int
write_half(struct hwtdi_session *s, struct hwtdi_node *node,
    const struct hwtdi_half *half, uint64_t time_ns, struct hwtd_error *err)
{
	const bool cpus = s->options.mode == HWTDI_HWT_CPU;
	const size_t which = (size_t)(half->at.data & HWTDI_HWT_SPE_HALF);
	const size_t n = half->at.offset < s->half_bytes
	    ? (size_t)half->at.offset
	    : s->half_bytes;
	int rc;

	node->ended = node->ended || is_final(half);
	/* That it cannot be read was told. */
	if (node->buffer == NULL)
		return (HWTD_OK);
	rc = hwtdi_session_stream(s, node, err);
	if (rc == HWTD_OK && n > 0) {
		hwtdi_look_copy(s->half,
		    (const uint8_t *)node->buffer + which * s->half_bytes,
		    s->half_bytes);
		rc = hwtdi_capture_file_bytes(s->file, node->stream, s->half,
		    n, false,
		    node->skipped ? HWTD_EXTENT_AFTER_LOSS : HWTD_EXTENT_NEW,
		    err);
		node->skipped = false;
	}
	node->skipped = node->skipped || half->stalled || half->maybe;
	if (rc == HWTD_OK)
		rc = tell_losses(s, node, half, err);
	/* CPUs have no records but those of the kernel, which come first. */
	if (rc == HWTD_OK)
		rc = hwtdi_session_mark(s, node->stream, n, time_ns, cpus,
		    (half->at.data & HWTDI_HWT_SPE_PARTIAL) != 0
			? HWTD_BUFFERF_PARTIAL
			: 0,
		    err);
	return (rc);
}

static int
serve(struct hwtdi_session *s, struct hwtdi_node *node, uint32_t which,
    struct hwtd_error *err)
{
	const uint32_t bit = 1u << which;
	int rc;

	/* Numbers of threads that are none of CPUs cannot be served. */
	if (s->hwt->state != HWTDI_HWT_RUNNING ||
	    node->index >= s->machine->n_cpus)
		return (HWTD_OK);
	rc = hwtdi_hwt_serve(s->hwt, node->index, which, err);
	/* It was stopped meanwhile, by the kernel; or there is no such CPU. */
	if (rc == HWTD_E_STATE) {
		node->refused |= bit;
		return (HWTD_OK);
	}
	node->refused &= ~bit;
	node->waiting &= ~bit;
	node->served = true;
	return (rc);
}

/* What the kernel did not take back before. */
static int
serve_again(struct hwtdi_session *s, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; i < s->n_nodes && !s->shut_down; i++)
		for (uint32_t which = 0; rc == HWTD_OK && which < 2; which++)
			if ((s->nodes[i].refused & 1u << which) != 0)
				rc = serve(s, &s->nodes[i], which, err);
	return (rc);
}

/* The node of a half; a thread of which the record did not come yet gets one. */
static int
find_node(struct hwtdi_session *s, const struct hwtdi_half *half,
    struct hwtdi_node **out, struct hwtd_error *err)
{
	int rc;

	*out = node_of(s, &half->at);
	if (*out != NULL)
		return (HWTD_OK);
	if (s->options.mode == HWTDI_HWT_THREAD && half->at.ident >= 0 &&
	    (uint32_t)half->at.ident < HWTDI_THREADS_MAX) {
		rc = hwtdi_session_add(s, (uint32_t)half->at.ident, err);
		*out = node_of(s, &half->at);
		return (rc);
	}
	return (hwtdi_capture_file_loss(s->file, HWTD_CAPTURE_LOST_UNKNOWN,
	    HWTD_NO_ID, 1, err));
}

int
hwtdi_session_drain(struct hwtdi_session *s, uint64_t time_ns,
    struct hwtd_error *err)
{
	const bool last = s->hwt->state != HWTDI_HWT_RUNNING;
	const uint64_t most = last ? HWTDI_SPE_LAST_NS : HWTDI_SPE_DRAIN_NS;
	const uint64_t begun = s->sys->now(s->sys->state);
	struct hwtdi_node *node;
	int rc;

	if (s->options.backend != HWTDI_BACKEND_SPE || !s->hwt->started)
		return (HWTD_OK);
	rc = hwtdi_session_pop(s, err);
	if (rc == HWTD_OK)
		rc = serve_again(s, err);
	while (rc == HWTD_OK && s->n_halves > 0 &&
	    s->sys->now(s->sys->state) - begun <= most) {
		const struct hwtdi_half half = s->halves[0];

		s->n_halves--;
		memmove(s->halves, s->halves + 1,
		    s->n_halves * sizeof(s->halves[0]));
		rc = find_node(s, &half, &node, err);
		if (rc != HWTD_OK || node == NULL)
			continue;
		rc = write_half(s, node, &half, time_ns, err);
		/* What came meanwhile says whether there was room. */
		if (rc == HWTD_OK)
			rc = hwtdi_session_pop(s, err);
		if (rc == HWTD_OK)
			rc = is_final(&half) ? HWTD_OK
					     : serve(s, node,
						   (uint32_t)(half.at.data &
						       HWTDI_HWT_SPE_HALF),
						   err);
		if (rc == HWTD_OK)
			rc = hwtdi_session_pop(s, err);
	}
	return (rc);
}

/* All halves were taken: of whom no last one came, something is missing. */
static int
see_missing(struct hwtdi_session *s, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	/* Of these there is no end. */
	if (s->n_halves > 0)
		rc = hwtdi_capture_file_loss(s->file,
		    HWTD_CAPTURE_LOST_UNKNOWN, HWTD_NO_ID, 1, err);
	s->n_halves = 0;
	for (size_t i = 0; rc == HWTD_OK && i < s->n_nodes; i++)
		if (!s->nodes[i].ended && s->nodes[i].buffer != NULL)
			rc = hwtdi_capture_file_loss(s->file,
			    HWTD_CAPTURE_LOST_UNKNOWN, s->nodes[i].stream, 1,
			    err);
	return (rc);
}

int
hwtdi_session_end_halves(struct hwtdi_session *s, uint64_t time_ns,
    struct hwtd_error *err)
{
	const bool gave_up = s->shut_down;
	struct hwtd_error inner = { .size = sizeof(inner) };
	int rc, stopped;

	rc = hwtdi_session_drain(s, time_ns, err);
	stopped = hwtdi_hwt_stop(s->hwt, &inner);
	for (uint64_t ns = 0;
	     stopped == HWTD_OK && !s->shut_down && ns < HWTDI_SPE_STOP_NS;
	     ns += HWTDI_SPE_STOP_STEP_NS)
		hwtdi_session_wait(s, HWTDI_SPE_STOP_STEP_NS);
	if (rc == HWTD_OK)
		rc = hwtdi_session_drain(s, time_ns, err);
	if (rc == HWTD_OK)
		rc = see_missing(s, err);
	if (rc != HWTD_OK)
		return (rc);
	if (gave_up)
		return (hwtdi_fail(err, HWTD_E_IO,
		    "spe: the kernel ended sampling, as it does after an "
		    "error "
		    "of the hardware; the last samples are lost, see "
		    "dmesg(8)"));
	return (stopped == HWTD_OK ? HWTD_OK : hwtdi_fail_pass(err, &inner));
}
