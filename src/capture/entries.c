/*
 * Reading entries of hwt(4), finding files of the kernel, and making records.
 *
 * Source: sys/hwt_record.h and sys/dev/hwt of FreeBSD 15; hwt(4).
 */
#include "capture/entries.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "record/record_list.h"

/* Pages that positions are counted in. */
#define PAGE 4096

static uint64_t
word(const uint8_t *bytes, size_t at)
{
	uint64_t v;

	memcpy(&v, bytes + at, sizeof(v));
	return (v);
}

static int32_t
number(const uint8_t *bytes, size_t at)
{
	int32_t v;

	memcpy(&v, bytes + at, sizeof(v));
	return (v);
}

static void
read_path(const uint8_t *bytes, struct hwtdi_entry *e)
{
	const char *path = (const char *)bytes +
	    offsetof(struct hwtdi_hwt_entry, u);
	const size_t n = strnlen(path, HWTDI_HWT_PATH_ROOM);

	memcpy(e->path, path, n);
	e->path[n] = '\0';
	if (n == HWTDI_HWT_PATH_ROOM)
		e->flags |= HWTDI_ENTRYF_TRUNCATED;
}

static void
read_addr(const uint8_t *bytes, struct hwtdi_entry *e)
{
	e->addr = word(bytes, offsetof(struct hwtdi_hwt_entry, u.path.addr));
	e->flags |= HWTDI_ENTRYF_ADDR;
}

static void
read_index(const uint8_t *bytes, struct hwtdi_entry *e)
{
	const int32_t index = number(bytes,
	    offsetof(struct hwtdi_hwt_entry, u));

	if (index < 0) {
		e->flags |= HWTDI_ENTRYF_DOUBTFUL;
		return;
	}
	e->index = (uint32_t)index;
	e->flags |= HWTDI_ENTRYF_INDEX;
}

/* What 5BSD adds.  A mapping has a length: without one nothing was told. */
static void
read_extent(const uint8_t *bytes, struct hwtdi_entry *e)
{
	const uint64_t off = word(bytes,
	    offsetof(struct hwtdi_hwt_long_entry, pgoff));
	const uint64_t len = word(bytes,
	    offsetof(struct hwtdi_hwt_long_entry, len));

	if (len == 0)
		return;
	if (off > INT64_MAX || len > UINT64_MAX - e->addr) {
		e->flags |= HWTDI_ENTRYF_DOUBTFUL;
		return;
	}
	e->file_off = off;
	e->len = len;
	e->flags |= HWTDI_ENTRYF_FILE_OFF | HWTDI_ENTRYF_LEN;
}

static void
read_position(const uint8_t *bytes, uint64_t bufsize, struct hwtdi_entry *e)
{
	e->page = number(bytes,
	    offsetof(struct hwtdi_hwt_entry, u.buffer.curpage));
	e->page_offset = word(bytes,
	    offsetof(struct hwtdi_hwt_entry, u.buffer.offset));
	/* Stock kernels may have lost the page. */
	if (e->page < 0 || e->page_offset >= PAGE ||
	    (uint64_t)e->page * PAGE + e->page_offset > bufsize) {
		e->flags |= HWTDI_ENTRYF_DOUBTFUL;
		return;
	}
	e->position = (uint64_t)e->page * PAGE + e->page_offset;
	e->flags |= HWTDI_ENTRYF_POSITION;
}

static void
read_exec(const uint8_t *bytes, struct hwtdi_entry *e)
{
	e->kind = HWTDI_ENTRY_EXEC;
	read_path(bytes, e);
	read_addr(bytes, e);
	e->base = word(bytes,
	    offsetof(struct hwtdi_hwt_entry, u.path.baseaddr));
	/* The same: a program without an interpreter. */
	if (e->base == e->addr)
		e->base = 0;
	else
		e->flags |= HWTDI_ENTRYF_BASE;
}

int
hwtdi_entry_read(const uint8_t *bytes, size_t stride, uint64_t bufsize,
    struct hwtdi_entry *out, struct hwtd_error *err)
{
	const bool is_long = stride == HWTDI_HWT_LONG_ENTRY_SIZE;

