/*
 * Printing packets as text, JSON lines or CSV.
 */
#ifndef HWTDECODE_CLI_PACKET_WRITER_H
#define HWTDECODE_CLI_PACKET_WRITER_H

#include "cli/input/input.h"
#include "cli/output/output.h"

struct packet_writer {
	struct output *out;
	const struct hwtd_trace *trace;
	enum output_format format;
	bool color;
	bool header;
	bool times;
	/* Some stream lies in a sink: where packets are in it is shown. */
	bool sinks;
	size_t name_width;
	/* PACKET_OF_* bits: whose fields are columns of CSV. */
	unsigned int columns;
	bool raw;
	/* Lines as perf has them; offsets are those in a buffer, from here on. */
	bool perf;
	uint64_t buffer_start;
	/* Bytes [window_off, window_off + window_n) of window_stream. */
	uint8_t *window;
	size_t window_n;
	uint64_t window_off;
	uint32_t window_stream;
};

/* False after a message. */
bool packet_writer_init(struct packet_writer *writer, struct output *out,
    const struct input *input, const struct options *options);
void packet_writer_fini(struct packet_writer *writer);

/* What follows are packets of this buffer. */
void packet_write_buffer(struct packet_writer *writer,
    const struct hwtd_extent *extent);

void packet_write_header(struct packet_writer *writer);
void packet_write(struct packet_writer *writer,
    const struct hwtd_packet *packet);
/* Marks that the packets end here because the user broke off. */
void packet_write_interrupted(struct packet_writer *writer);

#endif /* HWTDECODE_CLI_PACKET_WRITER_H */
