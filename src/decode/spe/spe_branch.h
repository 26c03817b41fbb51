/*
 * What kind of branch a sample is of.
 */
#ifndef HWTDI_SPE_BRANCH_H
#define HWTDI_SPE_BRANCH_H

#include "decode/decoder.h"

/* Branches that are remembered, of code that is always the same. */
#define HWTDI_SPE_BRANCHES 256

struct hwtdi_spe_branches {
	struct hwtdi_code_source code;
	/* Whose code it is. */
	struct hwtd_exec_context context;
	struct hwtdi_spe_known_branch {
		uint64_t pc;
		/* An hwtd_branch. */
		uint8_t branch;
		bool known;
	} known[HWTDI_SPE_BRANCHES];
};

void hwtdi_spe_branches_init(struct hwtdi_spe_branches *b,
    const struct hwtdi_code_source *code,
    const struct hwtd_exec_context *context);

/*
 * An hwtd_branch: as the record says, or else as the instruction does; NONE if
 * neither is known, or they contradict each other.
 */
uint8_t hwtdi_spe_branch(struct hwtdi_spe_branches *b,
    const struct hwtd_sample *s);

#endif /* HWTDI_SPE_BRANCH_H */
