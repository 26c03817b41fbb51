/*
 * hwtdecode-flow: decode one stream with the public API and write or check what
 * executed, in the forms that conformance cases use.
 */
#include "flow.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_ROWS 65536

/* The process of a raw stream whose mappings are told. */
#define MAPS_PID 1

/* Exit codes. */
#define EXIT_DIFFERS 1
#define EXIT_TROUBLE 2
#define EXIT_LIMIT 3

struct options {
	struct hwtd_pt_config pt;
	struct flow_coresight coresight;
	struct hwtd_clock clock;
	struct flow_time time;
	const char *engine;
	/* Or two of them, whose rows are compared. */
	const char *compare[2];
	/* A file of raw bytes, or with `open` one that tells what it is. */
	const char *trace;
	bool open;
	const char *maps;
	bool has_stream;
	uint32_t stream;
	const char *runs;
	const char *insns;
	const char *hash;
	const char *edges;
	const char *events;
	const char *gaps;
	const char *truth;
	const char *sequence;
	uint64_t limit;
	uint32_t jobs;
	size_t n_filters;
	struct hwtd_image_desc *images;
	size_t n_images;
};

static const char usage[] =
    "usage: hwtdecode-flow [options] TRACE\n"
    "  --open                             TRACE is no raw stream\n"
    "  --stream N                         of several only this one\n"
    "  --maps FILE                        mappings of a raw stream\n"
    "  --image FILE:OFFSET:SIZE:ADDRESS   code (numbers in hex), repeatable\n"
    "  --cpu FAMILY/MODEL[/STEPPING]      CPU signature\n"
    "  --mtc-freq N  --nom-freq N  --cpuid15 EAX/EBX\n"
    "  --coresight NAME=VALUE             framing, then of each source\n"
    "                                     protocol, arch, profile, registers\n"
    "  --filter START:END                 trace only inside (hex, inclusive)\n"
    "  --clock COUNTS:NS                  COUNTS ticks are NS nanoseconds\n"
    "  --engine NAME  --jobs N\n"
    "  --compare NAME,NAME                compare the rows of two engines\n"
    "  --limit N                          stop after N instructions, exit 3\n"
    "  --runs FILE  --insns FILE  --hash FILE  --edges FILE  --events FILE\n"
    "  --gaps FILE                        write these; '-' is stdout\n"
    "  --truth FILE                       check against truth records\n"
    "  --sequence FILE                    check against all addresses\n"
    "  --time none|ticks:N|anchors:N|stamps   tolerance of their times\n";

void
flow_die(const char *format, ...)
{
	va_list args;

	fputs("hwtdecode-flow: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(EXIT_TROUBLE);
}

void *
flow_grow(void *old, size_t bytes)
{
	void *memory = realloc(old, bytes);

	if (memory == NULL)
		flow_die("out of memory");
	return (memory);
}

void *
flow_alloc(size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (memory == NULL)
		flow_die("out of memory");
	return (memory);
}

static void
check(int rc, const char *what, const struct hwtd_error *err)
{
	if (rc < 0)
		flow_die("%s: %s: %s", what, hwtd_code_text(rc), err->message);
}

/* Read a number up to `stop` and go behind it. */
static uint64_t
number(char **text, int base, char stop, const char *option)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(*text, &end, base);
	if (errno != 0 || end == *text || *end != stop)
		flow_die("--%s: cannot read '%s'", option, *text);
	*text = stop == '\0' ? end : end + 1;
	return (value);
}

static uint64_t
small(char **text, char stop, const char *option, uint64_t most)
{
	uint64_t value = number(text, 0, stop, option);

	if (value > most)
		flow_die("--%s: %" PRIu64 " is too large", option, value);
	return (value);
}

