/*
 * The calls of hwt(4), each behind the checks that keep a kernel from harm.
 *
 * Source: hwt(4); sys/dev/hwt and the backends of FreeBSD 15.
 */
#include "capture/hwt_calls.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/library.h"
#include "capture/hwt_calls_internal.h"

/* A call that a signal interrupts again and again is given up. */
#define MAX_TRIES 100

#define PT_PAGE 4096
/* Pages whose table, with its last entry, has a page of its own. */
#define PT_LEAST_PAGES 256
#define PT_MOST_PAGES 511

/* Trace IDs are CPUs + 1, and end at 0x6f. */
#define CS_MOST_CPU 110

/* What no kernel answers with. */
#define SENTINEL_BYTE 0xa5
#define SENTINEL_INT (-0x5a5a5a5b)
#define SENTINEL_WORD UINT64_C(0xa5a5a5a5a5a5a5a5)
/* Room of the first entry, for kernels whose entries are larger. */
#define PROBE_ROOM 16384

static uint64_t
user(const void *p)
{
	return ((uint64_t)(uintptr_t)p);
}

/* Backends. */

const char *
hwtdi_backend_name(enum hwtdi_backend backend)
{
	static const char *const names[HWTDI_BACKENDS] = {
		[HWTDI_BACKEND_PT] = "pt",
		[HWTDI_BACKEND_SPE] = "spe",
		[HWTDI_BACKEND_CORESIGHT] = "coresight",
	};

	return (names[backend]);
}

int
hwtdi_backend_find(const char *name, enum hwtdi_backend *out,
    struct hwtd_error *err)
{
	const size_t n = strlen(name);

	if (n >= HWTDI_HWT_BACKEND_ROOM)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "name of a backend with %zu bytes; the kernel takes %d", n,
		    HWTDI_HWT_BACKEND_ROOM - 1));
	for (int i = 0; i < HWTDI_BACKENDS; i++)
		if (strcmp(name, hwtdi_backend_name((enum hwtdi_backend)i)) ==
		    0) {
			*out = (enum hwtdi_backend)i;
			return (HWTD_OK);
		}
	return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
	    "no backend \"%.60s\"; there are pt, spe and coresight", name));
}

/* Calls. */

/* Repeated after a signal: of calls that then had no effect. */
static int
ask(const struct hwtdi_hwt *hwt, int fd, unsigned long request, void *arg)
{
	int rc = -EINTR;

	for (int i = 0; i < MAX_TRIES && rc == -EINTR; i++)
		rc = hwt->sys->ioctl(hwt->sys->state, fd, request, arg);
	return (rc);
}

static int
open_path(const struct hwtdi_system *sys, const char *path)
{
	int rc = -EINTR;

	for (int i = 0; i < MAX_TRIES && rc == -EINTR; i++)
		rc = sys->open(sys->state, path);
	return (rc);
}

static bool
in_set(const struct hwtdi_hwt *hwt, uint32_t cpu)
{
	return (cpu < HWTDI_HWT_SET_CPUS &&
	    (hwt->cpu_set[cpu / 64] >> cpu % 64 & 1) != 0);
}

/* ALLOC. */

static int
check_bufsize(struct hwtdi_hwt *hwt, const struct hwtdi_hwt_options *o,
    struct hwtd_error *err)
{
	const uint64_t pages = hwt->bufsize / hwt->page_size;

