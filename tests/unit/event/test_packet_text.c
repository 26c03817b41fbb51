/*
 * Packets in words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hwtdecode/hwtdecode.h>

#include "support/random_packets.h"

struct text_case {
	unsigned int kind;
	uint64_t value;
	uint32_t count;
	unsigned int flags;
	const char *name;
	const char *text;
};

#define FUP HWTD_PKF_FUP_FOLLOWS

static const struct text_case cases[] = {
	{ HWTD_PK_UNKNOWN, 0, 0, 0, "unknown", "5 bytes" },
	{ HWTD_PK_UNSYNCED, 0, 0, 0, "unsynced", "5 bytes" },
	{ HWTD_PK_TRUNCATED, 0, 0, 0, "truncated", "5 bytes" },
	{ HWTD_PK_LOST, 0x100000000, 0, 0, "lost", "4294967296 bytes" },
	{ HWTD_PK_LOST, 5, HWTD_GAP_FILE_DAMAGED, 0, "lost",
	    "5 bytes, file-damaged" },
	{ HWTD_PK_PT_PAD, 0, 1, 0, "pad", "" },
	{ HWTD_PK_PT_PAD, 0, 3, 0, "pad", "3 times" },
	{ HWTD_PK_PT_PSB, 0, 0, 0, "psb", "" },
	{ HWTD_PK_PT_PSBEND, 0, 0, 0, "psbend", "" },
	{ HWTD_PK_PT_OVF, 0, 0, 0, "ovf", "" },
	{ HWTD_PK_PT_STOP, 0, 0, 0, "stop", "" },
	{ HWTD_PK_PT_TNT_8, 6, 3, 0, "tnt.8", "!!." },
	{ HWTD_PK_PT_TNT_64, 1, 4, 0, "tnt.64", "...!" },
	{ HWTD_PK_PT_TNT_64, 0, 0, 0, "tnt.64", "" },
	{ HWTD_PK_PT_TIP, 0, 0, 0, "tip", "0: ????????????????" },
	{ HWTD_PK_PT_TIP, 0x12, 1, 0, "tip", "1: ????????????0012" },
	{ HWTD_PK_PT_TIP_PGE, 0x12, 2, 0, "tip.pge", "2: ????????00000012" },
	{ HWTD_PK_PT_TIP_PGD, 0x800000000012, 3, 0, "tip.pgd",
	    "3: ffff800000000012" },
	{ HWTD_PK_PT_FUP, 0x800000000012, 4, 0, "fup", "4: ????800000000012" },
	{ HWTD_PK_PT_FUP, 0x12, 6, 0, "fup", "6: 0000000000000012" },
	{ HWTD_PK_PT_MODE_EXEC, 0, 0, 0, "mode.exec", "" },
	{ HWTD_PK_PT_MODE_EXEC, 7, 0, 0, "mode.exec", "cs.d, cs.l, if" },
	{ HWTD_PK_PT_MODE_TSX, 0, 0, 0, "mode.tsx", "" },
	{ HWTD_PK_PT_MODE_TSX, 3, 0, 0, "mode.tsx", "intx, abrt" },
	{ HWTD_PK_PT_PIP, 0x1000, 0, 0, "pip", "1000" },
	{ HWTD_PK_PT_PIP, 0x1000, 0, HWTD_PKF_NON_ROOT, "pip", "1000, nr" },
	{ HWTD_PK_PT_VMCS, 0x1000, 0, 0, "vmcs", "1000" },
	{ HWTD_PK_PT_TSC, 0xabc, 0, 0, "tsc", "abc" },
	{ HWTD_PK_PT_TMA, 0xabc, 0x1ff, 0, "tma", "abc, 1ff" },
	{ HWTD_PK_PT_MTC, 0xab, 0, 0, "mtc", "ab" },
	{ HWTD_PK_PT_CYC, UINT64_MAX, 0, 0, "cyc", "ffffffffffffffff" },
	{ HWTD_PK_PT_CBR, 20, 0, 0, "cbr", "14" },
	{ HWTD_PK_PT_MNT, 0xab, 0, 0, "mnt", "ab" },
	{ HWTD_PK_PT_PTW, 0xab, 4, 0, "ptw", "0: ab" },
	{ HWTD_PK_PT_PTW, 0xab, 8, FUP, "ptw", "1: ab, ip" },
	{ HWTD_PK_PT_EXSTOP, 0, 0, 0, "exstop", "" },
	{ HWTD_PK_PT_EXSTOP, 0, 0, FUP, "exstop", "ip" },
	{ HWTD_PK_PT_MWAIT, 0x12, 1, 0, "mwait", "00000012, 00000001" },
	{ HWTD_PK_PT_PWRE, 0, 1, 0, "pwre", "c1.2" },
	{ HWTD_PK_PT_PWRE, 15, 15, HWTD_PKF_HARDWARE, "pwre", "c0.0, hw" },
	{ HWTD_PK_PT_PWRX, 1, 2, HWTD_PKF_WAKE_INTERRUPT, "pwrx",
	    "int: c2, c3" },
	{ HWTD_PK_PT_PWRX, 1, 2,
	    HWTD_PKF_WAKE_STORE | HWTD_PKF_WAKE_AUTONOMOUS, "pwrx",
	    "st, hw: c2, c3" },
	{ HWTD_PK_PT_PWRX, 1, 2, 0, "pwrx", "c2, c3" },
	{ HWTD_PK_PT_BBP, 4, 8, 0, "bbp", "4, 8 bytes" },
	{ HWTD_PK_PT_BIP, 0xab, 3, 0, "bip", "3: ab" },
	{ HWTD_PK_PT_BEP, 0, 0, FUP, "bep", "ip" },
	{ HWTD_PK_PT_CFE, 14, 1, FUP, "cfe", "1: 14, ip  type intr" },
	{ HWTD_PK_PT_CFE, 14, 2, 0, "cfe", "2  type iret" },
	{ HWTD_PK_PT_CFE, 14, 31, 0, "cfe", "31" },
	{ HWTD_PK_PT_EVD, 0xab, 0, 0, "evd", "0: ab  type cr2" },
	{ HWTD_PK_PT_EVD, 0xab, 63, 0, "evd", "63: ab" },
	{ HWTD_PK_PT_TRIG, 0xa1, 0, 0, "trig", "a1" },
	{ HWTD_PK_PT_TRIG, 0xa1, 23,
	    FUP | HWTD_PKF_TRIG_MULTIPLE | HWTD_PKF_TRIG_COUNT, "trig",
	    "a1, ip, mult, icnt: 23" },
};

static struct hwtd_packet
packet_of(const struct text_case *c)
{
	struct hwtd_packet p = {
		.value = c->value,
		.bytes = 5,
		.count = c->count,
		.kind = (uint16_t)c->kind,
		.flags = (uint16_t)c->flags,
	};

	return (p);
}

static void
every_kind_has_its_name_and_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct hwtd_packet p = packet_of(&cases[i]);
		char buf[128];

		assert_string_equal(hwtd_packet_kind_name(p.kind),
		    cases[i].name);
		assert_int_equal(hwtd_packet_text(&p, buf, sizeof(buf)),
		    strlen(cases[i].text));
		assert_string_equal(buf, cases[i].text);
	}
}

/* The text in a buffer of `n` bytes that is exactly as large. */
static void
check_cut(const struct hwtd_packet *p, const char *whole, size_t n)
{
	char *buf = malloc(n == 0 ? 1 : n);

	assert_non_null(buf);
	buf[0] = 'x';
	assert_int_equal(hwtd_packet_text(p, buf, n), strlen(whole));
	if (n == 0) {
		assert_int_equal(buf[0], 'x');
	} else {
		assert_true(strlen(buf) == n - 1 || n > strlen(whole));
		assert_memory_equal(buf, whole, strlen(buf));
	}
	free(buf);
}

