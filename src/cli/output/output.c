/*
 * Where data goes: buffering, files that appear only when complete, and
 * number formatting that is fast enough for every instruction of a trace.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/output/escape.h"
#include "cli/output/message.h"
#include "cli/output/output.h"

#define BUFFER_BYTES (256 * 1024)
#define WRAP_WIDTH 79

static bool
open_file(struct output *out, const char *path)
{
	const size_t n = strlen(path);
	struct stat st;

	out->name = path;
	/* A device or a pipe is written in place: it cannot be replaced. */
	const bool replaces = stat(path, &st) == 0;

	if (replaces && !S_ISREG(st.st_mode)) {
		out->fd = open(path, O_WRONLY | O_CLOEXEC);
		if (out->fd < 0)
			say_error("%s: %s", path, strerror(errno));
		return (out->fd >= 0);
	}

	/* Through a symbolic link: the file it names is replaced, not it. */
	out->final = realpath(path, NULL);
	if (out->final == NULL && (out->final = strdup(path)) == NULL) {
		say_error("out of memory");
		return (false);
	}
	out->temporary = malloc(strlen(out->final) + n + 32);
	if (out->temporary == NULL) {
		say_error("out of memory");
		return (false);
	}
	for (unsigned int i = 0; i < 100; i++) {
		sprintf(out->temporary, "%s.part%ld-%u", out->final,
		    (long)getpid(), i);
		out->fd = open(out->temporary,
		    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (out->fd >= 0 || errno != EEXIST)
			break;
	}
	if (out->fd < 0) {
		say_error("%s: %s", path, strerror(errno));
		free(out->temporary);
		out->temporary = NULL;
		return (false);
	}
	/* Who could not read the old file shall not read the new one. */
	if (replaces)
		(void)fchmod(out->fd, st.st_mode & 0777);
	return (true);
}

bool
output_open(struct output *out, const char *path)
{
	memset(out, 0, sizeof(*out));
	out->fd = -1;
	out->buffer = malloc(BUFFER_BYTES);
	if (out->buffer == NULL) {
		say_error("out of memory");
		return (false);
	}
	out->at = out->buffer;
	out->end = out->buffer + BUFFER_BYTES;
	if (path == NULL || strcmp(path, "-") == 0) {
		out->name = "standard output";
		out->fd = STDOUT_FILENO;
		return (true);
	}
	if (open_file(out, path))
		return (true);
	free(out->final);
	free(out->buffer);
	memset(out, 0, sizeof(*out));
	return (false);
}

void
output_flush(struct output *out)
{
	const char *from = out->buffer;

	while (out->failed == 0 && from < out->at) {
		const ssize_t n = write(out->fd, from,
		    (size_t)(out->at - from));

		if (n > 0)
			from += n;
		else if (n < 0 && errno != EINTR)
			out->failed = errno;
	}
	out->at = out->buffer;
}

bool
output_is_unread(const struct output *out)
{
	return (out->failed == EPIPE);
}

bool
output_close(struct output *out, bool keep)
{
	if (out->buffer == NULL)
		return (true);
	output_flush(out);
	if (out->fd != STDOUT_FILENO && close(out->fd) != 0 &&
	    out->failed == 0)
		out->failed = errno;
	if (out->temporary != NULL) {
		if (out->failed == 0 && keep &&
		    rename(out->temporary, out->final) != 0)
			out->failed = errno;
		if (out->failed != 0 || !keep)
			(void)unlink(out->temporary);
	}
	const bool good = out->failed == 0 || output_is_unread(out);

	if (!good) {
		say_error("%s: cannot write: %s", out->name,
		    strerror(out->failed));
		if (out->failed == ENOSPC)
			say_hint("make room, or write elsewhere with -o FILE");
	}
	free(out->temporary);
	free(out->final);
	free(out->buffer);
	memset(out, 0, sizeof(*out));
	return (good);
}

void
output_bytes(struct output *out, const char *bytes, size_t n)
{
	while (n > 0) {
		output_room(out, 1);
		const size_t room = (size_t)(out->end - out->at);
		const size_t part = n < room ? n : room;

		memcpy(out->at, bytes, part);
		out->at += part;
		bytes += part;
		n -= part;
	}
}

char *
format_u64(char *at, uint64_t value)
{
	char digits[20];
	size_t n = 0;

	do {
		digits[n++] = (char)('0' + value % 10);
		value /= 10;
	} while (value != 0);
	while (n > 0)
		*at++ = digits[--n];
	return (at);
}

