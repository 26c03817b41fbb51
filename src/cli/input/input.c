/*
 * Opening the trace that a command reads, with errors that name the file at
 * fault.
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
#include "cli/options/spe_options.h"
#include "cli/output/output_guard.h"
#include "cli/options/search_options.h"
#include "cli/input/spool.h"

static void
say_log(void *arg, const struct hwtd_log_record *record)
{
	(void)arg;
	if (record->level <= HWTD_LOG_ERROR)
		say_error("%s: %s", record->area, record->message);
	else
		say_warning("%s: %s", record->area, record->message);
}

/* Some folders can be opened as they are: those that have a file of this name. */
static bool
has_file(const char *path, const char *name)
{
	char text[4096];
	const int n = snprintf(text, sizeof(text), "%s/%s", path, name);

	return (n > 0 && (size_t)n < sizeof(text) && access(text, F_OK) == 0);
}

/* A trace-and-debug snapshot, or what perf record --kcore makes. */
static bool
is_trace_folder(const char *path)
{
	return (has_file(path, "snapshot.ini") || has_file(path, "data"));
}

/* Threads that files of hwt(8) are looked for of. */
#define MAX_THREADS 1024

/* No file, but the beginning of the names of files that hwt(8) wrote. */
static bool
is_family(const char *path)
{
	char text[4096];

	if (path[0] == '\0' || access(path, F_OK) == 0 || errno != ENOENT)
		return (false);
	for (int i = 0; i < MAX_THREADS; i++) {
		const int n = snprintf(text, sizeof(text), "%s%d", path, i);

		if (n > 0 && (size_t)n < sizeof(text) &&
		    access(text, F_OK) == 0)
			return (true);
	}
	return (false);
}

/* The library would say less, and opening a FIFO would wait for ever. */
static bool
check_readable(const char *path, const char *what)
{
	struct stat st;

	if (stat(path, &st) != 0) {
		const int why = errno;
		char packed[4096];

		say_error("%s: %s", path, strerror(why));
		const size_t n = strlen(path);

		if (why == ENOENT && n + 5 < sizeof(packed)) {
			memcpy(packed, path, n);
			memcpy(packed + n, ".zst", 5);
			if (access(packed, F_OK) == 0) {
				say_hint("unpack it first: zstd -d '%s'",
				    packed);
				return (false);
			}
		}
		say_hint("check the name of %s", what);
		return (false);
	}
	if (S_ISDIR(st.st_mode) && is_trace_folder(path))
		return (true);
	if (S_ISDIR(st.st_mode)) {
		say_error("%s: %s", path, strerror(EISDIR));
		say_hint("name a file inside it");
		return (false);
	}
	if (!S_ISREG(st.st_mode)) {
		say_error("%s: not a regular file", path);
		say_hint("standard input may be a pipe: hwtdecode COMMAND - "
			 "<'%s'",
		    path);
		return (false);
	}
	if (access(path, R_OK) != 0) {
		say_error("%s: %s", path, strerror(errno));
		say_hint("you may not read %s", what);
		return (false);
	}
	return (true);
}

static bool
is_empty(const char *path)
{
	struct stat st;

	return (stat(path, &st) == 0 && st.st_size == 0);
}

/* What describes raw bytes has no meaning for other formats. */
static void
warn_of_unused(const struct input *input, const struct options *options)
{
	const struct {
		const char *name;
		bool given;
		/* Texts need it as well. */
		bool text;
	} raw_only[] = {
		{ "tech", options->tech != 0, false },
		{ "clock", options->clock.counts_per != 0, true },
		{ "framing", options->has_framing, false },
		{ "etm-config", options->n_coresight != 0, false },
		{ "perf-records", options->n_perf_records != 0, false },
		{ "maps", options->map_file != NULL, false },
		{ "thread", options->thread_plus_1 != 0, false },
		{ "split-at", options->n_buffers != 0 || options->find_buffers,
		    false },
		{ "stream-cpu", options->cpu_plus_1 != 0, true },
		{ "stream-pid", options->pid_plus_1 != 0, true },
		{ "stream-tid", options->tid_plus_1 != 0, true },
	};

	if (input->info.format == NULL ||
	    strcmp(input->info.format, "raw") == 0)
		return;
	/* A text of perf has no more than it shows. */
	const bool text = strcmp(input->info.format, "perf-text") == 0;

	for (size_t i = 0; i < sizeof(raw_only) / sizeof(raw_only[0]); i++) {
		if (raw_only[i].given && !(text && raw_only[i].text))
			say_warning("%s: --%s describes raw bytes and is not "
				    "used: the file says it itself",
			    input->name, raw_only[i].name);
	}
}

