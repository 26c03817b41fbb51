/*
 * What the header of a perf.data says of the machine, the command and files.
 *
 * Source: Linux, tools/perf/Documentation/perf.data-file-format.txt, "HEADER_*".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "trace/import/perf/perf_file.h"

/* Of a text, a list and a path that are kept. */
#define MAX_TEXT 4096u
#define MAX_WORDS 1024u

#define MISC_BUILD_ID_SIZE 0x8000u

/* The build-id without its size has this many bytes, filled up with 0. */
#define BUILD_ID_BYTES 20u

/* A u32 that says how many bytes follow, in which the text ends. */
static const char *
read_text(struct hwtdi_perf_bytes *b)
{
	return (hwtdi_perf_text(b, hwtdi_perf_u32(b)));
}

/* Of a text that is told twice the last counts. */
static int
keep(struct hwtdi_perf_file *f, char **text, const char *value)
{
	struct hwtd_context *ctx = f->trace->library;
	char *copy;

	if (value == NULL)
		return (HWTD_OK);
	copy = hwtdi_strdup(ctx, value);
	if (copy == NULL)
		return (hwtdi_fail_nomem(f->err, strlen(value)));
	hwtdi_strfree(ctx, *text);
	*text = copy;
	return (HWTD_OK);
}

static int
read_command(struct hwtdi_perf_file *f, struct hwtdi_perf_bytes *b)
{
	const uint32_t n = hwtdi_perf_u32(b);
	char line[MAX_TEXT];
	size_t used = 0;

	line[0] = '\0';
	for (uint32_t i = 0; i < n && i < MAX_WORDS && used < sizeof(line);
	     i++) {
		const char *word = read_text(b);

		if (word == NULL)
			break;
		used += (size_t)snprintf(line + used, sizeof(line) - used,
		    "%s%s", i > 0 ? " " : "", word);
	}
	return (keep(f, &f->texts.command, line));
}

static int
read_cpus(struct hwtdi_perf_file *f, struct hwtdi_perf_bytes *b)
{
	const uint32_t available = hwtdi_perf_u32(b);
	const uint32_t online = hwtdi_perf_u32(b);
	char text[64];

	(void)snprintf(text, sizeof(text),
	    "%" PRIu32 " of %" PRIu32 " CPUs online", online, available);
	return (b->rest.bad ? HWTD_OK : keep(f, &f->texts.cpus, text));
}

/* A list of CPUs for each socket, and what is of no use comes behind. */
static int
read_topology(struct hwtdi_perf_file *f, struct hwtdi_perf_bytes *b)
{
	const uint32_t n = hwtdi_perf_u32(b);
	char text[64];

	(void)snprintf(text, sizeof(text), "%" PRIu32 " socket%s", n,
	    n == 1 ? "" : "s");
	return (b->rest.bad || n == 0 ? HWTD_OK
				      : keep(f, &f->texts.sockets, text));
}

/* Which events there are: by their ids, what they are called. */
static int
read_event_desc(struct hwtdi_perf_file *f, struct hwtdi_perf_bytes *b)
{
	const uint32_t n = hwtdi_perf_u32(b);
	const uint32_t attr_size = hwtdi_perf_u32(b);
	int rc = HWTD_OK;

	for (uint32_t i = 0; i < n && rc == HWTD_OK && !b->rest.bad; i++) {
		struct hwtdi_perf_event *event = NULL;
		const char *name;
		uint32_t n_ids;

		(void)hwtdi_bytes_take(&b->rest, attr_size);
		n_ids = hwtdi_perf_u32(b);
		name = read_text(b);
		for (uint32_t k = 0; k < n_ids && !b->rest.bad; k++) {
			const uint64_t id = hwtdi_perf_u64(b);

			if (event == NULL)
				event = hwtdi_perf_events_find(&f->events,
				    f->trace->library, id);
		}
		if (event == NULL && n == f->events.n)
			event = &f->events.events[i];
		if (event != NULL)
			rc = keep(f, &event->name, name);
	}
	return (rc);
}

/* Which clock of the wall the clock of the records was compared with. */
static int
read_clock_data(struct hwtdi_perf_file *f, struct hwtdi_perf_bytes *b)
{
	uint64_t wall, clock;
	char text[128];

	(void)hwtdi_perf_u32(b);
	(void)hwtdi_perf_u32(b);
	wall = hwtdi_perf_u64(b);
	clock = hwtdi_perf_u64(b);
	if (b->rest.bad)
		return (HWTD_OK);
	(void)snprintf(text, sizeof(text),
	    "%" PRIu64 " ns of it were %" PRIu64 " ns since 1970", clock,
	    wall);
	return (keep(f, &f->texts.clock, text));
}

/*
 * How many bytes of it are a build-id: 20, or the 16 or 8 of other hashes, where so
 * many are 0 behind them that it is no accident.
 */
