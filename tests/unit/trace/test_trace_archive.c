/*
 * Traces that are saved with records and the code of mapped files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/elf_file.h"
#include "support/elf_writer.h"
#include "support/mapped_trace.h"
#include "support/row_text.h"
#include "support/saved_trace.h"
#include "support/temp_dir.h"
#include "trace/trace_internal.h"

#define PROGRAM 0x555500000000u
#define LIBRARY 0x7f0000000000u

/* jmp *%rax, and the same after three instructions. */
static const uint8_t jump[] = { 0xff, 0xe0 };
static const uint8_t straight[] = { 0x90, 0x90, 0x90, 0xff, 0xe0 };

struct fixture {
	struct temp_dir dir;
	char program[300], library[300], first[300], second[300];
};

/* A program and a library; back and forth between them. */
static struct hwtd_trace *
build(struct fixture *f)
{
	struct hwtd_trace *trace = mr_create(f->dir.path);
	const struct hwtd_stream_desc d = { .cpu = HWTD_NO_ID,
		.pid = 5,
		.tid = HWTD_NO_ID };
	struct pt_packets p = { 0 };
	struct hwtd_record r;

	pt_psb_plus(&p, PROGRAM + 0x1000, 64);
	for (int i = 0; i < 3; i++) {
		pt_tip(&p, PT_IP_64, LIBRARY + 0x1000);
		pt_tip(&p, PT_IP_64, PROGRAM + 0x1000);
	}
	(void)mt_stream(trace, &p, &d);
	pt_free(&p);
	r = mr_record(HWTD_REC_EXEC, 5, PROGRAM, 0);
	r.name = "/bin/program";
	mr_add(trace, &r);
	r = mr_record(HWTD_REC_MMAP, 5, LIBRARY + 0x1000, 0x1000);
	r.name = "/lib/library.so";
	r.flags |= HWTD_RECF_FILE_OFF;
	r.file_off = 0x1000;
	r.n_build_id = 20;
	memset(r.build_id, 0xcd, 20);
	mr_add(trace, &r);
	r = mr_record(HWTD_REC_MMAP, 5, 0x10000, 0x1000);
	r.name = "/lib/gone.so";
	r.flags |= HWTD_RECF_FILE_OFF;
	mr_add(trace, &r);
	return (mt_seal(trace));
}

static char *
text_of(struct hwtd_trace *trace)
{
	struct mt_rows rows;
	char *text;

	mt_rows(trace, NULL, &rows);
	text = row_text(trace, &rows);
	mt_rows_free(&rows);
	return (text);
}

static void
archive_decodes_without_the_files(void **state)
{
	struct fixture *f = *state;
	struct hwtd_trace *trace = build(f);
	struct hwtd_image_info info = { .size = sizeof(info) };
	char *want = text_of(trace), *got;

	assert_null(strstr(want, "gap"));
	st_save(trace, f->first, HWTD_SAVE_IMAGES);
	hwtd_trace_close(trace);
	assert_int_equal(unlink(f->program), 0);
	assert_int_equal(unlink(f->library), 0);

	trace = st_open(f->first, f->dir.path);
	got = text_of(trace);
	/* Sections may have other numbers; these have not. */
	assert_string_equal(got, want);
	for (uint32_t i = 0; hwtd_trace_image(trace, i, &info) == HWTD_OK; i++)
		assert_true(strcmp(info.path, "/lib/gone.so") == 0
			? info.state == HWTD_IMAGE_MISSING
			: info.state == HWTD_IMAGE_FOUND);
	free(got);

	/* Saved again, it still does. */
	st_save(trace, f->second, HWTD_SAVE_IMAGES);
	hwtd_trace_close(trace);
	assert_int_equal(unlink(f->first), 0);
	trace = st_open(f->second, f->dir.path);
	got = text_of(trace);
	assert_string_equal(got, want);
	hwtd_trace_close(trace);
	free(got);
	free(want);
}

