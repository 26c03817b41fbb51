/*
 * Whose sample, and whose code, it is: ids that the hardware put into the trace,
 * against what records say of threads.
 */
#include "trace/trace_model.h"
#include "trace/trace_internal.h"

/* The process of a thread, if anything tells it. */
static uint32_t
process_of(const struct hwtd_trace *trace,
    const struct hwtd_stream_desc *stream, uint32_t tid)
{
	uint32_t pid = HWTD_NO_ID;

	if (trace->space.switches != NULL)
		pid = hwtdi_switches_process(trace->space.switches, tid,
		    UINT64_MAX);
	/* A stream of a process, or of this thread. */
	if (pid == HWTD_NO_ID &&
	    (stream->tid == HWTD_NO_ID || stream->tid == tid))
		pid = stream->pid;
	return (pid);
}

static bool
is_thread(const struct hwtd_trace *trace,
    const struct hwtd_stream_desc *stream, uint32_t id)
{
	return (id == stream->tid ||
	    (trace->space.switches != NULL &&
		hwtdi_switches_knows(trace->space.switches, id)));
}

void
hwtdi_trace_sampled(const struct hwtd_trace *trace, uint32_t stream,
    uint32_t context_el2, uint32_t context_el1, uint32_t *pid_inout,
    uint32_t *tid_inout)
{
	const struct hwtd_stream_desc *desc = &trace->streams[stream]->desc;
	const struct hwtd_spe_config *config = hwtdi_trace_spe_config(trace,
	    stream);
	const uint32_t owner = config != NULL ? config->owner
					      : HWTD_SPE_OWNER_UNKNOWN;
	/* A kernel at EL2 has its ids there; those of EL1 are of its guests. */
	uint32_t id = context_el2 != 0 ? context_el2 : context_el1;

	if (owner == HWTD_SPE_OWNER_CPU)
		return;
	if (owner == HWTD_SPE_OWNER_PROCESS) {
		/* Who runs may be one of its threads. */
		if (id != *pid_inout)
			*tid_inout = HWTD_NO_ID;
		*pid_inout = id;
		return;
	}
	if (!is_thread(trace, desc, id) && context_el1 != 0 &&
	    is_thread(trace, desc, context_el1))
		id = context_el1;
	if (is_thread(trace, desc, id)) {
		/* Records may say more of the thread that runs. */
		if (id != *tid_inout || *pid_inout == HWTD_NO_ID)
			*pid_inout = process_of(trace, desc, id);
		*tid_inout = id;
		return;
	}
	/* Somebody else's ids, or those of processes. */
	if (*tid_inout != HWTD_NO_ID &&
	    (desc->tid == HWTD_NO_ID || id == desc->pid))
		return;
	if (id == *pid_inout)
		return;
	*pid_inout = process_of(trace, desc, id);
	*tid_inout = id;
}

void
hwtdi_trace_in_context(const struct hwtd_trace *trace, uint32_t stream,
    const struct hwtd_exec_context *context, uint32_t *pid_inout,
    uint32_t *tid_inout)
{
	const struct hwtd_stream_desc *desc = &trace->streams[stream]->desc;
	const uint32_t id = (uint32_t)context->contextidr;
	uint32_t pid;

	if ((context->flags & HWTD_CTXF_CONTEXTIDR) == 0 || id == 0 ||
	    trace->space.switches == NULL || id == *tid_inout ||
	    !hwtdi_switches_knows(trace->space.switches, id))
		return;
	pid = process_of(trace, desc, id);
	/* Ids of processes say nothing of which thread it is. */
	if (id == *pid_inout && pid == id && *tid_inout != HWTD_NO_ID)
		return;
	*pid_inout = pid;
	*tid_inout = id;
}
