/*
 * What a saved trace takes from files that the trace named.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <xxhash.h>

#include "support/hand_fixture.h"
#include "support/lldb_bundle.h"
#include "support/mapped_trace.h"

#define SECRET "a secret of 24 bytes...."

/* Save without compression; whether the secret is in the file. */
static bool
saves_it(struct hwtd_trace *trace, const char *path, uint32_t flags)
{
	const struct hwtd_save_options opts = { .size = sizeof(opts),
		.level = -1,
		.flags = flags };
	struct hwtd_error err = { .size = sizeof(err) };
	const size_t n_secret = strlen(SECRET);
	bool found = false;
	uint8_t *bytes;
	size_t n;

	if (hwtd_trace_save(trace, path, &opts, &err) != HWTD_OK)
		fail_msg("%s", err.message);
	bytes = read_file(path, &n);
	for (size_t i = 0; i + n_secret <= n && !found; i++)
		found = memcmp(bytes + i, SECRET, n_secret) == 0;
	free(bytes);
	return (found);
}

static void
assert_policy(struct hwtd_trace *trace, const char *saved, bool program)
{
	struct hwtd_image_info info = { .size = sizeof(info) };

	assert_int_equal(hwtd_trace_image(trace, 0, &info), HWTD_OK);
	assert_int_equal(info.flags, program ? 0 : HWTD_IMAGE_INFO_NO_PROGRAM);
	assert_false(saves_it(trace, saved, 0));
	assert_int_equal(saves_it(trace, saved, HWTD_SAVE_IMAGES), program);
	assert_true(saves_it(trace, saved,
	    HWTD_SAVE_IMAGES | HWTD_SAVE_ANY_FILE));
}

/* A file of a kind: the number is e_type, 0 no ELF file. */
static void
write_kind(const char *path, uint8_t kind)
{
	const struct small_elf elf = { .code = SECRET,
		.n_code = strlen(SECRET) };

	if (kind == 0) {
		write_file(path, SECRET, strlen(SECRET));
		return;
	}
	small_elf_write(&elf, path);
	poke_file(path, 16, &kind, 1);
}

static const struct {
	const char *name;
	uint8_t kind;
	bool program;
} kinds[] = {
	{ "text", 0, false },
	{ "object", 1, true },
	{ "program", 2, true },
	{ "library", 3, true },
	{ "core file", 4, false },
};

static void
only_programs_are_archived(void **state)
{
	struct bundle_fixture *f = *state;
	char path[300], saved[300];

	(void)temp_dir_file(&f->dir, "file", path);
	(void)temp_dir_file(&f->dir, "saved.hwt", saved);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct hwtd_trace *trace = mr_create(f->dir.path);
		struct hwtd_record r = mr_record(HWTD_REC_MMAP, 5, 0x10000,
		    0x1000);

		print_message("case %s\n", kinds[i].name);
		write_kind(path, kinds[i].kind);
		r.name = "/lib/file";
		r.flags |= HWTD_RECF_FILE_OFF;
		r.file_off = kinds[i].kind == 0 ? 0 : 0x1000;
		mr_add(trace, &r);
		(void)mt_seal(trace);
		assert_policy(trace, saved, kinds[i].program);
		hwtd_trace_close(trace);
	}
}

/* What the user gives is his own word. */
static void
images_that_are_given_are_stored(void **state)
{
	struct bundle_fixture *f = *state;
	struct hwtd_image_desc desc = { .size = sizeof(desc) };
	struct hwtd_trace *trace;
	char path[300], saved[300];

	write_kind(temp_dir_file(&f->dir, "file", path), 0);
	(void)temp_dir_file(&f->dir, "saved.hwt", saved);
	trace = mr_create(f->dir.path);
	desc.path = path;
	assert_int_equal(hwtd_trace_add_image(trace, &desc, NULL, NULL),
	    HWTD_OK);
	(void)mt_seal(trace);
	assert_true(saves_it(trace, saved, HWTD_SAVE_IMAGES));
	hwtd_trace_close(trace);
}

/*
 * A saved trace can name files by checksum.  With one byte at a time it needs
 * not know what is in them.
 */