static void
without_images_the_files_are_needed(void **state)
{
	struct fixture *f = *state;
	struct hwtd_trace *trace = build(f);
	char *want = text_of(trace), *got;

	st_save(trace, f->first, 0);
	hwtd_trace_close(trace);
	trace = st_open(f->first, f->dir.path);
	got = text_of(trace);
	assert_string_equal(got, want);
	hwtd_trace_close(trace);
	free(got);
	assert_int_equal(unlink(f->library), 0);
	trace = st_open(f->first, f->dir.path);
	got = text_of(trace);
	assert_non_null(strstr(got, "gap no-code"));
	hwtd_trace_close(trace);
	free(got);
	free(want);
}

/* What was archived counts, not the file that is there now. */
static void
archived_code_goes_before_files(void **state)
{
	static const uint8_t other[] = { 0xf4 };
	const struct small_elf elf = { .code = other, .n_code = 1 };
	struct fixture *f = *state;
	struct hwtd_trace *trace = build(f);
	char *want = text_of(trace), *got;

	st_save(trace, f->first, HWTD_SAVE_IMAGES);
	hwtd_trace_close(trace);
	small_elf_write(&elf, f->program);
	trace = st_open(f->first, f->dir.path);
	got = text_of(trace);
	assert_string_equal(got, want);
	hwtd_trace_close(trace);
	free(got);
	free(want);
}

static void
assert_same_record(const struct hwtd_record *a, const struct hwtd_record *b)
{
	struct hwtd_record x = *a, y = *b;

	if (x.name != NULL && y.name != NULL)
		assert_string_equal(x.name, y.name);
	else
		assert_true(x.name == NULL && y.name == NULL);
	x.name = y.name = NULL;
	assert_memory_equal(&x, &y, sizeof(x));
}

static void
records_come_back_as_they_were(void **state)
{
	struct fixture *f = *state;
	struct hwtd_trace *trace = build(f);
	struct hwtd_trace *again;
	struct hwtd_record a = { .size = sizeof(a) };
	struct hwtd_record b = { .size = sizeof(b) };
	uint64_t n = 0;

	st_save(trace, f->first, 0);
	again = st_open(f->first, f->dir.path);
	while (hwtd_trace_record(trace, n, &a) == HWTD_OK) {
		assert_int_equal(hwtd_trace_record(again, n, &b), HWTD_OK);
		assert_same_record(&a, &b);
		n++;
	}
	assert_int_equal(n, 3);
	assert_int_equal(hwtd_trace_record(again, n, &b), HWTD_E_NOT_FOUND);
	assert_int_equal(hwtd_trace_record(again, 1, &b), HWTD_OK);
	assert_int_equal(b.n_build_id, 20);
	assert_int_equal(b.build_id[19], 0xcd);
	assert_int_equal(b.build_id[20], 0);
	hwtd_trace_close(trace);
	hwtd_trace_close(again);
}

/* Only what is mapped, and the headers: not the rest of a large file. */
static void
archive_holds_mapped_code_only(void **state)
{
	struct fixture *f = *state;
	uint8_t *big = st_noise(4 << 20, 1);
	struct hwtd_trace *trace;
	struct hwtd_record r = mr_record(HWTD_REC_MMAP, 5, 0x10000, 0x1000);
	size_t n;

	write_file(f->library, big, 4 << 20);
	trace = mr_create(f->dir.path);
	r.name = "/lib/library.so";
	r.flags |= HWTD_RECF_FILE_OFF;
	r.file_off = 0x200000;
	mr_add(trace, &r);
	(void)mt_seal(trace);
	st_save(trace, f->first, HWTD_SAVE_IMAGES | HWTD_SAVE_ANY_FILE);
	hwtd_trace_close(trace);
	n = st_size(f->first);
	assert_true(n > 0x1000 && n < 0x8000);
	assert_int_equal(unlink(f->library), 0);
	trace = st_open(f->first, f->dir.path);
	mr_assert(trace, 5, NULL, 0x10010, "/lib/library.so", 0x200010);
	{
		struct hwtd_mapping m = { .size = sizeof(m) };
		uint8_t got[0x1000];

		assert_int_equal(hwtd_space_lookup(trace, 5, NULL, 0x10000,
				     &m),
		    HWTD_OK);
		assert_int_equal(hwtd_trace_read_code(trace, m.section,
				     0x10000, got, sizeof(got), &n),
		    HWTD_OK);
		assert_int_equal(n, sizeof(got));
		assert_memory_equal(got, big + 0x200000, sizeof(got));
	}
	hwtd_trace_close(trace);
	free(big);
}

