/*
 * What a kind of packet says nothing in is null in columns, and never 0.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <hwtdecode/hwtdecode.h>

#include "support/arrow_rows.h"
#include "support/memory_trace.h"

/* Codes of packets whose protocol decides. */
#define ETMV3 ((uint32_t)HWTD_CS_ETMV3 << 16 | 13)
#define ITM ((uint32_t)HWTD_CS_ITM << 16 | 7)
#define STM ((uint32_t)HWTD_CS_STM << 16 | 7)
#define ETE_NUMBERED ((uint32_t)HWTD_CS_ETMV4 << 16 | 0x20)
#define ETE_TIME ((uint32_t)HWTD_CS_ETMV4 << 16 | 0x88)
#define ITE ((uint32_t)HWTD_CS_ETMV4 << 16 | 9)

#define ISA_A64 ((uint32_t)HWTD_ISA_A64 << HWTD_PKC_ISA_SHIFT)
#define WITH_ID (ISA_A64 | HWTD_PKC_CONTEXT_ID)
#define WITH_VMID (ISA_A64 | HWTD_PKC_VMID)

/* A packet, and which of value, count, stamp and aux it has: "vcsa". */
struct fact {
	uint32_t kind;
	const char *known;
	uint64_t value;
	uint32_t count;
	uint32_t flags;
	uint32_t code;
	uint64_t stamp;
	uint32_t aux;
};

