/*
 * Accounting for every byte of a trace: decodes stream by stream and adds up.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/account.h"
#include "cli/interrupt.h"
#include "cli/message.h"

#define BATCH_ROWS 2048
#define FNV_BASIS UINT64_C(1469598103934665603)
#define FNV_PRIME UINT64_C(1099511628211)

struct walk {
	struct account *account;
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
		size_t at = (size_t)(page->page / PAGE_BYTES *
				    UINT64_C(0x9e3779b97f4a7c15) >>
				32) &
		    (n - 1);

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
add_missing(struct account *account, uint64_t address)
{
	const uint64_t page = address & ~(uint64_t)(PAGE_BYTES - 1);

	/* Half empty, so that a search always ends. */
	if (2 * account->n_pages >= account->page_slots &&
	    (account->n_pages >= MAX_MISSING_PAGES || !grow_pages(account))) {
		account->other_missing_gaps++;
		return;
	}
	const size_t mask = account->page_slots - 1;
	size_t at = (size_t)(page / PAGE_BYTES *
			    UINT64_C(0x9e3779b97f4a7c15) >>
			32) &
	    mask;

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

		if (gap->reason == HWTD_GAP_NO_CODE &&
		    (gap->flags & HWTD_GAPF_ADDR) != 0)
			add_missing(walk->account, gap->addr);
		if (walk->on_gap != NULL)
			walk->on_gap(walk->arg, walk->stream->stream, row,
			    gap);
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

static int
walk_stream(struct walk *walk, const struct input *input,
    const struct options *options, struct progress *progress)
{
	struct hwtd_events_options how;
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events *events = NULL;
	struct hwtd_event *rows = malloc(BATCH_ROWS * sizeof(*rows));
	struct hwtd_stats *stats = &walk->stream->stats;
	const uint64_t bytes_before = walk->account->total.bytes;
	int code = EXIT_DONE;

	if (rows == NULL) {
		say_error("out of memory");
		return (EXIT_FAILED);
	}
	input_events_options(options, &how);
	how.level = walk->hash ? HWTD_LEVEL_INSN : HWTD_LEVEL_BLOCK;
	/*
	 * Everything else is counted by the library.  Code is asked for so
	 * that reads return often enough to show progress and to break off.
	 */
	how.kinds = 1u << HWTD_EV_GAP |
	    1u << (walk->hash ? HWTD_EV_INSN : HWTD_EV_BLOCK);
	how.cpus = NULL;
	how.n_cpus = 0;
	how.streams = &walk->stream->stream;
	how.n_streams = 1;

	int rc = hwtd_events_open(input->trace, &how, &events, &err);

	while (rc == HWTD_OK && !interrupt_seen()) {
		struct hwtd_batch batch = {
			.size = sizeof(batch),
			.events = rows,
			.stride = sizeof(*rows),
			.cap = BATCH_ROWS,
		};

		rc = hwtd_events_read(events, &batch, &err);
		if (rc != HWTD_OK)
			break;
		take_rows(walk, &batch);
		if (progress_due(progress) &&
		    hwtd_events_stats(events, stats) == HWTD_OK)
			progress_show(progress, bytes_before + stats->bytes);
	}
	if (rc != HWTD_OK && rc != HWTD_END) {
		progress_end(progress);
		code = input_say_read_error(input, options, &err);
	} else if (interrupt_seen()) {
		code = EXIT_INTERRUPTED;
	}
	if (events != NULL)
		(void)hwtd_events_stats(events, stats);
	add_stats(&walk->account->total, stats);
	hwtd_events_close(events);
	free(rows);
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

int
account_streams(struct account *account, const struct input *input,
    const struct options *options, bool hash, account_gap_fn on_gap, void *arg)
{
	struct progress progress;
	int code = EXIT_DONE;

	memset(account, 0, sizeof(*account));
	account->total.size = sizeof(account->total);
	account->n_damages = input->info.n_damages;
	account->streams = calloc((size_t)input->info.n_streams + 1,
	    sizeof(*account->streams));
	if (account->streams == NULL) {
		say_error("out of memory");
		return (EXIT_FAILED);
	}
	progress_start(&progress, options->progress, input->info.n_bytes);
	for (uint32_t i = 0; i < input->info.n_streams && code == EXIT_DONE;
	     i++) {
		struct hwtd_stream_desc desc = { .size = sizeof(desc) };
		struct walk walk = {
			.account = account,
			.stream = &account->streams[account->n_streams],
			.hash = hash,
			.on_gap = on_gap,
			.arg = arg,
		};

		if (hwtd_trace_stream(input->trace, i, &desc) != HWTD_OK ||
		    !contains(&options->streams, i) ||
		    !contains(&options->cpus, desc.cpu))
			continue;
		account->n_streams++;
		*walk.stream = (struct stream_account){
			.stream = i,
			.tech = desc.tech,
			.stats = { .size = sizeof(struct hwtd_stats) },
			.ip_hash = FNV_BASIS,
		};
		code = walk_stream(&walk, input, options, &progress);
	}
	progress_end(&progress);
	list_pages(account);
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
