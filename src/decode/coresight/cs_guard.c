/*
 * Packets that OpenCSD cannot take are found before it decodes them.
 *
 * They are read by the library's own reader of packets, in a tree of its own, so
 * that both agree on where packets begin, whatever the bytes are.
 *
 * Up to 1.4.0 the library reads a Q element whose address is in a packet behind it
 * when it has freed it.  Such a packet and the address behind it are fed as one Q
 * packet with that address.
 */
#include "decode/coresight/cs_guard.h"

#include <string.h>

#include <opencsd/etmv3/trc_pkt_types_etmv3.h>
#include <opencsd/etmv4/trc_pkt_types_etmv4.h>

#include "base/fail.h"
#include "decode/coresight/cs_skim.h"

/* No packet is as long; a longer one has no end. */
#define PACKET_MAX HWTDI_CS_KEPT_MAX

/* Elements that a trace unit may hold back; there is none that does so many. */
#define DEPTH_MAX 4096

/* Where ETMv4 packets have what is looked at, in all known versions. */
#define TYPE_AT 0
#define ADDRESS_AT 16
#define ISA_AT 32
#define CONTEXT_AT 36
#define ATOMS_AT 72
#define DEPTH_AT 80
#define COMMIT_AT 88
#define CANCEL_AT 92
#define INFO_AT 96
/* Moved by the layout's shift. */
#define Q_COUNT_AT 132
#define Q_BITS_AT 136
#define VALID_AT 140

_Static_assert(offsetof(ocsd_etmv4_i_pkt, v_addr.val) == ADDRESS_AT &&
	offsetof(ocsd_etmv4_i_pkt, v_addr_ISA) == ISA_AT &&
	offsetof(ocsd_etmv4_i_pkt, context) == CONTEXT_AT &&
	offsetof(ocsd_etmv4_i_pkt, atom.num) == ATOMS_AT &&
	offsetof(ocsd_etmv4_i_pkt, curr_spec_depth) == DEPTH_AT &&
	offsetof(ocsd_etmv4_i_pkt, commit_elements) == COMMIT_AT &&
	offsetof(ocsd_etmv4_i_pkt, cancel_elements) == CANCEL_AT &&
	offsetof(ocsd_etmv4_i_pkt, trace_info) == INFO_AT,
    "all known versions have these there");

/* And ETMv3 packets the instruction set. */
#define ETMV3_ISA_AT 4
#define ETMV3_ATOMS_AT offsetof(ocsd_etmv3_pkt, atom.num)

_Static_assert(offsetof(ocsd_etmv3_pkt, curr_isa) == ETMV3_ISA_AT &&
	sizeof(ocsd_etmv3_pkt) == 152,
    "all known versions have it there");

/* ETMCR: cycle-accurate tracing. */
#define ETMCR_CYCLES 0x1000u

#define Q_HAS_ADDRESS 0x1u
#define VALID_CONTEXT 0x1u
#define VALID_DEPTH 0x4u
#define CONTEXT_64 0x04u
/* Q packets with a count and an address of 32 bits, by instruction set. */
#define Q_LONG_IS0 0xaa
#define Q_LONG_IS1 0xab
/* Of a Trace Info packet: inside of a transaction. */
#define INFO_TRANSACTION 0x40u

enum state {
	/* Nothing is decoded up to a synchronisation. */
	UNSYNCED = 0,
	/* Up to a Trace Info packet; ETMv3: an address. */
	WAITS_INFO,
	DECODES
};

struct hwtdi_cs_guard {
	struct hwtd_context *library;
	struct hwtd_coresight_config config;
	/* Packets only. */
	struct hwtdi_cs_tree *tree;
	/* It gave up, as the one that decodes will. */
	bool broken;
	/* Up to where bytes are of packets that were told. */
	uint64_t told;
	uint8_t why;
	uint64_t bad;
	/* Bytes of the last look at which packets begin, as bits. */
	uint64_t look_off;
	uint8_t begins[HWTDI_CS_FEED_MAX / 8];
	/* The exception that waits for its address. */
	uint64_t exception_off;

