/*
 * Archives hold the bytes of a file once, whatever it is called.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <xxhash.h>

#include "support/hand_fixture.h"
#include "support/mapped_trace.h"
#include "support/saved_trace.h"

/* What is mapped, at this address. */
#define BASE 0x10000u
#define FILE_BYTES ((size_t)128 << 10)

/* What another name may cost. */
#define MORE 1024

#define ALL (HWTD_SAVE_IMAGES | HWTD_SAVE_ANY_FILE)

enum kind {
	LIBRARY,
	OBJECT,
	DATA
};

struct fixture {
	struct temp_dir dir;
	char a[300], b[300], first[300], second[300];
	uint8_t *noise;
};

static void
write_kind(const struct fixture *f, enum kind kind, const char *path)
{
	const struct small_elf elf = { .code = f->noise,
		.n_code = FILE_BYTES,
		.build_id = 0xab };

	if (kind == DATA) {
		write_file(path, f->noise, FILE_BYTES);
		return;
	}
	small_elf_write(&elf, path);
	/* e_type */
	if (kind == OBJECT)
		poke_file(path, 16, "\1", 1);
}

static void
add_map(struct hwtd_trace *trace, uint32_t pid, const char *name, uint64_t off,
    uint64_t len)
{
	struct hwtd_record r = mr_record(HWTD_REC_MMAP, pid, BASE + off, len);

	r.name = name;
	r.flags |= HWTD_RECF_FILE_OFF;
	r.file_off = off;
	mr_add(trace, &r);
}

/* Save what is mapped of one name, and what is of two, which overlaps. */
static void
save_both(const struct fixture *f)
{
	struct hwtd_trace *trace = mr_create(f->dir.path);

	add_map(trace, 5, "/lib/a.so", 0x1000, 0x4000);
	(void)mt_seal(trace);
	st_save(trace, f->first, ALL);
	hwtd_trace_close(trace);
	trace = mr_create(f->dir.path);
	add_map(trace, 5, "/lib/a.so", 0x1000, 0x3000);
	add_map(trace, 6, "/opt/b.so", 0x2000, 0x3000);
	(void)mt_seal(trace);
	st_save(trace, f->second, ALL);
	hwtd_trace_close(trace);
}

static void
assert_codes(const struct fixture *f, const struct hwtd_trace *trace,
    enum kind kind)
{
	const uint8_t *at = f->noise - (kind == DATA ? 0 : 0x1000);

	for (uint64_t off = 0x1000; off < 0x4000; off += 0xff0)
		assert_int_equal(st_code(trace, 5, BASE + off), at[off]);
	for (uint64_t off = 0x2000; off < 0x5000; off += 0xff0)
		assert_int_equal(st_code(trace, 6, BASE + off), at[off]);
}

static void
equal_files_are_stored_once(void **state)
{
	static const char *const names[] = { "library", "object", "no ELF" };
	struct fixture *f = *state;
	struct hwtd_trace *trace;
	size_t size;

	for (int kind = LIBRARY; kind <= DATA; kind++) {
		print_message("case %s\n", names[kind]);
		write_kind(f, (enum kind)kind, f->a);
		write_kind(f, (enum kind)kind, f->b);
		save_both(f);
		size = st_size(f->second);
		assert_true(size < st_size(f->first) + MORE);
		assert_int_equal(unlink(f->a), 0);
		assert_int_equal(unlink(f->b), 0);
		trace = st_open(f->second, f->dir.path);
		assert_codes(f, trace, (enum kind)kind);

		/* Saved again it does not grow. */
		st_save(trace, f->first, ALL);
		hwtd_trace_close(trace);
		assert_int_equal(st_size(f->first), size);
		trace = st_open(f->first, f->dir.path);
		assert_codes(f, trace, (enum kind)kind);
		hwtd_trace_close(trace);
	}
}

