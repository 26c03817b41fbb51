/*
 * Fuzz harness of entries of hwt(4).  An input is: 4 bytes of choices, then entries.
 *
 *	0 bit 0: entries of 5BSD; bit 1: CPU mode; bit 2: files exist; bit 3: the
 *	  entries have the layout in full, else 24 bytes and the rest is 0
 *	1 pages of a buffer, less one
 *	2 ids of threads and streams that are known
 *	3 bytes of the lists of kernel files, in parts of 8, behind the choices
 *
 * What is not known is 0; positions lie in the buffer; paths end; a record says
 * what the entry says.
 */
#include "fuzz.h"

#include <hwtdecode/record.h>

#include "capture/entries.h"

#define MOST 64
#define KNOWN_IDS 256

struct choices {
	size_t stride;
	bool cpu_mode, exist, full;
	uint64_t bufsize;
	size_t n_ids;
};

static bool
exists(void *arg, const char *path)
{
	FUZZ_CHECK(path[0] != '\0' && strlen(path) <= HWTDI_HWT_PATH_ROOM,
	    "a path of %zu bytes is looked for", strlen(path));
	return (*(const bool *)arg);
}

static void
check_entry(const struct choices *c, const struct hwtdi_entry *e)
{
	const struct {
		uint32_t flag;
		uint64_t value;
	} fields[] = {
		{ HWTDI_ENTRYF_ADDR, e->addr },
		{ HWTDI_ENTRYF_BASE, e->base },
		{ HWTDI_ENTRYF_FILE_OFF, e->file_off },
		{ HWTDI_ENTRYF_LEN, e->len },
		{ HWTDI_ENTRYF_INDEX, e->index },
		{ HWTDI_ENTRYF_POSITION, e->position },
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		FUZZ_CHECK((e->flags & fields[i].flag) != 0 ||
			fields[i].value == 0,
		    "field %zu is not known and not 0", i);
	FUZZ_CHECK(memchr(e->path, 0, sizeof(e->path)) != NULL,
	    "a path does not end");
	FUZZ_CHECK(e->position <= c->bufsize, "a position of %llu",
	    (unsigned long long)e->position);
	FUZZ_CHECK(e->len <= UINT64_MAX - e->addr, "a mapping wraps");
	FUZZ_CHECK(e->index <= INT32_MAX, "an index of %u", e->index);
}

static void
check_record(const struct choices *c, const struct hwtdi_entry *e,
    const struct hwtd_record *r)
{
	const uint32_t kernel = e->kind == HWTDI_ENTRY_KERNEL
	    ? HWTD_RECF_KERNEL_SPACE
	    : 0;

	FUZZ_CHECK(r->size == sizeof(*r) && r->type < HWTD_REC_TYPES,
	    "type %u", r->type);
	FUZZ_CHECK((r->flags & HWTD_RECF_KERNEL_SPACE) == kernel,
	    "user and kernel are mixed up");
	FUZZ_CHECK(r->addr == e->addr && r->len == e->len &&
		r->base == e->base && r->file_off == e->file_off &&
		r->stream_off == e->position,
	    "a record says something else");
	FUZZ_CHECK((e->kind == HWTDI_ENTRY_UNKNOWN) ==
		(r->type == HWTD_REC_UNKNOWN),
	    "kind %d is type %u", (int)e->kind, r->type);
	FUZZ_CHECK(!c->cpu_mode ||
		(r->pid == HWTD_NO_ID && r->tid == HWTD_NO_ID),
	    "a process in CPU mode");
	FUZZ_CHECK(r->type == HWTD_REC_UNKNOWN ||
		(r->name == NULL) == (e->path[0] == '\0'),
	    "a name comes or goes");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct hwtdi_module modules[] = { { .addr = 0x1000,
	    .len = 0x2000,
	    .name = "a.ko",
	    .path = "/boot/a.ko" } };
	struct fuzz_in in = { data, size };
	const uint64_t bits = fuzz_take(&in, 1);
	struct choices c = {
		.stride = (bits & 1) != 0 ? HWTDI_HWT_LONG_ENTRY_SIZE
					  : HWTDI_HWT_ENTRY_SIZE,
		.cpu_mode = (bits & 2) != 0,
		.exist = (bits & 4) != 0,
		.full = (bits & 8) != 0,
	};
	char boot[8 * 255 + 1];
	uint32_t ids[KNOWN_IDS];
	size_t n_boot;

	c.bufsize = (fuzz_take(&in, 1) + 1) * 4096;
	c.n_ids = (size_t)fuzz_take(&in, 1);
	n_boot = 8 * (size_t)fuzz_take(&in, 1);
	if (n_boot > in.left)
		n_boot = in.left;
	if (n_boot > 0)
		memcpy(boot, in.at, n_boot);
	boot[n_boot] = '\0';
	in.at += n_boot;
	in.left -= n_boot;
	for (uint32_t i = 0; i < KNOWN_IDS; i++)
		ids[i] = 1000 + i;

	const struct hwtdi_kernel_files files = {
		.bootfile = boot,
		.module_path = boot,
		.modules = modules,
		.n_modules = 1,
		.exists = exists,
		.arg = &c.exist,
	};
	const struct hwtdi_entry_place place = {
		.cpu_mode = c.cpu_mode,
		.pid = 1,
		.tids = ids,
		.n_tids = c.n_ids,
		.streams = ids,
		.n_streams = c.n_ids,
	};

	for (size_t i = 0; i < MOST && in.left > 0; i++) {
		uint8_t bytes[HWTDI_HWT_LONG_ENTRY_SIZE] = { 0 };
		size_t n = c.full ? c.stride : 24;
		struct hwtdi_entry e;
		struct hwtd_record r;

		if (n > in.left)
			n = in.left;
		memcpy(bytes, in.at, n);
		in.at += n;
		in.left -= n;
		FUZZ_CHECK(hwtdi_entry_read(bytes, c.stride, c.bufsize, &e,
			       NULL) == HWTD_OK,
		    "an entry is refused");
		check_entry(&c, &e);
		hwtdi_entry_record(&e, &place, &r);
		check_record(&c, &e, &r);
		hwtdi_entry_resolve(&e, &files);
		check_entry(&c, &e);
		hwtdi_entry_record(&e, &place, &r);
		check_record(&c, &e, &r);
	}
	return (0);
}
