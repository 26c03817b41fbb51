/*
 * Traces that are saved and opened again.
 */
#include "support/saved_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/temp_dir.h"

void
st_save(struct hwtd_trace *trace, const char *path, uint32_t flags)
{
	const struct hwtd_save_options opts = { .size = sizeof(opts),
		.flags = flags };
	struct hwtd_error err = { .size = sizeof(err) };

	if (hwtd_trace_save(trace, path, &opts, &err) != HWTD_OK)
		fail_msg("%s", err.message);
}

struct hwtd_trace *
st_open(const char *path, const char *dir)
{
	const struct hwtd_search search = { .size = sizeof(search),
		.dirs = &dir,
		.n_dirs = 1,
		.flags = HWTD_SEARCH_NO_ORIGINAL };
	const struct hwtd_open_options opts = { .size = sizeof(opts),
		.search = &search };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace = NULL;

	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	if (hwtd_trace_open(ctx, path, &opts, &trace, &err) != HWTD_OK)
		fail_msg("%s", err.message);
	hwtd_context_destroy(ctx);
	return (trace);
}

uint8_t
st_code(const struct hwtd_trace *trace, uint32_t pid, uint64_t address)
{
	struct hwtd_mapping m = { .size = sizeof(m) };
	uint8_t byte = 0;
	size_t n;

	assert_int_equal(hwtd_space_lookup(trace, pid, NULL, address, &m),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_read_code(trace, m.section, address, &byte,
			     1, &n),
	    HWTD_OK);
	assert_int_equal(n, 1);
	return (byte);
}

uint8_t *
st_noise(size_t n, uint64_t seed)
{
	uint8_t *bytes = malloc(n);

	assert_non_null(bytes);
	for (size_t i = 0; i < n; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		bytes[i] = (uint8_t)(seed >> 56);
	}
	return (bytes);
}

size_t
st_size(const char *path)
{
	size_t n;

	free(read_file(path, &n));
	return (n);
}
