/*
 * State of the libipt engine, shared by its files.
 */
#ifndef HWTDI_PT_LIBIPT_INTERNAL_H
#define HWTDI_PT_LIBIPT_INTERNAL_H

#include <intel-pt.h>

#include "decode/decoder.h"
#include "decode/pt/pt_choice.h"
#include "decode/flow_put.h"
#include "decode/pt/pt_loop.h"
#include "decode/pt/pt_sync.h"

struct hwtdi_decoder {
	struct hwtd_context *library;
	struct hwtdi_code_source code;
	struct hwtdi_code_graph *graph;
	/* The stream's own context, and what holds now. */
	struct hwtd_exec_context base, context;
	struct pt_config config;
	/* The stream has a clock, so that time is worth asking for. */
	bool timed;

	struct hwtdi_segment segment;
	struct pt_block_decoder *blk;
	/* The PSB+ that follows the segment. */
	struct hwtdi_pt_psb next_psb;
	bool has_next_psb;
	bool synced, done;
	/* pt_status_flag of the last call. */
	int status;
	/* Where the last synchronisation was, and where to look for more. */
	size_t sync_off, search_off;

	/* The last PSB whose address the flow has reached. */
	size_t reached_psb;

	/* The block at hand: `left` instructions from `left_ip` on. */
	struct pt_block block;
	/* Its last branch has no outcome: it came with an error. */
	bool unfinished;
	/* Where libipt stood before it, and where it stood last. */
	size_t before_off, here;
	/* The last call failed and is being made again. */
	bool tried_again;
	uint32_t left;
	uint64_t left_ip;

	struct hwtdi_loop loop;
	struct hwtdi_code_span span;
	/* Its unit of the graph, in a mode. */
	bool has_unit;
	uint8_t unit_isa;
	uint32_t unit;
	struct hwtdi_unit_place *places;
	size_t cap_places;
	/* Address of the last read that found nothing, and of the last. */
	uint64_t missing_ip, read_ip;
	bool missing, ambiguous, unread;
	struct hwtdi_pt_choice choice;

	/* What the rows said last. */
	uint64_t anchor_off, anchor_count;
	uint32_t anchor_flags;
	bool anchored;
	/*
	 * Where code is looked up, for libipt and for rows: what the rows said
	 * before the block at hand.
	 */
	uint64_t asked_off, asked_count;
	uint32_t asked_flags;
	uint8_t isa;
	bool transaction;
	/* What is known of the asynchronous branch that comes next. */
	bool has_async;
	struct hwtd_async async;
	uint64_t async_ip;
	uint32_t ratio;
	bool has_last_ip;
	uint64_t last_ip;
};

/* pt_libipt_trial.c */
/* See `try_out` of struct hwtdi_pt_asker. */
int hwtdi_ipt_try_out(struct hwtdi_decoder *d, size_t until,
    struct hwtdi_flow *flow, struct hwtdi_pt_choice *choice_inout);

/* pt_libipt.c */
int hwtdi_ipt_start(struct hwtdi_decoder *d,
    const struct hwtdi_segment *segment, struct hwtd_error *err);
int hwtdi_ipt_read(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err);
void hwtdi_ipt_close(struct hwtdi_decoder *d);

/* pt_libipt_code.c */
bool hwtdi_ipt_find_span(struct hwtdi_decoder *d, uint64_t ip);
/* Copy code from `ip` on, across spans that adjoin; bytes copied. */
size_t hwtdi_ipt_read_code(struct hwtdi_decoder *d, uint64_t ip, uint8_t *buf,
    size_t n);
/* The read-memory callback of libipt. */
int hwtdi_ipt_read_memory(uint8_t *buf, size_t n, const struct pt_asid *asid,
    uint64_t ip, void *context);
/*
 * Put the instructions of the block at hand into the flow.  HWTD_OK (some may
 * be left for the next flow); HWTD_END: a gap has to follow, *reason_out.
 */
int hwtdi_ipt_put_block(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint32_t *reason_out, struct hwtd_error *err);
uint8_t hwtdi_ipt_isa(enum pt_exec_mode mode);

/* pt_libipt_event.c */
void hwtdi_ipt_put_anchor(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint64_t off, uint32_t flags, uint64_t count);
uint32_t hwtdi_ipt_time_flags(uint32_t lost_mtc, uint32_t lost_cyc);
struct hwtd_gap *hwtdi_ipt_put_gap(struct hwtdi_decoder *d,
    struct hwtdi_flow *flow, uint32_t reason, size_t first, size_t end,
    const char *text);
void hwtdi_ipt_put_context(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtd_exec_context *now, uint16_t flags, const uint64_t *ip);
void hwtdi_ipt_put_event(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct pt_event *ev);

#endif /* HWTDI_PT_LIBIPT_INTERNAL_H */