static void
add_image(struct options *options, char *text)
{
	struct hwtd_image_desc *image;
	char *at = text;
	int colons = 0;

	/* The file name may hold colons, the numbers cannot. */
	for (at = text + strlen(text); at > text && colons < 3;)
		colons += *--at == ':';
	if (colons < 3)
		flow_die("--image: cannot read '%s'", text);
	*at++ = '\0';
	options->images = flow_grow(options->images,
	    (options->n_images + 1) * sizeof(*options->images));
	image = &options->images[options->n_images++];
	*image = (struct hwtd_image_desc){
		.size = sizeof(*image),
		.path = text,
		.flags = HWTD_IMAGEF_ADDRESS,
	};
	image->offset = number(&at, 16, ':', "image");
	image->length = number(&at, 16, ':', "image");
	image->address = number(&at, 16, '\0', "image");
}

static void
add_filter(struct options *options, char *text)
{
	struct hwtd_pt_filter *filter;

	if (options->n_filters == HWTD_PT_MAX_FILTERS)
		flow_die("--filter: too many");
	filter = &options->pt.filters[options->n_filters++];
	filter->mode = HWTD_PT_FILTER_TRACE;
	filter->start = number(&text, 16, ':', "filter");
	filter->end = number(&text, 16, '\0', "filter");
}

static void
set_cpu(struct hwtd_pt_config *pt, char *text)
{
	bool stepping = strchr(text, '/') != strrchr(text, '/');

	pt->cpu_family = (uint16_t)small(&text, '/', "cpu", UINT16_MAX);
	pt->cpu_model = (uint8_t)small(&text, stepping ? '/' : '\0', "cpu",
	    UINT8_MAX);
	if (stepping)
		pt->cpu_stepping = (uint8_t)small(&text, '\0', "cpu",
		    UINT8_MAX);
}

static void
set_time(struct flow_time *time, char *text)
{
	if (strcmp(text, "none") == 0 || strcmp(text, "stamps") == 0) {
		time->rule = text[0] == 'n' ? FLOW_TIME_NONE
					    : FLOW_TIME_STAMPS;
		return;
	}
	if (strncmp(text, "ticks:", 6) == 0)
		time->rule = FLOW_TIME_TICKS;
	else if (strncmp(text, "anchors:", 8) == 0)
		time->rule = FLOW_TIME_ANCHORS;
	else
		flow_die("--time: cannot read '%s'", text);
	text = strchr(text, ':') + 1;
	time->ticks = number(&text, 0, '\0', "time");
}

static void
set_compare(struct options *options, char *text)
{
	char *comma = strchr(text, ',');

	if (comma == NULL)
		flow_die("--compare: cannot read '%s'", text);
	*comma = '\0';
	options->compare[0] = text;
	options->compare[1] = comma + 1;
}

static void
set_option(struct options *options, const char *name, char *text)
{
	const struct {
		const char *name;
		const char **value;
	} strings[] = {
		{ "engine", &options->engine },
		{ "maps", &options->maps },
		{ "runs", &options->runs },
		{ "insns", &options->insns },
		{ "hash", &options->hash },
		{ "edges", &options->edges },
		{ "events", &options->events },
		{ "gaps", &options->gaps },
		{ "truth", &options->truth },
		{ "sequence", &options->sequence },
	};

	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		if (strcmp(name, strings[i].name) == 0) {
			*strings[i].value = text;
			return;
		}
	if (strcmp(name, "image") == 0)
		add_image(options, text);
	else if (strcmp(name, "open") == 0)
		options->open = true;
	else if (strcmp(name, "stream") == 0) {
		options->stream = (uint32_t)small(&text, '\0', name,
		    HWTD_NO_ID - 1);
		options->has_stream = true;
	} else if (strcmp(name, "cpu") == 0)
		set_cpu(&options->pt, text);
	else if (strcmp(name, "mtc-freq") == 0)
		options->pt.mtc_freq = (uint8_t)small(&text, '\0', name, 15);
	else if (strcmp(name, "nom-freq") == 0)
		options->pt.nom_freq = (uint8_t)small(&text, '\0', name,
		    UINT8_MAX);
	else if (strcmp(name, "cpuid15") == 0) {
		options->pt.cpuid_15h_eax = (uint32_t)small(&text, '/', name,
		    UINT32_MAX);
		options->pt.cpuid_15h_ebx = (uint32_t)small(&text, '\0', name,
		    UINT32_MAX);
	} else if (strcmp(name, "coresight") == 0)
		flow_coresight_set(&options->coresight, text);
	else if (strcmp(name, "filter") == 0)
		add_filter(options, text);
	else if (strcmp(name, "clock") == 0) {
		options->clock.counts_per = number(&text, 0, ':', name);
		options->clock.ns_per = number(&text, 0, '\0', name);
	} else if (strcmp(name, "limit") == 0)
		options->limit = number(&text, 0, '\0', name);
	else if (strcmp(name, "compare") == 0)
		set_compare(options, text);
	else if (strcmp(name, "jobs") == 0)
		options->jobs = (uint32_t)small(&text, '\0', name, 1024);
	else
		set_time(&options->time, text);
}

