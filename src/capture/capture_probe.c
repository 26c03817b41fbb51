/*
 * Finding out what a machine can record with, and whom one may trace, without
 * asking hwt(4) for anything.
 */
#include "capture/capture_probe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/library.h"
#include "capture/config.h"
#include "capture/hwt_calls_internal.h"

/* config(5): how a kernel says that it was built with the hooks. */
#define HOOKS "options\tHWT_HOOKS"
#define CONFIG_BYTES ((size_t)1 << 20)

struct way {
	enum hwtdi_backend backend;
	uint32_t tech;
	/* hw.machine_arch */
	const char *arch;
	/* File of its module, and what kldload(8) takes. */
	const char *file, *module;
};

static const struct way ways[HWTDI_BACKENDS] = {
	{ HWTDI_BACKEND_PT, HWTD_TECH_INTEL_PT, "amd64", "pt.ko", "pt" },
	{ HWTDI_BACKEND_SPE, HWTD_TECH_SPE, "aarch64", "spe.ko", "spe" },
	{ HWTDI_BACKEND_CORESIGHT, HWTD_TECH_CORESIGHT, "aarch64",
	    "coresight.ko", "coresight" },
};

static void say(char *to, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
say(char *to, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(to, HWTD_CAPTURE_TEXT, fmt, ap);
	va_end(ap);
}

/* Kernels tell how they were built, if they were built so that they do. */
static bool
lacks_hooks(struct hwtd_context *ctx, const struct hwtdi_system *sys)
{
	size_t n = CONFIG_BYTES;
	char *text = hwtdi_zalloc(ctx, CONFIG_BYTES + 1);
	bool lacks;

	if (text == NULL)
		return (false);
	lacks = sys->sysctl(sys->state, "kern.conftxt", text, &n) >= 0 &&
	    text[0] != '\0' && strstr(text, HOOKS) == NULL;
	hwtdi_free(ctx, text, CONFIG_BYTES + 1);
	return (lacks);
}

/* 0, or the errno with why hwt(4) cannot be used at all. */
static int
try_device(struct hwtd_context *ctx, const struct hwtdi_system *sys,
    struct hwtd_capture_backend *out)
{
	const int fd = sys->open(sys->state, HWTDI_HWT_DEVICE);

	if (fd >= 0) {
		(void)sys->close(sys->state, fd);
		return (0);
	}
	switch (-fd) {
	case ENOSYS:
		say(out->text, "this system has no hwt(4)");
		say(out->help,
		    "record on FreeBSD 15 or newer; traces can be "
		    "read here");
		break;
	case EACCES:
	case EPERM:
		say(out->text,
		    HWTDI_HWT_DEVICE " is for root and the group wheel");
		say(out->help, "run as root, or: pw groupmod wheel -m USER");
		break;
	case ENOENT:
	case ENXIO:
		if (lacks_hooks(ctx, sys)) {
			say(out->text,
			    "the kernel was built without HWT_HOOKS");
			say(out->help,
			    "build a kernel with \"options "
			    "HWT_HOOKS\"; see config(8)");
			break;
		}
		say(out->text, "there is no " HWTDI_HWT_DEVICE);
		say(out->help, "kldload hwt");
		break;
	default:
		say(out->text, HWTDI_HWT_DEVICE ": %.100s", strerror(-fd));
		break;
	}
	return (-fd);
}

static bool
is_loaded(struct hwtd_context *ctx, const struct hwtdi_system *sys,
    const char *file)
{
	struct hwtdi_module *modules = NULL;
	size_t cap = 0, n = 0;
	bool found = false;

	for (int i = 0; i < 4; i++) {
		if (sys->modules(sys->state, modules, cap, &n) < 0) {
			n = 0;
			break;
		}
		if (n <= cap)
			break;
		if (hwtdi_array_grow(ctx, &modules, &cap, n, sizeof(*modules),
			NULL) != HWTD_OK) {
			n = 0;
			break;
		}
	}
	for (size_t k = 0; k < n && k < cap; k++)
		found = found || strcmp(modules[k].name, file) == 0;
	hwtdi_array_free(ctx, modules, cap, sizeof(*modules));
	return (found);
}

static void
fill_sizes(const struct way *way, const struct hwtdi_machine *machine,
    struct hwtd_capture_backend *out)
{
	const struct hwtdi_config_options defaults = {
		.backend = way->backend
	};

	out->default_bytes = hwtdi_config_bufsize(&defaults,
	    machine->page_size);
	out->least_bytes = machine->page_size;
	out->most_bytes = HWTDI_HWT_MAX_BUFSIZE;
	if (way->backend == HWTDI_BACKEND_PT)
		out->most_bytes = out->default_bytes;
	if (way->backend == HWTDI_BACKEND_SPE)
		out->least_bytes = 2 * machine->page_size;
	out->n_ranges = (uint32_t)hwtdi_config_ranges(way->backend, machine);
	out->modes = HWTD_CAPTURE_MODEF_THREADS | HWTD_CAPTURE_MODEF_CPUS;
}

static void
fill_backend(struct hwtd_context *ctx, const struct hwtdi_system *sys,
    const struct way *way, struct hwtd_capture_backend *out)
{
	struct hwtdi_config_options options = {
		.backend = way->backend,
		.mode = HWTDI_HWT_THREAD,
	};
	struct hwtd_error why = { .size = sizeof(why) };
	struct hwtdi_machine machine;
	struct hwtdi_config config;

	out->tech = way->tech;
	hwtdi_machine_read(sys, &machine);
	fill_sizes(way, &machine, out);
	if (machine.arch[0] != '\0' && strcmp(machine.arch, way->arch) != 0) {
		say(out->text, "is of %s, and this machine is %.100s",
		    way->arch, machine.arch);
		return;
	}
	if (machine.arch[0] == '\0' && try_device(ctx, sys, out) != 0)
		return;
	if (hwtdi_config_make(&options, &machine, &config, &why) != HWTD_OK) {
		say(out->text, "%s", why.message);
		return;
	}
	if (try_device(ctx, sys, out) != 0)
		return;
	out->usable = 1;
	say(out->text, "%s", config.text);
	if (!is_loaded(ctx, sys, way->file))
		say(out->help, "kldload %s, unless the kernel has it built in",
		    way->module);
}

int
hwtdi_capture_backend(struct hwtd_context *ctx, const struct hwtdi_system *sys,
    size_t index, struct hwtd_capture_backend *out, struct hwtd_error *err)
{
	struct hwtd_capture_backend b = { .size = sizeof(b) };

	if (ctx == NULL || out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL"));
	if (index >= HWTDI_BACKENDS)
		return (HWTD_END);
	fill_backend(ctx, sys, &ways[index], &b);
	return (hwtdi_result_copy(out, &b, sizeof(b)));
}

/* Whom one may trace */

static bool
has_group(const struct hwtdi_credentials *who, uint32_t group)
{
	for (uint32_t i = 0; i < who->n_groups; i++)
		if (who->groups[i] == group)
			return (true);
	return (false);
}

/* The rule of the kernel, which has no exception for root. */
static bool
may_trace(const struct hwtdi_credentials *me,
    const struct hwtdi_credentials *it, char *text)
{
	if (me->euid != it->euid && me->euid != it->ruid &&
	    me->euid != it->svuid) {
		say(text,
		    "it runs as user %" PRIu32 " and you are %" PRIu32
		    "; hwt(4) makes no exception for root",
		    it->euid, me->euid);
		return (false);
	}
	for (uint32_t i = 0; i < it->n_groups; i++) {
		if (!has_group(me, it->groups[i])) {
			say(text,
			    "it is in group %" PRIu32
			    " and you are not; join it",
			    it->groups[i]);
			return (false);
		}
	}
	if (!has_group(me, it->rgid) || !has_group(me, it->svgid)) {
		say(text,
		    "its real or saved group (%" PRIu32 ", %" PRIu32
		    ") is none of yours",
		    it->rgid, it->svgid);
		return (false);
	}
	say(text, "same user, and all of its groups are yours");
	return (true);
}

static int
compare(const struct hwtdi_system *sys, uint32_t pid,
    struct hwtdi_credentials both[2], char *text, struct hwtd_error *err)
{
	int rc = sys->credentials(sys->state, 0, &both[0]);

	if (rc >= 0)
		rc = sys->credentials(sys->state, (pid_t)pid, &both[1]);
	if (rc == -ESRCH)
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "there is no process %" PRIu32, pid));
	if (rc < 0)
		return (hwtdi_fail_sys(err, -rc,
		    "who runs process %" PRIu32 " cannot be found out: %s",
		    pid, strerror(-rc)));
	return (may_trace(&both[0], &both[1], text) ? HWTD_OK : HWTD_END);
}

