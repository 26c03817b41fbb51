/*
 * Where the last instruction of a block begins.
 */
#include "export/compilers/last_insn.h"

#include "base/fail.h"
#include "base/hash.h"
#include "decode/code/arm_insn.h"
#include "decode/code/x86_insn.h"

/* Answers that are kept; a power of 2. */
#define ANSWERS 8192u

/* Bytes of code that are looked at together. */
#define BYTES 512u

struct answer {
	uint64_t ip;
	uint32_t bytes;
	uint32_t section;
	uint8_t isa;
	/* 0: the block is none. */
	uint8_t last_bytes;
	bool given;
};

struct hwtdi_last_insns {
	struct hwtd_context *ctx;
	const struct hwtd_trace *trace;
	struct answer answers[ANSWERS];
};

int
hwtdi_last_insns_create(struct hwtd_context *ctx,
    const struct hwtd_trace *trace, struct hwtdi_last_insns **out,
    struct hwtd_error *err)
{
	struct hwtdi_last_insns *last = hwtdi_zalloc(ctx, sizeof(*last));

	if (last == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*last)));
	last->ctx = ctx;
	last->trace = trace;
	*out = last;
	return (HWTD_OK);
}

void
hwtdi_last_insns_destroy(struct hwtdi_last_insns *last)
{
	if (last != NULL)
		hwtdi_free(last->ctx, last, sizeof(*last));
}

/* Bytes of the instruction at the front of `n` bytes; 0: it is not whole. */
static size_t
length_of(const uint8_t *code, size_t n, uint8_t isa, uint64_t address)
{
	struct hwtdi_x86_insn insn;
	size_t length;

	if (hwtdi_isa_is_arm(isa)) {
		length = hwtdi_arm_length(code, n, isa);
		return (length <= n ? length : 0);
	}
	return (hwtdi_x86_decode(code, n, isa, address, &insn) ? insn.length
							       : 0);
}

/* Bytes of the last instruction of a block; 0: it is not known. */
static uint8_t
measure(const struct hwtdi_last_insns *last, const struct hwtd_event *row,
    uint8_t isa)
{
	uint8_t code[BYTES];
	size_t at = 0, n = 0, length = 0;
	uint64_t passed = 0;

	while (passed < row->bytes) {
		const uint64_t left = row->bytes - passed;
		size_t want = left < BYTES ? (size_t)left : BYTES;

		/* Some more, where what is left may not be an instruction. */
		if (n - at < HWTDI_X86_MAX_LENGTH && n - at < left) {
			if (hwtd_trace_read_code(last->trace, row->section,
				row->ip + passed, code, want, &n) != HWTD_OK ||
			    n == 0)
				return (0);
			at = 0;
		}
		length = length_of(code + at, n - at, isa, row->ip + passed);
		if (length == 0 || length > left)
			return (0);
		at += length;
		passed += length;
	}
	return ((uint8_t)length);
}

bool
hwtdi_last_insn(struct hwtdi_last_insns *last, const struct hwtd_event *row,
    uint64_t *address_out)
{
	const uint8_t isa = (uint8_t)((row->flags & HWTD_EVF_ISA_MASK) >>
	    HWTD_EVF_ISA_SHIFT);
	struct answer *a;

	*address_out = row->ip;
	if (row->insns == 1)
		return (true);
	if ((row->flags & HWTD_EVF_SECTION) == 0)
		return (false);
	a = &last->answers[hwtdi_hash_pair(last->ctx->seed, row->ip,
			       row->section) &
	    (ANSWERS - 1)];
	if (!a->given || a->ip != row->ip || a->bytes != row->bytes ||
	    a->section != row->section || a->isa != isa)
		*a = (struct answer){ .ip = row->ip,
			.bytes = row->bytes,
			.section = row->section,
			.isa = isa,
			.last_bytes = measure(last, row, isa),
			.given = true };
	*address_out = row->ip + row->bytes - a->last_bytes;
	return (a->last_bytes != 0);
}
