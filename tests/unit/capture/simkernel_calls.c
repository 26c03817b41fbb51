/*
 * Short forms of the calls that tests of the simulated kernel make.
 */
#include "simkernel_calls.h"

#include <stdio.h>

const struct hwtdi_hwt_pt_config simkernel_pt_config = {
	.rtit_ctl = HWTDI_HWT_PT_USER | HWTDI_HWT_PT_BRANCH
};
const struct hwtdi_hwt_spe_config simkernel_spe_config = { .interval = 4096 };

static uint64_t
address(const void *p)
{
	return ((uint64_t)(uintptr_t)p);
}

int
simkernel_open(struct sim_kernel *k, const char *path)
{
	const struct hwtdi_system *s = sim_system(k);

	return (s->open(s->state, path));
}

int
simkernel_node(struct sim_kernel *k, int ident, int id)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/hwt_%d_%d", ident, id);
	return (simkernel_open(k, path));
}

int
simkernel_ioctl(struct sim_kernel *k, int fd, unsigned long request, void *arg)
{
	const struct hwtdi_system *s = sim_system(k);

	return (s->ioctl(s->state, fd, request, arg));
}

int
simkernel_alloc(struct sim_kernel *k, struct hwtdi_hwt_alloc *alloc)
{
	const struct hwtdi_system *s = sim_system(k);
	const int fd = simkernel_open(k, HWTDI_HWT_DEVICE);
	int rc;

	if (fd < 0)
		return (fd);
	rc = simkernel_ioctl(k, fd, HWTDI_HWT_IOC_ALLOC, alloc);
	s->close(s->state, fd);
	return (rc);
}

int
simkernel_alloc_thread(struct sim_kernel *k, const char *backend, pid_t pid,
    uint64_t bufsize, int *ident)
{
	struct hwtdi_hwt_alloc a = { .bufsize = bufsize,
		.mode = HWTDI_HWT_THREAD,
		.pid = pid,
		.backend_name = address(backend),
		.ident = address(ident),
		.kqueue_fd = -1 };

	return (simkernel_alloc(k, &a));
}

int
simkernel_alloc_cpus(struct sim_kernel *k, const char *backend, uint64_t cpus,
    uint64_t bufsize, int kq, int *ident)
{
	struct hwtdi_hwt_alloc a = { .bufsize = bufsize,
		.mode = HWTDI_HWT_CPU,
		.cpu_map = address(&cpus),
		.cpusetsize = sizeof(cpus),
		.backend_name = address(backend),
		.ident = address(ident),
		.kqueue_fd = kq };

	return (simkernel_alloc(k, &a));
}

int
simkernel_plain(struct sim_kernel *k, int fd, unsigned long request)
{
	struct hwtdi_hwt_plain plain = { 0 };

	return (simkernel_ioctl(k, fd, request, &plain));
}

int
simkernel_config(struct sim_kernel *k, int fd, const void *config, size_t size,
    int version, bool pause)
{
	struct hwtdi_hwt_set_config c = { .pause_on_mmap = pause,
		.config = address(config),
		.config_size = size,
		.config_version = version };

	return (simkernel_ioctl(k, fd, HWTDI_HWT_IOC_SET_CONFIG, &c));
}

int
simkernel_position(struct sim_kernel *k, int fd,
    struct simkernel_position *out)
{
	struct hwtdi_hwt_bufptr_get get = { .ident = address(&out->ident),
		.offset = address(&out->offset),
		.data = address(&out->data) };

	return (simkernel_ioctl(k, fd, HWTDI_HWT_IOC_BUFPTR_GET, &get));
}

int
simkernel_svc_buf(struct sim_kernel *k, int fd, uint32_t ident, unsigned half)
{
	const struct hwtdi_hwt_spe_svc_buf data = { .ident = ident,
		.buf_idx = (uint8_t)half };
	struct hwtdi_hwt_svc_buf svc = { .data = address(&data),
		.data_size = sizeof(data),
		.data_version = 1 };

	return (simkernel_ioctl(k, fd, HWTDI_HWT_IOC_SVC_BUF, &svc));
}

int
simkernel_records(struct sim_kernel *k, int fd, struct hwtdi_hwt_entry *out,
    int room, bool wait)
{
	int n = room;
	struct hwtdi_hwt_record_get get = { .records = address(out),
		.nentries = address(&n),
		.wait = wait };
	const int rc = simkernel_ioctl(k, fd, HWTDI_HWT_IOC_RECORD_GET, &get);

	return (rc != 0 ? rc : n);
}

pid_t
simkernel_run(struct sim_kernel *k, const struct sim_step *steps, size_t n,
    unsigned n_threads)
{
	struct sim_program *program = sim_program(k, NULL);

	for (size_t i = 0; i < n; i++)
		sim_add(program, &steps[i]);
	return (sim_start(k, program, "target", n_threads));
}
