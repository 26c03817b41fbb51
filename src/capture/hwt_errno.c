/*
 * What an errno of hwt(4) means, and what to do.
 *
 * Source: hwt(4); sys/dev/hwt of FreeBSD 15.
 */
#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "capture/hwt_calls_internal.h"

int
hwtdi_hwt_with_errno(struct hwtd_error *err, int e, int code)
{
	if (err != NULL && err->size >= offsetof(struct hwtd_error, message))
		err->sys_errno = e;
	return (code);
}

#define FAIL(code, ...)                                                       \
	hwtdi_hwt_with_errno(err, e, hwtdi_fail(err, (code), __VA_ARGS__))

int
hwtdi_hwt_fail_device(struct hwtd_error *err, int e)
{
	switch (e) {
	case ENOENT:
		return (FAIL(HWTD_E_UNSUPPORTED,
		    "no " HWTDI_HWT_DEVICE
		    ": kldload hwt, of a kernel with options HWT_HOOKS"));
	case ENOSYS:
		return (FAIL(HWTD_E_UNSUPPORTED,
		    "this system has no hwt(4); capture on FreeBSD 15 or "
		    "newer"));
	case EACCES:
	case EPERM:
		return (FAIL(HWTD_E_IO,
		    "may not open " HWTDI_HWT_DEVICE
		    ": it is root:wheel 0660; be root or in group wheel"));
	default:
		return (FAIL(HWTD_E_IO, "cannot open " HWTDI_HWT_DEVICE ": %s",
		    strerror(e)));
	}
}

static int
no_backend(struct hwtd_error *err, int e, enum hwtdi_backend backend)
{
	static const char *const what[HWTDI_BACKENDS] = {
		[HWTDI_BACKEND_PT] = "kldload pt (module intel_pt), on amd64 "
				     "with Intel PT",
		[HWTDI_BACKEND_SPE] = "kldload spe, on arm64 with SPE",
		[HWTDI_BACKEND_CORESIGHT] = "FreeBSD has none; CheriBSD and "
					    "other forks do",
	};

	return (FAIL(HWTD_E_UNSUPPORTED,
	    "the kernel has no backend \"%s\" loaded: %s",
	    hwtdi_backend_name(backend), what[backend]));
}

int
hwtdi_hwt_fail_alloc(struct hwtd_error *err, int e,
    const struct hwtdi_hwt_options *o)
{
	const char *backend = hwtdi_backend_name(o->backend);

	switch (e) {
	case EINVAL:
		return (FAIL(HWTD_E_INVALID,
		    "the kernel refuses buffers of %llu bytes for %s; SPE "
		    "wants a multiple of PMBIDR.Align: try a power of two",
		    (unsigned long long)o->bufsize, backend));
	case ENODEV:
		return (no_backend(err, e, o->backend));
	case ENXIO:
		if (o->mode == HWTDI_HWT_THREAD)
			return (FAIL(HWTD_E_NOT_FOUND,
			    "no process %d; it may have ended before it was "
			    "traced",
			    (int)o->pid));
		return (FAIL(HWTD_E_UNSUPPORTED,
		    "this kernel does not know HWT_IOC_ALLOC in CPU mode; it "
		    "has another hwt(4) than FreeBSD 15"));
	case EPERM:
		return (FAIL(HWTD_E_IO,
		    "may not trace process %d: its uids must be the caller's "
		    "effective one and its groups among the caller's, also "
		    "for root; run as the user of the process",
		    (int)o->pid));
	case EEXIST:
		return (FAIL(HWTD_E_STATE,
		    "process %d is traced already, by this process or "
		    "another; it ends with the process that traces",
		    (int)o->pid));
	case ENOMEM:
		return (FAIL(HWTD_E_LIMIT,
		    "no memory for buffers of %llu bytes, or all %d contexts "
		    "are in use: end other captures or take smaller buffers",
		    (unsigned long long)o->bufsize, HWTDI_HWT_MAX_CONTEXTS));
	case EOPNOTSUPP:
#if ENOTSUP != EOPNOTSUPP
	case ENOTSUP:
#endif
		return (FAIL(HWTD_E_UNSUPPORTED,
		    "%s of this kernel cannot trace a process; trace CPUs",
		    backend));
	case EINTR:
#ifdef ERESTART
	case ERESTART:
#endif
		if (o->backend == HWTDI_BACKEND_CORESIGHT)
			return (FAIL(HWTD_E_STATE,
			    "another context of coresight is active, and "
			    "there can be one; the kernel tries for ever: "
			    "end the other capture"));
		return (FAIL(HWTD_E_IO,
		    "HWT_IOC_ALLOC was interrupted; whether there is a "
		    "context now is not known: end this process"));
	default:
		return (FAIL(HWTD_E_IO, "cannot trace with %s: %s", backend,
		    strerror(e)));
	}
}

int
hwtdi_hwt_fail_node(struct hwtd_error *err, int e, const struct hwtdi_hwt *hwt,
    uint32_t index)
{
	switch (e) {
	case ENOENT:
		return (FAIL(HWTD_E_NOT_FOUND,
		    "no " HWTDI_HWT_DEVICE
		    "_%d_%u: there was no such %s, or its buffer could not "
		    "be had",
		    hwt->ident, index,
		    hwt->mode == HWTDI_HWT_CPU ? "CPU" : "thread"));
	case EACCES:
	case EPERM:
		return (FAIL(HWTD_E_IO,
		    "may not open " HWTDI_HWT_DEVICE
		    "_%d_%u: it is root:wheel 0660; be root or in group wheel",
		    hwt->ident, index));
	default:
		return (FAIL(HWTD_E_IO,
		    "cannot open " HWTDI_HWT_DEVICE "_%d_%u: %s", hwt->ident,
		    index, strerror(e)));
	}
}

int
hwtdi_hwt_fail_map(struct hwtd_error *err, int e, const struct hwtdi_hwt *hwt)
{
	const unsigned long long bytes = hwt->bufsize;

	switch (e) {
	case ENXIO:
		return (FAIL(HWTD_E_IO,
		    "the kernel does not map a buffer of %llu bytes: its own "
		    "is smaller, or this is no node of a buffer",
		    bytes));
	case ENOMEM:
		return (FAIL(HWTD_E_NOMEM,
		    "no room to map a buffer of %llu bytes", bytes));
	default:
		return (FAIL(HWTD_E_IO,
		    "cannot map a buffer of %llu bytes: %s", bytes,
		    strerror(e)));
	}
}

int
hwtdi_hwt_fail_ioctl(struct hwtd_error *err, int e, const char *name)
{
	switch (e) {
	case ENXIO:
		return (FAIL(HWTD_E_STATE,
		    "%s: this process has no context; only the one that made "
		    "it may ask, not its children",
		    name));
	case EPERM:
		return (FAIL(HWTD_E_IO,
		    "%s: the context is that of another process", name));
	case EFAULT:
		return (FAIL(HWTD_E_IO,
		    "%s: the kernel could not reach memory of this process",
		    name));
	case EINTR:
		return (FAIL(HWTD_E_IO,
		    "%s was interrupted; whether it took effect is not known",
		    name));
	default:
		return (FAIL(HWTD_E_IO, "%s: %s", name, strerror(e)));
	}
}
