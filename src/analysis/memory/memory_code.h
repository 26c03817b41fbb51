/*
 * Which image and symbol the code of a sample is in.
 */
#ifndef HWTDI_MEMORY_CODE_H
#define HWTDI_MEMORY_CODE_H

#include <hwtdecode/event.h>
#include <hwtdecode/space.h>

#include "base/text_pool.h"

/* Numbers are names; 0: not known. */
struct hwtdi_memory_place {
	uint32_t image;
	uint32_t symbol;
	/* Of the symbol, as the file has it, and bytes behind it. */
	uint64_t symbol_address;
	uint64_t symbol_off;
	/* Where the file has it; without an image the address. */
	uint64_t file_off;
};

struct hwtd_symbolizer;
struct hwtdi_memory_answer;

/* The code of one trace. */
struct hwtdi_memory_code {
	struct hwtd_context *library;
	struct hwtd_symbolizer *symbolizer;
	/* Recent answers, where no record can change them. */
	struct hwtdi_memory_answer *answers;
};

/* The trace stays open as long.  HWTD_E_NOMEM. */
int hwtdi_memory_code_init(struct hwtdi_memory_code *code,
    struct hwtd_trace *trace, struct hwtd_error *err);

/*
 * Where `pc` of process `pid` is at a place.  Symbols of a file are read when
 * they are asked for first; a file that cannot be read has none.
 *
 * HWTD_E_NOMEM, HWTD_E_LIMIT.
 */
int hwtdi_memory_code_find(struct hwtdi_memory_code *code,
    struct hwtdi_text_pool *names, uint32_t pid,
    const struct hwtd_position *at, uint64_t pc,
    struct hwtdi_memory_place *out, struct hwtd_error *err);

void hwtdi_memory_code_fini(struct hwtdi_memory_code *code);

#endif /* HWTDI_MEMORY_CODE_H */
