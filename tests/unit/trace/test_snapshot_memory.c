/*
 * Memory dumps of snapshots, snapshots that are saved, and no memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/saved_trace.h"
#include "support/snapshot_folder.h"

/* The byte that code of a level sees; 0: nothing. */
static char
seen_at(const struct hwtd_trace *trace, uint8_t level, uint64_t address)
{
	const struct hwtd_exec_context who = { .size = sizeof(who),
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.cpu = HWTD_NO_ID,
		.flags = HWTD_CTXF_LEVEL,
		.level = level };
	struct hwtd_mapping m = { .size = sizeof(m) };
	char byte = 0;
	size_t n;

	if (hwtd_space_lookup_context(trace, &who, NULL, address, &m) !=
	    HWTD_OK)
		return (0);
	if (hwtd_trace_read_code(trace, m.section, address, &byte, 1, &n) !=
	    HWTD_OK)
		return (0);
	return (byte);
}

static struct hwtd_trace_info
info_of(const struct hwtd_trace *trace)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };

	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	return (info);
}

static void
dumps_are_mapped_once(void **state)
{
	struct snapshot_folder *f = *state;
	struct hwtd_trace *trace = snapshot_must_open(f);
	struct hwtd_record r = { .size = sizeof(r) };

	/* Both cores have the same. */
	assert_int_equal(info_of(trace).n_images, 1);
	assert_int_equal(info_of(trace).n_records, 1);
	assert_int_equal(hwtd_trace_record(trace, 0, &r), HWTD_OK);
	assert_int_equal(r.type, HWTD_REC_MMAP);
	assert_int_equal(r.addr, 0x1000);
	assert_int_equal(r.len, 8);
	assert_int_equal(seen_at(trace, 0, 0x1000), 'm');
	assert_int_equal(seen_at(trace, 1, 0x1007), 'o');
	assert_int_equal(seen_at(trace, 2, 0x1007), 'o');
	assert_int_equal(seen_at(trace, 1, 0x1008), 0);
	assert_int_equal(seen_at(trace, 1, 0xfff), 0);
	hwtd_trace_close(trace);
}

#define DUMP "[dump]\nfile=mem.bin\n"

static void
dumps_have_offsets_lengths_and_spaces(void **state)
{
	struct snapshot_folder *f = *state;
	struct hwtd_trace *trace;

	snapshot_put(f, "cpu_0.ini",
	    "[device]\nname=c\nclass=core\n"
	    /* To the end of the file, and beyond it. */
	    DUMP "address=0x100\noffset=0xa\n" /* "a core" */
	    DUMP "address=0x200\nlength=0x100\n" /* 16 bytes are there */
	    DUMP "address=0x400\nlength=4\nspace=N\n" /* "memo" */
	    DUMP "address=0x400\noffset=7\nlength=4\nspace=el2n\n" /* "of a" */
	    DUMP "address=0x500\nlength=4\nspace=H\n" DUMP
	    "address=0x600\nlength=4\nspace=EL9\n"
	    "[dump.text]\nfile=mem.bin\naddress=0xffffffffffffffff\n"
	    "length=1\n"
	    /* The later one is seen. */
	    DUMP "address=0x202\noffset=15\nlength=1\n" /* "e" */);
	trace = snapshot_must_open(f);
	assert_int_equal(info_of(trace).n_images, 1);
	assert_int_equal(seen_at(trace, 1, 0x100), 'a');
	assert_int_equal(seen_at(trace, 1, 0x105), 'e');
	assert_int_equal(seen_at(trace, 1, 0x106), 0);
	assert_int_equal(seen_at(trace, 1, 0x20f), 'e');
	assert_int_equal(seen_at(trace, 1, 0x210), 0);
	assert_int_equal(seen_at(trace, 1, 0x202), 'e');
	assert_int_equal(seen_at(trace, 1, 0x203), 'o');
	assert_int_equal(seen_at(trace, 1, 0x400), 'm');
	assert_int_equal(seen_at(trace, 2, 0x400), 'o');
	assert_int_equal(seen_at(trace, 2, 0x500), 'm');
	assert_int_equal(seen_at(trace, 1, 0x500), 0);
	assert_int_equal(seen_at(trace, 3, 0x600), 'm');
	assert_int_equal(seen_at(trace, 0, UINT64_MAX), 'm');
	assert_non_null(strstr(f->log,
	    "cpu_0.ini: line 32: space 'EL9' is not known"));
	hwtd_trace_close(trace);
}

static void
a_dump_that_is_not_there_is_a_missing_image(void **state)
{
	struct snapshot_folder *f = *state;
	struct hwtd_image_info image = { .size = sizeof(image) };
	struct hwtd_mapping m = { .size = sizeof(m) };
	struct hwtd_trace *trace;
	char path[300];

	snapshot_put(f, "cpu_0.ini",
	    "[device]\nname=c\nclass=core\n[dump]\nfile=sub/gone.bin\n"
	    "address=0x2000\nlength=0x3000\n[dump]\nfile=sub/gone.bin\n"
	    "address=0x9000\n");
	trace = snapshot_must_open(f);
	assert_int_equal(info_of(trace).n_damages, 0);
	assert_int_equal(hwtd_trace_image(trace, 0, &image), HWTD_OK);
	assert_int_equal(image.state, HWTD_IMAGE_MISSING);
	assert_string_equal(image.path,
	    temp_dir_file(&f->dir, "sub/gone.bin", path));
	assert_int_equal(hwtd_space_lookup(trace, HWTD_NO_ID, NULL, 0x4fff,
			     &m),
	    HWTD_OK);
	assert_string_equal(m.path, path);
	assert_int_equal(m.length, 0x3000);
	assert_int_equal(seen_at(trace, 1, 0x4fff), 0);
	assert_int_equal(hwtd_space_lookup(trace, HWTD_NO_ID, NULL, 0x9000,
			     &m),
	    HWTD_OK);
	assert_non_null(strstr(f->log, "sub/gone.bin: No such file"));
	hwtd_trace_close(trace);
	/* All of the second core's dump is there. */
	assert_null(strstr(f->log, "mem.bin"));
}

