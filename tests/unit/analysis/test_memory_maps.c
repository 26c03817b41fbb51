/*
 * Samples in what is mapped under a name that is no file of code: memory that the
 * kernel, a program or a compiler at run time made.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/mapped_trace.h"
#include "support/memory_samples.h"
#include "support/spe_bytes.h"
#include "support/temp_dir.h"

#define PID 5
#define BASE UINT64_C(0xffff80000000)
#define STEP UINT64_C(0x100000)

/* As Linux names them, and perf what has no name. */
static const char *const names[] = {
	"[vdso]",
	"//anon",
	"/memfd:x (deleted)",
	"/memfd:there (deleted)",
	"[heap]",
	"/dev/zero (deleted)",
	"/tmp/perf-5.map",
	"/tmp/empty",
};

#define N_NAMES (sizeof(names) / sizeof(names[0]))
#define N (N_NAMES + 1)

/* A sample in each mapping, and one in a program whose symbols are known. */
static void
fill(uint8_t *bytes)
{
	for (size_t i = 0; i < N_NAMES; i++)
		spe_slot(bytes + i * SPE_SLOT, BASE + i * STEP + 0x40,
		    1000 + i);
	/* One of them branches: what kind that is would be in the code. */
	bytes[19] = 0x4a;
	spe_slot(bytes + N_NAMES * SPE_SLOT, 0x400104, 2000);
}

static struct hwtd_trace *
make(const struct temp_dir *dir)
{
	struct hwtd_trace *trace = mr_create(dir->path);
	const struct hwtd_stream_desc desc = { .size = sizeof(desc),
		.tech = HWTD_TECH_SPE,
		.cpu = 1,
		.pid = PID,
		.tid = PID };
	uint8_t bytes[N * SPE_SLOT];
	uint32_t id;

	ms_add_program(trace);
	assert_int_equal(hwtd_trace_add_stream(trace, &desc, &id, NULL),
	    HWTD_OK);
	for (size_t i = 0; i < N_NAMES; i++) {
		struct hwtd_record r = mr_record(HWTD_REC_MMAP, HWTD_NO_ID,
		    BASE + i * STEP, 0x1000);

		r.name = names[i];
		mr_add(trace, &r);
	}
	fill(bytes);
	mt_extent(trace, id, HWTD_EXTENT_NEW, bytes, sizeof(bytes));
	return (mt_seal(trace));
}

/* Files of these names, of which none is a program. */
static void
add_files(const struct temp_dir *dir)
{
	static const char text[] = "ffff80000000 40 jitted\n";
	char path[300];

	write_file(temp_dir_file(dir, "[vdso]", path), text, sizeof(text));
	write_file(temp_dir_file(dir, "memfd:there (deleted)", path), text,
	    sizeof(text));
	write_file(temp_dir_file(dir, "perf-5.map", path), text, sizeof(text));
	write_file(temp_dir_file(dir, "empty", path), text, 0);
}

static struct hwtd_memory_row
row_at(struct hwtd_memory *memory, uint64_t address)
{
	struct hwtd_memory_row r;

	for (uint64_t i = 0; i < N; i++) {
		r = ms_sorted(memory, HWTD_MEMORY_INSN, HWTD_MEMORY_BY_KEY, i);
		if (r.address == address)
			return (r);
	}
	fail_msg("no row of %#llx", (unsigned long long)address);
	return (r);
}

static void
assert_told(struct hwtd_trace *trace)
{
	struct hwtd_memory *memory = ms_open(trace,
	    1u << HWTD_MEMORY_INSN | 1u << HWTD_MEMORY_SYMBOL);
	struct hwtd_memory_info info = { .size = sizeof(info) };
	struct mt_rows rows = { 0 };
	struct hwtd_memory_row r;

	mt_rows(trace, NULL, &rows);
	assert_int_equal(rows.n, N);
	for (size_t i = 0; i < N; i++) {
		assert_int_equal(rows.at[i].row.kind, HWTD_EV_SAMPLE);
		ms_add(memory, &rows.at[i].row, &rows.at[i].detail.sample);
	}
	assert_int_equal(hwtd_memory_info(memory, &info), HWTD_OK);
	assert_int_equal(info.samples, N);
	assert_int_equal(info.without_symbol, N_NAMES);
	assert_int_equal(info.rows[HWTD_MEMORY_INSN], N);
	/* Not one less symbol for that. */
	r = row_at(memory, 0x400104);
	assert_string_equal(r.image, "dir/prog");
	assert_string_equal(r.symbol, "alpha");
	assert_int_equal(r.symbol_off, 4);
	for (size_t i = 0; i < N_NAMES; i++) {
		r = row_at(memory, BASE + i * STEP + 0x40);
		assert_int_equal(r.samples, 1);
		assert_null(r.symbol);
		assert_string_equal(r.image, names[i]);
	}
	mt_rows_free(&rows);
	hwtd_memory_close(memory);
	hwtd_trace_close(trace);
}

static void
samples_where_no_file_is_have_the_name_of_the_mapping(void **state)
{
	struct temp_dir dir;

	(void)state;
	temp_dir_create(&dir);
	assert_told(make(&dir));
	temp_dir_remove(&dir);
}

static void
files_that_are_no_program_give_no_symbol(void **state)
{
	struct temp_dir dir;

	(void)state;
	temp_dir_create(&dir);
	add_files(&dir);
	assert_told(make(&dir));
	temp_dir_remove(&dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    samples_where_no_file_is_have_the_name_of_the_mapping),
		cmocka_unit_test(files_that_are_no_program_give_no_symbol),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