	/* What to feed, and up to where bytes are in it or left out. */
	struct hwtdi_cs_feed *feeds;
	size_t n_feeds, cap_feeds;
	uint64_t planned;
	/* The bytes at hand. */
	const uint8_t *bytes;
	uint64_t bytes_off;
	bool failed;
	/* Packets are fed when they are whole; what is not yet, and with it new bytes. */
	bool has_q;
	size_t n_kept;
	uint8_t kept[PACKET_MAX + HWTDI_CS_FEED_MAX];
	/* A Q packet that waits for its address. */
	bool holds_q;
	uint64_t q_off;
	uint32_t q_count;
	/* Address of the packets before. */
	uint64_t address;

	/* ETMv4, ETE. */
	bool speculates;
	/* Exception returns, or starts of transactions, are P0. */
	bool returns_count, starts_count;
	/* Function returns are elements. */
	bool has_function_returns;
	bool is_ete;
	uint8_t shift;
	uint8_t state;
	struct hwtdi_cs_speculation open;
};

static uint32_t
load32(const void *packet, size_t at)
{
	uint32_t v;

	memcpy(&v, (const uint8_t *)packet + at, sizeof(v));
	return (v);
}

static uint64_t
load64(const void *packet, size_t at)
{
	uint64_t v;

	memcpy(&v, (const uint8_t *)packet + at, sizeof(v));
	return (v);
}

/* The element that a packet makes besides those with more to them; -1: none. */
static int
element_of(const struct hwtdi_cs_guard *g, uint32_t type)
{
	switch (type) {
	case ETM4_PKT_I_TRACE_ON:
	case ETE_PKT_I_TRANS_COMMIT:
	case ETE_PKT_I_TRANS_FAIL:
		return (HWTDI_CS_PENDING_OTHER);
	case ETM4_PKT_I_EVENT:
	case ETM4_PKT_I_CCNT_F1:
	case ETM4_PKT_I_CCNT_F2:
	case ETM4_PKT_I_CCNT_F3:
	case ETM4_PKT_I_TIMESTAMP:
	case ETE_PKT_I_TS_MARKER:
		return (HWTDI_CS_PENDING_KEPT);
	case ETM4_PKT_I_CTXT:
		return (HWTDI_CS_PENDING_CONTEXT);
	case ETM4_PKT_I_ADDR_MATCH:
	case ETM4_PKT_I_ADDR_S_IS0:
	case ETM4_PKT_I_ADDR_S_IS1:
	case ETM4_PKT_I_ADDR_L_32IS0:
	case ETM4_PKT_I_ADDR_L_32IS1:
	case ETM4_PKT_I_ADDR_L_64IS0:
	case ETM4_PKT_I_ADDR_L_64IS1:
		return (HWTDI_CS_PENDING_ADDRESS);
	case ETE_PKT_I_SRC_ADDR_MATCH:
	case ETE_PKT_I_SRC_ADDR_S_IS0:
	case ETE_PKT_I_SRC_ADDR_S_IS1:
	case ETE_PKT_I_SRC_ADDR_L_32IS0:
	case ETE_PKT_I_SRC_ADDR_L_32IS1:
	case ETE_PKT_I_SRC_ADDR_L_64IS0:
	case ETE_PKT_I_SRC_ADDR_L_64IS1:
		return (HWTDI_CS_PENDING_SOURCE);
	case ETM4_PKT_I_EXCEPT:
		return (HWTDI_CS_PENDING_EXCEPTION);
	case ETM4_PKT_I_EXCEPT_RTN:
		return (g->returns_count ? HWTDI_CS_PENDING_P0
					 : HWTDI_CS_PENDING_OTHER);
	case ETE_PKT_I_TRANS_ST:
		return (g->starts_count ? HWTDI_CS_PENDING_P0
					: HWTDI_CS_PENDING_OTHER);
	case ETM4_PKT_I_FUNC_RET:
		return (g->has_function_returns ? HWTDI_CS_PENDING_P0 : -1);
	default:
		return (-1);
	}
}

