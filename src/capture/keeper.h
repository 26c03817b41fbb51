/*
 * The process of a capture: it owns what the kernel allocates, writes the file, and
 * ends when its parent says so or is gone.
 */
#ifndef HWTDI_KEEPER_H
#define HWTDI_KEEPER_H

#include <hwtdecode/capture.h>
#include <stdatomic.h>

#include "capture/system.h"

enum hwtdi_keeper_kind {
	/* All is made and runs; or `code` says why not. */
	HWTDI_KEEPER_STARTED = 1,
	/* The file is complete, or `code` says why not.  The last one. */
	HWTDI_KEEPER_ENDED = 2
};

/* What it says to its parent, one packet each.  The parent sends any byte: stop. */
struct hwtdi_keeper_message {
	uint32_t kind;
	int32_t code;
	struct hwtd_capture_status status;
	struct hwtd_error error;
};

#define HWTDI_KEEPER_WORDS (sizeof(struct hwtd_capture_status) / 8)

/*
 * How it stands, in memory that both processes have: it is read whenever somebody
 * wants to know, and nobody waits for who reads.
 */
struct hwtdi_keeper_board {
	/* Odd while the words are written. */
	_Atomic uint32_t turn;
	_Atomic uint64_t words[HWTDI_KEEPER_WORDS];
	/* The process that the capture has stopped just now; 0: none. */
	_Atomic uint32_t stopped;
};

/* A board that is passed on to children; NULL: no memory, see errno. */
struct hwtdi_keeper_board *hwtdi_keeper_board_create(void);
void hwtdi_keeper_board_destroy(struct hwtdi_keeper_board *board);
void hwtdi_keeper_board_write(struct hwtdi_keeper_board *board,
    const struct hwtd_capture_status *status);
/* Leaves *out as it is if the writer died while it wrote. */
void hwtdi_keeper_board_read(struct hwtdi_keeper_board *board,
    struct hwtd_capture_status *out);

/* Start one: its pid, and a socket to it. */
int hwtdi_keeper_start(struct hwtd_context *library,
    const struct hwtdi_system *sys, const struct hwtd_capture_options *options,
    struct hwtdi_keeper_board *board, pid_t *pid_out, int *fd_out,
    struct hwtd_error *err);

/* hwtd_capture_start() on any system. */
int hwtdi_capture_start(struct hwtd_context *library,
    const struct hwtdi_system *sys, const struct hwtd_capture_options *options,
    struct hwtd_capture **capture_out, struct hwtd_error *err);

#endif /* HWTDI_KEEPER_H */
