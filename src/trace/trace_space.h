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
struct hwtdi_named_file;

struct hwtdi_process {
	uint32_t pid, parent, n_execs;
	/* Borrowed from a record. */
	const char *name;
};

/* An object that was loaded as a whole, to be unloaded as such. */
struct hwtdi_load {
	uint32_t space;
	uint64_t addr, bias;
	struct hwtdi_named_file *file;
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
	/* While it is built: numbers of processes, loaded objects. */
	struct hwtdi_space_table pids;
	struct hwtdi_load *loads;
	size_t n_loads, cap_loads;
	/* Open-addressed index of sections: number + 1, 0 empty. */
	uint32_t *slots;
	size_t n_slots;
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