static void
add_library(struct hwtd_trace *trace, uint32_t pid, uint8_t build_id)
{
	struct hwtd_record r = mr_record(HWTD_REC_MODULE_LOAD, pid, LIBRARY,
	    0);

	r.name = "/lib/library.so";
	r.n_build_id = 20;
	memset(r.build_id, build_id, 20);
	mr_add(trace, &r);
}

static void
versions_of_one_name_stay_apart(void **state)
{
	static const uint8_t code[2] = { 0x90, 0xcc };
	const char *dirs[2];
	const struct hwtd_search search = { .size = sizeof(search),
		.dirs = dirs,
		.n_dirs = 2 };
	const struct hwtd_trace_options opts = { .size = sizeof(opts),
		.search = &search };
	struct fixture *f = *state;
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	struct temp_dir dir[2];
	char path[300];

	for (int i = 0; i < 2; i++) {
		const struct small_elf elf = { .code = &code[i],
			.n_code = 1,
			.build_id = (uint8_t)(i + 1) };

		temp_dir_create(&dir[i]);
		dirs[i] = dir[i].path;
		small_elf_write(&elf,
		    temp_dir_file(&dir[i], "library.so", path));
	}
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_create(ctx, &opts, &trace, NULL), HWTD_OK);
	add_library(trace, 1, 1);
	add_library(trace, 2, 2);
	(void)mt_seal(trace);
	st_save(trace, f->first, HWTD_SAVE_IMAGES);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	for (int i = 0; i < 2; i++)
		temp_dir_remove(&dir[i]);
	trace = st_open(f->first, f->dir.path);
	assert_int_equal(st_code(trace, 1, LIBRARY + 0x1000), 0x90);
	assert_int_equal(st_code(trace, 2, LIBRARY + 0x1000), 0xcc);
	hwtd_trace_close(trace);
}

/* Tools that edit files put a longer table of segments at the end. */
static void
headers_behind_the_code_are_kept(void **state)
{
	enum {
		PHOFF = 32,
		PHNUM = 56,
		PHDR = 56,
		OLD = 64,
		NEW = 0x4000
	};
	struct fixture *f = *state;
	struct hwtd_trace *trace;
	uint8_t *elf, *moved;
	size_t n, table;

	elf = read_file(f->library, &n);
	table = (size_t)elf[PHNUM] * PHDR;
	assert_true(table > 0 && n < NEW);
	moved = calloc(1, NEW + table);
	memcpy(moved, elf, n);
	memcpy(moved + NEW, elf + OLD, table);
	memset(moved + OLD, 0, table);
	moved[PHOFF] = 0;
	moved[PHOFF + 1] = NEW >> 8;
	write_file(f->library, moved, NEW + table);
	free(moved);
	free(elf);
	trace = mr_create(f->dir.path);
	add_library(trace, 5, 0xcd);
	(void)mt_seal(trace);
	assert_int_equal(st_code(trace, 5, LIBRARY + 0x1000), straight[0]);
	st_save(trace, f->first, HWTD_SAVE_IMAGES);
	hwtd_trace_close(trace);
	assert_int_equal(unlink(f->library), 0);
	trace = st_open(f->first, f->dir.path);
	assert_int_equal(st_code(trace, 5, LIBRARY + 0x1000), straight[0]);
	hwtd_trace_close(trace);
}

