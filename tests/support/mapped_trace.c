/*
 * Records, images and small ELF files for tests of address spaces.
 */
#include "support/mapped_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "support/elf_writer.h"
#include "support/temp_dir.h"

#define PT_LOAD 1
#define PT_INTERP 3
#define PT_NOTE 4
#define READ 4
#define READ_EXECUTE 5

static void
expect_ok(int rc, const struct hwtd_error *err)
{
	if (rc != HWTD_OK)
		fail_msg("%d %s: %s", rc, hwtd_code_text(rc), err->message);
}

struct hwtd_trace *
mr_create(const char *dir)
{
	struct hwtd_error err = { .size = sizeof(err) };
	const struct hwtd_search search = {
		.size = sizeof(search),
		.dirs = &dir,
		.n_dirs = 1,
		.flags = HWTD_SEARCH_NO_ORIGINAL,
	};
	const struct hwtd_trace_options opts = {
		.size = sizeof(opts),
		.search = &search,
	};
	struct hwtd_context *ctx = NULL;
	struct hwtd_trace *trace = NULL;

	expect_ok(hwtd_context_create(NULL, &ctx, &err), &err);
	expect_ok(hwtd_trace_create(ctx, &opts, &trace, &err), &err);
	hwtd_context_destroy(ctx);
	return (trace);
}

struct hwtd_record
mr_record(uint32_t type, uint32_t pid, uint64_t addr, uint64_t len)
{
	struct hwtd_record r = {
		.size = sizeof(r),
		.type = type,
		.flags = HWTD_RECF_ADDR,
		.cpu = HWTD_NO_ID,
		.pid = pid,
		.tid = HWTD_NO_ID,
		.stream = HWTD_NO_ID,
		.image = HWTD_NO_ID,
		.addr = addr,
		.len = len,
	};

	if (len != 0)
		r.flags |= HWTD_RECF_LEN;
	return (r);
}

void
mr_time(struct hwtd_record *r, uint64_t time_ns)
{
	r->flags |= HWTD_RECF_TIME;
	r->time_ns = time_ns;
}

void
mr_place(struct hwtd_record *r, uint32_t stream, uint64_t off)
{
	r->flags |= HWTD_RECF_STREAM_OFF;
	r->stream = stream;
	r->stream_off = off;
}

void
mr_add(struct hwtd_trace *trace, const struct hwtd_record *r)
{
	struct hwtd_error err = { .size = sizeof(err) };

	expect_ok(hwtd_trace_add_record(trace, r, &err), &err);
}

uint32_t
mr_image(struct hwtd_trace *trace, const char *name, const void *bytes,
    size_t n)
{
	struct hwtd_error err = { .size = sizeof(err) };
	const struct hwtd_image_desc desc = {
		.size = sizeof(desc),
		.path = name,
		.bytes = bytes,
		.n_bytes = n,
	};
	uint32_t id = HWTD_NO_ID;

	expect_ok(hwtd_trace_add_image(trace, &desc, &id, &err), &err);
	return (id);
}

static struct hwtd_record
mmap_of(uint32_t pid, uint64_t addr, uint64_t len, uint32_t image)
{
	struct hwtd_record r = mr_record(HWTD_REC_MMAP, pid, addr, len);

	r.flags |= HWTD_RECF_FILE_OFF;
	r.image = image;
	return (r);
}

struct hwtd_trace *
mr_two_images(const void *a, const void *b, size_t n)
{
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	pt_pad(&p, 100);
	(void)mt_stream(trace, &p, NULL);
	pt_free(&p);
	assert_int_equal(mr_image(trace, "a", a, n), 0);
	assert_int_equal(mr_image(trace, "b", b, n), 1);
	return (trace);
}

void
mr_mmap(struct hwtd_trace *trace, uint32_t pid, uint64_t addr, uint64_t len,
    uint32_t image)
{
	const struct hwtd_record r = mmap_of(pid, addr, len, image);

	mr_add(trace, &r);
}

