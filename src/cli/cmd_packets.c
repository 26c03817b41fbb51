/*
 * hwtdecode packets: the raw packets of each stream, every byte of them.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/input/input.h"
#include "cli/output/interrupt.h"
#include "cli/output/loss.h"
#include "cli/output/message.h"
#include "cli/print/packet_writer.h"
#include "cli/output/progress.h"

struct listing {
	const struct input *input;
	const struct options *options;
	struct packet_writer *writer;
	struct progress progress;
	/* Not all kinds are asked for. */
	bool some_kinds;
	uint64_t left;
	/* Of what was read to its end. */
	uint64_t bytes;
	uint64_t bytes_not_named;
	/* Streams that were shown, and the others that were asked for. */
	uint32_t n_shown;
	uint32_t n_unsupported;
};

static bool
is_in(const struct id_list *list, uint32_t id)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->ids[i] == id)
			return (true);
	return (list->n == 0);
}

static void
show_progress(struct listing *l, const struct hwtd_packets *packets)
{
	struct hwtd_packets_stats stats = { .size = sizeof(stats) };

	if (progress_due(&l->progress) &&
	    hwtd_packets_stats(packets, &stats) == HWTD_OK)
		progress_show(&l->progress, l->bytes + stats.bytes);
}

/* How many: 1 or, when it is not asked for, 0. */
static uint64_t
write_packet(struct listing *l, const struct hwtd_packet *packet)
{
	if (l->some_kinds &&
	    (l->options->packet_kinds[packet->kind / 64] >> packet->kind % 64 &
		1) == 0)
		return (0);
	packet_write(l->writer, packet);
	return (1);
}

/*
 * Until the end, the limit, a failed write or an interrupt.  The library would
 * leave out kinds as well, but not come back before it has one.
 */