	if (hwt->page_size < PT_PAGE ||
	    (hwt->page_size & (hwt->page_size - 1)) != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "pages of %" PRIu64 " bytes; no machine has such",
		    hwt->page_size));
	if (hwt->bufsize == 0 || hwt->bufsize % hwt->page_size != 0 ||
	    hwt->bufsize > HWTDI_HWT_MAX_BUFSIZE)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "buffers of %" PRIu64 " bytes; take a multiple of %" PRIu64
		    ", up to 32 GiB",
		    hwt->bufsize, hwt->page_size));
	if (hwt->backend == HWTDI_BACKEND_SPE && pages % 2 != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "buffers of %" PRIu64 " pages; spe has halves, so take "
		    "an even number",
		    pages));
	if (hwt->backend != HWTDI_BACKEND_PT ||
	    hwt->kernel == HWTDI_KERNEL_5BSD)
		return (HWTD_OK);
	if (pages > PT_MOST_PAGES && !o->allow_large)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "buffers of %" PRIu64 " pages: the table of pt may then "
		    "not be in one piece, and memory of the kernel be "
		    "overwritten; take %d to %d pages",
		    pages, PT_LEAST_PAGES, PT_MOST_PAGES));
	hwt->small_buffer = pages < PT_LEAST_PAGES;
	if (hwt->small_buffer)
		hwtdi_log(hwt->library, HWTD_LOG_WARNING, "capture",
		    "buffers of %" PRIu64
		    " pages: the table of pt may not lie as the CPU wants it; "
		    "%d to %d pages are safe",
		    pages, PT_LEAST_PAGES, PT_MOST_PAGES);
	return (HWTD_OK);
}

static int
check_cpus(struct hwtdi_hwt *hwt, const struct hwtdi_hwt_options *o,
    struct hwtd_error *err)
{
	if (o->cpus == NULL || o->n_cpus == 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no CPU to trace; name one at least"));
	hwt->first_cpu = o->cpus[0];
	for (size_t i = 0; i < o->n_cpus; i++) {
		const uint32_t cpu = o->cpus[i];

		/* The kernel has arrays by CPU and does not look. */
		if (cpu >= o->machine_cpus || cpu >= HWTDI_HWT_SET_CPUS)
			return (hwtdi_fail(err, HWTD_E_INVALID,
			    "no CPU %" PRIu32 "; this machine has %" PRIu32,
			    cpu, o->machine_cpus));
		if (hwt->backend == HWTDI_BACKEND_CORESIGHT &&
		    cpu > CS_MOST_CPU)
			return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
			    "CPU %" PRIu32 " has no trace ID of coresight; "
			    "CPUs up to %d have",
			    cpu, CS_MOST_CPU));
		if (in_set(hwt, cpu))
			return (hwtdi_fail(err, HWTD_E_INVALID,
			    "CPU %" PRIu32 " is named twice", cpu));
		hwt->cpu_set[cpu / 64] |= UINT64_C(1) << cpu % 64;
		if (cpu < hwt->first_cpu)
			hwt->first_cpu = cpu;
	}
	return (HWTD_OK);
}

static int
check_options(struct hwtdi_hwt *hwt, const struct hwtdi_hwt_options *o,
    struct hwtd_error *err)
{
	const int rc = check_bufsize(hwt, o, err);

	if (rc != HWTD_OK)
		return (rc);
	/* Without one the kernel stops at the first buffer. */
	if (hwt->backend == HWTDI_BACKEND_SPE && hwt->kq < 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no kqueue (%d); spe tells through one what is full",
		    hwt->kq));
	if (hwt->mode == HWTDI_HWT_CPU)
		return (check_cpus(hwt, o, err));
	if (hwt->mode != HWTDI_HWT_THREAD)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "mode %d; 1 traces a process, 2 CPUs", (int)hwt->mode));
	if (hwt->pid <= 0)
		return (hwtdi_fail(err, HWTD_E_INVALID, "no process can be %d",
		    (int)hwt->pid));
	return (HWTD_OK);
}

static int
ask_alloc(struct hwtdi_hwt *hwt, const struct hwtdi_hwt_options *o,
    struct hwtd_error *err)
{
	const struct hwtdi_system *sys = hwt->sys;
	const int device = open_path(sys, HWTDI_HWT_DEVICE);
	struct hwtdi_hwt_alloc alloc;
	int32_t ident = -1;
	int rc;