static void
parse(struct options *options, int argc, char **argv)
{
	static const struct option known[] = {
		{ "open", no_argument, NULL, 'o' },
		{ "stream", required_argument, NULL, 'o' },
		{ "maps", required_argument, NULL, 'o' },
		{ "image", required_argument, NULL, 'o' },
		{ "cpu", required_argument, NULL, 'o' },
		{ "mtc-freq", required_argument, NULL, 'o' },
		{ "nom-freq", required_argument, NULL, 'o' },
		{ "cpuid15", required_argument, NULL, 'o' },
		{ "coresight", required_argument, NULL, 'o' },
		{ "filter", required_argument, NULL, 'o' },
		{ "clock", required_argument, NULL, 'o' },
		{ "engine", required_argument, NULL, 'o' },
		{ "compare", required_argument, NULL, 'o' },
		{ "jobs", required_argument, NULL, 'o' },
		{ "limit", required_argument, NULL, 'o' },
		{ "runs", required_argument, NULL, 'o' },
		{ "insns", required_argument, NULL, 'o' },
		{ "hash", required_argument, NULL, 'o' },
		{ "edges", required_argument, NULL, 'o' },
		{ "events", required_argument, NULL, 'o' },
		{ "gaps", required_argument, NULL, 'o' },
		{ "truth", required_argument, NULL, 'o' },
		{ "sequence", required_argument, NULL, 'o' },
		{ "time", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int index = 0, c;

	while ((c = getopt_long(argc, argv, "", known, &index)) != -1) {
		if (c == 'h') {
			fputs(usage, stdout);
			exit(EXIT_SUCCESS);
		}
		if (c != 'o') {
			fputs(usage, stderr);
			exit(EXIT_TROUBLE);
		}
		set_option(options, known[index].name, optarg);
	}
	if (optind + 1 != argc) {
		fputs(usage, stderr);
		exit(EXIT_TROUBLE);
	}
	options->trace = argv[optind];
	if (options->open && (options->n_images > 0 || options->maps != NULL))
		flow_die("--image and --maps are not for --open");
	if (!options->open && options->has_stream &&
	    options->coresight.n_sources == 0)
		flow_die("--stream: there is only one");
}

static void
add_bytes(struct hwtd_trace *trace, uint32_t stream, const char *path,
    struct hwtd_error *err)
{
	FILE *file = fopen(path, "rb");
	static char buffer[1 << 20];
	size_t n;

	if (file == NULL)
		flow_die("%s: %s", path, strerror(errno));
	while ((n = fread(buffer, 1, sizeof(buffer), file)) > 0)
		check(hwtd_trace_add_bytes(trace, stream, buffer, n, err),
		    path, err);
	if (ferror(file))
		flow_die("%s: read error", path);
	fclose(file);
}

static struct hwtd_trace *
build(const struct options *options, struct hwtd_context *context,
    struct hwtd_error *err)
{
	struct hwtd_stream_desc desc = {
		.size = sizeof(desc),
		.tech = HWTD_TECH_INTEL_PT,
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.pt = &options->pt,
		.clock = options->clock,
	};
	struct hwtd_trace *trace = NULL;
	uint32_t stream = 0;

	if (options->open) {
		check(hwtd_trace_open(context, options->trace, NULL, &trace,
			  err),
		    "trace", err);
		return (trace);
	}
	if (options->maps != NULL)
		desc.pid = MAPS_PID;
	check(hwtd_trace_create(context, NULL, &trace, err), "trace", err);
	if (options->coresight.n_sources > 0)
		stream = flow_coresight_add(trace, &options->coresight, &desc);
	else
		check(hwtd_trace_add_stream(trace, &desc, &stream, err),
		    "stream", err);
	add_bytes(trace, stream, options->trace, err);
	for (size_t i = 0; i < options->n_images; i++)
		check(hwtd_trace_add_image(trace, &options->images[i], NULL,
			  err),
		    options->images[i].path, err);
	if (options->maps != NULL)
		flow_add_maps(trace,
		    options->has_stream ? options->stream : stream, desc.pid,
		    options->maps);
	check(hwtd_trace_seal(trace, err), "seal", err);
	return (trace);
}

static FILE *
open_out(const char *path)
{
	FILE *out;

	if (strcmp(path, "-") == 0)
		return (stdout);
	out = fopen(path, "w");
	if (out == NULL)
		flow_die("%s: %s", path, strerror(errno));
	return (out);
}

static struct flow_sink *
push(struct flow_sink *list, struct flow_sink *sink)
{
	sink->next = list;
	return (sink);
}

static struct flow_sink *
open_sinks(const struct options *options, struct hwtd_trace *trace)
{
	struct flow_sink *list = NULL;

	if (options->runs != NULL)
		list = push(list, flow_runs(open_out(options->runs)));
	if (options->insns != NULL)
		list = push(list, flow_insns(open_out(options->insns)));
	if (options->hash != NULL)
		list = push(list, flow_hash(open_out(options->hash)));
	if (options->edges != NULL)
		list = push(list, flow_edges(open_out(options->edges)));
	if (options->events != NULL)
		list = push(list,
		    flow_events(open_out(options->events), trace,
			options->coresight.n_sources > 0));
	if (options->gaps != NULL)
		list = push(list, flow_gaps(open_out(options->gaps)));
	if (options->sequence != NULL)
		list = push(list, flow_sequence(options->sequence, stdout));
	if (options->truth != NULL)
		list = push(list,
		    flow_truth(options->truth, options->time, trace,
			options->stream, stdout));
	return (list);
}

/* Bytes of the stream that the gaps of a batch cover. */
static uint64_t
gap_bytes(const struct hwtd_batch *batch)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < batch->n_gaps; i++) {
		const struct hwtd_gap *gap = (const struct hwtd_gap
			*)(const void *)((const char *)batch->gaps +
		    i * batch->gap_stride);

		if (gap->reason != HWTD_GAP_FILE_DAMAGED)
			bytes += gap->end - gap->first;
	}
	return (bytes);
}

