/*
 * What the kernel tells beside the bytes: entries of its queue, and what is mapped
 * when a capture begins.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "capture/engine_internal.h"
#include "record/record_list.h"

/* Files whose build-ids are kept. */
#define FILES_MAX 4096
/* Times that a snapshot is made until no records come during it. */
#define SNAPSHOTS 5
/* Times in a row that entries cannot be copied. */
#define UNCOPIED_MAX 16
/* Pieces of an address space. */
#define MAPPINGS_MAX ((size_t)1 << 20)

/* Lists of threads until none begins while they are made. */
#define GATHERS 8

/* Build-ids */

/* Whether the file is the one that was read; of one that is gone it is. */
static bool
is_same(struct hwtdi_image_id *file)
{
	struct stat st;
	bool same;

	if (file->found == NULL || stat(file->found, &st) != 0)
		return (true);
	same = file->device == (uint64_t)st.st_dev &&
	    file->number == (uint64_t)st.st_ino &&
	    file->bytes == (uint64_t)st.st_size &&
	    file->changed_s == (int64_t)st.st_mtim.tv_sec &&
	    file->changed_ns == (int64_t)st.st_mtim.tv_nsec;
	file->device = (uint64_t)st.st_dev;
	file->number = (uint64_t)st.st_ino;
	file->bytes = (uint64_t)st.st_size;
	file->changed_s = (int64_t)st.st_mtim.tv_sec;
	file->changed_ns = (int64_t)st.st_mtim.tv_nsec;
	return (same);
}

static int
read_build_id(struct hwtdi_engine *e, struct hwtdi_image_id *file,
    struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtdi_image_found *found;
	int rc;

	hwtdi_strfree(e->library, file->found);
	file->found = NULL;
	file->id.n = 0;
	found = hwtdi_zalloc(e->library, sizeof(*found));
	if (found == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*found)));
	rc = hwtdi_image_search(found, e->library, file->path, NULL,
	    &e->places, &inner);
	if (rc == HWTD_OK) {
		if (found->is_elf)
			file->id = found->elf.build_id;
		file->found = hwtdi_strdup(e->library, found->path);
		if (file->found == NULL)
			rc = hwtdi_fail_nomem(&inner, strlen(found->path) + 1);
		(void)is_same(file);
		hwtdi_image_found_fini(found, e->library);
	}
	hwtdi_free(e->library, found, sizeof(*found));
	/* A file that cannot be read is mapped all the same. */
	return (hwtdi_fail_is_final(rc) ? hwtdi_fail_pass(err, &inner)
					: HWTD_OK);
}

/* *out NULL: there are too many. */
static int
find_file(struct hwtdi_engine *e, const char *path,
    struct hwtdi_image_id **out, struct hwtd_error *err)
{
	struct hwtdi_image_id *file;
	int rc;

	*out = NULL;
	for (size_t i = 0; i < e->n_files; i++) {
		file = &e->files[i];
		if (strcmp(file->path, path) != 0)
			continue;
		*out = file;
		return (is_same(file) ? HWTD_OK : read_build_id(e, file, err));
	}
	if (e->n_files == FILES_MAX)
		return (HWTD_OK);
	rc = hwtdi_array_grow(e->library, &e->files, &e->cap_files,
	    e->n_files + 1, sizeof(*e->files), err);
	if (rc != HWTD_OK)
		return (rc);
	file = &e->files[e->n_files];
	memset(file, 0, sizeof(*file));
	file->path = hwtdi_strdup(e->library, path);
	if (file->path == NULL)
		return (hwtdi_fail_nomem(err, strlen(path) + 1));
	e->n_files++;
	*out = file;
	return (read_build_id(e, file, err));
}

/* Of the file that a record names, as it is now: files are replaced. */
static int
add_build_id(struct hwtdi_engine *e, struct hwtd_record *r,
    struct hwtd_error *err)
{
	struct hwtdi_image_id *file;
	int rc;

