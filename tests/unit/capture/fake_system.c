/*
 * A table of system calls that answers as it is told.
 */
#include "fake_system.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fake_call *
note(struct fake_system *f, enum fake_what what, int fd)
{
	struct fake_call *call;

	assert_true(f->n_calls < FAKE_CALLS);
	call = &f->calls[f->n_calls++];
	memset(call, 0, sizeof(*call));
	call->what = what;
	call->fd = fd;
	return (call);
}

static int
fake_open(void *state, const char *path)
{
	struct fake_system *f = state;
	struct fake_call *call = note(f, FAKE_OPEN, -1);
	const int rc = strcmp(path, "/dev/hwt") == 0 ? f->device_rc
						     : f->node_rc;

	assert_true(strlen(path) < sizeof(call->path));
	memcpy(call->path, path, strlen(path) + 1);
	if (f->open_signals > 0) {
		f->open_signals--;
		return (-EINTR);
	}
	if (rc != 0)
		return (rc);
	f->open_fds++;
	return (f->next_fd++);
}

static int
fake_close(void *state, int fd)
{
	struct fake_system *f = state;

	(void)note(f, FAKE_CLOSE, fd);
	f->open_fds--;
	return (0);
}

static void *
at(uint64_t pointer)
{
	return ((void *)(uintptr_t)pointer);
}

static void
keep(struct fake_call *call, uint64_t pointer, uint64_t size)
{
	if (pointer != 0)
		memcpy(call->blob, at(pointer),
		    size < sizeof(call->blob) ? (size_t)size
					      : sizeof(call->blob));
}

static void
give_entries(struct fake_system *f, const struct hwtdi_hwt_record_get *get)
{
	int32_t *n = at(get->nentries);
	size_t most = (size_t)*n;

	if (most > f->n_entries)
		most = f->n_entries;
	if (most > 0)
		memcpy(at(get->records), f->entries, most * f->stride);
	f->entries += most * f->stride;
	f->n_entries -= most;
	*n = f->lie ? f->lie_n : (int32_t)most;
}

static void
give_position(const struct fake_system *f,
    const struct hwtdi_hwt_bufptr_get *get)
{
	memcpy(at(get->ident), &f->ptr_ident, sizeof(f->ptr_ident));
	memcpy(at(get->offset), &f->ptr_offset, sizeof(f->ptr_offset));
	if (f->has_data)
		memcpy(at(get->data), &f->ptr_data, sizeof(f->ptr_data));
}

static int
fake_ioctl(void *state, int fd, unsigned long request, void *arg)
{
	struct fake_system *f = state;
	struct fake_call *call = note(f, FAKE_IOCTL, fd);
	const size_t size = request >> 16 & 0x1fff;
	const size_t nr = request & 0xff;
	struct hwtdi_hwt_alloc alloc;
	struct hwtdi_hwt_set_config config;
	struct hwtdi_hwt_svc_buf svc;

	assert_true(size <= sizeof(call->arg) && nr < 8);
	call->request = request;
	memcpy(call->arg, arg, size);
	if (f->signals[nr] > 0) {
		f->signals[nr]--;
		return (-EINTR);
	}
	switch (request) {
	case HWTDI_HWT_IOC_ALLOC:
		memcpy(&alloc, arg, sizeof(alloc));
		keep(call, alloc.cpu_map, alloc.cpusetsize);
		memcpy(call->backend, at(alloc.backend_name),
		    strlen(at(alloc.backend_name)) + 1);
		/* Also of a call that fails. */
		if (!f->deaf[nr])
			memcpy(at(alloc.ident), &f->ident, sizeof(f->ident));
		break;
	case HWTDI_HWT_IOC_SET_CONFIG:
		memcpy(&config, arg, sizeof(config));
		keep(call, config.config, config.config_size);
		break;
	case HWTDI_HWT_IOC_SVC_BUF:
		memcpy(&svc, arg, sizeof(svc));
		keep(call, svc.data, svc.data_size);
		break;
	case HWTDI_HWT_IOC_RECORD_GET:
		if (f->rc[nr] == 0 && !f->deaf[nr])
			give_entries(f, arg);
		break;
	case HWTDI_HWT_IOC_BUFPTR_GET:
		if (f->rc[nr] == 0 && !f->deaf[nr])
			give_position(f, arg);
		break;
	default:
		break;
	}
	return (f->rc[nr]);
}

static int
fake_mmap(void *state, int fd, size_t length, const void **out)
{
	struct fake_system *f = state;

	note(f, FAKE_MMAP, fd)->number = length;
	if (f->mmap_rc != 0)
		return (f->mmap_rc);
	f->mapped++;
	*out = f->memory_mapped;
	return (0);
}

static int
fake_munmap(void *state, const void *address, size_t length)
{
	struct fake_system *f = state;

	assert_ptr_equal(address, f->memory_mapped);
	note(f, FAKE_MUNMAP, -1)->number = length;
	f->mapped--;
	return (0);
}

