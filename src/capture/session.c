/*
 * Contexts of hwt(4): making them, their nodes, starting and stopping them.
 */
#include "capture/session.h"

#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "capture/session_internal.h"

/* What a thread waits for that the kernel holds. */
#define HELD "hwt-mmap"

int
hwtdi_session_open(struct hwtdi_session *s,
    const struct hwtdi_config_options *options, uint32_t pid,
    const uint32_t *cpus, size_t n_cpus, struct hwtd_error *err)
{
	struct hwtdi_hwt_options o = {
		.backend = options->backend,
		.kernel = options->kernel,
		.mode = options->mode,
		.pid = (pid_t)pid,
		.cpus = cpus,
		.n_cpus = n_cpus,
		.machine_cpus = s->machine->n_cpus,
		.page_size = s->machine->page_size,
		.allow_large = (options->pt.flags &
				   HWTD_CAPTURE_PTF_ANY_BUFFER) != 0,
		.pt = s->machine->pt,
		.kq = -1,
	};

	s->options = *options;
	s->pid = pid;
	s->sink = HWTD_NO_ID;
	s->kq = -1;
	s->bufsize = hwtdi_config_bufsize(options, o.page_size);
	o.bufsize = s->bufsize;
	if (options->backend == HWTDI_BACKEND_SPE) {
		s->kq = s->sys->kqueue(s->sys->state);
		if (s->kq < 0)
			return (hwtdi_fail_sys(err, -s->kq,
			    "spe: cannot make a kqueue: %s",
			    strerror(-s->kq)));
		o.kq = s->kq;
		s->half_bytes = (size_t)(s->bufsize / 2);
	}
	return (hwtdi_hwt_alloc(s->library, s->sys, &o, &s->hwt, err));
}

void
hwtdi_session_done(struct hwtdi_session *s, struct hwtdi_node *node)
{
	node->done = true;
	hwtdi_look_fini(&node->ring);
	if (node->buffer != NULL)
		hwtdi_hwt_unmap_node(s->hwt, node->buffer);
	if (node->fd >= 0)
		hwtdi_hwt_close_node(s->hwt, node->fd);
	node->buffer = NULL;
	node->fd = -1;
}

void
hwtdi_session_close(struct hwtdi_session *s)
{
	for (size_t i = 0; i < s->n_nodes; i++)
		hwtdi_session_done(s, &s->nodes[i]);
	hwtdi_array_free(s->library, s->nodes, s->cap_nodes,
	    sizeof(*s->nodes));
	if (s->half != NULL)
		hwtdi_free(s->library, s->half, s->half_bytes);
	hwtdi_hwt_close(s->hwt);
	if (s->sys != NULL && s->options.backend == HWTDI_BACKEND_SPE &&
	    s->kq >= 0)
		(void)s->sys->close(s->sys->state, s->kq);
	memset(s, 0, sizeof(*s));
}

struct hwtdi_node *
hwtdi_session_node(struct hwtdi_session *s, uint32_t index)
{
	for (size_t i = 0; i < s->n_nodes; i++)
		if (s->nodes[i].index == index)
			return (&s->nodes[i]);
	return (NULL);
}

/* Whether hardware writes into the buffer of that node. */
static bool
has_bytes(const struct hwtdi_session *s, uint32_t index)
{
	if (s->options.backend != HWTDI_BACKEND_CORESIGHT)
		return (true);
	return (index ==
	    (s->options.mode == HWTDI_HWT_CPU ? s->hwt->first_cpu : 0));
}

static int
make_ring(struct hwtdi_session *s, struct hwtdi_node *node,
    struct hwtd_error *err)
{
	enum hwtdi_look_kind kind = HWTDI_LOOK_RESTARTS;

	if (s->options.backend == HWTDI_BACKEND_CORESIGHT)
		kind = HWTDI_LOOK_LIVE;
	else if (s->options.mode == HWTDI_HWT_CPU)
		kind = HWTDI_LOOK_ROUND;
	return (hwtdi_look_init(&node->ring, s->library, s->bufsize, kind,
	    err));
}