	if (device < 0)
		return (hwtdi_hwt_fail_device(err, -device));
	memset(&alloc, 0, sizeof(alloc));
	alloc.bufsize = hwt->bufsize;
	alloc.mode = (int32_t)hwt->mode;
	alloc.backend_name = user(hwtdi_backend_name(hwt->backend));
	alloc.ident = user(&ident);
	alloc.kqueue_fd = hwt->backend == HWTDI_BACKEND_SPE ? hwt->kq : -1;
	if (hwt->mode == HWTDI_HWT_CPU) {
		alloc.cpu_map = user(hwt->cpu_set);
		alloc.cpusetsize = sizeof(hwt->cpu_set);
	} else {
		alloc.pid = (int32_t)hwt->pid;
	}
	/* Not repeated: it may have made a context. */
	rc = sys->ioctl(sys->state, device, HWTDI_HWT_IOC_ALLOC, &alloc);
	(void)sys->close(sys->state, device);
	/* A number may be there of a call that failed: it says nothing. */
	if (rc < 0)
		return (hwtdi_hwt_fail_alloc(err, -rc, o));
	if (ident < 0 || ident >= HWTDI_HWT_MAX_CONTEXTS)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "HWT_IOC_ALLOC gives context %" PRId32
		    "; this kernel has another hwt(4) than FreeBSD 15",
		    ident));
	hwt->ident = ident;
	return (HWTD_OK);
}

static int
open_index(const struct hwtdi_hwt *hwt, uint32_t index, int *out,
    struct hwtd_error *err)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), HWTDI_HWT_DEVICE "_%d_%" PRIu32,
	    hwt->ident, index);
	fd = open_path(hwt->sys, path);
	if (fd < 0)
		return (hwtdi_hwt_fail_node(err, -fd, hwt, index));
	*out = fd;
	return (HWTD_OK);
}

int
hwtdi_hwt_alloc(struct hwtd_context *library, const struct hwtdi_system *sys,
    const struct hwtdi_hwt_options *o, struct hwtdi_hwt **out,
    struct hwtd_error *err)
{
	struct hwtdi_hwt *hwt = hwtdi_zalloc(library, sizeof(*hwt));
	int rc;

	if (hwt == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*hwt)));
	hwt->library = library;
	hwt->sys = sys;
	hwt->backend = o->backend;
	hwt->kernel = o->kernel;
	hwt->mode = o->mode;
	hwt->pid = o->pid;
	hwt->bufsize = o->bufsize;
	hwt->page_size = o->page_size != 0 ? o->page_size : PT_PAGE;
	hwt->machine_cpus = o->machine_cpus;
	hwt->pt = o->pt;
	hwt->kq = o->kq;
	hwt->ident = -1;
	hwt->fd = -1;
	rc = check_options(hwt, o, err);
	if (rc == HWTD_OK)
		rc = ask_alloc(hwt, o, err);
	if (rc == HWTD_OK)
		rc = open_index(hwt,
		    hwt->mode == HWTDI_HWT_CPU ? hwt->first_cpu : 0, &hwt->fd,
		    err);
	if (rc != HWTD_OK) {
		hwtdi_hwt_close(hwt);
		return (rc);
	}
	*out = hwt;
	return (HWTD_OK);
}

void
hwtdi_hwt_close(struct hwtdi_hwt *hwt)
{
	if (hwt == NULL)
		return;
	if (hwt->fd >= 0)
		(void)hwt->sys->close(hwt->sys->state, hwt->fd);
	hwtdi_free(hwt->library, hwt->entries, hwt->entries_bytes);
	hwtdi_free(hwt->library, hwt, sizeof(*hwt));
}

/* Nodes. */

int
hwtdi_hwt_open_node(struct hwtdi_hwt *hwt, uint32_t index, int *fd_out,
    struct hwtd_error *err)
{
	if (hwt->mode == HWTDI_HWT_CPU && !in_set(hwt, index))
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "CPU %" PRIu32 " is not traced", index));
	if (index > INT32_MAX)
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "no thread can have number %" PRIu32, index));
	return (open_index(hwt, index, fd_out, err));
}

void
hwtdi_hwt_close_node(struct hwtdi_hwt *hwt, int fd)
{
	(void)hwt->sys->close(hwt->sys->state, fd);
}