	if (r->name == NULL || strchr(r->name, '/') == NULL)
		return (HWTD_OK);
	rc = find_file(e, r->name, &file, err);
	if (rc != HWTD_OK || file == NULL || file->id.n > HWTD_MAX_BUILD_ID)
		return (rc);
	memcpy(r->build_id, file->id.bytes, file->id.n);
	r->n_build_id = file->id.n;
	return (HWTD_OK);
}

/* Filters */

/* An image came; filters may find what they look for in it. */
static int
see_image(struct hwtdi_engine *e, const struct hwtdi_filter_load *load,
    struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	bool changed = false;
	int rc;

	if (e->options.n_filters == 0)
		return (HWTD_OK);
	rc = hwtdi_filters_see(&e->filters, load, &changed, &inner);
	if (changed && !e->filtering && e->sessions[0].hwt->started)
		e->filters_stale = true;
	if (hwtdi_fail_is_final(rc))
		return (hwtdi_fail_pass(err, &inner));
	if (rc != HWTD_OK)
		hwtdi_log(e->library, HWTD_LOG_WARNING, "capture", "%s",
		    inner.message);
	return (HWTD_OK);
}

static int
see_entry(struct hwtdi_engine *e, const struct hwtdi_entry *entry,
    struct hwtd_error *err)
{
	struct hwtdi_filter_load load = {
		.path = entry->path,
		.addr = entry->addr,
		.base = entry->base,
		.has_file_off = (entry->flags & HWTDI_ENTRYF_FILE_OFF) != 0,
		.has_length = (entry->flags & HWTDI_ENTRYF_LEN) != 0,
		.file_off = entry->file_off,
		.length = entry->len,
	};

	if (entry->kind == HWTDI_ENTRY_EXEC)
		load.kind = HWTDI_FILTER_EXECUTABLE;
	else if (entry->kind == HWTDI_ENTRY_MMAP)
		load.kind = HWTDI_FILTER_MMAP;
	else
		load.kind = HWTDI_FILTER_KERNEL;
	return (see_image(e, &load, err));
}

/* Entries */

static int
add_thread(struct hwtdi_engine *e, struct hwtdi_session *s, uint32_t number,
    struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	int rc;

	rc = hwtdi_thread_table_add(&e->numbers, e->library, number, &inner);
	if (rc == HWTD_E_LIMIT)
		return (hwtdi_capture_file_loss(&e->file,
		    HWTD_CAPTURE_LOST_THREADS, HWTD_NO_ID, 1, err));
	if (rc != HWTD_OK)
		return (hwtdi_fail_pass(err, &inner));
	return (hwtdi_session_add(s, number, err));
}

/* Entries that are handled together. */
struct batch {
	uint8_t *bytes;
	size_t n, cap;
	/* Some of them are of threads. */
	bool threads;
};

static int
append(struct hwtdi_engine *e, const struct hwtdi_session *s,
    const struct hwtdi_fetched *fetched, struct batch *batch,
    struct hwtd_error *err)
{
	const size_t stride = s->hwt->stride;
	int rc;

	if (fetched->n == 0)
		return (HWTD_OK);
	rc = hwtdi_array_grow(e->library, &batch->bytes, &batch->cap,
	    (batch->n + fetched->n) * stride, 1, err);
	if (rc != HWTD_OK)
		return (rc);
	memcpy(batch->bytes + batch->n * stride, fetched->entries,
	    fetched->n * stride);
	batch->n += fetched->n;
	return (HWTD_OK);
}

