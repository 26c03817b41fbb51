/*
 * Messages on stderr: errors, warnings and hints, one line each.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/output/escape.h"
#include "cli/output/message.h"

static void
say(const char *before, const char *fmt, va_list args)
{
	char plain[4096];
	char safe[sizeof(plain) + 64];
	size_t n = 0;
	const int len = vsnprintf(plain, sizeof(plain), fmt, args);

	if (len < 0)
		return;
	const size_t have = (size_t)len < sizeof(plain) ? (size_t)len
							: sizeof(plain) - 1;
	for (size_t i = 0; i < have;) {
		if (sizeof(safe) - n < ESCAPE_ROOM)
			break;
		n += escape_text_step(safe + n, plain, have, &i);
	}
	safe[n] = '\0';
	fprintf(stderr, "%s%s\n", before, safe);
}

void
say_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say("hwtdecode: ", fmt, args);
	va_end(args);
}

void
say_warning(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say("hwtdecode: warning: ", fmt, args);
	va_end(args);
}

void
say_note(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say("", fmt, args);
	va_end(args);
}

void
say_hint(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say("hint: ", fmt, args);
	va_end(args);
}

void
error_drop_path(struct hwtd_error *err, const char *path)
{
	const size_t n = strlen(path);
	char *message = err->message;

	if (strncmp(message, path, n) != 0 || message[n] != ':')
		return;
	const char *rest = message + n + 1 + strspn(message + n + 1, " ");

	memmove(message, rest, strlen(rest) + 1);
}

void
say_library_message(const char *file, const struct hwtd_error *err)
{
	const char *message = err->message[0] != '\0'
	    ? err->message
	    : hwtd_code_text(err->code);

	if (err->offset != UINT64_MAX)
		say_error("%s:0x%" PRIx64 ": %s", file, err->offset, message);
	else
		say_error("%s: %s", file, message);
}

/* What the tool can do about a limit; the message names those of a context. */
static void
say_limit_hint(const char *message)
{
	if (strstr(message, "max_memory") != NULL)
		say_hint("the input asks for more memory than is allowed and "
			 "may be damaged; --max-memory allows more");
	else if (strstr(message, "max_alloc") != NULL)
		say_hint("the tool allows 1 GiB in one piece, whatever "
			 "--max-memory says; the input may be damaged");
	else if (strstr(message, "max_image") != NULL)
		say_hint("the tool allows 4 GiB in one image, whatever "
			 "--max-memory says; the input may be damaged");
	else
		say_hint("no option changes this limit; the input is probably "
			 "damaged");
}

int
say_library_error(const char *file, const struct hwtd_error *err)
{
	say_library_message(file, err);
	switch (err->code) {
	case HWTD_E_UNRECOGNIZED:
		say_hint("if these are raw trace bytes, name their kind: "
			 "--tech pt, --tech spe, or --tech coresight with "
			 "--etm-config, and --framing of what a trace sink "
			 "wrote");
		return (EXIT_BAD_INPUT);
	case HWTD_E_CORRUPT:
		/* No byte of it is damaged: what it says is wrong. */
		if (err->offset == UINT64_MAX)
			say_hint("correct what the message names, or write "
				 "the trace again where it was recorded");
		else
			say_hint("copy the file again from where it was "
				 "recorded");
		return (EXIT_BAD_INPUT);
	case HWTD_E_UNSUPPORTED:
		say_hint("a newer hwtdecode may read it; this one is %s",
		    hwtd_version());
		return (EXIT_BAD_INPUT);
	case HWTD_E_LIMIT:
		say_limit_hint(err->message);
		return (EXIT_FAILED);
	case HWTD_E_NOMEM:
		say_hint("allow more with --max-memory, close other programs "
			 "or decode a part, for instance with --stream or "
			 "--jobs 1");
		return (EXIT_FAILED);
	case HWTD_E_NOT_FOUND:
		say_hint("'hwtdecode info' lists the streams");
		return (EXIT_FAILED);
	case HWTD_E_IO:
		if (err->sys_errno == ENOSPC)
			say_hint("make room, or write elsewhere with -o FILE");
		return (EXIT_FAILED);
	default:
		return (EXIT_FAILED);
	}
}
