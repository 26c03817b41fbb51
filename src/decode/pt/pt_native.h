/*
 * State of our own Intel PT engine, shared by its files.
 *
 * The engine walks the code graph by the packets.  Where it stands is the start
 * of a node that was not executed yet; the packet that says how the node ends
 * makes it a token.
 */
#ifndef HWTDI_PT_NATIVE_H
#define HWTDI_PT_NATIVE_H

#include <string.h>

#include "decode/code/code_graph.h"
#include "decode/code/x86_insn.h"
#include "decode/decoder.h"
#include "decode/pt/pt_choice.h"
#include "decode/pt/pt_errata.h"
#include "decode/flow_put.h"
#include "decode/pt/pt_loop.h"
#include "decode/pt/pt_native_memo.h"
#include "decode/pt/pt_native_runs.h"
#include "decode/pt/pt_native_target.h"
#include "decode/pt/pt_packet.h"
#include "decode/pt/pt_sync.h"
#include "decode/pt/pt_time.h"

/* Spans of code at hand. */
#define HWTDI_PTN_SPANS 16u
/* Events that wait for an address. */
#define HWTDI_PTN_PENDING 16u
/* PSB+ that are remembered. */
#define HWTDI_PTN_PSBS 4u

/* What one step may add to a flow at the most. */
#define HWTDI_PTN_ROOM_TOKENS 160
#define HWTDI_PTN_ROOM_RARES 32
#define HWTDI_PTN_ROOM_ANCHORS 8
#define HWTDI_PTN_ROOM_PLACES 8

/* What an event waits for. */
enum hwtdi_ptn_wait {
	/* A FUP, which is its alone. */
	HWTDI_PTN_FUP_BOUND = 1,
	/* A FUP, from which an asynchronous branch may start too. */
	HWTDI_PTN_FUP = 2,
	HWTDI_PTN_TIP = 4,
	/* Of EVD packets: the CFE. */
	HWTDI_PTN_CFE = 8,
	/* Of MWAIT: an EXSTOP that says whether there is an address. */
	HWTDI_PTN_EXSTOP = 16
};

/* What has to be done when an event has its address. */
enum hwtdi_ptn_what {
	HWTDI_PTN_ROW,
	/* The row belongs behind the instruction at the address. */
	HWTDI_PTN_ROW_AFTER,
	HWTDI_PTN_ISA,
	HWTDI_PTN_IFLAG,
	HWTDI_PTN_TSX,
	HWTDI_PTN_PAGING,
	HWTDI_PTN_VMCS,
	HWTDI_PTN_OVERFLOW,
	/* An event of the event trace. */
	HWTDI_PTN_TRACE_EVENT,
	/* Of no interest, but it uses the FUP. */
	HWTDI_PTN_NOTHING
};

struct hwtdi_ptn_pending {
	uint8_t wait;
	uint8_t what;
	/*
	 * Kind of row, and instructions by which it is behind the address; or
	 * the value of a state.
	 */
	uint8_t kind;
	uint64_t value;
	union {
		struct hwtd_marker marker;
		struct hwtd_power power;
		struct hwtd_async async;
	} detail;
};

/* How decoding was entered. */
struct hwtdi_ptn_entry {
	size_t at;
	/* At a PSB, with nothing known. */
	bool at_psb;
	bool on;
	uint64_t ip;
	uint8_t isa;
	struct hwtdi_pt_lex_state lex;
	struct hwtd_exec_context context;
	struct hwtdi_moments moments;
};

/* What PSB+ tells. */
struct hwtdi_ptn_psb {
	/* Byte behind it; what stands there if that is not PSBEND. */
	size_t end;
	bool has_ip, on;
	uint64_t ip;
	bool has_mode, has_tsx, has_pip, has_vmcs, has_cbr, has_tsc, has_mnt;
	uint8_t mode, tsx;
	bool non_root;
	uint64_t cr3, vmcs, tsc;
	uint32_t ratio;
	/* It ends with an OVF or a packet that should not be in it. */
	bool overflow, open;
};

/* PSB+ that was read before, up to PSBEND: where they are many, they are alike. */
struct hwtdi_ptn_known_psb {
	uint8_t bytes[96];
	size_t n;
	struct hwtdi_ptn_psb psb;
	/* Of the state of packets behind it. */
	uint64_t last_ip, ip_known;
};

