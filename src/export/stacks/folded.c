/*
 * Folded stacks: "caller;callee 12", a line for each stack that weighs something
 * of its own.  Of a comparison: what it weighed there, then what it weighs.
 *
 * Source: FlameGraph, flamegraph.pl and difffolded.pl, "usage".
 */
#include "export/stacks/flame_source.h"
#include "export/formats.h"
#include "export/stacks/line_text.h"

/* Bytes that a step writes, about. */
#define STEP_BYTES 65536u

struct folded {
	struct hwtdi_flame_source source;
};

static int
open_folded(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct folded *folded = ex->state;

	return (hwtdi_flame_source_open(ex, &folded->source,
	    HWTD_FLAME_BY_THREAD | HWTD_FLAME_BY_NAME, err));
}

static void
put_line(struct hwtd_export *ex, const struct hwtd_flame_node *node)
{
	struct folded *folded = ex->state;
	struct hwtdi_sink *sink = &ex->sink;
	/* The root is in all stacks; alone it is one. */
	const uint32_t first = node->depth == 0 ? 0 : 1;

	for (uint32_t i = first; i <= node->depth; i++) {
		struct hwtd_flame_frame frame;

		if (i != first)
			hwtdi_sink_char(sink, ';');
		hwtdi_flame_source_frame(&folded->source,
		    folded->source.path[i], &frame);
		hwtdi_line_text(sink, frame.name, ";");
	}
	if ((folded->source.info.flags & HWTD_FLAMEF_COMPARED) != 0) {
		hwtdi_sink_char(sink, ' ');
		hwtdi_sink_u64(sink, node->base_self);
	}
	hwtdi_sink_char(sink, ' ');
	hwtdi_sink_u64(sink, node->self);
	hwtdi_sink_char(sink, '\n');
	ex->info.rows++;
}

static int
step_folded(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct folded *folded = ex->state;
	const uint64_t begin = ex->sink.put;
	struct hwtd_flame_node node;

	(void)err;
	while (ex->sink.put - begin < STEP_BYTES) {
		if (!hwtdi_flame_source_next(&folded->source,
			folded->source.info.n_nodes, &node))
			return (HWTD_END);
		if ((node.self | node.base_self) != 0)
			put_line(ex, &node);
	}
	return (HWTD_OK);
}

static void
close_folded(struct hwtd_export *ex)
{
	struct folded *folded = ex->state;

	hwtdi_flame_source_close(ex, &folded->source);
}

const struct hwtdi_exporter_ops hwtdi_folded_ops = {
	.format = HWTD_FORMAT_FOLDED,
	.source = HWTD_SOURCE_PROFILE,
	.name = "folded",
	.suffixes = ".folded .collapsed",
	.viewer = "flamegraph.pl, speedscope, Perfetto, Firefox Profiler",
	.state_bytes = sizeof(struct folded),
	.open = open_folded,
	.step = step_folded,
	.close = close_folded,
};