static int
fake_kevent_add(void *state, int kq, uint64_t ident)
{
	struct fake_system *f = state;

	note(f, FAKE_KEVENT_ADD, kq)->number = ident;
	return (f->kevent_rc);
}

static int
fake_cpuid(void *state, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
	static const struct {
		uint32_t leaf, subleaf;
	} leaves[6] = { { 0, 0 }, { 7, 0 }, { 0x14, 0 }, { 0x14, 1 },
		{ 0x80000000u, 0 }, { 0x80000008u, 0 } };
	struct fake_system *f = state;

	for (size_t i = 0; i < 6; i++)
		if (leaves[i].leaf == leaf && leaves[i].subleaf == subleaf) {
			if (f->cpuid_rc[i] == 0)
				memcpy(out, f->cpuid[i], sizeof(f->cpuid[i]));
			return (f->cpuid_rc[i]);
		}
	fail_msg("leaf %#x.%u", leaf, subleaf);
	return (-ENOTSUP);
}

void
fake_system_init(struct fake_system *f)
{
	struct hwtd_context_options o = { .size = sizeof(o) };

	memset(f, 0, sizeof(*f));
	f->table.state = f;
	f->table.open = fake_open;
	f->table.close = fake_close;
	f->table.ioctl = fake_ioctl;
	f->table.mmap = fake_mmap;
	f->table.munmap = fake_munmap;
	f->table.kevent_add = fake_kevent_add;
	f->table.cpuid = fake_cpuid;
	f->next_fd = 10;
	f->ident = 3;
	failing_allocator_init(&f->memory);
	o.allocator = &f->memory.allocator;
	assert_int_equal(hwtd_context_create(&o, &f->library, NULL), HWTD_OK);
}

void
fake_system_fini(struct fake_system *f)
{
	hwtd_context_destroy(f->library);
	assert_int_equal(f->memory.blocks, 0);
	assert_int_equal(f->open_fds, 0);
	assert_int_equal(f->mapped, 0);
}

size_t
fake_asked(const struct fake_system *f, unsigned long request)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n_calls; i++)
		if (f->calls[i].what == FAKE_IOCTL &&
		    f->calls[i].request == request)
			n++;
	return (n);
}

const struct fake_call *
fake_last(const struct fake_system *f, unsigned long request)
{
	for (size_t i = f->n_calls; i-- > 0;)
		if (f->calls[i].what == FAKE_IOCTL &&
		    f->calls[i].request == request)
			return (&f->calls[i]);
	return (NULL);
}

const struct fake_call *
fake_last_open(const struct fake_system *f)
{
	for (size_t i = f->n_calls; i-- > 0;)
		if (f->calls[i].what == FAKE_OPEN)
			return (&f->calls[i]);
	return (NULL);
}

struct hwtdi_hwt_options
fake_thread_options(enum hwtdi_backend backend)
{
	const struct hwtdi_hwt_options o = {
		.backend = backend,
		.mode = HWTDI_HWT_THREAD,
		.pid = 77,
		.machine_cpus = 4,
		.bufsize = 256 * 4096,
		.kq = 5,
	};

	return (o);
}

struct hwtdi_hwt_options
fake_cpu_options(enum hwtdi_backend backend)
{
	static const uint32_t cpus[] = { 2, 0 };
	struct hwtdi_hwt_options o = fake_thread_options(backend);

	o.mode = HWTDI_HWT_CPU;
	o.pid = 0;
	o.cpus = cpus;
	o.n_cpus = 2;
	return (o);
}

struct hwtdi_hwt *
fake_alloc(struct fake_system *f, const struct hwtdi_hwt_options *o)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_hwt *hwt = NULL;

	if (hwtdi_hwt_alloc(f->library, &f->table, o, &hwt, &err) != HWTD_OK)
		fail_msg("%s", err.message);
	return (hwt);
}

struct hwtdi_hwt_pt_config
fake_pt_config(void)
{
	struct hwtdi_hwt_pt_config c;

	memset(&c, 0, sizeof(c));
	c.rtit_ctl = 0x2008;
	return (c);
}

struct hwtdi_hwt_spe_config
fake_spe_config(void)
{
	const struct hwtdi_hwt_spe_config c = { .interval = 4096,
		.level = 2,
		.ctx_field = 1 };

	return (c);
}

void
fake_start(struct hwtdi_hwt *hwt)
{
	const struct hwtdi_hwt_pt_config pt = fake_pt_config();
	const struct hwtdi_hwt_spe_config spe = fake_spe_config();

	if (hwt->backend == HWTDI_BACKEND_PT &&
	    hwt->kernel == HWTDI_KERNEL_STOCK)
		assert_int_equal(hwtdi_hwt_set_config(hwt, false, &pt,
				     sizeof(pt), 0, NULL),
		    HWTD_OK);
	if (hwt->backend == HWTDI_BACKEND_SPE)
		assert_int_equal(hwtdi_hwt_set_config(hwt, false, &spe,
				     sizeof(spe), 1, NULL),
		    HWTD_OK);
	assert_int_equal(hwtdi_hwt_start(hwt, NULL), HWTD_OK);
}
