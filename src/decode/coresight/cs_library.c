/*
 * OpenCSD: making trees, and its elements as ours.
 */
#include "decode/coresight/cs_tree.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <opencsd/ete/trc_pkt_types_ete.h>
#include <opencsd/etmv3/trc_pkt_types_etmv3.h>
#include <opencsd/etmv4/trc_pkt_types_etmv4.h>
#include <opencsd/ptm/trc_pkt_types_ptm.h>
#include <opencsd/stm/trc_pkt_types_stm.h>

#include "base/fail.h"

/* The library looks at bytes that it does not have where addresses wrap. */
#define LAST_CODE (UINT64_MAX - 4096)

/*
 * Code that is followed for the bytes that are fed at once, in pieces as small as
 * the library asks for any; real traces need less.  And code that lies in one
 * piece, without anything that is told of it.
 */
#define CODE_PIECE 256u
#define CODE_RUN ((uint64_t)4 * 65536)

/* Kinds of elements that are numbered the same in all versions. */
#define KINDS_OF_ALL 17
#define KIND_INSTRUMENTATION 17
#define KIND_ITM 18

#define VERSION(major, minor, patch)                                          \
	((uint32_t)(major) << 16 | (uint32_t)(minor) << 8 | (uint32_t)(patch))

/* Where elements have what does not depend on the version. */
#define FLAGS_AT offsetof(ocsd_generic_trace_elem, flag_bits)
#define PAYLOAD_AT offsetof(ocsd_generic_trace_elem, exception_number)

_Static_assert(FLAGS_AT == 68 && PAYLOAD_AT == 72,
    "all known versions have flags and payload there");

/* Making and destroying trees is not safe in several threads. */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

uint32_t
hwtdi_cs_library_version(void)
{
	return (ocsd_get_version());
}

uint32_t
hwtdi_cs_header_version(void)
{
	return (OCSD_VER_NUM);
}

void
hwtdi_cs_library_text(uint32_t version, char text[16])
{
	(void)snprintf(text, 16, "%u.%u.%u", version >> 16 & 0xfff,
	    version >> 8 & 0xff, version & 0xff);
}

int
hwtdi_cs_layout_of(uint32_t version, struct hwtdi_cs_layout *out,
    struct hwtd_error *err)
{
	char text[16];

	out->version = version;
	out->extended_at = version < VERSION(1, 4, 0) ? 80 : 88;
	/* Instrumentation came in the middle. */
	out->etmv4_shift = version < VERSION(1, 4, 0) ? 0 : 20;
	out->any_space = version < VERSION(1, 4, 2) ? 0x1f : 0xff;
	out->wrong_gray = version < VERSION(1, 5, 2);
	/* A bad image came before it. */
	out->end_reason = version < VERSION(1, 5, 4) ? 6 : 7;
	out->has_old_speculation = version < VERSION(1, 4, 1);
	if (version < VERSION(1, 4, 0))
		out->n_kinds = KINDS_OF_ALL;
	else if (version < VERSION(1, 7, 1))
		out->n_kinds = KIND_INSTRUMENTATION + 1;
	else
		out->n_kinds = KIND_ITM + 1;
	if (version >= VERSION(1, 3, 0) && version < VERSION(1, 9, 0))
		return (HWTD_OK);
	hwtdi_cs_library_text(version, text);
	return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
	    "OpenCSD %s is not known; 1.3 to 1.8 are", text));
}

/* Elements. */

/* An entry of a table by a number of the library, or what unknown ones are. */
#define FIND(table, number, unknown)                                          \
	((uint32_t)(number) < sizeof(table) ? (table)[number] : (unknown))

static const uint8_t isas[] = {
	[ocsd_isa_arm] = HWTD_ISA_A32,
	[ocsd_isa_thumb2] = HWTD_ISA_T32,
	[ocsd_isa_aarch64] = HWTD_ISA_A64,
	[ocsd_isa_tee] = HWTD_ISA_T32EE,
};