struct hwtdi_decoder {
	struct hwtd_context *library;
	struct hwtdi_code_source code;
	struct hwtdi_code_graph *graph;
	struct hwtdi_graph_view view;
	/* The stream's own context, and what holds now. */
	struct hwtd_exec_context base, context;
	struct hwtd_pt_config pt;
	struct hwtdi_pt_errata errata;
	bool filtered, timed;
	uint64_t near_count;

	/* The segment, and the next packet in it. */
	struct hwtdi_segment segment;
	size_t at;
	/* Packets that begin at or behind this byte are not in `segment` whole:
	 * they are read from `edge`. */
	size_t edge_at;
	struct hwtdi_pt_lex_state lex;
	struct hwtdi_pt_psb next_psb;
	/* A PSB is behind the segment; `next_psb` is all of PSB+. */
	bool at_joint, has_next_psb;
	bool done;
	/* Decoding goes on; else it is to be entered at or behind `at`. */
	bool synced;
	/* What the PSB at `at` says need not be what was known before. */
	bool fresh;

	/* Where execution stands: at the start of a node, or at an address. */
	uint32_t node;
	uint64_t ip;
	/* Other code lies there by now: what follows the node is looked up. */
	bool stale;
	bool on;
	uint8_t isa;
	bool transaction;
	/* A far transfer was passed whose target is still to come. */
	bool half;
	/* HWTDI_PTN_BOUND_* bits: what was bound to it. */
	uint8_t half_bound;
	/* CR3 was written by the last instruction that was passed. */
	bool wrote_cr3;
	/* Outcomes left of a TNT packet, the next in the top bit. */
	uint64_t bits;
	uint32_t n_bits;
	/* Bytes of that packet. */
	uint32_t tnt_bytes;
	/* Behind the last TIP that was taken ahead of its turn; 0: none. */
	size_t ahead;
	/* Tracing went off, and is thought to go on here. */
	bool has_resume;
	uint64_t resume_ip;
	/* The last token, if not 0; else the last address, if there is one. */
	uint32_t last_token;
	bool has_last_ip;
	uint64_t last_ip;

	/* Events that wait; an asynchronous branch that has begun. */
	uint32_t n_pending;
	bool async;
	uint64_t async_ip;
	/* Where its FUP begins. */
	size_t async_at;
	/* It was entered at the FUP, which may be of something else. */
	bool weak;
	/* The FUP at `at` is being told to events, which are those it is for. */
	bool in_fup, fup_bound;
	/* One of those starts an asynchronous branch. */
	bool fup_branches;
	/* What the event trace tells of the next asynchronous branch. */
	bool has_detail;
	struct hwtd_async detail;
	uint64_t detail_ip;
	/*
	 * Instructions that were passed since a packet told an address or an
	 * outcome, of which triggers count; as far as packets before
	 * `passed_at` go, and no other packet of that kind is behind it.
	 */
	uint32_t passed;
	size_t passed_at;
	uint32_t ratio;
	/* IF is told by the trace; and what it is. */
	bool has_iflag, iflag;

	/* RET compression: pushes, the newest at `top`; UINT32_MAX: by address. */
	uint32_t top;
	uint32_t calls[HWTDI_PTN_CALLS];

	/* Addresses to nodes. */
	uint32_t epoch;
	struct hwtdi_ptn_targets targets;
	uint32_t n_spans, next_span;
	struct hwtdi_unit_place *places;
	size_t cap_places;
	bool missing, ambiguous, unread;
	uint64_t missing_ip;
	struct hwtdi_pt_choice choice;
	/* Answers tell when it is, so that each has to be asked for. */
	bool narrowed;
	/* Code is to be looked up anew from this byte of the segment on. */
	size_t recheck_at;
	/* Up to there it is looked up with this count. */
	bool has_count;
	uint64_t count;
	/* Where decoding was entered last. */
	struct hwtdi_ptn_entry entry;

	/* Endless loops: ends and starts of runs since the trace spoke. */
	struct hwtdi_loop loop, loop_starts;
	/* Where it spoke last; SIZE_MAX: somewhere else. */
	size_t loop_at;
	uint32_t loop_bits;

