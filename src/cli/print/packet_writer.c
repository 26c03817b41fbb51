/*
 * Packets as aligned columns, JSON lines or CSV.
 */
#include <stdlib.h>

#include "cli/output/color.h"
#include "cli/output/json_line.h"
#include "cli/output/message.h"
#include "cli/print/packet_fields.h"
#include "cli/print/packet_perf.h"
#include "cli/print/packet_writer.h"

/* Bytes of the stream that are at hand. */
#define WINDOW_BYTES (1024 * 1024)

/* Without --raw so many bytes of a packet are shown. */
#define SHOWN_BYTES 8

/* Widths of the columns of text; between them lie two blanks. */
#define WIDTH_TIME 18
#define WIDTH_STREAM 6
#define WIDTH_OFFSET 12
#define WIDTH_BYTES (3 * SHOWN_BYTES + 2)
#define WIDTH_RAW 47
#define WIDTH_NAME 9
#define WIDTH_LONG_NAME 19
#define WIDTH_SPE_NAME 15
/* What stands behind a payload begins here. */
#define WIDTH_FIELDS 19
/* Fields in words: the longest are all events of SPE. */
#define MAX_WORDS 768
/* All of a line but these words and bytes of --raw. */
#define MAX_COLUMNS 256

/* Columns that not all traces need. */
static void
set_columns(struct packet_writer *writer, const struct input *input)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };

	writer->name_width = WIDTH_NAME;
	writer->columns = PACKET_OF_ALL;
	for (uint32_t i = 0; i < input->info.n_streams; i++) {
		if (hwtd_trace_stream(input->trace, i, &desc) != HWTD_OK)
			continue;
		if (desc.tech == HWTD_TECH_CORESIGHT) {
			writer->name_width = WIDTH_LONG_NAME;
			writer->columns |= PACKET_OF_CS;
		} else if (desc.tech == HWTD_TECH_SPE) {
			if (writer->name_width < WIDTH_SPE_NAME)
				writer->name_width = WIDTH_SPE_NAME;
			writer->columns |= PACKET_OF_SPE;
		}
		if (desc.sink_plus_1 != 0)
			writer->sinks = true;
	}
}

bool
packet_writer_init(struct packet_writer *writer, struct output *out,
    const struct input *input, const struct options *options)
{
	*writer = (struct packet_writer){
		.out = out,
		.trace = input->trace,
		.format = options->format,
		.color = color_wanted(options, out),
		.header = !options->no_header,
		.times = options->times_wanted,
		.raw = options->raw,
		.perf = options->perf_style,
		.window_stream = HWTD_NO_ID,
	};
	set_columns(writer, input);
	if (options->format != FORMAT_TEXT && !options->raw)
		return (true);
	writer->window = malloc(WINDOW_BYTES);
	if (writer->window == NULL)
		say_error("out of memory");
	return (writer->window != NULL);
}

void
packet_writer_fini(struct packet_writer *writer)
{
	free(writer->window);
	writer->window = NULL;
}

/* Bytes of a stream from `off` on, at most *n of them; how many in *n. */
static const uint8_t *
see_bytes(struct packet_writer *w, uint32_t stream, uint64_t off, size_t *n)
{
	size_t at;

	if (w->window_stream != stream || off < w->window_off ||
	    off - w->window_off > w->window_n ||
	    w->window_n - (size_t)(off - w->window_off) < *n) {
		/* What lies before damage is copied all the same. */
		const int rc = hwtd_trace_read_bytes(w->trace, stream, off,
		    w->window, WINDOW_BYTES, &w->window_n, NULL);

		(void)rc;
		w->window_stream = stream;
		w->window_off = off;
	}
	at = (size_t)(off - w->window_off);
	if (*n > w->window_n - at)
		*n = w->window_n - at;
	return (w->window + at);
}

/* Bytes of a packet that are there. */
static uint64_t
bytes_there(const struct hwtd_packet *packet)
{
	return (packet->kind == HWTD_PK_LOST ? 0 : packet->bytes);
}

/* All bytes of a packet in hexadecimal, `between` them this text. */
static void
write_all_bytes(struct packet_writer *w, const struct hwtd_packet *packet,
    const char *between)
{
	const uint64_t bytes = bytes_there(packet);

	for (uint64_t i = 0; i < bytes && !output_stopped(w->out);) {
		size_t n = bytes - i < WINDOW_BYTES ? (size_t)(bytes - i)
						    : WINDOW_BYTES;
		const uint8_t *p = see_bytes(w, packet->stream,
		    packet->stream_off + i, &n);

		if (n == 0)
			break;
		if (between[0] == '\0') {
			output_hex_bytes(w->out, p, n);
			i += n;
			continue;
		}
		for (size_t k = 0; k < n; k++) {
			if (i + k > 0)
				output_text(w->out, between);
			output_hex_bytes(w->out, p + k, 1);
		}
		i += n;
	}
}