static const uint8_t lasts[] = {
	[OCSD_INSTR_OTHER] = HWTDI_CS_LAST_OTHER,
	[OCSD_INSTR_BR] = HWTDI_CS_LAST_BRANCH,
	[OCSD_INSTR_BR_INDIRECT] = HWTDI_CS_LAST_INDIRECT,
	[OCSD_INSTR_ISB] = HWTDI_CS_LAST_ISB,
	[OCSD_INSTR_DSB_DMB] = HWTDI_CS_LAST_BARRIER,
	[OCSD_INSTR_WFI_WFE] = HWTDI_CS_LAST_WAIT,
	[OCSD_INSTR_TSTART] = HWTDI_CS_LAST_TSTART,
};

static const uint8_t last_subs[] = {
	[OCSD_S_INSTR_NONE] = HWTDI_CS_SUB_NONE,
	[OCSD_S_INSTR_BR_LINK] = HWTDI_CS_SUB_LINK,
	[OCSD_S_INSTR_V8_RET] = HWTDI_CS_SUB_RETURN,
	[OCSD_S_INSTR_V8_ERET] = HWTDI_CS_SUB_EXCEPTION_RETURN,
	[OCSD_S_INSTR_V7_IMPLIED_RET] = HWTDI_CS_SUB_IMPLIED_RETURN,
};

static uint8_t
kind_of(const struct hwtdi_cs_layout *layout, uint32_t type)
{
	static const uint8_t kinds[] = {
		[OCSD_GEN_TRC_ELEM_UNKNOWN] = HWTDI_CS_OTHER,
		[OCSD_GEN_TRC_ELEM_NO_SYNC] = HWTDI_CS_NO_SYNC,
		[OCSD_GEN_TRC_ELEM_TRACE_ON] = HWTDI_CS_TRACE_ON,
		[OCSD_GEN_TRC_ELEM_EO_TRACE] = HWTDI_CS_END,
		[OCSD_GEN_TRC_ELEM_PE_CONTEXT] = HWTDI_CS_CONTEXT,
		[OCSD_GEN_TRC_ELEM_INSTR_RANGE] = HWTDI_CS_RANGE,
		[OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH] = HWTDI_CS_RANGE_NO_PATH,
		[OCSD_GEN_TRC_ELEM_ADDR_NACC] = HWTDI_CS_NO_ACCESS,
		[OCSD_GEN_TRC_ELEM_ADDR_UNKNOWN] = HWTDI_CS_ADDRESS_UNKNOWN,
		[OCSD_GEN_TRC_ELEM_EXCEPTION] = HWTDI_CS_EXCEPTION,
		[OCSD_GEN_TRC_ELEM_EXCEPTION_RET] = HWTDI_CS_EXCEPTION_RETURN,
		[OCSD_GEN_TRC_ELEM_TIMESTAMP] = HWTDI_CS_TIMESTAMP,
		[OCSD_GEN_TRC_ELEM_CYCLE_COUNT] = HWTDI_CS_CYCLES,
		[OCSD_GEN_TRC_ELEM_EVENT] = HWTDI_CS_EVENT,
		[OCSD_GEN_TRC_ELEM_SWTRACE] = HWTDI_CS_SOFTWARE,
		[OCSD_GEN_TRC_ELEM_SYNC_MARKER] = HWTDI_CS_SYNC_MARKER,
		[OCSD_GEN_TRC_ELEM_MEMTRANS] = HWTDI_CS_TRANSACTION,
		[KIND_INSTRUMENTATION] = HWTDI_CS_INSTRUMENTATION,
		[KIND_ITM] = HWTDI_CS_ITM,
	};

	return (type < layout->n_kinds ? kinds[type] : HWTDI_CS_OTHER);
}

static uint32_t
load32(const void *element, size_t at)
{
	uint32_t v;

	memcpy(&v, (const uint8_t *)element + at, sizeof(v));
	return (v);
}

static uint64_t
load64(const void *element, size_t at)
{
	uint64_t v;

	memcpy(&v, (const uint8_t *)element + at, sizeof(v));
	return (v);
}