/* Packets that make no element, or several, and those that cannot be. */
static uint8_t
put_special(struct hwtdi_cs_guard *g, uint32_t type, const void *packet,
    struct hwtdi_cs_resolution *what)
{
	const uint8_t atoms = ((const uint8_t *)packet)[ATOMS_AT];

	switch (type) {
	case ETM4_PKT_I_ASYNC:
	case ETM4_PKT_I_IGNORE:
	case ETM4_PKT_I_TRACE_INFO:
	case ETM4_PKT_I_FUNC_RET:
		break;
	case ETM4_PKT_I_ADDR_CTXT_L_32IS0:
	case ETM4_PKT_I_ADDR_CTXT_L_32IS1:
	case ETM4_PKT_I_ADDR_CTXT_L_64IS0:
	case ETM4_PKT_I_ADDR_CTXT_L_64IS1:
		hwtdi_cs_speculation_put(&g->open, HWTDI_CS_PENDING_CONTEXT,
		    0);
		hwtdi_cs_speculation_put(&g->open, HWTDI_CS_PENDING_ADDRESS,
		    0);
		break;
	case ETM4_PKT_I_MISPREDICT:
	case ETM4_PKT_I_CANCEL_F1_MISPRED:
	case ETM4_PKT_I_CANCEL_F2:
	case ETM4_PKT_I_CANCEL_F3:
		what->mispredict = true;
		what->cancel = load32(packet, CANCEL_AT);
		if (atoms != 0)
			hwtdi_cs_speculation_put(&g->open,
			    HWTDI_CS_PENDING_ATOM, atoms);
		break;
	case ETM4_PKT_I_CANCEL_F1:
		what->cancel = load32(packet, CANCEL_AT);
		break;
	case ETM4_PKT_I_COMMIT:
		what->commit = load32(packet, COMMIT_AT);
		break;
	case ETM4_PKT_I_OVERFLOW:
	case ETM4_PKT_I_DISCARD:
		hwtdi_cs_speculation_begin(&g->open, 0);
		g->state = UNSYNCED;
		break;
	case ETM4_PKT_I_ATOM_F1:
	case ETM4_PKT_I_ATOM_F2:
	case ETM4_PKT_I_ATOM_F3:
	case ETM4_PKT_I_ATOM_F4:
	case ETM4_PKT_I_ATOM_F5:
	case ETM4_PKT_I_ATOM_F6:
		hwtdi_cs_speculation_put(&g->open, HWTDI_CS_PENDING_ATOM,
		    atoms);
		break;
	case ETM4_PKT_I_Q:
		hwtdi_cs_speculation_put(&g->open, HWTDI_CS_PENDING_Q, 0);
		break;
	default:
		return (HWTDI_CS_WHY_BAD_PACKET);
	}
	return (HWTDI_CS_WHY_NOTHING);
}

static uint8_t
decode(struct hwtdi_cs_guard *g, uint32_t type, const void *packet)
{
	struct hwtdi_cs_resolution what = { 0 };
	const int kind = element_of(g, type);
	uint8_t why = HWTDI_CS_WHY_NOTHING;

	if (kind >= 0)
		hwtdi_cs_speculation_put(&g->open, (uint8_t)kind, 0);
	else
		why = put_special(g, type, packet, &what);
	return (why == HWTDI_CS_WHY_NOTHING
		? hwtdi_cs_speculation_resolve(&g->open, &what)
		: why);
}