static void
warn_of_half_options(const struct options *options)
{
	if (options->pt.cpuid_15h_eax != 0 && !options->has_mtc_freq)
		say_warning("--pt-cpuid-15h without --pt-mtc-freq: MTC "
			    "packets are taken to come every crystal tick");
}

/* One by one, so that an error names the image at fault. */
static int
add_images(struct input *input, const struct options *options)
{
	struct hwtd_error err = { .size = sizeof(err) };

	for (size_t i = 0; i < options->n_images; i++) {
		const struct hwtd_image_desc *image = &options->images[i];

		const int rc = hwtd_trace_add_image(input->trace, image, NULL,
		    &err);

		if (rc == HWTD_OK)
			continue;
		error_drop_path(&err, image->path);
		/* The place is one of the option, not of the file. */
		err.offset = UINT64_MAX;
		if (rc != HWTD_E_INVALID && rc != HWTD_E_CORRUPT)
			return (say_library_error(image->path, &err));
		say_library_message(image->path, &err);
		say_hint("check the numbers given with the image: bytes of "
			 "the file from OFFSET on, SIZE of them, ADDRESS when "
			 "they ran");
		return (EXIT_BAD_USAGE);
	}
	return (EXIT_DONE);
}

/* There is room for so many at first. */
#define FEW_BUFFERS 4096

static bool
is_raw(const struct hwtd_trace *trace)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };

	return (hwtd_trace_info(trace, &info) == HWTD_OK &&
	    strcmp(info.format, "raw") == 0);
}

/* Buffers of raw bytes, by opening them as one.  Owned: free(). */
static int
find_buffers(struct hwtd_context *library, const char *path,
    const struct hwtd_open_options *how, struct hwtd_buffer **out,
    size_t *n_out, struct hwtd_error *err)
{
	struct hwtd_open_options whole = *how;
	struct hwtd_buffer *buffers = NULL;
	struct hwtd_trace *trace;
	size_t cap = 0, n = 0;
	int rc;

	whole.unsealed = 0;
	rc = hwtd_trace_open(library, path, &whole, &trace, err);
	if (rc != HWTD_OK)
		return (rc);
	/* With too little room, it is told how many there are. */
	while (is_raw(trace) && n >= cap) {
		cap = n < FEW_BUFFERS ? FEW_BUFFERS : n + 1;
		free(buffers);
		buffers = malloc(cap * sizeof(*buffers));
		rc = buffers != NULL
		    ? hwtd_spe_find_buffers(trace, 0, buffers, cap, &n, err)
		    : HWTD_E_NOMEM;
		if (buffers == NULL)
			(void)snprintf(err->message, sizeof(err->message),
			    "out of memory");
		if (rc != HWTD_OK)
			break;
	}
	hwtd_trace_close(trace);
	if (rc != HWTD_OK) {
		free(buffers);
		return (rc);
	}
	*out = buffers;
	*n_out = n;
	return (HWTD_OK);
}

/* What these tell lies beside the bytes of trace. */
static bool
is_sideband_only(const struct options *options)
{
	const uint32_t bits = COMMAND_RECORDS | COMMAND_MAPS | COMMAND_INFO;

	return ((options->command->bit & bits) != 0 && !options->time_span);
}

struct hwtd_context_options
library_options(const struct options *options)
{
	const struct hwtd_context_options library = {
		.size = sizeof(library),
		.log = say_log,
		.max_memory = options->max_memory,
	};

	return (library);
}

