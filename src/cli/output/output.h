/*
 * Where data goes: stdout or a file, through one buffer with hand-written
 * number formatting.
 */
#ifndef HWTDECODE_CLI_OUTPUT_H
#define HWTDECODE_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct output {
	/* Next free byte, and one past the buffer. */
	char *at;
	char *end;
	char *buffer;
	int fd;
	/* errno of the write that failed, or 0.  Later writes do nothing. */
	int failed;
	/* Inside a quoted CSV field: output_escaped() doubles quotes. */
	bool quoting;
	/* What the user called it. */
	const char *name;
	/* Not NULL: written under this name, renamed when complete. */
	char *temporary;
	char *final;
};

/* Most bytes that one call of output_room() may ask for. */
#define OUTPUT_ROOM 4096

/*
 * Open `path`; NULL or "-" is stdout.  A regular file appears under its name
 * only when output_close() succeeds.  Returns false after a message.
 */
bool output_open(struct output *out, const char *path);

/*
 * Write what is left and close.  With `keep` false a file is thrown away.
 * Returns false after a message when anything could not be written; a reader
 * that went away (EPIPE) is no failure.
 */
bool output_close(struct output *out, bool keep);

/* Hand what is buffered to the system. */
void output_flush(struct output *out);

/* True when it makes no sense to produce more. */
static inline bool
output_stopped(const struct output *out)
{
	return (out->failed != 0);
}

/* The same, because who read it went away. */
bool output_is_unread(const struct output *out);

/* At least `n` free bytes at out->at; `n` is at most OUTPUT_ROOM. */
static inline void
output_room(struct output *out, size_t n)
{
	if ((size_t)(out->end - out->at) < n)
		output_flush(out);
}

static inline void
output_char(struct output *out, char c)
{
	output_room(out, 1);
	*out->at++ = c;
}

/* Bytes of any number. */
void output_bytes(struct output *out, const char *bytes, size_t n);

static inline void
output_text(struct output *out, const char *text)
{
	output_bytes(out, text, strlen(text));
}

/* Numbers.  output_hex: "0x" and as many digits as needed. */
void output_u64(struct output *out, uint64_t value);
void output_hex(struct output *out, uint64_t value);
void output_hex_bytes(struct output *out, const uint8_t *bytes, size_t n);

/* Nanoseconds as seconds with nine decimals. */
void output_seconds(struct output *out, uint64_t ns);

void output_format(struct output *out, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Words of a trusted text, broken before column 80; the line stands at column
 * `at` now and later ones start at `column`.  Ends the last line.
 */
void output_wrapped(struct output *out, const char *text, size_t column,
    size_t at);

/* Untrusted strings: escaped; the JSON one with quotes around it. */
void output_escaped(struct output *out, const char *text);
void output_escaped_bytes(struct output *out, const char *text, size_t n);
void output_json_string(struct output *out, const char *text);
/* A CSV field, quoted where it has to be. */
void output_csv_string(struct output *out, const char *text);

/* The next field: a comma, and the number if it is known. */
void output_csv_u64(struct output *out, bool known, uint64_t value);
void output_csv_hex(struct output *out, bool known, uint64_t value);

/* Formatting into memory; return one past the last byte. */
char *format_u64(char *at, uint64_t value);
char *format_hex(char *at, uint64_t value);
char *format_seconds(char *at, uint64_t ns);

#endif /* HWTDECODE_CLI_OUTPUT_H */