static uint32_t
id_bytes(const uint8_t *bytes)
{
	uint32_t n = BUILD_ID_BYTES;

	while (n > 0 && bytes[n - 1] == 0)
		n--;
	return (n > 16 ? BUILD_ID_BYTES : (n + 7) & ~7u);
}

int
hwtdi_perf_build_id(struct hwtdi_perf_file *f, uint32_t misc,
    struct hwtdi_perf_bytes body)
{
	struct hwtd_context *ctx = f->trace->library;
	struct hwtdi_perf_build_id id = { .n = BUILD_ID_BYTES };
	const uint8_t *bytes;
	const char *name;
	int rc;

	(void)hwtdi_perf_u32(&body);
	bytes = hwtdi_bytes_take(&body.rest, 24);
	name = hwtdi_perf_text(&body, body.rest.left);
	if (bytes == NULL || name == NULL || name[0] == '\0')
		return (HWTD_OK);
	if ((misc & MISC_BUILD_ID_SIZE) != 0 &&
	    bytes[BUILD_ID_BYTES] <= BUILD_ID_BYTES)
		id.n = bytes[BUILD_ID_BYTES];
	else
		id.n = id_bytes(bytes);
	memcpy(id.bytes, bytes, id.n);
	rc = hwtdi_array_grow(ctx, &f->build_ids, &f->cap_build_ids,
	    f->n_build_ids + 1, sizeof(*f->build_ids), f->err);
	if (rc != HWTD_OK)
		return (rc);
	id.name = hwtdi_strdup(ctx, name);
	if (id.name == NULL)
		return (hwtdi_fail_nomem(f->err, strlen(name)));
	f->build_ids[f->n_build_ids++] = id;
	return (HWTD_OK);
}

/* They are records without a type. */
static int
read_build_ids(struct hwtdi_perf_file *f, struct hwtdi_perf_bytes *b)
{
	int rc = HWTD_OK;

	while (rc == HWTD_OK && b->rest.left >= PERF_RECORD_HEADER_BYTES) {
		struct hwtdi_perf_bytes body = { .big = b->big };
		uint32_t misc;
		size_t n;

		(void)hwtdi_perf_u32(b);
		misc = (uint32_t)hwtdi_perf_get(b, 2);
		n = (size_t)hwtdi_perf_get(b, 2);
		if (n < PERF_RECORD_HEADER_BYTES)
			break;
		body.rest.left = n - PERF_RECORD_HEADER_BYTES;
		body.rest.at = hwtdi_bytes_take(&b->rest, body.rest.left);
		if (body.rest.at == NULL)
			break;
		rc = hwtdi_perf_build_id(f, misc, body);
	}
	return (rc);
}

static int
by_offset(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y ? -1 : x > y);
}

static int
read_index(struct hwtdi_perf_file *f, struct hwtdi_perf_bytes *b)
{
	const uint64_t n = hwtdi_perf_u64(b);
	int rc = HWTD_OK;

	for (uint64_t i = 0; i < n && rc == HWTD_OK && b->rest.left >= 16;
	     i++) {
		const uint64_t off = hwtdi_perf_u64(b);
		const uint64_t size = hwtdi_perf_u64(b);

		rc = hwtdi_array_grow(f->trace->library, &f->stops,
		    &f->cap_stops, f->n_stops + 1, sizeof(*f->stops), f->err);
		if (rc == HWTD_OK)
			f->stops[f->n_stops++] = off + size;
	}
	if (f->n_stops > 0)
		qsort(f->stops, f->n_stops, sizeof(*f->stops), by_offset);
	return (rc);
}

int
hwtdi_perf_feature(struct hwtdi_perf_file *f, unsigned feature, uint64_t off,
    struct hwtdi_perf_bytes b)
{
	const size_t n = b.rest.left;
	int rc = HWTD_OK;

	switch (feature) {
	case PERF_HEADER_BUILD_ID:
		rc = read_build_ids(f, &b);
		break;
	case PERF_HEADER_HOSTNAME:
		rc = keep(f, &f->texts.hostname, read_text(&b));
		break;
	case PERF_HEADER_OSRELEASE:
		rc = keep(f, &f->texts.release, read_text(&b));
		break;
	case PERF_HEADER_VERSION:
		rc = keep(f, &f->texts.version, read_text(&b));
		break;
	case PERF_HEADER_ARCH:
		rc = keep(f, &f->texts.arch, read_text(&b));
		break;
	case PERF_HEADER_CPUDESC:
		rc = keep(f, &f->texts.cpu_model, read_text(&b));
		break;
	case PERF_HEADER_CPUID:
		rc = keep(f, &f->texts.cpuid, read_text(&b));
		break;
	case PERF_HEADER_NRCPUS:
		rc = read_cpus(f, &b);
		break;
	case PERF_HEADER_CPU_TOPOLOGY:
		rc = read_topology(f, &b);
		break;
	case PERF_HEADER_CMDLINE:
		rc = read_command(f, &b);
		break;
	case PERF_HEADER_EVENT_DESC:
		rc = read_event_desc(f, &b);
		break;
	case PERF_HEADER_AUXTRACE:
		rc = read_index(f, &b);
		break;
	case PERF_HEADER_BPF_PROG_INFO:
		rc = hwtdi_perf_bpf_read(f, &b);
		break;
	case PERF_HEADER_CLOCK_DATA:
		rc = read_clock_data(f, &b);
		break;
	default:
		break;
	}
	if (rc == HWTD_OK && b.rest.bad)
		rc = hwtdi_trace_note_damage(f->trace, off, n, HWTD_NO_ID, 0,
		    0, f->err, "header feature %u ends before its text does",
		    feature);
	return (rc);
}