static uint8_t
see_etmv4(struct hwtdi_cs_guard *g, uint32_t type, const void *packet)
{
	const uint32_t valid = load32(packet, VALID_AT + g->shift);

	switch (g->state) {
	case UNSYNCED:
		if (type == ETM4_PKT_I_ASYNC)
			g->state = WAITS_INFO;
		return (HWTDI_CS_WHY_NOTHING);
	case WAITS_INFO:
		if (g->is_ete && type == ETM4_PKT_I_EVENT)
			return (decode(g, type, packet));
		if (type != ETM4_PKT_I_TRACE_INFO)
			return (HWTDI_CS_WHY_NOTHING);
		g->state = DECODES;
		/* What waits stays, and nothing of it counts. */
		g->open.depth = (valid & VALID_DEPTH) != 0
		    ? load32(packet, DEPTH_AT)
		    : 0;
		if ((load32(packet, INFO_AT) & INFO_TRANSACTION) != 0)
			hwtdi_cs_speculation_put(&g->open,
			    HWTDI_CS_PENDING_OTHER, 0);
		return (HWTDI_CS_WHY_NOTHING);
	default:
		return (decode(g, type, packet));
	}
}

/* Feed bytes up to an offset, but for those that are left out. */
static void
plan_up_to(struct hwtdi_cs_guard *g, uint64_t off)
{
	struct hwtdi_cs_feed *feed;

	if (off <= g->planned)
		return;
	if (g->n_feeds == g->cap_feeds &&
	    hwtdi_array_grow(g->library, &g->feeds, &g->cap_feeds,
		g->n_feeds + 1, sizeof(*g->feeds), NULL) != HWTD_OK) {
		g->failed = true;
		return;
	}
	feed = &g->feeds[g->n_feeds++];
	feed->bytes = g->bytes + (g->planned - g->bytes_off);
	feed->n = (size_t)(off - g->planned);
	feed->off = g->planned;
	g->planned = off;
}

/* A packet that is not whole is not fed yet, so that it may be left out. */
static void
leave_out(struct hwtdi_cs_guard *g, uint64_t off, size_t n)
{
	plan_up_to(g, off);
	g->planned = off + n;
}

/*
 * The Q packet that was held back, with its address.  It gives only the lower half
 * of it; the upper one is as the library has it from before.
 */
static uint8_t
plan_q(struct hwtdi_cs_guard *g, const void *packet, uint64_t off, size_t n)
{
	const uint64_t address = load64(packet, ADDRESS_AT);
	const bool is_thumb = ((const uint8_t *)packet)[ISA_AT] != 0;
	const bool keeps = (load32(packet, VALID_AT + g->shift) &
			       VALID_CONTEXT) != 0 &&
	    (load32(packet, CONTEXT_AT) & CONTEXT_64) != 0;
	struct hwtdi_cs_feed *feed;
	uint32_t count = g->q_count;
	size_t at = 5;

	if (address >> 32 != (keeps ? g->address >> 32 : 0))
		return (HWTDI_CS_WHY_Q);
	leave_out(g, off, n);
	g->holds_q = false;
	if (g->n_feeds == g->cap_feeds &&
	    hwtdi_array_grow(g->library, &g->feeds, &g->cap_feeds,
		g->n_feeds + 1, sizeof(*g->feeds), NULL) != HWTD_OK) {
		g->failed = true;
		return (HWTDI_CS_WHY_NOTHING);
	}
	feed = &g->feeds[g->n_feeds++];
	feed->bytes = NULL;
	feed->off = g->q_off;
	feed->own[0] = is_thumb ? Q_LONG_IS1 : Q_LONG_IS0;
	feed->own[1] = (uint8_t)(address >> (is_thumb ? 1 : 2) & 0x7f);
	feed->own[2] = (uint8_t)(is_thumb ? address >> 8
					  : address >> 9 & 0x7f);
	feed->own[3] = (uint8_t)(address >> 16);
	feed->own[4] = (uint8_t)(address >> 24);
	do {
		feed->own[at] = (uint8_t)((count & 0x7f) |
		    (count > 0x7f ? 0x80 : 0));
		count >>= 7;
		at++;
	} while (count != 0);
	feed->n = at;
	return (HWTDI_CS_WHY_NOTHING);
}

