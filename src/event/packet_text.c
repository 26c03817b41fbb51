/*
 * Packets in words.
 */
#include <hwtdecode/event.h>
#include <hwtdecode/packet.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "event/packet_text_cs.h"
#include "event/packet_text_spe.h"

static const char *const names[HWTD_PACKET_KINDS] = {
	[HWTD_PK_UNKNOWN] = "unknown",
	[HWTD_PK_UNSYNCED] = "unsynced",
	[HWTD_PK_TRUNCATED] = "truncated",
	[HWTD_PK_LOST] = "lost",
	[HWTD_PK_PT_PAD] = "pad",
	[HWTD_PK_PT_PSB] = "psb",
	[HWTD_PK_PT_PSBEND] = "psbend",
	[HWTD_PK_PT_OVF] = "ovf",
	[HWTD_PK_PT_STOP] = "stop",
	[HWTD_PK_PT_TNT_8] = "tnt.8",
	[HWTD_PK_PT_TNT_64] = "tnt.64",
	[HWTD_PK_PT_TIP] = "tip",
	[HWTD_PK_PT_TIP_PGE] = "tip.pge",
	[HWTD_PK_PT_TIP_PGD] = "tip.pgd",
	[HWTD_PK_PT_FUP] = "fup",
	[HWTD_PK_PT_MODE_EXEC] = "mode.exec",
	[HWTD_PK_PT_MODE_TSX] = "mode.tsx",
	[HWTD_PK_PT_PIP] = "pip",
	[HWTD_PK_PT_VMCS] = "vmcs",
	[HWTD_PK_PT_TSC] = "tsc",
	[HWTD_PK_PT_TMA] = "tma",
	[HWTD_PK_PT_MTC] = "mtc",
	[HWTD_PK_PT_CYC] = "cyc",
	[HWTD_PK_PT_CBR] = "cbr",
	[HWTD_PK_PT_MNT] = "mnt",
	[HWTD_PK_PT_PTW] = "ptw",
	[HWTD_PK_PT_EXSTOP] = "exstop",
	[HWTD_PK_PT_MWAIT] = "mwait",
	[HWTD_PK_PT_PWRE] = "pwre",
	[HWTD_PK_PT_PWRX] = "pwrx",
	[HWTD_PK_PT_BBP] = "bbp",
	[HWTD_PK_PT_BIP] = "bip",
	[HWTD_PK_PT_BEP] = "bep",
	[HWTD_PK_PT_CFE] = "cfe",
	[HWTD_PK_PT_EVD] = "evd",
	[HWTD_PK_PT_TRIG] = "trig",
	[HWTD_PK_CS_ASYNC] = "cs.async",
	[HWTD_PK_CS_INFO] = "cs.info",
	[HWTD_PK_CS_TRACE_ON] = "cs.on",
	[HWTD_PK_CS_ATOM] = "cs.atom",
	[HWTD_PK_CS_ADDRESS] = "cs.address",
	[HWTD_PK_CS_CONTEXT] = "cs.context",
	[HWTD_PK_CS_ISYNC] = "cs.isync",
	[HWTD_PK_CS_EXCEPTION] = "cs.exception",
	[HWTD_PK_CS_EXCEPTION_RETURN] = "cs.eret",
	[HWTD_PK_CS_TIMESTAMP] = "cs.timestamp",
	[HWTD_PK_CS_CYCLES] = "cs.cycles",
	[HWTD_PK_CS_EVENT] = "cs.event",
	[HWTD_PK_CS_SPECULATION] = "cs.speculation",
	[HWTD_PK_CS_Q] = "cs.q",
	[HWTD_PK_CS_OVERFLOW] = "cs.overflow",
	[HWTD_PK_CS_DISCARD] = "cs.discard",
	[HWTD_PK_CS_TRANSACTION] = "cs.transaction",
	[HWTD_PK_CS_MARKER] = "cs.marker",
	[HWTD_PK_CS_CHANNEL] = "cs.channel",
	[HWTD_PK_CS_DATA] = "cs.data",
	[HWTD_PK_CS_TRIGGER] = "cs.trigger",
	[HWTD_PK_CS_IGNORE] = "cs.ignore",
	[HWTD_PK_CS_OTHER] = "cs.other",
	[HWTD_PK_CS_FRAME] = "cs.frame",
	[HWTD_PK_SPE_PAD] = "spe.pad",
	[HWTD_PK_SPE_END] = "spe.end",
	[HWTD_PK_SPE_ALIGNMENT] = "spe.alignment",
	[HWTD_PK_SPE_PC] = "spe.pc",
	[HWTD_PK_SPE_TARGET] = "spe.target",
	[HWTD_PK_SPE_VA] = "spe.va",
	[HWTD_PK_SPE_PA] = "spe.pa",
	[HWTD_PK_SPE_PREV_TARGET] = "spe.previous",
	[HWTD_PK_SPE_ADDRESS] = "spe.address",
	[HWTD_PK_SPE_TOTAL] = "spe.total",
	[HWTD_PK_SPE_ISSUE] = "spe.issue",
	[HWTD_PK_SPE_XLAT] = "spe.xlat",
	[HWTD_PK_SPE_COUNTER] = "spe.counter",
	[HWTD_PK_SPE_CONTEXT] = "spe.context",
	[HWTD_PK_SPE_TIMESTAMP] = "spe.timestamp",
	[HWTD_PK_SPE_EVENTS] = "spe.events",
	[HWTD_PK_SPE_SOURCE] = "spe.source",
	[HWTD_PK_SPE_OPERATION] = "spe.operation",
	[HWTD_PK_SPE_UNKNOWN] = "spe.unknown",
};