	/* Of anchors: the byte behind the packet that tokens come from. */
	uint64_t anchor_off;
	bool anchored;

	/* What was walked before. */
	struct hwtdi_ptn_memo memo;
	/* NULL: tokens are not to be runs. */
	struct hwtdi_ptn_runs *runs;

	/* Times for rows, and for code, were asked for. */
	bool row_timed, code_timed;
	/* The PSB+ that came last, and how many are known. */
	uint32_t psb, n_psbs;

	/*
	 * What follows is not set when a decoder is opened: who decodes many short
	 * streams would spend most of the time with that.
	 */

	/* See `edge_at`; `n_pending`, `calls`, `n_spans`, `n_psbs`. */
	uint8_t edge[4 * HWTDI_PT_PACKET_MAX];
	struct hwtdi_ptn_pending pending[HWTDI_PTN_PENDING];
	uint64_t call_ips[HWTDI_PTN_CALLS];
	struct hwtdi_code_span spans[HWTDI_PTN_SPANS];
	uint32_t span_units[HWTDI_PTN_SPANS];
	struct hwtdi_ptn_known_psb psbs[HWTDI_PTN_PSBS];
	struct hwtdi_pt_time row_time, code_time;
};

/* Whether something waits, so that TNT and TIP are not to be walked as usual. */
static inline bool
hwtdi_ptn_is_plain(const struct hwtdi_decoder *d)
{
	return (d->on && d->n_pending == 0 && !d->async && !d->half &&
	    !d->stale);
}

/* A step has room in the flow. */
static inline bool
hwtdi_ptn_has_room(const struct hwtdi_flow *flow)
{
	return (flow->n_tokens + HWTDI_PTN_ROOM_TOKENS <= HWTDI_FLOW_TOKENS &&
	    flow->n_rares + HWTDI_PTN_ROOM_RARES <= HWTDI_FLOW_RARES &&
	    flow->n_anchors + HWTDI_PTN_ROOM_ANCHORS <= HWTDI_FLOW_ANCHORS &&
	    flow->n_places + HWTDI_PTN_ROOM_PLACES <= HWTDI_FLOW_PLACES);
}

#define HWTDI_PTN_BOUND_PIP 1
#define HWTDI_PTN_BOUND_VMCS 2

/* Of the bits CS.L and CS.D of MODE.Exec. */
static inline uint8_t
hwtdi_ptn_isa(uint64_t mode)
{
	if ((mode & 1) != 0)
		return (HWTD_ISA_X86_64);
	return ((mode & 2) != 0 ? HWTD_ISA_X86_32 : HWTD_ISA_X86_16);
}

/* The node at an address, if it is known; else 0. */
static inline uint32_t
hwtdi_ptn_target(const struct hwtdi_decoder *d, uint64_t ip)
{
	const struct hwtdi_ptn_target *t = hwtdi_ptn_targets_slot(&d->targets,
	    ip);

	return (t->ip == ip && t->epoch == d->epoch ? t->node : 0);
}

/* The node to which another one goes on without trace, if it is known; else 0. */
static inline uint32_t
hwtdi_ptn_next(const struct hwtdi_decoder *d, uint32_t node)
{
	const struct hwtdi_node *n = &d->view.nodes[node];
	const struct hwtdi_code_block *b;

	if (n->kind == HWTDI_NODE_ON)
		return (atomic_load_explicit(&n->next[0],
		    memory_order_acquire));
	if (n->kind != HWTDI_NODE_AWAY)
		return (0);
	b = hwtdi_graph_view_block(&d->view, node);
	return (hwtdi_ptn_target(d,
	    d->places[b->unit].address + (uint64_t)b->target));
}

/* The end of the node needs trace. */
static inline bool
hwtdi_ptn_needs_trace(const struct hwtdi_node *n)
{
	return (n->kind >= HWTDI_NODE_COND && n->kind <= HWTDI_NODE_FAR);
}

