/*
 * A stream of 1 GiB is written and read in little memory.
 *
 * A child process does it, so that what the test itself holds does not count.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/sample_trace.h"
#include "support/temp_dir.h"
#include "trace/container/hwt_writer.h"
#include "trace/trace_model.h"

#define MIB ((size_t)1 << 20)
#define PEAK_KIB 65536

static bool
small(void)
{
	return (getenv("HWTDECODE_TEST_SMALL") != NULL);
}

static size_t
n_blocks(void)
{
	return (small() ? 16 : 1024);
}

/* Block number `i`: 1 MiB that says where it is, and a little noise. */
static void
make_block(uint8_t *block, size_t i)
{
	memset(block, (int)(i & 0xff), MIB);
	for (size_t at = 0; at < MIB; at += 4096)
		memcpy(block + at, &i, sizeof(i));
	random_bytes(i, block + 100, 2000);
}

static int
write_big(struct hwtd_context *ctx, const char *path, uint8_t *block)
{
	const struct hwtdi_writer_options o = { .level = 1 };
	const struct hwtd_stream_desc d = {
		.size = sizeof(d),
		.tech = HWTD_TECH_INTEL_PT,
	};
	struct hwtdi_writer *w;
	uint32_t id;
	int rc = hwtdi_writer_create(ctx, path, &o, &w, NULL);

	if (rc != HWTD_OK)
		return (rc);
	rc = hwtdi_writer_stream(w, &d, &id, NULL);
	for (size_t i = 0; rc == HWTD_OK && i < n_blocks(); i++) {
		make_block(block, i);
		rc = hwtdi_writer_bytes(w, id, block, MIB, NULL);
	}
	if (rc == HWTD_OK)
		rc = hwtdi_writer_finish(w, NULL);
	hwtdi_writer_destroy(w);
	return (rc);
}

static int
read_big(struct hwtd_context *ctx, const char *path,
    const struct hwtd_open_options *opts, uint8_t *block)
{
	struct hwtd_damage damage;
	struct hwtdi_window *window = NULL;
	struct hwtd_trace *trace;
	const uint8_t *got;
	int rc = hwtd_trace_open(ctx, path, opts, &trace, NULL);

	if (rc != HWTD_OK)
		return (rc);
	rc = hwtdi_window_create(trace, 0, &window, NULL);
	for (size_t i = 0; rc == HWTD_OK && i < n_blocks(); i++) {
		/* Into the block before, as a decoder with a tail would. */
		const size_t back = i == 0 ? 0 : 1000;

		rc = hwtdi_window_see(window, i * MIB - back, MIB + back, &got,
		    &damage, NULL);
		make_block(block, i);
		if (rc == HWTD_OK && memcmp(got + back, block, MIB) != 0)
			rc = HWTD_E_CORRUPT;
	}
	hwtdi_window_destroy(window);
	hwtd_trace_close(trace);
	return (rc);
}

static int
save_again(struct hwtd_context *ctx, const char *from, const char *to)
{
	const struct hwtd_save_options o = { .size = sizeof(o), .level = 1 };
	struct hwtd_trace *trace;
	int rc = hwtd_trace_open(ctx, from, NULL, &trace, NULL);

	if (rc != HWTD_OK)
		return (rc);
	rc = hwtd_trace_save(trace, to, &o, NULL);
	hwtd_trace_close(trace);
	return (rc);
}

/* Exit status of the child: 0, or which step failed. */
static int
child(const char *path, const char *other)
{
	uint8_t *block = malloc(MIB);
	struct hwtd_context *ctx;
	struct rusage usage;

	if (block == NULL || hwtd_context_create(NULL, &ctx, NULL) != HWTD_OK)
		return (1);
	if (write_big(ctx, path, block) != HWTD_OK)
		return (2);
	if (read_big(ctx, path, NULL, block) != HWTD_OK)
		return (3);
	if (save_again(ctx, path, other) != HWTD_OK)
		return (4);
	if (read_big(ctx, other, NULL, block) != HWTD_OK)
		return (5);
	hwtd_context_destroy(ctx);
	free(block);
	if (getrusage(RUSAGE_SELF, &usage) != 0)
		return (6);
	print_message("%zu MiB, peak %ld KiB\n", n_blocks(), usage.ru_maxrss);
	/* Sanitizers hold more than the library does. */
	if (!small() && usage.ru_maxrss > PEAK_KIB)
		return (7);
	return (0);
}

static void
gibibyte_is_written_and_read_in_64_mib(void **state)
{
	struct temp_dir dir;
	char path[300], other[300];
	int status = -1;
	pid_t pid;

	(void)state;
	temp_dir_create(&dir);
	(void)temp_dir_file(&dir, "big.hwt", path);
	(void)temp_dir_file(&dir, "other.hwt", other);
	(void)fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(child(path, other));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	temp_dir_remove(&dir);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* A sparse file: zeros that take no room on disk. */
static void
gibibyte_of_raw_bytes_is_read_in_little_memory(void **state)
{
	const struct hwtd_open_options o = {
		.size = sizeof(o),
		.tech = HWTD_TECH_INTEL_PT,
	};
	const size_t n = n_blocks() * MIB;
	struct hwtd_context *ctx;
	struct hwtd_damage damage;
	struct hwtdi_window *window;
	struct hwtd_trace *trace;
	struct temp_dir dir;
	char path[300];
	const uint8_t *got;
	uint64_t peak;

	(void)state;
	temp_dir_create(&dir);
	write_file(temp_dir_file(&dir, "raw", path), "x", 1);
	cut_file(path, n);
	poke_file(path, n - 4, "last", 4);
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_open(ctx, path, &o, &trace, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_window_create(trace, 0, &window, NULL),
	    HWTD_OK);
	for (size_t at = 0; at < n; at += MIB)
		assert_int_equal(hwtdi_window_see(window, at, MIB, &got,
				     &damage, NULL),
		    HWTD_OK);
	assert_memory_equal(got + MIB - 4, "last", 4);
	hwtdi_window_destroy(window);
	hwtd_trace_close(trace);
	hwtd_context_memory(ctx, NULL, &peak);
	assert_true(peak < 4 * MIB);
	hwtd_context_destroy(ctx);
	temp_dir_remove(&dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gibibyte_is_written_and_read_in_64_mib),
		cmocka_unit_test(
		    gibibyte_of_raw_bytes_is_read_in_little_memory),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