static const struct fact facts[] = {
	{ HWTD_PK_UNKNOWN, "", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_UNSYNCED, "", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_TRUNCATED, "", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_LOST, "vc", 12, 0, 0, 0, 0, 0 },

	{ HWTD_PK_PT_PAD, "c", 0, 3, 0, 0, 0, 0 },
	{ HWTD_PK_PT_PSB, "", 0, 0, HWTD_PKF_STATUS, 0, 0, 0 },
	{ HWTD_PK_PT_PSBEND, "", 0, 0, HWTD_PKF_STATUS, 0, 0, 0 },
	{ HWTD_PK_PT_OVF, "", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_PT_STOP, "", 0, 0, 0, 0, 0, 0 },
	/* Not one was taken. */
	{ HWTD_PK_PT_TNT_8, "vc", 0, 4, 0, 0, 0, 0 },
	{ HWTD_PK_PT_TNT_64, "vc", 5, 4, 0, 0, 0, 0 },
	/* The payload has no bytes, or they are 0. */
	{ HWTD_PK_PT_TIP, "c", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_PT_TIP, "vc", 0, 1, HWTD_PKF_IP, 0, 0, 0 },
	{ HWTD_PK_PT_TIP_PGE, "vc", 7, 6, HWTD_PKF_IP, 0, 0, 0 },
	{ HWTD_PK_PT_TIP_PGD, "c", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_PT_FUP, "vc", 9, 3, HWTD_PKF_IP, 0, 0, 0 },
	{ HWTD_PK_PT_MODE_EXEC, "v", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_PT_MODE_TSX, "v", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_PT_PIP, "v", 0x1000, 0, HWTD_PKF_NON_ROOT, 0, 0, 0 },
	{ HWTD_PK_PT_VMCS, "v", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_PT_TSC, "v", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_PT_TMA, "vc", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_PT_MTC, "v", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_PT_CYC, "v", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_PT_CBR, "v", 22, 0, 0, 0, 0, 0 },
	{ HWTD_PK_PT_MNT, "v", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_PT_PTW, "vc", 0, 8, 0, 0, 0, 0 },
	{ HWTD_PK_PT_EXSTOP, "", 0, 0, HWTD_PKF_FUP_FOLLOWS, 0, 0, 0 },
	{ HWTD_PK_PT_MWAIT, "vc", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_PT_PWRE, "vc", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_PT_PWRX, "vc", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_PT_BBP, "vc", 0, 8, 0, 0, 0, 0 },
	{ HWTD_PK_PT_BIP, "vc", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_PT_BEP, "", 0, 0, 0, 0, 0, 0 },
	/* Interrupts have a vector, returns from them have none. */
	{ HWTD_PK_PT_CFE, "vc", 0, 1, 0, 0, 0, 0 },
	{ HWTD_PK_PT_CFE, "c", 0, 2, 0, 0, 0, 0 },
	{ HWTD_PK_PT_CFE, "vc", 8, 31, 0, 0, 0, 0 },
	{ HWTD_PK_PT_EVD, "vc", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_PT_TRIG, "v", 0, 0, HWTD_PKF_TRIG_MULTIPLE, 0, 0, 0 },
	{ HWTD_PK_PT_TRIG, "vc", 1, 0, HWTD_PKF_TRIG_COUNT, 0, 0, 0 },

	{ HWTD_PK_CS_ASYNC, "", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_CS_INFO, "v", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_CS_INFO, "vc", 1, 256, 0, 0, 0, 0 },
	{ HWTD_PK_CS_TRACE_ON, "", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_CS_ATOM, "vc", 0, 1, 0, 0, 0, 0 },
	{ HWTD_PK_CS_ATOM, "vca", 0, 1, HWTD_PKF_CYCLES, 0, 0, 0 },
	/* In no context yet; of an ISA; in one with an ID of 0; an exception. */
	{ HWTD_PK_CS_ADDRESS, "", 0, 0, HWTD_PKF_IP, 0, 0, 0 },
	{ HWTD_PK_CS_ADDRESS, "c", 0, ISA_A64, HWTD_PKF_IP, 0, 0, 0 },
	{ HWTD_PK_CS_ADDRESS, "c", 0, ISA_A64, HWTD_PKF_CONTEXT, 0, 0, 0 },
	{ HWTD_PK_CS_ADDRESS, "vc", 0, WITH_ID, HWTD_PKF_CONTEXT, 0, 0, 0 },
	{ HWTD_PK_CS_ADDRESS, "v", 0, 0, HWTD_PKF_EXCEPTION, 0, 0, 0 },
	{ HWTD_PK_CS_CONTEXT, "", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_CS_CONTEXT, "c", 0, 0, HWTD_PKF_CONTEXT, 0, 0, 0 },
	{ HWTD_PK_CS_CONTEXT, "vc", 0, WITH_VMID, HWTD_PKF_CONTEXT, 0, 0, 0 },
	{ HWTD_PK_CS_ISYNC, "c", 0, 0, HWTD_PKF_CONTEXT, 0, 0, 0 },
	{ HWTD_PK_CS_ISYNC, "vca", 0, WITH_ID,
	    HWTD_PKF_CONTEXT | HWTD_PKF_CYCLES, 0, 0, 4 },
	{ HWTD_PK_CS_EXCEPTION, "v", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_CS_EXCEPTION_RETURN, "", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_CS_TIMESTAMP, "s", 0, 0, HWTD_PKF_STAMP, 0, 0, 0 },
	{ HWTD_PK_CS_TIMESTAMP, "sa", 0, 0, HWTD_PKF_STAMP | HWTD_PKF_CYCLES,
	    0, 9, 0 },
	{ HWTD_PK_CS_TIMESTAMP, "cs", 0, 14, HWTD_PKF_STAMP, ITM, 5, 0 },
	{ HWTD_PK_CS_CYCLES, "", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_CS_CYCLES, "v", 0, 0, HWTD_PKF_COUNT, 0, 0, 0 },
	{ HWTD_PK_CS_CYCLES, "c", 0, 2, 0, 0, 0, 0 },
	{ HWTD_PK_CS_EVENT, "v", 1, 0, 0, 0, 0, 0 },
	{ HWTD_PK_CS_SPECULATION, "vc", 3, 0, 0, 0, 0, 0 },
	{ HWTD_PK_CS_Q, "", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_CS_Q, "v", 0, 0, HWTD_PKF_COUNT, 0, 0, 0 },
	{ HWTD_PK_CS_Q, "c", 0, ISA_A64, HWTD_PKF_IP, 0, 0, 0 },
	{ HWTD_PK_CS_OVERFLOW, "", 0, 0, 0, ITM, 0, 0 },
	{ HWTD_PK_CS_OVERFLOW, "v", 0, 0, 0, STM, 0, 0 },
	{ HWTD_PK_CS_DISCARD, "", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_CS_TRANSACTION, "", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_CS_MARKER, "v", 0, 0, 0, ETE_NUMBERED, 0, 0 },
	{ HWTD_PK_CS_MARKER, "", 0, 0, 0, ETE_TIME, 0, 0 },
	{ HWTD_PK_CS_MARKER, "s", 0, 0, HWTD_PKF_STAMP, STM, 7, 0 },
	{ HWTD_PK_CS_CHANNEL, "v", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_CS_DATA, "vca", 0, 8, 0, STM, 0, 0 },
	{ HWTD_PK_CS_DATA, "vcsa", 0, 8, HWTD_PKF_STAMP, STM, 0, 0 },
	{ HWTD_PK_CS_DATA, "vca", 0, 32, 0, ITM, 0, 0 },
	{ HWTD_PK_CS_DATA, "vca", 0, 64, 0, ITE, 0, 2 },
	{ HWTD_PK_CS_DATA, "vc", 0, 32, 0, ETMV3, 0, 0 },
	{ HWTD_PK_CS_DATA, "", 0, 0, 0, ETMV3, 0, 0 },
	{ HWTD_PK_CS_TRIGGER, "", 0, 0, 0, ETMV3, 0, 0 },
	{ HWTD_PK_CS_TRIGGER, "v", 0, 0, 0, STM, 0, 0 },
	{ HWTD_PK_CS_IGNORE, "", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_CS_OTHER, "", 0, 0, 0, ETMV3, 0, 0 },
	{ HWTD_PK_CS_OTHER, "v", 0, 0, 0, STM, 0, 0 },
	{ HWTD_PK_CS_FRAME, "", 0, 0, 0, 0, 0, 0 },

	/* The header of padding is 0. */
	{ HWTD_PK_SPE_PAD, "ca", 0, 5, 0, 0, 0, 0 },
	{ HWTD_PK_SPE_END, "a", 0, 0, 0, 0, 0, 1 },
	{ HWTD_PK_SPE_ALIGNMENT, "a", 0, 0, 0, 0, 0, 0 },
	{ HWTD_PK_SPE_PC, "vca", 0, 0, HWTD_PKF_IP, 0, 0, 0xb0 },
	{ HWTD_PK_SPE_TARGET, "vca", 0, 1, HWTD_PKF_IP, 0, 0, 0xb1 },
	{ HWTD_PK_SPE_VA, "vca", 0, 2, HWTD_PKF_IP, 0, 0, 0xb2 },
	{ HWTD_PK_SPE_PA, "vca", 0, 3, 0, 0, 0, 0xb3 },
	{ HWTD_PK_SPE_PREV_TARGET, "vca", 0, 4, HWTD_PKF_IP, 0, 0, 0xb4 },
	{ HWTD_PK_SPE_ADDRESS, "vca", 0, 7, 0, 0, 0, 0xb7 },
	{ HWTD_PK_SPE_TOTAL, "vca", 0, 0, 0, 0, 0, 0x98 },
	{ HWTD_PK_SPE_ISSUE, "vca", 0, 1, 0, 0, 0, 0x99 },
	{ HWTD_PK_SPE_XLAT, "vca", 0, 2, 0, 0, 0, 0x9a },
	{ HWTD_PK_SPE_COUNTER, "vca", 0, 3, 0, 0, 0, 0x9b },
	{ HWTD_PK_SPE_CONTEXT, "vca", 0, 0, 0, 0, 0, 0x64 },
	{ HWTD_PK_SPE_TIMESTAMP, "vsa", 0, 0, HWTD_PKF_STAMP, 0, 0, 0x71 },
	/* Nobody, or who wrote them. */
	{ HWTD_PK_SPE_EVENTS, "va", 0, 0, 0, 0, 0, 0x42 },
	{ HWTD_PK_SPE_EVENTS, "vcsa", 1, 2, 0, 0, 0x410fd0c0, 0x52 },
	{ HWTD_PK_SPE_SOURCE, "va", 0, 0, 0, 0, 0, 0x43 },
	{ HWTD_PK_SPE_SOURCE, "vsa", 0, 0, 0, 0, 0x410fd0c0, 0x43 },
	{ HWTD_PK_SPE_OPERATION, "vca", 0, 0, 0, 0, 0, 0x48 },
	{ HWTD_PK_SPE_UNKNOWN, "va", 0, 0, 0, 0, 0, 0x8f },
	/* One that a newer library has is of no kind. */
	{ HWTD_PACKET_KINDS, "", 0, 0, 0, 0, 0, 0 },
};

