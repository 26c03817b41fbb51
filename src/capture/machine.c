/*
 * Finding out what machine it is: sysctl(3), CPUID, counters.
 */
#include "capture/machine.h"

#include <hwtdecode/spe.h>
#include <stdlib.h>
#include <string.h>

/* Who is interrupted between two clocks tries again. */
#define CLOCK_TRIES 5

/* "", if there is none or it is no text. */
static void
read_text(const struct hwtdi_system *sys, const char *name, char *out,
    size_t room)
{
	size_t n = room - 1;

	if (sys->sysctl(sys->state, name, out, &n) < 0 || n > room - 1)
		n = 0;
	out[n] = '\0';
}

bool
hwtdi_machine_number(const struct hwtdi_system *sys, const char *name,
    uint64_t *out)
{
	union {
		uint32_t narrow;
		uint64_t wide;
		uint8_t bytes[8];
	} v = { .wide = 0 };
	size_t n = sizeof(v);

	if (sys->sysctl(sys->state, name, &v, &n) < 0)
		return (false);
	if (n == sizeof(v.narrow))
		*out = v.narrow;
	else if (n == sizeof(v.wide))
		*out = v.wide;
	else
		return (false);
	return (true);
}

/*
 * A word "r3p1" as variant and revision of MIDR_EL1, and the architecture that all
 * of these CPUs have there; 0: it is another word.
 */
static uint32_t
revision_of(const char *word)
{
	char *end;
	unsigned long variant, revision;

	if (word[0] != 'r' || word[1] < '0' || word[1] > '9')
		return (0);
	variant = strtoul(word + 1, &end, 10);
	if (variant > 15 || end[0] != 'p' || end[1] < '0' || end[1] > '9')
		return (0);
	revision = strtoul(end + 1, &end, 10);
	if (revision > 15 || (*end != '\0' && *end != ' '))
		return (0);
	return ((uint32_t)(variant << 20 | 0xf0000 | revision));
}

uint32_t
hwtdi_machine_midr(const char *model)
{
	char name[64];

	/* "ARM Neoverse-N1 r3p1": the maker is in the number already. */
	for (const char *word = model; *word != '\0';) {
		const size_t n = strcspn(word, " ");
		uint32_t midr;

		if (n > 0 && n < sizeof(name)) {
			memcpy(name, word, n);
			name[n] = '\0';
			midr = hwtd_spe_cpu_midr(name);
			if (midr != 0) {
				word += n;
				word += strspn(word, " ");
				return (midr | revision_of(word));
			}
		}
		word += n;
		word += strspn(word, " ");
	}
	return (0);
}

/* Source: Intel SDM, "CPUID - CPU Identification", leaf 01h. */
static void
read_signature(const struct hwtdi_system *sys, struct hwtdi_machine *out)
{
	uint32_t r[4], family, model;

	if (sys->cpuid(sys->state, 1, 0, r) < 0)
		return;
	family = (r[0] >> 8) & 0xf;
	model = (r[0] >> 4) & 0xf;
	if (family == 0x6 || family == 0xf)
		model |= (r[0] >> 12) & 0xf0;
	if (family == 0xf)
		family += (r[0] >> 20) & 0xff;
	out->family = (uint16_t)family;
	out->cpu_model = (uint8_t)model;
	out->stepping = (uint8_t)(r[0] & 0xf);
}

static void
read_x86(const struct hwtdi_system *sys, struct hwtdi_machine *out)
{
	uint32_t r[4], highest;

	out->no_pt.size = sizeof(out->no_pt);
	out->has_pt = hwtdi_pt_caps_read(sys, &out->pt, &out->no_pt) ==
	    HWTD_OK;
	read_signature(sys, out);
	if (sys->cpuid(sys->state, 0, 0, r) < 0)
		return;
	highest = r[0];
	for (uint32_t i = 0; i < 2 && highest >= 0x14; i++)
		if (sys->cpuid(sys->state, 0x14, i, out->leaf_14[i]) < 0)
			memset(out->leaf_14[i], 0, sizeof(out->leaf_14[i]));
	if (highest >= 0x15 &&
	    sys->cpuid(sys->state, 0x15, 0, out->leaf_15) < 0)
		memset(out->leaf_15, 0, sizeof(out->leaf_15));
	if (highest >= 0x16 && sys->cpuid(sys->state, 0x16, 0, r) >= 0 &&
	    (r[0] & 0xffff) / 100 <= UINT8_MAX)
		out->nom_freq = (uint8_t)((r[0] & 0xffff) / 100);
}

/* One moment of both: the counter is read between two looks at the clock. */
static void
read_clocks(const struct hwtdi_system *sys, struct hwtdi_machine *out)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < CLOCK_TRIES; i++) {
		const uint64_t before = sys->now(sys->state);
		uint64_t count = 0, frequency = 0, after;

		if (sys->counter(sys->state, &count, &frequency) < 0)
			continue;
		after = sys->now(sys->state);
		if (after < before || after - before >= least)
			continue;
		least = after - before;
		out->base_ns = before + least / 2;
		out->base_count = count;
		out->frequency = frequency;
	}
}

void
hwtdi_machine_read(const struct hwtdi_system *sys, struct hwtdi_machine *out)
{
	uint64_t v;

	memset(out, 0, sizeof(*out));
	if (hwtdi_machine_number(sys, "hw.ncpu", &v) && v <= UINT32_MAX)
		out->n_cpus = (uint32_t)v;
	out->page_size = 4096;
	if (hwtdi_machine_number(sys, "hw.pagesize", &v) && v >= 4096 &&
	    (v & (v - 1)) == 0)
		out->page_size = v;
	read_text(sys, "hw.machine_arch", out->arch, sizeof(out->arch));
	read_text(sys, "kern.osrelease", out->release, sizeof(out->release));
	read_text(sys, "hw.model", out->model, sizeof(out->model));
	read_text(sys, "kern.bootfile", out->bootfile, sizeof(out->bootfile));
	read_text(sys, "kern.module_path", out->module_path,
	    sizeof(out->module_path));
	read_x86(sys, out);
	if (strcmp(out->arch, "aarch64") == 0)
		out->midr = hwtdi_machine_midr(out->model);
	read_clocks(sys, out);
}
