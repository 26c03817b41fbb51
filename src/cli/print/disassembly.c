/*
 * The text of instructions, of x86 through Zydis, remembered by address: traces
 * execute the same code over and over.
 */
#include <stdlib.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "cli/print/disassembly.h"
#include "cli/print/disassembly_arm.h"

/* A power of two; 16384 slots of 144 bytes. */
#define SLOTS 16384
#define MAX_TEXT 96

struct slot {
	uint64_t ip;
	uint32_t section;
	uint8_t isa;
	uint8_t used;
	uint8_t n_code;
	uint8_t code[DISASSEMBLY_MAX_CODE];
	char text[MAX_TEXT];
};

struct disassembly {
	const struct hwtd_trace *trace;
	bool want_text;
	ZydisDecoder decoders[HWTD_ISA_X86_64 + 1];
	ZydisFormatter formatter;
	struct disassembly_arm arm;
	struct slot slots[SLOTS];
};

struct disassembly *
disassembly_create(const struct hwtd_trace *trace, bool want_text,
    bool att_syntax)
{
	struct disassembly *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return (NULL);
	d->trace = trace;
	d->want_text = want_text;
	ZydisDecoderInit(&d->decoders[HWTD_ISA_X86_16],
	    ZYDIS_MACHINE_MODE_LEGACY_16, ZYDIS_STACK_WIDTH_16);
	ZydisDecoderInit(&d->decoders[HWTD_ISA_X86_32],
	    ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32);
	ZydisDecoderInit(&d->decoders[HWTD_ISA_X86_64],
	    ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisFormatterInit(&d->formatter,
	    att_syntax ? ZYDIS_FORMATTER_STYLE_ATT
		       : ZYDIS_FORMATTER_STYLE_INTEL);
	ZydisFormatterSetProperty(&d->formatter,
	    ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	ZydisFormatterSetProperty(&d->formatter,
	    ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
	    ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&d->formatter,
	    ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&d->formatter,
	    ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED);
	return (d);
}

void
disassembly_destroy(struct disassembly *d)
{
	if (d != NULL)
		disassembly_arm_fini(&d->arm);
	free(d);
}

static bool
x86_text(struct disassembly *d, struct slot *slot)
{
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

	return (ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d->decoders[slot->isa],
		    slot->code, slot->n_code, &instruction, operands)) &&
	    ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&d->formatter,
		&instruction, operands, instruction.operand_count_visible,
		slot->text, sizeof(slot->text), slot->ip, NULL)));
}

static bool
arm_text(struct disassembly *d, struct slot *slot)
{
	struct arm_code code = { .ip = slot->ip,
		.isa = slot->isa,
		.n = slot->n_code };
	size_t n = 0;

	if (slot->n_code > ARM_MAX_CODE)
		return (false);
	/* A section may begin less than that before it. */
	for (size_t want = ARM_BYTES_BEFORE;
	     slot->isa == HWTD_ISA_T32 && want > 0 && n == 0; want -= 2)
		if (want > slot->ip ||
		    hwtd_trace_read_code(d->trace, slot->section,
			slot->ip - want, code.bytes, want, &n) != HWTD_OK ||
		    n != want)
			n = 0;
	code.n_before = (uint8_t)n;
	memcpy(code.bytes + n, slot->code, slot->n_code);
	return (disassembly_arm_text(&d->arm, &code, slot->text,
	    sizeof(slot->text)));
}

static void
make_text(struct disassembly *d, struct slot *slot)
{
	const bool is_x86 = slot->isa >= HWTD_ISA_X86_16 &&
	    slot->isa <= HWTD_ISA_X86_64;

	slot->text[0] = '\0';
	if (!d->want_text)
		return;
	if (!is_x86 && slot->isa != HWTD_ISA_A64 &&
	    slot->isa != HWTD_ISA_A32 && slot->isa != HWTD_ISA_T32)
		strcpy(slot->text, "(no disassembler for it)");
	else if (slot->n_code == 0)
		strcpy(slot->text, "(code not known)");
	else if (!(is_x86 ? x86_text(d, slot) : arm_text(d, slot)))
		strcpy(slot->text, "(bad)");
}

struct instruction_text
disassembly_of(struct disassembly *d, const struct hwtd_event *row)
{
	const uint32_t section = (row->flags & HWTD_EVF_SECTION) != 0
	    ? row->section
	    : HWTD_NO_ID;
	const uint8_t isa = (uint8_t)((row->flags & HWTD_EVF_ISA_MASK) >>
	    HWTD_EVF_ISA_SHIFT);
	const uint64_t hash = (row->ip ^ (uint64_t)section << 40) *
	    UINT64_C(0x9e3779b97f4a7c15);
	struct slot *slot = &d->slots[hash >> 50 & (SLOTS - 1)];

	if (!slot->used || slot->ip != row->ip || slot->section != section ||
	    slot->isa != isa) {
		size_t n = 0;
		size_t want = row->bytes;

		if (want == 0 || want > DISASSEMBLY_MAX_CODE)
			want = DISASSEMBLY_MAX_CODE;
		slot->used = 1;
		slot->ip = row->ip;
		slot->section = section;
		slot->isa = isa;
		if (section == HWTD_NO_ID ||
		    hwtd_trace_read_code(d->trace, section, row->ip,
			slot->code, want, &n) != HWTD_OK)
			n = 0;
		slot->n_code = (uint8_t)n;
		make_text(d, slot);
	}
	return ((struct instruction_text){
	    .code = slot->code,
	    .n_code = slot->n_code,
	    .text = slot->text,
	});
}