/* The text of the first bytes, then dots where there are more. */
static char *
format_bytes(struct packet_writer *w, const struct hwtd_packet *packet,
    char *at)
{
	static const char digits[] = "0123456789abcdef";
	const uint64_t bytes = bytes_there(packet);
	size_t n = bytes < SHOWN_BYTES ? (size_t)bytes : SHOWN_BYTES;
	const uint8_t *p;

	if (n == 0)
		return (at);
	p = see_bytes(w, packet->stream, packet->stream_off, &n);
	for (size_t i = 0; i < n; i++) {
		*at++ = digits[p[i] >> 4];
		*at++ = digits[p[i] & 15];
		*at++ = ' ';
	}
	if (bytes > SHOWN_BYTES) {
		*at++ = '.';
		*at++ = '.';
	}
	return (at);
}

static char *
pad_to(char *at, const char *start, size_t width)
{
	while ((size_t)(at - start) < width)
		*at++ = ' ';
	return (at);
}

/* [from, end) with blanks before it and two behind it. */
static char *
right_aligned(char *at, const char *from, const char *end, size_t width)
{
	const size_t n = (size_t)(end - from);

	for (size_t i = n; i < width; i++)
		*at++ = ' ';
	memcpy(at, from, n);
	at += n;
	*at++ = ' ';
	*at++ = ' ';
	return (at);
}

static char *
format_time(char *at, const struct hwtd_packet *packet)
{
	char text[40];
	char *end = text;

	if ((packet->flags & HWTD_PKF_TIME) == 0) {
		*end++ = '-';
	} else {
		if ((packet->flags & HWTD_PKF_TIME_ESTIMATED) != 0)
			*end++ = '~';
		end = format_seconds(end, packet->time_ns);
	}
	return (right_aligned(at, text, end, WIDTH_TIME));
}

static char *
format_sink_off(char *at, const struct hwtd_packet *packet)
{
	char text[24];
	char *end = text;

	if ((packet->flags & HWTD_PKF_SINK) != 0)
		end = format_hex(end, packet->sink_off);
	else
		*end++ = '-';
	return (right_aligned(at, text, end, WIDTH_OFFSET));
}

/* The whole address, and what is unusual about the packet. */
static char *
format_more(char *at, const char *start, const struct hwtd_packet *packet)
{
	static const char guessed[] = "  guessed";
	static const char reserved[] = "  reserved bits";

	if ((packet->flags & HWTD_PKF_IP) != 0) {
		at = pad_to(at, start, WIDTH_FIELDS);
		memcpy(at, "  ip ", 5);
		at = format_hex(at + 5, packet->ip);
	}
	if ((packet->flags & HWTD_PKF_GUESSED) != 0) {
		memcpy(at, guessed, sizeof(guessed) - 1);
		at += sizeof(guessed) - 1;
	}
	if ((packet->flags & HWTD_PKF_RESERVED) != 0) {
		memcpy(at, reserved, sizeof(reserved) - 1);
		at += sizeof(reserved) - 1;
	}
	return (at);
}

/* The protocol's own name where there is one. */
static const char *
name_of(const struct hwtd_packet *packet)
{
	const char *name = hwtd_packet_code_name(packet->code);

	return (name != NULL ? name : hwtd_packet_kind_name(packet->kind));
}

static void
write_text(struct packet_writer *w, const struct hwtd_packet *packet)
{
	struct output *out = w->out;
	const char *name = name_of(packet);
	const bool is_loss = w->color && packet->kind < HWTD_PK_PT_PAD;
	const bool is_faint = w->color &&
	    (packet->kind == HWTD_PK_PT_PAD ||
		packet->kind == HWTD_PK_SPE_PAD);
	char number[24];
	char *start;

	if (is_loss)
		output_text(out, COLOR_LOSS);
	else if (is_faint)
		output_text(out, COLOR_FAINT);
	output_room(out, MAX_COLUMNS + MAX_WORDS);
	char *at = out->at;

	if (w->times)
		at = format_time(at, packet);
	at = right_aligned(at, number, format_u64(number, packet->stream),
	    WIDTH_STREAM);
	at = right_aligned(at, number, format_hex(number, packet->stream_off),
	    WIDTH_OFFSET);
	if (w->sinks)
		at = format_sink_off(at, packet);
	start = at;
	if (w->raw) {
		const uint64_t bytes = bytes_there(packet);

		out->at = at;
		write_all_bytes(w, packet, " ");
		output_room(out, MAX_COLUMNS + MAX_WORDS);
		at = out->at;
		for (uint64_t n = bytes > 0 ? 3 * bytes - 1 : 0; n < WIDTH_RAW;
		     n++)
			*at++ = ' ';
	} else {
		at = format_bytes(w, packet, at);
		at = pad_to(at, start, WIDTH_BYTES);
	}
	*at++ = ' ';
	*at++ = ' ';
	start = at;
	while (*name != '\0')
		*at++ = *name++;
	at = pad_to(at, start, w->name_width);
	*at++ = ' ';
	*at++ = ' ';
	start = at;
	const size_t n = hwtd_packet_text(packet, start, MAX_WORDS);

	at += n < MAX_WORDS ? n : MAX_WORDS - 1;
	out->at = format_more(at, start, packet);
	while (out->at > out->buffer && out->at[-1] == ' ')
		out->at--;
	if (is_loss || is_faint)
		output_text(out, COLOR_OFF);
	output_char(out, '\n');
}

