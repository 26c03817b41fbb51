/*
 * Accounting for every byte of a trace: decodes stream by stream, since only
 * so the library counts for each of them, and adds up.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/output/account.h"
#include "cli/print/coresight_report.h"
#include "cli/output/interrupt.h"
#include "cli/output/message.h"

#define BATCH_ROWS 2048
#define FNV_BASIS UINT64_C(1469598103934665603)
#define FNV_PRIME UINT64_C(1099511628211)

/*
 * Streams that one cursor reads, one after the other.  Opening a cursor looks
 * at all streams, and an open one holds memory for each of its own.
 */
#define CURSOR_STREAMS 256

struct walk {
	struct account *account;
	const struct input *input;
	const struct options *options;
	struct progress progress;
	struct hwtd_event *rows;
	/* Which streams of the account are to be read. */
	size_t *full;
	/* The one that is read. */
	struct stream_account *stream;
	bool hash;
	account_gap_fn on_gap;
	void *arg;
};

static uint64_t
hash_ip(uint64_t hash, uint64_t ip)
{
	for (int i = 0; i < 8; i++)
		hash = (hash ^ (ip >> (8 * i) & 0xff)) * FNV_PRIME;
	return (hash);
}

/* Where the search for a page begins. */
static size_t
slot_of(const struct account *account, uint64_t page)
{
	uint64_t h = page / PAGE_BYTES ^ account->seed;

	h = (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return ((size_t)(h ^ h >> 32));
}

/* Of no use to who only writes a file for others. */
static uint64_t
new_seed(const struct account *account)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (((uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec) *
		UINT64_C(0x9e3779b97f4a7c15) ^
	    (uint64_t)(uintptr_t)account);
}

static bool
grow_pages(struct account *account)
{
	const size_t n = account->page_slots == 0 ? 64
						  : 2 * account->page_slots;
	struct missing_page *pages = calloc(n, sizeof(*pages));

	if (pages == NULL)
		return (false);
	for (size_t i = 0; i < account->page_slots; i++) {
		const struct missing_page *page = &account->pages[i];

		if (page->gaps == 0)
			continue;
		size_t at = slot_of(account, page->page) & (n - 1);

		while (pages[at].gaps != 0)
			at = (at + 1) & (n - 1);
		pages[at] = *page;
	}
	free(account->pages);
	account->pages = pages;
	account->page_slots = n;
	return (true);
}

static void
add_missing(struct account *account, uint64_t address, bool known)
{
	const uint64_t page = address & ~(uint64_t)(PAGE_BYTES - 1);

	/* Half empty, so that a search always ends. */
	if (2 * account->n_pages >= account->page_slots &&
	    (account->n_pages >= MAX_MISSING_PAGES || !grow_pages(account))) {
		account->other_missing_gaps++;
		return;
	}
	const size_t mask = account->page_slots - 1;
	size_t at = slot_of(account, page) & mask;

	while (account->pages[at].gaps != 0 && account->pages[at].page != page)
		at = (at + 1) & mask;
	struct missing_page *found = &account->pages[at];

	if (found->gaps == 0) {
		*found = (struct missing_page){
			.page = page,
			.lowest = address,
		};
		account->n_pages++;
	}
	found->gaps++;
	found->known += known;
	if (address < found->lowest)
		found->lowest = address;
}

static int
by_page(const void *a, const void *b)
{
	const struct missing_page *x = a;
	const struct missing_page *y = b;

	return ((x->page > y->page) - (x->page < y->page));
}

/* From hash table to sorted list. */
static void
list_pages(struct account *account)
{
	size_t n = 0;

	for (size_t i = 0; i < account->page_slots; i++) {
		if (account->pages[i].gaps != 0)
			account->pages[n++] = account->pages[i];
	}
	if (n > 0)
		qsort(account->pages, n, sizeof(*account->pages), by_page);
	account->n_pages = n;
	account->page_slots = 0;
}

static void
take_rows(struct walk *walk, const struct hwtd_batch *batch)
{
	for (size_t i = 0; i < batch->n; i++) {
		const struct hwtd_event *row = &batch->events[i];

		if (row->kind == HWTD_EV_INSN && walk->hash) {
			walk->stream->ip_hash = hash_ip(walk->stream->ip_hash,
			    row->ip);
			continue;
		}
		if (row->kind != HWTD_EV_GAP ||
		    (row->flags & HWTD_EVF_VALUE) == 0 ||
		    row->value >= batch->n_gaps)
			continue;
		const struct hwtd_gap *gap = (const void *)((const char *)
								batch->gaps +
		    (size_t)row->value * batch->gap_stride);

		const bool known = walk->on_gap != NULL &&
		    walk->on_gap(walk->arg, walk->stream->stream, row, gap);

		walk->account->known_gaps += known;
		if (gap->reason == HWTD_GAP_NO_CODE &&
		    (gap->flags & HWTD_GAPF_ADDR) != 0)
			add_missing(walk->account, gap->addr, known);
	}
}

static void
add_stats(struct hwtd_stats *sum, const struct hwtd_stats *part)
{
	sum->bytes += part->bytes;
	sum->gap_bytes += part->gap_bytes;
	sum->insns += part->insns;
	sum->blocks += part->blocks;
	sum->file_gap_bytes += part->file_gap_bytes;
	for (size_t i = 0; i < HWTD_EV_KINDS; i++)
		sum->kinds[i] += part->kinds[i];
	for (size_t i = 0; i < HWTD_GAP_REASONS; i++) {
		sum->gaps[i] += part->gaps[i];
		sum->gap_bytes_by_reason[i] += part->gap_bytes_by_reason[i];
	}
	if (part->has_time == 0)
		return;
	if (sum->has_time == 0 || part->first_ns < sum->first_ns)
		sum->first_ns = part->first_ns;
	if (sum->has_time == 0 || part->last_ns > sum->last_ns)
		sum->last_ns = part->last_ns;
	sum->has_time = 1;
}

/* Nothing can come of a stream without bytes, extents and damage. */
static bool
has_content(const struct input *input, uint32_t stream, const bool *damaged)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	struct hwtd_extent extent = { .size = sizeof(extent) };

	return (damaged[stream] ||
	    hwtd_trace_extent(input->trace, stream, 0, &extent) == HWTD_OK ||
	    (hwtd_trace_stream(input->trace, stream, &desc) == HWTD_OK &&
		desc.n_bytes > 0));
}