static inline void
hwtdi_ptn_put_token(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint32_t token, uint32_t insns)
{
	flow->tokens[flow->n_tokens++] = token;
	d->last_token = token;
	d->passed = insns > UINT32_MAX - d->passed ? UINT32_MAX
						   : d->passed + insns;
	d->wrote_cr3 = false;
}

/* Make a node a token, with its pushes. */
static inline void
hwtdi_ptn_put_node(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint32_t node)
{
	const struct hwtdi_node *n = &d->view.nodes[node];

	if (n->insns != 0)
		hwtdi_ptn_put_token(d, flow, node, n->insns);
	for (uint32_t i = 0; i < n->pushes; i++) {
		d->top = (d->top + 1) % HWTDI_PTN_CALLS;
		d->calls[d->top] = n->push + i;
	}
}

/* What follows belongs to packets that end at `off`. */
static inline void
hwtdi_ptn_anchor(struct hwtdi_decoder *d, struct hwtdi_flow *flow, size_t off)
{
	struct hwtdi_anchor *a;

	if (d->anchored && off == d->anchor_off && flow->n_anchors != 0)
		return;
	d->anchored = true;
	d->anchor_off = off;
	a = &flow->anchors[flow->n_anchors++];
	a->at = (uint32_t)flow->n_tokens;
	a->flags = d->timed ? HWTDI_ANCHOR_ASK : 0;
	a->stream_off = d->segment.stream_off + off;
	a->count = 0;
}

/* A rare event of a kind without details. */
static inline struct hwtdi_rare *
hwtdi_ptn_bare(const struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint8_t kind)
{
	return (hwtdi_rare_begin(flow, kind,
	    d->segment.stream_off + d->anchor_off));
}

/*
 * Results of what follows: HWTD_OK; HWTD_AGAIN: the flow is full, the same call
 * goes on with the next one; HWTD_END: a gap was told, and decoding has to be
 * entered again; or an error.
 */

/* pt_native_out.c */
struct hwtdi_rare *hwtdi_ptn_rare(struct hwtdi_decoder *d,
    struct hwtdi_flow *flow, uint8_t kind);
struct hwtd_gap *hwtdi_ptn_gap(struct hwtdi_decoder *d,
    struct hwtdi_flow *flow, uint32_t reason, size_t first, size_t end,
    const char *text);
void hwtdi_ptn_context(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtd_exec_context *now, uint16_t flags, const uint64_t *ip);
void hwtdi_ptn_stamp(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint64_t count);
void hwtdi_ptn_mode(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint8_t isa, uint16_t flags, const uint64_t *ip);
void hwtdi_ptn_transaction(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint64_t bits, uint16_t flags, const uint64_t *ip);

/* pt_native_code.c */
/* Answers of before do not count any more. */
void hwtdi_ptn_forget_code(struct hwtdi_decoder *d);
/* The return stack. */
void hwtdi_ptn_clear_calls(struct hwtdi_decoder *d);
/* Take the newest call; false: there is none. */
bool hwtdi_ptn_pop(struct hwtdi_decoder *d);
/* Address of the last instruction that was executed, if there is one. */
uint64_t hwtdi_ptn_last_ip(const struct hwtdi_decoder *d);
/* The address where execution stands. */
uint64_t hwtdi_ptn_ip(const struct hwtdi_decoder *d);
/* Make `node` that at `ip`.  HWTD_E_NOT_FOUND: no code; else errors. */
int hwtdi_ptn_find_node(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err);
/*
 * The node that this would find at an address, if nothing had to be told or
 * looked up for that; else 0.
 */
uint32_t hwtdi_ptn_known_node(const struct hwtdi_decoder *d, uint64_t ip);
/* Go to an address; its code is looked for when it is needed. */
void hwtdi_ptn_go(struct hwtdi_decoder *d, uint64_t ip);
/* Whether code lies at an address, or may. */
bool hwtdi_ptn_has_code(struct hwtdi_decoder *d, uint64_t ip);
/* Go over a link of the node at hand. */
int hwtdi_ptn_link(struct hwtdi_decoder *d, unsigned int taken,
    struct hwtd_error *err);
/* Look up code anew; find out until where that holds. */
int hwtdi_ptn_recheck(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err);
/* A node of the instruction at hand, whose bytes are of several spans. */
int hwtdi_ptn_join(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err);