int
input_open(struct input *input, const struct options *options)
{
	struct hwtd_error err = { .size = sizeof(err) };
	const struct hwtd_context_options library = library_options(options);
	const struct hwtd_search search = search_of(options);
	struct hwtd_buffer *found = NULL;
	struct hwtd_open_options open = {
		.size = sizeof(open),
		.tech = options->tech,
		.cpu_plus_1 = options->cpu_plus_1,
		.pid_plus_1 = options->pid_plus_1,
		.tid_plus_1 = options->tid_plus_1,
		.pt = options->has_pt ? &options->pt : NULL,
		.clock = options->clock,
		.coresight = options->coresight,
		.n_coresight = options->n_coresight,
		.framing = options->framing,
		.spe = options->has_spe ? &options->spe : NULL,
		.perf_records = options->perf_records,
		.n_perf_records = options->n_perf_records,
		.map_file = options->map_file,
		.thread_plus_1 = options->thread_plus_1,
		.buffers = options->buffers,
		.n_buffers = options->n_buffers,
		.search = &search,
		.sideband_only = is_sideband_only(options),
		.unsealed = 1,
	};

	const char *path = options->operands[0];
	int code = guard_inputs(options);

	memset(input, 0, sizeof(*input));
	if (code != EXIT_DONE)
		return (code);
	input->name = path;
	input->info.size = sizeof(input->info);
	if (strcmp(path, "-") == 0) {
		input->name = "standard input";
		path = input->spooled = spool_standard_input();
		if (path == NULL)
			return (interrupt_seen() ? EXIT_INTERRUPTED
						 : EXIT_FAILED);
	} else if (!is_family(path) && !check_readable(path, "the trace")) {
		return (EXIT_FAILED);
	}
	for (size_t i = 0; i < options->n_images; i++) {
		if (!check_readable(options->images[i].path, "the image")) {
			input_close(input);
			return (EXIT_FAILED);
		}
	}
	if (options->map_file != NULL &&
	    !check_readable(options->map_file, "the maps")) {
		input_close(input);
		return (EXIT_FAILED);
	}
	for (size_t i = 0; i < options->n_perf_records; i++) {
		if (!check_readable(options->perf_records[i].path,
			"the records")) {
			input_close(input);
			return (EXIT_FAILED);
		}
	}
	int rc = hwtd_context_create(&library, &input->library, &err);

	if (rc == HWTD_OK && options->find_buffers)
		rc = find_buffers(input->library, path, &open, &found,
		    &open.n_buffers, &err);
	if (found != NULL)
		open.buffers = found;
	if (rc == HWTD_OK)
		rc = hwtd_trace_open(input->library, path, &open,
		    &input->trace, &err);
	free(found);
	if (rc != HWTD_OK) {
		code = EXIT_BAD_INPUT;
		error_drop_path(&err, path);
		if (rc == HWTD_E_UNRECOGNIZED && is_empty(path)) {
			say_library_message(input->name, &err);
			say_hint("nothing was recorded, or copying it failed");
		} else {
			code = say_library_error(input->name, &err);
		}
		input_close(input);
		return (code);
	}
	code = add_images(input, options);
	if (code == EXIT_DONE &&
	    hwtd_trace_seal(input->trace, &err) != HWTD_OK)
		code = say_library_error(input->name, &err);
	if (code != EXIT_DONE) {
		input_close(input);
		return (code);
	}
	if (hwtd_trace_info(input->trace, &input->info) != HWTD_OK) {
		say_error("%s: the trace tells nothing of itself",
		    input->name);
		input_close(input);
		return (EXIT_FAILED);
	}
	code = guard_named_files(options, input->trace);
	if (code != EXIT_DONE) {
		input_close(input);
		return (code);
	}
	warn_of_unused(input, options);
	warn_of_unused_spe(input->trace, input->info.n_streams, input->name,
	    options);
	warn_of_half_options(options);
	return (EXIT_DONE);
}

void
input_close(struct input *input)
{
	hwtd_trace_close(input->trace);
	hwtd_context_destroy(input->library);
	spool_remove(input->spooled);
	input->spooled = NULL;
	input->trace = NULL;
	input->library = NULL;
}

void
input_events_options(const struct options *options,
    struct hwtd_events_options *out)
{
	uint32_t jobs = options->jobs;

	if (jobs == 0) {
		const long n = sysconf(_SC_NPROCESSORS_ONLN);

		/* A few rows come sooner without readers that run ahead. */
		jobs = n > 1 && options->limit == UINT64_MAX ? (uint32_t)n : 1;
	}
	*out = (struct hwtd_events_options){
		.size = sizeof(*out),
		.jobs = jobs,
		.kinds = options->kinds,
		.flags = options->strict ? HWTD_DECODE_STRICT : 0,
		.cpus = options->cpus.ids,
		.n_cpus = options->cpus.n,
		.tids = options->tids.ids,
		.n_tids = options->tids.n,
		.pids = options->pids.ids,
		.n_pids = options->pids.n,
		.times_ns = options->times.ranges,
		.n_times = options->times.n,
		.addresses = options->addresses.ranges,
		.n_addresses = options->addresses.n,
		.engine = options->engine,
		.streams = options->streams.ids,
		.n_streams = options->streams.n,
	};
}

static bool
takes(const struct id_list *list, uint32_t id)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->ids[i] == id)
			return (true);
	return (list->n == 0);
}

