/*
 * The system calls of a capture on FreeBSD: each is the one of its name.
 *
 * Needs nothing but libc.  Compiled for FreeBSD and linked against its symbols,
 * but not run: no FreeBSD was at hand.
 *
 * Source: the manual pages of the calls; sysctl(3), sys/user.h.
 */
#include "capture/system.h"

#ifdef __FreeBSD__

#include <sys/param.h>
#include <sys/event.h>
#include <sys/ioctl.h>
#include <sys/linker.h>
#include <sys/resource.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/sysctl.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__amd64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define NS_PER_S 1000000000u

/* What the gate of a child is sent. */
#define GATE_RUN 1
#define GATE_END 0
/* As shells have it. */
#define STATUS_CANNOT_RUN 127

/* Events of one kevent(2). */
#define KEVENTS 16

/* Lists grow while they are read: how often that is tried, and with how much. */
#define LIST_TRIES 10
#define LIST_SPARE 4096

static_assert(HWTDI_PROT_READ == KVME_PROT_READ, "protection");
static_assert(HWTDI_PROT_WRITE == KVME_PROT_WRITE, "protection");
static_assert(HWTDI_PROT_EXEC == KVME_PROT_EXEC, "protection");
static_assert(sizeof(((struct kinfo_proc *)NULL)->ki_wmesg) <=
	HWTDI_WMESG_ROOM,
    "wmesg");
static_assert(MAXCOMLEN < HWTDI_COMM_ROOM, "names of threads");
static_assert(sizeof(struct kinfo_proc) == KINFO_PROC_SIZE, "kinfo_proc");

/* Zero or more, or -errno. */
static int
result(int rc)
{
	return (rc < 0 ? -errno : rc);
}

static int
host_open(void *state, const char *path)
{
	(void)state;
	return (result(open(path, O_RDONLY | O_CLOEXEC)));
}

static int
host_close(void *state, int fd)
{
	(void)state;
	return (result(close(fd)));
}

static int
host_ioctl(void *state, int fd, unsigned long request, void *arg)
{
	(void)state;
	return (result(ioctl(fd, request, arg)));
}

static int
host_mmap(void *state, int fd, size_t length, const void **out)
{
	void *at = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);

	(void)state;
	if (at == MAP_FAILED)
		return (-errno);
	*out = at;
	return (0);
}

static int
host_munmap(void *state, const void *address, size_t length)
{
	(void)state;
	return (result(munmap((void *)(uintptr_t)address, length)));
}

static int
host_kqueue(void *state)
{
	(void)state;
	return (result(kqueue()));
}

static int
host_kevent_add(void *state, int kq, uint64_t ident)
{
	struct kevent change;

	(void)state;
	EV_SET(&change, ident, EVFILT_USER, EV_ADD | EV_CLEAR, 0, 0, NULL);
	return (result(kevent(kq, &change, 1, NULL, 0, NULL)));
}

static struct timespec
timespec_of(uint64_t ns)
{
	return ((struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S),
	    .tv_nsec = (long)(ns % NS_PER_S) });
}

static int
host_kevent_wait(void *state, int kq, struct hwtdi_kevent *events, int room,
    uint64_t ns)
{
	const struct timespec wait = timespec_of(ns);
	struct kevent came[KEVENTS];
	int n;

	(void)state;
	n = kevent(kq, NULL, 0, came, room < KEVENTS ? room : KEVENTS, &wait);
	if (n < 0)
		return (-errno);
	for (int i = 0; i < n; i++) {
		events[i].ident = came[i].ident;
		events[i].data = came[i].data;
	}
	return (n);
}

/* In the child.  Nothing here may allocate: other threads may have had locks. */
static void
run_behind_gate(int gate, const struct hwtdi_spawn *what)
{
	char word = GATE_END;
	ssize_t n;

	do
		n = read(gate, &word, 1);
	while (n < 0 && errno == EINTR);
	/* The end of the parent closes the gate as well. */
	if (n != 1 || word != GATE_RUN)
		_exit(0);
	/* execvp(3) changes none of them. */
	(void)execvp(what->path, (char *const *)(uintptr_t)what->argv);
	_exit(STATUS_CANNOT_RUN);
}