/* Where a Q packet is held back or comes to be. */
static uint8_t
see_q(struct hwtdi_cs_guard *g, uint64_t off, const void *packet, size_t n,
    uint32_t *type_inout)
{
	const uint32_t type = *type_inout;
	uint8_t why;

	if (!g->holds_q) {
		if (type != ETM4_PKT_I_Q ||
		    (load32(packet, Q_BITS_AT + g->shift) & Q_HAS_ADDRESS) !=
			0)
			return (HWTDI_CS_WHY_NOTHING);
		leave_out(g, off, n);
		g->holds_q = true;
		g->q_off = off;
		g->q_count = load32(packet, Q_COUNT_AT + g->shift);
		/* It is no element before it has an address. */
		*type_inout = ETM4_PKT_I_IGNORE;
		return (HWTDI_CS_WHY_NOTHING);
	}
	switch (type) {
	case ETM4_PKT_I_ASYNC:
	case ETM4_PKT_I_IGNORE:
	case ETM4_PKT_I_TRACE_INFO:
		return (HWTDI_CS_WHY_NOTHING);
	case ETM4_PKT_I_OVERFLOW:
	case ETM4_PKT_I_DISCARD:
		g->holds_q = false;
		return (HWTDI_CS_WHY_NOTHING);
	default:
		break;
	}
	if (element_of(g, type) != HWTDI_CS_PENDING_ADDRESS)
		return (HWTDI_CS_WHY_Q);
	why = plan_q(g, packet, off, n);
	*type_inout = ETM4_PKT_I_Q;
	return (why);
}

/*
 * The library has no ranges of other instruction sets, nor of a packet without
 * atoms: it tells ranges of before, or what it never set.
 */
static uint8_t
see_etmv3(struct hwtdi_cs_guard *g, uint32_t type, const void *packet,
    uint64_t off, size_t n)
{
	const uint32_t isa = load32(packet, ETMV3_ISA_AT);

	if (type == ETM3_PKT_A_SYNC && g->state == UNSYNCED)
		g->state = WAITS_INFO;
	/* Behind cycles or a time stamp it takes a branch for a begin, too. */
	if ((type == ETM3_PKT_I_SYNC || type == ETM3_PKT_I_SYNC_CYCLE ||
		type == ETM3_PKT_BRANCH_ADDRESS) &&
	    g->state == WAITS_INFO)
		g->state = DECODES;
	if (type != ETM3_PKT_P_HDR)
		return (HWTDI_CS_WHY_NOTHING);
	/* With cycles it counts them. */
	if ((g->config.etmcr & ETMCR_CYCLES) == 0 &&
	    ((const uint8_t *)packet)[ETMV3_ATOMS_AT] == 0)
		leave_out(g, off, n);
	return (g->state == DECODES && isa != ocsd_isa_arm &&
		    isa != ocsd_isa_thumb2
		? HWTDI_CS_WHY_ISA
		: HWTDI_CS_WHY_NOTHING);
}

/* A packet begins at an offset. */
static void
mark_begin(struct hwtdi_cs_guard *g, uint64_t off)
{
	const uint64_t at = off - g->look_off;

	if (off >= g->look_off && at < HWTDI_CS_FEED_MAX)
		g->begins[at / 8] |= (uint8_t)(1u << at % 8);
}

/* It is the exception that cannot stand there. */
static void
name_exception(struct hwtdi_cs_guard *g)
{
	if (g->why == HWTDI_CS_WHY_NO_ADDRESS && g->open.awaits_address)
		g->bad = g->exception_off;
}

