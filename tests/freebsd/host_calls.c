/*
 * Runs system_host_freebsd.c as compiled for FreeBSD on amd64, on a system that
 * is none: what it calls is here and in host_kernel.c.
 *
 * Symbols of both objects have the prefix fb_, so that they do not get this
 * system's.  Numbers of FreeBSD that are expected are from its headers.
 */
#include <cpuid.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/system.h"

/* Of FreeBSD. */
#define FB_O_CLOEXEC 0x00100000
#define FB_SOCK_CLOEXEC 0x10000000
#define FB_MSG_NOSIGNAL 0x00020000
#define FB_CLOCK_MONOTONIC 4
#define FB_EPROTO 92

#define PID 42
#define ZOMBIE 43
#define STRANGER 44
#define NOBODY 45

const struct hwtdi_system *fb_hwtdi_system_host(void);
extern int fb_fake_errno;

static int failures;

#define CHECK(right)                                                          \
	do {                                                                  \
		if (!(right)) {                                               \
			(void)printf("line %d: %s\n", __LINE__, #right);      \
			failures++;                                           \
		}                                                             \
	} while (0)

static long
pass(long rc)
{
	fb_fake_errno = errno;
	return (rc);
}

/* The calls of libc that it makes. */

int fb_open(const char *path, int flags);
int fb_close(int fd);
int fb_ioctl(int fd, unsigned long request, void *arg);
void *fb_mmap(void *at, size_t n, int prot, int flags, int fd, long off);
int fb_munmap(void *at, size_t n);
int fb_socketpair(int domain, int type, int protocol, int ends[2]);
pid_t fb_fork(void);
ssize_t fb_read(int fd, void *out, size_t n);
ssize_t fb_send(int fd, const void *bytes, size_t n, int flags);
int fb_execvp(const char *path, char *const *argv);
void fb__exit(int status);
pid_t fb_wait4(pid_t pid, int *status, int flags, void *usage);
int fb_kill(pid_t pid, int sig);
pid_t fb_getpid(void);
int fb_clock_gettime(int clock, struct timespec *out);
int fb_nanosleep(const struct timespec *t, struct timespec *rest);
void *fb_memcpy(void *to, const void *from, size_t n);
void *fb_memset(void *to, int byte, size_t n);
size_t fb_strlen(const char *text);
int fb_strcmp(const char *a, const char *b);
size_t fb_strnlen(const char *text, size_t n);
size_t fb_strlcpy(char *to, const char *from, size_t room);
size_t fb_strlcat(char *to, const char *from, size_t room);
void *fb_malloc(size_t n);
void *fb_realloc(void *old, size_t n);
void fb_free(void *memory);

int
fb_open(const char *path, int flags)
{
	CHECK(strcmp(path, "/dev/hwt") == 0);
	CHECK(flags == FB_O_CLOEXEC);
	errno = ENXIO;
	return ((int)pass(-1));
}

int
fb_close(int fd)
{
	return ((int)pass(close(fd)));
}

int
fb_ioctl(int fd, unsigned long request, void *arg)
{
	CHECK(fd == 9 && request == 0x80104201UL && arg != NULL);
	return (0);
}

void *
fb_mmap(void *at, size_t n, int prot, int flags, int fd, long off)
{
	static char pages[4096];

	CHECK(at == NULL && n == sizeof(pages) && prot == 1 && flags == 1);
	CHECK(off == 0);
	if (fd != 9) {
		errno = ENXIO;
		return ((void *)pass(-1));
	}
	return (pages);
}

int
fb_munmap(void *at, size_t n)
{
	CHECK(at != NULL && n == 4096);
	return (0);
}

int
fb_socketpair(int domain, int type, int protocol, int ends[2])
{
	CHECK(domain == AF_UNIX && protocol == 0);
	CHECK(type == (SOCK_STREAM | FB_SOCK_CLOEXEC));
	return ((int)pass(socketpair(domain, SOCK_STREAM | SOCK_CLOEXEC, 0,
	    ends)));
}

pid_t
fb_fork(void)
{
	return ((pid_t)pass(fork()));
}

ssize_t
fb_read(int fd, void *out, size_t n)
{
	return (pass(read(fd, out, n)));
}

ssize_t
fb_send(int fd, const void *bytes, size_t n, int flags)
{
	CHECK(flags == FB_MSG_NOSIGNAL);
	return (pass(send(fd, bytes, n, MSG_NOSIGNAL)));
}

int
fb_execvp(const char *path, char *const *argv)
{
	return ((int)pass(execvp(path, argv)));
}

void
fb__exit(int status)
{
	_exit(status);
}

/* Both systems have these numbers at the same place. */
pid_t
fb_wait4(pid_t pid, int *status, int flags, void *usage)
{
	struct rusage *out = usage;

	CHECK(flags == WNOHANG);
	out->ru_nvcsw = 5;
	out->ru_nivcsw = 3;
	return ((pid_t)pass(waitpid(pid, status, flags)));
}

int
fb_kill(pid_t pid, int sig)
{
	return ((int)pass(kill(pid, sig)));
}

pid_t
fb_getpid(void)
{
	return (PID);
}

int
fb_clock_gettime(int clock, struct timespec *out)
{
	CHECK(clock == 0 || clock == FB_CLOCK_MONOTONIC);
	*out = (struct timespec){ 3, clock == 0 ? 7 : 5 };
	return (0);
}

int
fb_nanosleep(const struct timespec *t, struct timespec *rest)
{
	CHECK(t->tv_sec == 2 && t->tv_nsec == 1 && rest == NULL);
	return (0);
}

void *
fb_memcpy(void *to, const void *from, size_t n)
{
	return (memcpy(to, from, n));
}

void *
fb_memset(void *to, int byte, size_t n)
{
	return (memset(to, byte, n));
}

size_t
fb_strlen(const char *text)
{
	return (strlen(text));
}

int
fb_strcmp(const char *a, const char *b)
{
	return (strcmp(a, b));
}

size_t
fb_strnlen(const char *text, size_t n)
{
	return (strnlen(text, n));
}

size_t
fb_strlcpy(char *to, const char *from, size_t room)
{
	return ((size_t)snprintf(to, room, "%s", from));
}

size_t
fb_strlcat(char *to, const char *from, size_t room)
{
	const size_t n = strlen(to);

	return (n + fb_strlcpy(to + n, from, room - n));
}

void *
fb_malloc(size_t n)
{
	return (malloc(n));
}

void *
fb_realloc(void *old, size_t n)
{
	return (realloc(old, n));
}

void
fb_free(void *memory)
{
	free(memory);
}

static void
devices_are_opened_for_reading_and_mapped_shared(const struct hwtdi_system *s)
{
	const void *at = NULL;
	int arg = 0;

	CHECK(s->open(s->state, "/dev/hwt") == -ENXIO);
	CHECK(s->ioctl(s->state, 9, 0x80104201UL, &arg) == 0);
	CHECK(s->mmap(s->state, 8, 4096, &at) == -ENXIO && at == NULL);
	CHECK(s->mmap(s->state, 9, 4096, &at) == 0 && at != NULL);
	CHECK(s->munmap(s->state, at, 4096) == 0);
	CHECK(s->close(s->state, -1) == -EBADF);
}

static void
events_come_with_their_data(const struct hwtdi_system *s)
{
	struct hwtdi_kevent e[64];
	int kq = s->kqueue(s->state);

	CHECK(kq == 77);
	CHECK(s->kevent_add(s->state, kq, 138) == 0);
	CHECK(s->kevent_add(s->state, kq, 139) == -EINVAL);
	CHECK(s->kevent_wait(s->state, kq, e, 64, 0) == 1);
	CHECK(e[0].ident == 138 && e[0].data == 0);
	CHECK(s->kevent_wait(s->state, kq, e, 1, 2000000003) == 1);
	CHECK(e[0].data == 2000000003);
	CHECK(s->kevent_wait(s->state, 1, e, 1, 0) == -EBADF);
}

static struct hwtdi_exit
wait_for(const struct hwtdi_system *s, pid_t pid)
{
	struct hwtdi_exit how = { .ended = false };

	for (int i = 0; i < 2000 && !how.ended; i++) {
		CHECK(s->ended(s->state, pid, &how) == 0);
		(void)usleep(5000);
	}
	CHECK(how.ended);
	return (how);
}

static struct hwtdi_exit
run(const struct hwtdi_system *s, const char *script, bool release)
{
	char sh[] = "sh", c[] = "-c", text[64];
	const char *const argv[] = { sh, c, text, NULL };
	const struct hwtdi_spawn what = { script != NULL ? sh : "/no/such",
		argv };
	struct hwtdi_exit how;
	pid_t pid;
	int gate;

	(void)snprintf(text, sizeof(text), "%s", script != NULL ? script : "");
	CHECK(s->spawn(s->state, &what, &pid, &gate) == 0);
	/* It waits. */
	(void)usleep(20000);
	CHECK(s->ended(s->state, pid, &how) == 0 && !how.ended);
	CHECK(s->release(s->state, gate, release) == 0);
	return (wait_for(s, pid));
}

static void
a_child_waits_until_it_is_released(const struct hwtdi_system *s)
{
	char name[] = "true";
	const char *const argv[] = { name, NULL };
	const struct hwtdi_spawn what = { name, argv };
	struct hwtdi_exit how;
	pid_t pid;
	int gate;

	CHECK(run(s, "exit 3", true).status == 3);
	CHECK(run(s, "kill -9 $$", true).signal == SIGKILL);
	CHECK(run(s, NULL, true).status == 127);
	CHECK(run(s, "exit 3", false).status == 0);

	/* Killed at the gate: to release it is an error, and no SIGPIPE. */
	CHECK(s->spawn(s->state, &what, &pid, &gate) == 0);
	CHECK(s->kill(s->state, pid, SIGKILL) == 0);
	how = wait_for(s, pid);
	CHECK(how.signal == SIGKILL && how.status == 0);
	CHECK(how.switches_known && how.switches == 8);
	CHECK(s->release(s->state, gate, true) == -EPIPE);
	/* A second time it is no child. */
	CHECK(s->ended(s->state, pid, &how) == -ESRCH);
}

static void
the_end_of_others_is_seen(const struct hwtdi_system *s)
{
	struct hwtdi_exit how;

	CHECK(s->ended(s->state, PID, &how) == 0 && !how.ended);
	CHECK(s->ended(s->state, ZOMBIE, &how) == 0 && how.ended);
	CHECK(how.status == 0 && how.signal == 0 && !how.switches_known);
	CHECK(s->ended(s->state, NOBODY, &how) == -ESRCH);
	CHECK(s->ended(s->state, STRANGER, &how) == -FB_EPROTO);
}

static void
values_of_sysctl_have_their_size(const struct hwtdi_system *s)
{
	int value = 0;
	size_t n = sizeof(value);

	CHECK(s->sysctl(s->state, "kern.osreldate", &value, &n) == 0);
	CHECK(value == 1500000 && n == sizeof(value));
	n = 1;
	CHECK(s->sysctl(s->state, "kern.osreldate", &value, &n) == -ENOMEM);
	CHECK(s->sysctl(s->state, "kern.none", &value, &n) == -ENOENT);
}

/* There are 2 when it is asked how many, and 400 a moment later. */
static void
threads_that_become_more_are_all_told(const struct hwtdi_system *s)
{
	struct hwtdi_thread t[3];
	size_t n = 0;

	memset(t, 0x55, sizeof(t));
	CHECK(s->threads(s->state, PID, t, 2, &n) == 0);
	CHECK(n == 400);
	CHECK(t[0].tid == 100001 && t[0].running && t[0].switches == 7);
	CHECK(strcmp(t[0].name, "name-of-16-bytesand") == 0);
	CHECK(strcmp(t[0].wmesg, "") == 0);
	CHECK(t[1].tid == 100002 && !t[1].running);
	CHECK(strcmp(t[1].name, "short") == 0);
	CHECK(strcmp(t[1].wmesg, "hwt-mmap") == 0);
	CHECK(t[2].tid == 0x55555555);
	CHECK(s->threads(s->state, NOBODY, t, 2, &n) == -ESRCH);
	CHECK(s->threads(s->state, ZOMBIE, t, 2, &n) == 0 && n == 0);
}

static void
packed_mappings_are_taken_apart(const struct hwtdi_system *s)
{
	static struct hwtdi_vm_entry m[4];
	size_t n = 0;

	CHECK(s->mappings(s->state, PID, m, 4, &n) == 0);
	CHECK(n == 3);
	CHECK(m[0].start == 0x400000 && m[0].end == 0x402000);
	CHECK(m[0].file_off == 0x1000);
	CHECK(m[0].prot == (HWTDI_PROT_READ | HWTDI_PROT_EXEC));
	CHECK(strcmp(m[0].path, "/bin/ls") == 0);
	CHECK(m[1].prot == (HWTDI_PROT_READ | HWTDI_PROT_WRITE));
	CHECK(strcmp(m[1].path, "") == 0);
	CHECK(m[2].start == 0xa00000 && strlen(m[2].path) == 1023);
	CHECK(s->mappings(s->state, PID, NULL, 0, &n) == 0 && n == 3);
	CHECK(s->mappings(s->state, STRANGER, m, 4, &n) == -FB_EPROTO);
	CHECK(s->mappings(s->state, NOBODY, m, 4, &n) == -ESRCH);
}

static void
modules_have_their_place_and_path(const struct hwtdi_system *s)
{
	static struct hwtdi_module m[2];
	size_t n = 0;

	CHECK(s->modules(s->state, m, 2, &n) == 0 && n == 2);
	CHECK(m[0].addr == 0xffffffff80200000 && m[0].len == 0x1000);
	CHECK(strcmp(m[0].name, "kernel") == 0);
	CHECK(m[1].addr == 0xffffffff82000000 && m[1].len == 0x5000);
	CHECK(strcmp(m[1].path, "/boot/kernel/hwt.ko") == 0);
	CHECK(s->modules(s->state, NULL, 0, &n) == 0 && n == 2);
}

/* struct kinfo_proc has room for 16 groups. */
static void
groups_are_all_told(const struct hwtdi_system *s)
{
	static struct hwtdi_credentials c;

	CHECK(s->credentials(s->state, ZOMBIE, &c) == 0);
	CHECK(c.euid == 1001 && c.ruid == 1002 && c.svuid == 1003);
	CHECK(c.rgid == 2001 && c.svgid == 2002);
	CHECK(c.n_groups == 2 && c.groups[0] == 2000 && c.groups[1] == 2003);
	CHECK(s->credentials(s->state, 0, &c) == 0);
	CHECK(c.n_groups == 20 && c.groups[0] == 3000);
	CHECK(c.groups[19] == 3019);
	CHECK(s->credentials(s->state, NOBODY, &c) == -ESRCH);
}

static void
the_cpu_and_clocks_are_read(const struct hwtdi_system *s)
{
	uint64_t count = 0, frequency = 0;
	uint32_t want[4], got[4];

	CHECK(__get_cpuid_count(0, 0, &want[0], &want[1], &want[2], &want[3]));
	CHECK(s->cpuid(s->state, 0, 0, got) == 0);
	CHECK(memcmp(want, got, sizeof(got)) == 0);
	CHECK(s->cpuid(s->state, 0x7fffffff, 0, got) == 0);
	CHECK(s->counter(s->state, &count, &frequency) == 0);
	CHECK(count != 0 && frequency == 2100000000);
	CHECK(got[0] == 0 && got[1] == 0 && got[2] == 0 && got[3] == 0);
	CHECK(s->now(s->state) == 3000000005);
	CHECK(s->real_time(s->state) == 3000000007);
	s->sleep(s->state, 2000000001);
}

int
main(void)
{
	const struct hwtdi_system *s = fb_hwtdi_system_host();

	devices_are_opened_for_reading_and_mapped_shared(s);
	events_come_with_their_data(s);
	a_child_waits_until_it_is_released(s);
	the_end_of_others_is_seen(s);
	values_of_sysctl_have_their_size(s);
	threads_that_become_more_are_all_told(s);
	packed_mappings_are_taken_apart(s);
	modules_have_their_place_and_path(s);
	groups_are_all_told(s);
	the_cpu_and_clocks_are_read(s);
	(void)printf("host calls: %d failures\n", failures);
	return (failures == 0 ? 0 : 1);
}