static void
copy_context(const ocsd_pe_context *c, struct hwtdi_cs_element *out)
{
	static const uint8_t securities[] = {
		[ocsd_sec_secure] = 0,
		[ocsd_sec_nonsecure] = 1,
		[ocsd_sec_root] = 2,
		[ocsd_sec_realm] = 3,
	};

	if ((uint32_t)c->security_level < sizeof(securities))
		out->security = securities[c->security_level];
	if (c->bits64)
		out->flags |= HWTDI_CS_BITS64;
	if (c->ctxt_id_valid)
		out->flags |= HWTDI_CS_HAS_CONTEXT_ID;
	if (c->vmid_valid)
		out->flags |= HWTDI_CS_HAS_VMID;
	if (c->el_valid && c->exception_level >= ocsd_EL0)
		out->flags |= HWTDI_CS_HAS_LEVEL;
	out->level = (uint8_t)c->exception_level;
	out->context_id = c->context_id;
	out->vmid = c->vmid;
}

static void
copy_flags(const ocsd_generic_trace_elem *e, struct hwtdi_cs_element *out)
{
	if (e->last_instr_exec)
		out->flags |= HWTDI_CS_EXECUTED;
	if (e->last_instr_cond)
		out->flags |= HWTDI_CS_CONDITIONAL;
	if (e->has_cc)
		out->flags |= HWTDI_CS_HAS_CYCLES;
	if (e->cpu_freq_change)
		out->flags |= HWTDI_CS_FREQUENCY;
	if (e->has_ts || out->kind == HWTDI_CS_TIMESTAMP)
		out->flags |= HWTDI_CS_HAS_TIMESTAMP;
	if (out->kind != HWTDI_CS_EXCEPTION)
		return;
	if (e->excep_ret_addr)
		out->flags |= HWTDI_CS_HAS_RETURN;
	if (e->excep_ret_addr_br_tgt)
		out->flags |= HWTDI_CS_RETURN_IS_TARGET;
	if (e->excep_data_marker)
		out->flags |= HWTDI_CS_DATA_MARKER;
	/* Since 1.4.2, behind those that 1.3.3 has. */
	if ((load32(e, FLAGS_AT) & 0x1000) != 0)
		out->flags |= HWTDI_CS_TAIL_CHAIN;
}

static void
copy_range(const ocsd_generic_trace_elem *e, struct hwtdi_cs_element *out)
{
	out->n = load32(e, PAYLOAD_AT);
	out->last = FIND(lasts, e->last_i_type, HWTDI_CS_LAST_UNKNOWN);
	out->last_sub = FIND(last_subs, e->last_i_subtype, HWTDI_CS_SUB_NONE);
	out->last_bytes = e->last_instr_sz;
}

static void
copy_software(const struct hwtdi_cs_layout *layout,
    const ocsd_generic_trace_elem *e, struct hwtdi_cs_element *out)
{
	const ocsd_swt_info_t *from = &e->sw_trace_info;
	struct hwtdi_cs_software *to = &out->software;
	const uint64_t extended = load64(e, layout->extended_at);
	const uint8_t *payload = NULL;
	size_t n = (from->swt_payload_pkt_bitsize + 7) / 8;

	_Static_assert(sizeof(payload) == sizeof(extended),
	    "layouts are those of 64-bit machines");
	memcpy(&payload, &extended, sizeof(payload));
	to->master = from->swt_master_id;
	to->channel = from->swt_channel_id;
	to->flags = (uint16_t)((from->swt_marker_packet ? HWTD_MARKERF_MARKED
							: 0) |
	    (from->swt_trigger_event ? HWTD_MARKERF_TRIGGER : 0) |
	    (from->swt_id_valid ? 0 : HWTD_MARKERF_NO_CHANNEL) |
	    (from->swt_global_err ? HWTD_MARKERF_GLOBAL_ERROR : 0) |
	    (from->swt_master_err ? HWTD_MARKERF_MASTER_ERROR : 0) |
	    (from->swt_frequency ? HWTD_MARKERF_FREQUENCY : 0));
	if (n > HWTDI_CS_PAYLOAD_MAX)
		n = HWTDI_CS_PAYLOAD_MAX;
	if (!e->extended_data || payload == NULL || n == 0)
		return;
	to->bits = (uint16_t)from->swt_payload_pkt_bitsize;
	for (size_t i = 0; i < n; i++)
		to->payload |= (uint64_t)payload[i] << 8 * i;
}

