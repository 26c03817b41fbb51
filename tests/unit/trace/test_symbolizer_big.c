/*
 * Debug information of a gigabyte: little of it is looked at.
 */
#include <hwtdecode/hwtdecode.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/temp_dir.h"

/* Units that are added to those of the program, and bytes of each. */
#define UNITS 1024u
#define UNIT_BYTES (UINT64_C(1) << 20)

/* What may be read of it, with what the test itself has. */
#define MOST_KILOBYTES (64 * 1024)
#define MOST_MEMORY (UINT64_C(16) << 20)

/* Lines that one unit may have. */
#define MOST_LINES (UINT32_C(1) << 24)

static const char source[] = "int outer(volatile int *p) { return *p; }\n"
			     "int main(void) { volatile int q = 0;\n"
			     "return outer(&q); }\n";

static uint64_t
number(const uint8_t *at, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)at[i] << (8 * i);
	return (v);
}

static void
put(uint8_t *at, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		at[i] = (uint8_t)(v >> (8 * i));
}

/* The header of a section, by name; the file is a 64-bit one. */
static uint8_t *
header_of(uint8_t *file, const char *name)
{
	uint8_t *const headers = file + number(file + 40, 8);
	const uint64_t n = number(file + 60, 2);
	const uint8_t *const names = file +
	    number(headers + 64 * number(file + 62, 2) + 24, 8);

	for (uint64_t i = 0; i < n; i++)
		if (strcmp((const char *)names + number(headers + 64 * i, 4),
			name) == 0)
			return (headers + 64 * i);
	fail_msg("no section %s", name);
	return (NULL);
}

static void
write_at(FILE *f, uint64_t off, const void *bytes, size_t n)
{
	assert_int_equal(fseeko(f, (off_t)off, SEEK_SET), 0);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
}

/*
 * Units of zeros behind those that are there, in a file with holes; each has a
 * root of one byte, without children and attributes.
 */
static void
make_big(const char *path)
{
	static const uint8_t abbrev[] = { 1, 0x11, 0, 0, 0, 0 };
	uint8_t *file, *info, *abbrevs, unit[13] = { 0 };
	uint64_t info_off, info_bytes, abbrev_off, abbrev_bytes, at;
	size_t n;
	FILE *f;

	file = read_file(path, &n);
	info = header_of(file, ".debug_info");
	abbrevs = header_of(file, ".debug_abbrev");
	info_bytes = number(info + 32, 8);
	abbrev_bytes = number(abbrevs + 32, 8);
	abbrev_off = (n + 15) / 16 * 16;
	info_off = abbrev_off + 65536;
	assert_true(abbrev_bytes + sizeof(abbrev) < 65536);
	f = fopen(path, "r+b");
	assert_non_null(f);
	write_at(f, abbrev_off, file + number(abbrevs + 24, 8),
	    (size_t)abbrev_bytes);
	write_at(f, abbrev_off + abbrev_bytes, abbrev, sizeof(abbrev));
	write_at(f, info_off, file + number(info + 24, 8), (size_t)info_bytes);
	at = info_off + info_bytes;
	put(unit, UNIT_BYTES - 4, 4);
	put(unit + 4, 4, 2);
	put(unit + 6, abbrev_bytes, 4);
	unit[10] = 8;
	unit[11] = 1;
	for (unsigned int i = 0; i < UNITS; i++, at += UNIT_BYTES)
		write_at(f, at, unit, 12);
	put(abbrevs + 24, abbrev_off, 8);
	put(abbrevs + 32, abbrev_bytes + sizeof(abbrev), 8);
	put(info + 24, info_off, 8);
	put(info + 32, at - info_off, 8);
	write_at(f, 0, file, n);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(truncate(path, (off_t)at), 0);
	free(file);
}

static long
kilobytes(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return (usage.ru_maxrss);
}

static uint64_t
address_of_outer(const char *path)
{
	char command[600], line[300];
	uint64_t address = 0;
	FILE *nm;

	(void)snprintf(command, sizeof(command), "nm '%s' | grep ' outer$'",
	    path);
	nm = popen(command, "r");
	assert_non_null(nm);
	assert_non_null(fgets(line, sizeof(line), nm));
	assert_int_equal(sscanf(line, "%" SCNx64, &address), 1);
	assert_int_equal(pclose(nm), 0);
	return (address);
}