static void
bytes_that_a_trace_guesses_are_no_images(void **state)
{
	static const uint32_t flags[] = { 0xc, 0x1c };
	struct bundle_fixture *outer = *state;
	char path[300], saved[300];
	void *inner = NULL;

	(void)temp_dir_file(&outer->dir, "file", path);
	(void)temp_dir_file(&outer->dir, "saved.hwt", saved);
	for (size_t i = 0; i < 2 * sizeof(kinds) / sizeof(kinds[0]); i++) {
		const uint8_t kind = kinds[i / 2].kind;
		const struct hand_chunk c = { .type = HAND_IMAGE };
		struct hand_fixture *f;
		struct hwtd_trace *trace;
		struct hand p = { 0 };

		print_message("case %s, flags %#x\n", kinds[i / 2].name,
		    flags[i % 2]);
		write_kind(path, kind);
		assert_int_equal(hand_set_up(&inner), 0);
		f = inner;
		hand_number(&p, 1, 4);
		hand_number(&p, 40, 4);
		hand_number(&p, kind == 0 ? 0 : 0x1000, 8);
		hand_number(&p, strlen(SECRET), 8);
		hand_number(&p, 0, 8);
		hand_number(&p, XXH3_64bits(SECRET, strlen(SECRET)), 8);
		hand_number(&p, flags[i % 2], 4);
		hand_number(&p, 0, 4);
		hand_number(&p, 2, 4);
		hand_number(&p, strlen(path), 4);
		hand_bytes(&p, path, strlen(path));
		hand_chunk(&f->file, &c, p.bytes, p.n, p.n);
		hand_free(&p);
		hand_finish(&f->file);
		trace = hand_must_open(f);
		if (flags[i % 2] == 0xc)
			assert_policy(trace, saved, kinds[i / 2].program);
		else
			assert_int_equal(saves_it(trace, saved, 0),
			    kinds[i / 2].program);
		hwtd_trace_close(trace);
		(void)hand_tear_down(&inner);
	}
}

static void
streams_outside_of_the_folder_are_not_saved(void **state)
{
	struct bundle_fixture *f = *state;
	struct temp_dir other;
	char out[300], link[300], in[300], saved[300], text[1200];
	const struct {
		const char *name;
		const char *path;
		bool outside;
	} cases[] = {
		{ "beside", "t", false },
		{ "with its whole name", in, false },
		{ "by detours", "./../../../../../../../../..", false },
		{ "elsewhere", out, true },
		{ "by a link", "link", true },
	};

	temp_dir_create(&other);
	write_file(temp_dir_file(&other, "t", out), SECRET, strlen(SECRET));
	write_file(temp_dir_file(&f->dir, "t", in), SECRET, strlen(SECRET));
	assert_int_equal(symlink(out, temp_dir_file(&f->dir, "link", link)),
	    0);
	(void)temp_dir_file(&f->dir, "saved.hwt", saved);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct hwtd_save_options all = { .size = sizeof(all),
			.flags = HWTD_SAVE_IMAGES };
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtd_trace *trace;

		print_message("case %s\n", cases[i].name);
		(void)snprintf(text, sizeof(text),
		    PROCESS("\"modules\":[],\"threads\":[{\"tid\":1,"
			    "\"iptTrace\":\"%s%s\"}]"),
		    cases[i].path, i == 2 ? in : "");
		trace = bundle_must_open(f, text);
		if (!cases[i].outside) {
			assert_true(saves_it(trace, saved, 0));
		} else {
			(void)unlink(saved);
			assert_int_equal(hwtd_trace_save(trace, saved, NULL,
					     &err),
			    HWTD_E_STATE);
			assert_non_null(strstr(err.message,
			    "is named by the bundle and not in its folder"));
			assert_int_equal(hwtd_trace_save(trace, saved, &all,
					     &err),
			    HWTD_E_STATE);
			assert_int_equal(access(saved, F_OK), -1);
			assert_true(saves_it(trace, saved,
			    HWTD_SAVE_ANY_FILE));
		}
		hwtd_trace_close(trace);
	}
	temp_dir_remove(&other);
}

int
main(void)
{
#define T(name)                                                               \
	cmocka_unit_test_setup_teardown(name, bundle_set_up, bundle_tear_down)
	const struct CMUnitTest tests[] = {
		T(only_programs_are_archived),
		T(images_that_are_given_are_stored),
		T(bytes_that_a_trace_guesses_are_no_images),
		T(streams_outside_of_the_folder_are_not_saved),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