const char *
hwtd_packet_kind_name(uint32_t kind)
{
	if (kind >= HWTD_PACKET_KINDS || names[kind] == NULL)
		return (names[HWTD_PK_UNKNOWN]);
	return (names[kind]);
}

/* A text that grows in a buffer that may be too small. */
struct text {
	char *buf;
	size_t room;
	size_t n;
};

static void add(struct text *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
add(struct text *t, const char *fmt, ...)
{
	const size_t at = t->n < t->room ? t->n : t->room;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->buf != NULL ? t->buf + at : NULL, t->room - at, fmt,
	    ap);
	va_end(ap);
	if (n > 0)
		t->n += (size_t)n;
}

static void
add_flag(struct text *t, const struct hwtd_packet *p, unsigned int flag,
    const char *word)
{
	if ((p->flags & flag) != 0)
		add(t, "%s%s", t->n > 0 ? ", " : "", word);
}

/* The outcomes, oldest first. */
static void
add_outcomes(struct text *t, const struct hwtd_packet *p)
{
	char outcomes[64];
	int n = 0;

	for (uint32_t i = p->count < 64 ? p->count : 64; i-- > 0;)
		outcomes[n++] = (p->value >> i & 1) != 0 ? '!' : '.';
	add(t, "%.*s", n, outcomes);
}

/* The payload with its digits; those above are not in the packet. */
static void
add_payload(struct text *t, const struct hwtd_packet *p)
{
	/* Digits by IPBytes. */
	static const uint8_t digits[8] = { 0, 4, 8, 12, 12, 0, 16, 0 };
	const unsigned int n = digits[p->count & 7];
	uint64_t value = p->value;

	if (p->count == 3) {
		value = (uint64_t)((int64_t)(value << 16) >> 16);
		add(t, "3: %016" PRIx64, value);
		return;
	}
	add(t, "%" PRIu32 ": %.*s", p->count, (int)(16 - n),
	    "????????????????");
	if (n > 0)
		add(t, "%0*" PRIx64, (int)n, value);
}

/* C-states count from C0: state `n` is C(n + 1). */
static unsigned int
c_state(uint64_t n)
{
	return ((unsigned int)(n + 1) & 15);
}

static const char *
event_name(uint32_t type)
{
	static const char *const types[] = { NULL, "intr", "iret", "smi",
		"rsm", "sipi", "init", "vmentry", "vmexit", "vmexit_intr",
		"shutdown", NULL, "uintr", "uiret", "swintr", "syscall" };

	return (type < sizeof(types) / sizeof(types[0]) ? types[type] : NULL);
}

/* Interrupts and their like have a vector. */
static bool
has_vector(uint32_t type)
{
	return (type == 1 || type == 5 || type == 9 || type == 12 ||
	    type == 14);
}

static const char *
data_name(uint32_t type)
{
	static const char *const types[] = { "cr2", "vmxq", "vmxr" };

	return (type < sizeof(types) / sizeof(types[0]) ? types[type] : NULL);
}

static void
add_event(struct text *t, const struct hwtd_packet *p)
{
	const bool data = p->kind == HWTD_PK_PT_EVD;
	const char *name = data ? data_name(p->count) : event_name(p->count);

	add(t, "%" PRIu32, p->count);
	if (data)
		add(t, ": %" PRIx64, p->value);
	else if (has_vector(p->count))
		add(t, ": %" PRIu64, p->value);
	add_flag(t, p, HWTD_PKF_FUP_FOLLOWS, "ip");
	if (name != NULL)
		add(t, "  type %s", name);
}

static void
add_wakes(struct text *t, const struct hwtd_packet *p)
{
	add_flag(t, p, HWTD_PKF_WAKE_INTERRUPT, "int");
	add_flag(t, p, HWTD_PKF_WAKE_STORE, "st");
	add_flag(t, p, HWTD_PKF_WAKE_AUTONOMOUS, "hw");
	add(t, "%sc%u, c%u", t->n > 0 ? ": " : "", c_state(p->value),
	    c_state(p->count));
}