/* Numbers of threads in entries; *any_out: there are some. */
static int
add_threads(struct hwtdi_engine *e, struct hwtdi_session *s,
    const struct hwtdi_fetched *fetched, bool *any_out, struct hwtd_error *err)
{
	struct hwtdi_entry entry;
	int rc = HWTD_OK;

	*any_out = false;
	for (size_t i = 0;
	     rc == HWTD_OK && i < fetched->n && e->mode == HWTDI_HWT_THREAD;
	     i++) {
		rc = hwtdi_entry_read(fetched->entries + i * s->hwt->stride,
		    s->hwt->stride, s->bufsize, &entry, err);
		if (rc != HWTD_OK || entry.kind != HWTDI_ENTRY_THREAD ||
		    (entry.flags & HWTDI_ENTRYF_INDEX) == 0)
			continue;
		rc = add_thread(e, s, entry.index, err);
		*any_out = true;
	}
	return (rc);
}

/*
 * All entries up to a list of threads, each of which has its number in them: a
 * thread may end, and another one begin, between the entries and the list.  Threads
 * are paired before there are records of them.
 */
static int
gather(struct hwtdi_engine *e, struct hwtdi_session *s,
    const struct hwtdi_fetched *fetched, struct batch *batch,
    struct hwtd_error *err)
{
	struct hwtdi_fetched more = *fetched;
	bool any;
	int rc;

	rc = append(e, s, &more, batch, err);
	if (rc == HWTD_OK)
		rc = add_threads(e, s, &more, &any, err);
	batch->threads = rc == HWTD_OK && any;
	for (int i = 0; rc == HWTD_OK && any && i < GATHERS; i++) {
		rc = hwtdi_thread_list_read(&e->after, e->library, e->sys,
		    (pid_t)e->pid, err);
		if (rc == HWTD_OK)
			rc = hwtdi_engine_fetch(e, s, &more, err);
		if (rc == HWTD_OK)
			rc = append(e, s, &more, batch, err);
		if (rc == HWTD_OK)
			rc = add_threads(e, s, &more, &any, err);
		if (rc == HWTD_OK && !any)
			rc = hwtdi_engine_pair(e, &e->after, true, err);
	}
	return (rc);
}

/* Where the ring stood, of which nobody knows which byte of a stream it was. */
static void
fill_buffer(const struct hwtdi_entry *entry, struct hwtd_record *r)
{
	r->flags &= ~(uint32_t)HWTD_RECF_STREAM_OFF;
	r->stream_off = 0;
	if ((entry->flags & HWTDI_ENTRYF_POSITION) != 0) {
		r->flags |= HWTD_RECF_FILE_OFF;
		r->file_off = entry->position;
	}
}

static int
handle_entry(struct hwtdi_engine *e, struct hwtdi_session *s,
    struct hwtdi_entry *entry, struct hwtd_error *err)
{
	const struct hwtdi_kernel_files files = {
		.bootfile = e->machine.bootfile,
		.module_path = e->machine.module_path,
		.modules = e->modules,
		.n_modules = e->n_modules,
	};
	struct hwtdi_entry_place place = {
		.cpu_mode = e->mode == HWTDI_HWT_CPU,
		.pid = e->mode == HWTDI_HWT_CPU ? HWTD_NO_ID : e->pid,
	};
	struct hwtd_record record;
	const struct hwtdi_node *node;
	int rc = HWTD_OK;

	place.tids = e->numbers.tids;
	place.n_tids = e->numbers.n;
	hwtdi_entry_resolve(entry, &files);
	hwtdi_entry_record(entry, &place, &record);
	switch (entry->kind) {
	case HWTDI_ENTRY_EXEC:
	case HWTDI_ENTRY_MMAP:
	case HWTDI_ENTRY_KERNEL:
		rc = add_build_id(e, &record, err);
		if (rc == HWTD_OK)
			rc = see_entry(e, entry, err);
		break;
	case HWTDI_ENTRY_BUFFER:
		fill_buffer(entry, &record);
		break;
	case HWTDI_ENTRY_OVERFLOW:
		node = (entry->flags & HWTDI_ENTRYF_INDEX) != 0
		    ? hwtdi_session_node(s, entry->index)
		    : NULL;
		return (hwtdi_capture_file_loss(&e->file,
		    HWTD_CAPTURE_LOST_UNKNOWN,
		    node != NULL ? node->stream : HWTD_NO_ID, 1, err));
	case HWTDI_ENTRY_UNKNOWN:
		rc = hwtdi_capture_file_loss(&e->file,
		    HWTD_CAPTURE_LOST_RECORDS, HWTD_NO_ID, 1, err);
		break;
	default:
		break;
	}
	if (rc == HWTD_OK)
		rc = hwtdi_capture_file_record(&e->file, &record, err);
	return (rc);
}