int
hwtdi_capture_allowed(struct hwtd_context *ctx, const struct hwtdi_system *sys,
    uint32_t pid, char *text_out, struct hwtd_error *err)
{
	struct hwtd_capture_backend device = { .usable = 0 };
	struct hwtdi_credentials *both;
	char text[HWTD_CAPTURE_TEXT];
	int rc, e;

	if (ctx == NULL || pid > INT32_MAX)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no context, or no such process: %" PRIu32, pid));
	e = try_device(ctx, sys, &device);
	if (e != 0 && text_out != NULL)
		say(text_out, "%s", device.text);
	if (e == EACCES || e == EPERM)
		return (HWTD_END);
	if (e != 0)
		return (hwtdi_hwt_with_errno(err, e,
		    hwtdi_fail(err, HWTD_E_UNSUPPORTED, "%s", device.text)));
	say(text, "your own processes");
	rc = HWTD_OK;
	if (pid != 0) {
		both = hwtdi_zalloc(ctx, 2 * sizeof(*both));
		if (both == NULL)
			return (hwtdi_fail_nomem(err, 2 * sizeof(*both)));
		rc = compare(sys, pid, both, text, err);
		hwtdi_free(ctx, both, 2 * sizeof(*both));
	}
	if (rc >= 0 && text_out != NULL)
		say(text_out, "%s", text);
	return (rc);
}

int
hwtd_capture_backend(struct hwtd_context *ctx, size_t index,
    struct hwtd_capture_backend *out, struct hwtd_error *err)
{
	return (hwtdi_capture_backend(ctx, hwtdi_system_host(), index, out,
	    err));
}

int
hwtd_capture_allowed(struct hwtd_context *ctx, uint32_t pid, char *text,
    struct hwtd_error *err)
{
	return (hwtdi_capture_allowed(ctx, hwtdi_system_host(), pid, text,
	    err));
}
