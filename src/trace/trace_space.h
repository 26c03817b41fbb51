/*
 * Address spaces of a trace: made from its records when it is sealed.
 */
#ifndef HWTDI_TRACE_SPACE_H
#define HWTDI_TRACE_SPACE_H

#include "space/position.h"
#include "space/space_table.h"
#include "space/switches.h"
#include "space/timeline.h"

struct hwtd_exec_context;
struct hwtd_trace;

struct hwtdi_process {
	uint32_t pid, parent, n_execs;
	/* HWTD_NO_ID: of the host. */
	uint32_t vmid;
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
	/* Virtual machines that records speak of, as keys of their kernels. */
	struct hwtdi_space_table machines;
	struct hwtdi_process *processes;
	size_t n_processes, cap_processes;
	/* While it is built: numbers of processes. */
	struct hwtdi_space_table pids;
};

/* Apply the records and images of a trace; adds images and sections to it. */
int hwtdi_trace_space_build(struct hwtd_trace *trace,
    struct hwtdi_trace_space *space, struct hwtd_error *err);

/* Where code of a context is looked for, and the kernel that it has. */
struct hwtdi_seen {
	uint32_t space;
	uint32_t kernel;
	/* Else no record speaks of it: it has what its kernel and all have. */
	bool known;
};

/* `who` NULL: unknown. */
struct hwtdi_seen hwtdi_trace_space_see(const struct hwtdi_trace_space *space,
    const struct hwtd_exec_context *who);

void hwtdi_trace_space_fini(struct hwtdi_trace_space *space);

#endif /* HWTDI_TRACE_SPACE_H */