int
hwtdi_engine_kernel(struct hwtdi_engine *e, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; rc == HWTD_OK && i < e->n_modules; i++) {
		const struct hwtdi_module *m = &e->modules[i];
		struct hwtdi_entry entry = {
			.kind = HWTDI_ENTRY_KERNEL,
			.flags = HWTDI_ENTRYF_ADDR,
			.addr = m->addr,
		};

		(void)snprintf(entry.path, sizeof(entry.path), "%.*s",
		    (int)sizeof(m->name), m->name);
		rc = handle_entry(e, &e->sessions[0], &entry, err);
	}
	return (rc);
}

/*
 * Entries that the kernel could not copy are gone from its queue.  Once a capture
 * runs, that is a loss; before, it would lack what it needs, and if it goes on and
 * on nothing will come any more.
 */
static int
get_entries(struct hwtdi_engine *e, struct hwtdi_session *s,
    struct hwtdi_fetched *out, struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	int rc;

	out->n = 0;
	rc = hwtdi_hwt_records(s->hwt, 0, &out->entries, &out->n, &inner);
	if (rc == HWTD_OK) {
		s->n_uncopied = 0;
		return (HWTD_OK);
	}
	if (rc != HWTD_E_IO || inner.sys_errno != EFAULT ||
	    e->status.n_looks == 0 || s->n_uncopied == UNCOPIED_MAX)
		return (hwtdi_fail_pass(err, &inner));
	s->n_uncopied++;
	out->n = 0;
	return (hwtdi_capture_file_loss(&e->file, HWTD_CAPTURE_LOST_RECORDS,
	    HWTD_NO_ID, 1, err));
}

int
hwtdi_engine_fetch(struct hwtdi_engine *e, struct hwtdi_session *s,
    struct hwtdi_fetched *out, struct hwtd_error *err)
{
	struct hwtdi_entry entry;
	int rc;

	rc = get_entries(e, s, out, err);
	for (size_t i = 0; rc == HWTD_OK && i < out->n; i++) {
		struct hwtdi_node *node;

		rc = hwtdi_entry_read(out->entries + i * s->hwt->stride,
		    s->hwt->stride, s->bufsize, &entry, err);
		if (rc != HWTD_OK || entry.kind != HWTDI_ENTRY_BUFFER ||
		    (entry.flags & HWTDI_ENTRYF_POSITION) == 0)
			continue;
		node = hwtdi_session_node(s, entry.index);
		if (node == NULL)
			continue;
		/* The newest ones count. */
		if (node->n_records == HWTDI_NODE_RECORDS)
			memmove(node->records, node->records + 1,
			    (--node->n_records) * sizeof(node->records[0]));
		node->records[node->n_records++] = entry.position;
	}
	return (rc);
}

int
hwtdi_engine_handle(struct hwtdi_engine *e, struct hwtdi_session *s,
    const struct hwtdi_fetched *fetched, struct hwtd_error *err)
{
	struct batch batch = { .n = 0 };
	struct hwtdi_entry entry;
	int rc;

	if (fetched->n == 0)
		return (HWTD_OK);
	/* They came behind the last time that there were none. */
	rc = hwtdi_capture_file_mark(&e->file, e->drained_ns, err);
	if (rc == HWTD_OK)
		rc = gather(e, s, fetched, &batch, err);
	for (size_t i = 0; rc == HWTD_OK && i < batch.n; i++) {
		rc = hwtdi_entry_read(batch.bytes + i * s->hwt->stride,
		    s->hwt->stride, s->bufsize, &entry, err);
		if (rc == HWTD_OK)
			rc = handle_entry(e, s, &entry, err);
	}
	if (rc == HWTD_OK && batch.threads)
		rc = hwtdi_engine_name(e, &e->after, err);
	e->n_entries += batch.n;
	hwtdi_array_free(e->library, batch.bytes, batch.cap, 1);
	return (rc);
}

