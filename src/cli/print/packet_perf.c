/*
 * Packets of Arm SPE as perf lists them: `perf report -D` of Linux 7.2.
 */
#include "cli/print/packet_perf.h"

#include <inttypes.h>
#include <stdbool.h>

/* Bytes of a line; shorter ones are filled with blanks. */
#define LINE_BYTES 16

/* The bits of a payload that are the address. */
#define ADDRESS_MASK (UINT64_MAX >> 8)

/* A bit of a payload, and its word. */
struct word {
	uint64_t bit;
	const char *text;
};

static void
write_words(struct output *out, uint64_t value, const struct word *words,
    size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((value & words[i].bit) != 0)
			output_format(out, " %s", words[i].text);
}

#define WORDS(out, value, words)                                              \
	write_words(out, value, words, sizeof(words) / sizeof((words)[0]))

static void
write_events(struct output *out, uint64_t value, uint64_t midr)
{
	static const char *const names[] = { "EXCEPTION-GEN", "RETIRED",
		"L1D-ACCESS", "L1D-REFILL", "TLB-ACCESS", "TLB-REFILL",
		"NOT-TAKEN", "MISPRED", "LLC-ACCESS", "LLC-REFILL",
		"REMOTE-ACCESS", "ALIGNMENT", NULL, NULL, NULL, NULL, "TXN",
		"SVE-PARTIAL-PRED", "SVE-EMPTY-PRED", "L2D-ACCESS", "L2D-MISS",
		"HITM", "LFB", "SNOOPED", "STREAMING-SVE", "SMCU" };
	/* Of Neoverse N1. */
	const bool prefetch = (midr & 0xff00fff0) == 0x4100d0c0;
	const char *before = " IMPDEF:";

	output_text(out, "EV");
	if (prefetch && (value >> 12 & 1) != 0) {
		output_text(out, " LATE-PREFETCH");
		value &= ~(UINT64_C(1) << 12);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i] != NULL && (value >> i & 1) != 0) {
			output_format(out, " %s", names[i]);
			value &= ~(UINT64_C(1) << i);
		}
	for (unsigned int i = 0; i < 64; i++)
		if ((value >> i & 1) != 0) {
			output_format(out, "%s%u", before, i);
			before = ",";
		}
}

static void
write_other(struct output *out, unsigned int v)
{
	static const struct word simd[] = { { 4, "ASE" }, { 2, "FP" } };
	static const struct word sve[] = { { 2, "FP" }, { 4, "PRED" } };
	static const struct word sme[] = { { 2, "FP" } };

	if ((v & 0x89) == 0x08) {
		output_format(out, "SVE-OTHER EVLEN %u", 32u << (v >> 4 & 7));
		WORDS(out, v, sve);
	} else if ((v & 0x89) == 0x88) {
		output_format(out, "SME-OTHER ETS %u",
		    128u << ((v >> 3 & 14) | (v >> 2 & 1)));
		WORDS(out, v, sme);
	} else if ((v & 0xf8) == 0) {
		output_text(out, "OTHER");
		WORDS(out, v, simd);
		output_text(out,
		    (v & 1) != 0 ? " COND-SELECT" : " INSN-OTHER");
	} else {
		output_format(out, "OP-TYPE 0x%x (0)", v);
	}
}

static void
write_memory(struct output *out, unsigned int v)
{
	static const struct {
		uint8_t mask;
		uint8_t value;
		const char *text;
	} plain[] = {
		{ 0xfe, 0x00, "GP-REG" },
		{ 0xfe, 0x04, "SIMD-FP" },
		{ 0xfe, 0x10, "UNSPEC-REG" },
		{ 0xfe, 0x30, "NV-SYSREG" },
		{ 0xfe, 0x14, "MTE-TAG" },
		{ 0xfe, 0x20, "MEMCPY" },
		{ 0xff, 0x25, "MEMSET" },
	};
	static const struct word extended[] = { { 0x04, "AT" },
		{ 0x08, "EXCL" }, { 0x10, "AR" } };
	static const struct word vector[] = { { 0x04, "PRED" },
		{ 0x80, "SG" } };
	static const struct word gcs[] = { { 0x40, "GCS" }, { 0x04, "COMM" } };

	output_text(out, (v & 1) != 0 ? "ST" : "LD");
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if ((v & plain[i].mask) == plain[i].value)
			output_format(out, " %s", plain[i].text);
	if ((v & 0xe2) == 0x02) {
		WORDS(out, v, extended);
	} else if ((v & 0x0a) == 0x08) {
		output_format(out, " SVE-SME-REG EVLEN %u",
		    32u << (v >> 4 & 7));
		WORDS(out, v, vector);
	} else if ((v & 0xfa) == 0x40) {
		WORDS(out, v, gcs);
	}
}

