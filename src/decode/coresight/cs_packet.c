/*
 * Packets of OpenCSD as rows.
 */
#include "decode/coresight/cs_packet.h"

#include <string.h>

#include <opencsd/etmv3/trc_pkt_types_etmv3.h>
#include <opencsd/etmv4/trc_pkt_types_etmv4.h>
#include <opencsd/ptm/trc_pkt_types_ptm.h>
#include <opencsd/stm/trc_pkt_types_stm.h>

#include "decode/coresight/stm_stamp.h"

/* These have one layout in all versions that are known. */
_Static_assert(sizeof(ocsd_etmv3_pkt) == 152, "not the layout that is known");
_Static_assert(sizeof(ocsd_ptm_pkt) == 104, "not the layout that is known");
_Static_assert(sizeof(ocsd_stm_pkt) == 48, "not the layout that is known");

/* Of ETMv4.  1.4.0 put something in before the last of these. */
#define ETMV4_ADDRESS 8
#define ETMV4_ADDRESS_BITS 25
#define ETMV4_ISA 32
#define ETMV4_CONTEXT 36
#define ETMV4_STAMP 48
#define ETMV4_THRESHOLD 64
#define ETMV4_ATOM 68
#define ETMV4_CYCLES 76
#define ETMV4_COMMIT 88
#define ETMV4_CANCEL 92
#define ETMV4_INFO 96
#define ETMV4_EXCEPTION 100
#define ETMV4_MARKER 105
#define ETMV4_EVENT 106
#define ETMV4_Q_COUNT 132
#define ETMV4_Q_BITS 136
#define ETMV4_VALID 140

_Static_assert(offsetof(ocsd_etmv4_i_pkt, v_addr.val) == ETMV4_ADDRESS + 8 &&
	offsetof(ocsd_etmv4_i_pkt, v_addr.valid_bits) == ETMV4_ADDRESS_BITS &&
	offsetof(ocsd_etmv4_i_pkt, v_addr_ISA) == ETMV4_ISA &&
	offsetof(ocsd_etmv4_i_pkt, context) == ETMV4_CONTEXT &&
	offsetof(ocsd_etmv4_i_pkt, ts) == ETMV4_STAMP &&
	offsetof(ocsd_etmv4_i_pkt, atom) == ETMV4_ATOM &&
	offsetof(ocsd_etmv4_i_pkt, cancel_elements) == ETMV4_CANCEL &&
	offsetof(ocsd_etmv4_i_pkt, trace_info) == ETMV4_INFO &&
	offsetof(ocsd_etmv4_i_pkt, exception_info) == ETMV4_EXCEPTION &&
	offsetof(ocsd_etmv4_i_pkt, event_val) == ETMV4_EVENT &&
	offsetof(ocsd_etmv4_i_pkt, Q_pkt) == ETMV4_Q_COUNT,
    "all known versions have these there");

/* Bits of what is valid. */
#define VALID_THRESHOLD 0x080u
#define VALID_CYCLES 0x100u
#define VALID_COMMIT 0x200u

/* Bits of the context of ETMv4. */
#define CONTEXT_LEVEL 0x03u
#define CONTEXT_64 0x04u
#define CONTEXT_NON_SECURE 0x08u
#define CONTEXT_TOLD 0x10u
#define CONTEXT_ID 0x20u
#define CONTEXT_VMID 0x40u
#define CONTEXT_NSE 0x80u

/* Bits of a Q packet. */
#define Q_ADDRESS 0x1u
#define Q_COUNT 0x4u

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

static uint32_t
isa_bits(uint32_t isa)
{
	return (isa << HWTD_PKC_ISA_SHIFT);
}

static uint32_t
isa_of(ocsd_isa isa)
{
	switch (isa) {
	case ocsd_isa_arm:
		return (isa_bits(HWTD_ISA_A32));
	case ocsd_isa_thumb2:
		return (isa_bits(HWTD_ISA_T32));
	case ocsd_isa_aarch64:
		return (isa_bits(HWTD_ISA_A64));
	case ocsd_isa_tee:
		return (isa_bits(HWTD_ISA_T32EE));
	default:
		return (0);
	}
}