/* 1 taken, the oldest first. */
static void
write_outcomes(struct output *out, uint64_t value, uint32_t count)
{
	output_room(out, 64);
	for (uint32_t i = count < 64 ? count : 64; i-- > 0;)
		*out->at++ = (char)('0' + (value >> i & 1));
}

/* Names of the events of SPE, in quotes; what has no name is left out. */
static void
write_event_names(struct output *out, const struct hwtd_packet *packet,
    const char *quote, const char *between)
{
	const char *before = "";

	for (uint32_t bit = 0; bit < 64; bit++) {
		const char *name = hwtd_sample_event_name((uint32_t)
							      packet->stamp,
		    packet->count, bit);

		if ((packet->value >> bit & 1) == 0 || name == NULL)
			continue;
		output_text(out, before);
		output_text(out, quote);
		output_text(out, name);
		output_text(out, quote);
		before = between;
	}
}

static void
write_json(struct packet_writer *w, const struct hwtd_packet *packet)
{
	static const char first[] = "{\"schema\":1,\"type\":\"packet\"";
	struct packet_field fields[PACKET_FIELDS];
	struct output *out = w->out;
	const size_t n = packet_fields(packet, fields);

	_Static_assert(JSON_SCHEMA == 1, "the text above says 1");
	output_bytes(out, first, sizeof(first) - 1);
	if ((packet->flags & HWTD_PKF_TIME) != 0) {
		json_u64(out, "time_ns", packet->time_ns);
		json_u64(out, "time_error_ns", packet->time_error_ns);
	}
	if ((packet->flags & HWTD_PKF_TIME_ESTIMATED) != 0)
		json_bool(out, "time_estimated", true);
	json_u64(out, "stream", packet->stream);
	json_u64(out, "offset", packet->stream_off);
	json_u64(out, "bytes", packet_size(packet));
	json_name(out, "kind", hwtd_packet_kind_name(packet->kind));
	if (packet->code != 0)
		json_name(out, "name", name_of(packet));
	for (size_t i = 0; i < n; i++) {
		const char *name = packet_field_kinds[fields[i].id].name;

		switch (packet_field_kinds[fields[i].id].form) {
		case PACKET_NUMBER:
			json_u64(out, name, fields[i].value);
			break;
		case PACKET_HEX:
			json_hex(out, name, fields[i].value);
			break;
		case PACKET_BOOL:
			json_bool(out, name, fields[i].value != 0);
			break;
		case PACKET_OUTCOMES:
			json_key(out, name);
			output_char(out, '"');
			write_outcomes(out, fields[i].value, packet->count);
			output_char(out, '"');
			break;
		case PACKET_GAP:
			json_name(out, name,
			    hwtd_gap_reason_name((uint32_t)fields[i].value));
			break;
		case PACKET_EVENT_LIST:
			json_key(out, name);
			output_char(out, '[');
			write_event_names(out, packet, "\"", ",");
			output_char(out, ']');
			break;
		}
	}
	if (w->raw) {
		json_key(out, "raw");
		output_char(out, '"');
		write_all_bytes(w, packet, "");
		output_char(out, '"');
	}
	output_bytes(out, "}\n", 2);
}

static bool
is_column(const struct packet_writer *w, unsigned int id)
{
	return ((packet_field_kinds[id].of & w->columns) != 0);
}