static void
a_small_buffer_has_the_begin_of_the_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct hwtd_packet p = packet_of(&cases[i]);
		const char *text = cases[i].text;

		for (size_t n = 0; n <= strlen(text) + 2; n++)
			check_cut(&p, text, n);
		assert_int_equal(hwtd_packet_text(&p, NULL, 0), strlen(text));
		assert_int_equal(hwtd_packet_text(&p, NULL, 7), strlen(text));
	}
}

static void
other_kinds_are_unknown_and_have_no_words(void **state)
{
	static const uint32_t others[] = { 4, 7, HWTD_PACKET_KINDS, 0xffff,
		UINT32_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_string_equal(hwtd_packet_kind_name(others[i]),
		    "unknown");
	}
	assert_int_equal(hwtd_packet_text(NULL, NULL, 0), 0);
}

/* Fields that no packet has must not lead astray. */
static void
any_struct_has_a_short_text(void **state)
{
	(void)state;
	for (unsigned int kind = 0; kind <= HWTD_PACKET_KINDS + 1; kind++) {
		struct hwtd_packet p;
		/* All events of SPE at once are the longest. */
		char buf[768];

		memset(&p, 0xff, sizeof(p));
		p.kind = (uint16_t)kind;
		assert_true(hwtd_packet_text(&p, buf, sizeof(buf)) <
		    sizeof(buf));
	}
}

static void
random_packets_have_short_texts(void **state)
{
	struct random_packets r = { .n = 0 };

	(void)state;
	random_packets_make(&r, 8, 5000, 100);
	for (size_t i = 0; i < r.n; i++) {
		char whole[128];

		assert_true(hwtd_packet_text(&r.rows[i], whole,
				sizeof(whole)) < sizeof(whole));
		check_cut(&r.rows[i], whole, i % 20);
	}
	random_packets_free(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_has_its_name_and_words),
		cmocka_unit_test(a_small_buffer_has_the_begin_of_the_text),
		cmocka_unit_test(other_kinds_are_unknown_and_have_no_words),
		cmocka_unit_test(any_struct_has_a_short_text),
		cmocka_unit_test(random_packets_have_short_texts),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
