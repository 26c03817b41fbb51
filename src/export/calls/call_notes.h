/*
 * What is told of a call beside its name and times, for formats that have room.
 */
#ifndef HWTDI_CALL_NOTES_H
#define HWTDI_CALL_NOTES_H

#include "export/calls/call_timeline.h"

enum hwtdi_note_kind {
	HWTDI_NOTE_NUMBER,
	HWTDI_NOTE_ADDRESS,
	HWTDI_NOTE_TEXT
};

/* Names of notes, by number. */
enum hwtdi_note_name {
	HWTDI_NOTE_AT,
	HWTDI_NOTE_SITE,
	HWTDI_NOTE_BEGAN,
	HWTDI_NOTE_ENDED,
	HWTDI_NOTE_GAP_NS,
	HWTDI_NOTE_GAPS,
	HWTDI_NOTE_GAP_BYTES,
	HWTDI_NOTE_OFF_NS,
	HWTDI_NOTE_STACK,
	HWTDI_NOTE_INSNS,
	HWTDI_NOTE_SELF_INSNS,
	HWTDI_NOTE_CYCLES,
	HWTDI_NOTE_SELF_CYCLES,
	HWTDI_NOTE_SELF_NS,
	HWTDI_NOTE_CALLS,
	HWTDI_NOTE_NAMES
};

struct hwtdi_note {
	enum hwtdi_note_name name;
	enum hwtdi_note_kind kind;
	uint64_t number;
	const char *text;
};

#define HWTDI_NOTES_MOST 12u

const char *hwtdi_note_text(enum hwtdi_note_name name);

/* How many there are; `details`: those that were asked for, too. */
size_t hwtdi_notes_of_begin(const struct hwtdi_span *span, bool details,
    struct hwtdi_note notes[HWTDI_NOTES_MOST]);
/* `row` is NULL: the file ends, or what was read. */
size_t hwtdi_notes_of_end(const struct hwtd_call *row, bool details,
    struct hwtdi_note notes[HWTDI_NOTES_MOST]);
size_t hwtdi_notes_of_run(const struct hwtdi_run *run, bool details,
    struct hwtdi_note notes[HWTDI_NOTES_MOST]);
size_t hwtdi_notes_of_gap(const struct hwtd_call *row,
    struct hwtdi_note notes[HWTDI_NOTES_MOST]);

#endif /* HWTDI_CALL_NOTES_H */
