/*
 * The system calls of a capture where there is no hwt(4): all of them fail.
 */
#include "capture/system.h"

#ifndef __FreeBSD__

#include <errno.h>

static int
no_open(void *state, const char *path)
{
	(void)state;
	(void)path;
	return (-ENOSYS);
}

static int
no_fd(void *state, int fd)
{
	(void)state;
	(void)fd;
	return (-ENOSYS);
}

static int
no_ioctl(void *state, int fd, unsigned long request, void *arg)
{
	(void)request;
	(void)arg;
	return (no_fd(state, fd));
}

static int
no_mmap(void *state, int fd, size_t length, const void **out)
{
	(void)length;
	(void)out;
	return (no_fd(state, fd));
}

static int
no_munmap(void *state, const void *address, size_t length)
{
	(void)state;
	(void)address;
	(void)length;
	return (-ENOSYS);
}

static int
no_argument(void *state)
{
	(void)state;
	return (-ENOSYS);
}

static int
no_kevent_add(void *state, int kq, uint64_t ident)
{
	(void)ident;
	return (no_fd(state, kq));
}

static int
no_kevent_wait(void *state, int kq, struct hwtdi_kevent *events, int room,
    uint64_t ns)
{
	(void)events;
	(void)room;
	(void)ns;
	return (no_fd(state, kq));
}

static int
no_spawn(void *state, const struct hwtdi_spawn *what, pid_t *pid, int *gate)
{
	(void)state;
	(void)what;
	(void)pid;
	(void)gate;
	return (-ENOSYS);
}

static int
no_release(void *state, int gate, bool run)
{
	(void)run;
	return (no_fd(state, gate));
}

static int
no_ended(void *state, pid_t pid, struct hwtdi_exit *out)
{
	(void)state;
	(void)pid;
	(void)out;
	return (-ENOSYS);
}

static int
no_kill(void *state, pid_t pid, int sig)
{
	(void)state;
	(void)pid;
	(void)sig;
	return (-ENOSYS);
}

static int
no_sysctl(void *state, const char *name, void *out, size_t *size)
{
	(void)state;
	(void)name;
	(void)out;
	(void)size;
	return (-ENOSYS);
}

static int
no_threads(void *state, pid_t pid, struct hwtdi_thread *out, size_t room,
    size_t *n)
{
	(void)state;
	(void)pid;
	(void)out;
	(void)room;
	(void)n;
	return (-ENOSYS);
}

static int
no_mappings(void *state, pid_t pid, struct hwtdi_vm_entry *out, size_t room,
    size_t *n)
{
	(void)state;
	(void)pid;
	(void)out;
	(void)room;
	(void)n;
	return (-ENOSYS);
}

static int
no_modules(void *state, struct hwtdi_module *out, size_t room, size_t *n)
{
	(void)state;
	(void)out;
	(void)room;
	(void)n;
	return (-ENOSYS);
}

static int
no_credentials(void *state, pid_t pid, struct hwtdi_credentials *out)
{
	(void)state;
	(void)pid;
	(void)out;
	return (-ENOSYS);
}

static int
no_cpuid(void *state, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
	(void)state;
	(void)leaf;
	(void)subleaf;
	(void)out;
	return (-ENOSYS);
}

static int
no_counter(void *state, uint64_t *count, uint64_t *frequency)
{
	(void)state;
	(void)count;
	(void)frequency;
	return (-ENOSYS);
}

static uint64_t
no_time(void *state)
{
	(void)state;
	return (0);
}

static void
no_sleep(void *state, uint64_t ns)
{
	(void)state;
	(void)ns;
}

static const struct hwtdi_system none = {
	.open = no_open,
	.close = no_fd,
	.ioctl = no_ioctl,
	.mmap = no_mmap,
	.munmap = no_munmap,
	.kqueue = no_argument,
	.kevent_add = no_kevent_add,
	.kevent_wait = no_kevent_wait,
	.spawn = no_spawn,
	.release = no_release,
	.ended = no_ended,
	.kill = no_kill,
	.fork = no_argument,
	.sysctl = no_sysctl,
	.threads = no_threads,
	.mappings = no_mappings,
	.modules = no_modules,
	.credentials = no_credentials,
	.cpuid = no_cpuid,
	.counter = no_counter,
	.now = no_time,
	.real_time = no_time,
	.sleep = no_sleep,
};

const struct hwtdi_system *
hwtdi_system_host(void)
{
	return (&none);
}

#endif /* !__FreeBSD__ */
