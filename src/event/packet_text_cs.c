/*
 * Packets of CoreSight in words.
 */
#include "event/packet_text_cs.h"

#include <hwtdecode/event.h>
#include <inttypes.h>

#include "event/words.h"

static const char *
isa_name(uint32_t count)
{
	switch (count >> HWTD_PKC_ISA_SHIFT & 0xf) {
	case HWTD_ISA_A32:
		return ("a32");
	case HWTD_ISA_T32:
		return ("t32");
	case HWTD_ISA_T32EE:
		return ("t32ee");
	case HWTD_ISA_A64:
		return ("a64");
	default:
		return (NULL);
	}
}

/* What a bit set of HWTD_PKC_* says. */
static void
add_context(struct hwtdi_words *w, const struct hwtd_packet *p)
{
	static const char *const securities[] = { "secure", "non-secure",
		"root", "realm" };
	static const char *const reasons[] = { "periodic", "trace on",
		"overflow", "debug" };
	const uint32_t reason = p->count >> HWTD_PKC_REASON_SHIFT & 0xf;
	const uint32_t security = (p->count & HWTD_PKC_SECURITY) >>
	    HWTD_PKC_SECURITY_SHIFT;

	if (isa_name(p->count) != NULL)
		hwtdi_words_add(w, "%s", isa_name(p->count));
	if (p->kind == HWTD_PK_CS_ISYNC && reason < 4)
		hwtdi_words_add(w, "%s", reasons[reason]);
	if ((p->flags & HWTD_PKF_CONTEXT) == 0)
		return;
	/* Levels are told by ETMv4 and ETE, and by nobody else. */
	if (p->code >> 16 == HWTD_CS_ETMV4)
		hwtdi_words_add(w, "el%" PRIu32 ", %u-bit",
		    p->count & HWTD_PKC_LEVEL,
		    (p->count & HWTD_PKC_64_BIT) != 0 ? 64u : 32u);
	hwtdi_words_add(w, "%s", securities[security]);
	if ((p->count & HWTD_PKC_HYP) != 0)
		hwtdi_words_add(w, "hyp");
	if ((p->count & HWTD_PKC_CONTEXT_ID) != 0)
		hwtdi_words_add(w, "context %" PRIx32, (uint32_t)p->value);
	if ((p->count & HWTD_PKC_VMID) != 0)
		hwtdi_words_add(w, "vmid %" PRIx32,
		    (uint32_t)(p->value >> 32));
}

static void
add_atoms(struct hwtdi_words *w, const struct hwtd_packet *p)
{
	char outcomes[65];
	int n = 0;

	for (uint32_t i = p->count < 64 ? p->count : 64; i-- > 0;)
		outcomes[n++] = (p->value >> i & 1) != 0 ? 'E' : 'N';
	if (n > 0)
		hwtdi_words_add(w, "%.*s", n, outcomes);
}

/* Software of STM, ITM and ETE. */
static void
add_data(struct hwtdi_words *w, const struct hwtd_packet *p)
{
	if (p->count == 0)
		return;
	hwtdi_words_add(w, "%0*" PRIx64,
	    (int)(p->count < 64 ? p->count / 4 : 16), p->value);
	switch (p->code >> 16) {
	case HWTD_CS_STM:
		hwtdi_words_add(w, "master %" PRIx32 ", channel %" PRIx32,
		    p->aux & 0xffff, p->aux >> 16);
		break;
	case HWTD_CS_ITM:
		hwtdi_words_add(w, "source %" PRIu32, p->aux);
		break;
	case HWTD_CS_ETMV4:
		hwtdi_words_add(w, "el%" PRIu32, p->aux);
		break;
	default:
		break;
	}
}

static void
add_elements(struct hwtdi_words *w, const struct hwtd_packet *p)
{
	if (p->value != 0)
		hwtdi_words_add(w, "%" PRIu64 " elements", p->value);
	if (p->count != 0)
		hwtdi_words_add(w, "mispredicted");
}

static void
add_fields(struct hwtdi_words *w, const struct hwtd_packet *p)
{
	switch (p->kind) {
	case HWTD_PK_CS_ATOM:
		add_atoms(w, p);
		break;
	case HWTD_PK_CS_ADDRESS:
		add_context(w, p);
		if ((p->flags & HWTD_PKF_EXCEPTION) != 0)
			hwtdi_words_add(w, "exception %" PRIu64, p->value);
		break;
	case HWTD_PK_CS_CONTEXT:
	case HWTD_PK_CS_ISYNC:
		add_context(w, p);
		break;
	case HWTD_PK_CS_CYCLES:
		if ((p->flags & HWTD_PKF_COUNT) != 0)
			hwtdi_words_add(w, "%" PRIu64 " cycles", p->value);
		if (p->count != 0)
			hwtdi_words_add(w, "%" PRIu32 " elements", p->count);
		break;
	case HWTD_PK_CS_SPECULATION:
		add_elements(w, p);
		break;
	case HWTD_PK_CS_Q:
		if ((p->flags & HWTD_PKF_COUNT) != 0)
			hwtdi_words_add(w, "%" PRIu64 " instructions",
			    p->value);
		add_context(w, p);
		break;
	case HWTD_PK_CS_DATA:
		add_data(w, p);
		break;
	case HWTD_PK_CS_INFO:
	case HWTD_PK_CS_CHANNEL:
	case HWTD_PK_CS_EVENT:
		hwtdi_words_add(w, "%" PRIx64, p->value);
		break;
	case HWTD_PK_CS_EXCEPTION:
		hwtdi_words_add(w, "%" PRIu64, p->value);
		break;
	case HWTD_PK_CS_MARKER:
	case HWTD_PK_CS_TRIGGER:
	case HWTD_PK_CS_OVERFLOW:
	case HWTD_PK_CS_OTHER:
		if (p->value != 0)
			hwtdi_words_add(w, "%" PRIx64, p->value);
		break;
	default:
		break;
	}
	if ((p->flags & HWTD_PKF_STAMP) != 0)
		hwtdi_words_add(w, "time %" PRIx64, p->stamp);
	if ((p->flags & HWTD_PKF_CYCLES) != 0)
		hwtdi_words_add(w, "%" PRIu32 " cycles", p->aux);
}

void
hwtdi_packet_text_cs(const struct hwtd_packet *packet,
    char text[HWTDI_PACKET_WORDS])
{
	struct hwtdi_words w = { text, HWTDI_PACKET_WORDS, false };

	text[0] = '\0';
	add_fields(&w, packet);
}