static uint64_t
insns_of(const struct hwtd_batch *batch)
{
	uint64_t insns = 0;

	for (size_t i = 0; i < batch->n; i++)
		insns += batch->events[i].kind == HWTD_EV_INSN;
	return (insns);
}

/* Pull all rows through the sinks.  False: the limit was reached. */
static bool
pull(struct hwtd_events *events, struct flow_sink *sinks, uint64_t limit,
    uint64_t *gaps, struct hwtd_error *err)
{
	struct hwtd_batch batch = {
		.size = sizeof(batch),
		.events = flow_alloc(BATCH_ROWS * sizeof(struct hwtd_event)),
		.stride = sizeof(struct hwtd_event),
		.cap = BATCH_ROWS,
	};
	uint64_t insns = 0;
	bool within = true;
	int rc = HWTD_OK;

	while (within &&
	    (rc = hwtd_events_read(events, &batch, err)) == HWTD_OK) {
		for (struct flow_sink *sink = sinks; sink != NULL;
		     sink = sink->next)
			sink->rows(sink, &batch);
		*gaps += gap_bytes(&batch);
		if (limit != 0) {
			insns += insns_of(&batch);
			within = insns <= limit;
		}
	}
	check(rc, "read", err);
	free(batch.events);
	return (within);
}