/* The rows of one stream, with a cursor that reads several. */
static int
walk_stream(struct walk *walk, struct hwtd_events *events)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_stats *stats = &walk->stream->stats;
	const uint64_t bytes_before = walk->account->total.bytes;
	int rc = hwtd_events_seek_offset(events, walk->stream->stream, 0,
	    &err);

	while (rc == HWTD_OK && !interrupt_seen()) {
		struct hwtd_batch batch = {
			.size = sizeof(batch),
			.events = walk->rows,
			.stride = sizeof(*walk->rows),
			.cap = BATCH_ROWS,
		};

		rc = hwtd_events_read(events, &batch, &err);
		if (rc != HWTD_OK)
			break;
		take_rows(walk, &batch);
		if (progress_due(&walk->progress) &&
		    hwtd_events_stats(events, stats) == HWTD_OK)
			progress_show(&walk->progress,
			    bytes_before + stats->bytes);
	}
	(void)hwtd_events_stats(events, stats);
	add_stats(&walk->account->total, stats);
	if (rc != HWTD_OK && rc != HWTD_END) {
		progress_end(&walk->progress);
		return (input_say_read_error(walk->input, walk->options,
		    &err));
	}
	return (interrupt_seen() ? EXIT_INTERRUPTED : EXIT_DONE);
}

/* Streams of the account from `first` on, as many as one cursor reads. */
static int
walk_some(struct walk *walk, size_t first, size_t n)
{
	struct hwtd_events_options how;
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events *events = NULL;
	uint32_t ids[CURSOR_STREAMS];
	int code = EXIT_DONE;

	for (size_t i = 0; i < n; i++)
		ids[i] = walk->account->streams[walk->full[first + i]].stream;
	input_events_options(walk->options, &how);
	how.level = walk->hash ? HWTD_LEVEL_INSN : HWTD_LEVEL_BLOCK;
	/* Everything else is counted by the library. */
	how.kinds = 1u << HWTD_EV_GAP;
	if (walk->hash)
		how.kinds |= 1u << HWTD_EV_INSN;
	how.cpus = NULL;
	how.n_cpus = 0;
	how.streams = ids;
	how.n_streams = n;
	if (hwtd_events_open(walk->input->trace, &how, &events, &err) !=
	    HWTD_OK) {
		progress_end(&walk->progress);
		return (input_say_read_error(walk->input, walk->options,
		    &err));
	}
	for (size_t i = 0; i < n && code == EXIT_DONE; i++) {
		walk->stream = &walk->account->streams[walk->full[first + i]];
		code = walk_stream(walk, events);
	}
	hwtd_events_close(events);
	return (code);
}

static bool
contains(const struct id_list *list, uint32_t id)
{
	for (size_t i = 0; i < list->n; i++) {
		if (list->ids[i] == id)
			return (true);
	}
	return (list->n == 0);
}

/*
 * What is in a sink and in no stream of its sources: it gives nothing.  The rest
 * is counted there, and what frames need is no loss.
 */