int
hwtdi_hwt_map_node(struct hwtdi_hwt *hwt, int fd, const void **out,
    struct hwtd_error *err)
{
	const void *buffer = NULL;
	int rc;

	if (hwt->bufsize > SIZE_MAX)
		return (hwtdi_hwt_fail_map(err, ENOMEM, hwt));
	rc = hwt->sys->mmap(hwt->sys->state, fd, (size_t)hwt->bufsize,
	    &buffer);
	if (rc < 0)
		return (hwtdi_hwt_fail_map(err, -rc, hwt));
	*out = buffer;
	return (HWTD_OK);
}

void
hwtdi_hwt_unmap_node(struct hwtdi_hwt *hwt, const void *buffer)
{
	if (buffer != NULL)
		(void)hwt->sys->munmap(hwt->sys->state, buffer,
		    (size_t)hwt->bufsize);
}

/* SET_CONFIG, START, STOP. */

int
hwtdi_hwt_set_config(struct hwtdi_hwt *hwt, bool pause, const void *config,
    size_t size, int version, struct hwtd_error *err)
{
	struct hwtdi_hwt_set_config call;
	uint64_t rtit_ctl = hwt->rtit_ctl;
	int rc;

	if (hwt->state == HWTDI_HWT_RUNNING)
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "the config of context %d cannot be set while it runs",
		    hwt->ident));
	if (size > HWTDI_HWT_MAX_BLOB || (size > 0 && config == NULL))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "config of %zu bytes%s; the kernel takes up to %d", size,
		    config == NULL ? " at NULL" : "", HWTDI_HWT_MAX_BLOB));
	if (size > 0) {
		rc = hwtdi_hwt_check_config(hwt, config, size, version,
		    &rtit_ctl, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	memset(&call, 0, sizeof(call));
	call.pause_on_mmap = pause ? 1 : 0;
	call.config = size > 0 ? user(config) : 0;
	call.config_size = size;
	call.config_version = version;
	rc = ask(hwt, hwt->fd, HWTDI_HWT_IOC_SET_CONFIG, &call);
	if (rc == -EFBIG)
		return (hwtdi_hwt_with_errno(err, -rc,
		    hwtdi_fail(err, HWTD_E_INVALID,
			"HWT_IOC_SET_CONFIG: %zu bytes are too many for this "
			"kernel",
			size)));
	if (rc < 0)
		return (hwtdi_hwt_fail_ioctl(err, -rc, "HWT_IOC_SET_CONFIG"));
	if (size > 0) {
		hwt->configured = true;
		hwt->rtit_ctl = rtit_ctl;
	}
	return (HWTD_OK);
}

/* Those that a kernel posts: without them it ends the trace. */
static int
register_events(const struct hwtdi_hwt *hwt, struct hwtd_error *err)
{
	static const uint64_t idents[] = { HWTDI_HWT_SPE_EVENT_BUF,
		HWTDI_HWT_SPE_EVENT_SHUTDOWN };

	for (size_t i = 0; i < sizeof(idents) / sizeof(idents[0]); i++) {
		const int rc = hwt->sys->kevent_add(hwt->sys->state, hwt->kq,
		    idents[i]);

		if (rc < 0)
			return (hwtdi_fail_sys(err, -rc,
			    "cannot register event %" PRIu64
			    " of spe with kqueue %d: %s",
			    idents[i], hwt->kq, strerror(-rc)));
	}
	return (HWTD_OK);
}

static int
plain(const struct hwtdi_hwt *hwt, int fd, unsigned long request)
{
	struct hwtdi_hwt_plain call;

	memset(&call, 0, sizeof(call));
	return (request == HWTDI_HWT_IOC_WAKEUP
		? ask(hwt, fd, request, &call)
		: hwt->sys->ioctl(hwt->sys->state, fd, request, &call));
}

int
hwtdi_hwt_start(struct hwtdi_hwt *hwt, struct hwtd_error *err)
{
	int rc;

	if (hwt->state == HWTDI_HWT_RUNNING)
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "context %d runs already", hwt->ident));
	if (hwt->backend == HWTDI_BACKEND_PT && !hwt->configured)
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "context %d of pt has no config, and the kernel would "
		    "panic; set one before it starts",
		    hwt->ident));
	if (hwt->backend == HWTDI_BACKEND_SPE) {
		rc = register_events(hwt, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	rc = plain(hwt, hwt->fd, HWTDI_HWT_IOC_START);
	if (rc < 0)
		return (hwtdi_hwt_fail_ioctl(err, -rc, "HWT_IOC_START"));
	hwt->state = HWTDI_HWT_RUNNING;
	hwt->started = true;
	hwt->started_rtit_ctl |= hwt->rtit_ctl;
	return (HWTD_OK);
}

bool
hwtdi_hwt_can_stop(const struct hwtdi_hwt *hwt)
{
	return (hwt->backend == HWTDI_BACKEND_SPE ||
	    (hwt->backend == HWTDI_BACKEND_PT &&
		hwt->kernel == HWTDI_KERNEL_5BSD));
}

int
hwtdi_hwt_stop(struct hwtdi_hwt *hwt, struct hwtd_error *err)
{
	int rc;

	if (!hwtdi_hwt_can_stop(hwt))
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "%s has no stop, and the kernel would panic; stop the "
		    "process that is traced, and end this one",
		    hwtdi_backend_name(hwt->backend)));
	if (hwt->state != HWTDI_HWT_RUNNING)
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "context %d does not run", hwt->ident));
	rc = plain(hwt, hwt->fd, HWTDI_HWT_IOC_STOP);
	if (rc < 0)
		return (hwtdi_hwt_fail_ioctl(err, -rc, "HWT_IOC_STOP"));
	hwt->state = HWTDI_HWT_STOPPED;
	return (HWTD_OK);
}