static void
copy_unsynced(const struct hwtdi_cs_layout *layout,
    const ocsd_generic_trace_elem *e, struct hwtdi_cs_element *out)
{
	const uint32_t reason = load32(e, PAYLOAD_AT);

	if (reason == layout->end_reason)
		out->reason = HWTDI_CS_UNSYNCED_END;
	else if (reason < HWTDI_CS_UNSYNCED_END)
		out->reason = (uint8_t)reason;
	else
		out->reason = reason < layout->end_reason
		    ? HWTDI_CS_UNSYNCED_BAD_IMAGE
		    : HWTDI_CS_UNSYNCED_UNKNOWN;
}

void
hwtdi_cs_copy_element(const struct hwtdi_cs_layout *layout,
    const void *element, struct hwtdi_cs_element *out)
{
	const ocsd_generic_trace_elem *e = element;

	out->kind = kind_of(layout, load32(element, 0));
	if (out->kind == HWTDI_CS_OTHER)
		return;
	/* What an element does not have was maybe never set. */
	copy_flags(e, out);
	if ((out->flags & HWTDI_CS_HAS_CYCLES) != 0)
		out->cycles = e->cycle_count;
	if ((out->flags & HWTDI_CS_HAS_TIMESTAMP) != 0)
		out->timestamp = e->timestamp;
	switch (out->kind) {
	case HWTDI_CS_CONTEXT:
		out->isa = FIND(isas, e->isa, HWTD_ISA_UNKNOWN);
		copy_context(&e->context, out);
		break;
	case HWTDI_CS_RANGE:
	case HWTDI_CS_RANGE_NO_PATH:
		out->isa = FIND(isas, e->isa, HWTD_ISA_UNKNOWN);
		out->st = e->st_addr;
		out->en = e->en_addr;
		copy_range(e, out);
		break;
	case HWTDI_CS_EXCEPTION:
		out->n = load32(e, PAYLOAD_AT);
		if ((out->flags & HWTDI_CS_HAS_RETURN) != 0)
			out->en = e->en_addr;
		break;
	case HWTDI_CS_EVENT:
		out->n = e->trace_event.ev_number;
		if (e->trace_event.ev_type == EVENT_TRIGGER)
			out->flags |= HWTDI_CS_TRIGGER;
		break;
	case HWTDI_CS_NO_ACCESS:
		out->st = e->st_addr;
		out->value = load32(e, PAYLOAD_AT);
		break;
	case HWTDI_CS_NO_SYNC:
	case HWTDI_CS_END:
		copy_unsynced(layout, e, out);
		break;
	case HWTDI_CS_TRACE_ON:
	case HWTDI_CS_TRANSACTION: {
		const uint32_t reason = load32(e, PAYLOAD_AT);

		out->reason = (uint8_t)(reason < UINT8_MAX ? reason
							   : UINT8_MAX);
		break;
	}
	case HWTDI_CS_SOFTWARE:
		copy_software(layout, e, out);
		break;
	case HWTDI_CS_SYNC_MARKER:
		out->value = load32(e, PAYLOAD_AT + 4);
		break;
	case HWTDI_CS_INSTRUMENTATION:
		out->level = *((const uint8_t *)element + PAYLOAD_AT);
		out->value = load64(element, PAYLOAD_AT + 8);
		break;
	default:
		break;
	}
}

/* Trees. */

/* The library's 32-bit offset, near to the bytes at hand. */
static uint64_t
full_offset(const struct hwtdi_cs_tree *tree, ocsd_trc_index_t index)
{
	const uint64_t end = tree->off + tree->n;
	const uint32_t back = (uint32_t)end - (uint32_t)index;

	return (back <= end ? end - back : 0);
}

/*
 * Of ETMv3 a range is one instruction.  Where the library sets none it has the
 * addresses of another one, or of none: each is told once.  None is left for the
 * end, where it may tell one of before.
 */
