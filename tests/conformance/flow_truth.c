/*
 * The sink that compares a decode with truth records: lines "type flags n h ip
 * off tsc cyc arg r1", where after `n` instructions the hash over them is `h`.
 * Those of CoreSight have "cc" in place of r1: cycles that packets told so far.
 *
 * Every record is checked by the hash.  Records of what a row tells (enable,
 * disable, async-disable, overflow, call, exception, ts, cbr, ptwrite) need that
 * row, in this order and at this instruction; records with an address need it to
 * be the next one.
 */
#include "flow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COMPLAINTS 20

enum truth_type {
	TRUTH_SYNC,
	TRUTH_ENABLE,
	TRUTH_DISABLE,
	TRUTH_ASYNC_DISABLE,
	TRUTH_LOST,
	TRUTH_OVERFLOW,
	TRUTH_PTWRITE,
	TRUTH_CBR,
	TRUTH_CALL,
	TRUTH_EXCEPTION,
	TRUTH_STAMP,
	TRUTH_END,
	TRUTH_TYPES
};

static const char *const type_names[TRUTH_TYPES] = { "sync", "enable",
	"disable", "async-disable", "lost", "overflow", "ptwrite", "cbr",
	"call", "exception", "ts", "end" };

/* Tracing is on (sync), or goes on at once (overflow). */
#define TRUTH_ON 1

struct record {
	enum truth_type type;
	unsigned int flags;
	uint64_t n;
	uint64_t h;
	uint64_t ip;
	uint64_t off;
	uint64_t tsc;
	uint64_t arg;
	uint64_t r1;
	/* CoreSight: the sum of cycles, modulo 2^32. */
	uint32_t cycles;
};

struct truth {
	struct flow_sink sink;
	FILE *out;
	struct flow_time time;
	struct flow_times *packets;
	struct hwtd_trace *trace;
	uint32_t stream;
	struct record *records;
	size_t n_records;

	uint64_t n;
	uint64_t h;
	uint64_t last_ip;
	/* First record whose hash was not compared yet. */
	size_t at;
	/* Next records that need a row: of the flow, cbr, ptwrite. */
	size_t flow;
	size_t cbr;
	size_t ptwrite;
	size_t stamp;
	bool has_cycles;
	uint32_t cycles;
	/* Of the instruction before, if no other row came since. */
	bool has_insn_time;
	uint64_t insn_time;
	/*
	 * Last ratio seen.  Records tell of changes only, and not of those
	 * that happened during a loss.
	 */
	uint64_t ratio;
	bool after_loss;
	/* The next instruction must be at the address of this record. */
	const struct record *want;
	/* Behind a lost record: instructions may come that do not count. */
	bool lost;
	uint64_t extra;
	/* The next instruction needs more than hashing. */
	bool special;
	/* Nothing that follows can match. */
	bool dead;

	uint64_t checked;
	uint64_t all_extra;
	uint64_t times;
	uint64_t max_error;
	uint64_t last_time;
	uint64_t complaints;
};

