/*
 * Code of samples by image and symbol: mappings of the trace, symbols of files.
 */
#include "analysis/memory/memory_code.h"

#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "trace/symbolizer.h"
#include "trace/trace_model.h"

/* Most programs spend their time in fewer instructions. */
#define ANSWERS 4096

struct hwtdi_memory_answer {
	bool given;
	uint32_t pid;
	uint64_t pc;
	struct hwtdi_memory_place place;
};

int
hwtdi_memory_code_init(struct hwtdi_memory_code *code,
    struct hwtd_trace *trace, struct hwtd_error *err)
{
	/* Tables are of symbols; lines would take time. */
	const struct hwtd_symbolizer_options opts = { .size = sizeof(opts),
		.flags = HWTD_SYMBOLIZER_NO_LINES };
	int rc;

	memset(code, 0, sizeof(*code));
	code->library = hwtdi_trace_library(trace);
	rc = hwtd_symbolizer_open(trace, &opts, &code->symbolizer, err);
	if (rc != HWTD_OK || !hwtdi_trace_is_fixed(trace))
		return (rc);
	code->answers = hwtdi_zalloc(code->library,
	    ANSWERS * sizeof(*code->answers));
	if (code->answers == NULL)
		return (hwtdi_fail_nomem(err,
		    ANSWERS * sizeof(*code->answers)));
	return (HWTD_OK);
}

void
hwtdi_memory_code_fini(struct hwtdi_memory_code *code)
{
	hwtd_symbolizer_close(code->symbolizer);
	hwtdi_free(code->library, code->answers,
	    ANSWERS * sizeof(*code->answers));
	code->symbolizer = NULL;
	code->answers = NULL;
}

static int
find(struct hwtdi_memory_code *code, struct hwtdi_text_pool *names,
    uint32_t pid, const struct hwtd_position *at, uint64_t pc,
    struct hwtdi_memory_place *out, struct hwtd_error *err)
{
	struct hwtd_symbol symbol;
	int rc;

	memset(out, 0, sizeof(*out));
	rc = hwtdi_symbolizer_find(code->symbolizer, pid, at, pc, &symbol,
	    err);
	if (rc != HWTD_OK)
		return (rc);
	out->file_off = symbol.file_off;
	out->symbol_address = symbol.symbol_address;
	out->symbol_off = symbol.offset;
	rc = hwtdi_text_pool_add(names, code->library, symbol.image_name,
	    &out->image, err);
	if (rc == HWTD_OK)
		rc = hwtdi_text_pool_add(names, code->library, symbol.text,
		    &out->symbol, err);
	return (rc);
}

int
hwtdi_memory_code_find(struct hwtdi_memory_code *code,
    struct hwtdi_text_pool *names, uint32_t pid,
    const struct hwtd_position *at, uint64_t pc,
    struct hwtdi_memory_place *out, struct hwtd_error *err)
{
	struct hwtdi_memory_answer *answer;
	int rc;

	if (code->answers == NULL)
		return (find(code, names, pid, at, pc, out, err));
	answer = &code->answers[hwtdi_hash_pair(code->library->seed, pc, pid) %
	    ANSWERS];
	if (answer->given && answer->pc == pc && answer->pid == pid) {
		*out = answer->place;
		return (HWTD_OK);
	}
	rc = find(code, names, pid, at, pc, out, err);
	if (rc == HWTD_OK)
		*answer = (struct hwtdi_memory_answer){ true, pid, pc, *out };
	return (rc);
}