static int
host_spawn(void *state, const struct hwtdi_spawn *what, pid_t *pid, int *gate)
{
	int ends[2];
	pid_t child;

	(void)state;
	/* No pipe: a write to one of a child that was killed raises SIGPIPE. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return (-errno);
	child = fork();
	if (child == 0) {
		(void)close(ends[0]);
		run_behind_gate(ends[1], what);
	}
	if (child < 0) {
		const int e = errno;

		(void)close(ends[0]);
		(void)close(ends[1]);
		return (-e);
	}
	(void)close(ends[1]);
	*pid = child;
	*gate = ends[0];
	return (0);
}

static int
host_release(void *state, int gate, bool run)
{
	const char word = run ? GATE_RUN : GATE_END;
	ssize_t n;
	int e = 0;

	(void)state;
	do
		n = send(gate, &word, 1, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		e = errno;
	(void)close(gate);
	/* A child that is gone already did not run either. */
	return (e == EPIPE && !run ? 0 : -e);
}

/* What the kernel says of a process; a zombie is one. */
static int
process(pid_t pid, struct kinfo_proc *out)
{
	int mib[] = { CTL_KERN, KERN_PROC, KERN_PROC_PID, pid };
	size_t size = sizeof(*out);

	if (sysctl(mib, nitems(mib), out, &size, NULL, 0) < 0)
		return (-errno);
	if (size == 0)
		return (-ESRCH);
	/* A kernel of another ABI. */
	if (size != sizeof(*out) || out->ki_structsize != (int)sizeof(*out))
		return (-EPROTO);
	return (0);
}

static int
host_ended(void *state, pid_t pid, struct hwtdi_exit *out)
{
	struct kinfo_proc p;
	struct rusage usage;
	int status, rc;
	pid_t got;

	(void)state;
	memset(out, 0, sizeof(*out));
	got = wait4(pid, &status, WNOHANG, &usage);
	if (got == pid) {
		out->switches_known = true;
		out->switches = (uint64_t)usage.ru_nvcsw +
		    (uint64_t)usage.ru_nivcsw;
		out->ended = WIFEXITED(status) || WIFSIGNALED(status);
		if (WIFEXITED(status))
			out->status = WEXITSTATUS(status);
		if (WIFSIGNALED(status))
			out->signal = WTERMSIG(status);
		return (0);
	}
	if (got == 0)
		return (0);
	if (errno != ECHILD)
		return (-errno);
	rc = process(pid, &p);
	if (rc == 0)
		out->ended = p.ki_stat == SZOMB;
	return (rc);
}

static int
host_kill(void *state, pid_t pid, int sig)
{
	(void)state;
	return (result(kill(pid, sig)));
}

static int
host_fork(void *state)
{
	(void)state;
	return (result(fork()));
}

static int
host_sysctl(void *state, const char *name, void *out, size_t *size)
{
	(void)state;
	return (result(sysctlbyname(name, out, size, NULL, 0)));
}

/* All of a list that may grow meanwhile.  free() what *out points to. */
static int
read_list(const int *mib, unsigned int n_mib, char **out, size_t *size_out)
{
	char *list = NULL;
	int e;

	for (int i = 0; i < LIST_TRIES; i++) {
		size_t size = 0;
		char *more;

		if (sysctl(mib, n_mib, NULL, &size, NULL, 0) < 0)
			break;
		size += size / 3 + LIST_SPARE;
		more = realloc(list, size);
		if (more == NULL)
			break;
		list = more;
		if (sysctl(mib, n_mib, list, &size, NULL, 0) == 0) {
			*out = list;
			*size_out = size;
			return (0);
		}
		if (errno != ENOMEM)
			break;
	}
	e = errno;
	free(list);
	return (-e);
}

static void
thread_of(const struct kinfo_proc *p, struct hwtdi_thread *out)
{
	size_t n;

	memset(out, 0, sizeof(*out));
	out->tid = (uint32_t)p->ki_tid;
	(void)strlcpy(out->wmesg, p->ki_wmesg, sizeof(out->wmesg));
	n = strlcpy(out->name, p->ki_tdname, sizeof(out->name));
	/* The kernel has the name in two pieces. */
	if (n == sizeof(p->ki_tdname) - 1)
		(void)strlcat(out->name, p->ki_moretdname, sizeof(out->name));
	out->switches = (uint64_t)p->ki_rusage.ru_nvcsw +
	    (uint64_t)p->ki_rusage.ru_nivcsw;
	out->running = p->ki_stat == SRUN && p->ki_oncpu != NOCPU;
}