static bool
is_told_etmv3(const ocsd_generic_trace_elem *from)
{
	ocsd_generic_trace_elem *told = (ocsd_generic_trace_elem *)(uintptr_t)
	    from;
	const uint64_t n = from->en_addr - from->st_addr;

	if ((n != 2 && n != 4) || n != from->last_instr_sz)
		return (true);
	told->last_instr_sz = 0;
	return (false);
}

/* Flags of a range, which is much asked for; it has no time of its own. */
static uint16_t
range_flags(uint32_t bits)
{
	_Static_assert(HWTDI_CS_EXECUTED == 1 && HWTDI_CS_CONDITIONAL == 2 &&
		HWTDI_CS_HAS_CYCLES == 4 && HWTDI_CS_FREQUENCY == 8,
	    "bits of the library are moved there");

	return ((uint16_t)((bits & 1) | (bits >> 10 & 1) << 1 |
	    (bits >> 4 & 3) << 2));
}

/* Nearly all elements are ranges: of them only what they have is set. */
static bool
take_range(struct hwtdi_cs_tree *tree, ocsd_trc_index_t index,
    const ocsd_generic_trace_elem *from)
{
	struct hwtdi_cs_element *e = hwtdi_cs_queue_room(tree->queue);

	if (e == NULL)
		return (false);
	e->off = full_offset(tree, index);
	e->kind = HWTDI_CS_RANGE;
	e->isa = FIND(isas, from->isa, HWTD_ISA_UNKNOWN);
	e->st = from->st_addr;
	e->en = from->en_addr;
	e->flags = range_flags(load32(from, FLAGS_AT));
	if ((e->flags & HWTDI_CS_HAS_CYCLES) != 0)
		e->cycles = from->cycle_count;
	e->value = tree->off;
	copy_range(from, e);
	if (tree->is_etmv3 && (tree->ends || is_told_etmv3(from)))
		e->kind = HWTDI_CS_OTHER;
	return (true);
}

static ocsd_datapath_resp_t
take_element(const void *arg, const ocsd_trc_index_t index, const uint8_t id,
    const ocsd_generic_trace_elem *element)
{
	struct hwtdi_cs_tree *tree = (struct hwtdi_cs_tree *)(uintptr_t)arg;
	struct hwtdi_cs_element *e;

	(void)id;
	tree->code_run = 0;
	if (tree->primes)
		return (OCSD_RESP_CONT);
	if (element->elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE &&
	    take_range(tree, index, element))
		return (OCSD_RESP_CONT);
	e = hwtdi_cs_queue_put(tree->queue);
	if (e == NULL)
		return (OCSD_RESP_CONT);
	hwtdi_cs_copy_element(&tree->layout, element, e);
	e->off = full_offset(tree, index);
	if (e->kind == HWTDI_CS_RANGE)
		e->value = tree->off;
	if (tree->queue->has_stamp && (e->flags & HWTDI_CS_HAS_TIMESTAMP) != 0)
		e->timestamp = tree->queue->stamp;
	/* It was reset because of a packet: that is what it has to tell. */
	if (e->kind == HWTDI_CS_NO_SYNC && tree->untold.is_known) {
		tree->untold.is_known = false;
		e->reason = HWTDI_CS_UNSYNCED_BAD_PACKET;
		e->n = tree->untold.why;
		e->off = tree->untold.off;
	}
	if (e->kind == HWTDI_CS_CONTEXT) {
		tree->queue->context = *e;
		tree->queue->n_contexts++;
	}
	return (OCSD_RESP_CONT);
}

static void
take_packet(const void *arg, const ocsd_datapath_op_t op,
    const ocsd_trc_index_t index, const void *packet, const uint32_t n,
    const uint8_t *bytes)
{
	struct hwtdi_cs_tree *tree = (struct hwtdi_cs_tree *)(uintptr_t)arg;

	if (op == OCSD_OP_DATA && packet != NULL && n != 0 && bytes != NULL)
		tree->see_packet(tree->arg, full_offset(tree, index), packet,
		    bytes, n);
}

