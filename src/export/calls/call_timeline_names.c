/*
 * What is drawn along an axis of time, as people call it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <hwtdecode/space.h>

#include "analysis/calls/call_source.h"
#include "export/calls/call_timeline.h"

const char *
hwtdi_timeline_name(const struct hwtdi_timeline *tl, uint32_t name,
    char buffer[HWTDI_NAME_BUFFER])
{
	static const char *const fixed[HWTDI_NAME_GAPS] = {
		[HWTDI_NAME_UNKNOWN] = "[unknown]",
		[HWTDI_NAME_SYSCALL] = "[syscall]",
		[HWTDI_NAME_INTERRUPT] = "[interrupt]",
		[HWTDI_NAME_EXCEPTION] = "[exception]",
		[HWTDI_NAME_UNTRACED] = "[untraced]",
		[HWTDI_NAME_SHORT] = "[short calls]",
	};
	struct hwtd_call_function f = { .size = sizeof(f) };

	if (name < HWTDI_NAME_GAPS)
		return (fixed[name]);
	if (name < HWTDI_NAME_FUNCTIONS) {
		(void)snprintf(buffer, HWTDI_NAME_BUFFER, "[not traced: %s]",
		    hwtd_gap_reason_name(name - HWTDI_NAME_GAPS));
		return (buffer);
	}
	if (hwtd_calls_function(tl->calls, name - HWTDI_NAME_FUNCTIONS, &f) !=
	    HWTD_OK)
		return (fixed[HWTDI_NAME_UNKNOWN]);
	if (f.name != NULL)
		return (f.name);
	(void)snprintf(buffer, HWTDI_NAME_BUFFER, "0x%" PRIx64, f.address);
	return (buffer);
}

const char *
hwtdi_timeline_image(const struct hwtdi_timeline *tl, uint32_t name)
{
	struct hwtd_call_function f = { .size = sizeof(f) };

	if (name < HWTDI_NAME_FUNCTIONS ||
	    hwtd_calls_function(tl->calls, name - HWTDI_NAME_FUNCTIONS, &f) !=
		HWTD_OK)
		return (NULL);
	return (f.image);
}

const char *
hwtdi_timeline_process(const struct hwtdi_timeline *tl, uint32_t pid)
{
	const struct hwtd_trace *trace = hwtdi_calls_trace(tl->calls);
	struct hwtd_process p = { .size = sizeof(p) };

	if (trace == NULL || pid == HWTD_NO_ID)
		return (NULL);
	for (size_t i = 0; hwtd_trace_process(trace, i, &p) == HWTD_OK; i++)
		if (p.pid == pid && p.name != NULL && p.name[0] != '\0')
			return (p.name);
	return (NULL);
}

void
hwtdi_timeline_who(const struct hwtdi_timeline *tl, uint32_t thread,
    struct hwtd_call_thread *who, char text[HWTDI_NAME_BUFFER])
{
	memset(who, 0, sizeof(*who));
	who->size = sizeof(*who);
	(void)hwtd_calls_thread(tl->calls, thread, who);
	if (who->tid != HWTD_NO_ID)
		(void)snprintf(text, HWTDI_NAME_BUFFER, "thread %u", who->tid);
	else if (who->stream != HWTD_NO_ID)
		(void)snprintf(text, HWTDI_NAME_BUFFER, "stream %u",
		    who->stream);
	else if (who->pid != HWTD_NO_ID)
		(void)snprintf(text, HWTDI_NAME_BUFFER, "process %u",
		    who->pid);
	else
		(void)snprintf(text, HWTDI_NAME_BUFFER, "trace");
}

uint64_t
hwtdi_timeline_rate(uint64_t n, uint64_t ns)
{
	return (n > UINT64_MAX / 1000000 ? n / ns * 1000000
					 : n * 1000000 / ns);
}
