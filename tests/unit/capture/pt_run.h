/*
 * Captures of Intel PT of programs whose flow is known, on the simulated kernel.
 */
#ifndef TEST_PT_RUN_H
#define TEST_PT_RUN_H

#include <hwtdecode/hwtdecode.h>

#include "engine_run.h"
#include "support/failing_allocator.h"
#include "support/pt_packets.h"

/* The least that is taken without a word. */
#define PT_RUN_BUFFER (256u * 4096u)
#define PT_RUN_PAGE 4096u
/* Where the code of a file begins in it, and from its bias on. */
#define PT_RUN_CODE 0x1000u

#define PT_RUN_PACKETS 160
#define PT_RUN_PATHS 8
#define PT_RUN_MAPS 8

/* A program of steps that a test adds, and what its hardware writes. */
struct pt_run {
	struct engine_run run;
	struct failing_allocator memory;
	char path[300];
	const char *argv[3];
	struct hwtd_capture_pt pt;
	struct sim_program *script;
	struct pt_packets packets[PT_RUN_PACKETS];
	size_t n_packets;
	char paths[PT_RUN_PATHS][300];
	size_t n_paths;
	/* Not 0: a process with so many threads that runs already. */
	unsigned n_threads;
	struct hwtdi_vm_entry maps[PT_RUN_MAPS];
	size_t n_maps;
	const struct hwtdi_credentials *credentials;
};

/* The file "program", which is to be started.  `sim` NULL: defaults. */
void pt_run_init(struct pt_run *r, const struct sim_options *sim);
void pt_run_fini(struct pt_run *r);

/*
 * A file of code that jumps around in itself, see pt_run_flow(); its path lives as
 * long as the run.  `type` 2: lies at 0x400000.
 */
const char *pt_run_file(struct pt_run *r, const char *name, uint16_t type,
    uint8_t build_id, const char *interpreter);

/* PSB, and the packets of going `rounds` times through the code at `at`. */
const struct pt_packets *pt_run_flow(struct pt_run *r, uint64_t at,
    unsigned rounds);
/* The same without PSB. */
const struct pt_packets *pt_run_more(struct pt_run *r, uint64_t at,
    unsigned rounds);
/* Exactly `n` bytes, each 8 of which are nowhere else: PSB, then PTWRITE. */
const struct pt_packets *pt_run_unique(struct pt_run *r, size_t n);

/* Rows of the flow, appended to `text`. */
void pt_run_rows(char *text, size_t room, uint64_t at, unsigned rounds,
    unsigned section);

/* Steps. */
void pt_run_step(struct pt_run *r, const struct sim_step *step);
void pt_run_exec(struct pt_run *r, const char *path, uint64_t bias);
void pt_run_mmap(struct pt_run *r, unsigned thread, const char *path,
    uint64_t bias);
void pt_run_trace(struct pt_run *r, unsigned thread, uint64_t ns,
    const struct pt_packets *packets);
void pt_run_thread(struct pt_run *r, unsigned by, unsigned number);
void pt_run_exit(struct pt_run *r, int status);

/*
 * A process of the script that runs already, which is traced instead of a program
 * that is started; and what it has mapped: something, or a file of pt_run_file().
 */
void pt_run_attach(struct pt_run *r, unsigned n_threads);
void pt_run_has(struct pt_run *r, const char *path, uint64_t start,
    uint64_t bytes, uint64_t off, uint32_t prot);
void pt_run_has_file(struct pt_run *r, const char *path, uint64_t bias);
/* That process begins to run; its pid.  Not needed ahead of the functions below. */
pid_t pt_run_begin(struct pt_run *r);

/* Run it; ends the test if it fails, panics, hangs or leaks. */
void pt_run_ok(struct pt_run *r);
/* Run it; it has to fail with `code` and a message that has `words`. */
void pt_run_fails(struct pt_run *r, int code, const char *words);

/* Losses of the run: "slices=2 unknown=1", in the order of their kinds. */
void pt_run_assert_losses(const struct pt_run *r, const char *text);

/*
 * Records of the file but marks and positions, one a line.  "$" is the folder of
 * the run.
 */
void pt_run_assert_records(const struct pt_run *r, const char *lines);
/* Rows of the thread `tid`; 0: of all. */
void pt_run_assert_rows(const struct pt_run *r, uint32_t tid,
    const char *lines);
/* Lines "what=value" of the text about the capture; NULL: there is no `what`. */
void pt_run_assert_said(const struct pt_run *r, const char *what,
    const char *value);

/*
 * Each extent of the file is a piece of one slice that the hardware wrote to the
 * buffer of that thread, in order and no byte twice; those that say nothing is
 * missing ahead of them begin one.  Returns how many bytes are missing.
 */
uint64_t pt_run_check_bytes(const struct pt_run *r);

/* The nth thread that was ever made; 0 is that of the program or process. */
uint32_t pt_run_tid(const struct pt_run *r, unsigned nth);

#endif /* TEST_PT_RUN_H */