static void
a_saved_snapshot_is_the_same(void **state)
{
	struct snapshot_folder *f = *state;
	struct hwtd_trace *trace = snapshot_must_open(f);
	struct temp_dir other;
	char path[300];

	temp_dir_create(&other);
	(void)temp_dir_file(&other, "a.hwt", path);
	st_save(trace, path, HWTD_SAVE_IMAGES);
	hwtd_trace_close(trace);
	assert_string_equal(f->log, "");
	trace = st_open(path, "/nowhere");
	snapshot_assert_all(trace);
	assert_string_equal(info_of(trace).format, "hwt");
	assert_string_equal(info_of(trace).origin, "made by a test");
	assert_int_equal(seen_at(trace, 1, 0x1007), 'o');
	hwtd_trace_close(trace);
	temp_dir_remove(&other);
}

/* A snapshot cannot have bytes of any file of this machine saved. */
static void
what_lies_elsewhere_is_not_saved(void **state)
{
	const struct hwtd_save_options all = { .size = sizeof(all),
		.flags = HWTD_SAVE_IMAGES | HWTD_SAVE_ANY_FILE };
	struct snapshot_folder *f = *state;
	struct temp_dir other;
	struct hwtd_trace *trace;
	char secret[300], path[300], text[900];

	temp_dir_create(&other);
	write_file(temp_dir_file(&other, "secret", secret), "secret", 6);
	(void)temp_dir_file(&other, "a.hwt", path);
	(void)snprintf(text, sizeof(text),
	    "[device]\nname=cpu_0\nclass=core\n[dump]\nfile=%s\n"
	    "address=0x8000\n",
	    secret);
	snapshot_put(f, "cpu_0.ini", text);
	trace = snapshot_must_open(f);
	assert_int_equal(seen_at(trace, 1, 0x8000), 's');
	f->log[0] = '\0';
	st_save(trace, path, HWTD_SAVE_IMAGES);
	assert_non_null(strstr(f->log, "its bytes are not saved"));
	hwtd_trace_close(trace);
	trace = st_open(path, "/nowhere");
	assert_int_equal(seen_at(trace, 1, 0x8000), 0);
	assert_int_equal(seen_at(trace, 1, 0x1000), 'm');
	hwtd_trace_close(trace);
	/* A buffer. */
	(void)snprintf(text, sizeof(text),
	    "[trace_buffers]\nbuffers=b\n[b]\nfile=../%s\nformat=coresight\n",
	    strrchr(other.path, '/') + 1);
	memcpy(text + strlen(text) - strlen("\nformat=coresight\n"),
	    "/secret\nformat=coresight\n",
	    sizeof("/secret\nformat=coresight\n"));
	snapshot_put(f, "trace.ini", text);
	trace = snapshot_must_open(f);
	assert_int_equal(hwtd_trace_save(trace, path, NULL, &f->err),
	    HWTD_E_STATE);
	assert_non_null(strstr(f->err.message, "/secret"));
	assert_int_equal(hwtd_trace_save(trace, path, &all, &f->err), HWTD_OK);
	hwtd_trace_close(trace);
	temp_dir_remove(&other);
}

static void
no_memory_is_no_crash(void **state)
{
	struct snapshot_folder *f = *state;
	int rc = HWTD_E_NOMEM;

	snapshot_put(f, "cpu_0.ini",
	    SNAPSHOT_CORE0 "[dump2]\nfile=gone\naddress=1\n");
	snapshot_put(f, "trace.ini",
	    "[trace_buffers]\nbuffers=b,x\n[b]\nfile=etb.bin,gone\n"
	    "format=coresight\n[x]\nfile=mem.bin\nformat=source_data\n"
	    "[source_buffers]\nETM_1=b\n");
	for (int for_ever = 0; for_ever < 2; for_ever++) {
		rc = HWTD_E_NOMEM;
		for (uint64_t n = 1; rc != HWTD_OK; n++) {
			struct hwtd_trace *trace = NULL;
			uint64_t now = 1;

			failing_allocator_arm(&f->allocator, n, for_ever != 0);
			rc = snapshot_try_open(f, NULL, &trace);
			failing_allocator_arm(&f->allocator, 0, false);
			if (rc != HWTD_OK && rc != HWTD_E_NOMEM)
				fail_msg("request %d: %d %s", (int)n, rc,
				    f->err.message);
			hwtd_trace_close(trace);
			hwtd_context_memory(f->ctx, &now, NULL);
			assert_int_equal(now, 0);
			if (rc == HWTD_OK)
				print_message("%d requests\n", (int)n - 1);
		}
	}
}

int
main(void)
{
#define T(name)                                                               \
	cmocka_unit_test_setup_teardown(name, snapshot_set_up,                \
	    snapshot_tear_down)
	const struct CMUnitTest tests[] = {
		T(dumps_are_mapped_once),
		T(dumps_have_offsets_lengths_and_spaces),
		T(a_dump_that_is_not_there_is_a_missing_image),
		T(a_saved_snapshot_is_the_same),
		T(what_lies_elsewhere_is_not_saved),
		T(no_memory_is_no_crash),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
