/*
 * A stand-in for FreeBSD's kernel under system_host_freebsd.c: compiled for
 * FreeBSD, so that what it answers has the layouts of FreeBSD's headers.
 *
 * What it tells is what host_calls.c expects.
 */
#include <sys/param.h>
#include <sys/event.h>
#include <sys/linker.h>
#include <sys/sysctl.h>
#include <sys/user.h>

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define PID 42
#define ZOMBIE 43
#define STRANGER 44

/* As host_calls.c sets it, too. */
int fake_errno;

/* A list that did not fit yet grows once, as if it did meanwhile. */
static int grown;

int *__error(void);

int *
__error(void)
{
	return (&fake_errno);
}

static int
fail(int e)
{
	fake_errno = e;
	return (-1);
}

/* Hand out what was asked for, or only how much it is. */
static int
answer(const void *bytes, size_t n, void *out, size_t *size)
{
	if (out == NULL) {
		*size = n;
		return (0);
	}
	if (*size < n)
		return (fail(ENOMEM));
	memcpy(out, bytes, n);
	*size = n;
	return (0);
}

static void
fill(struct kinfo_proc *p, int pid)
{
	memset(p, 0, sizeof(*p));
	p->ki_structsize = sizeof(*p);
	p->ki_pid = pid;
	p->ki_stat = pid == ZOMBIE ? SZOMB : SRUN;
	p->ki_oncpu = NOCPU;
	p->ki_uid = 1001;
	p->ki_ruid = 1002;
	p->ki_svuid = 1003;
	p->ki_rgid = 2001;
	p->ki_svgid = 2002;
	p->ki_ngroups = 2;
	p->ki_groups[0] = 2000;
	p->ki_groups[1] = 2003;
	if (pid == PID) {
		p->ki_ngroups = KI_NGROUPS;
		for (int i = 0; i < KI_NGROUPS; i++)
			p->ki_groups[i] = 3000 + i;
		p->ki_cr_flags = KI_CRF_GRP_OVERFLOW;
	}
	if (pid == STRANGER)
		p->ki_structsize--;
}

static int
threads(void *out, size_t *size)
{
	static struct kinfo_proc p[400];
	const size_t n = grown ? 400 : 2;

	for (size_t i = 0; i < n; i++) {
		fill(&p[i], PID);
		p[i].ki_tid = 100001 + (int)i;
		p[i].ki_rusage.ru_nvcsw = 5;
		p[i].ki_rusage.ru_nivcsw = 2;
		if (i == 0) {
			p[i].ki_oncpu = 3;
			memcpy(p[i].ki_tdname, "name-of-16-bytes", 16);
			memcpy(p[i].ki_moretdname, "and", 3);
		} else {
			p[i].ki_stat = SSLEEP;
			memcpy(p[i].ki_wmesg, "hwt-mmap", 8);
			memcpy(p[i].ki_tdname, "short", 5);
		}
	}
	/* What comes between the two questions is more than there was. */
	if (out == NULL)
		grown = 1;
	return (answer(p, n * sizeof(p[0]), out, size));
}

/* As the kernel packs it: an entry ends behind the NUL of its path. */
static size_t
put_entry(char *at, int type, unsigned long start, int prot, const char *path)
{
	const size_t head = offsetof(struct kinfo_vmentry, kve_path);
	const size_t n = roundup2(head + strlen(path) + 1, sizeof(long));
	static struct kinfo_vmentry e;

	memset(&e, 0, sizeof(e));
	e.kve_structsize = (int)n;
	e.kve_type = type;
	e.kve_start = start;
	e.kve_end = start + 0x2000;
	e.kve_offset = 0x1000;
	/* What it may become does not count. */
	e.kve_protection = prot | KVME_MAX_PROT_WRITE;
	(void)strlcpy(e.kve_path, path, sizeof(e.kve_path));
	memcpy(at, &e, n);
	return (n);
}