/* A node that cannot be had. */
static int
miss(struct hwtdi_session *s, struct hwtdi_node *node,
    const struct hwtd_error *why, struct hwtd_error *err)
{
	const struct hwtd_error told = *why;

	node->missed = true;
	hwtdi_session_done(s, node);
	if (told.code == HWTD_E_NOMEM)
		return (hwtdi_fail_pass(err, &told));
	hwtdi_log(s->library, HWTD_LOG_WARNING, "capture", "%s", told.message);
	return (hwtdi_capture_file_loss(s->file, HWTD_CAPTURE_LOST_THREADS,
	    HWTD_NO_ID, 1, err));
}

int
hwtdi_session_add(struct hwtdi_session *s, uint32_t index,
    struct hwtd_error *err)
{
	struct hwtd_error why = { .size = sizeof(why) };
	struct hwtdi_node *node;
	int rc;

	if (hwtdi_session_node(s, index) != NULL)
		return (HWTD_OK);
	rc = hwtdi_array_grow(s->library, &s->nodes, &s->cap_nodes,
	    s->n_nodes + 1, sizeof(*s->nodes), err);
	if (rc != HWTD_OK)
		return (rc);
	node = &s->nodes[s->n_nodes++];
	memset(node, 0, sizeof(*node));
	node->index = index;
	node->tid = HWTD_NO_ID;
	node->stream = HWTD_NO_ID;
	node->told = UINT64_MAX;
	node->fd = -1;
	/* All that a thread does that comes now is traced. */
	node->switches_known = s->hwt->started &&
	    s->options.mode == HWTDI_HWT_THREAD;
	rc = hwtdi_hwt_open_node(s->hwt, index, &node->fd, &why);
	if (rc == HWTD_OK && has_bytes(s, index)) {
		rc = hwtdi_hwt_map_node(s->hwt, node->fd, &node->buffer, &why);
		if (rc == HWTD_OK && s->options.backend != HWTDI_BACKEND_SPE)
			rc = make_ring(s, node, &why);
	}
	if (rc != HWTD_OK)
		return (miss(s, node, &why, err));
	return (HWTD_OK);
}

int
hwtdi_session_pause(struct hwtdi_session *s, bool pause,
    struct hwtd_error *err)
{
	return (hwtdi_hwt_set_config(s->hwt, pause, NULL, 0, 0, err));
}

/* Halves that an earlier context left in the queue of the device. */
static int
drop_stale(struct hwtdi_session *s, struct hwtd_error *err)
{
	struct hwtdi_hwt_position position;
	int rc = HWTD_OK;
	size_t n = 0;

	while (rc == HWTD_OK && n < HWTDI_SPE_STALE_MAX) {
		rc = hwtdi_hwt_position(s->hwt, s->hwt->fd, &position, err);
		n += rc == HWTD_OK;
	}
	if (n > 0)
		hwtdi_log(s->library, HWTD_LOG_INFO, "capture",
		    "spe: %zu buffers of an earlier capture were waiting", n);
	/* What comes now may be of this capture, or not. */
	if (rc == HWTD_OK)
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "spe: %zu buffers of another capture were waiting, and "
		    "there is no end of them; wait until it has ended",
		    n));
	return (rc == HWTD_AGAIN ? HWTD_OK : rc);
}

int
hwtdi_session_start(struct hwtdi_session *s,
    const struct hwtdi_filter_range *ranges, size_t n_ranges,
    struct hwtd_error *err)
{
	int rc;

	/* Which config it takes, a kernel of 5BSD tells by its records. */
	if (s->options.backend == HWTDI_BACKEND_PT && s->hwt->stride == 0)
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "the kernel has no record of context %d, and so does not "
		    "tell which config of pt it takes; try again",
		    s->hwt->ident));
	s->options.ranges = ranges;
	s->options.n_ranges = n_ranges;
	s->options.kernel = s->hwt->kernel;
	rc = hwtdi_config_make(&s->options, s->machine, &s->config, err);
	s->options.ranges = NULL;
	s->options.n_ranges = 0;
	if (rc == HWTD_OK)
		rc = hwtdi_hwt_set_config(s->hwt, false, &s->config.blob,
		    s->config.size, s->config.version, err);
	if (rc == HWTD_OK && s->options.backend == HWTDI_BACKEND_SPE) {
		s->half = hwtdi_alloc(s->library, s->half_bytes);
		if (s->half == NULL)
			rc = hwtdi_fail_nomem(err, s->half_bytes);
		else
			rc = drop_stale(s, err);
	}
	if (rc == HWTD_OK && s->options.backend == HWTDI_BACKEND_CORESIGHT)
		rc = hwtdi_session_sources(s, err);
	return (rc == HWTD_OK ? hwtdi_hwt_start(s->hwt, err) : rc);
}

