/*
 * hwtdecode mem: tables of the samples of one trace or several.
 */
#include "cli/print/mem_report.h"
#include "cli/output/message.h"
#include "cli/input/read_rows.h"
#include "cli/options/sample_options.h"
#include "cli/print/where.h"

/* One input on its way into the tables. */
struct adding {
	const struct input *input;
	struct hwtd_memory *memory;
	const struct where *where;
	/* Of the row before, plus 1; and what is known of that stream. */
	uint64_t stream_plus_1;
	struct row_stream stream;
};

static const struct row_stream *
stream_of(struct adding *adding, uint32_t id)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };

	if (adding->stream_plus_1 == (uint64_t)id + 1)
		return (&adding->stream);
	adding->stream_plus_1 = (uint64_t)id + 1;
	adding->stream = (struct row_stream){ .cpu = HWTD_NO_ID };
	if (hwtd_trace_stream(adding->input->trace, id, &desc) == HWTD_OK &&
	    desc.spe != NULL) {
		adding->stream.midr = desc.spe->midr;
		adding->stream.version = desc.spe->version;
	}
	return (&adding->stream);
}

static int
add_rows(void *arg, const struct hwtd_batch *batch, uint64_t *n_out)
{
	struct adding *adding = arg;
	struct hwtd_error err = { .size = sizeof(err) };

	*n_out = batch->n;
	for (size_t i = 0; i < batch->n; i++) {
		const struct hwtd_event *row = &batch->events[i];
		const struct hwtd_sample *sample;

		if (row->kind != HWTD_EV_SAMPLE ||
		    row->value >= batch->n_samples)
			continue;
		sample = (const struct hwtd_sample *)((const char *)
							  batch->samples +
		    (size_t)row->value * batch->sample_stride);
		if (!where_holds(adding->where, sample,
			stream_of(adding, row->stream)))
			continue;
		if (hwtd_memory_add(adding->memory, row, sample, &err) !=
		    HWTD_OK)
			return (say_library_error(adding->input->name, &err));
	}
	return (EXIT_DONE);
}

static bool
never_stopped(void *arg)
{
	(void)arg;
	return (false);
}

static void
nothing_to_flush(void *arg)
{
	(void)arg;
}

static void
note_loss(struct mem_report *report, const struct hwtd_stats *stats)
{
	report->bytes += stats->bytes;
	report->gap_bytes += stats->gap_bytes;
	for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
		report->gaps[i] += stats->gaps[i];
}

/* What records tell of buffers, where they do. */
static void
note_buffers(struct mem_report *report, const struct input *input)
{
	const uint64_t lost = HWTD_BUFFERF_TRUNCATED | HWTD_BUFFERF_PARTIAL;

	for (uint64_t i = 0; i < input->info.n_records; i++) {
		struct hwtd_stream_desc stream = { .size = sizeof(stream) };
		struct hwtd_record r = { .size = sizeof(r) };

		if (hwtd_trace_record(input->trace, i, &r) != HWTD_OK ||
		    r.type != HWTD_REC_BUFFER ||
		    (r.flags & HWTD_RECF_VALUE) == 0 ||
		    hwtd_trace_stream(input->trace, r.stream, &stream) !=
			HWTD_OK ||
		    stream.tech != HWTD_TECH_SPE)
			continue;
		report->buffers++;
		report->collided += (r.value & HWTD_BUFFERF_COLLISION) != 0;
		report->cut_short += (r.value & lost) != 0;
	}
}

static int
open_tables(const struct mem_report *report, struct hwtd_trace *trace,
    struct hwtd_memory **out, struct hwtd_error *err)
{
	const struct options *o = report->options;
	const struct hwtd_memory_options options = {
		.size = sizeof(options),
		.tables = 1u << report->table,
		.flags = (report->accesses ? HWTD_MEMORY_KEEP_ACCESSES : 0) |
		    (o->physical ? HWTD_MEMORY_KEEP_PHYSICAL : 0),
		.line_bytes = o->line_bytes,
	};

	return (hwtd_memory_open(trace, &options, out, err));
}