/* Whether two files tell the same about their code. */
static void
assert_same_elf(const struct hwtdi_elf_file *a, const struct hwtdi_elf_file *b)
{
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->machine, b->machine);
	assert_int_equal(a->entry, b->entry);
	assert_int_equal(a->lowest_vaddr, b->lowest_vaddr);
	assert_int_equal(a->largest_align, b->largest_align);
	assert_string_equal(a->interpreter, b->interpreter);
	assert_int_equal(a->build_id.n, b->build_id.n);
	assert_memory_equal(a->build_id.bytes, b->build_id.bytes,
	    sizeof(a->build_id.bytes));
	assert_int_equal(a->n_segments, b->n_segments);
	for (size_t i = 0; i < a->n_segments; i++) {
		const struct hwtdi_elf_segment *x = &a->segments[i];
		const struct hwtdi_elf_segment *y = &b->segments[i];

		assert_int_equal(x->vaddr, y->vaddr);
		assert_int_equal(x->file_off, y->file_off);
		assert_int_equal(x->file_bytes, y->file_bytes);
		assert_int_equal(x->memory_bytes, y->memory_bytes);
		assert_int_equal(x->cut, y->cut);
	}
}

/*
 * A file with two executable segments, of which one is not mapped, and all
 * that may lie anywhere far from its front.  `note`: in a segment of notes,
 * or else in a section; `many`: the number of segments is in section 0.
 */
static void
write_scattered(const char *path, bool note, bool many)
{
	enum {
		PHNUM = 56,
		SHOFF = 40,
		SH_INFO = 44
	};
	const struct elf_writer_section notes = { .name = ".note.gnu.build-id",
		.type = 7,
		.size = 36 };
	uint8_t id[20];
	struct elf_writer w;
	size_t at, shoff = 0;

	memset(id, 0xef, sizeof(id));
	elf_writer_init(&w, true, false, 3, 62);
	for (uint64_t i = 1; i <= 2; i++) {
		at = elf_writer_put(&w, straight, sizeof(straight), 0x4000);
		(void)elf_writer_segment(&w,
		    &(struct elf_writer_segment){ 1, 5, at, at,
			sizeof(straight), 0x800, 4096 });
	}
	at = elf_writer_put(&w, "/lib/linker", 12, 0x4000);
	(void)elf_writer_segment(&w,
	    &(struct elf_writer_segment){ 3, 4, at, at, 12, 12, 1 });
	(void)elf_writer_put(&w, NULL, 0x4000, 1);
	at = elf_writer_put_note(&w, 3, id, sizeof(id));
	if (note)
		(void)elf_writer_segment(&w,
		    &(struct elf_writer_segment){ 4, 4, at, at, 36, 36, 4 });
	else
		w.sections[elf_writer_section(&w, &notes)].off = at;
	if (many && note)
		(void)elf_writer_section(&w,
		    &(struct elf_writer_section){ .name = "", .type = 1 });
	elf_writer_finish(&w);
	for (size_t i = 0; i < 4; i++)
		shoff |= (size_t)w.bytes[SHOFF + i] << (8 * i);
	if (many) {
		elf_writer_poke(&w, shoff + SH_INFO, w.n_segments, 4);
		elf_writer_poke(&w, PHNUM, 0xffff, 2);
	}
	write_file(path, w.bytes, w.n_bytes);
	elf_writer_free(&w);
}

static void
what_headers_say_is_kept(void **state)
{
	static const struct {
		const char *name;
		bool note, many;
	} cases[] = {
		{ "notes in a segment", true, false },
		{ "notes in a section", false, false },
		{ "many segments", true, true },
		{ "many segments, notes in a section", false, true },
	};
	struct fixture *f = *state;
	struct hwtd_image_info info = { .size = sizeof(info) };
	struct hwtdi_elf_file before, after;
	struct hwtd_record r;
	struct hwtd_trace *trace;
	uint8_t *bytes;
	size_t n;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("case %s\n", cases[i].name);
		write_scattered(f->library, cases[i].note, cases[i].many);
		trace = mr_create(f->dir.path);
		r = mr_record(HWTD_REC_MMAP, 5, LIBRARY + 0x4000, 0x800);
		r.name = "/lib/library.so";
		r.flags |= HWTD_RECF_FILE_OFF;
		r.file_off = 0x4000;
		mr_add(trace, &r);
		(void)mt_seal(trace);
		st_save(trace, f->first, HWTD_SAVE_IMAGES);
		bytes = read_file(f->library, &n);
		assert_int_equal(hwtdi_elf_file_init(&before, trace->library,
				     "", bytes, n, NULL),
		    HWTD_OK);
		free(bytes);
		assert_int_equal(before.build_id.n, 20);
		assert_int_equal(before.n_segments, 2);
		assert_int_equal(unlink(f->library), 0);

		struct hwtd_trace *again = st_open(f->first, f->dir.path);

		assert_int_equal(hwtd_trace_image(again, 0, &info), HWTD_OK);
		assert_int_equal(info.n_build_id, 20);
		assert_int_equal(info.build_id[19], 0xef);
		assert_int_equal(hwtdi_elf_file_init(&after, trace->library,
				     "", again->images[0].bytes,
				     again->images[0].n_bytes, NULL),
		    HWTD_OK);
		if (!cases[i].note) {
			/* That one the archive tells by itself. */
			assert_int_equal(after.build_id.n, 0);
			after.build_id = before.build_id;
		}
		assert_same_elf(&before, &after);
		hwtdi_elf_file_fini(&before, trace->library);
		hwtdi_elf_file_fini(&after, trace->library);
		hwtd_trace_close(trace);
		hwtd_trace_close(again);
	}
}

