/*
 * hwtdecode record: records a trace with hwt(4) of FreeBSD.
 */
#include <sys/stat.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/input/input.h"
#include "cli/output/interrupt.h"
#include "cli/output/message.h"
#include "cli/output/progress.h"
#include "cli/options/record_options.h"
#include "cli/print/record_report.h"

/* How long is waited for the capture before looking for signals. */
#define WAIT_NS UINT64_C(100000000)

/*
 * The file that execvp(3) would run: what stat(2) says of it, or false with errno.
 */
static bool
find_program(const char *name, struct stat *st)
{
	const char *paths = getenv("PATH");
	int e = ENOENT;
	char full[4096];

	if (strchr(name, '/') != NULL)
		return (stat(name, st) == 0 && access(name, X_OK) == 0);
	for (bool more = paths != NULL; more;) {
		const size_t n = strcspn(paths, ":");

		/* An empty one is the folder of the caller. */
		(void)snprintf(full, sizeof(full), "%.*s/%s",
		    n == 0 ? 1 : (int)n, n == 0 ? "." : paths, name);
		if (stat(full, st) == 0 && S_ISREG(st->st_mode)) {
			if (access(full, X_OK) == 0)
				return (true);
			e = errno;
		}
		more = paths[n] != '\0';
		paths += n + (more ? 1 : 0);
	}
	errno = e;
	return (false);
}

/* A program is there; *st: 0 of none. */
static bool
check_program(const struct options *options, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	if (options->n_operands == 0)
		return (true);
	if (find_program(options->operands[0], st) && S_ISREG(st->st_mode))
		return (true);
	say_error("%s: %s", options->operands[0],
	    S_ISDIR(st->st_mode) ? strerror(EISDIR) : strerror(errno));
	say_hint("name a program that can be run");
	return (false);
}

/* The file may be written. */
static bool
check_output(const struct options *options, const struct stat *program)
{
	struct stat st;

	if (strcmp(options->output, "-") == 0) {
		say_error("record writes regular files only");
		say_hint("name a file with -o");
		return (false);
	}
	if (stat(options->output, &st) != 0)
		return (true);
	if (!S_ISREG(st.st_mode)) {
		say_error("%s: record writes regular files only",
		    options->output);
		say_hint("name another file with -o");
		return (false);
	}
	if (!options->record.replace) {
		say_error("%s: is there already", options->output);
		say_hint("name another file with -o, or add --replace");
		return (false);
	}
	if (options->n_operands > 0 && program->st_dev == st.st_dev &&
	    program->st_ino == st.st_ino) {
		say_error("%s: is both input and output", options->output);
		say_hint("name another file with -o");
		return (false);
	}
	return (true);
}

static int
say_refusal(const struct options *options, const struct hwtd_error *err)
{
	say_error("%s",
	    err->message[0] != '\0' ? err->message
				    : hwtd_code_text(err->code));
	switch (err->code) {
	case HWTD_E_INVALID:
		say_hint("'hwtdecode help record' shows the options, "
			 "'hwtdecode record --list' what this machine has");
		return (EXIT_BAD_USAGE);
	case HWTD_E_UNSUPPORTED:
		say_hint("'hwtdecode record --list' says what this machine "
			 "can record with");
		return (EXIT_FAILED);
	case HWTD_E_IO:
		if (err->sys_errno == ENOSPC)
			say_hint("make room, or write elsewhere with -o FILE");
		else if (err->sys_errno == EACCES || err->sys_errno == EPERM)
			say_hint("'hwtdecode record --list%s' says who may "
				 "trace",
			    options->record.pid != 0 ? " --pid ..." : "");
		return (EXIT_FAILED);
	default:
		return (EXIT_FAILED);
	}
}

/* Signals: the first ends the capture, then one asks, and the third gives up. */
static void
see_signals(struct hwtd_capture *capture, const struct options *options,
    struct progress *progress, unsigned int *seen)
{
	const unsigned int now = interrupt_times();

	if (now == *seen)
		return;
	if (*seen == 0)
		hwtd_capture_stop(capture);
	*seen = now;
	if (now < 2)
		return;
	progress_end(progress);
	if (now == 2) {
		say_note("waiting until %s is complete; once more gives up "
			 "waiting",
		    options->output);
		return;
	}
	say_note("not waiting; %s is completed without this process",
	    options->output);
	/* Giving the capture up would wait for it. */
	fflush(NULL);
	_exit(EXIT_INTERRUPTED);
}

static int
wait_for(struct hwtd_capture *capture, const struct options *options,
    struct hwtd_capture_status *status, struct hwtd_error *err)
{
	struct progress progress;
	unsigned int seen = 0;
	int rc;

	progress_start(&progress, options->progress, 0);
	for (;;) {
		see_signals(capture, options, &progress, &seen);
		rc = hwtd_capture_wait(capture, WAIT_NS, status, err);
		if (rc != HWTD_AGAIN)
			break;
		if (progress_due(&progress)) {
			char text[256];

			record_progress(status, text, sizeof(text));
			progress_text(&progress, text);
		}
	}
	progress_end(&progress);
	return (rc);
}

static int
record(const struct options *options, struct hwtd_context *library)
{
	struct hwtd_capture_status status = { .size = sizeof(status) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct record_request request;
	struct hwtd_capture *capture;
	int rc;

	record_request_make(library, options, &request);
	/* From here on a signal is to leave a complete file. */
	interrupt_count();
	rc = hwtd_capture_start(library, &request.options, &capture, &err);
	if (rc != HWTD_OK)
		return (say_refusal(options, &err));
	rc = wait_for(capture, options, &status, &err);
	hwtd_capture_close(capture);
	if (rc != HWTD_OK) {
		say_error("%s", err.message);
		record_summary(options, &status);
		return (EXIT_FAILED);
	}
	record_summary(options, &status);
	return (record_loss_code(options, &status));
}

int
cmd_record(const struct options *options)
{
	const struct hwtd_context_options how = library_options(options);
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *library;
	struct stat program;
	int code;

	if (!options->record.list) {
		if (!check_program(options, &program))
			return (EXIT_FAILED);
		if (!check_output(options, &program))
			return (EXIT_BAD_USAGE);
	}
	if (hwtd_context_create(&how, &library, &err) != HWTD_OK) {
		say_error("%s", err.message);
		return (EXIT_FAILED);
	}
	code = options->record.list ? record_list(options, library)
				    : record(options, library);
	hwtd_context_destroy(library);
	return (code);
}