/* pt_native_trial.c */
/* See `try_out` of struct hwtdi_pt_asker. */
int hwtdi_ptn_try_out(struct hwtdi_decoder *d, size_t until,
    struct hwtdi_flow *flow, struct hwtdi_pt_choice *choice_inout);

/* pt_native.c */
/* Have packets at the end of the segment in `edge`. */
void hwtdi_ptn_copy_edge(struct hwtdi_decoder *d);
int hwtdi_ptn_start(struct hwtdi_decoder *d,
    const struct hwtdi_segment *segment);
/* A new one of which nothing is known; NULL: no memory. */
struct hwtdi_decoder *hwtdi_ptn_new(struct hwtd_context *library);
/* What needs more than zeros; `pt` and `near_count` are set. */
void hwtdi_ptn_init(struct hwtdi_decoder *d);
void hwtdi_ptn_fini(struct hwtdi_decoder *d);
int hwtdi_ptn_read(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err);

/* pt_native_walk.c */
enum hwtdi_ptn_stop {
	/* The flow is full. */
	HWTDI_PTN_STOP_FULL,
	/* The packet at `at` is in a block. */
	HWTDI_PTN_STOP_PACKET,
	/* An outcome does not fit to the node at hand. */
	HWTDI_PTN_STOP_NODE,
	/* No packet is left, or code has to be looked up anew. */
	HWTDI_PTN_STOP_END,
	/* Behind another packet, to begin again from where that led. */
	HWTDI_PTN_STOP_MORE
};
/* Walk by packets as far as one of these comes; or an error. */
int hwtdi_ptn_walk(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err);

/* pt_native_way.c */
/* Nodes that are passed at once without trace. */
#define HWTDI_PTN_WAY 4u

/* Where execution goes on from a node without trace. */
struct hwtdi_ptn_way {
	uint32_t passed[HWTDI_PTN_WAY];
	uint32_t n_passed;
	/* The node then; 0: it leads to the address, of which no node is known. */
	uint32_t node;
	/* Of `node`: instructions before the address, which is in it. */
	bool has_ip;
	uint32_t before;
};

/*
 * Follow what is known from a node up to one whose end needs trace.  Nothing is
 * passed twice then: behind it execution would go the same way again, and never
 * come to that node.  False: the way is longer, or not known.
 */
bool hwtdi_ptn_find_way(const struct hwtdi_decoder *d, uint32_t node,
    struct hwtdi_ptn_way *out);
/* The same up to `ip`, if that comes before. */
bool hwtdi_ptn_find_way_to(const struct hwtdi_decoder *d, uint32_t node,
    uint64_t ip, struct hwtdi_ptn_way *out);
/* Pass what is on it.  With `node` 0 the address is for the caller. */
void hwtdi_ptn_go_way(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_ptn_way *way);
/*
 * Instructions of a node before the one at `ip`; false: it is not in the
 * node.
 */
bool hwtdi_ptn_before(const struct hwtdi_decoder *d, uint32_t node,
    uint64_t ip, uint32_t *out);

/* pt_native_step.c */
/* Make the node at hand a token, with its pushes and its pop. */
void hwtdi_ptn_emit(struct hwtdi_decoder *d, struct hwtdi_flow *flow);
/* Go on without trace, to a node whose end needs trace. */
int hwtdi_ptn_pass(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err);
/* Go on without trace to an address. */
int hwtdi_ptn_to_ip(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint64_t ip, struct hwtd_error *err);
/* Whether it could, not far from here. */
bool hwtdi_ptn_reaches(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint64_t ip);
/* Pass the instruction at hand. */
int hwtdi_ptn_one(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err);
/* Go on without trace until so many instructions are passed; see `passed`. */
int hwtdi_ptn_count(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint32_t insns, struct hwtd_error *err);
/* Pass the next instruction with one of these bits, or far transfer. */
int hwtdi_ptn_to_bind(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint16_t binds, bool far_too, struct hwtd_error *err);
/* Pass the branch with which tracing goes off; `ip` NULL: suppressed. */
int hwtdi_ptn_to_disable(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const uint64_t *ip, struct hwtd_error *err);
/* Tracing goes off with the last instruction: note where it may go on. */
void hwtdi_ptn_note_resume(struct hwtdi_decoder *d);
/* The trace ends: what comes up to the next branch that needs it. */
int hwtdi_ptn_run_out(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err);
/* What trace says is not what code does: tell what is sure, and a gap. */
int hwtdi_ptn_contradict(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const char *text, struct hwtd_error *err);