/* The oldest of the library's outcomes is in bit 0. */
static void
set_atoms(uint32_t bits, uint32_t n, struct hwtd_packet *out)
{
	out->count = n <= 32 ? n : 32;
	for (uint32_t i = 0; i < out->count; i++)
		out->value = out->value << 1 | (bits >> i & 1);
}

static void
set_cycles(uint32_t cycles, struct hwtd_packet *out)
{
	out->aux = cycles;
	out->flags |= HWTD_PKF_CYCLES;
}

/* Before all bits were told, others are what was there before: anything. */
static void
set_ip(uint64_t address, unsigned int valid_bits, struct hwtd_packet *out)
{
	if (valid_bits < 32)
		return;
	out->ip = valid_bits < 64 ? address & ((UINT64_C(1) << valid_bits) - 1)
				  : address;
	out->flags |= HWTD_PKF_IP;
}

/* ETMv4, ETE. */

static bool
has_valid(const struct hwtdi_cs_reader *r, const void *p, uint32_t bit)
{
	return ((load32(p, ETMV4_VALID + r->layout.etmv4_shift) & bit) != 0);
}

static void
etmv4_context(const struct hwtdi_cs_reader *r, const void *p,
    struct hwtd_packet *out)
{
	const uint32_t bits = load32(p, ETMV4_CONTEXT);
	const uint32_t security = ((bits & CONTEXT_NSE) != 0 ? 2 : 0) |
	    ((bits & CONTEXT_NON_SECURE) != 0 ? 1 : 0);

	/* One that is as before, when none was told. */
	if (!r->has_context)
		return;
	out->flags |= HWTD_PKF_CONTEXT;
	out->count |= (bits & CONTEXT_LEVEL) |
	    security << HWTD_PKC_SECURITY_SHIFT;
	if ((bits & CONTEXT_64) != 0)
		out->count |= HWTD_PKC_64_BIT;
	if ((bits & CONTEXT_ID) != 0) {
		out->count |= HWTD_PKC_CONTEXT_ID;
		out->value |= load32(p, ETMV4_CONTEXT + 4);
	}
	if ((bits & CONTEXT_VMID) != 0) {
		out->count |= HWTD_PKC_VMID;
		out->value |= (uint64_t)load32(p, ETMV4_CONTEXT + 8) << 32;
	}
}

static uint32_t
etmv4_isa(const struct hwtdi_cs_reader *r, const void *p)
{
	if (((const uint8_t *)p)[ETMV4_ISA] != 0)
		return (isa_bits(HWTD_ISA_T32));
	/* Without a context, A32 and A64 have the same packets. */
	if (!r->has_context)
		return (0);
	return (isa_bits((load32(p, ETMV4_CONTEXT) & CONTEXT_64) != 0
		? HWTD_ISA_A64
		: HWTD_ISA_A32));
}

static void
etmv4_address(const struct hwtdi_cs_reader *r, const void *p,
    struct hwtd_packet *out)
{
	set_ip(load64(p, ETMV4_ADDRESS + 8),
	    ((const uint8_t *)p)[ETMV4_ADDRESS_BITS], out);
	out->count |= etmv4_isa(r, p);
}

static bool
has_context(uint32_t type)
{
	return (type >= ETM4_PKT_I_ADDR_CTXT_L_32IS0 &&
	    type <= ETM4_PKT_I_ADDR_CTXT_L_64IS1);
}

/* Instrumentation: the header, the level, and eight bytes of it. */
static void
etmv4_data(const uint8_t *bytes, size_t n, struct hwtd_packet *out)
{
	if (n < 10)
		return;
	out->aux = bytes[1];
	out->count = 64;
	for (size_t i = 0; i < 8; i++)
		out->value |= (uint64_t)bytes[2 + i] << 8 * i;
}

static void
etmv4_times(const struct hwtdi_cs_reader *r, const void *p,
    struct hwtd_packet *out)
{
	const uint32_t cycles = load32(p, ETMV4_CYCLES);

	if (out->kind == HWTD_PK_CS_TIMESTAMP) {
		out->stamp = load64(p, ETMV4_STAMP);
		out->flags |= HWTD_PKF_STAMP;
		if (has_valid(r, p, VALID_CYCLES))
			set_cycles(cycles, out);
		return;
	}
	if (has_valid(r, p, VALID_CYCLES)) {
		out->value = cycles;
		out->flags |= HWTD_PKF_COUNT;
	}
	if (has_valid(r, p, VALID_COMMIT))
		out->count = load32(p, ETMV4_COMMIT);
}

