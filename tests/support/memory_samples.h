/*
 * Samples of Arm SPE by hand, and the tables that they make.  Every failure fails
 * the test.
 */
#ifndef TEST_MEMORY_SAMPLES_H
#define TEST_MEMORY_SAMPLES_H

#include <hwtdecode/hwtdecode.h>

/* Neoverse N1 r3p1. */
#define MS_N1 UINT32_C(0x413fd0c1)

#define MS_NO_SOURCE UINT32_MAX

/* Bits of events. */
#define MS_RETIRED 0x2
#define MS_L1_ACCESS 0x4
#define MS_L1_MISS 0x8
#define MS_TLB_ACCESS 0x10
#define MS_TLB_MISS 0x20
#define MS_NOT_TAKEN 0x40
#define MS_MISPREDICTED 0x80
#define MS_LLC_ACCESS 0x100
#define MS_LLC_MISS 0x200
#define MS_REMOTE 0x400

/*
 * A trace with one stream without bytes, and code: `alpha` at 0x400100, 0x40
 * bytes, `beta` at 0x400140, 0x20 bytes, in "dir/prog".
 */
struct hwtd_trace *ms_trace(void);
struct hwtd_trace *ms_trace_in(struct hwtd_context *ctx);
/* That code alone. */
void ms_add_program(struct hwtd_trace *trace);

/* A row of a thread; HWTD_NO_ID: not known. */
struct hwtd_event ms_row(struct hwtd_trace *trace, uint32_t pid, uint32_t tid,
    uint32_t cpu);

/* A load, or a store, that retired; no latencies. */
struct hwtd_sample ms_access(uint64_t pc, bool store, uint64_t va,
    uint32_t source, uint64_t events);
/* A branch, taken or not. */
struct hwtd_sample ms_branch(uint64_t pc, bool taken, uint64_t target,
    uint64_t events);
void ms_latency(struct hwtd_sample *s, uint16_t total, uint16_t issue);

/* Tables of one kind, or more: 0 all; with accesses. */
struct hwtd_memory *ms_open(struct hwtd_trace *trace, uint32_t tables);
void ms_add(struct hwtd_memory *memory, const struct hwtd_event *row,
    const struct hwtd_sample *sample);

/* Sorted, and row `i` of it. */
struct hwtd_memory_row ms_sorted(struct hwtd_memory *memory, uint32_t table,
    uint32_t sort, uint64_t i);

#endif /* TEST_MEMORY_SAMPLES_H */