int
hwtdi_engine_drain(struct hwtdi_engine *e, uint64_t ns, bool *more_out,
    struct hwtd_error *err)
{
	const uint64_t begun = e->sys->now(e->sys->state);
	struct hwtdi_fetched fetched;
	uint64_t now = begun, n = 0;
	bool more = true;
	int rc = HWTD_OK;

	while (rc == HWTD_OK && more && now - begun <= ns) {
		more = false;
		now = e->sys->now(e->sys->state);
		for (size_t i = 0; rc == HWTD_OK && i < e->n_sessions; i++) {
			rc = hwtdi_engine_fetch(e, &e->sessions[i], &fetched,
			    err);
			if (rc == HWTD_OK)
				rc = hwtdi_engine_handle(e, &e->sessions[i],
				    &fetched, err);
			more = more || fetched.n > 0;
			n += fetched.n;
		}
	}
	/* What is left may have happened before this. */
	if (rc == HWTD_OK && !more && n > 0)
		rc = hwtdi_capture_file_mark(&e->file,
		    e->sys->now(e->sys->state), err);
	if (rc == HWTD_OK && !more)
		e->drained_ns = now;
	if (more_out != NULL)
		*more_out = more;
	return (rc);
}

/* Threads */

int
hwtdi_engine_name(struct hwtdi_engine *e, const struct hwtdi_thread_list *list,
    struct hwtd_error *err)
{
	struct hwtd_record r = hwtdi_record_of(HWTD_REC_THREAD_NAME);
	struct hwtdi_thread_walk walk = { 0 };
	const struct hwtdi_thread *t = NULL;
	int rc;

	r.pid = e->pid;
	if (e->mode != HWTDI_HWT_THREAD || !list->known)
		return (HWTD_OK);
	do {
		rc = hwtdi_thread_table_renamed(&e->numbers, e->library, list,
		    &walk, &t, err);
		/* What waits to become the program has the name of this one. */
		if (rc != HWTD_OK || t == NULL || e->gated ||
		    t->name[0] == '\0')
			continue;
		r.tid = t->tid;
		r.name = t->name;
		rc = hwtdi_capture_file_record(&e->file, &r, err);
	} while (rc == HWTD_OK && t != NULL);
	return (rc);
}

int
hwtdi_engine_pair(struct hwtdi_engine *e, const struct hwtdi_thread_list *list,
    bool newer, struct hwtd_error *err)
{
	const size_t waiting = e->numbers.n_waiting;
	size_t untraced = 0;
	int rc;

	if (e->mode != HWTDI_HWT_THREAD)
		return (HWTD_OK);
	rc = hwtdi_thread_table_pair(&e->numbers, e->library, list, newer,
	    &untraced, err);
	if (rc == HWTD_OK && untraced > 0)
		rc = hwtdi_capture_file_loss(&e->file,
		    HWTD_CAPTURE_LOST_THREADS, HWTD_NO_ID, untraced, err);
	if (rc != HWTD_OK || e->numbers.n_waiting == waiting)
		return (rc);
	for (size_t i = 0; i < e->n_sessions; i++)
		hwtdi_session_tids(&e->sessions[i], &e->numbers);
	return (HWTD_OK);
}

/* Snapshots */