static void
etmv4_speculation(const void *p, uint32_t type, struct hwtd_packet *out)
{
	out->value = load32(p,
	    type == ETM4_PKT_I_COMMIT ? ETMV4_COMMIT : ETMV4_CANCEL);
	out->count = type == ETM4_PKT_I_CANCEL_F1_MISPRED ||
	    type == ETM4_PKT_I_MISPREDICT || type == ETM4_PKT_I_CANCEL_F2 ||
	    type == ETM4_PKT_I_CANCEL_F3;
	if (type == ETM4_PKT_I_MISPREDICT)
		out->value = 0;
}

static void
etmv4_q(const struct hwtdi_cs_reader *r, const void *p,
    struct hwtd_packet *out)
{
	const uint32_t bits = load32(p, ETMV4_Q_BITS);

	if ((bits & Q_COUNT) != 0) {
		out->value = load32(p, ETMV4_Q_COUNT);
		out->flags |= HWTD_PKF_COUNT;
	}
	if ((bits & Q_ADDRESS) != 0)
		etmv4_address(r, p, out);
}

static void
read_etmv4(struct hwtdi_cs_reader *r, const void *p, const uint8_t *bytes,
    size_t n, struct hwtd_packet *out)
{
	const uint32_t type = load32(p, 0);

	if ((load32(p, ETMV4_CONTEXT) & CONTEXT_TOLD) != 0)
		r->has_context = true;
	switch (out->kind) {
	case HWTD_PK_CS_INFO:
		/* Newer versions put what they think of it above. */
		out->value = load32(p, ETMV4_INFO) & 0xffff;
		if (has_valid(r, p, VALID_THRESHOLD))
			out->count = load32(p, ETMV4_THRESHOLD);
		break;
	case HWTD_PK_CS_ATOM:
		set_atoms(load32(p, ETMV4_ATOM),
		    ((const uint8_t *)p)[ETMV4_ATOM + 4], out);
		break;
	case HWTD_PK_CS_ADDRESS:
		etmv4_address(r, p, out);
		if (has_context(type))
			etmv4_context(r, p, out);
		break;
	case HWTD_PK_CS_CONTEXT:
		etmv4_context(r, p, out);
		break;
	case HWTD_PK_CS_EXCEPTION:
		out->value = load32(p, ETMV4_EXCEPTION) & 0x3ff;
		break;
	case HWTD_PK_CS_TIMESTAMP:
	case HWTD_PK_CS_CYCLES:
		etmv4_times(r, p, out);
		break;
	case HWTD_PK_CS_EVENT:
		out->value = ((const uint8_t *)p)[ETMV4_EVENT];
		break;
	case HWTD_PK_CS_SPECULATION:
		etmv4_speculation(p, type, out);
		break;
	case HWTD_PK_CS_Q:
		etmv4_q(r, p, out);
		break;
	case HWTD_PK_CS_MARKER:
		if (type != ETE_PKT_I_TS_MARKER)
			out->value = ((const uint8_t *)p)[ETMV4_MARKER];
		break;
	case HWTD_PK_CS_DATA:
		etmv4_data(bytes, n, out);
		break;
	default:
		break;
	}
}

/* ETMv3 and PTM. */

/* What both have of a context. */
struct context {
	bool non_secure, hyp;
	bool has_id, has_vmid;
	uint32_t id, vmid;
};

static void
set_context(const struct context *c, struct hwtd_packet *out)
{
	out->flags |= HWTD_PKF_CONTEXT;
	if (c->non_secure)
		out->count |= 1u << HWTD_PKC_SECURITY_SHIFT;
	if (c->hyp)
		out->count |= HWTD_PKC_HYP;
	if (c->has_id) {
		out->count |= HWTD_PKC_CONTEXT_ID;
		out->value |= c->id;
	}
	if (c->has_vmid) {
		out->count |= HWTD_PKC_VMID;
		out->value |= (uint64_t)c->vmid << 32;
	}
}