/* Parts of files are not listed beside the files. */
static void
images_of_an_archive_are_those_of_the_trace(void **state)
{
	static const uint8_t jit[] = { 0xc3 };
	struct fixture *f = *state;
	struct hwtd_trace *trace = mr_create(f->dir.path);
	struct hwtd_trace *again;
	struct hwtd_image_info a = { .size = sizeof(a) };
	struct hwtd_image_info b = { .size = sizeof(b) };
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_record r;
	uint32_t n = 0, id = mr_image(trace, "jit", jit, sizeof(jit));

	mr_mmap(trace, 5, 0x20000, 0x1000, id);
	add_library(trace, 5, 0xcd);
	r = mr_record(HWTD_REC_EXEC, 6, PROGRAM, 0);
	r.name = "/bin/program";
	mr_add(trace, &r);
	(void)mt_seal(trace);
	st_save(trace, f->first, HWTD_SAVE_IMAGES);
	again = st_open(f->first, f->dir.path);
	/* And once more, from parts. */
	st_save(again, f->second, 0);
	hwtd_trace_close(again);
	assert_int_equal(unlink(f->library), 0);
	again = st_open(f->second, f->dir.path);
	for (; hwtd_trace_image(trace, n, &a) == HWTD_OK; n++) {
		assert_int_equal(hwtd_trace_image(again, n, &b), HWTD_OK);
		assert_string_equal(a.path, b.path);
		assert_int_equal(a.state, b.state);
		assert_int_equal(a.n_build_id, b.n_build_id);
	}
	assert_int_equal(n, 3);
	assert_int_equal(hwtd_trace_image(again, n, &b), HWTD_E_NOT_FOUND);
	assert_int_equal(hwtd_trace_info(again, &info), HWTD_OK);
	assert_int_equal(info.n_images, n);
	mr_assert(again, 5, NULL, 0x20000, "jit", 0);
	hwtd_trace_close(trace);
	hwtd_trace_close(again);
}

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct small_elf program = { .code = jump,
		.n_code = sizeof(jump),
		.build_id = 0xab };
	const struct small_elf library = { .code = straight,
		.n_code = sizeof(straight),
		.build_id = 0xcd };

	temp_dir_create(&f->dir);
	(void)temp_dir_file(&f->dir, "program", f->program);
	(void)temp_dir_file(&f->dir, "library.so", f->library);
	(void)temp_dir_file(&f->dir, "first.hwt", f->first);
	(void)temp_dir_file(&f->dir, "second.hwt", f->second);
	small_elf_write(&program, f->program);
	small_elf_write(&library, f->library);
	*state = f;
	return (0);
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	temp_dir_remove(&f->dir);
	free(f);
	return (0);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(archive_decodes_without_the_files),
		T(without_images_the_files_are_needed),
		T(archived_code_goes_before_files),
		T(records_come_back_as_they_were),
		T(archive_holds_mapped_code_only),
		T(versions_of_one_name_stay_apart),
		T(headers_behind_the_code_are_kept),
		T(what_headers_say_is_kept),
		T(images_of_an_archive_are_those_of_the_trace),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