/* RECORD_GET. */

static int
entries_room(struct hwtdi_hwt *hwt, size_t most, struct hwtd_error *err)
{
	size_t bytes = most *
	    (hwt->stride != 0 ? hwt->stride : HWTDI_HWT_LONG_ENTRY_SIZE);
	uint8_t *entries;

	if (bytes < PROBE_ROOM)
		bytes = PROBE_ROOM;
	if (bytes <= hwt->entries_bytes)
		return (HWTD_OK);
	entries = hwtdi_resize(hwt->library, hwt->entries, hwt->entries_bytes,
	    bytes);
	if (entries == NULL)
		return (hwtdi_fail_nomem(err, bytes));
	hwt->entries = entries;
	hwt->entries_bytes = bytes;
	return (HWTD_OK);
}

static int
unknown_call(struct hwtd_error *err, const char *name)
{
	return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
	    "%s: the kernel says it is done and did nothing: it does not "
	    "know the call, being an early fork of hwt(4)",
	    name));
}

/* Bytes that the first entry has: zeros end it, the sentinel is behind it. */
static int
probe(struct hwtdi_hwt *hwt, int32_t n, struct hwtd_error *err)
{
	size_t size = PROBE_ROOM;

	while (size > 0 && hwt->entries[size - 1] == SENTINEL_BYTE)
		size--;
	if (n == 0 && size == 0)
		return (HWTD_OK);
	if (size == 0)
		return (unknown_call(err, "HWT_IOC_RECORD_GET"));
	if (size != HWTDI_HWT_ENTRY_SIZE && size != HWTDI_HWT_LONG_ENTRY_SIZE)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "entries of this kernel have %zu bytes%s; %d and %d are "
		    "known",
		    size, size == PROBE_ROOM ? " or more" : "",
		    HWTDI_HWT_ENTRY_SIZE, HWTDI_HWT_LONG_ENTRY_SIZE));
	if (n == 0)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "HWT_IOC_RECORD_GET wrote %zu bytes and says there is no "
		    "entry",
		    size));
	hwt->stride = size;
	/* Its entries tell what else it can do. */
	if (size == HWTDI_HWT_LONG_ENTRY_SIZE)
		hwt->kernel = HWTDI_KERNEL_5BSD;
	return (HWTD_OK);
}