static void complain(struct truth *truth, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
complain(struct truth *truth, const char *format, ...)
{
	va_list args;

	if (++truth->complaints > MAX_COMPLAINTS)
		return;
	fprintf(truth->out, "at instruction %" PRIu64 ": ", truth->n);
	va_start(args, format);
	vfprintf(truth->out, format, args);
	va_end(args);
	fputc('\n', truth->out);
}

static bool
is_flow(enum truth_type type)
{
	return (type == TRUTH_ENABLE || type == TRUTH_DISABLE ||
	    type == TRUTH_ASYNC_DISABLE || type == TRUTH_OVERFLOW ||
	    type == TRUTH_CALL || type == TRUTH_EXCEPTION);
}

static size_t
next_flow(const struct truth *truth, size_t from)
{
	while (from < truth->n_records && !is_flow(truth->records[from].type))
		from++;
	return (from);
}

static size_t
next_of(const struct truth *truth, size_t from, enum truth_type type)
{
	while (from < truth->n_records && truth->records[from].type != type)
		from++;
	return (from);
}

static size_t
line_of(const struct truth *truth, const struct record *record)
{
	return ((size_t)(record - truth->records) + 1);
}

/* Compare the hash of all records that stand here. */
static void
settle(struct truth *truth)
{
	while (truth->at < truth->n_records && !truth->lost && !truth->dead) {
		const struct record *record = &truth->records[truth->at];

		if (record->n != truth->n)
			break;
		if (record->h != truth->h) {
			complain(truth,
			    "hash is %016" PRIx64 ", record %zu "
			    "(%s) says %016" PRIx64,
			    truth->h, line_of(truth, record),
			    type_names[record->type], record->h);
			truth->dead = true;
			break;
		}
		truth->at++;
		truth->checked++;
		truth->special = true;
		if (record->type == TRUTH_LOST) {
			truth->lost = true;
			truth->extra = 0;
			truth->want = record;
		} else if (record->type == TRUTH_SYNC &&
		    (record->flags & TRUTH_ON) != 0)
			truth->want = record;
	}
	if (truth->at < truth->n_records &&
	    truth->records[truth->at].n < truth->n && !truth->lost &&
	    !truth->dead) {
		complain(truth, "record %zu cannot be reached", truth->at + 1);
		truth->dead = true;
	}
}

static uint64_t
outside(uint64_t value, uint64_t low, uint64_t high)
{
	if (value < low)
		return (low - value);
	return (value > high ? value - high : 0);
}

/* The time stamp before a record holds for its row, or a later one up to it. */
static void
check_stamps(struct truth *truth, const struct record *record,
    const struct hwtd_event *row)
{
	const struct record *before = record;
	uint64_t low = 0;

	while (before > truth->records && before[-1].type != TRUTH_STAMP)
		before--;
	if (before > truth->records)
		low = before[-1].tsc;
	truth->times++;
	if (((row->flags & HWTD_EVF_TIME) == 0 && low == 0) ||
	    ((row->flags & HWTD_EVF_TIME) != 0 && row->time_ns >= low &&
		row->time_ns <= record->tsc))
		return;
	complain(truth,
	    "record %zu (%s): time is %" PRIu64 ", truth is %" PRIu64
	    " to %" PRIu64,
	    line_of(truth, record), type_names[record->type], row->time_ns,
	    low, record->tsc);
}

static void
check_time(struct truth *truth, const struct record *record,
    const struct hwtd_event *row)
{
	uint64_t low = record->tsc, high = record->tsc, error;
	struct flow_times_record place = {
		.off = record->off,
		.truth = record->tsc,
		.from = record->tsc,
		.to = record->tsc,
		.engine = row->time_ns,
	};

	if (truth->time.rule == FLOW_TIME_NONE)
		return;
	if (truth->time.rule == FLOW_TIME_STAMPS) {
		check_stamps(truth, record, row);
		return;
	}
	truth->times++;
	if ((row->flags & HWTD_EVF_TIME) == 0) {
		complain(truth, "record %zu (%s): the row has no time",
		    line_of(truth, record), type_names[record->type]);
		return;
	}
	if (truth->time.rule == FLOW_TIME_ANCHORS) {
		size_t i = (size_t)(record - truth->records);

		while (i > 0 && truth->records[i].type != TRUTH_SYNC)
			i--;
		low = truth->records[i].tsc;
		i = next_of(truth, (size_t)(record - truth->records) + 1,
		    TRUTH_SYNC);
		if (i == truth->n_records)
			i--;
		high = truth->records[i].tsc;
	}
	/*
	 * The first exact time stands behind the packet of the overflow, and
	 * the cycles of the loss ran at a rate nobody knows.
	 */
	if (record->type == TRUTH_OVERFLOW && record != truth->records &&
	    record + 1 != truth->records + truth->n_records) {
		low = place.from = record[-1].tsc;
		high = place.to = record[1].tsc;
	}
	place.low = low;
	place.high = high;
	flow_times_add(truth->packets, &place);
	error = outside(row->time_ns, low, high);
	if (error > truth->max_error)
		truth->max_error = error;
	if (error > truth->time.ticks)
		complain(truth,
		    "record %zu (%s): time is %" PRIu64 ", truth is %" PRIu64
		    ", %" PRIu64 " too far",
		    line_of(truth, record), type_names[record->type],
		    row->time_ns, record->tsc, error);
}

static void
check_want(struct truth *truth, const struct hwtd_event *row)
{
	const struct record *want = truth->want;

	truth->want = NULL;
	if (want == NULL)
		return;
	if (row->ip != want->ip)
		complain(truth,
		    "next address is %" PRIx64 ", record %zu (%s) "
		    "says %" PRIx64,
		    row->ip, line_of(truth, want), type_names[want->type],
		    want->ip);
	if (want->type == TRUTH_SYNC || want->type == TRUTH_OVERFLOW)
		check_time(truth, want, row);
}

static void
check_cycles(struct truth *truth, const struct record *record)
{
	if (truth->has_cycles && record->cycles != truth->cycles)
		complain(truth,
		    "record %zu (%s): the sum of cycles is %" PRIu32
		    ", truth is %" PRIu32,
		    line_of(truth, record), type_names[record->type],
		    truth->cycles, record->cycles);
}

/* An instruction right behind a record.  False: it does not count. */
static bool
special_insn(struct truth *truth, const struct hwtd_event *row)
{
	const struct record *due = truth->flow < truth->n_records
	    ? &truth->records[truth->flow]
	    : NULL;

	if (truth->dead)
		return (false);
	truth->special = truth->lost;
	truth->after_loss = false;
	if (due != NULL && due->n == truth->n &&
	    !(truth->lost && due->type == TRUTH_OVERFLOW)) {
		complain(truth,
		    "%" PRIx64 " executes, but record %zu (%s) "
		    "has no row",
		    row->ip, line_of(truth, due), type_names[due->type]);
		truth->dead = true;
		return (false);
	}
	check_want(truth, row);
	if (!truth->lost)
		return (true);
	truth->all_extra++;
	if (due == NULL || ++truth->extra > due->r1) {
		complain(truth, "%" PRIx64 " executes behind a loss", row->ip);
		truth->dead = true;
	}
	return (false);
}

/* A row that a record must tell of; NULL: it does not. */
static const struct record *
match(struct truth *truth, enum truth_type type, const struct hwtd_event *row,
    uint64_t ip)
{
	const struct record *record;

	if (truth->dead)
		return (NULL);
	if (truth->flow == truth->n_records) {
		complain(truth, "a row of %s, but no record is left",
		    type_names[type]);
		truth->dead = true;
		return (NULL);
	}
	record = &truth->records[truth->flow];
	if (record->type != type || record->n != truth->n) {
		complain(truth,
		    "a row of %s, but record %zu is %s at %" PRIu64,
		    type_names[type], line_of(truth, record),
		    type_names[record->type], record->n);
		truth->dead = true;
		return (NULL);
	}
	if (ip != record->ip)
		complain(truth, "%s at %" PRIx64 ", record %zu says %" PRIx64,
		    type_names[type], ip, line_of(truth, record), record->ip);
	check_time(truth, record, row);
	check_cycles(truth, record);
	truth->flow = next_flow(truth, truth->flow + 1);
	return (record);
}

static void
see_gap(struct truth *truth, const struct hwtd_event *row,
    const struct hwtd_gap *gap)
{
	const struct record *record;
	uint64_t ip = row->ip;

	if (gap == NULL || gap->reason != HWTD_GAP_OVERFLOW) {
		complain(truth, "gap %s [%" PRIx64 ", %" PRIx64 "): %.63s",
		    gap == NULL ? "without detail"
				: hwtd_gap_reason_name(gap->reason),
		    gap == NULL ? 0 : gap->first, gap == NULL ? 0 : gap->end,
		    gap == NULL ? "" : gap->text);
		truth->dead = true;
		return;
	}
	/* The address is where decoding goes on; the row may leave it out. */
	if ((gap->flags & HWTD_GAPF_IP_AFTER) != 0)
		ip = gap->ip_after;
	else if ((row->flags & HWTD_EVF_IP) == 0 &&
	    truth->flow < truth->n_records)
		ip = truth->records[truth->flow].ip;
	/* The row of ENABLE says it. */
	if (truth->has_cycles && truth->flow < truth->n_records)
		ip = truth->records[truth->flow].ip;
	record = match(truth, TRUTH_OVERFLOW, row, ip);
	if (record == NULL)
		return;
	truth->lost = false;
	truth->after_loss = true;
	truth->special = true;
	truth->want = (record->flags & TRUTH_ON) != 0 ? record : NULL;
	/* The hash was that of the lost record. */
	if (truth->at < truth->n_records &&
	    &truth->records[truth->at] == record) {
		truth->at++;
		truth->checked++;
	}
	settle(truth);
}

static void
see_value(struct truth *truth, enum truth_type type, size_t *next,
    const struct hwtd_event *row, uint64_t value)
{
	const struct record *record;

	if (truth->dead)
		return;
	if (*next == truth->n_records) {
		complain(truth, "a row of %s, but no record is left",
		    type_names[type]);
		return;
	}
	record = &truth->records[*next];
	if (record->arg != value)
		complain(truth, "%s of %" PRIx64 ", record %zu says %" PRIx64,
		    type_names[type], value, line_of(truth, record),
		    record->arg);
	check_time(truth, record, row);
	*next = next_of(truth, *next + 1, type);
}

static void
see_marker(struct truth *truth, const struct hwtd_event *row,
    const struct hwtd_batch *batch)
{
	const struct hwtd_marker *marker;

	if (row->value >= batch->n_markers)
		return;
	marker = (const struct hwtd_marker *)(const void *)((const char *)batch
								->markers +
	    row->value * batch->marker_stride);
	if (marker->source == HWTD_MARKER_PTWRITE)
		see_value(truth, TRUTH_PTWRITE, &truth->ptwrite, row,
		    marker->payload);
}

/* The detail of a row of kind ASYNC, or NULL. */
static const struct hwtd_async *
async_of(const struct hwtd_batch *batch, const struct hwtd_event *row)
{
	if ((row->flags & HWTD_EVF_VALUE) == 0 ||
	    row->value >= batch->n_asyncs)
		return (NULL);
	return ((const struct hwtd_async *)(const void *)((const char *)
							      batch->asyncs +
	    row->value * batch->async_stride));
}

/* An exception, of which the trace tells the number and no target. */
static void
see_exception(struct truth *truth, const struct hwtd_event *row,
    const struct hwtd_async *async)
{
	const struct record *record;

	if (async == NULL || (async->flags & HWTD_ASYNCF_NUMBER) == 0 ||
	    (async->flags & HWTD_ASYNCF_RETURN_ADDR) == 0) {
		complain(truth, "an exception without number or address");
		return;
	}
	if (async->type == HWTD_ASYNC_SYSTEM_CALL) {
		record = match(truth, TRUTH_CALL, row, truth->last_ip);
		if (record != NULL &&
		    (async->number != record->flags ||
			async->return_addr != record->ip + 4))
			complain(truth, "record %zu: a wrong call",
			    line_of(truth, record));
		return;
	}
	record = match(truth, TRUTH_EXCEPTION, row, async->return_addr);
	if (record != NULL && async->number != record->flags)
		complain(truth,
		    "record %zu: exception %" PRIx32 ", truth is %x",
		    line_of(truth, record), async->number, record->flags);
}

/* A time stamp is that of the instruction before it. */
static void
see_stamp(struct truth *truth, const struct hwtd_event *row)
{
	const struct record *record;

	if (truth->time.rule != FLOW_TIME_STAMPS || truth->dead)
		return;
	if (truth->stamp == truth->n_records) {
		complain(truth, "a time stamp, but no record is left");
		return;
	}
	record = &truth->records[truth->stamp];
	if (record->n != truth->n || record->tsc != row->value ||
	    (row->flags & HWTD_EVF_TIME) == 0 || row->time_ns != row->value)
		complain(truth,
		    "time stamp %" PRIu64 " with time %" PRIu64
		    ", record %zu is %" PRIu64 " at %" PRIu64,
		    row->value, row->time_ns, line_of(truth, record),
		    record->tsc, record->n);
	if (truth->has_insn_time && truth->insn_time != row->value)
		complain(truth,
		    "time stamp %" PRIu64
		    ", the instruction before has %" PRIu64,
		    row->value, truth->insn_time);
	truth->times++;
	check_cycles(truth, record);
	truth->stamp = next_of(truth, truth->stamp + 1, TRUTH_STAMP);
}

/* A row of DISABLE behind that of an exception is part of it. */
static bool
ends_exception(const struct truth *truth)
{
	const struct record *before = truth->flow == 0
	    ? NULL
	    : &truth->records[truth->flow - 1];

	return (before != NULL && before->n == truth->n &&
	    (before->type == TRUTH_CALL || before->type == TRUTH_EXCEPTION));
}

static void
see_event(struct truth *truth, const struct hwtd_event *row,
    const struct hwtd_batch *batch)
{
	if (row->kind == HWTD_EV_FREQUENCY) {
		bool restated = row->value == truth->ratio ||
		    truth->after_loss;

		truth->ratio = row->value;
		if (restated)
			return;
	}
	if ((row->flags & HWTD_EVF_STATUS) != 0)
		return;
	if (row->kind != HWTD_EV_CYCLES && row->kind != HWTD_EV_TIME)
		truth->has_insn_time = false;
	switch (row->kind) {
	case HWTD_EV_TIME:
		see_stamp(truth, row);
		break;
	case HWTD_EV_CYCLES:
		truth->cycles += (uint32_t)row->value;
		break;
	case HWTD_EV_ENABLE:
		truth->want = match(truth, TRUTH_ENABLE, row, row->ip);
		truth->special = true;
		break;
	case HWTD_EV_DISABLE:
		if (ends_exception(truth))
			break;
		if ((row->flags & HWTD_EVF_ASYNC) != 0) {
			check_want(truth, row);
			(void)match(truth, TRUTH_ASYNC_DISABLE, row, row->ip);
		} else
			(void)match(truth, TRUTH_DISABLE, row, truth->last_ip);
		break;
	case HWTD_EV_GAP:
		see_gap(truth, row, flow_gap_of(batch, row));
		break;
	case HWTD_EV_FREQUENCY:
		see_value(truth, TRUTH_CBR, &truth->cbr, row, row->value);
		break;
	case HWTD_EV_MARKER:
		see_marker(truth, row, batch);
		break;
	case HWTD_EV_ASYNC:
		if (truth->has_cycles) {
			see_exception(truth, row, async_of(batch, row));
			break;
		}
		complain(truth,
		    "asynchronous branch from %" PRIx64
		    ", but only user mode was traced",
		    row->ip);
		break;
	default:
		break;
	}
}

static void
see_time(struct truth *truth, const struct hwtd_event *row)
{
	if ((row->flags & HWTD_EVF_TIME) == 0)
		return;
	if (row->time_ns < truth->last_time)
		complain(truth, "time goes back from %" PRIu64 " to %" PRIu64,
		    truth->last_time, row->time_ns);
	truth->last_time = row->time_ns;
}

static void
truth_rows(struct flow_sink *sink, const struct hwtd_batch *batch)
{
	struct truth *truth = (struct truth *)(void *)sink;

	for (size_t i = 0; i < batch->n; i++) {
		const struct hwtd_event *row = &batch->events[i];
		uint64_t x;

		see_time(truth, row);
		if (row->kind != HWTD_EV_INSN) {
			see_event(truth, row, batch);
			continue;
		}
		if (truth->special && !special_insn(truth, row))
			continue;
		x = row->ip * UINT64_C(0x9e3779b97f4a7c15);
		truth->h = truth->h * UINT64_C(0xd6e8feb86659fd93) +
		    (x ^ (x >> 29));
		truth->n++;
		truth->last_ip = row->ip;
		truth->has_insn_time = (row->flags & HWTD_EVF_TIME) != 0;
		truth->insn_time = row->time_ns;
		if (truth->at < truth->n_records &&
		    truth->n >= truth->records[truth->at].n)
			settle(truth);
	}
}

static bool
truth_end(struct flow_sink *sink)
{
	struct truth *truth = (struct truth *)(void *)sink;
	size_t last = truth->n_records - 1;
	bool good;

	/* What was lost at the end was not followed by anything. */
	if (!truth->dead && truth->lost && truth->at == last &&
	    truth->n == truth->records[last].n &&
	    truth->h == truth->records[last].h)
		truth->checked++;
	if (!truth->dead && truth->n != truth->records[last].n)
		complain(truth,
		    "the decode ends, the truth goes on to %" PRIu64,
		    truth->records[last].n);
	else if (!truth->dead && truth->flow != truth->n_records)
		complain(truth, "record %zu (%s) has no row", truth->flow + 1,
		    type_names[truth->records[truth->flow].type]);
	else if (!truth->dead && truth->time.rule == FLOW_TIME_STAMPS &&
	    truth->stamp != truth->n_records)
		complain(truth, "record %zu (ts) has no row",
		    truth->stamp + 1);
	else if (!truth->dead &&
	    (truth->cbr != truth->n_records ||
		truth->ptwrite != truth->n_records))
		complain(truth, "records of cbr or ptwrite have no row");
	good = flow_times_end(truth->packets, truth->trace, truth->stream,
	    truth->time.ticks, truth->out);
	good = good && truth->complaints == 0 &&
	    truth->checked == truth->n_records;
	fprintf(truth->out,
	    "truth: %" PRIu64 " of %zu records, %" PRIu64
	    " instructions, %" PRIu64 " extra, %" PRIu64 " times, max time "
	    "error %" PRIu64 " ticks, %" PRIu64 " complaints\n",
	    truth->checked, truth->n_records, truth->n, truth->all_extra,
	    truth->times, truth->max_error, truth->complaints);
	free(truth->records);
	free(truth);
	return (good);
}

static bool
parse(const char *line, struct record *record)
{
	char type[16];
	uint64_t cyc;

	if (sscanf(line,
		"%15s %x %" SCNu64 " %" SCNx64 " %" SCNx64 " %" SCNu64
		" %" SCNu64 " %" SCNu64 " %" SCNx64 " %" SCNu64,
		type, &record->flags, &record->n, &record->h, &record->ip,
		&record->off, &record->tsc, &cyc, &record->arg,
		&record->r1) != 10)
		return (false);
	for (unsigned int i = 0; i < TRUTH_TYPES; i++)
		if (strcmp(type, type_names[i]) == 0) {
			record->type = (enum truth_type)i;
			return (true);
		}
	return (false);
}

static void
load(struct truth *truth, const char *path)
{
	FILE *file = fopen(path, "r");
	size_t room = 0;
	char line[512];

	if (file == NULL)
		flow_die("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), file) != NULL) {
		if (line[0] == '#')
			truth->has_cycles = strstr(line, " cc ") != NULL;
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (truth->n_records == room) {
			room = room == 0 ? 1024 : room * 2;
			truth->records = flow_grow(truth->records,
			    room * sizeof(*truth->records));
		}
		if (!parse(line, &truth->records[truth->n_records]))
			flow_die("%s: no truth record: %s", path, line);
		if (truth->has_cycles) {
			struct record *r = &truth->records[truth->n_records];

			/* Nothing that was lost can be shown. */
			r->cycles = (uint32_t)r->r1;
			r->r1 = 0;
		}
		truth->n_records++;
	}
	fclose(file);
	if (truth->n_records == 0 ||
	    truth->records[truth->n_records - 1].type != TRUTH_END)
		flow_die("%s: the truth has no end", path);
	for (size_t i = 1; i < truth->n_records; i++)
		if (truth->records[i].n < truth->records[i - 1].n)
			flow_die("%s: records are not in order", path);
}

struct flow_sink *
flow_truth(const char *path, struct flow_time time, struct hwtd_trace *trace,
    uint32_t stream, FILE *out)
{
	struct truth *truth = flow_alloc(sizeof(*truth));

	*truth = (struct truth){
		.sink = { .rows = truth_rows, .end = truth_end },
		.out = out,
		.time = time,
		.packets = flow_times_create(),
		.trace = trace,
		.stream = stream,
		.special = true,
	};
	load(truth, path);
	truth->flow = next_flow(truth, 0);
	truth->cbr = next_of(truth, 0, TRUTH_CBR);
	truth->ptwrite = next_of(truth, 0, TRUTH_PTWRITE);
	truth->stamp = next_of(truth, 0, TRUTH_STAMP);
	settle(truth);
	return (&truth->sink);
}