static void
write_csv(struct packet_writer *w, const struct hwtd_packet *packet)
{
	const bool timed = (packet->flags & HWTD_PKF_TIME) != 0;
	struct packet_field fields[PACKET_FIELDS];
	struct output *out = w->out;
	const size_t n = packet_fields(packet, fields);
	size_t next = 0;

	output_text(out, hwtd_packet_kind_name(packet->kind));
	output_csv_u64(out, timed, packet->time_ns);
	output_csv_u64(out, timed,
	    (packet->flags & HWTD_PKF_TIME_ESTIMATED) != 0);
	output_csv_u64(out, timed, packet->time_error_ns);
	output_csv_u64(out, true, packet->stream);
	output_csv_u64(out, true, packet->stream_off);
	output_csv_u64(out, true, packet_size(packet));
	for (unsigned int id = 0; id < PACKET_FIELDS; id++) {
		const struct packet_field *field = &fields[next];

		if (!is_column(w, id))
			continue;
		output_char(out, ',');
		if (next == n || field->id != id)
			continue;
		next++;
		if (packet_field_kinds[id].form == PACKET_HEX)
			output_hex(out, field->value);
		else if (packet_field_kinds[id].form == PACKET_OUTCOMES)
			write_outcomes(out, field->value, packet->count);
		else if (packet_field_kinds[id].form == PACKET_GAP)
			output_text(out,
			    hwtd_gap_reason_name((uint32_t)field->value));
		else if (packet_field_kinds[id].form == PACKET_EVENT_LIST)
			write_event_names(out, packet, "", " ");
		else
			output_u64(out, field->value);
	}
	if ((w->columns & PACKET_OF_CS) != 0)
		output_char(out, ',');
	if (packet->code != 0)
		output_text(out, name_of(packet));
	if (w->raw) {
		output_char(out, ',');
		write_all_bytes(w, packet, "");
	}
	output_char(out, '\n');
}

static void
write_perf(struct packet_writer *w, const struct hwtd_packet *packet)
{
	size_t n = (size_t)bytes_there(packet);
	const uint8_t *bytes;

	/* perf knows nothing of what is not there. */
	if (packet->kind == HWTD_PK_LOST)
		return;
	if (n > WINDOW_BYTES)
		n = WINDOW_BYTES;
	bytes = see_bytes(w, packet->stream, packet->stream_off, &n);
	perf_write_packet(w->out, packet, packet->stream_off - w->buffer_start,
	    bytes, n);
}

void
packet_write_buffer(struct packet_writer *writer,
    const struct hwtd_extent *extent)
{
	if (!writer->perf)
		return;
	writer->buffer_start = extent->start;
	perf_write_header(writer->out, extent->end - extent->start);
}

void
packet_write(struct packet_writer *writer, const struct hwtd_packet *packet)
{
	if (writer->perf) {
		write_perf(writer, packet);
		return;
	}
	switch (writer->format) {
	case FORMAT_TEXT:
		write_text(writer, packet);
		break;
	case FORMAT_JSONL:
		write_json(writer, packet);
		break;
	case FORMAT_CSV:
		write_csv(writer, packet);
		break;
	}
}

void
packet_write_header(struct packet_writer *writer)
{
	struct output *out = writer->out;

	if (!writer->header || writer->format == FORMAT_JSONL || writer->perf)
		return;
	if (writer->format == FORMAT_CSV) {
		output_text(out,
		    "kind,time_ns,time_estimated,time_error_ns,stream,offset,"
		    "bytes");
		for (unsigned int id = 0; id < PACKET_FIELDS; id++) {
			if (!is_column(writer, id))
				continue;
			output_char(out, ',');
			output_text(out, packet_field_kinds[id].name);
		}
		if ((writer->columns & PACKET_OF_CS) != 0)
			output_text(out, ",name");
		output_text(out, writer->raw ? ",raw\n" : "\n");
		return;
	}
	if (writer->color)
		output_text(out, COLOR_TITLE);
	if (writer->times)
		output_format(out, "%*s  ", WIDTH_TIME, "time");
	output_format(out, "%*s  %*s  ", WIDTH_STREAM, "stream", WIDTH_OFFSET,
	    "offset");
	if (writer->sinks)
		output_format(out, "%*s  ", WIDTH_OFFSET, "in sink");
	output_format(out, "%-*s  %-*s  fields",
	    writer->raw ? WIDTH_RAW : WIDTH_BYTES, "bytes",
	    (int)writer->name_width, "packet");
	if (writer->color)
		output_text(out, COLOR_OFF);
	output_char(out, '\n');
}

void
packet_write_interrupted(struct packet_writer *writer)
{
	struct output *out = writer->out;

	switch (writer->format) {
	case FORMAT_TEXT:
		output_text(out, "interrupted\n");
		break;
	case FORMAT_JSONL:
		json_begin(out, "interrupted");
		json_end(out);
		break;
	case FORMAT_CSV:
		output_text(out, "interrupted,,,,,,");
		for (unsigned int id = 0; id < PACKET_FIELDS; id++)
			if (is_column(writer, id))
				output_char(out, ',');
		if ((writer->columns & PACKET_OF_CS) != 0)
			output_char(out, ',');
		output_text(out, writer->raw ? ",\n" : "\n");
		break;
	}
}
