/*
 * Captures as their users see them: a process that is started, waited for and
 * stopped.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/library.h"
#include "capture/hwt_calls_internal.h"
#include "capture/keeper.h"

/* How often is looked whether the process is there still. */
#define LOOK_MS 1000

struct hwtd_capture {
	struct hwtd_context *library;
	const struct hwtdi_system *sys;
	/* Who started it: a copy in a child of that is of no use. */
	pid_t owner;
	/* 0: gone, with this status. */
	pid_t pid;
	int ended;
	int fd;
	struct hwtdi_keeper_board *board;
	struct hwtd_capture_status status;
	/* It said its last word. */
	bool over;
	int code;
	struct hwtd_error error;
};

/* The process ends: take its status, so that it is no zombie. */
static void
reap(struct hwtd_capture *c)
{
	while (c->pid > 0 && waitpid(c->pid, &c->ended, 0) < 0 &&
	    errno == EINTR)
		;
	c->pid = 0;
}

/* The same of one that need not have ended.  Somebody else may have reaped it. */
static bool
is_gone(struct hwtd_capture *c)
{
	if (c->pid > 0) {
		const pid_t rc = waitpid(c->pid, &c->ended, WNOHANG);

		if (rc > 0 || (rc < 0 && errno == ECHILD))
			c->pid = 0;
	}
	return (c->pid == 0);
}

/* It went without a word. */
static void
lose(struct hwtd_capture *c)
{
	uint32_t stopped;

	reap(c);
	/* What it had stopped would stay so. */
	stopped = atomic_exchange(&c->board->stopped, 0);
	if (stopped != 0)
		(void)c->sys->kill(c->sys->state, (pid_t)stopped, SIGCONT);
	hwtdi_keeper_board_read(c->board, &c->status);
	c->over = true;
	c->error.size = sizeof(c->error);
	if (WIFSIGNALED(c->ended))
		c->code = hwtdi_fail(&c->error, HWTD_E_ENGINE,
		    "the capture process was ended by signal %d; what it had "
		    "saved is readable",
		    WTERMSIG(c->ended));
	else
		c->code = hwtdi_fail(&c->error, HWTD_E_ENGINE,
		    "the capture process ended without a word; what it had "
		    "saved is readable");
}

/*
 * Take the next message, if one comes in time, and look whether the process is
 * there still: a process that another thread forked may have its end of the socket
 * open.  HWTD_AGAIN: a signal came.
 */
static int
hear(struct hwtd_capture *c, int ms, uint32_t *kind_out)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	struct hwtdi_keeper_message m;
	int reset = 0;
	ssize_t n;

	n = poll(&p, 1, ms);
	if (n < 0)
		return (HWTD_AGAIN);
	if (n == 0 && !is_gone(c))
		return (HWTD_OK);
	/*
	 * What it was told after it ended is told first, as an error; its last
	 * word is there all the same.
	 */
	do
		n = recv(c->fd, &m, sizeof(m), MSG_DONTWAIT);
	while (n < 0 && errno == ECONNRESET && !reset++);
	if (n < 0 && (errno == EAGAIN || errno == EINTR) && c->pid > 0)
		return (HWTD_OK);
	if (n != (ssize_t)sizeof(m)) {
		lose(c);
		return (HWTD_OK);
	}
	c->status = m.status;
	*kind_out = m.kind;
	c->code = m.code;
	c->error = m.error;
	/* The kernel gives back what the process had when it is gone. */
	if (m.kind == HWTDI_KEEPER_ENDED || m.code != HWTD_OK) {
		c->over = true;
		reap(c);
	}
	return (HWTD_OK);
}

int
hwtdi_capture_start(struct hwtd_context *library,
    const struct hwtdi_system *sys, const struct hwtd_capture_options *options,
    struct hwtd_capture **capture_out, struct hwtd_error *err)
{
	struct hwtd_capture *c;
	uint32_t kind = 0;
	int rc, fd;

	if (library == NULL || options == NULL || capture_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL"));
	/* Where there is nothing to record with, no process is made. */
	fd = sys->open(sys->state, HWTDI_HWT_DEVICE);
	if (fd < 0)
		return (hwtdi_hwt_fail_device(err, -fd));
	(void)sys->close(sys->state, fd);
	c = hwtdi_zalloc(library, sizeof(*c));
	if (c == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*c)));
	c->board = hwtdi_keeper_board_create();
	rc = c->board == NULL ? hwtdi_fail_nomem(err, sizeof(*c->board))
			      : hwtdi_keeper_start(library, sys, options,
				    c->board, &c->pid, &c->fd, err);
	if (rc != HWTD_OK) {
		hwtdi_keeper_board_destroy(c->board);
		hwtdi_free(library, c, sizeof(*c));
		return (rc);
	}
	c->library = hwtdi_context_hold(library);
	c->owner = getpid();
	c->sys = sys;
	while (!c->over && kind != HWTDI_KEEPER_STARTED)
		(void)hear(c, LOOK_MS, &kind);
	rc = c->code;
	if (rc != HWTD_OK) {
		(void)hwtdi_fail_pass(err, &c->error);
		hwtd_capture_close(c);
		return (rc);
	}
	*capture_out = c;
	return (HWTD_OK);
}

int
hwtd_capture_start(struct hwtd_context *ctx,
    const struct hwtd_capture_options *opts, struct hwtd_capture **capture_out,
    struct hwtd_error *err)
{
	return (hwtdi_capture_start(ctx, hwtdi_system_host(), opts,
	    capture_out, err));
}

static uint64_t
now_ns(void)
{
	struct timespec ts = { 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec);
}

int
hwtd_capture_wait(struct hwtd_capture *c, uint64_t ns,
    struct hwtd_capture_status *status_out, struct hwtd_error *err)
{
	const uint64_t start = now_ns();
	uint64_t spent = 0;
	uint32_t kind;
	int rc = HWTD_OK;

	if (c == NULL ||
	    (status_out != NULL &&
		status_out->size < sizeof(status_out->size)))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no capture, or a status without its size"));
	/* Words that it took would be missed by whom they are for. */
	if (c->owner != getpid())
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "the capture is process %ld's; wait for it there",
		    (long)c->owner));
	while (!c->over && rc == HWTD_OK) {
		const uint64_t left = ns > spent ? ns - spent : 0;
		const uint64_t ms = left / 1000000 + (left % 1000000 != 0);

		rc = hear(c, ms > LOOK_MS ? LOOK_MS : (int)ms, &kind);
		spent = now_ns() - start;
		if (spent >= ns)
			break;
	}
	if (!c->over)
		hwtdi_keeper_board_read(c->board, &c->status);
	if (status_out != NULL)
		(void)hwtdi_result_copy(status_out, &c->status,
		    sizeof(c->status));
	if (!c->over)
		return (HWTD_AGAIN);
	return (c->code == HWTD_OK ? HWTD_OK
				   : hwtdi_fail_pass(err, &c->error));
}

void
hwtd_capture_stop(struct hwtd_capture *c)
{
	const int e = errno;

	if (c != NULL && c->owner == getpid())
		(void)send(c->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	errno = e;
}

void
hwtd_capture_close(struct hwtd_capture *c)
{
	struct hwtd_context *library;
	uint32_t kind;

	if (c == NULL)
		return;
	library = c->library;
	hwtd_capture_stop(c);
	while (!c->over && c->owner == getpid())
		(void)hear(c, LOOK_MS, &kind);
	(void)close(c->fd);
	hwtdi_keeper_board_destroy(c->board);
	hwtdi_free(library, c, sizeof(*c));
	hwtd_context_destroy(library);
}