/* pt_native_packet.c */
/* The packet at `at`, whatever it is. */
int hwtdi_ptn_packet(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err);
/* A node that is not walked over by the next outcome alone. */
int hwtdi_ptn_node(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err);

/* pt_native_address.c */
/* A packet with an address, or with a suppressed one. */
int hwtdi_ptn_address(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_pt_packet *p, struct hwtd_error *err);
/*
 * The same of a packet at `at` that begins with `bytes`, which are of class
 * HWTDI_PT_IP, if it is a usual one; there is room in the flow.  False: it is
 * not, and nothing has changed.
 */
bool hwtdi_ptn_quick(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const uint8_t *bytes);

/* pt_native_event.c */
int hwtdi_ptn_pend(struct hwtdi_decoder *d,
    const struct hwtdi_ptn_pending *pending);
/* Events of packets of their own; `p` is the packet. */
int hwtdi_ptn_event(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_pt_packet *p, struct hwtd_error *err);
/* Before a packet at `at` that is no branch: see `passed`. */
void hwtdi_ptn_count_on(struct hwtdi_decoder *d);
/* A CFE or EVD goes with the data that wait for a CFE, if there are any. */
bool hwtdi_ptn_fits_data(const struct hwtdi_decoder *d,
    const struct hwtdi_pt_packet *p);
/* Tell an event; `ip` NULL: it has no address. */
int hwtdi_ptn_tell(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_ptn_pending *e, const uint64_t *ip,
    struct hwtd_error *err);
void hwtdi_ptn_tell_detail(struct hwtdi_decoder *d, struct hwtdi_flow *flow);
void hwtdi_ptn_iflag(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    bool set, uint16_t flags, const uint64_t *ip);

/* pt_native_sync.c */
/* What is read before it can be told. */
struct hwtdi_ptn_ahead {
	struct hwtdi_pt_lex_state lex;
	size_t at;
	struct hwtdi_pt_packet packet;
};

void hwtdi_ptn_look(const struct hwtdi_decoder *d, struct hwtdi_ptn_ahead *a,
    size_t at);
/* The packet at a->at; false: none, or its end is missing. */
bool hwtdi_ptn_peek(const struct hwtdi_decoder *d, struct hwtdi_ptn_ahead *a);
/*
 * The packet at `at`, with at most `run` bytes of padding; false: none.  What
 * erratum SKZ84 left is of kind HWTD_PK_UNKNOWN.
 */
bool hwtdi_ptn_lex(const struct hwtdi_decoder *d,
    struct hwtdi_pt_lex_state *lex, size_t at, size_t run,
    struct hwtdi_pt_packet *out);
/* Packets that tell of time alone, or of nothing. */
bool hwtdi_ptn_is_timing(unsigned int kind);
/* The PSB at `at`, maybe that of the next segment. */
bool hwtdi_ptn_psb_at(const struct hwtdi_decoder *d, size_t at,
    struct hwtdi_pt_psb *out);
/* Give up the PSB+ at `at`; HWTD_END. */
int hwtdi_ptn_lose_psb(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint32_t reason);
/* Bytes of a packet that can be read at `off` of the segment. */
const uint8_t *hwtdi_ptn_bytes(const struct hwtdi_decoder *d, size_t off);
/* Give up the packet at `at`; HWTD_END. */
int hwtdi_ptn_lose(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint32_t reason, const char *text);
/* Enter at or behind `at`. */
int hwtdi_ptn_enter(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err);

/* pt_native_psb.c */
/* PSB+ at `at`. */
int hwtdi_ptn_psb(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err);
/* The segment is used up; a PSB is behind it: go on to where that is. */
int hwtdi_ptn_joint(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err);

/* pt_native_overflow.c */
/* OVF at `at`. */
int hwtdi_ptn_overflow(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err);
#endif /* HWTDI_PT_NATIVE_H */
