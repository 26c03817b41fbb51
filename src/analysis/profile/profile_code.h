/*
 * Runs as code of a profile: which instructions they have, and of which function
 * and line each is.
 */
#ifndef HWTDI_PROFILE_CODE_H
#define HWTDI_PROFILE_CODE_H

#include <hwtdecode/runs.h>

#include "analysis/profile/profile_names.h"

struct hwtdi_profile_answer;

/* A symbol as the profile has it; numbers of arrival or HWTD_NO_ID. */
struct hwtdi_profile_named {
	uint32_t function, inlined, line;
};

/* What is asked at once, and told. */
struct hwtdi_profile_ask {
	struct hwtd_where *where;
	struct hwtd_symbol *symbols;
	size_t n, cap_where, cap_symbols;
};

/* Runs that are added at once. */
#define HWTDI_PROFILE_RUNS_AT_ONCE 256u

/* Of one trace. */
struct hwtdi_profile_coder {
	struct hwtd_profile *p;
	struct hwtdi_profile_names names;
	/* NULL: nothing is named. */
	struct hwtd_symbolizer *symbolizer;
	bool with_lines;
	/* Of several runs; and of each instruction of one whose ends differ. */
	struct hwtdi_profile_ask some, each;
	/* Recent functions by symbol, and lines by frames. */
	struct hwtdi_profile_answer *answers;
	/* Bytes of a run; lengths of instructions of several. */
	uint8_t *bytes, *lengths;
	size_t cap_bytes, cap_lengths, n_lengths;
	/* Processes whose names code may have that no file names. */
	uint32_t pids[64];
	size_t n_pids;
};

/* `symbolizer` NULL: nothing is named.  HWTD_E_NOMEM. */
int hwtdi_profile_coder_init(struct hwtdi_profile_coder *c,
    struct hwtd_profile *p, struct hwtd_trace *trace,
    struct hwtd_symbolizer *symbolizer, struct hwtd_error *err);
void hwtdi_profile_coder_fini(struct hwtdi_profile_coder *c);

/*
 * Add runs; what the first and the last instruction of each is of goes to `firsts` and
 * `lasts`.  HWTD_E_NOMEM, HWTD_E_LIMIT.
 */
int hwtdi_profile_coder_add(struct hwtdi_profile_coder *c,
    const struct hwtd_run *runs, size_t n, uint32_t *firsts, uint32_t *lasts,
    struct hwtd_error *err);

/* What an address is of. */
int hwtdi_profile_coder_name(struct hwtdi_profile_coder *c, uint32_t section,
    uint64_t address, struct hwtdi_profile_named *out, struct hwtd_error *err);

#endif /* HWTDI_PROFILE_CODE_H */
