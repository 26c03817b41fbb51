/*
 * What is told of a call beside its name and times.
 */
#include "export/calls/call_notes.h"

const char *
hwtdi_note_text(enum hwtdi_note_name name)
{
	static const char *const texts[HWTDI_NOTE_NAMES] = {
		[HWTDI_NOTE_AT] = "address",
		[HWTDI_NOTE_SITE] = "call site",
		[HWTDI_NOTE_BEGAN] = "began",
		[HWTDI_NOTE_ENDED] = "ended",
		[HWTDI_NOTE_GAP_NS] = "not traced ns",
		[HWTDI_NOTE_GAPS] = "gaps",
		[HWTDI_NOTE_GAP_BYTES] = "gap bytes",
		[HWTDI_NOTE_OFF_NS] = "not running ns",
		[HWTDI_NOTE_STACK] = "stack",
		[HWTDI_NOTE_INSNS] = "instructions",
		[HWTDI_NOTE_SELF_INSNS] = "self instructions",
		[HWTDI_NOTE_CYCLES] = "cycles",
		[HWTDI_NOTE_SELF_CYCLES] = "self cycles",
		[HWTDI_NOTE_SELF_NS] = "self ns",
		[HWTDI_NOTE_CALLS] = "calls",
	};

	return (texts[name]);
}

static void
add_number(struct hwtdi_note *notes, size_t *n, enum hwtdi_note_name name,
    uint64_t v)
{
	notes[(*n)++] = (struct hwtdi_note){ .name = name,
		.kind = HWTDI_NOTE_NUMBER,
		.number = v };
}

static void
add_address(struct hwtdi_note *notes, size_t *n, enum hwtdi_note_name name,
    uint64_t v)
{
	notes[(*n)++] = (struct hwtdi_note){ .name = name,
		.kind = HWTDI_NOTE_ADDRESS,
		.number = v };
}

static void
add_text(struct hwtdi_note *notes, size_t *n, enum hwtdi_note_name name,
    const char *text)
{
	notes[(*n)++] = (struct hwtdi_note){ .name = name,
		.kind = HWTDI_NOTE_TEXT,
		.text = text };
}

size_t
hwtdi_notes_of_begin(const struct hwtdi_span *span, bool details,
    struct hwtdi_note notes[HWTDI_NOTES_MOST])
{
	size_t n = 0;

	if (span->continued)
		add_text(notes, &n, HWTDI_NOTE_BEGAN, "in the file before");
	else if ((span->flags & HWTD_CALLF_BEGAN_BEFORE) != 0)
		add_text(notes, &n, HWTDI_NOTE_BEGAN, "before the trace");
	else if ((span->flags & HWTD_CALLF_BEGAN_UNSEEN) != 0)
		add_text(notes, &n, HWTDI_NOTE_BEGAN, "unseen");
	if ((span->flags & HWTD_CALLF_GUESSED) != 0)
		add_text(notes, &n, HWTDI_NOTE_STACK, "guessed");
	if (!details)
		return (n);
	if ((span->flags & HWTD_CALLF_ADDRESS) != 0)
		add_address(notes, &n, HWTDI_NOTE_AT, span->address);
	if ((span->flags & HWTD_CALLF_SITE) != 0)
		add_address(notes, &n, HWTDI_NOTE_SITE, span->site);
	return (n);
}

/* How a call ended, if that is not what one expects. */
static const char *
end_text(const struct hwtd_call *row)
{
	if ((row->flags & HWTD_CALLF_UNPROVEN) != 0)
		return ("open, and nothing showed that it outlived a gap");
	switch (row->end) {
	case HWTD_CALL_END_RETURN:
	case HWTD_CALL_END_TAIL:
	case HWTD_CALL_END_FAR_RETURN:
	case HWTD_CALL_END_SAMPLED:
		return (NULL);
	case HWTD_CALL_END_UNWOUND:
		return ("unwound");
	case HWTD_CALL_END_GAP:
		return ("in a gap");
	case HWTD_CALL_END_OPEN:
		return ("open at the end of the trace");
	case HWTD_CALL_END_LIMIT:
		return ("too many calls were open");
	case HWTD_CALL_END_EXEC:
		return ("another program was executed");
	default:
		return ("unknown");
	}
}

size_t
hwtdi_notes_of_end(const struct hwtd_call *row, bool details,
    struct hwtdi_note notes[HWTDI_NOTES_MOST])
{
	size_t n = 0;

	if (row == NULL) {
		add_text(notes, &n, HWTDI_NOTE_ENDED, "after this file");
		return (n);
	}
	if (end_text(row) != NULL)
		add_text(notes, &n, HWTDI_NOTE_ENDED, end_text(row));
	/* Time that nobody saw is never told without saying so. */
	if (row->gaps != 0 || row->gap_ns != 0) {
		add_number(notes, &n, HWTDI_NOTE_GAPS, row->gaps);
		add_number(notes, &n, HWTDI_NOTE_GAP_NS, row->gap_ns);
	}
	if (row->off_ns != 0)
		add_number(notes, &n, HWTDI_NOTE_OFF_NS, row->off_ns);
	if ((row->flags & HWTD_CALLF_SWITCHED) != 0)
		add_text(notes, &n, HWTDI_NOTE_STACK, "others ran meanwhile");
	if (!details)
		return (n);
	/* Of text they are not known. */
	if (row->insns != 0) {
		add_number(notes, &n, HWTDI_NOTE_INSNS, row->insns);
		add_number(notes, &n, HWTDI_NOTE_SELF_INSNS, row->self_insns);
	}
	add_number(notes, &n, HWTDI_NOTE_SELF_NS, row->self_ns);
	if ((row->flags & HWTD_CALLF_CYCLES) != 0) {
		add_number(notes, &n, HWTDI_NOTE_CYCLES, row->cycles);
		add_number(notes, &n, HWTDI_NOTE_SELF_CYCLES,
		    row->self_cycles);
	}
	return (n);
}

size_t
hwtdi_notes_of_run(const struct hwtdi_run *run, bool details,
    struct hwtdi_note notes[HWTDI_NOTES_MOST])
{
	size_t n = 0;

	if (run->n > 1)
		add_number(notes, &n, HWTDI_NOTE_CALLS, run->n);
	if (details && run->insns != 0)
		add_number(notes, &n, HWTDI_NOTE_INSNS, run->insns);
	return (n);
}

size_t
hwtdi_notes_of_gap(const struct hwtd_call *row,
    struct hwtdi_note notes[HWTDI_NOTES_MOST])
{
	size_t n = 0;

	add_number(notes, &n, HWTDI_NOTE_GAP_BYTES, row->gap_bytes);
	return (n);
}