static void
add_fields(struct text *t, const struct hwtd_packet *p)
{
	switch (p->kind) {
	case HWTD_PK_PT_TNT_8:
	case HWTD_PK_PT_TNT_64:
		add_outcomes(t, p);
		break;
	case HWTD_PK_PT_TIP:
	case HWTD_PK_PT_TIP_PGE:
	case HWTD_PK_PT_TIP_PGD:
	case HWTD_PK_PT_FUP:
		add_payload(t, p);
		break;
	case HWTD_PK_PT_MODE_EXEC:
		if ((p->value & 2) != 0)
			add(t, "cs.d");
		if ((p->value & 1) != 0)
			add(t, "%scs.l", t->n > 0 ? ", " : "");
		if ((p->value & 4) != 0)
			add(t, "%sif", t->n > 0 ? ", " : "");
		break;
	case HWTD_PK_PT_MODE_TSX:
		if ((p->value & 1) != 0)
			add(t, "intx");
		if ((p->value & 2) != 0)
			add(t, "%sabrt", t->n > 0 ? ", " : "");
		break;
	case HWTD_PK_PT_PIP:
		add(t, "%" PRIx64, p->value);
		add_flag(t, p, HWTD_PKF_NON_ROOT, "nr");
		break;
	case HWTD_PK_PT_TMA:
		add(t, "%" PRIx64 ", %" PRIx32, p->value, p->count);
		break;
	case HWTD_PK_PT_PTW:
		add(t, "%d: %" PRIx64, p->count == 8, p->value);
		add_flag(t, p, HWTD_PKF_FUP_FOLLOWS, "ip");
		break;
	case HWTD_PK_PT_EXSTOP:
	case HWTD_PK_PT_BEP:
		add_flag(t, p, HWTD_PKF_FUP_FOLLOWS, "ip");
		break;
	case HWTD_PK_PT_MWAIT:
		add(t, "%08" PRIx64 ", %08" PRIx32, p->value, p->count);
		break;
	case HWTD_PK_PT_PWRE:
		add(t, "c%u.%u", c_state(p->value), c_state(p->count));
		add_flag(t, p, HWTD_PKF_HARDWARE, "hw");
		break;
	case HWTD_PK_PT_PWRX:
		add_wakes(t, p);
		break;
	case HWTD_PK_PT_BBP:
		add(t, "%" PRIx64 ", %" PRIu32 " bytes", p->value, p->count);
		break;
	case HWTD_PK_PT_BIP:
		add(t, "%" PRIx32 ": %" PRIx64, p->count, p->value);
		break;
	case HWTD_PK_PT_CFE:
	case HWTD_PK_PT_EVD:
		add_event(t, p);
		break;
	case HWTD_PK_PT_TRIG:
		add(t, "%" PRIx64, p->value);
		add_flag(t, p, HWTD_PKF_FUP_FOLLOWS, "ip");
		add_flag(t, p, HWTD_PKF_TRIG_MULTIPLE, "mult");
		if ((p->flags & HWTD_PKF_TRIG_COUNT) != 0)
			add(t, ", icnt: %" PRIu32, p->count);
		break;
	case HWTD_PK_PT_VMCS:
	case HWTD_PK_PT_TSC:
	case HWTD_PK_PT_MTC:
	case HWTD_PK_PT_CYC:
	case HWTD_PK_PT_CBR:
	case HWTD_PK_PT_MNT:
		add(t, "%" PRIx64, p->value);
		break;
	case HWTD_PK_PT_PAD:
		if (p->count > 1)
			add(t, "%" PRIu32 " times", p->count);
		break;
	default:
		if (p->kind >= HWTD_PK_SPE_PAD) {
			char words[HWTDI_SPE_WORDS];

			hwtdi_packet_text_spe(p, words);
			add(t, "%s", words);
		} else if (p->kind >= HWTD_PK_CS_ASYNC) {
			char words[HWTDI_PACKET_WORDS];

			hwtdi_packet_text_cs(p, words);
			add(t, "%s", words);
		}
		if (p->kind < HWTD_PK_PT_PAD)
			add(t, "%" PRIu64 " bytes",
			    p->kind == HWTD_PK_LOST ? p->value : p->bytes);
		if (p->kind == HWTD_PK_LOST && p->count != 0)
			add(t, ", %s", hwtd_gap_reason_name(p->count));
		break;
	}
}

size_t
hwtd_packet_text(const struct hwtd_packet *packet, char *buf, size_t n)
{
	struct text t = { buf, buf != NULL ? n : 0, 0 };

	if (t.room > 0)
		buf[0] = '\0';
	if (packet != NULL)
		add_fields(&t, packet);
	return (t.n);
}
