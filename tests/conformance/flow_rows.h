/*
 * Rows of one decode, as many at a time as are looked at.
 */
#ifndef HWTDECODE_CONFORMANCE_FLOW_ROWS_H
#define HWTDECODE_CONFORMANCE_FLOW_ROWS_H

#include "flow.h"

/* A row, with its detail; its `value` is then 0. */
struct flow_row {
	struct hwtd_event event;
	union {
		struct hwtd_gap gap;
		struct hwtd_marker marker;
		struct hwtd_power power;
		struct hwtd_async async;
	} detail;
	/* Facts that rows of status told before it. */
	size_t facts;
};

/* What holds, and from time to time is told again. */
enum flow_fact_name {
	FLOW_FACT_MODE,
	FLOW_FACT_INTERRUPTS,
	FLOW_FACT_TRANSACTION,
	FLOW_FACT_CR3,
	FLOW_FACT_VMCS,
	FLOW_FACT_RATIO,
	FLOW_FACTS
};

struct flow_fact {
	uint8_t name;
	uint64_t value;
};

/* Facts that one row can tell. */
#define FLOW_ROW_FACTS 2

struct flow_rows {
	const struct hwtd_trace *trace;
	struct hwtd_events *events;
	struct hwtd_batch batch;
	size_t next;
	bool ended;
	/* Rows at hand, [head, n). */
	struct flow_row *rows;
	size_t head, n, cap;
	/* Facts of rows at hand; those before `fact_head` were used. */
	struct flow_fact *facts;
	size_t fact_head, n_facts, cap_facts;
	/* Instructions that were taken. */
	uint64_t insns;
};

void flow_rows_open(struct flow_rows *rows, struct hwtd_trace *trace,
    const struct hwtd_events_options *how, const char *engine);
void flow_rows_close(struct flow_rows *rows);
/* Row `i` of those to come that are no status, or NULL. */
const struct flow_row *flow_rows_at(struct flow_rows *rows, size_t i);
/* Leave out the next rows. */
void flow_rows_take(struct flow_rows *rows, size_t n);
/* The next fact that rows of status told; false: none. */
bool flow_rows_fact(struct flow_rows *rows, struct flow_fact *out);
/* What a row of state says: so many facts. */
size_t flow_row_facts(const struct hwtd_trace *trace,
    const struct flow_row *row, struct flow_fact out[FLOW_ROW_FACTS]);
/* Both say the same, whatever the time and the offset. */
bool flow_row_same(const struct flow_row *a, const struct flow_row *b);
/* Bytes were lost; an overflow loses none. */
bool flow_row_is_loss(const struct flow_row *row);
void flow_row_put(FILE *out, const struct hwtd_trace *trace,
    const struct flow_row *row);

#endif /* HWTDECODE_CONFORMANCE_FLOW_ROWS_H */
