/*
 * How a capture stands, told from its process to its parent.
 */
#include <string.h>
#include <sys/mman.h>

#include "capture/keeper.h"

/* Who dies while it writes never finishes. */
#define TRIES 1000

_Static_assert(sizeof(struct hwtd_capture_status) % 8 == 0,
    "a status is words");

struct hwtdi_keeper_board *
hwtdi_keeper_board_create(void)
{
	void *board = mmap(NULL, sizeof(struct hwtdi_keeper_board),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return (board != MAP_FAILED ? board : NULL);
}

void
hwtdi_keeper_board_destroy(struct hwtdi_keeper_board *board)
{
	if (board != NULL)
		(void)munmap(board, sizeof(*board));
}

void
hwtdi_keeper_board_write(struct hwtdi_keeper_board *board,
    const struct hwtd_capture_status *status)
{
	uint64_t words[HWTDI_KEEPER_WORDS];

	memcpy(words, status, sizeof(words));
	atomic_fetch_add_explicit(&board->turn, 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	for (size_t i = 0; i < HWTDI_KEEPER_WORDS; i++)
		atomic_store_explicit(&board->words[i], words[i],
		    memory_order_relaxed);
	atomic_fetch_add_explicit(&board->turn, 1, memory_order_release);
}

void
hwtdi_keeper_board_read(struct hwtdi_keeper_board *board,
    struct hwtd_capture_status *out)
{
	uint64_t words[HWTDI_KEEPER_WORDS];

	for (int i = 0; i < TRIES; i++) {
		const uint32_t turn = atomic_load_explicit(&board->turn,
		    memory_order_acquire);

		for (size_t k = 0; k < HWTDI_KEEPER_WORDS; k++)
			words[k] = atomic_load_explicit(&board->words[k],
			    memory_order_relaxed);
		atomic_thread_fence(memory_order_acquire);
		if (turn != 0 && turn % 2 == 0 &&
		    turn ==
			atomic_load_explicit(&board->turn,
			    memory_order_relaxed)) {
			memcpy(out, words, sizeof(words));
			return;
		}
	}
}
