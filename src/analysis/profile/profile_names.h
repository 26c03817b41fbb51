/*
 * From places in a trace to images and functions of a profile, and who executed.
 */
#ifndef HWTDI_PROFILE_NAMES_H
#define HWTDI_PROFILE_NAMES_H

#include "analysis/profile/profile_store.h"

/* A section as a profile has it. */
struct hwtdi_profile_section {
	bool known;
	/* Number of arrival. */
	uint32_t image;
	/* A byte at an address is at so much more in the file. */
	uint64_t shift;
	uint32_t generation;
};

/* Of one trace.  It stays open as long as this. */
struct hwtdi_profile_names {
	struct hwtd_profile *p;
	struct hwtd_trace *trace;
	struct hwtdi_profile_section *sections;
	size_t n_sections;
	/* Images of it as the profile has them, + 1; 0: not known yet. */
	uint32_t *images;
	size_t n_images;
};

/* HWTD_E_NOMEM. */
int hwtdi_profile_names_init(struct hwtdi_profile_names *names,
    struct hwtd_profile *p, struct hwtd_trace *trace, struct hwtd_error *err);
void hwtdi_profile_names_fini(struct hwtdi_profile_names *names);

/* HWTD_E_NOMEM, HWTD_E_LIMIT; NULL in *out: there is no such section. */
int hwtdi_profile_names_section(struct hwtdi_profile_names *names, uint32_t no,
    struct hwtdi_profile_section **out, struct hwtd_error *err);

/*
 * The function of a symbol at an address; HWTD_NO_ID where it has no symbol.  With
 * frames `line_no_out` and `inlined_out` are those of the innermost one.
 */
int hwtdi_profile_names_function(struct hwtdi_profile_names *names,
    const struct hwtdi_profile_section *section, uint64_t address,
    const struct hwtd_symbol *symbol, uint32_t *function_out,
    struct hwtd_error *err);
/* One without a name, where it was called. */
int hwtdi_profile_names_unnamed(struct hwtdi_profile_names *names,
    const struct hwtdi_profile_section *section, uint64_t address,
    uint32_t *function_out, struct hwtd_error *err);
int hwtdi_profile_names_frames(struct hwtdi_profile_names *names,
    const struct hwtdi_profile_section *section,
    const struct hwtd_symbol *symbol, uint32_t *inlined_out,
    uint32_t *line_out, struct hwtd_error *err);

/* Threads of the profile get the names that records have. */
int hwtdi_profile_names_threads(struct hwtdi_profile_names *names,
    struct hwtd_error *err);

#endif /* HWTDI_PROFILE_NAMES_H */