static void
see_packet(void *arg, uint64_t off, const void *packet, const uint8_t *bytes,
    size_t n)
{
	struct hwtdi_cs_guard *g = arg;
	uint32_t type = load32(packet, TYPE_AT);

	(void)bytes;
	if (g->why != HWTDI_CS_WHY_NOTHING)
		return;
	/* PTM has bytes of before its reset in the first one. */
	if (off + n > g->told)
		g->told = off + n;
	mark_begin(g, off);
	if (g->config.protocol == HWTD_CS_ETMV3) {
		g->bad = off;
		g->why = see_etmv3(g, type, packet, off, n);
	}
	if (!g->speculates)
		return;
	g->bad = g->holds_q ? g->q_off : off;
	hwtdi_cs_speculation_packet(&g->open, g->bad);
	if (g->has_q && g->state == DECODES)
		g->why = see_q(g, off, packet, n, &type);
	if (type == ETM4_PKT_I_EXCEPT)
		g->exception_off = off;
	if (g->why == HWTDI_CS_WHY_NOTHING)
		g->why = see_etmv4(g, type, packet);
	name_exception(g);
	g->address = load64(packet, ADDRESS_AT);
}

static void
set_up_etmv4(struct hwtdi_cs_guard *g, const struct hwtdi_cs_layout *layout)
{
	const struct hwtd_coresight_config *c = &g->config;
	const bool is_m = c->profile == HWTD_ARM_PROFILE_M;

	g->is_ete = c->protocol == HWTD_CS_ETE;
	g->shift = layout->etmv4_shift;
	g->speculates = layout->has_old_speculation;
	g->has_q = g->speculates && (c->idr[0] >> 15 & 3) != 0;
	g->returns_count = is_m && c->arch == HWTD_ARM_ARCH_V7;
	g->has_function_returns = is_m && c->arch != HWTD_ARM_ARCH_V7;
	g->starts_count = (c->idr[0] & UINT32_C(0x40000000)) == 0;
	hwtdi_cs_speculation_init(&g->open, g->library, c->idr[8]);
}

int
hwtdi_cs_guard_create(struct hwtd_context *library,
    const struct hwtd_coresight_config *config,
    const struct hwtdi_cs_layout *layout, struct hwtdi_cs_guard **out,
    struct hwtd_error *err)
{
	const bool is_etmv4 = config->protocol == HWTD_CS_ETMV4 ||
	    config->protocol == HWTD_CS_ETE;
	struct hwtdi_cs_tree_args args = { .library = library,
		.see_packet = see_packet };
	struct hwtdi_cs_guard *g;
	int rc;

	*out = NULL;
	if (is_etmv4 && config->idr[8] > DEPTH_MAX)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "TRCIDR8 %#x: no trace unit holds back so many elements",
		    config->idr[8]));
	if (config->protocol == HWTD_CS_STM)
		return (HWTD_OK);
	g = hwtdi_zalloc(library, sizeof(*g));
	if (g == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*g)));
	g->library = library;
	g->config = *config;
	if (is_etmv4)
		set_up_etmv4(g, layout);
	args.config = &g->config;
	args.arg = g;
	rc = hwtdi_cs_tree_create(&args, &g->tree, err);
	if (rc != HWTD_OK) {
		hwtdi_cs_guard_destroy(g);
		return (rc);
	}
	*out = g;
	return (HWTD_OK);
}

void
hwtdi_cs_guard_destroy(struct hwtdi_cs_guard *guard)
{
	if (guard == NULL)
		return;
	hwtdi_cs_tree_destroy(guard->tree);
	hwtdi_cs_speculation_fini(&guard->open);
	hwtdi_array_free(guard->library, guard->feeds, guard->cap_feeds,
	    sizeof(*guard->feeds));
	hwtdi_free(guard->library, guard, sizeof(*guard));
}

