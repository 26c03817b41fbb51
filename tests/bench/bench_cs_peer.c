/*
 * The peer of the CoreSight benchmark: OpenCSD takes frames apart, reads code
 * through a callback, and its elements are counted.
 */
#include "bench_cs_peer.h"

#include <opencsd/c_api/opencsd_c_api.h>
#include <opencsd/ete/trc_pkt_types_ete.h>
#include <opencsd/etmv4/trc_pkt_types_etmv4.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace_model.h"

/* Bytes that it is given at a time. */
#define FEED 65536

struct peer {
	struct hwtd_trace *trace;
	struct hwtdi_span span;
	struct bench_count *sum;
};

bool
bench_cs_input_load(struct hwtd_trace *trace, uint32_t stream,
    struct bench_cs_input *out)
{
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_error err = { .size = sizeof(err) };

	if (hwtd_trace_stream(trace, stream, &d) != HWTD_OK ||
	    d.tech != HWTD_TECH_CORESIGHT || d.sink_plus_1 != 0 ||
	    d.n_bytes == 0)
		return (false);
	*out = (struct bench_cs_input){ .trace = trace,
		.stream = stream,
		.framing = d.framing };
	out->bytes.at = malloc((size_t)d.n_bytes);
	if (out->bytes.at == NULL)
		bench_die("out of memory");
	bench_check(hwtd_trace_read_bytes(trace, stream, 0, out->bytes.at,
			(size_t)d.n_bytes, &out->bytes.n, &err),
	    &err);
	return (true);
}

void
bench_cs_input_free(struct bench_cs_input *input)
{
	free(input->bytes.at);
}

static uint32_t
read_memory(const void *arg, const ocsd_vaddr_t address,
    const ocsd_mem_space_acc_t space, const uint32_t n, uint8_t *buf)
{
	struct peer *p = (struct peer *)(uintptr_t)arg;
	uint64_t left;
	uint32_t take;

	(void)space;
	if (address - p->span.address >= p->span.length &&
	    hwtdi_trace_find_code(p->trace, &(struct hwtdi_code_place){ 0 },
		address, &p->span) != HWTD_OK) {
		p->span.length = 0;
		return (0);
	}
	left = p->span.length - (address - p->span.address);
	take = n < left ? n : (uint32_t)left;
	memcpy(buf, p->span.bytes + (address - p->span.address), take);
	return (take);
}

static ocsd_datapath_resp_t
count_element(const void *arg, const ocsd_trc_index_t index, const uint8_t id,
    const ocsd_generic_trace_elem *element)
{
	struct peer *p = (struct peer *)(uintptr_t)arg;

	(void)index;
	(void)id;
	p->sum->items++;
	if (element->elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE)
		p->sum->insns += element->num_instr_range;
	else if (element->elem_type == OCSD_GEN_TRC_ELEM_ADDR_NACC)
		p->sum->errors++;
	return (OCSD_RESP_CONT);
}

static void
check(ocsd_err_t rc)
{
	if (rc != OCSD_OK)
		bench_die("OpenCSD: error %d", (int)rc);
}

static void
add_source(dcd_tree_handle_t tree, const struct hwtd_coresight_config *c)
{
	const uint32_t id = c->trace_id != 0 ? c->trace_id : 1;
	const ocsd_etmv4_cfg etmv4 = { .reg_idr0 = c->idr[0],
		.reg_idr1 = c->idr[1],
		.reg_idr2 = c->idr[2],
		.reg_idr8 = c->idr[8],
		.reg_configr = c->configr,
		.reg_traceidr = id,
		.arch_ver = c->arch == HWTD_ARM_ARCH_V8_3 ? ARCH_AA64
							  : ARCH_V8,
		.core_prof = profile_CortexA };
	const ocsd_ete_cfg ete = { .reg_idr0 = c->idr[0],
		.reg_idr1 = c->idr[1],
		.reg_idr2 = c->idr[2],
		.reg_idr8 = c->idr[8],
		.reg_devarch = c->devarch,
		.reg_configr = c->configr,
		.reg_traceidr = id,
		.arch_ver = ARCH_AA64,
		.core_prof = profile_CortexA };
	uint8_t out;

	if (c->protocol == HWTD_CS_ETMV4)
		check(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I,
		    OCSD_CREATE_FLG_FULL_DECODER, &etmv4, &out));
	else if (c->protocol == HWTD_CS_ETE)
		check(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETE,
		    OCSD_CREATE_FLG_FULL_DECODER, &ete, &out));
	else
		bench_die("a source is neither ETMv4 nor ETE");
}

static void
add_sources(dcd_tree_handle_t tree, const struct bench_cs_input *input)
{
	struct hwtd_stream_desc d = { .size = sizeof(d) };

	for (uint32_t i = input->stream;
	     hwtd_trace_stream(input->trace, i, &d) == HWTD_OK; i++)
		if (d.coresight != NULL &&
		    (i == input->stream || d.sink_plus_1 == input->stream + 1))
			add_source(tree, d.coresight);
}

static void
feed(dcd_tree_handle_t tree, const struct bench_bytes *bytes)
{
	size_t at = 0;
	uint32_t used = 0;

	while (at < bytes->n) {
		const size_t left = bytes->n - at;
		const ocsd_datapath_resp_t answer = ocsd_dt_process_data(tree,
		    OCSD_OP_DATA, (ocsd_trc_index_t)at,
		    (uint32_t)(left < FEED ? left : FEED), bytes->at + at,
		    &used);

		if (!OCSD_DATA_RESP_IS_CONT(answer) || used == 0)
			bench_die("OpenCSD: answer %d", (int)answer);
		at += used;
	}
	(void)ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, NULL);
}

BENCH_NOINLINE void
bench_cs_peer(const struct bench_cs_input *input, struct bench_count *sum)
{
	struct peer peer = { .trace = input->trace, .sum = sum };
	const bool framed = input->framing == HWTD_FRAMING_MEMORY;
	dcd_tree_handle_t tree;

	if (!framed && input->framing != HWTD_FRAMING_NONE)
		bench_die("only frames in memory are read");
	(void)ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 0);
	tree = ocsd_create_dcd_tree(framed ? OCSD_TRC_SRC_FRAME_FORMATTED
					   : OCSD_TRC_SRC_SINGLE,
	    framed ? OCSD_DFRMTR_FRAME_MEM_ALIGN : 0);
	if (tree == C_API_INVALID_TREE_HANDLE)
		bench_die("OpenCSD made no tree");
	add_sources(tree, input);
	check(ocsd_dt_set_gen_elem_outfn(tree, count_element, &peer));
	check(ocsd_dt_add_callback_mem_acc(tree, 0, UINT64_MAX,
	    OCSD_MEM_SPACE_ANY, read_memory, &peer));
	feed(tree, &input->bytes);
	ocsd_destroy_dcd_tree(tree);
}
