/*
 * Accounting for every byte of a trace: what each stream gave, what it did
 * not give, and which code was missing.
 */
#ifndef HWTDECODE_CLI_ACCOUNT_H
#define HWTDECODE_CLI_ACCOUNT_H

#include "cli/input/input.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"

/* What one stream gave. */
struct stream_account {
	uint32_t stream;
	uint32_t tech;
	/* Of a trace sink: what no stream of its sources has. */
	bool is_sink;
	struct hwtd_stats stats;
	/* Over the addresses of all instructions; see account_streams(). */
	uint64_t ip_hash;
};

/* A page of addresses that no image holds. */
struct missing_page {
	uint64_t page;
	uint64_t gaps;
	/* Those of code that an image is known to hold. */
	uint64_t known;
	/* Lowest address that was missed. */
	uint64_t lowest;
};

/* Pages that are told apart; more are only counted. */
#define MAX_MISSING_PAGES 65536
#define PAGE_BYTES 4096

struct account {
	struct stream_account *streams;
	size_t n_streams;
	/* Sums over all streams. */
	struct hwtd_stats total;
	/* Damaged places of the file. */
	uint32_t n_damages;
	/* An open hash table, then, after account_streams(), a list by page. */
	struct missing_page *pages;
	size_t n_pages;
	size_t page_slots;
	uint64_t other_missing_gaps;
	/* Gaps of code that an image is known to hold. */
	uint64_t known_gaps;
	/* So that nobody can choose pages that make the table slow. */
	uint64_t seed;
};

/*
 * Called with every gap, in the order of the stream.  True: its code is
 * missing, and an image is known that holds it.
 */
typedef bool (*account_gap_fn)(void *arg, uint32_t stream,
    const struct hwtd_event *row, const struct hwtd_gap *gap);

/*
 * Decode all selected streams.  With `hash` every instruction is looked at
 * and ip_hash is FNV-1a with the offset basis 1469598103934665603 over each
 * ip as 8 little-endian bytes.  Returns an exit code; what was found until
 * then stands in `account`, to be given up with account_fini().
 */
int account_streams(struct account *account, const struct input *input,
    const struct options *options, bool hash, account_gap_fn on_gap,
    void *arg);
void account_fini(struct account *account);

#endif /* HWTDECODE_CLI_ACCOUNT_H */