static int
mappings(int pid, void *out, size_t *size)
{
	static char list[8192];
	static char longest[PATH_MAX];
	size_t n;

	memset(longest, 'x', sizeof(longest) - 1);
	n = put_entry(list, KVME_TYPE_VNODE, 0x400000,
	    KVME_PROT_READ | KVME_PROT_EXEC, "/bin/ls");
	n += put_entry(list + n, KVME_TYPE_SWAP, 0x800000,
	    KVME_PROT_READ | KVME_PROT_WRITE, "");
	n += put_entry(list + n, KVME_TYPE_VNODE, 0xa00000, KVME_PROT_READ,
	    longest);
	/* The last one claims more than there is. */
	if (pid == STRANGER)
		n -= sizeof(long);
	return (answer(list, n, out, size));
}

static int
groups(void *out, size_t *size)
{
	static gid_t list[20];

	for (int i = 0; i < 20; i++)
		list[i] = 3000 + i;
	return (answer(list, sizeof(list), out, size));
}

int
sysctl(const int *mib, u_int n, void *out, size_t *size, const void *new,
    size_t new_size)
{
	struct kinfo_proc p;

	if (n != 4 || mib[0] != CTL_KERN || mib[1] != KERN_PROC ||
	    new != NULL || new_size != 0)
		return (fail(EINVAL));
	if (mib[3] != PID && mib[3] != ZOMBIE && mib[3] != STRANGER)
		return (fail(ESRCH));
	switch (mib[2]) {
	case KERN_PROC_PID:
		fill(&p, mib[3]);
		return (answer(&p, sizeof(p), out, size));
	case KERN_PROC_PID | KERN_PROC_INC_THREAD:
		/* What is left of a process comes as one thread. */
		if (mib[3] == ZOMBIE) {
			fill(&p, ZOMBIE);
			return (answer(&p, sizeof(p), out, size));
		}
		return (threads(out, size));
	case KERN_PROC_VMMAP:
		return (mappings(mib[3], out, size));
	case KERN_PROC_GROUPS:
		return (groups(out, size));
	default:
		return (fail(EINVAL));
	}
}

int
sysctlbyname(const char *name, void *out, size_t *size, const void *new,
    size_t new_size)
{
	static const int value = 1500000;
	static const unsigned long tsc = 2100000000;

	if (strcmp(name, "machdep.tsc_freq") == 0)
		return (answer(&tsc, sizeof(tsc), out, size));
	if (strcmp(name, "kern.osreldate") != 0 || new != NULL ||
	    new_size != 0)
		return (fail(ENOENT));
	return (answer(&value, sizeof(value), out, size));
}

int
kqueue(void)
{
	return (77);
}

int
kevent(int kq, const struct kevent *changes, int n_changes,
    struct kevent *events, int n_events, const struct timespec *wait)
{
	if (kq != 77)
		return (fail(EBADF));
	if (n_changes == 1)
		return (changes->ident == 138 &&
			    changes->filter == EVFILT_USER &&
			    changes->flags == (EV_ADD | EV_CLEAR) &&
			    events == NULL
			? 0
			: fail(EINVAL));
	if (wait == NULL || n_events < 1)
		return (fail(EINVAL));
	/* The time comes back. */
	EV_SET(events, 138, EVFILT_USER, 0, 0,
	    wait->tv_sec * 1000000000L + wait->tv_nsec, NULL);
	return (1);
}

int
kldnext(int id)
{
	return (id == 0 ? 1 : id == 1 ? 5 : 0);
}

int
kldstat(int id, struct kld_file_stat *s)
{
	if (s->version != (int)sizeof(*s))
		return (fail(EINVAL));
	s->address = (caddr_t)(id == 1 ? 0xffffffff80200000
				       : 0xffffffff82000000);
	s->size = (size_t)id * 0x1000;
	(void)strlcpy(s->name, id == 1 ? "kernel" : "hwt.ko", sizeof(s->name));
	(void)strlcpy(s->pathname,
	    id == 1 ? "/boot/kernel/kernel" : "/boot/kernel/hwt.ko",
	    sizeof(s->pathname));
	return (0);
}