static void
write_branch(struct output *out, unsigned int v)
{
	static const struct word bits[] = { { 1, "COND" }, { 2, "IND" },
		{ 4, "GCS" } };
	static const char *const links[] = { "", " CR-BL", " CR-RET",
		" CR-NON-BL-RET" };

	output_text(out, "B");
	WORDS(out, v, bits);
	output_text(out, links[v >> 3 & 3]);
}

static void
write_operation(struct output *out, const struct hwtd_packet *p)
{
	const unsigned int v = p->value & 0xff;

	switch (p->count) {
	case 0:
		write_other(out, v);
		break;
	case 1:
		write_memory(out, v);
		break;
	case 2:
		write_branch(out, v);
		break;
	default:
		output_format(out, "OP-TYPE 0x%x (%" PRIu32 ")", v, p->count);
		break;
	}
}

static void
write_address(struct output *out, const struct hwtd_packet *p)
{
	const uint64_t address = p->value & ADDRESS_MASK;
	const unsigned int ns = (unsigned int)(p->value >> 63);
	const char *name = p->kind == HWTD_PK_SPE_PC ? "PC"
	    : p->kind == HWTD_PK_SPE_TARGET	     ? "TGT"
						     : "PBT";

	switch (p->kind) {
	case HWTD_PK_SPE_VA:
		output_format(out, "VA 0x%" PRIx64, p->value);
		break;
	case HWTD_PK_SPE_PA:
		output_format(out, "PA 0x%" PRIx64 " ns=%u ch=%u pat=%x",
		    address, ns, (unsigned int)(p->value >> 62 & 1),
		    (unsigned int)(p->value >> 56 & 15));
		break;
	case HWTD_PK_SPE_ADDRESS:
		output_format(out, "ADDR 0x%" PRIx64 " (%" PRIu32 ")",
		    p->value, p->count);
		break;
	default:
		output_format(out, "%s 0x%" PRIx64 " el%u ns=%u", name,
		    address, (unsigned int)(p->value >> 61 & 3), ns);
		break;
	}
}

static void
write_counter(struct output *out, const struct hwtd_packet *p)
{
	const char *name = "";

	if (p->kind == HWTD_PK_SPE_TOTAL)
		name = "TOT";
	else if (p->kind == HWTD_PK_SPE_ISSUE)
		name = "ISSUE";
	else if (p->kind == HWTD_PK_SPE_XLAT)
		name = "XLAT";
	/* That of others ends with the blank. */
	output_format(out, "LAT %" PRIu64 " %s", p->value, name);
}

static void
write_words_of(struct output *out, const struct hwtd_packet *p)
{
	switch (p->kind) {
	case HWTD_PK_SPE_PAD:
	case HWTD_PK_SPE_ALIGNMENT:
		output_text(out, "PAD");
		break;
	case HWTD_PK_SPE_END:
		output_text(out, "END");
		break;
	case HWTD_PK_SPE_PC:
	case HWTD_PK_SPE_TARGET:
	case HWTD_PK_SPE_PREV_TARGET:
	case HWTD_PK_SPE_VA:
	case HWTD_PK_SPE_PA:
	case HWTD_PK_SPE_ADDRESS:
		write_address(out, p);
		break;
	case HWTD_PK_SPE_TOTAL:
	case HWTD_PK_SPE_ISSUE:
	case HWTD_PK_SPE_XLAT:
	case HWTD_PK_SPE_COUNTER:
		write_counter(out, p);
		break;
	case HWTD_PK_SPE_CONTEXT:
		output_format(out, "CONTEXT 0x%" PRIx64 " el%" PRIu32,
		    p->value, p->count + 1);
		break;
	case HWTD_PK_SPE_TIMESTAMP:
		output_format(out, "TS %" PRId64, (int64_t)p->value);
		break;
	case HWTD_PK_SPE_EVENTS:
		write_events(out, p->value, p->stamp);
		break;
	case HWTD_PK_SPE_SOURCE:
		output_format(out, "DATA-SOURCE %" PRId64, (int64_t)p->value);
		break;
	case HWTD_PK_SPE_OPERATION:
		write_operation(out, p);
		break;
	default:
		output_text(out, "Bad packet!");
		break;
	}
}

void
perf_write_header(struct output *out, uint64_t n)
{
	output_format(out, ". ... ARM SPE data: size %#" PRIx64 " bytes\n", n);
}

void
perf_write_packet(struct output *out, const struct hwtd_packet *packet,
    uint64_t off, const uint8_t *bytes, size_t n)
{
	output_format(out, ".  %08" PRIx64 ": ", off);
	for (size_t i = 0; i < n; i++) {
		output_char(out, ' ');
		output_hex_bytes(out, bytes + i, 1);
	}
	for (size_t i = n; i < LINE_BYTES; i++)
		output_text(out, "   ");
	output_char(out, ' ');
	write_words_of(out, packet);
	output_char(out, '\n');
}