	if (!is_long && stride != HWTDI_HWT_ENTRY_SIZE)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "entries of %zu bytes; %d and %d are known", stride,
		    HWTDI_HWT_ENTRY_SIZE, HWTDI_HWT_LONG_ENTRY_SIZE));
	memset(out, 0, sizeof(*out));
	out->number = (uint32_t)number(bytes, 0);
	switch (out->number) {
	case HWTDI_HWT_ENTRY_MMAP:
		/* baseaddr is what lay on the kernel's stack. */
		out->kind = HWTDI_ENTRY_MMAP;
		read_path(bytes, out);
		read_addr(bytes, out);
		if (is_long)
			read_extent(bytes, out);
		break;
	case HWTDI_HWT_ENTRY_MUNMAP:
		out->kind = HWTDI_ENTRY_MUNMAP;
		/* Only 5BSD tells what; others leave zeros. */
		if (is_long &&
		    word(bytes,
			offsetof(struct hwtdi_hwt_entry, u.path.addr)) != 0)
			read_addr(bytes, out);
		break;
	case HWTDI_HWT_ENTRY_EXECUTABLE:
		read_exec(bytes, out);
		break;
	case HWTDI_HWT_ENTRY_KERNEL:
		out->kind = HWTDI_ENTRY_KERNEL;
		read_path(bytes, out);
		read_addr(bytes, out);
		break;
	case HWTDI_HWT_ENTRY_THREAD_CREATE:
		out->kind = HWTDI_ENTRY_THREAD;
		read_index(bytes, out);
		break;
	case HWTDI_HWT_ENTRY_THREAD_SET_NAME:
		out->kind = HWTDI_ENTRY_THREAD_NAME;
		read_index(bytes, out);
		break;
	case HWTDI_HWT_ENTRY_BUFFER:
		out->kind = HWTDI_ENTRY_BUFFER;
		read_index(bytes, out);
		read_position(bytes, bufsize, out);
		break;
	case HWTDI_HWT_ENTRY_OVERFLOW:
		/* Others may give the number to something else. */
		if (is_long) {
			out->kind = HWTDI_ENTRY_OVERFLOW;
			read_index(bytes, out);
		}
		break;
	default:
		break;
	}
	return (HWTD_OK);
}

/* Files of the kernel. */

static const char *
last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return (slash != NULL ? slash + 1 : path);
}

static bool
is_module(const char *path)
{
	const size_t n = strlen(path);

	return (n > 3 && strcmp(path + n - 3, ".ko") == 0);
}

/* Take `dir`/`name` if there is such a file and room for it. */
static bool
try_place(struct hwtdi_entry *e, const struct hwtdi_kernel_files *files,
    const char *dir, size_t n_dir, const char *name)
{
	char path[sizeof(e->path)];
	int n;

	if (n_dir == 0 || n_dir >= sizeof(path))
		return (false);
	while (n_dir > 1 && dir[n_dir - 1] == '/')
		n_dir--;
	n = snprintf(path, sizeof(path), "%.*s%s%s", (int)n_dir, dir,
	    dir[n_dir - 1] == '/' ? "" : "/", name);
	if (n < 0 || (size_t)n >= sizeof(path) ||
	    (files->exists != NULL && !files->exists(files->arg, path)))
		return (false);
	memcpy(e->path, path, (size_t)n + 1);
	e->flags |= HWTDI_ENTRYF_RESOLVED;
	return (true);
}

static bool
search_places(struct hwtdi_entry *e, const struct hwtdi_kernel_files *files,
    const char *name)
{
	const char *at = files->module_path;

	if (files->bootfile != NULL &&
	    try_place(e, files, files->bootfile,
		(size_t)(last_name(files->bootfile) - files->bootfile), name))
		return (true);
	while (at != NULL && *at != '\0') {
		const size_t n = strcspn(at, ";");

		if (try_place(e, files, at, n, name))
			return (true);
		at += n + (at[n] == ';' ? 1 : 0);
	}
	return (false);
}

/* What kldstat(8) knows of it. */
static bool
listed(struct hwtdi_entry *e, const struct hwtdi_kernel_files *files,
    const char *name)
{
	for (size_t i = 0; i < files->n_modules; i++) {
		const struct hwtdi_module *m = &files->modules[i];
		const size_t n = strnlen(m->path, sizeof(m->path));

		if (m->addr != e->addr ||
		    strncmp(m->name, name, sizeof(m->name)) != 0)
			continue;
		if (m->len > 0 && m->len <= UINT64_MAX - m->addr) {
			e->len = m->len;
			e->flags |= HWTDI_ENTRYF_LEN;
		}
		if (n == 0 || n == sizeof(m->path))
			return (false);
		memcpy(e->path, m->path, n + 1);
		e->flags |= HWTDI_ENTRYF_RESOLVED;
		return (true);
	}
	return (false);
}