static int
write_mapping(struct hwtdi_engine *e, const struct hwtdi_vm_entry *m,
    struct hwtd_error *err)
{
	struct hwtd_record r = hwtdi_record_of(HWTD_REC_MMAP);
	const struct hwtdi_filter_load load = {
		.kind = HWTDI_FILTER_MMAP,
		.path = m->path,
		.addr = m->start,
		.has_file_off = true,
		.has_length = true,
		.file_off = m->file_off,
		.length = m->end - m->start,
	};
	int rc = HWTD_OK;

	r.flags = HWTD_RECF_ADDR | HWTD_RECF_LEN;
	r.pid = e->pid;
	r.addr = m->start;
	r.len = m->end - m->start;
	if ((m->prot & HWTDI_PROT_EXEC) == 0 || m->end <= m->start)
		return (HWTD_OK);
	if (m->path[0] == '\0') {
		r.flags |= HWTD_RECF_ANONYMOUS;
	} else {
		r.flags |= HWTD_RECF_FILE_OFF;
		r.file_off = m->file_off;
		r.name = m->path;
		rc = add_build_id(e, &r, err);
		if (rc == HWTD_OK)
			rc = see_image(e, &load, err);
	}
	return (rc == HWTD_OK ? hwtdi_capture_file_record(&e->file, &r, err)
			      : rc);
}

/* *n_out: pieces in *maps_inout, which grows. */
static int
read_mappings(struct hwtdi_engine *e, struct hwtdi_vm_entry **maps_inout,
    size_t *cap_inout, size_t *n_out, struct hwtd_error *err)
{
	int rc;

	for (int i = 0; i < SNAPSHOTS; i++) {
		rc = e->sys->mappings(e->sys->state, (pid_t)e->pid,
		    *maps_inout, *cap_inout, n_out);
		/* It ended: what it wrote is there still. */
		if (rc == -ESRCH) {
			*n_out = 0;
			return (HWTD_OK);
		}
		if (rc < 0)
			return (hwtdi_fail_sys(err, -rc,
			    "mappings of process %" PRIu32
			    " cannot be read: %s; see procstat(1)",
			    e->pid, strerror(-rc)));
		if (*n_out <= *cap_inout)
			return (HWTD_OK);
		if (*n_out > MAPPINGS_MAX)
			break;
		rc = hwtdi_array_grow(e->library, maps_inout, cap_inout,
		    *n_out + *n_out / 4, sizeof(**maps_inout), err);
		if (rc != HWTD_OK)
			return (rc);
	}
	return (hwtdi_fail(err, HWTD_E_LIMIT,
	    "process %" PRIu32 " has %zu mappings, more than fit", e->pid,
	    *n_out));
}

int
hwtdi_engine_snapshot(struct hwtdi_engine *e, struct hwtd_error *err)
{
	struct hwtdi_vm_entry *maps = NULL;
	struct hwtdi_session *s = &e->sessions[0];
	struct hwtdi_fetched fetched = { .n = 1 };
	size_t cap = 0, n = 0;
	int rc;

	rc = hwtdi_engine_drain(e, HWTDI_DRAIN_NS, NULL, err);
	/* What is mapped, once nothing was mapped meanwhile. */
	for (int i = 0; rc == HWTD_OK && fetched.n > 0 && i < SNAPSHOTS; i++) {
		rc = read_mappings(e, &maps, &cap, &n, err);
		/* What came first tells less than what came last. */
		if (rc == HWTD_OK && i > 0)
			rc = hwtdi_engine_handle(e, s, &fetched, err);
		if (rc == HWTD_OK)
			rc = hwtdi_engine_fetch(e, s, &fetched, err);
	}
	for (size_t i = 0; rc == HWTD_OK && i < n; i++)
		rc = write_mapping(e, &maps[i], err);
	/* Records of a process that never rests come behind the mappings. */
	if (rc == HWTD_OK)
		rc = hwtdi_engine_handle(e, s, &fetched, err);
	hwtdi_array_free(e->library, maps, cap, sizeof(*maps));
	return (rc == HWTD_OK
		? hwtdi_engine_drain(e, HWTDI_DRAIN_NS, NULL, err)
		: rc);
}
