/*
 * Messages on stderr and the exit codes of the tool.
 */
#ifndef HWTDECODE_CLI_MESSAGE_H
#define HWTDECODE_CLI_MESSAGE_H

#include <hwtdecode/error.h>

/* Pinned: scripts depend on them. */
enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_BAD_USAGE = 2,
	/* Done, but more was lost than --max-loss allows. */
	EXIT_LOSS = 3,
	/* The input was not recognised or is damaged beyond use. */
	EXIT_BAD_INPUT = 4,
	EXIT_INTERRUPTED = 130
};

/* "hwtdecode: ...": one line; what names carry is escaped. */
void say_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same without anything before it. */
void say_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "hint: ...": what to do next. */
void say_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The library may name the file itself; take "path: " off the message. */
void error_drop_path(struct hwtd_error *err, const char *path);

/* An error of the library about `file`, with its offset. */
void say_library_message(const char *file, const struct hwtd_error *err);

/* The same and a hint where one is known.  Returns the exit code that fits. */
int say_library_error(const char *file, const struct hwtd_error *err);

#endif /* HWTDECODE_CLI_MESSAGE_H */
