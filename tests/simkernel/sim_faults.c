/*
 * Faults: calls that fail where a test says so, or at random.
 */
#include <errno.h>

#include "sim_internal.h"

/*
 * Errnos that a call may fail with, and that are no lies about the state of the
 * machine; 0 ends the list.
 */
static const struct {
	const char *name;
	int errors[6];
} calls[SIM_N_CALLS] = {
	[SIM_CALL_OPEN] = { "open",
	    { EMFILE, ENFILE, EINTR, EACCES, ENOENT } },
	[SIM_CALL_CLOSE] = { "close", { EINTR } },
	[SIM_CALL_MMAP] = { "mmap", { ENOMEM, ENXIO } },
	[SIM_CALL_MUNMAP] = { "munmap", { 0 } },
	[SIM_CALL_KQUEUE] = { "kqueue", { EMFILE, ENOMEM } },
	[SIM_CALL_KEVENT_ADD] = { "kevent_add", { ENOMEM, EINTR } },
	[SIM_CALL_KEVENT_WAIT] = { "kevent_wait", { EINTR, ENOMEM } },
	[SIM_CALL_SPAWN] = { "spawn", { EAGAIN, ENOMEM, EMFILE } },
	[SIM_CALL_RELEASE] = { "release", { EPIPE, EINTR } },
	[SIM_CALL_ENDED] = { "ended", { EINTR } },
	[SIM_CALL_KILL] = { "kill", { EPERM, ESRCH } },
	[SIM_CALL_FORK] = { "fork", { EAGAIN, ENOMEM } },
	[SIM_CALL_SYSCTL] = { "sysctl", { ENOENT, ENOMEM, EPERM } },
	[SIM_CALL_THREADS] = { "threads", { ENOMEM, EPERM } },
	[SIM_CALL_MAPPINGS] = { "mappings", { ENOMEM, ESRCH, EPERM } },
	[SIM_CALL_MODULES] = { "modules", { ENOMEM, ENOENT } },
	[SIM_CALL_CREDENTIALS] = { "credentials", { ENOMEM, ESRCH } },
	[SIM_CALL_CPUID] = { "cpuid", { ENOTSUP } },
	[SIM_CALL_COUNTER] = { "counter", { ENOTSUP } },
	[SIM_CALL_TIME] = { "time", { 0 } },
	[SIM_CALL_ALLOC] = { "ALLOC",
	    { ENOMEM, EFAULT, EEXIST, EPERM, ENXIO } },
	[SIM_CALL_START] = { "START", { ENXIO } },
	[SIM_CALL_STOP] = { "STOP", { ENXIO } },
	[SIM_CALL_RECORD_GET] = { "RECORD_GET", { EFAULT, ENXIO } },
	[SIM_CALL_BUFPTR_GET] = { "BUFPTR_GET", { EFAULT, ENXIO } },
	[SIM_CALL_SET_CONFIG] = { "SET_CONFIG", { EFAULT, ENXIO } },
	[SIM_CALL_WAKEUP] = { "WAKEUP", { ENXIO } },
	[SIM_CALL_SVC_BUF] = { "SVC_BUF", { EFAULT, ENXIO } },
	[SIM_CALL_UNKNOWN] = { "unknown ioctl", { ENXIO } },
};

const char *
sim_call_name(enum sim_call call)
{
	return (calls[call].name);
}

void
sim_fail(struct sim_kernel *k, enum sim_call call, uint64_t nth, int error)
{
	struct sim_planned *p;

	sim_lock(k);
	p = SIM_PUSH(k, &k->planned, struct sim_planned);
	p->call = call;
	p->nth = nth;
	p->error = error;
	sim_unlock(k);
}

void
sim_fault_schedule(struct sim_kernel *k, uint64_t seed, unsigned per_mille)
{
	k->fault_random = seed;
	k->per_mille = per_mille;
}

uint64_t
sim_call_count(const struct sim_kernel *k, enum sim_call call)
{
	return (k->calls[call]);
}

void
sim_drop_buffers(struct sim_kernel *k, unsigned n)
{
	k->drop_buffers = n;
}

void
sim_fail_threads(struct sim_kernel *k, unsigned n)
{
	k->fail_threads = n;
}

int
sim_fault(struct sim_kernel *k, enum sim_call call)
{
	const int *errors = calls[call].errors;
	unsigned n = 0;

	k->calls[call]++;
	for (size_t i = 0; i < k->planned.n; i++) {
		const struct sim_planned *p = &SIM_AT(&k->planned,
		    struct sim_planned, i);

		if (p->call == call && p->nth == k->calls[call]) {
			k->totals.faults++;
			return (p->error);
		}
	}
	if (errors[0] == 0 || !sim_chance(&k->fault_random, k->per_mille))
		return (0);
	while (n < 6 && errors[n] != 0)
		n++;
	k->totals.faults++;
	return (errors[sim_random(&k->fault_random) % n]);
}