void
mr_mmap_at(struct hwtd_trace *trace, uint64_t time_ns, uint32_t pid,
    uint64_t addr, uint64_t len, uint32_t image)
{
	struct hwtd_record r = mmap_of(pid, addr, len, image);

	mr_time(&r, time_ns);
	mr_add(trace, &r);
}

void
mr_buffer(struct hwtd_trace *trace, uint32_t stream, uint64_t off)
{
	struct hwtd_record r = mr_record(HWTD_REC_BUFFER, HWTD_NO_ID, 0, 0);

	r.flags = 0;
	mr_place(&r, stream, off);
	mr_add(trace, &r);
}

struct hwtd_position
mr_at_time(uint64_t time_ns)
{
	const struct hwtd_position p = {
		.size = sizeof(p),
		.flags = HWTD_POSITION_TIME,
		.time_ns = time_ns,
	};

	return (p);
}

struct hwtd_position
mr_at_byte(uint32_t stream, uint64_t off)
{
	const struct hwtd_position p = {
		.size = sizeof(p),
		.flags = HWTD_POSITION_OFFSET,
		.stream = stream,
		.stream_off = off,
	};

	return (p);
}

void
mr_assert(const struct hwtd_trace *trace, uint32_t pid,
    const struct hwtd_position *at, uint64_t address, const char *path,
    uint64_t file_off)
{
	struct hwtd_mapping m = { .size = sizeof(m) };
	int rc = hwtd_space_lookup(trace, pid, at, address, &m);

	if (path == NULL) {
		assert_int_equal(rc, HWTD_E_NOT_FOUND);
		return;
	}
	assert_int_equal(rc, HWTD_OK);
	assert_string_equal(m.path, path);
	assert_true(address - m.address < m.length);
	assert_int_equal(m.file_off + (address - m.address), file_off);
}

void
mr_assert_in_doubt(const struct hwtd_trace *trace, uint32_t pid,
    const struct hwtd_position *at, uint64_t address, const char *path)
{
	struct hwtd_mapping m = { .size = sizeof(m) };

	assert_int_equal(hwtd_space_lookup(trace, pid, at, address, &m),
	    HWTD_E_STATE);
	assert_string_equal(m.path, path);
}

void
small_elf_write(const struct small_elf *elf, const char *path)
{
	const uint64_t base = elf->base;
	struct elf_writer w;
	uint8_t id[20];
	size_t at, n;

	elf_writer_init(&w, true, false, elf->type == 2 ? 2 : 3, 62);
	if (elf->interpreter != NULL) {
		n = strlen(elf->interpreter) + 1;
		at = elf_writer_put(&w, elf->interpreter, n, 1);
		(void)elf_writer_segment(&w,
		    &(struct elf_writer_segment){ PT_INTERP, READ, at,
			base + at, n, n, 1 });
	}
	if (elf->build_id != 0) {
		memset(id, elf->build_id, sizeof(id));
		at = elf_writer_put_note(&w, 3, id, sizeof(id));
		(void)elf_writer_segment(&w,
		    &(struct elf_writer_segment){ PT_NOTE, READ, at, base + at,
			36, 36, 4 });
	}
	(void)elf_writer_segment(&w,
	    &(struct elf_writer_segment){ PT_LOAD, READ, 0, base, w.n_bytes,
		w.n_bytes, 4096 });
	at = elf_writer_put(&w, elf->code, elf->n_code, 4096);
	assert_int_equal(at, 0x1000);
	(void)elf_writer_segment(&w,
	    &(struct elf_writer_segment){ PT_LOAD, READ_EXECUTE, at, base + at,
		elf->n_code, elf->n_code, 4096 });
	elf_writer_finish(&w);
	write_file(path, w.bytes, w.n_bytes);
	elf_writer_free(&w);
}