static uint32_t
read_memory(const void *arg, const ocsd_vaddr_t address,
    const ocsd_mem_space_acc_t space, const uint32_t n, uint8_t *buf)
{
	struct hwtdi_cs_tree *tree = (struct hwtdi_cs_tree *)(uintptr_t)arg;
	uint32_t done;

	(void)space;
	if (tree->primes) {
		/* A jump to itself, in A64. */
		for (uint32_t i = 0; i < n; i++)
			buf[i] = i % 4 == 3 ? 0x14 : 0;
		return (n);
	}
	if (address <= tree->code_at || address > tree->code_end)
		tree->code_run = 0;
	if (tree->pieces_left == 0 || tree->code_run >= CODE_RUN)
		return (0);
	tree->pieces_left--;
	done = (uint32_t)tree->read_code(tree->arg, address, buf, n);
	tree->code_run += done < CODE_PIECE ? done : CODE_PIECE;
	tree->code_at = address;
	tree->code_end = address + done;
	return (done);
}

static ocsd_arch_version_t
arch_of(const struct hwtd_coresight_config *c)
{
	switch (c->arch) {
	case HWTD_ARM_ARCH_V7:
		return (ARCH_V7);
	case HWTD_ARM_ARCH_V8:
		return (ARCH_V8);
	case HWTD_ARM_ARCH_V8_3:
		return (ARCH_AA64);
	default:
		return (c->protocol == HWTD_CS_ETE ? ARCH_AA64
			: c->protocol == HWTD_CS_ETMV4
			? (c->idr[1] >> 4 & 0xf) >= 4 ? ARCH_AA64 : ARCH_V8
			: ARCH_V7);
	}
}

static ocsd_core_profile_t
profile_of(const struct hwtd_coresight_config *c)
{
	switch (c->profile) {
	case HWTD_ARM_PROFILE_R:
		return (profile_CortexR);
	case HWTD_ARM_PROFILE_M:
		return (profile_CortexM);
	default:
		return (profile_CortexA);
	}
}

/* Of one protocol: its name, and the registers as the library wants them. */
struct source {
	const char *name;
	union {
		ocsd_etmv4_cfg etmv4;
		ocsd_ete_cfg ete;
		ocsd_etmv3_cfg etmv3;
		ocsd_ptm_cfg ptm;
		ocsd_stm_cfg stm;
	} cfg;
};

/* A trace ID, which the library wants also where there are no frames. */
static uint32_t
id_of(const struct hwtd_coresight_config *c)
{
	return (c->trace_id != 0 ? c->trace_id : 1);
}

static bool
fill_source(const struct hwtd_coresight_config *c, struct source *out)
{
	memset(out, 0, sizeof(*out));
	switch (c->protocol) {
	case HWTD_CS_ETMV4:
		out->name = OCSD_BUILTIN_DCD_ETMV4I;
		out->cfg.etmv4 = (ocsd_etmv4_cfg){ .reg_idr0 = c->idr[0],
			.reg_idr1 = c->idr[1],
			.reg_idr2 = c->idr[2],
			.reg_idr8 = c->idr[8],
			.reg_idr9 = c->idr[9],
			.reg_idr10 = c->idr[10],
			.reg_idr11 = c->idr[11],
			.reg_idr12 = c->idr[12],
			.reg_idr13 = c->idr[13],
			.reg_configr = c->configr,
			.reg_traceidr = id_of(c),
			.arch_ver = arch_of(c),
			.core_prof = profile_of(c) };
		return (true);
	case HWTD_CS_ETE:
		out->name = OCSD_BUILTIN_DCD_ETE;
		out->cfg.ete = (ocsd_ete_cfg){ .reg_idr0 = c->idr[0],
			.reg_idr1 = c->idr[1],
			.reg_idr2 = c->idr[2],
			.reg_idr8 = c->idr[8],
			.reg_devarch = c->devarch,
			.reg_configr = c->configr,
			.reg_traceidr = id_of(c),
			.arch_ver = arch_of(c),
			.core_prof = profile_of(c) };
		return (true);
	case HWTD_CS_ETMV3:
		out->name = OCSD_BUILTIN_DCD_ETMV3;
		out->cfg.etmv3 = (ocsd_etmv3_cfg){ .reg_idr = c->etmidr,
			.reg_ctrl = c->etmcr,
			.reg_ccer = c->etmccer,
			.reg_trc_id = id_of(c),
			.arch_ver = arch_of(c),
			.core_prof = profile_of(c) };
		return (true);
	case HWTD_CS_PTM:
		out->name = OCSD_BUILTIN_DCD_PTM;
		out->cfg.ptm = (ocsd_ptm_cfg){ .reg_idr = c->etmidr,
			.reg_ctrl = c->etmcr,
			.reg_ccer = c->etmccer,
			.reg_trc_id = id_of(c),
			.arch_ver = arch_of(c),
			.core_prof = profile_of(c) };
		return (true);
	case HWTD_CS_STM:
		out->name = OCSD_BUILTIN_DCD_STM;
		out->cfg.stm = (ocsd_stm_cfg){
			.reg_tcsr = (c->stmtcsr & ~(UINT32_C(0x7f) << 16)) |
			    id_of(c) << 16,
			.reg_feat1r = c->stmfeat1r,
			.reg_feat3r = c->stmfeat3r,
			.reg_devid = c->stmdevid,
			.reg_hwev_mast = c->stmhemastr,
			.hw_event = HwEvent_Unknown_Disabled,
		};
		return (true);
	default:
		return (false);
	}
}