#define N_FACTS (sizeof(facts) / sizeof(facts[0]))

/* What is read instead of the stream: all facts, in batches of 50. */
#define BATCH 50
static struct hwtd_packet made[BATCH];
static size_t n_told;

int __wrap_hwtdi_packets_read_some(struct hwtd_packets *packets,
    struct hwtd_packet_batch *batch, struct hwtd_error *err);

int
__wrap_hwtdi_packets_read_some(struct hwtd_packets *packets,
    struct hwtd_packet_batch *batch, struct hwtd_error *err)
{
	size_t n = 0;

	(void)packets;
	(void)err;
	for (; n < BATCH && n_told < N_FACTS; n++, n_told++) {
		const struct fact *f = &facts[n_told];

		made[n] = (struct hwtd_packet){
			.value = f->value,
			.count = f->count,
			.kind = (uint16_t)f->kind,
			.flags = (uint16_t)f->flags,
			.code = f->code,
			.stamp = f->stamp,
			.aux = f->aux,
			.bytes = 1,
		};
	}
	batch->packets = made;
	batch->stride = sizeof(made[0]);
	batch->n = n;
	return (n > 0 ? HWTD_OK : HWTD_END);
}

static struct hwtd_trace *
make_trace(void)
{
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	pt_psb(&p);
	(void)mt_stream(trace, &p, NULL);
	pt_free(&p);
	return (mt_seal(trace));
}

