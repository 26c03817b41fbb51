/*
 * The process of a capture.
 */
#include "capture/keeper.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fail.h"
#include "capture/capture_archive.h"
#include "capture/engine.h"

static void
send_message(int fd, uint32_t kind, int code,
    const struct hwtdi_engine *engine, const struct hwtd_error *error)
{
	struct hwtdi_keeper_message m = { .kind = kind, .code = code };

	m.status = engine->status;
	m.error = *error;
	while (send(fd, &m, sizeof(m), MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

/*
 * It was told to stop, or nobody is there who could: another child of the parent may
 * have its end of the socket open.
 */
static bool
is_told(int fd, pid_t parent)
{
	char byte;
	const ssize_t n = recv(fd, &byte, sizeof(byte), MSG_DONTWAIT);

	return (n >= 0 || (errno != EAGAIN && errno != EINTR) ||
	    getppid() != parent);
}

static void
handle(int number, void (*how)(int))
{
	struct sigaction action = { .sa_handler = how };

	(void)sigemptyset(&action.sa_mask);
	(void)sigaction(number, &action, NULL);
}

/*
 * Keys of a terminal interrupt all processes at once, and so does the end of the
 * system.  This one goes on until its parent says what to do or is gone: the file
 * is to be complete.
 */
static void
ignore_signals(void)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGHUP, SIGTERM,
		SIGPIPE };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		handle(signals[i], SIG_IGN);
}

/* Nothing: the write that it is for fails, and says why. */
static void
on_full_file(int number)
{
	(void)number;
}

/*
 * Files may not be larger than a limit.  It is no reason to end in the middle of one,
 * and a handler, unlike SIG_IGN, is not the program's as well.
 */
static void
outlive_limits(void)
{
	struct sigaction now;

	if (sigaction(SIGXFSZ, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
		handle(SIGXFSZ, on_full_file);
}

static void
run(int fd, pid_t parent, struct hwtdi_engine *e,
    struct hwtdi_keeper_board *board, struct hwtd_error *err)
{
	struct hwtd_error last = { .size = sizeof(last) };
	bool ended = false;
	int rc = HWTD_OK, end;

	e->stopped = &board->stopped;
	while (rc == HWTD_OK && !ended) {
		rc = hwtdi_engine_step(e, &ended, err);
		hwtdi_keeper_board_write(board, &e->status);
		if (rc != HWTD_OK || ended || is_told(fd, parent))
			break;
		hwtdi_engine_pause(e);
	}
	end = hwtdi_engine_end(e, rc == HWTD_OK ? err : &last);
	rc = rc == HWTD_OK ? end : rc;
	if (end == HWTD_OK &&
	    (e->options.flags & HWTD_CAPTUREF_ARCHIVE) != 0) {
		hwtdi_capture_file_close(&e->file);
		end = hwtdi_capture_archive(e->library, &e->options,
		    rc == HWTD_OK ? err : &last);
		rc = rc == HWTD_OK ? end : rc;
	}
	e->status.ended = 1;
	send_message(fd, HWTDI_KEEPER_ENDED, rc, e, err);
}

static void
keep(int fd, pid_t parent, struct hwtd_context *library,
    const struct hwtdi_system *sys, const struct hwtd_capture_options *options,
    struct hwtdi_keeper_board *board)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_engine engine;
	int rc;

	/* Who would be asked is in the other process. */
	library->poll = NULL;
	/* What the parent does when a child ends would take the program's end. */
	handle(SIGCHLD, SIG_DFL);
	outlive_limits();
	rc = hwtdi_engine_begin(&engine, library, sys, options, &err);
	/* Later than the program is made, which is to have its own. */
	ignore_signals();
	send_message(fd, HWTDI_KEEPER_STARTED, rc, &engine, &err);
	if (rc == HWTD_OK)
		run(fd, parent, &engine, board, &err);
	hwtdi_engine_fini(&engine);
}

int
hwtdi_keeper_start(struct hwtd_context *library,
    const struct hwtdi_system *sys, const struct hwtd_capture_options *options,
    struct hwtdi_keeper_board *board, pid_t *pid_out, int *fd_out,
    struct hwtd_error *err)
{
	const pid_t parent = getpid();
	int ends[2], pid, e;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return (hwtdi_fail_sys(err, errno,
		    "cannot make a socket for the capture process: %s",
		    strerror(errno)));
	pid = sys->fork(sys->state);
	if (pid == 0) {
		(void)close(ends[0]);
		keep(ends[1], parent, library, sys, options, board);
		/* Nothing of the parent is to be flushed or run twice. */
		_exit(0);
	}
	e = -pid;
	(void)close(ends[1]);
	if (pid < 0) {
		(void)close(ends[0]);
		return (hwtdi_fail_sys(err, e,
		    "cannot make a process for the capture: %s", strerror(e)));
	}
	*pid_out = pid;
	*fd_out = ends[0];
	return (HWTD_OK);
}
