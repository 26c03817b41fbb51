/*
 * Packets of Arm SPE in words.
 */
#include "event/packet_text_spe.h"

#include <hwtdecode/sample.h>
#include <inttypes.h>

#include "decode/spe/spe_set.h"
#include "event/words.h"

static const char *
security_of(uint64_t payload)
{
	return (hwtd_security_name(hwtdi_spe_security(payload)));
}

static void
add_events(struct hwtdi_words *w, const struct hwtd_packet *p)
{
	for (uint32_t bit = 0; bit < 64; bit++) {
		const char *name = hwtd_sample_event_name((uint32_t)p->stamp,
		    p->count, bit);

		if ((p->value >> bit & 1) == 0)
			continue;
		if (name != NULL)
			hwtdi_words_add(w, "%s", name);
		else
			hwtdi_words_add(w, "bit %" PRIu32, bit);
	}
}

static void
add_operation(struct hwtdi_words *w, const struct hwtd_packet *p)
{
	static const struct {
		uint16_t flag;
		const char *name;
	} flags[] = {
		{ HWTD_OPF_CONDITIONAL, "conditional" },
		{ HWTD_OPF_FLOATING_POINT, "fp" },
		{ HWTD_OPF_SIMD, "simd" },
		{ HWTD_OPF_PREDICATED, "predicated" },
		{ HWTD_OPF_GATHER_SCATTER, "gather-scatter" },
		{ HWTD_OPF_ATOMIC, "atomic" },
		{ HWTD_OPF_EXCLUSIVE, "exclusive" },
		{ HWTD_OPF_ACQUIRE_RELEASE, "acquire-release" },
		{ HWTD_OPF_GCS_COMMON, "common" },
		{ HWTD_OPF_INDIRECT, "indirect" },
		{ HWTD_OPF_GCS, "gcs" },
		{ HWTD_OPF_LINK, "link" },
		{ HWTD_OPF_RETURN, "return" },
		{ HWTD_OPF_NO_LINK_RETURN, "no link or return" },
	};
	struct hwtdi_spe_operation op;

	hwtdi_spe_operation_read((uint8_t)p->count, (uint8_t)p->value, &op);
	if (op.op_class == HWTD_OP_CLASS_MEMORY)
		hwtdi_words_add(w, "%s",
		    (op.flags & HWTD_OPF_STORE) != 0 ? "store" : "load");
	else if (op.op != HWTD_OP_BRANCH &&
	    op.op_class != HWTD_OP_CLASS_RESERVED)
		hwtdi_words_add(w, "%s", hwtd_op_class_name(op.op_class));
	if (op.op == HWTD_OP_RESERVED)
		hwtdi_words_add(w, "reserved %02" PRIx64, p->value & 0xff);
	else if (op.op != HWTD_OP_OTHER)
		hwtdi_words_add(w, "%s", hwtd_op_name(op.op));
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if ((op.flags & flags[i].flag) != 0)
			hwtdi_words_add(w, "%s", flags[i].name);
	if (op.vector_bits != 0)
		hwtdi_words_add(w, "%" PRIu32 " bits", op.vector_bits);
}

static void
add_source(struct hwtdi_words *w, const struct hwtd_packet *p)
{
	const char *name = hwtd_sample_source_name((uint32_t)p->stamp,
	    p->value);

	hwtdi_words_add(w, "%" PRIu64, p->value);
	if (name != NULL)
		hwtdi_words_add(w, "%s", name);
}

static void
add_physical(struct hwtdi_words *w, const struct hwtd_packet *p)
{
	hwtdi_words_add(w, "%" PRIx64, p->value & HWTDI_SPE_ADDRESS_MASK);
	hwtdi_words_add(w, "%s", security_of(p->value));
	if ((p->value >> 62 & 1) != 0)
		hwtdi_words_add(w, "checked, tag %x",
		    (unsigned int)(p->value >> 56 & 15));
}

static void
add_fields(struct hwtdi_words *w, const struct hwtd_packet *p)
{
	switch (p->kind) {
	case HWTD_PK_SPE_PAD:
		if (p->count > 1)
			hwtdi_words_add(w, "%" PRIu32 " times", p->count);
		break;
	case HWTD_PK_SPE_ALIGNMENT:
		hwtdi_words_add(w, "%" PRIu32 " bytes", p->bytes);
		break;
	case HWTD_PK_SPE_PC:
	case HWTD_PK_SPE_TARGET:
	case HWTD_PK_SPE_PREV_TARGET:
		hwtdi_words_add(w, "el%u", hwtdi_spe_level(p->value));
		hwtdi_words_add(w, "%s", security_of(p->value));
		break;
	case HWTD_PK_SPE_VA:
		hwtdi_words_add(w, "tag %02x", (unsigned int)(p->value >> 56));
		break;
	case HWTD_PK_SPE_PA:
		add_physical(w, p);
		break;
	case HWTD_PK_SPE_ADDRESS:
		hwtdi_words_add(w, "index %" PRIu32, p->count);
		hwtdi_words_add(w, "%" PRIx64, p->value);
		break;
	case HWTD_PK_SPE_TOTAL:
	case HWTD_PK_SPE_ISSUE:
	case HWTD_PK_SPE_XLAT:
		hwtdi_words_add(w, "%" PRIu64 " cycles", p->value);
		break;
	case HWTD_PK_SPE_COUNTER:
		hwtdi_words_add(w, "index %" PRIu32, p->count);
		hwtdi_words_add(w, "%" PRIu64, p->value);
		break;
	case HWTD_PK_SPE_CONTEXT:
		hwtdi_words_add(w, "el%u", (unsigned int)(p->count & 3) + 1);
		hwtdi_words_add(w, "%" PRIx64, p->value);
		break;
	case HWTD_PK_SPE_TIMESTAMP:
		hwtdi_words_add(w, "%" PRIu64, p->stamp);
		break;
	case HWTD_PK_SPE_EVENTS:
		add_events(w, p);
		break;
	case HWTD_PK_SPE_SOURCE:
		add_source(w, p);
		break;
	case HWTD_PK_SPE_OPERATION:
		add_operation(w, p);
		break;
	case HWTD_PK_SPE_UNKNOWN:
		hwtdi_words_add(w, "header %02" PRIx32, p->aux);
		hwtdi_words_add(w, "%" PRIx64, p->value);
		break;
	default:
		break;
	}
}

void
hwtdi_packet_text_spe(const struct hwtd_packet *packet,
    char text[HWTDI_SPE_WORDS])
{
	struct hwtdi_words w = { text, HWTDI_SPE_WORDS, false };

	text[0] = '\0';
	add_fields(&w, packet);
}