void
hwtdi_entry_resolve(struct hwtdi_entry *entry,
    const struct hwtdi_kernel_files *files)
{
	char name[sizeof(entry->path)];

	if (entry->kind != HWTDI_ENTRY_KERNEL)
		return;
	if (is_module(entry->path))
		entry->flags |= HWTDI_ENTRYF_MODULE;
	if ((entry->flags &
		(HWTDI_ENTRYF_TRUNCATED | HWTDI_ENTRYF_RESOLVED)) != 0 ||
	    entry->path[0] == '\0')
		return;
	memcpy(name, entry->path, sizeof(name));
	if (listed(entry, files, last_name(name)))
		return;
	/* A path of its own; a name with "../" leads nowhere. */
	if (name[0] == '/') {
		if (files->exists == NULL || files->exists(files->arg, name))
			entry->flags |= HWTDI_ENTRYF_RESOLVED;
		return;
	}
	if (strchr(name, '/') != NULL || strcmp(name, ".") == 0 ||
	    strcmp(name, "..") == 0)
		return;
	/* The kernel is called so whatever its file is called. */
	if (strcmp(name, "kernel") == 0 && files->bootfile != NULL &&
	    try_place(entry, files, files->bootfile,
		(size_t)(last_name(files->bootfile) - files->bootfile),
		last_name(files->bootfile)))
		return;
	(void)search_places(entry, files, name);
}

/* Records. */

static uint32_t
of_index(const uint32_t *table, size_t n, const struct hwtdi_entry *e)
{
	if ((e->flags & HWTDI_ENTRYF_INDEX) == 0 || table == NULL ||
	    e->index >= n)
		return (HWTD_NO_ID);
	return (table[e->index]);
}

static void
record_fields(const struct hwtdi_entry *e, struct hwtd_record *r)
{
	const struct {
		uint32_t of, flag;
		uint64_t from, *to;
	} fields[] = {
		{ HWTDI_ENTRYF_ADDR, HWTD_RECF_ADDR, e->addr, &r->addr },
		{ HWTDI_ENTRYF_BASE, HWTD_RECF_BASE, e->base, &r->base },
		{ HWTDI_ENTRYF_LEN, HWTD_RECF_LEN, e->len, &r->len },
		{ HWTDI_ENTRYF_FILE_OFF, HWTD_RECF_FILE_OFF, e->file_off,
		    &r->file_off },
		{ HWTDI_ENTRYF_POSITION, HWTD_RECF_STREAM_OFF, e->position,
		    &r->stream_off },
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if ((e->flags & fields[i].of) != 0) {
			*fields[i].to = fields[i].from;
			r->flags |= fields[i].flag;
		}
	if (e->path[0] != '\0')
		r->name = e->path;
}

/* Whose buffer it is. */
static void
record_owner(const struct hwtdi_entry *e,
    const struct hwtdi_entry_place *place, struct hwtd_record *r)
{
	r->stream = of_index(place->streams, place->n_streams, e);
	if (!place->cpu_mode)
		r->tid = of_index(place->tids, place->n_tids, e);
	else if ((e->flags & HWTDI_ENTRYF_INDEX) != 0)
		r->cpu = e->index;
}

void
hwtdi_entry_record(const struct hwtdi_entry *entry,
    const struct hwtdi_entry_place *place, struct hwtd_record *out)
{
	static const uint32_t types[] = {
		[HWTDI_ENTRY_UNKNOWN] = HWTD_REC_UNKNOWN,
		[HWTDI_ENTRY_EXEC] = HWTD_REC_EXEC,
		[HWTDI_ENTRY_MMAP] = HWTD_REC_MMAP,
		[HWTDI_ENTRY_MUNMAP] = HWTD_REC_MUNMAP,
		[HWTDI_ENTRY_KERNEL] = HWTD_REC_KERNEL,
		[HWTDI_ENTRY_THREAD] = HWTD_REC_THREAD_CREATE,
		[HWTDI_ENTRY_THREAD_NAME] = HWTD_REC_THREAD_NAME,
		[HWTDI_ENTRY_BUFFER] = HWTD_REC_BUFFER,
		[HWTDI_ENTRY_OVERFLOW] = HWTD_REC_LOST,
	};

	*out = hwtdi_record_of(types[entry->kind]);
	if (!place->cpu_mode)
		out->pid = place->pid;
	record_fields(entry, out);
	switch (entry->kind) {
	case HWTDI_ENTRY_UNKNOWN:
		out->name = "hwt entry of an unknown type";
		out->value = entry->number;
		out->flags |= HWTD_RECF_VALUE;
		break;
	case HWTDI_ENTRY_KERNEL:
		out->pid = HWTD_NO_ID;
		out->flags |= HWTD_RECF_KERNEL_SPACE;
		if ((entry->flags & HWTDI_ENTRYF_MODULE) != 0 ||
		    is_module(entry->path))
			out->type = HWTD_REC_MODULE_LOAD;
		break;
	case HWTDI_ENTRY_THREAD:
	case HWTDI_ENTRY_THREAD_NAME:
		if (!place->cpu_mode)
			out->tid = of_index(place->tids, place->n_tids, entry);
		break;
	case HWTDI_ENTRY_BUFFER:
	case HWTDI_ENTRY_OVERFLOW:
		record_owner(entry, place, out);
		break;
	default:
		break;
	}
}
