/*
 * ETMv4 and ETE packets by their headers are those that OpenCSD reads: every
 * header, behind a synchronisation, with every kind of byte behind it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/coresight/cs_skim.h"
#include "support/memory_trace.h"
#include "support/packet_rows.h"

#define HEAD 15
#define PAYLOAD 16

static const uint8_t head[HEAD] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80,
	/* Trace Info, with nothing in it. */
	0x01, 0x01, 0x00 };

/* The packet behind the head, as the library reads it. */
static struct hwtd_packet
read_packet(const struct hwtd_coresight_config *config, uint8_t header,
    uint8_t payload)
{
	uint8_t bytes[HEAD + 1 + PAYLOAD];
	struct hwtd_stream_desc d = { .size = sizeof(d),
		.tech = HWTD_TECH_CORESIGHT,
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.coresight = config };
	struct hwtd_trace *trace = mt_create();
	struct hwtd_packet found = { .bytes = 0 };
	struct pk_rows rows = { .n = 0 };
	uint32_t id;

	memcpy(bytes, head, HEAD);
	bytes[HEAD] = header;
	memset(bytes + HEAD + 1, payload, PAYLOAD);
	assert_int_equal(hwtd_trace_add_stream(trace, &d, &id, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_add_bytes(trace, id, bytes, sizeof(bytes),
			     NULL),
	    HWTD_OK);
	trace = mt_seal(trace);
	pk_rows(trace, NULL, &rows);
	for (size_t i = 0; i < rows.n; i++)
		if (rows.at[i].stream_off == HEAD)
			found = rows.at[i];
	pk_free(&rows);
	hwtd_trace_close(trace);
	return (found);
}

/* Behind the head the address before is 0. */
static bool
check_address(const uint8_t *bytes, const struct hwtd_packet *row)
{
	const uint64_t high = 0x1234567800000000;
	uint64_t address = 1, other = 0;
	const size_t length = hwtdi_cs_skim_long_address(bytes, 1 + PAYLOAD, 0,
	    &address);

	if (length == 0)
		return (false);
	assert_int_equal(row->kind, HWTD_PK_CS_ADDRESS);
	assert_int_equal(length, row->bytes);
	assert_int_equal(address, row->ip);
	assert_int_equal(hwtdi_cs_skim_long_address(bytes, length - 1, 0,
			     &address),
	    0);
	assert_int_equal(hwtdi_cs_skim_long_address(bytes, length, high,
			     &other),
	    length);
	assert_int_equal(other, length < 9 ? row->ip | high : row->ip);
	return (true);
}

static void
check_headers(const struct hwtd_coresight_config *config)
{
	static const uint8_t payloads[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	unsigned int n_atoms = 0, n_addresses = 0, n_long = 0;

	for (unsigned int header = 0; header < 256; header++)
		for (size_t i = 0; i < sizeof(payloads); i++) {
			uint8_t bytes[1 + PAYLOAD];
			const struct hwtd_packet row = read_packet(config,
			    (uint8_t)header, payloads[i]);
			const bool is_atom = row.kind == HWTD_PK_CS_ATOM;
			const unsigned int
			    atoms = hwtdi_cs_skim_atoms((uint8_t)header);
			size_t length;

			bytes[0] = (uint8_t)header;
			memset(bytes + 1, payloads[i], PAYLOAD);
			length = hwtdi_cs_skim_address(bytes, sizeof(bytes));
			n_long += check_address(bytes, &row);
			assert_int_equal(atoms, is_atom ? row.count : 0);
			n_atoms += is_atom;
			if (is_atom)
				assert_int_equal(row.bytes, 1);
			if (length != 0) {
				n_addresses++;
				assert_int_equal(row.kind, HWTD_PK_CS_ADDRESS);
				assert_int_equal(length, row.bytes);
				/* Not if a byte of it is not there. */
				assert_int_equal(hwtdi_cs_skim_address(bytes,
						     length - 1),
				    0);
			}
			if (row.kind != HWTD_PK_UNKNOWN &&
			    row.kind != HWTD_PK_TRUNCATED)
				assert_true(hwtdi_cs_skim_least((uint8_t)
						    header) <=
				    (row.bytes > 0 ? row.bytes : 1));
		}
	assert_int_equal(n_atoms, 64 * sizeof(payloads));
	assert_int_equal(n_addresses, 9 * sizeof(payloads));
	/* Contexts of two payloads have no IDs. */
	assert_int_equal(n_long, 4 * sizeof(payloads) + 4 * 2);
}

static void
headers_of_etmv4(void **state)
{
	const struct hwtd_coresight_config config = { .size = sizeof(config),
		.protocol = HWTD_CS_ETMV4,
		.arch = HWTD_ARM_ARCH_V8_3,
		.configr = 0x1,
		.idr = { 0x28000ea1, 0x4100f443, 0x488 } };

	(void)state;
	check_headers(&config);
}

static void
headers_of_ete(void **state)
{
	const struct hwtd_coresight_config config = { .size = sizeof(config),
		.protocol = HWTD_CS_ETE,
		.arch = HWTD_ARM_ARCH_V8_3,
		.devarch = 0x47705a13,
		.configr = 0x1,
		.idr = { 0x28000ea1, 0x4100fff3, 0x488 } };

	(void)state;
	check_headers(&config);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_of_etmv4),
		cmocka_unit_test(headers_of_ete),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