/* What is known when all is read. */

static int
by_name(const void *a, const void *b)
{
	return (strcmp(((const struct hwtdi_perf_build_id *)a)->name,
	    ((const struct hwtdi_perf_build_id *)b)->name));
}

void
hwtdi_perf_give_build_ids(struct hwtdi_perf_file *f)
{
	struct hwtdi_record_list *list = &f->trace->records;

	if (f->n_build_ids == 0)
		return;
	qsort(f->build_ids, f->n_build_ids, sizeof(*f->build_ids), by_name);
	for (size_t i = 0; i < list->n; i++) {
		struct hwtd_record *r = &list->records[i];
		const struct hwtdi_perf_build_id *id;
		char name[MAX_TEXT];
		const char *end;
		size_t n;

		if (r->name == NULL || r->n_build_id != 0 ||
		    (r->type != HWTD_REC_MMAP && r->type != HWTD_REC_KERNEL &&
			r->type != HWTD_REC_MODULE_LOAD))
			continue;
		/* [kernel.kallsyms]_text is the file [kernel.kallsyms]. */
		end = r->name[0] == '[' ? strchr(r->name, ']') : NULL;
		n = end != NULL ? (size_t)(end - r->name) + 1
				: strlen(r->name);
		if (n >= sizeof(name))
			continue;
		memcpy(name, r->name, n);
		name[n] = '\0';
		id = bsearch(
		    &(const struct hwtdi_perf_build_id){ .name = name },
		    f->build_ids, f->n_build_ids, sizeof(*f->build_ids),
		    by_name);
		if (id == NULL)
			continue;
		memcpy(r->build_id, id->bytes, id->n);
		r->n_build_id = id->n;
	}
}

static const char *
clock_name(const struct hwtdi_perf_file *f)
{
	static const char *const names[] = {
		"CLOCK_REALTIME",
		"CLOCK_MONOTONIC",
		[4] = "CLOCK_MONOTONIC_RAW",
		[7] = "CLOCK_BOOTTIME",
		[11] = "CLOCK_TAI",
	};
	const struct hwtdi_perf_event *event = f->events.events;

	if (f->events.n == 0 || !event->has_clockid)
		return ("the clock of Linux perf");
	if (event->clockid < 0 ||
	    (size_t)event->clockid >= sizeof(names) / sizeof(names[0]) ||
	    names[event->clockid] == NULL)
		return ("a clock that is not known");
	return (names[event->clockid]);
}

/* "a, b, c" of what is known. */
static int
join(struct hwtdi_perf_file *f, char **out, const char *const *parts, size_t n)
{
	char text[2 * MAX_TEXT];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < n && used < sizeof(text); i += 2)
		if (parts[i + 1] != NULL && parts[i + 1][0] != '\0')
			used += (size_t)snprintf(text + used,
			    sizeof(text) - used, "%s%s%s",
			    used > 0 ? ", " : "", parts[i], parts[i + 1]);
	return (text[0] == '\0' ? HWTD_OK : keep(f, out, text));
}

int
hwtdi_perf_give_texts(struct hwtdi_perf_file *f)
{
	const struct hwtdi_perf_texts *t = &f->texts;
	const char *const origin[] = { "perf ", t->version, "on ", t->hostname,
		"Linux ", t->release, "by ", t->command };
	const char *const abi[] = { "Linux ", t->arch };
	const char *const model[] = { "", t->cpu_model, "", t->cpuid, "",
		t->cpus, "", t->sockets };
	const char *const clock[] = { "", clock_name(f), "", t->clock };
	struct hwtdi_trace_text *out = &f->trace->text;
	int rc;

	rc = join(f, &out->origin, origin, 8);
	if (rc == HWTD_OK)
		rc = join(f, &out->abi, abi, 2);
	if (rc == HWTD_OK)
		rc = join(f, &out->cpu_model, model, 8);
	if (rc == HWTD_OK)
		rc = join(f, &out->clock, clock, 4);
	if (rc == HWTD_OK)
		rc = keep(f, &out->release, t->release);
	return (rc);
}