/* Into the tables of the report; the first input's are these. */
static int
add_input(struct mem_report *report, const struct options *options,
    const struct where *where)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct adding adding = { .where = where };
	const struct row_reader reader = { &adding, add_rows, never_stopped,
		nothing_to_flush };
	struct hwtd_stats stats;
	struct input input;
	int code = input_open(&input, options);

	if (code != EXIT_DONE)
		return (code);
	adding.input = &input;
	code = input_check_streams(&input, options);
	if (code == EXIT_DONE &&
	    open_tables(report, input.trace, &adding.memory, &err) != HWTD_OK)
		code = say_library_error(input.name, &err);
	if (code == EXIT_DONE) {
		code = read_rows(&input, options, HWTD_LEVEL_BLOCK, &reader,
		    &stats);
		note_loss(report, &stats);
		note_buffers(report, &input);
	}
	if (report->memory == NULL) {
		report->memory = adding.memory;
		adding.memory = NULL;
	} else if (adding.memory != NULL &&
	    hwtd_memory_merge(report->memory, adding.memory, &err) !=
		HWTD_OK) {
		code = say_library_error(input.name, &err);
	}
	hwtd_memory_close(adding.memory);
	input_close(&input);
	return (code);
}

/* Done, or done as far as the user wanted. */
static bool
is_of_use(int code)
{
	return (code == EXIT_DONE || code == EXIT_LOSS ||
	    code == EXIT_INTERRUPTED);
}

static int
add_inputs(struct mem_report *report, const struct options *options,
    const struct where *where)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < options->n_operands; i++) {
		struct options one = *options;
		int more;

		one.operands = options->operands + i;
		one.n_operands = 1;
		one.kinds = 1u << HWTD_EV_SAMPLE | 1u << HWTD_EV_GAP;
		more = add_input(report, &one, where);
		if (more != EXIT_DONE)
			code = more;
		if (more != EXIT_DONE && more != EXIT_LOSS)
			break;
	}
	return (code);
}

/* Only some of the samples were asked for. */
static bool
is_filtered(const struct options *o)
{
	return (o->n_wheres + o->times.n + o->addresses.n + o->cpus.n +
		o->tids.n + o->pids.n + o->streams.n !=
	    0);
}

static void
warn_of_nothing(const struct mem_report *report)
{
	struct hwtd_memory_info info = { .size = sizeof(info) };

	if (hwtd_memory_info(report->memory, &info) != HWTD_OK ||
	    info.samples != 0 || is_filtered(report->options))
		return;
	say_warning("%s: no samples of Arm SPE", report->options->operands[0]);
}

static void
choose_table(struct mem_report *report, const struct options *options)
{
	report->shared_only = options->by == SAMPLE_BY_SHARING;
	report->table = report->shared_only ? HWTD_MEMORY_LINE : options->by;
	report->accesses = report->shared_only || options->accesses;
	report->sort = options->has_sort ? options->sort
	    : report->table == HWTD_MEMORY_BRANCH ||
		report->table == HWTD_MEMORY_PATH
	    ? HWTD_MEMORY_BY_SAMPLES
	    : report->shared_only ? HWTD_MEMORY_BY_SHARING
				  : HWTD_MEMORY_BY_LATENCY;
}

static int
check_options(const struct mem_report *report)
{
	if (report->sort == HWTD_MEMORY_BY_SHARING &&
	    report->table != HWTD_MEMORY_LINE) {
		say_error("--sort sharing is for cache lines");
		say_hint("say --by line or --by sharing");
		return (EXIT_BAD_USAGE);
	}
	if (report->accesses && report->table != HWTD_MEMORY_LINE) {
		say_error("--accesses are those of cache lines");
		say_hint("say --by line or --by sharing");
		return (EXIT_BAD_USAGE);
	}
	if (report->options->histogram &&
	    report->options->format != FORMAT_JSONL) {
		say_error("--histogram: only JSON lines have it");
		say_hint("say --format jsonl");
		return (EXIT_BAD_USAGE);
	}
	return (EXIT_DONE);
}

int
cmd_mem(const struct options *options)
{
	struct mem_report report = { .options = options };
	struct where where;
	struct output out;
	int code;

	choose_table(&report, options);
	/* How lines are shared is found out for that order only. */
	if (report.sort == HWTD_MEMORY_BY_SHARING)
		report.accesses = true;
	code = check_options(&report);
	if (code != EXIT_DONE)
		return (code);
	if (!where_init(&where, options))
		return (EXIT_BAD_USAGE);
	code = add_inputs(&report, options, &where);
	if (is_of_use(code)) {
		warn_of_nothing(&report);
		report.out = &out;
		report.interrupted = code == EXIT_INTERRUPTED;
		if (!output_open(&out, options->output)) {
			code = EXIT_FAILED;
		} else {
			const int done = mem_report(&report);

			if (done != EXIT_DONE)
				code = done;
			if (!output_close(&out, done == EXIT_DONE))
				code = EXIT_FAILED;
		}
	}
	hwtd_memory_close(report.memory);
	where_fini(&where);
	return (code);
}