int
hwtdi_cs_guard_reset(struct hwtdi_cs_guard *guard, uint64_t off,
    struct hwtd_error *err)
{
	guard->broken = false;
	guard->told = off;
	guard->why = HWTDI_CS_WHY_NOTHING;
	guard->n_kept = 0;
	guard->planned = off;
	guard->bytes_off = off;
	guard->holds_q = false;
	guard->state = UNSYNCED;
	hwtdi_cs_speculation_begin(&guard->open, 0);
	return (hwtdi_cs_tree_reset(guard->tree, off, err));
}

/* Packets are known by their headers. */
static bool
skims(const struct hwtdi_cs_guard *g)
{
	return (g->speculates && !g->has_q && g->state == DECODES &&
	    g->why == HWTDI_CS_WHY_NOTHING);
}

bool
hwtdi_cs_guard_is_whole(const struct hwtdi_cs_guard *guard, uint64_t end)
{
	return (skims(guard) && !guard->broken && guard->told == end);
}

/* One element makes a packet of so many bytes. */
static void
skim_packet(struct hwtdi_cs_guard *g, size_t n, uint8_t kind, uint8_t atoms)
{
	static const struct hwtdi_cs_resolution nothing = { 0 };

	mark_begin(g, g->told);
	g->bad = g->told;
	g->told += n;
	/* It is committed at once. */
	if (atoms != 0 && hwtdi_cs_speculation_is_idle(&g->open))
		return;
	hwtdi_cs_speculation_packet(&g->open, g->bad);
	hwtdi_cs_speculation_put(&g->open, kind, atoms);
	g->why = hwtdi_cs_speculation_resolve(&g->open, &nothing);
	name_exception(g);
}

/* Bytes that begin a packet, as far as they are passed; 0: it has to be read. */
static size_t
skim(struct hwtdi_cs_guard *g, const uint8_t *bytes, size_t n)
{
	const unsigned int atoms = hwtdi_cs_skim_atoms(bytes[0]);
	const size_t length = atoms != 0 ? 1 : hwtdi_cs_skim_address(bytes, n);

	if (length != 0)
		skim_packet(g, length,
		    atoms != 0 ? HWTDI_CS_PENDING_ATOM
			       : HWTDI_CS_PENDING_ADDRESS,
		    (uint8_t)atoms);
	return (length);
}

/*
 * Have bytes read, up to the end of a packet each time, but for packets that are
 * known by their headers.
 */
static int
feed_reader(struct hwtdi_cs_guard *g, uint64_t off, const uint8_t *bytes,
    size_t n, struct hwtd_error *err)
{
	size_t at = 0;
	int rc = HWTD_OK;

	while (at < n && rc == HWTD_OK) {
		size_t part = n - at;

		if (skims(g)) {
			const bool begins = g->told == off + at;
			const size_t passed = begins
			    ? skim(g, bytes + at, n - at)
			    : 0;

			if (passed != 0) {
				at += passed;
				continue;
			}
			part = begins ? hwtdi_cs_skim_least(bytes[at]) : 1;
			if (part > n - at)
				part = n - at;
		}
		rc = hwtdi_cs_tree_feed(g->tree, off + at, bytes + at, part,
		    err);
		at += part;
	}
	return (rc);
}

/* Bytes that are new, behind those that were kept. */
static int
take_bytes(struct hwtdi_cs_guard *g, uint64_t off, const uint8_t *bytes,
    size_t n, struct hwtd_error *err)
{
	int rc;

	if (g->has_q) {
		const size_t used = (size_t)(g->planned - g->bytes_off);

		memmove(g->kept, g->kept + used, g->n_kept - used);
		g->n_kept -= used;
	}
	memset(g->begins, 0, sizeof(g->begins));
	g->look_off = off;
	g->n_feeds = 0;
	g->planned = off - g->n_kept;
	g->bytes_off = g->planned;
	g->bytes = bytes;
	if (g->has_q) {
		memcpy(g->kept + g->n_kept, bytes, n);
		g->n_kept += n;
		g->bytes = g->kept;
	}
	if (g->broken)
		return (HWTD_OK);
	rc = feed_reader(g, off, bytes, n, err);
	if (rc == HWTD_E_CORRUPT) {
		g->broken = true;
		rc = HWTD_OK;
	}
	if (rc == HWTD_OK && (g->open.failed || g->failed))
		rc = hwtdi_fail_nomem(err, sizeof(*g->feeds));
	return (rc);
}