static int
write_packets(struct listing *l, struct hwtd_packets *packets)
{
	struct hwtd_packet_batch batch = { .size = sizeof(batch) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct output *out = l->writer->out;

	while (l->left > 0 && !output_stopped(out)) {
		const int rc = hwtd_packets_read(packets, &batch, &err);

		if (rc == HWTD_END)
			break;
		if (rc != HWTD_OK) {
			progress_end(&l->progress);
			output_flush(out);
			return (say_library_error(l->input->name, &err));
		}
		const char *at = (const char *)batch.packets;

		for (size_t i = 0; i < batch.n && l->left > 0; i++) {
			const void *const packet = at + i * batch.stride;

			l->left -= write_packet(l, packet);
		}
		show_progress(l, packets);
		if (interrupt_seen()) {
			packet_write_interrupted(l->writer);
			return (EXIT_INTERRUPTED);
		}
	}
	return (EXIT_DONE);
}

static int
list_range(struct listing *l, uint32_t stream, const struct hwtd_range *range)
{
	const struct hwtd_packets_options how = {
		.size = sizeof(how),
		.stream = stream,
		.flags = (l->options->no_sync ? HWTD_PACKETS_NO_SYNC : 0) |
		    (l->options->times_wanted ? HWTD_PACKETS_TIME : 0) |
		    HWTD_PACKETS_SINK |
		    (l->options->perf_style ? HWTD_PACKETS_PERF_LINES : 0),
		.first = range->start,
		.end = range->end,
	};
	struct hwtd_packets_stats stats = { .size = sizeof(stats) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_packets *packets;
	int code;

	if (hwtd_packets_open(l->input->trace, &how, &packets, &err) !=
	    HWTD_OK)
		return (say_library_error(l->input->name, &err));
	code = write_packets(l, packets);
	if (hwtd_packets_stats(packets, &stats) == HWTD_OK) {
		l->bytes += stats.bytes + stats.bytes_lost;
		l->bytes_not_named += stats.bytes_unknown + stats.bytes_lost;
	}
	hwtd_packets_close(packets);
	return (code);
}

/* Packets in any of the ranges, each once. */
static int
list_ranges(struct listing *l, uint32_t stream,
    const struct range_list *ranges)
{
	uint64_t done = 0;
	int code = EXIT_DONE;

	for (size_t i = 0; i < ranges->n && code == EXIT_DONE; i++) {
		struct hwtd_range range = ranges->ranges[i];

		if (range.start < done)
			range.start = done;
		if (range.start >= range.end)
			continue;
		done = range.end;
		code = list_range(l, stream, &range);
	}
	return (code);
}

/* What sinks hold is shown by their sources, unless they are asked for. */
static bool
is_shown(const struct listing *l, uint32_t stream,
    const struct hwtd_stream_desc *desc)
{
	const struct options *options = l->options;

	if (!is_in(&options->streams, stream) ||
	    !is_in(&options->cpus, desc->cpu))
		return (false);
	return (desc->framing == HWTD_FRAMING_NONE || options->streams.n > 0);
}

/* Of CoreSight, the protocol has to be known. */
static bool
is_known(const struct hwtd_stream_desc *desc)
{
	if (desc->tech != HWTD_TECH_CORESIGHT)
		return (desc->tech == HWTD_TECH_INTEL_PT ||
		    desc->tech == HWTD_TECH_SPE);
	return (desc->framing != HWTD_FRAMING_NONE ||
	    (desc->coresight != NULL &&
		desc->coresight->protocol != HWTD_CS_UNKNOWN));
}

/* As perf does, each buffer on its own, with a line before it. */
static int
list_buffers(struct listing *l, uint32_t stream,
    const struct range_list *ranges)
{
	struct hwtd_extent extent = { .size = sizeof(extent) };
	uint64_t done = 0;
	int code = EXIT_DONE;

	for (size_t i = 0; code == EXIT_DONE && l->left > 0 &&
	     hwtd_trace_extent(l->input->trace, stream, i, &extent) == HWTD_OK;
	     i++) {
		bool shown = false;

		for (size_t r = 0; r < ranges->n && code == EXIT_DONE; r++) {
			struct hwtd_range part = ranges->ranges[r];

			if (part.start < extent.start)
				part.start = extent.start;
			if (part.start < done)
				part.start = done;
			if (part.end > extent.end)
				part.end = extent.end;
			if (part.start >= part.end)
				continue;
			if (!shown)
				packet_write_buffer(l->writer, &extent);
			shown = true;
			done = part.end;
			code = list_range(l, stream, &part);
		}
	}
	return (code);
}

static int
list_stream(struct listing *l, uint32_t stream)
{
	static struct hwtd_range all = { 0, UINT64_MAX };
	static const struct range_list whole = { &all, 1 };
	const struct options *options = l->options;
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };

	if (hwtd_trace_stream(l->input->trace, stream, &desc) != HWTD_OK ||
	    !is_shown(l, stream, &desc))
		return (EXIT_DONE);
	if (!is_known(&desc)) {
		say_warning("%s: stream %" PRIu32
			    ": packets of %s are not known",
		    l->input->name, stream, tech_name(desc.tech));
		l->n_unsupported++;
		return (EXIT_DONE);
	}
	if (options->times_wanted && desc.clock.counts_per == 0) {
		say_warning("%s: stream %" PRIu32
			    " has no clock, so packets have no times",
		    l->input->name, stream);
		say_hint("--clock tells the clock of raw bytes");
	}
	if (options->perf_style && desc.tech != HWTD_TECH_SPE) {
		progress_end(&l->progress);
		say_error("%s: stream %" PRIu32
			  ": --style perf is for Arm SPE, not for %s",
		    l->input->name, stream, tech_name(desc.tech));
		say_hint("--stream chooses streams");
		return (EXIT_BAD_USAGE);
	}
	l->n_shown++;
	if (options->perf_style)
		return (list_buffers(l, stream,
		    options->offsets.n > 0 ? &options->offsets : &whole));
	return (list_ranges(l, stream,
	    options->offsets.n > 0 ? &options->offsets : &whole));
}

static int
by_start(const void *a, const void *b)
{
	const uint64_t x = ((const struct hwtd_range *)a)->start;
	const uint64_t y = ((const struct hwtd_range *)b)->start;

	return ((x > y) - (x < y));
}

/* What was lost, as the other commands count it. */
static int
judge(const struct listing *l)
{
	const struct hwtd_stats stats = {
		.size = sizeof(stats),
		.bytes = l->bytes,
		.gap_bytes = l->bytes_not_named,
	};

	if (l->n_unsupported > 0 && l->n_shown == 0)
		return (EXIT_BAD_INPUT);
	return (loss_exit_code(l->input->name, &stats, l->options->max_loss));
}

static int
list(const struct input *input, const struct options *options,
    struct output *out)
{
	struct packet_writer writer;
	struct listing l = { .input = input,
		.options = options,
		.writer = &writer,
		.left = options->limit };
	int code = EXIT_DONE;

	if (!packet_writer_init(&writer, out, input, options))
		return (EXIT_FAILED);
	for (size_t i = 0; i < PACKET_KIND_WORDS; i++)
		if (options->packet_kinds[i] != 0)
			l.some_kinds = true;
	if (options->offsets.n > 1)
		qsort(options->offsets.ranges, options->offsets.n,
		    sizeof(*options->offsets.ranges), by_start);
	packet_write_header(&writer);
	progress_start(&l.progress, options->progress, input->info.n_bytes);
	for (uint32_t i = 0; i < input->info.n_streams && code == EXIT_DONE;
	     i++)
		code = list_stream(&l, i);
	progress_end(&l.progress);
	if (code == EXIT_DONE)
		code = judge(&l);
	packet_writer_fini(&writer);
	return (code);
}

int
cmd_packets(const struct options *options)
{
	struct input input;
	struct output out;
	int code = input_open(&input, options);

	if (code != EXIT_DONE)
		return (code);
	code = input_check_streams(&input, options);
	if (code == EXIT_DONE && !output_open(&out, options->output))
		code = EXIT_FAILED;
	else if (code == EXIT_DONE) {
		code = list(&input, options, &out);
		const bool keep = code == EXIT_DONE || code == EXIT_LOSS ||
		    code == EXIT_INTERRUPTED;

		if (!output_close(&out, keep))
			code = EXIT_FAILED;
	}
	input_close(&input);
	return (code);
}
