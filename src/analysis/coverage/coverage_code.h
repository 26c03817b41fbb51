/*
 * Branch instructions in the code of an ELF file.
 */
#ifndef HWTDI_COVERAGE_CODE_H
#define HWTDI_COVERAGE_CODE_H

#include <hwtdecode/event.h>

#include "trace/symbol_image.h"

/* A piece of the file that is code. */
struct hwtdi_cov_text {
	uint64_t address, off, bytes;
	/* A bit for each byte that was looked at. */
	uint64_t *seen;
};

/* From here on there is code of a kind, or data. */
struct hwtdi_cov_mark {
	uint64_t address;
	/* An hwtd_isa; UNKNOWN: data. */
	uint8_t isa;
};

struct hwtdi_cov_code {
	struct hwtd_context *library;
	const struct hwtdi_elf_tables *file;
	/* By address, without overlap. */
	struct hwtdi_cov_text *texts;
	size_t n_texts, cap_texts;
	/* Of Arm; by address. */
	struct hwtdi_cov_mark *marks;
	size_t n_marks, cap_marks;
	/* An hwtd_isa, where no mark says another. */
	uint8_t isa;
};

/* HWTD_E_NOMEM.  An image whose code is not there has none. */
int hwtdi_cov_code_init(struct hwtdi_cov_code *code,
    struct hwtd_context *library, const struct hwtdi_symbol_image *image,
    struct hwtd_error *err);

/*
 * Where code at an address lies in the file, and how many bytes of it follow;
 * false: there is none.
 */
bool hwtdi_cov_code_place(const struct hwtdi_cov_code *code, uint64_t address,
    uint64_t *off_out, uint64_t *bytes_out);

struct hwtdi_cov_branch {
	uint64_t off;
	/* Where it leads in the file, if it is direct and that is code. */
	uint64_t to;
	bool is_direct;
	/* An hwtd_branch; CONDITIONAL: whatever has a condition. */
	uint8_t branch;
	uint8_t length;
};

/* The code that is still to be looked at: [at, end). */
struct hwtdi_cov_sweep {
	struct hwtdi_cov_code *code;
	uint64_t at, end;
	/* Of T32: the state of the IT block. */
	uint8_t it;
};

/*
 * The next branch in it; false: there is none.  Code that was looked at before is
 * passed over, so that all of it takes no longer than it is large.
 */
bool hwtdi_cov_sweep_next(struct hwtdi_cov_sweep *sweep,
    struct hwtdi_cov_branch *out);

void hwtdi_cov_code_fini(struct hwtdi_cov_code *code);

#endif /* HWTDI_COVERAGE_CODE_H */
