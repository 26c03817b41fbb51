/*
 * Address spaces of a trace: made from its records when it is sealed.
 */
#ifndef HWTDI_TRACE_SPACE_H
#define HWTDI_TRACE_SPACE_H

#include "space/position.h"
#include "space/space_table.h"
#include "space/switches.h"
#include "space/timeline.h"

struct hwtd_trace;

struct hwtdi_process {
	uint32_t pid, parent, n_execs;
	/* Borrowed from a record. */
	const char *name;
};

struct hwtdi_trace_space {
	struct hwtd_context *library;
	struct hwtdi_timeline *timeline;
	struct hwtdi_position *positions;
	struct hwtdi_switches *switches;
	/* Where code of unknown processes is looked for. */
	uint32_t default_space;
	struct hwtdi_process *processes;
	size_t n_processes, cap_processes;
	/* While it is built: numbers of processes. */
	struct hwtdi_space_table pids;
};

/* Apply the records and images of a trace; adds images and sections to it. */
int hwtdi_trace_space_build(struct hwtd_trace *trace,
    struct hwtdi_trace_space *space, struct hwtd_error *err);
void hwtdi_trace_space_fini(struct hwtdi_trace_space *space);

/* trace_code.c */
/* Where the code of a process is looked for; HWTD_NO_ID: of an unknown one. */
uint32_t hwtdi_trace_space_of(const struct hwtdi_trace_space *space,
    uint32_t pid);

#endif /* HWTDI_TRACE_SPACE_H */
