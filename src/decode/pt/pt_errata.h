/*
 * What CPUs get wrong in Intel PT, as far as our own engine works around it.
 */
#ifndef HWTDI_PT_ERRATA_H
#define HWTDI_PT_ERRATA_H

#include <hwtdecode/trace.h>
#include <stdbool.h>

/* Named as in Intel's specification updates, after the first family that has it. */
struct hwtdi_pt_errata {
	/* A branch before an abort of a transaction can go to a wrong place. */
	bool bdm64;
	/* OVF can come behind the first byte of a CYC. */
	bool skd007;
	/* VM entry that ends tracing can add a FUP. */
	bool skd022;
	/* OVF while the filter is off can have a FUP behind it. */
	bool apl12;
};

/*
 * Of a CPU.  One that is not known, or NULL: those of the newest that is, since
 * what they tolerate means nothing else.
 */
struct hwtdi_pt_errata hwtdi_pt_errata_of(const struct hwtd_pt_config *config);

#endif /* HWTDI_PT_ERRATA_H */