static void
count_sink(struct walk *walk, uint32_t id, struct stream_account *stream)
{
	struct hwtd_sink_info info = { .size = sizeof(info) };
	struct hwtd_stats *stats = &stream->stats;
	uint32_t sources[HWTD_CS_TRACE_IDS];

	if (hwtd_trace_sink(walk->input->trace, id, &info) != HWTD_OK)
		return;
	stream->is_sink = true;
	coresight_sources(walk->input, id, sources);
	for (uint32_t i = HWTD_CS_FIRST_ID; i <= HWTD_CS_LAST_ID; i++) {
		if (info.id_bytes[i] == 0 || sources[i] != HWTD_NO_ID)
			continue;
		stats->gaps[HWTD_GAP_UNSUPPORTED]++;
		stats->gap_bytes_by_reason
		    [HWTD_GAP_UNSUPPORTED] += info.id_bytes[i];
	}
	if (info.lost_bytes + info.untold_bytes > 0) {
		stats->gaps[HWTD_GAP_UNSYNCED]++;
		stats->gap_bytes_by_reason
		    [HWTD_GAP_UNSYNCED] = info.lost_bytes + info.untold_bytes;
	}
	stats->kinds[HWTD_EV_GAP] = stats->gaps[HWTD_GAP_UNSUPPORTED] +
	    stats->gaps[HWTD_GAP_UNSYNCED];
	stats->gap_bytes = stats->gap_bytes_by_reason[HWTD_GAP_UNSUPPORTED] +
	    stats->gap_bytes_by_reason[HWTD_GAP_UNSYNCED];
	stats->bytes = stats->gap_bytes;
	add_stats(&walk->account->total, stats);
}

/* List the selected streams, and in `full` those that can give something. */
static size_t
list_streams(struct walk *walk, const bool *damaged)
{
	struct account *account = walk->account;
	size_t n_full = 0;

	for (uint32_t i = 0; i < walk->input->info.n_streams; i++) {
		struct hwtd_stream_desc desc = { .size = sizeof(desc) };

		if (hwtd_trace_stream(walk->input->trace, i, &desc) !=
			HWTD_OK ||
		    !contains(&walk->options->streams, i) ||
		    !contains(&walk->options->cpus, desc.cpu))
			continue;
		struct stream_account
		    *stream = &account->streams[account->n_streams];

		*stream = (struct stream_account){
			.stream = i,
			.tech = desc.tech,
			.stats = { .size = sizeof(struct hwtd_stats) },
			.ip_hash = FNV_BASIS,
		};
		if (desc.framing != HWTD_FRAMING_NONE)
			count_sink(walk, i, stream);
		else if (has_content(walk->input, i, damaged))
			walk->full[n_full++] = account->n_streams;
		account->n_streams++;
	}
	return (n_full);
}

/* Which streams are damaged; what is of no stream is a gap of the whole. */
static void
find_damaged(const struct walk *walk, bool *damaged)
{
	const struct input *input = walk->input;
	struct hwtd_stats *total = &walk->account->total;
	struct hwtd_damage damage = { .size = sizeof(damage) };

	for (size_t i = 0;
	     hwtd_trace_damage(input->trace, i, &damage) == HWTD_OK; i++) {
		if (damage.stream < input->info.n_streams) {
			damaged[damage.stream] = true;
		} else if (walk->options->streams.n == 0) {
			total->kinds[HWTD_EV_GAP]++;
			total->gaps[HWTD_GAP_FILE_DAMAGED]++;
			total->file_gap_bytes += damage.file_bytes;
		}
	}
}

int
account_streams(struct account *account, const struct input *input,
    const struct options *options, bool hash, account_gap_fn on_gap, void *arg)
{
	const size_t room = (size_t)input->info.n_streams + 1;
	struct walk walk = {
		.account = account,
		.input = input,
		.options = options,
		.hash = hash,
		.on_gap = on_gap,
		.arg = arg,
		.rows = malloc(BATCH_ROWS * sizeof(*walk.rows)),
		.full = calloc(room, sizeof(*walk.full)),
	};
	bool *damaged = calloc(room, sizeof(*damaged));
	int code = EXIT_DONE;

	memset(account, 0, sizeof(*account));
	account->seed = new_seed(account);
	account->total.size = sizeof(account->total);
	account->n_damages = input->info.n_damages;
	account->streams = calloc(room, sizeof(*account->streams));
	if (walk.rows == NULL || walk.full == NULL || damaged == NULL ||
	    account->streams == NULL) {
		say_error("out of memory");
		code = EXIT_FAILED;
	} else {
		find_damaged(&walk, damaged);
		const size_t n_full = list_streams(&walk, damaged);

		progress_start(&walk.progress, options->progress,
		    input->info.n_bytes);
		for (size_t i = 0; i < n_full && code == EXIT_DONE;
		     i += CURSOR_STREAMS)
			code = walk_some(&walk, i,
			    n_full - i < CURSOR_STREAMS ? n_full - i
							: CURSOR_STREAMS);
		progress_end(&walk.progress);
		list_pages(account);
	}
	free(damaged);
	free(walk.full);
	free(walk.rows);
	return (code);
}

void
account_fini(struct account *account)
{
	free(account->streams);
	free(account->pages);
	account->streams = NULL;
	account->pages = NULL;
}