static ocsd_err_t
add_memory(struct hwtdi_cs_tree *tree)
{
	return (ocsd_dt_add_callback_mem_acc(tree->handle, 0, LAST_CODE,
	    (ocsd_mem_space_acc_t)tree->layout.any_space, read_memory, tree));
}

/*
 * Packets of ETE are those of ETMv4 of another version, which the register of the
 * identification tells; the library gives out none of a decoder for ETE.
 */
static void
use_etmv4(struct source *source)
{
	const ocsd_ete_cfg ete = source->cfg.ete;
	const uint32_t major = ete.reg_devarch >> 12 & 0xf;
	const uint32_t minor = ete.reg_devarch >> 16 & 0xf;

	source->name = OCSD_BUILTIN_DCD_ETMV4I;
	memset(&source->cfg, 0, sizeof(source->cfg));
	source->cfg.etmv4 = (ocsd_etmv4_cfg){ .reg_idr0 = ete.reg_idr0,
		.reg_idr1 = (ete.reg_idr1 & ~UINT32_C(0xff0)) | major << 8 |
		    minor << 4,
		.reg_idr2 = ete.reg_idr2,
		.reg_idr8 = ete.reg_idr8,
		.reg_configr = ete.reg_configr,
		.reg_traceidr = ete.reg_traceidr,
		.arch_ver = ete.arch_ver,
		.core_prof = ete.core_prof };
}

/* With the lock. */
static ocsd_err_t
make(struct hwtdi_cs_tree *tree, const struct source *source)
{
	ocsd_err_t rc;

	tree->handle = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
	if (tree->handle == C_API_INVALID_TREE_HANDLE)
		return (OCSD_ERR_MEM);
	rc = ocsd_dt_create_decoder(tree->handle, source->name,
	    tree->queue == NULL ? OCSD_CREATE_FLG_PACKET_PROC
				: OCSD_CREATE_FLG_FULL_DECODER |
		    (tree->halts ? OCSD_OPFLG_PKTDEC_HALT_BAD_PKTS : 0),
	    &source->cfg, &tree->id);
	if (rc == OCSD_OK && tree->see_packet != NULL)
		rc = ocsd_dt_attach_packet_callback(tree->handle, tree->id,
		    OCSD_C_API_CB_PKT_MON, (void *)(uintptr_t)take_packet,
		    tree);
	if (tree->queue == NULL)
		return (rc);
	if (rc == OCSD_OK)
		rc = ocsd_dt_set_gen_elem_outfn(tree->handle, take_element,
		    tree);
	return (rc == OCSD_OK ? add_memory(tree) : rc);
}

