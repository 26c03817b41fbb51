/*
 * What the simulated machine tells of itself: sysctls, CPUID, modules,
 * credentials.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim_internal.h"

void
sim_set_sysctl(struct sim_kernel *k, const char *name, const void *value,
    size_t size)
{
	struct sim_value *v = NULL;

	for (size_t i = 0; i < k->values.n && v == NULL; i++)
		if (strcmp(SIM_AT(&k->values, struct sim_value, i).name,
			name) == 0)
			v = &SIM_AT(&k->values, struct sim_value, i);
	if (v == NULL)
		v = SIM_PUSH(k, &k->values, struct sim_value);
	v->name = name;
	v->value = value;
	v->size = size;
}

void
sim_set_sysctl_text(struct sim_kernel *k, const char *name, const char *text)
{
	/* A string comes with its end. */
	sim_set_sysctl(k, name, text, text == NULL ? 0 : strlen(text) + 1);
}

int
sim_get_sysctl(struct sim_kernel *k, const char *name, void *out, size_t *size)
{
	for (size_t i = 0; i < k->values.n; i++) {
		const struct sim_value *v = &SIM_AT(&k->values,
		    struct sim_value, i);
		const size_t room = *size;

		if (strcmp(v->name, name) != 0 || v->value == NULL)
			continue;
		*size = v->size;
		if (out == NULL)
			return (0);
		memcpy(out, v->value, v->size < room ? v->size : room);
		return (v->size > room ? -ENOMEM : 0);
	}
	return (-ENOENT);
}

void
sim_set_cpuid(struct sim_kernel *k, uint32_t leaf, uint32_t subleaf,
    const uint32_t out[4])
{
	struct sim_leaf *l = NULL;

	for (size_t i = 0; i < k->leaves.n && l == NULL; i++) {
		l = &SIM_AT(&k->leaves, struct sim_leaf, i);
		if (l->leaf != leaf || l->subleaf != subleaf)
			l = NULL;
	}
	if (l == NULL)
		l = SIM_PUSH(k, &k->leaves, struct sim_leaf);
	l->leaf = leaf;
	l->subleaf = subleaf;
	memcpy(l->out, out, sizeof(l->out));
}

void
sim_add_module(struct sim_kernel *k, const char *name, const char *path,
    uint64_t addr, uint64_t len)
{
	struct hwtdi_module *m = SIM_PUSH(k, &k->modules, struct hwtdi_module);

	m->addr = addr;
	m->len = len;
	snprintf(m->name, sizeof(m->name), "%s", name);
	snprintf(m->path, sizeof(m->path), "%s", path == NULL ? "" : path);
}

void
sim_set_credentials(struct sim_kernel *k, pid_t pid,
    const struct hwtdi_credentials *credentials)
{
	struct sim_process *p = pid == 0 ? sim_caller(k)->process
					 : sim_find_process(k, pid);

	*p->credentials = *credentials;
}

static void
set_int(struct sim_kernel *k, const char *name, uint64_t value, size_t size)
{
	uint64_t *p = sim_alloc(k, sizeof(*p));

	*p = value;
	sim_set_sysctl(k, name, p, size);
}

static void
fill_cpuid(struct sim_kernel *k)
{
	/* A CPU of family 6, model 0x9e, with all of PT that it has. */
	static const struct {
		uint32_t leaf, sub, out[4];
	} leaves[] = {
		{ 0, 0, { 0x16, 0x756e6547, 0x6c65746e, 0x49656e69 } },
		{ 1, 0, { 0x906ea, 0x100800, 0x7ffafbff, 0xbfebfbff } },
		{ 7, 0, { 0, 0x029c6fbf, 0, 0 } },
		{ 0xd, 0, { 0x1f, 0x440, 0x440, 0 } },
		{ 0xd, 1, { 0xf, 0x3c0, 0x100, 0 } },
		{ 0x14, 0, { 1, 0xf, 7, 0 } },
		{ 0x14, 1, { 0x02490002, 0x003f3fff, 0, 0 } },
		{ 0x15, 0, { 2, 0xd8, 24000000, 0 } },
		{ 0x16, 0, { 2592, 4300, 100, 0 } },
	};

	for (size_t i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++)
		sim_set_cpuid(k, leaves[i].leaf, leaves[i].sub, leaves[i].out);
}

static void
fill_etms(struct sim_kernel *k)
{
	/* TRCIDR0 to 13 of an ETMv4 with return stack and 64-bit stamps. */
	static const uint32_t idr[14] = { 0x28000ea1, 0x4100f403, 0x488,
		0x0d7b0004, 0x00100046, 0x47110000, 0, 0, 0, 0, 0, 0, 0, 0 };

	for (unsigned cpu = 0; cpu < k->o.n_cpus; cpu++)
		for (unsigned i = 0; i < 14; i++)
			set_int(k,
			    sim_text(k, "dev.coresight_etm4x.%u.idr%u", cpu,
				i),
			    idr[i], 4);
}

void
sim_fill_machine(struct sim_kernel *k)
{
	const bool amd64 = k->o.arch == SIM_AMD64;

	set_int(k, "hw.ncpu", k->o.n_cpus, 4);
	set_int(k, "hw.pagesize", SIM_PAGE, 4);
	set_int(k, "kern.osreldate", 1500068, 4);
	sim_set_sysctl_text(k, "kern.ostype", "FreeBSD");
	sim_set_sysctl_text(k, "kern.osrelease",
	    k->o.flavour == SIM_5BSD ? "15.0-5BSD" : "15.0-RELEASE");
	sim_set_sysctl_text(k, "kern.conftxt",
	    "options\tHWT_HOOKS\ndevice\tether\n");
	sim_set_sysctl_text(k, "kern.bootfile", "/boot/kernel/kernel");
	sim_set_sysctl_text(k, "kern.module_path",
	    "/boot/kernel;/boot/modules");
	sim_set_sysctl_text(k, "hw.machine", amd64 ? "amd64" : "arm64");
	sim_set_sysctl_text(k, "hw.machine_arch", amd64 ? "amd64" : "aarch64");
	sim_set_sysctl_text(k, "hw.model",
	    amd64 ? "Intel(R) Core(TM) i7-8850H CPU @ 2.60GHz"
		  : "ARM Neoverse-N1 r3p1");
	sim_add_module(k, "kernel", "/boot/kernel/kernel",
	    amd64 ? 0xffffffff80200000 : 0xffff000000000000, 0x1d52000);
	sim_add_module(k, "hwt.ko", "/boot/kernel/hwt.ko",
	    amd64 ? 0xffffffff82f18000 : 0xffff000002f18000, 0x7000);
	if ((k->o.backends & SIM_PT) != 0)
		sim_add_module(k, "pt.ko", "/boot/kernel/pt.ko",
		    0xffffffff82f20000, 0x4000);
	if ((k->o.backends & SIM_SPE) != 0)
		sim_add_module(k, "spe.ko", "/boot/kernel/spe.ko",
		    0xffff000002f20000, 0x5000);
	if (amd64) {
		set_int(k, "machdep.tsc_freq", 2592000000, 8);
		fill_cpuid(k);
	}
	if ((k->o.backends & SIM_CORESIGHT) != 0)
		fill_etms(k);
}