/* Bytes of the streams that are decoded. */
static uint64_t
bytes_of(const struct options *options, const struct hwtd_trace *trace)
{
	struct hwtd_stream_desc stream = { .size = sizeof(stream) };
	struct hwtd_trace_info info = { .size = sizeof(info) };

	if (options->has_stream) {
		if (hwtd_trace_stream(trace, options->stream, &stream) !=
		    HWTD_OK)
			flow_die("--stream: there is no such stream");
		return (stream.n_bytes);
	}
	return (hwtd_trace_info(trace, &info) == HWTD_OK ? info.n_bytes : 0);
}

/* Every byte must be accounted for.  False: it is not. */
static bool
account(const struct hwtd_events *events, uint64_t n_bytes, uint64_t gaps)
{
	struct hwtd_stats stats = { .size = sizeof(stats) };
	bool good = true;

	if (hwtd_events_stats(events, &stats) != HWTD_OK)
		return (false);
	printf("stats: %" PRIu64 " bytes, %" PRIu64 " in gaps, %" PRIu64
	       " instructions, %" PRIu64 " blocks\n",
	    stats.bytes, stats.gap_bytes, stats.insns, stats.blocks);
	if (stats.bytes != n_bytes) {
		printf("account: %" PRIu64 " bytes read of %" PRIu64 "\n",
		    stats.bytes, n_bytes);
		good = false;
	}
	if (stats.gap_bytes != gaps || gaps > n_bytes) {
		printf("account: gaps cover %" PRIu64
		       " bytes, stats say %" PRIu64 "\n",
		    gaps, stats.gap_bytes);
		good = false;
	}
	return (good);
}

/* Decode with one engine.  Returns an exit code. */
static int
decode(const struct options *options, struct hwtd_trace *trace,
    const struct hwtd_events_options *how, struct hwtd_error *err)
{
	const uint64_t n_bytes = bytes_of(options, trace);
	struct hwtd_events *events = NULL;
	struct flow_sink *sinks, *next;
	bool good = true, within;
	uint64_t gaps = 0;

	check(hwtd_events_open(trace, how, &events, err), "open", err);
	sinks = open_sinks(options, trace);
	within = pull(events, sinks, options->limit, &gaps, err);
	for (; sinks != NULL; sinks = next) {
		next = sinks->next;
		good = sinks->end(sinks) && good;
	}
	if (within)
		good = account(events, n_bytes, gaps) && good;
	hwtd_events_close(events);
	if (!within)
		return (EXIT_LIMIT);
	return (good ? EXIT_SUCCESS : EXIT_DIFFERS);
}

int
main(int argc, char **argv)
{
	struct options options = { .pt = { .size = sizeof(options.pt) } };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events_options how = {
		.size = sizeof(how),
		.level = HWTD_LEVEL_INSN,
		.kinds = ((uint32_t)1 << HWTD_EV_KINDS) - 1 -
		    ((uint32_t)1 << HWTD_EV_RECORD),
	};
	const uint32_t not_compared = (uint32_t)1 << HWTD_EV_TIME |
	    (uint32_t)1 << HWTD_EV_CYCLES;
	struct hwtd_context *context = NULL;
	struct hwtd_trace *trace;
	int rc;

	parse(&options, argc, argv);
	how.engine = options.engine;
	how.jobs = options.jobs;
	check(hwtd_context_create(NULL, &context, &err), "context", &err);
	trace = build(&options, context, &err);
	if (options.has_stream) {
		how.streams = &options.stream;
		how.n_streams = 1;
	}
	if (options.compare[0] == NULL)
		rc = decode(&options, trace, &how, &err);
	else {
		how.kinds &= ~not_compared;
		rc = flow_compare(trace, &how, options.compare, stdout)
		    ? EXIT_SUCCESS
		    : EXIT_DIFFERS;
	}
	hwtd_trace_close(trace);
	hwtd_context_destroy(context);
	free(options.images);
	return (rc);
}