/* Technologies of the streams that --stream and --cpu leave, a bit of each. */
static uint32_t
selected_techs(const struct input *input, const struct options *options)
{
	uint32_t techs = 0;

	for (uint32_t i = 0; i < input->info.n_streams; i++) {
		struct hwtd_stream_desc desc = { .size = sizeof(desc) };

		if (takes(&options->streams, i) &&
		    hwtd_trace_stream(input->trace, i, &desc) == HWTD_OK &&
		    /* One of a thread may have run on any. */
		    (desc.cpu == HWTD_NO_ID ||
			takes(&options->cpus, desc.cpu)))
			techs |= 1u << desc.tech;
	}
	return (techs);
}

/* Any of these threads, or processes, is that of a stream or a record. */
static bool
knows(const struct input *input, const struct id_list *tids,
    const struct id_list *pids)
{
	for (uint32_t i = 0; i < input->info.n_streams; i++) {
		struct hwtd_stream_desc desc = { .size = sizeof(desc) };

		if (hwtd_trace_stream(input->trace, i, &desc) == HWTD_OK &&
		    takes(tids, desc.tid) && takes(pids, desc.pid))
			return (true);
	}
	for (uint64_t i = 0; i < input->info.n_records; i++) {
		struct hwtd_record record = { .size = sizeof(record) };

		if (hwtd_trace_record(input->trace, i, &record) == HWTD_OK &&
		    takes(tids, record.tid) && takes(pids, record.pid))
			return (true);
	}
	return (false);
}

/* Intel PT says nothing of threads itself: it takes a stream or records. */
static void
warn_of_nobody(const struct input *input, const struct options *options)
{
	const struct id_list all = { .n = 0 };

	if (!knows(input, &options->tids, &all))
		say_warning("%s: no stream or record is of these threads; "
			    "'hwtdecode records' lists them",
		    input->name);
	else if (!knows(input, &all, &options->pids))
		say_warning("%s: no stream or record is of these processes; "
			    "'hwtdecode maps' lists them",
		    input->name);
}

/* An empty answer is most often a mistake of who asks. */
static void
warn_of_nothing(const struct input *input, const struct options *options)
{
	const uint32_t of_flow = COMMAND_CALLS | COMMAND_REPORT |
	    COMMAND_FLAME | COMMAND_COVERAGE | COMMAND_HIST | COMMAND_DIFF;
	const uint32_t spe = 1u << HWTD_TECH_SPE;
	const uint32_t command = options->command->bit;
	const uint32_t techs = selected_techs(input, options);

	if (input->info.n_streams == 0 || command == COMMAND_RECORDS)
		return;
	if (techs == 0)
		say_warning("%s: no stream is of these CPUs; 'hwtdecode info' "
			    "lists them",
		    input->name);
	else if ((command & of_flow) != 0 && techs == spe)
		say_warning("%s: samples of Arm SPE do not tell what ran; "
			    "'hwtdecode mem' adds them up",
		    input->name);
	else if (command == COMMAND_SPE && (techs & spe) == 0)
		say_warning("%s: no samples of Arm SPE", input->name);
	else if (techs == 1u << HWTD_TECH_INTEL_PT &&
	    options->tids.n + options->pids.n != 0)
		warn_of_nobody(input, options);
}

int
input_check_streams(const struct input *input, const struct options *options)
{
	for (size_t i = 0; i < options->streams.n; i++) {
		if (options->streams.ids[i] < input->info.n_streams)
			continue;
		say_error("%s: there is no stream %" PRIu32, input->name,
		    options->streams.ids[i]);
		if (input->info.n_streams == 0)
			say_hint("the trace has no streams");
		else
			say_hint("it has streams 0 to %" PRIu32
				 "; 'hwtdecode info' lists them",
			    input->info.n_streams - 1);
		return (EXIT_BAD_USAGE);
	}
	warn_of_nothing(input, options);
	return (EXIT_DONE);
}

int
input_say_read_error(const struct input *input, const struct options *options,
    const struct hwtd_error *err)
{
	if (!options->strict || err->code != HWTD_E_CORRUPT)
		return (say_library_error(input->name, err));
	say_library_message(input->name, err);
	say_hint("without --strict decoding goes on behind the gap");
	return (EXIT_FAILED);
}

const char *
tech_name(uint32_t tech)
{
	switch (tech) {
	case HWTD_TECH_INTEL_PT:
		return ("intel-pt");
	case HWTD_TECH_CORESIGHT:
		return ("coresight");
	case HWTD_TECH_SPE:
		return ("spe");
	default:
		return ("unknown");
	}
}