static struct ArrowArrayStream
open_columns(struct hwtd_trace *trace)
{
	static const char *const names[] = { "value", "count", "stamp",
		"aux" };
	const struct hwtd_export_options o = { .size = sizeof(o),
		.names = names,
		.n_names = 4 };
	struct ArrowArrayStream stream;
	struct hwtd_packets *packets;

	n_told = 0;
	assert_int_equal(hwtd_packets_open(trace, NULL, &packets, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_packets_export(packets, &o, &stream, NULL),
	    HWTD_OK);
	return (stream);
}

/* As the letters of a fact. */
static void
read_known(const struct ArrowSchema *schema, const struct ArrowArray *array,
    int64_t row, const struct fact *f, char out[5])
{
	const uint64_t numbers[4] = { f->value, f->count, f->stamp, f->aux };
	size_t n = 0;

	for (int i = 0; i < 4; i++) {
		const struct ar_value v = ar_value(schema->children[i],
		    array->children[i], row);

		if (!v.known)
			continue;
		out[n++] = "vcsa"[i];
		assert_int_equal(v.number, numbers[i]);
	}
	out[n] = '\0';
}

static void
what_a_kind_does_not_say_is_null(void **state)
{
	struct hwtd_trace *trace = make_trace();
	struct ArrowArrayStream stream = open_columns(trace);
	struct ArrowSchema schema;
	struct ArrowArray array;
	bool kinds[HWTD_PACKET_KINDS + 1] = { false };
	size_t at = 0;

	(void)state;
	assert_int_equal(stream.get_schema(&stream, &schema), 0);
	for (int i = 0; i < 4; i++)
		assert_true((schema.children[i]->flags &
				ARROW_FLAG_NULLABLE) != 0);
	while (stream.get_next(&stream, &array) == 0 &&
	    array.release != NULL) {
		for (int64_t i = 0; i < array.length; i++, at++) {
			const struct fact *f = &facts[at];
			char known[5];

			assert_true(at < N_FACTS);
			kinds[f->kind] = true;
			read_known(&schema, &array, i, f, known);
			if (strcmp(known, f->known) != 0)
				fail_msg("fact %zu, %s: '%s', not '%s'", at,
				    hwtd_packet_kind_name(f->kind), known,
				    f->known);
		}
		array.release(&array);
	}
	assert_int_equal(at, N_FACTS);
	/* Numbers 4 to 7 are of none. */
	for (uint32_t i = 0; i < HWTD_PACKET_KINDS; i++)
		assert_true(kinds[i] ||
		    (i > HWTD_PK_LOST && i < HWTD_PK_PT_PAD));
	schema.release(&schema);
	stream.release(&stream);
	hwtd_trace_close(trace);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_kind_does_not_say_is_null),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