static void
a_debug_file_of_a_gigabyte_is_not_read_whole(void **state)
{
	struct hwtd_where where = { .flags = HWTD_WHERE_IMAGE };
	struct hwtd_image_desc image = { .size = sizeof(image) };
	char path[300], debug[300], name[300], command[1600];
	struct hwtd_symbolizer *s;
	struct hwtd_symbol symbol;
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	struct temp_dir dir;
	struct stat st;
	uint64_t peak;
	long before;

	(void)state;
	temp_dir_create(&dir);
	temp_dir_file(&dir, "program", path);
	temp_dir_file(&dir, "program.debug", debug);
	write_file(temp_dir_file(&dir, "program.c", name), source,
	    sizeof(source) - 1);
	(void)snprintf(command, sizeof(command),
	    "cd '%s' && %s -gdwarf-4 -Wl,--build-id -o program program.c &&"
	    " objcopy --only-keep-debug program program.debug &&"
	    " objcopy --add-gnu-debuglink=program.debug program",
	    dir.path, HWTDECODE_TEST_CC);
	assert_int_equal(system(command), 0);
	where.address = address_of_outer(path);
	(void)snprintf(command, sizeof(command), "strip '%s'", path);
	assert_int_equal(system(command), 0);
	make_big(debug);
	assert_int_equal(stat(debug, &st), 0);
	assert_true(st.st_size > (off_t)(UNITS * UNIT_BYTES));

	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_create(ctx, NULL, &trace, NULL), HWTD_OK);
	image.path = path;
	assert_int_equal(hwtd_trace_add_image(trace, &image, NULL, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_seal(trace, NULL), HWTD_OK);
	before = kilobytes();
	assert_int_equal(hwtd_symbolizer_open(trace, NULL, &s, NULL), HWTD_OK);
	assert_int_equal(hwtd_symbolize(s, &where, sizeof(where), 1, &symbol,
			     sizeof(symbol), NULL),
	    HWTD_OK);
	assert_null(symbol.fault);
	assert_string_equal(symbol.name, "outer");
	assert_int_equal(symbol.n_frames, 1);
	assert_int_equal(symbol.frames[0].line, 1);
	hwtd_context_memory(ctx, NULL, &peak);
	print_message("%ld KiB more, %" PRIu64 " bytes of memory at most\n",
	    kilobytes() - before, peak);
	assert_true(kilobytes() - before < MOST_KILOBYTES);
	assert_true(peak < MOST_MEMORY);
	hwtd_symbolizer_close(s);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	temp_dir_remove(&dir);
}

/* A table of lines in which each byte of `n` is one more. */
static void
make_lines(const char *path, uint32_t n)
{
	uint8_t *file, *lines, *table, *more;
	uint64_t at, end;
	size_t n_file;
	FILE *f;

	file = read_file(path, &n_file);
	lines = header_of(file, ".debug_line");
	table = file + number(lines + 24, 8);
	end = number(table, 4) + 4;
	/* The program begins with the address, behind a column. */
	at = 10 + number(table + 6, 4);
	while (table[at] != 0)
		at += 2;
	at += 11;
	more = malloc(n);
	assert_non_null(more);
	memset(more, 1, n);
	f = fopen(path, "r+b");
	assert_non_null(f);
	put(table, end - 4 + n, 4);
	put(lines + 24, n_file, 8);
	put(lines + 32, end + n, 8);
	write_at(f, 0, file, n_file);
	write_at(f, n_file, table, (size_t)at);
	write_at(f, n_file + at, more, n);
	write_at(f, n_file + at + n, table + at, (size_t)(end - at));
	assert_int_equal(fclose(f), 0);
	free(more);
	free(file);
}

static void
a_small_file_of_many_lines_is_read_once(void **state)
{
	static const struct {
		uint32_t n;
		bool many;
	} cases[] = { { MOST_LINES - 1000, false }, { MOST_LINES, true } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_where where = { .flags = HWTD_WHERE_IMAGE };
		struct hwtd_image_desc image = { .size = sizeof(image) };
		struct hwtd_context_options opts = { .size = sizeof(opts) };
		char path[300], name[300], command[900];
		struct failing_allocator memory;
		struct hwtd_symbolizer *s;
		struct hwtd_symbol symbol;
		struct hwtd_context *ctx;
		struct hwtd_trace *trace;
		struct temp_dir dir;
		uint64_t before;

		temp_dir_create(&dir);
		temp_dir_file(&dir, "program", path);
		write_file(temp_dir_file(&dir, "program.c", name), source,
		    sizeof(source) - 1);
		(void)snprintf(command, sizeof(command),
		    "cd '%s' && %s -gdwarf-4 -o program program.c", dir.path,
		    HWTDECODE_TEST_CC);
		assert_int_equal(system(command), 0);
		where.address = address_of_outer(path);
		make_lines(path, cases[i].n);
		failing_allocator_init(&memory);
		opts.allocator = &memory.allocator;
		assert_int_equal(hwtd_context_create(&opts, &ctx, NULL),
		    HWTD_OK);
		assert_int_equal(hwtd_trace_create(ctx, NULL, &trace, NULL),
		    HWTD_OK);
		image.path = path;
		assert_int_equal(hwtd_trace_add_image(trace, &image, NULL,
				     NULL),
		    HWTD_OK);
		assert_int_equal(hwtd_trace_seal(trace, NULL), HWTD_OK);
		assert_int_equal(hwtd_symbolizer_open(trace, NULL, &s, NULL),
		    HWTD_OK);
		for (uint64_t k = 0; k < 3; k++) {
			before = memory.requests;
			assert_int_equal(hwtd_symbolize(s, &where,
					     sizeof(where), 1, &symbol,
					     sizeof(symbol), NULL),
			    HWTD_OK);
			assert_string_equal(symbol.name, "outer");
			/* Nothing of it is read again. */
			assert_true(k == 0 || memory.requests - before < 4);
			if (cases[i].many)
				assert_non_null(strstr(symbol.fault,
				    "too many rows"));
			else
				assert_null(symbol.fault);
			assert_int_equal(symbol.n_frames, 1);
			assert_int_equal(symbol.frames[0].line,
			    cases[i].many ? 0 : 1);
			where.address++;
		}
		hwtd_symbolizer_close(s);
		hwtd_trace_close(trace);
		hwtd_context_destroy(ctx);
		assert_int_equal(memory.blocks, 0);
		temp_dir_remove(&dir);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_debug_file_of_a_gigabyte_is_not_read_whole),
		cmocka_unit_test(a_small_file_of_many_lines_is_read_once),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