char *
format_hex(char *at, uint64_t value)
{
	static const char hex_digits[] = "0123456789abcdef";
	unsigned int digits = 1;

	*at++ = '0';
	*at++ = 'x';
	for (uint64_t rest = value >> 4; rest != 0; rest >>= 4)
		digits++;
	for (unsigned int i = digits; i > 0; i--)
		*at++ = hex_digits[value >> (4 * (i - 1)) & 15];
	return (at);
}

char *
format_seconds(char *at, uint64_t ns)
{
	uint64_t rest = ns % 1000000000;

	at = format_u64(at, ns / 1000000000);
	*at++ = '.';
	for (int i = 8; i >= 0; i--) {
		at[i] = (char)('0' + rest % 10);
		rest /= 10;
	}
	return (at + 9);
}

void
output_seconds(struct output *out, uint64_t ns)
{
	output_room(out, 32);
	out->at = format_seconds(out->at, ns);
}

void
output_u64(struct output *out, uint64_t value)
{
	output_room(out, 20);
	out->at = format_u64(out->at, value);
}

void
output_hex(struct output *out, uint64_t value)
{
	output_room(out, 18);
	out->at = format_hex(out->at, value);
}

void
output_hex_bytes(struct output *out, const uint8_t *bytes, size_t n)
{
	static const char hex_digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		output_room(out, 2);
		*out->at++ = hex_digits[bytes[i] >> 4];
		*out->at++ = hex_digits[bytes[i] & 15];
	}
}

void
output_format(struct output *out, const char *fmt, ...)
{
	char line[OUTPUT_ROOM];
	va_list args;

	va_start(args, fmt);
	const int n = vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	if (n > 0)
		output_bytes(out, line,
		    (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1);
}

/* How many bytes from the start on need no escaping anywhere. */
static size_t
plain_run(const char *text, size_t n)
{
	size_t i = 0;

	while (i < n && text[i] >= 0x20 && text[i] < 0x7f && text[i] != '"' &&
	    text[i] != '\\')
		i++;
	return (i);
}

void
output_escaped(struct output *out, const char *text)
{
	output_escaped_bytes(out, text, strlen(text));
}

void
output_escaped_bytes(struct output *out, const char *text, size_t n)
{
	for (size_t i = 0; i < n;) {
		const size_t plain = plain_run(text + i, n - i);

		output_bytes(out, text + i, plain);
		i += plain;
		if (i == n)
			break;
		output_room(out, ESCAPE_ROOM + 1);
		if (out->quoting && text[i] == '"')
			*out->at++ = '"';
		out->at += escape_text_step(out->at, text, n, &i);
	}
}

void
output_json_string(struct output *out, const char *text)
{
	const size_t n = strlen(text);

	output_char(out, '"');
	for (size_t i = 0; i < n;) {
		const size_t plain = plain_run(text + i, n - i);

		output_bytes(out, text + i, plain);
		i += plain;
		if (i == n)
			break;
		output_room(out, ESCAPE_ROOM);
		out->at += escape_json_step(out->at, text, n, &i);
	}
	output_char(out, '"');
}

void
output_csv_string(struct output *out, const char *text)
{
	out->quoting = strpbrk(text, ",\"") != NULL;
	if (out->quoting)
		output_char(out, '"');
	output_escaped(out, text);
	if (out->quoting)
		output_char(out, '"');
	out->quoting = false;
}

void
output_wrapped(struct output *out, const char *text, size_t column, size_t at)
{
	bool first = true;

	while (*text != '\0') {
		const size_t blank = strspn(text, " ");
		const char *word = text + blank;
		const size_t n = strcspn(word, " ");

		if (n == 0)
			break;
		if (!first && at + 1 + n > WRAP_WIDTH) {
			output_char(out, '\n');
			for (at = 0; at < column; at++)
				output_char(out, ' ');
		} else if (!first) {
			output_char(out, ' ');
			at++;
		}
		output_bytes(out, word, n);
		at += n;
		first = false;
		text = word + n;
	}
	output_char(out, '\n');
}

void
output_csv_u64(struct output *out, bool known, uint64_t value)
{
	output_char(out, ',');
	if (known)
		output_u64(out, value);
}

void
output_csv_hex(struct output *out, bool known, uint64_t value)
{
	output_char(out, ',');
	if (known)
		output_hex(out, value);
}
