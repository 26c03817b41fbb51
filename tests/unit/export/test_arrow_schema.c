/*
 * Schemas: names, types, units and what may be unknown, as users' queries know
 * them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/arrow_rows.h"

/* Name, format, "?" where nulls are possible, unit. */
static const char *const want = "time_ns L? ns\n"
				"stream I?\n"
				"stream_off L? bytes\n"
				"kind c[u]\n"
				"ip L?\n"
				"target L?\n"
				"insns I instructions\n"
				"bytes I bytes\n"
				"branch c[u]?\n"
				"taken b?\n"
				"isa c[u]?\n"
				"value L?\n"
				"section I?\n"
				"context I\n"
				"time_estimated b?\n"
				"status b\n"
				"speculative b\n"
				"async b\n"
				"resumed b\n"
				"stopped b\n"
				"pid I?\n"
				"tid I?\n"
				"cpu I?\n"
				"cr3 L?\n"
				"vmcs L?\n"
				"guest b?\n"
				"level C?\n"
				"security C?\n"
				"contextidr L?\n"
				"vmid L?\n"
				"mode_transaction b?\n"
				"mode_aborted b?\n"
				"mode_interrupts b?\n"
				"gap_reason c[u]?\n"
				"gap_first L? bytes\n"
				"gap_end L? bytes\n"
				"gap_ip_before L?\n"
				"gap_ip_after L?\n"
				"gap_addr L?\n"
				"gap_time_before_ns L? ns\n"
				"gap_time_after_ns L? ns\n"
				"gap_file_off L? bytes\n"
				"gap_file_bytes L? bytes\n"
				"gap_text u?\n"
				"marker_source c[u]?\n"
				"marker_size I? bytes\n"
				"marker_payload L?\n"
				"marker_master I?\n"
				"marker_channel I?\n"
				"marker_flags I?\n"
				"marker_multiple b?\n"
				"power_what c[u]?\n"
				"power_hints I?\n"
				"power_extensions I?\n"
				"power_state C?\n"
				"power_sub_state C?\n"
				"power_by_hardware b?\n"
				"power_wake C?\n"
				"async_type c[u]?\n"
				"async_number I?\n"
				"async_fault_addr L?\n"
				"async_return_addr L?\n"
				"async_exit_reason L?\n"
				"async_exit_qualification L?\n"
				"sample_bytes L? bytes\n"
				"sample_flags I?\n"
				"sample_bad b?\n"
				"sample_op_class c[u]?\n"
				"sample_op c[u]?\n"
				"sample_op_raw C?\n"
				"sample_op_flags I?\n"
				"sample_store b?\n"
				"sample_conditional b?\n"
				"sample_indirect b?\n"
				"sample_vector_bits I? bits\n"
				"sample_events L?\n"
				"sample_source L?\n"
				"sample_lat_total I? cycles\n"
				"sample_lat_total_saturated b?\n"
				"sample_lat_issue I? cycles\n"
				"sample_lat_issue_saturated b?\n"
				"sample_lat_xlat I? cycles\n"
				"sample_lat_xlat_saturated b?\n"
				"sample_pc_el C?\n"
				"sample_pc_security c[u]?\n"
				"sample_target L?\n"
				"sample_target_el C?\n"
				"sample_target_security c[u]?\n"
				"sample_prev_target L?\n"
				"sample_prev_target_el C?\n"
				"sample_prev_target_security c[u]?\n"
				"sample_va L?\n"
				"sample_va_tag C?\n"
				"sample_pa L?\n"
				"sample_pa_tag C?\n"
				"sample_pa_security c[u]?\n"
				"sample_pa_checked b?\n"
				"sample_context_el1 I?\n"
				"sample_context_el2 I?\n"
				"sample_count L? ticks\n";

static void
add(char *out, size_t n, const char *text)
{
	strncat(out, text, n - strlen(out) - 1);
}

static void
describe(const struct ArrowSchema *schema, char *out, size_t n)
{
	char unit[200];

	out[0] = '\0';
	for (int64_t i = 0; i < schema->n_children; i++) {
		const struct ArrowSchema *field = schema->children[i];

		add(out, n, field->name);
		add(out, n, " ");
		add(out, n, field->format);
		if (field->dictionary != NULL) {
			add(out, n, "[");
			add(out, n, field->dictionary->format);
			add(out, n, "]");
		}
		if (field->flags == ARROW_FLAG_NULLABLE)
			add(out, n, "?");
		if (ar_metadata(field, "unit", unit) != NULL) {
			add(out, n, " ");
			add(out, n, unit);
		}
		add(out, n, "\n");
	}
}

static struct ArrowSchema
schema_of(uint64_t columns)
{
	struct hwtd_trace *trace = mt_seal(mt_create());
	struct ArrowArrayStream stream = ar_export(mt_events(trace, NULL),
	    columns, 0);
	struct ArrowSchema schema;

	assert_int_equal(stream.get_schema(&stream, &schema), 0);
	stream.release(&stream);
	hwtd_trace_close(trace);
	return (schema);
}

static void
names_types_and_units_are_those_of_before(void **state)
{
	struct ArrowSchema schema = schema_of(0);
	char got[4096], text[200];

	(void)state;
	describe(&schema, got, sizeof(got));
	assert_string_equal(got, want);
	ar_assert_schema(&schema, UINT64_MAX);
	assert_string_equal(schema.name, "");
	assert_string_equal(ar_metadata(&schema, "libhwtdecode", text),
	    hwtd_version());
	schema.release(&schema);
}

static void
chosen_columns_keep_their_order(void **state)
{
	struct ArrowSchema schema = schema_of(HWTD_COL_PID | HWTD_COL_KIND |
	    HWTD_COL_MODES | HWTD_COL_TIME_NS);
	char got[4096];

	(void)state;
	describe(&schema, got, sizeof(got));
	assert_string_equal(got,
	    "time_ns L? ns\nkind c[u]\npid I?\nmode_transaction b?\n"
	    "mode_aborted b?\nmode_interrupts b?\n");
	schema.release(&schema);
}

/* Users' code stores them. */
static void
bits_of_columns_are_pinned(void **state)
{
	uint64_t all = 0;

	(void)state;
	for (size_t i = 0; ar_column(UINT64_MAX, i) != NULL; i++)
		all |= ar_column(UINT64_MAX, i)->column;
	assert_true(all == 0x3f3fffffff);
	assert_int_equal(HWTD_COL_TIME_NS, 1);
	assert_int_equal(HWTD_COL_VALUE, 0x800);
	assert_int_equal(HWTD_COL_STOPPED, 0x80000);
	assert_int_equal(HWTD_COL_VMID, 0x20000000);
	assert_true(HWTD_COL_ASYNCS == 0x1000000000);
	assert_true(HWTD_COL_SAMPLES == 0x2000000000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_types_and_units_are_those_of_before),
		cmocka_unit_test(chosen_columns_keep_their_order),
		cmocka_unit_test(bits_of_columns_are_pinned),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