int
hwtdi_cs_tree_create(const struct hwtdi_cs_tree_args *args,
    struct hwtdi_cs_tree **out, struct hwtd_error *err)
{
	struct hwtdi_cs_layout layout;
	struct hwtdi_cs_tree *tree;
	struct source source;
	ocsd_err_t made;
	int rc;

	rc = hwtdi_cs_layout_of(hwtdi_cs_library_version(), &layout, err);
	if (rc != HWTD_OK)
		return (rc);
	if (!fill_source(args->config, &source))
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "OpenCSD decodes no protocol %" PRIu32,
		    args->config->protocol));
	if (args->queue == NULL && args->config->protocol == HWTD_CS_ETE)
		use_etmv4(&source);
	tree = hwtdi_zalloc(args->library, sizeof(*tree));
	if (tree == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*tree)));
	tree->library = args->library;
	tree->layout = layout;
	tree->queue = args->queue;
	tree->see_packet = args->see_packet;
	tree->read_code = args->read_code;
	tree->arg = args->arg;
	tree->is_etmv3 = args->config->protocol == HWTD_CS_ETMV3;
	tree->is_ptm = args->config->protocol == HWTD_CS_PTM;
	/* It frees what it still uses when it goes on by itself. */
	tree->halts = args->queue != NULL && layout.has_old_speculation &&
	    (args->config->protocol == HWTD_CS_ETMV4 ||
		args->config->protocol == HWTD_CS_ETE);
	if (args->queue != NULL)
		rc = hwtdi_cs_guard_create(args->library, args->config,
		    &layout, &tree->guard, err);
	if (rc != HWTD_OK) {
		hwtdi_cs_tree_destroy(tree);
		return (rc);
	}
	(void)pthread_mutex_lock(&making);
	/* Else the library writes to the standard error output. */
	(void)ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 0);
	made = make(tree, &source);
	(void)pthread_mutex_unlock(&making);
	/* What a decoder answers to its registers is told by no function. */
	if (made == OCSD_OK && tree->queue != NULL &&
	    !OCSD_DATA_RESP_IS_CONT(ocsd_dt_process_data(tree->handle,
		OCSD_OP_RESET, 0, 0, NULL, NULL)))
		made = OCSD_ERR_HW_CFG_UNSUPP;
	if (made != OCSD_OK) {
		hwtdi_cs_tree_destroy(tree);
		if (made == OCSD_ERR_MEM)
			return (hwtdi_fail_nomem(err, sizeof(*tree)));
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "OpenCSD refuses the configuration (error %d)",
		    (int)made));
	}
	if (tree->queue != NULL) {
		hwtdi_cs_tree_prime(tree, args->config);
		rc = hwtdi_cs_tree_forget_code(tree, err);
	}
	if (rc != HWTD_OK) {
		hwtdi_cs_tree_destroy(tree);
		return (rc);
	}
	*out = tree;
	return (HWTD_OK);
}

void
hwtdi_cs_tree_destroy(struct hwtdi_cs_tree *tree)
{
	if (tree == NULL)
		return;
	hwtdi_cs_guard_destroy(tree->guard);
	(void)pthread_mutex_lock(&making);
	if (tree->handle != C_API_INVALID_TREE_HANDLE)
		ocsd_destroy_dcd_tree(tree->handle);
	(void)pthread_mutex_unlock(&making);
	hwtdi_free(tree->library, tree, sizeof(*tree));
}

int
hwtdi_cs_tree_forget_code(struct hwtdi_cs_tree *tree, struct hwtd_error *err)
{
	ocsd_err_t rc;

	(void)pthread_mutex_lock(&making);
	rc = ocsd_dt_remove_mem_acc(tree->handle, 0,
	    (ocsd_mem_space_acc_t)tree->layout.any_space);
	if (rc == OCSD_OK)
		rc = add_memory(tree);
	(void)pthread_mutex_unlock(&making);
	return (rc == OCSD_OK
		? HWTD_OK
		: hwtdi_fail(err, HWTD_E_NOMEM, "OpenCSD: error %d", (int)rc));
}