static void
set_address(const ocsd_pkt_vaddr *address, ocsd_isa isa,
    struct hwtd_packet *out)
{
	set_ip(address->val, address->valid_bits, out);
	out->count |= isa_of(isa);
}

static void
set_exception(uint16_t number, struct hwtd_packet *out)
{
	out->value = number;
	out->flags |= HWTD_PKF_EXCEPTION;
}

static void
set_stamp(uint64_t stamp, struct hwtd_packet *out)
{
	out->stamp = stamp;
	out->flags |= HWTD_PKF_STAMP;
}

static void
read_etmv3(const void *packet, struct hwtd_packet *out)
{
	const ocsd_etmv3_pkt *p = packet;
	const struct context context = {
		.non_secure = p->context.curr_NS,
		.hyp = p->context.curr_Hyp,
		.has_id = p->context.updated_c,
		.has_vmid = p->context.updated_v,
		.id = p->context.ctxtID,
		.vmid = p->context.VMID,
	};

	switch (out->kind) {
	case HWTD_PK_CS_ADDRESS:
		set_address(&p->addr, p->curr_isa, out);
		if (p->exception.bits.present)
			set_exception(p->exception.number, out);
		break;
	case HWTD_PK_CS_ISYNC:
		if (!p->isync_info.no_address)
			set_address(&p->addr, p->curr_isa, out);
		set_context(&context, out);
		out->count |= ((uint32_t)p->isync_info.reason & 0xf)
		    << HWTD_PKC_REASON_SHIFT;
		if (p->isync_info.has_cycle_count)
			set_cycles(p->cycle_count, out);
		break;
	case HWTD_PK_CS_ATOM:
		set_atoms(p->atom.En_bits, p->atom.num, out);
		if (p->cycle_count != 0)
			set_cycles(p->cycle_count, out);
		break;
	case HWTD_PK_CS_CYCLES:
		out->value = p->cycle_count;
		out->flags |= HWTD_PKF_COUNT;
		break;
	case HWTD_PK_CS_CONTEXT:
		set_context(&context, out);
		break;
	case HWTD_PK_CS_TIMESTAMP:
		set_stamp(p->timestamp, out);
		break;
	case HWTD_PK_CS_EXCEPTION:
		out->value = p->exception.number;
		break;
	case HWTD_PK_CS_DATA:
		if (p->data.update_dval) {
			out->value = p->data.value;
			out->count = 32;
		}
		break;
	default:
		break;
	}
}

static void
read_ptm(const void *packet, struct hwtd_packet *out)
{
	const ocsd_ptm_pkt *p = packet;
	const struct context context = {
		.non_secure = p->context.curr_NS,
		.hyp = p->context.curr_Hyp,
		.has_id = p->context.updated_c,
		.has_vmid = p->context.updated_v,
		.id = p->context.ctxtID,
		.vmid = p->context.VMID,
	};

	switch (out->kind) {
	case HWTD_PK_CS_ADDRESS:
		set_address(&p->addr, p->curr_isa, out);
		if (p->exception.bits.present)
			set_exception(p->exception.number, out);
		break;
	case HWTD_PK_CS_ISYNC:
		set_address(&p->addr, p->curr_isa, out);
		set_context(&context, out);
		out->count |= ((uint32_t)p->i_sync_reason & 0xf)
		    << HWTD_PKC_REASON_SHIFT;
		break;
	case HWTD_PK_CS_ATOM:
		set_atoms(p->atom.En_bits, p->atom.num, out);
		break;
	case HWTD_PK_CS_CONTEXT:
		set_context(&context, out);
		break;
	case HWTD_PK_CS_TIMESTAMP:
		set_stamp(p->timestamp, out);
		break;
	default:
		return;
	}
	if (p->cc_valid)
		set_cycles(p->cycle_count, out);
}

/* STM. */

/* Half bytes of data before the timestamp. */
static unsigned int
stm_data_halves(const struct hwtd_packet *row)
{
	if (row->kind == HWTD_PK_CS_TRIGGER)
		return (2);
	return (row->kind == HWTD_PK_CS_DATA ? row->count / 4 : 0);
}