/* Only its own node wakes a thread, also one whose buffer could not be had. */
static int
wake(struct hwtdi_session *s, const struct hwtdi_node *node,
    struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	int fd = node->fd, rc;

	if (fd < 0 &&
	    hwtdi_hwt_open_node(s->hwt, node->index, &fd, &inner) != HWTD_OK)
		return (HWTD_OK);
	rc = hwtdi_hwt_wakeup(s->hwt, fd, err);
	if (node->fd < 0)
		hwtdi_hwt_close_node(s->hwt, fd);
	return (rc);
}

int
hwtdi_session_wake(struct hwtdi_session *s,
    const struct hwtdi_thread_list *held, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; rc == HWTD_OK && i < s->n_nodes; i++) {
		const struct hwtdi_node *node = &s->nodes[i];
		const struct hwtdi_thread *thread = NULL;

		if (node->done && !node->missed)
			continue;
		if (held->known && node->tid != HWTD_NO_ID) {
			thread = hwtdi_thread_list_find(held, node->tid);
			if (thread == NULL || strcmp(thread->wmesg, HELD) != 0)
				continue;
		}
		rc = wake(s, node, err);
	}
	return (rc);
}

void
hwtdi_session_tids(struct hwtdi_session *s,
    const struct hwtdi_thread_table *table)
{
	for (size_t i = 0; i < s->n_nodes; i++)
		if (s->nodes[i].tid == HWTD_NO_ID)
			s->nodes[i].tid = hwtdi_thread_table_tid(table,
			    s->nodes[i].index);
}

void
hwtdi_session_wait(struct hwtdi_session *s, uint64_t ns)
{
	struct hwtdi_kevent events[4];
	int n;

	n = s->sys->kevent_wait(s->sys->state, s->kq, events, 4, ns);
	if (n < 0 && n != -EINTR)
		s->sys->sleep(s->sys->state, ns);
	for (int i = 0; i < n; i++)
		if (events[i].ident == HWTDI_HWT_SPE_EVENT_SHUTDOWN)
			s->shut_down = true;
}

int
hwtdi_session_stop(struct hwtdi_session *s, uint64_t time_ns,
    struct hwtd_error *err)
{
	if (s->hwt->state != HWTDI_HWT_RUNNING || !hwtdi_hwt_can_stop(s->hwt))
		return (HWTD_OK);
	if (s->options.backend == HWTDI_BACKEND_SPE)
		return (hwtdi_session_end_halves(s, time_ns, err));
	return (hwtdi_hwt_stop(s->hwt, err));
}

/* Nobody tells whether START did anything.  Kernels always run something. */
static int
see_nothing(struct hwtdi_session *s, struct hwtd_error *err)
{
	if (!hwtdi_config_traces_kernel(&s->options) ||
	    s->config.pt.filters[0].mode != 0)
		return (HWTD_OK);
	for (size_t i = 0; i < s->n_nodes; i++)
		if (s->nodes[i].written)
			return (HWTD_OK);
	hwtdi_log(s->library, HWTD_LOG_WARNING, "capture",
	    "pt: no CPU wrote anything; hwt(4) has one capture of CPUs at a "
	    "time, and perhaps another one runs");
	return (hwtdi_capture_file_loss(s->file, HWTD_CAPTURE_LOST_UNKNOWN,
	    HWTD_NO_ID, 1, err));
}

int
hwtdi_session_end(struct hwtdi_session *s, struct hwtd_error *err)
{
	if (!s->hwt->started)
		return (HWTD_OK);
	if (s->options.backend == HWTDI_BACKEND_PT &&
	    s->options.mode == HWTDI_HWT_CPU)
		return (see_nothing(s, err));
	if (s->options.backend != HWTDI_BACKEND_CORESIGHT)
		return (HWTD_OK);
	/* Threads that came last are in the bytes too. */
	return (hwtdi_session_sources(s, err));
}