int
hwtdi_cs_guard_look(struct hwtdi_cs_guard *guard, uint64_t off,
    const uint8_t *bytes, size_t n, struct hwtdi_cs_plan *out,
    struct hwtd_error *err)
{
	const uint64_t end = off + n;
	int rc = take_bytes(guard, off, bytes, n, err);

	if (rc != HWTD_OK)
		return (rc);
	if (guard->why == HWTDI_CS_WHY_NOTHING && !guard->broken &&
	    end > guard->told + PACKET_MAX) {
		guard->why = HWTDI_CS_WHY_ENDLESS;
		guard->bad = guard->told;
		hwtdi_cs_speculation_packet(&guard->open, guard->bad);
	}
	if (guard->why != HWTDI_CS_WHY_NOTHING)
		plan_up_to(guard, guard->bad);
	else
		plan_up_to(guard,
		    guard->has_q && !guard->broken ? guard->told : end);
	if (guard->failed)
		return (hwtdi_fail_nomem(err, sizeof(*guard->feeds)));
	out->feeds = guard->feeds;
	out->n_feeds = guard->n_feeds;
	out->why = guard->why;
	out->bad = guard->bad;
	out->bad_end = guard->told;
	out->lost = guard->bad;
	if (guard->speculates &&
	    hwtdi_cs_speculation_lost(&guard->open) < guard->bad)
		out->lost = hwtdi_cs_speculation_lost(&guard->open);
	return (HWTD_OK);
}

uint64_t
hwtdi_cs_guard_begin_of(const struct hwtdi_cs_guard *guard, uint64_t end)
{
	for (uint64_t off = end; off-- > guard->look_off;) {
		const uint64_t at = off - guard->look_off;

		if (at < HWTDI_CS_FEED_MAX &&
		    (guard->begins[at / 8] >> at % 8 & 1) != 0)
			return (off);
	}
	return (end);
}

const char *
hwtdi_cs_why_text(uint32_t why)
{
	switch (why) {
	case HWTDI_CS_WHY_BAD_PACKET:
		return ("a packet that cannot be");
	case HWTDI_CS_WHY_COMMIT:
		return ("more is committed than was traced");
	case HWTDI_CS_WHY_CANCEL:
		return ("more is cancelled than was traced");
	case HWTDI_CS_WHY_MISPREDICT:
		return ("no atom to correct");
	case HWTDI_CS_WHY_NO_ADDRESS:
		return ("an exception without an address");
	case HWTDI_CS_WHY_Q:
		return ("OpenCSD before 1.4.1 takes no such address of a Q "
			"element");
	case HWTDI_CS_WHY_ISA:
		return ("OpenCSD does not follow Jazelle and ThumbEE code");
	case HWTDI_CS_WHY_ENDLESS:
		return ("a packet without an end");
	case HWTDI_CS_WHY_LIMIT:
		return ("too much waits to be committed");
	default:
		return ("OpenCSD gives up");
	}
}

uint32_t
hwtdi_cs_why_reason(uint32_t why)
{
	switch (why) {
	case HWTDI_CS_WHY_NOTHING:
		return (HWTD_GAP_ENGINE);
	case HWTDI_CS_WHY_Q:
	case HWTDI_CS_WHY_ISA:
		return (HWTD_GAP_UNSUPPORTED);
	case HWTDI_CS_WHY_LIMIT:
		return (HWTD_GAP_LIMIT);
	default:
		return (HWTD_GAP_BAD_PACKET);
	}
}
