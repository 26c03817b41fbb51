/*
 * Which of several possible mappings the packets allow, for both Intel PT
 * engines.
 */
#ifndef HWTDI_PT_CHOICE_H
#define HWTDI_PT_CHOICE_H

#include "decode/decoder.h"

/* Sections that are remembered to fit. */
#define HWTDI_PT_CHOICES 64u

/* What a decoder knows of which code lies where. */
struct hwtdi_pt_choice {
	/* When it can be, by the code that was found. */
	struct hwtdi_moments moments;
	/* Sections that were found to fit where several were possible. */
	uint32_t chosen[HWTDI_PT_CHOICES];
	size_t n_chosen;
	/* This decoder only tries out a choice; where it failed, and why. */
	bool trial, lost;
	size_t lost_at;
	uint32_t lost_reason;
	/* The byte that it is about. */
	size_t question;
	/* From there on it rests on another choice, which was not tried. */
	bool doubted;
	size_t doubt_at;
};

/* Decoding begins somewhere else: nothing is known but what is tried out. */
void hwtdi_pt_choice_begin(struct hwtdi_pt_choice *choice);

/* Decoding lost its way. */
void hwtdi_pt_choice_lost(struct hwtdi_pt_choice *choice, size_t at,
    uint32_t reason);

/* Who asks for code. */
struct hwtdi_pt_asker {
	struct hwtd_context *library;
	const struct hwtdi_code_source *code;
	struct hwtdi_pt_choice *choice;
	/* The byte where it stands, as trials count them. */
	size_t at;
	/*
	 * Decode on trial with *choice_inout, from where decoding was entered
	 * last, until something is lost or byte `until` is passed.
	 */
	int (*try_out)(struct hwtdi_decoder *d, size_t until,
	    struct hwtdi_flow *flow, struct hwtdi_pt_choice *choice_inout);
	struct hwtdi_decoder *decoder;
};

/*
 * Ask the code source for the span around `ip`; of several answers take the
 * newest that the packets up to here, and the next ones, do not contradict.
 * What is in `query` stays up to date.  Results as of the source, but for
 * HWTD_E_STATE: none fits, or too many do.
 */
int hwtdi_pt_find_code(const struct hwtdi_pt_asker *asker,
    struct hwtdi_code_query *query, uint64_t ip, struct hwtdi_code_span *out);

#endif /* HWTDI_PT_CHOICE_H */