static int
host_threads(void *state, pid_t pid, struct hwtdi_thread *out, size_t room,
    size_t *n)
{
	const int mib[] = { CTL_KERN, KERN_PROC,
		KERN_PROC_PID | KERN_PROC_INC_THREAD, pid };
	struct kinfo_proc p;
	char *list;
	size_t size, count, zombies = 0;
	int rc;

	(void)state;
	rc = read_list(mib, nitems(mib), &list, &size);
	if (rc < 0)
		return (rc);
	count = size / sizeof(p);
	if (count == 0)
		rc = -ESRCH;
	for (size_t i = 0; rc == 0 && i < count; i++) {
		memcpy(&p, list + i * sizeof(p), sizeof(p));
		if (p.ki_structsize != (int)sizeof(p))
			rc = -EPROTO;
		/* What is left of a process that ended. */
		else if (p.ki_stat == SZOMB)
			zombies++;
		else if (i - zombies < room)
			thread_of(&p, &out[i - zombies]);
	}
	free(list);
	if (rc == 0)
		*n = count - zombies;
	return (rc);
}

/* Entries end behind their path. */
#define ENTRY_HEAD offsetof(struct kinfo_vmentry, kve_path)

static void
mapping_of(const struct kinfo_vmentry *e, size_t path_bytes,
    struct hwtdi_vm_entry *out)
{
	memset(out, 0, sizeof(*out));
	out->start = e->kve_start;
	out->end = e->kve_end;
	out->file_off = e->kve_offset;
	out->prot = (uint32_t)e->kve_protection &
	    (HWTDI_PROT_READ | HWTDI_PROT_WRITE | HWTDI_PROT_EXEC);
	if (e->kve_type != KVME_TYPE_VNODE)
		return;
	if (path_bytes >= sizeof(out->path))
		path_bytes = sizeof(out->path) - 1;
	memcpy(out->path, e->kve_path, strnlen(e->kve_path, path_bytes));
}

static int
host_mappings(void *state, pid_t pid, struct hwtdi_vm_entry *out, size_t room,
    size_t *n)
{
	const int mib[] = { CTL_KERN, KERN_PROC, KERN_PROC_VMMAP, pid };
	struct kinfo_vmentry e;
	char *list;
	size_t size, count = 0, at = 0;
	int rc;

	(void)state;
	rc = read_list(mib, nitems(mib), &list, &size);
	if (rc < 0)
		return (rc);
	while (size - at >= ENTRY_HEAD) {
		size_t bytes;

		memset(&e, 0, sizeof(e));
		memcpy(&e, list + at, ENTRY_HEAD);
		if (e.kve_structsize == 0)
			break;
		bytes = (size_t)e.kve_structsize;
		if (e.kve_structsize < 0 || bytes < ENTRY_HEAD ||
		    bytes > sizeof(e) || bytes > size - at) {
			rc = -EPROTO;
			break;
		}
		memcpy(&e, list + at, bytes);
		if (count < room)
			mapping_of(&e, bytes - ENTRY_HEAD, &out[count]);
		count++;
		at += bytes;
	}
	free(list);
	if (rc == 0)
		*n = count;
	return (rc);
}

static int
host_modules(void *state, struct hwtdi_module *out, size_t room, size_t *n)
{
	struct kld_file_stat s;
	size_t count = 0;

	(void)state;
	for (int id = kldnext(0); id != 0; id = kldnext(id)) {
		if (id < 0)
			return (-errno);
		memset(&s, 0, sizeof(s));
		s.version = sizeof(s);
		if (kldstat(id, &s) < 0)
			return (-errno);
		if (count < room) {
			struct hwtdi_module *m = &out[count];

			memset(m, 0, sizeof(*m));
			m->addr = (uintptr_t)s.address;
			m->len = s.size;
			(void)strlcpy(m->name, s.name, sizeof(m->name));
			(void)strlcpy(m->path, s.pathname, sizeof(m->path));
		}
		count++;
	}
	*n = count;
	return (0);
}

static int
add_group(struct hwtdi_credentials *c, uint32_t group)
{
	for (uint32_t i = 0; i < c->n_groups; i++)
		if (c->groups[i] == group)
			return (0);
	if (c->n_groups == nitems(c->groups))
		return (-E2BIG);
	c->groups[c->n_groups++] = group;
	return (0);
}