static void
stm_stamp(struct hwtdi_cs_reader *reader, const ocsd_stm_pkt *p,
    const uint8_t *bytes, size_t n, struct hwtd_packet *out)
{
	/* Those from 31 bits on the library reads wrong before 1.5.2. */
	if (p->ts_type == STM_TS_GREY)
		reader->stamp = hwtdi_stm_gray_stamp(bytes, n,
		    stm_data_halves(out), reader->stamp);
	else
		reader->stamp = p->timestamp;
	set_stamp(reader->stamp, out);
}

static void
read_stm(struct hwtdi_cs_reader *reader, const void *packet,
    const uint8_t *bytes, size_t n, struct hwtd_packet *out)
{
	const ocsd_stm_pkt *p = packet;

	out->aux = p->master | (uint32_t)p->channel << 16;
	switch (p->type) {
	case STM_PKT_D4:
		out->count = 4;
		out->value = p->payload.D8 & 0xf;
		break;
	case STM_PKT_D8:
		out->count = 8;
		out->value = p->payload.D8;
		break;
	case STM_PKT_D16:
		out->count = 16;
		out->value = p->payload.D16;
		break;
	case STM_PKT_D32:
		out->count = 32;
		out->value = p->payload.D32;
		break;
	case STM_PKT_D64:
		out->count = 64;
		out->value = p->payload.D64;
		break;
	case STM_PKT_FREQ:
		out->value = p->payload.D32;
		break;
	case STM_PKT_VERSION:
	case STM_PKT_TRIG:
	case STM_PKT_GERR:
	case STM_PKT_MERR:
		out->value = p->payload.D8;
		break;
	case STM_PKT_M8:
		out->value = p->master;
		break;
	case STM_PKT_C8:
	case STM_PKT_C16:
		out->value = p->channel;
		break;
	default:
		break;
	}
	if (p->pkt_has_ts)
		stm_stamp(reader, p, bytes, n, out);
}

static uint32_t
number_of(uint32_t protocol, const void *packet)
{
	const uint32_t type = load32(packet, 0);
	const ocsd_stm_pkt *stm = packet;
	uint32_t number = type < 0x10000 ? type : 0xffff;

	if (protocol != HWTD_CS_STM)
		return (number);
	if (stm->pkt_has_marker && type >= STM_PKT_D4 && type <= STM_PKT_D64)
		number |= HWTDI_CS_STM_MARKER;
	if (stm->pkt_has_ts)
		number |= HWTDI_CS_STM_STAMP;
	return (number);
}

uint32_t
hwtdi_cs_unsynced_code(uint32_t protocol)
{
	switch (protocol) {
	case HWTD_CS_ETMV3:
		return (HWTDI_CS_CODE(protocol, ETM3_PKT_NOTSYNC));
	case HWTD_CS_PTM:
		return (HWTDI_CS_CODE(protocol, PTM_PKT_NOTSYNC));
	case HWTD_CS_ETMV4:
	case HWTD_CS_ETE:
		return (HWTDI_CS_CODE(HWTD_CS_ETMV4, ETM4_PKT_I_NOTSYNC));
	default:
		/* STM and ITM: the first of their numbers. */
		return (HWTDI_CS_CODE(protocol, 0));
	}
}

void
hwtdi_cs_read_packet(struct hwtdi_cs_reader *reader, const void *packet,
    const uint8_t *bytes, size_t n, struct hwtd_packet *out)
{
	const uint32_t family = reader->protocol == HWTD_CS_ETE
	    ? HWTD_CS_ETMV4
	    : reader->protocol;

	out->code = HWTDI_CS_CODE(family, number_of(family, packet));
	out->kind = hwtdi_cs_packet_kind(out->code);
	if (hwtdi_cs_packet_name(out->code) == NULL)
		out->code = 0;
	if (out->kind < HWTD_PK_CS_ASYNC)
		return;
	switch (family) {
	case HWTD_CS_ETMV4:
		read_etmv4(reader, packet, bytes, n, out);
		break;
	case HWTD_CS_ETMV3:
		read_etmv3(packet, out);
		break;
	case HWTD_CS_PTM:
		read_ptm(packet, out);
		break;
	case HWTD_CS_STM:
		read_stm(reader, packet, bytes, n, out);
		break;
	default:
		break;
	}
}