/* Symbols were cut off, or were put in: the code is the same. */
static void
code_of_one_build_is_stored_once(void **state)
{
	struct fixture *f = *state;
	struct hwtd_trace *trace;
	size_t n;
	uint8_t *bytes;

	write_kind(f, LIBRARY, f->a);
	bytes = read_file(f->a, &n);
	bytes = realloc(bytes, n + 100);
	memset(bytes + n, 'x', 100);
	/* e_flags */
	bytes[48] = 1;
	write_file(f->b, bytes, n + 100);
	free(bytes);
	save_both(f);
	/* The headers differ. */
	assert_true(st_size(f->second) < st_size(f->first) + 4096 + MORE);
	assert_int_equal(unlink(f->a), 0);
	assert_int_equal(unlink(f->b), 0);
	trace = st_open(f->second, f->dir.path);
	assert_codes(f, trace, LIBRARY);
	hwtd_trace_close(trace);
}

/* An archive needs no more memory for many names than for one. */
static void
names_of_one_file_share_its_bytes(void **state)
{
	enum {
		NAMES = 200
	};
	const struct hwtd_context_options few = { .size = sizeof(few),
		.max_memory = 16 * FILE_BYTES };
	struct fixture *f = *state;
	struct hwtd_trace *trace = mr_create(f->dir.path);
	struct hwtd_context *ctx;
	char name[32];

	write_kind(f, LIBRARY, f->a);
	for (uint32_t i = 0; i < NAMES; i++) {
		(void)snprintf(name, sizeof(name), "/lib%u/a.so", i);
		add_map(trace, i, name, 0x1000, 0x3000);
	}
	(void)mt_seal(trace);
	st_save(trace, f->first, ALL);
	hwtd_trace_close(trace);
	assert_int_equal(unlink(f->a), 0);
	assert_int_equal(hwtd_context_create(&few, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_open(ctx, f->first, NULL, &trace, NULL),
	    HWTD_OK);
	for (uint32_t i = 0; i < NAMES; i++)
		assert_int_equal(st_code(trace, i, BASE + 0x1000),
		    f->noise[0]);
	st_save(trace, f->second, ALL);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	assert_int_equal(st_size(f->first), st_size(f->second));
}

/* What only looks alike stays apart. */
static void
files_of_one_build_id_and_other_code_stay_apart(void **state)
{
	struct fixture *f = *state;
	struct hwtd_trace *trace;
	const uint8_t other = (uint8_t)~f->noise[0x1000];

	write_kind(f, LIBRARY, f->a);
	write_kind(f, LIBRARY, f->b);
	poke_file(f->b, 0x2000, &other, 1);
	save_both(f);
	assert_int_equal(unlink(f->a), 0);
	assert_int_equal(unlink(f->b), 0);
	trace = st_open(f->second, f->dir.path);
	assert_int_equal(st_code(trace, 5, BASE + 0x2000), f->noise[0x1000]);
	assert_int_equal(st_code(trace, 6, BASE + 0x2000), other);
	hwtd_trace_close(trace);
}

static void
equal_images_are_stored_once(void **state)
{
	struct fixture *f = *state;
	struct hwtd_trace *trace;
	size_t one = 0;

	for (uint32_t n = 1; n <= 3; n++) {
		trace = mr_create(f->dir.path);
		for (uint32_t i = 0; i < n; i++)
			mr_mmap(trace, i, BASE, FILE_BYTES,
			    mr_image(trace, "jit", f->noise, FILE_BYTES));
		(void)mt_seal(trace);
		st_save(trace, f->first, 0);
		hwtd_trace_close(trace);
		if (n == 1)
			one = st_size(f->first);
	}
	assert_true(st_size(f->first) < one + 2 * MORE);
	trace = st_open(f->first, f->dir.path);
	for (uint32_t i = 0; i < 3; i++)
		for (size_t off = 0; off < FILE_BYTES; off += 0xfff)
			assert_int_equal(st_code(trace, i, BASE + off),
			    f->noise[off]);
	/* And again, from bytes that are shared. */
	st_save(trace, f->second, 0);
	hwtd_trace_close(trace);
	assert_int_equal(st_size(f->second), st_size(f->first));
}

/* Files that say so and lie. */

struct said {
	/* HWTDI_HWT_IMAGE flags and a field with an id; tag 0: none. */
	uint32_t flags, tag, id;
	uint64_t n_bytes;
	/* With it a checksum is there. */
	const char *bytes;
};

static void
put_said(struct hand *file, uint32_t id, const struct said *s)
{
	const struct hand_chunk c = { .type = HAND_IMAGE, .id = id };
	const struct hand_chunk d = { .type = HAND_IMAGE_DATA, .id = id };
	const size_t n = s->bytes != NULL ? strlen(s->bytes) : 0;
	struct hand p = { 0 };

	hand_number(&p, 1, 4);
	hand_number(&p, 40, 4);
	hand_number(&p, 0, 8);
	hand_number(&p, s->n_bytes, 8);
	hand_number(&p, 0, 8);
	hand_number(&p, n > 0 ? XXH3_64bits(s->bytes, n) : 0, 8);
	hand_number(&p, s->flags | (n > 0 ? 8 : 0), 4);
	hand_number(&p, 0, 4);
	hand_number(&p, 2, 4);
	hand_number(&p, 1, 4);
	hand_bytes(&p, "x", 1);
	if (s->tag != 0) {
		hand_number(&p, s->tag, 4);
		hand_number(&p, 4, 4);
		hand_number(&p, s->id, 4);
	}
	hand_chunk(file, &c, p.bytes, p.n, p.n);
	hand_free(&p);
	if ((s->flags & 2) != 0)
		hand_chunk(file, &d, s->bytes, n, n);
}

static void
images_that_equal_nothing_are_refused(void **state)
{
	static const struct {
		const char *name;
		struct said first, second;
		uint32_t n_damages, n_images;
	} cases[] = {
		{ "true", { 2, 0, 0, 4, "code" }, { 0, 4, 0, 4, "code" }, 0,
		    2 },
		{ "true, of a part", { 18, 0, 0, 4, "code" },
		    { 0, 4, 0, 4, "code" }, 0, 1 },
		{ "true, a part", { 18, 0, 0, 4, "code" }, { 16, 5, 0, 0, "" },
		    0, 0 },
		{ "other bytes", { 2, 0, 0, 4, "code" },
		    { 0, 4, 0, 4, "kode" }, 1, 2 },
		{ "fewer bytes", { 2, 0, 0, 4, "code" }, { 0, 4, 0, 3, "cod" },
		    1, 2 },
		{ "no checksum", { 2, 0, 0, 4, "code" }, { 0, 4, 0, 4, "" }, 1,
		    2 },
		{ "itself", { 2, 0, 0, 4, "code" }, { 0, 4, 1, 4, "code" }, 1,
		    2 },
		{ "a later one", { 2, 0, 0, 4, "code" },
		    { 0, 4, 9, 4, "code" }, 1, 2 },
		{ "one without bytes", { 0, 0, 0, 4, "code" },
		    { 0, 4, 0, 4, "code" }, 0, 2 },
		{ "a part of no part", { 2, 0, 0, 4, "code" },
		    { 16, 5, 0, 0, "" }, 1, 2 },
		{ "a part of itself", { 2, 0, 0, 4, "code" },
		    { 16, 5, 1, 0, "" }, 1, 2 },
	};
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hand_fixture *f;
	struct hwtd_trace *trace;
	void *inner = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("case %s\n", cases[i].name);
		assert_int_equal(hand_set_up(&inner), 0);
		f = inner;
		put_said(&f->file, 0, &cases[i].first);
		put_said(&f->file, 1, &cases[i].second);
		hand_finish(&f->file);
		trace = hand_must_open(f);
		assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
		assert_int_equal(info.n_damages, cases[i].n_damages);
		assert_int_equal(info.n_images, cases[i].n_images);
		hwtd_trace_close(trace);
		(void)hand_tear_down(&inner);
	}
}

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	temp_dir_create(&f->dir);
	(void)temp_dir_file(&f->dir, "a.so", f->a);
	(void)temp_dir_file(&f->dir, "b.so", f->b);
	(void)temp_dir_file(&f->dir, "first.hwt", f->first);
	(void)temp_dir_file(&f->dir, "second.hwt", f->second);
	f->noise = st_noise(FILE_BYTES, 7);
	*state = f;
	return (0);
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	temp_dir_remove(&f->dir);
	free(f->noise);
	free(f);
	return (0);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(equal_files_are_stored_once),
		T(code_of_one_build_is_stored_once),
		T(names_of_one_file_share_its_bytes),
		T(files_of_one_build_id_and_other_code_stay_apart),
		T(equal_images_are_stored_once),
		T(images_that_equal_nothing_are_refused),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