/* Groups beyond those that struct kinfo_proc has room for. */
static int
add_all_groups(struct hwtdi_credentials *c, pid_t pid)
{
	const int mib[] = { CTL_KERN, KERN_PROC, KERN_PROC_GROUPS, pid };
	char *list;
	size_t size;
	int rc;

	rc = read_list(mib, nitems(mib), &list, &size);
	if (rc < 0)
		return (rc);
	for (size_t at = 0; rc == 0 && size - at >= sizeof(gid_t);
	     at += sizeof(gid_t)) {
		gid_t group;

		memcpy(&group, list + at, sizeof(group));
		rc = add_group(c, group);
	}
	free(list);
	return (rc);
}

static int
host_credentials(void *state, pid_t pid, struct hwtdi_credentials *out)
{
	struct kinfo_proc p;
	int rc;

	(void)state;
	if (pid == 0)
		pid = getpid();
	rc = process(pid, &p);
	if (rc < 0)
		return (rc);
	memset(out, 0, sizeof(*out));
	out->euid = p.ki_uid;
	out->ruid = p.ki_ruid;
	out->svuid = p.ki_svuid;
	out->rgid = p.ki_rgid;
	out->svgid = p.ki_svgid;
	for (int i = 0; rc == 0 && i < p.ki_ngroups && i < KI_NGROUPS; i++)
		rc = add_group(out, p.ki_groups[i]);
	if (rc == 0 && (p.ki_cr_flags & KI_CRF_GRP_OVERFLOW) != 0)
		rc = add_all_groups(out, pid);
	return (rc);
}

static int
host_cpuid(void *state, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
	(void)state;
#if defined(__amd64__) || defined(__i386__)
	/* Leaves that the CPU does not have give those of another one. */
	if (__get_cpuid_count(leaf, subleaf, &out[0], &out[1], &out[2],
		&out[3]) == 0)
		memset(out, 0, 4 * sizeof(out[0]));
	return (0);
#else
	(void)leaf;
	(void)subleaf;
	(void)out;
	return (-ENOTSUP);
#endif
}

static uint64_t
ns_of(clockid_t clock)
{
	struct timespec t = { 0 };

	(void)clock_gettime(clock, &t);
	return ((uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec);
}

static uint64_t
host_now(void *state)
{
	(void)state;
	return (ns_of(CLOCK_MONOTONIC));
}

static uint64_t
host_real_time(void *state)
{
	(void)state;
	return (ns_of(CLOCK_REALTIME));
}

static int
host_counter(void *state, uint64_t *count, uint64_t *frequency)
{
#if defined(__amd64__)
	size_t size = sizeof(*frequency);
	uint32_t low, high;

	(void)state;
	*frequency = 0;
	if (sysctlbyname("machdep.tsc_freq", frequency, &size, NULL, 0) < 0 ||
	    size != sizeof(*frequency))
		return (-ENOTSUP);
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	*count = (uint64_t)high << 32 | low;
	return (0);
#elif defined(__aarch64__)
	(void)state;
	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(*frequency));
	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(*count));
	return (0);
#else
	(void)state;
	(void)count;
	(void)frequency;
	return (-ENOTSUP);
#endif
}

/* A signal ends it, so that who waits sees soon what it asked for. */
static void
host_sleep(void *state, uint64_t ns)
{
	const struct timespec wait = timespec_of(ns);

	(void)state;
	(void)nanosleep(&wait, NULL);
}

static const struct hwtdi_system host = {
	.open = host_open,
	.close = host_close,
	.ioctl = host_ioctl,
	.mmap = host_mmap,
	.munmap = host_munmap,
	.kqueue = host_kqueue,
	.kevent_add = host_kevent_add,
	.kevent_wait = host_kevent_wait,
	.spawn = host_spawn,
	.release = host_release,
	.ended = host_ended,
	.kill = host_kill,
	.fork = host_fork,
	.sysctl = host_sysctl,
	.threads = host_threads,
	.mappings = host_mappings,
	.modules = host_modules,
	.credentials = host_credentials,
	.cpuid = host_cpuid,
	.counter = host_counter,
	.now = host_now,
	.real_time = host_real_time,
	.sleep = host_sleep,
};

const struct hwtdi_system *
hwtdi_system_host(void)
{
	return (&host);
}

#endif /* __FreeBSD__ */