int
hwtdi_hwt_records(struct hwtdi_hwt *hwt, size_t most,
    const uint8_t **entries_out, size_t *n_out, struct hwtd_error *err)
{
	const bool first = hwt->stride == 0;
	struct hwtdi_hwt_record_get call;
	int32_t n;
	int rc;

	*n_out = 0;
	if (most == 0 || most > HWTDI_HWT_MAX_ENTRIES)
		most = HWTDI_HWT_MAX_ENTRIES;
	rc = entries_room(hwt, first ? 1 : most, err);
	if (rc != HWTD_OK)
		return (rc);
	if (first) {
		most = 1;
		memset(hwt->entries, SENTINEL_BYTE, PROBE_ROOM);
	}
	n = (int32_t)most;
	memset(&call, 0, sizeof(call));
	call.records = user(hwt->entries);
	call.nentries = user(&n);
	rc = ask(hwt, hwt->fd, HWTDI_HWT_IOC_RECORD_GET, &call);
	if (rc == -EFAULT)
		return (hwtdi_hwt_with_errno(err, EFAULT,
		    hwtdi_fail(err, HWTD_E_IO,
			"HWT_IOC_RECORD_GET: the kernel could not write %zu "
			"entries, and they are lost",
			most)));
	if (rc < 0)
		return (hwtdi_hwt_fail_ioctl(err, -rc, "HWT_IOC_RECORD_GET"));
	if (n < 0 || (size_t)n > most)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "HWT_IOC_RECORD_GET tells of %" PRId32
		    " entries in room for %zu",
		    n, most));
	if (first) {
		rc = probe(hwt, n, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	*entries_out = hwt->entries;
	*n_out = (size_t)n;
	return (HWTD_OK);
}

/* BUFPTR_GET, WAKEUP, SVC_BUF. */

static void
judge_position(const struct hwtdi_hwt *hwt, struct hwtdi_hwt_position *p)
{
	if (hwt->backend == HWTDI_BACKEND_SPE) {
		p->doubtful = p->offset > hwt->bufsize / 2 || p->ident < 0 ||
		    (hwt->mode == HWTDI_HWT_CPU &&
			!in_set(hwt, (uint32_t)p->ident));
		return;
	}
	if (p->ident < 0 || p->offset >= hwt->page_size ||
	    (uint64_t)p->ident * hwt->page_size + p->offset > hwt->bufsize)
		p->doubtful = true;
	else
		p->at = (uint64_t)p->ident * hwt->page_size + p->offset;
}

int
hwtdi_hwt_position(struct hwtdi_hwt *hwt, int fd,
    struct hwtdi_hwt_position *out, struct hwtd_error *err)
{
	struct hwtdi_hwt_position p = { .ident = SENTINEL_INT };
	struct hwtdi_hwt_bufptr_get call;
	int rc;

	/* The queue of SPE may be emptied before START. */
	if (hwt->mode == HWTDI_HWT_CPU && !hwt->started &&
	    hwt->backend != HWTDI_BACKEND_SPE)
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "context %d was not started, and the kernel would panic "
		    "when asked for a position of a CPU",
		    hwt->ident));
	p.offset = SENTINEL_WORD;
	p.data = SENTINEL_WORD;
	memset(&call, 0, sizeof(call));
	call.ident = user(&p.ident);
	call.offset = user(&p.offset);
	call.data = user(&p.data);
	rc = ask(hwt, fd, HWTDI_HWT_IOC_BUFPTR_GET, &call);
	if (rc == -ENOENT && hwt->backend == HWTDI_BACKEND_SPE)
		return (HWTD_AGAIN);
	if (rc == -ENOENT)
		return (hwtdi_hwt_with_errno(err, ENOENT,
		    hwtdi_fail(err, HWTD_E_NOT_FOUND,
			"HWT_IOC_BUFPTR_GET: the sink does not write to the "
			"buffer of context %d: it did not begin, or the node "
			"is not the first one",
			hwt->ident)));
	if (rc < 0)
		return (hwtdi_hwt_fail_ioctl(err, -rc, "HWT_IOC_BUFPTR_GET"));
	if (p.ident == SENTINEL_INT || p.offset == SENTINEL_WORD)
		return (unknown_call(err, "HWT_IOC_BUFPTR_GET"));
	/* Backends without use for it leave it alone. */
	if (p.data == SENTINEL_WORD)
		p.data = 0;
	judge_position(hwt, &p);
	*out = p;
	return (HWTD_OK);
}

int
hwtdi_hwt_wakeup(struct hwtdi_hwt *hwt, int fd, struct hwtd_error *err)
{
	int rc;

	if (hwt->mode == HWTDI_HWT_CPU)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "context %d traces CPUs, where no thread waits",
		    hwt->ident));
	rc = plain(hwt, fd, HWTDI_HWT_IOC_WAKEUP);
	if (rc < 0)
		return (hwtdi_hwt_fail_ioctl(err, -rc, "HWT_IOC_WAKEUP"));
	return (HWTD_OK);
}

static int
serve_failed(struct hwtd_error *err, int e, uint32_t ident)
{
	switch (e) {
	case ENXIO:
		return (hwtdi_hwt_with_errno(err, e,
		    hwtdi_fail(err, HWTD_E_STATE,
			"HWT_IOC_SVC_BUF: spe was stopped on %" PRIu32
			"; nothing is to be served",
			ident)));
	case ENOENT:
		return (hwtdi_hwt_with_errno(err, e,
		    hwtdi_fail(err, HWTD_E_NOT_FOUND,
			"HWT_IOC_SVC_BUF: the kernel knows no thread %" PRIu32,
			ident)));
	case E2BIG:
	case EINVAL:
		return (hwtdi_hwt_with_errno(err, e,
		    hwtdi_fail(err, HWTD_E_UNSUPPORTED,
			"HWT_IOC_SVC_BUF: the kernel refuses half of %" PRIu32
			"; its spe is another than that of FreeBSD 15",
			ident)));
	default:
		return (hwtdi_hwt_fail_ioctl(err, e, "HWT_IOC_SVC_BUF"));
	}
}

int
hwtdi_hwt_serve(struct hwtdi_hwt *hwt, uint32_t ident, uint32_t half,
    struct hwtd_error *err)
{
	struct hwtdi_hwt_spe_svc_buf blob;
	struct hwtdi_hwt_svc_buf call;
	int rc;

	if (hwt->backend != HWTDI_BACKEND_SPE)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "%s serves no buffers, and the kernel would panic",
		    hwtdi_backend_name(hwt->backend)));
	if (hwt->state != HWTDI_HWT_RUNNING)
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "context %d does not run: nothing is to be served",
		    hwt->ident));
	if (half > 1)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "half %" PRIu32 " of a buffer; there are 0 and 1", half));
	if (hwt->mode == HWTDI_HWT_CPU && !in_set(hwt, ident))
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "CPU %" PRIu32 " is not traced", ident));
	/* The kernel takes the index of a thread for a CPU to go on. */
	if (ident >= hwt->machine_cpus)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "thread %" PRIu32 " cannot be served: the kernel would "
		    "go on on a CPU of that number, and there are %" PRIu32,
		    ident, hwt->machine_cpus));
	memset(&blob, 0, sizeof(blob));
	blob.ident = ident;
	blob.buf_idx = (uint8_t)half;
	memset(&call, 0, sizeof(call));
	call.data = user(&blob);
	call.data_size = sizeof(blob);
	call.data_version = HWTDI_HWT_SPE_VERSION;
	rc = hwt->sys->ioctl(hwt->sys->state, hwt->fd, HWTDI_HWT_IOC_SVC_BUF,
	    &call);
	return (rc < 0 ? serve_failed(err, -rc, ident) : HWTD_OK);
}
