/*
 * Arm processors by name.
 *
 * Source: Arm's technical reference manuals, "About the core"; what counts is
 * whether a processor has pointer authentication, which came with Armv8.3.
 */
#include "trace/import/arm_core.h"

#include <hwtdecode/coresight.h>

#include "trace/import/ini.h"

struct core {
	const char *name;
	uint8_t arch;
	uint8_t profile;
};

#define V7 HWTD_ARM_ARCH_V7
#define V8 HWTD_ARM_ARCH_V8
#define V8_3 HWTD_ARM_ARCH_V8_3
#define A HWTD_ARM_PROFILE_A
#define R HWTD_ARM_PROFILE_R
#define M HWTD_ARM_PROFILE_M

static const struct core cores[] = {
	{ "Cortex-A5", V7, A },
	{ "Cortex-A7", V7, A },
	{ "Cortex-A8", V7, A },
	{ "Cortex-A9", V7, A },
	{ "Cortex-A12", V7, A },
	{ "Cortex-A15", V7, A },
	{ "Cortex-A17", V7, A },
	{ "Cortex-A32", V8, A },
	{ "Cortex-A34", V8, A },
	{ "Cortex-A35", V8, A },
	{ "Cortex-A53", V8, A },
	{ "Cortex-A55", V8, A },
	{ "Cortex-A57", V8, A },
	{ "Cortex-A65", V8, A },
	{ "Cortex-A65AE", V8, A },
	{ "Cortex-A72", V8, A },
	{ "Cortex-A73", V8, A },
	{ "Cortex-A75", V8, A },
	{ "Cortex-A76", V8, A },
	{ "Cortex-A76AE", V8, A },
	{ "Cortex-A77", V8, A },
	{ "Cortex-A78", V8, A },
	{ "Cortex-A78AE", V8, A },
	{ "Cortex-A78C", V8_3, A },
	{ "Cortex-A320", V8_3, A },
	{ "Cortex-A510", V8_3, A },
	{ "Cortex-A520", V8_3, A },
	{ "Cortex-A520AE", V8_3, A },
	{ "Cortex-A710", V8_3, A },
	{ "Cortex-A715", V8_3, A },
	{ "Cortex-A720", V8_3, A },
	{ "Cortex-A720AE", V8_3, A },
	{ "Cortex-A725", V8_3, A },
	{ "Cortex-X1", V8, A },
	{ "Cortex-X1C", V8_3, A },
	{ "Cortex-X2", V8_3, A },
	{ "Cortex-X3", V8_3, A },
	{ "Cortex-X4", V8_3, A },
	{ "Cortex-X925", V8_3, A },
	{ "Neoverse-E1", V8, A },
	{ "Neoverse-N1", V8, A },
	{ "Neoverse-N2", V8_3, A },
	{ "Neoverse-N3", V8_3, A },
	{ "Neoverse-V1", V8_3, A },
	{ "Neoverse-V2", V8_3, A },
	{ "Neoverse-V3", V8_3, A },
	{ "Neoverse-V3AE", V8_3, A },
	{ "Cortex-R4", V7, R },
	{ "Cortex-R4F", V7, R },
	{ "Cortex-R5", V7, R },
	{ "Cortex-R5F", V7, R },
	{ "Cortex-R7", V7, R },
	{ "Cortex-R8", V7, R },
	{ "Cortex-R52", V8, R },
	{ "Cortex-R52+", V8, R },
	{ "Cortex-R82", V8_3, R },
	{ "Cortex-R82AE", V8_3, R },
	{ "Cortex-M3", V7, M },
	{ "Cortex-M4", V7, M },
	{ "Cortex-M4F", V7, M },
	{ "Cortex-M7", V7, M },
	{ "Cortex-M23", V8, M },
	{ "Cortex-M33", V8, M },
	{ "Cortex-M35P", V8, M },
	{ "Cortex-M52", V8, M },
	{ "Cortex-M55", V8, M },
	{ "Cortex-M85", V8, M },
};

/* "-A", "-R" or "-M" at the end of a name; false: something else is there. */
static bool
take_profile(const char *at, size_t n, uint32_t *out)
{
	if (n != 2 || at[0] != '-')
		return (false);
	if (at[1] == 'A' || at[1] == 'a')
		*out = HWTD_ARM_PROFILE_A;
	else if (at[1] == 'R' || at[1] == 'r')
		*out = HWTD_ARM_PROFILE_R;
	else if (at[1] == 'M' || at[1] == 'm')
		*out = HWTD_ARM_PROFILE_M;
	else
		return (false);
	return (true);
}

static uint64_t
take_number(const char **at, size_t *n)
{
	uint64_t value = 0;

	/* No version has more than a few digits. */
	while (*n > 0 && **at >= '0' && **at <= '9' && value < 1000) {
		value = value * 10 + (uint64_t)(**at - '0');
		(*at)++;
		(*n)--;
	}
	return (value);
}

/* Behind "ARMv": M[.m]-A. */
static bool
find_version(const char *at, size_t n, uint32_t *arch, uint32_t *profile)
{
	uint64_t major = take_number(&at, &n), minor = 0;

	if (n > 1 && at[0] == '.' && at[1] >= '0' && at[1] <= '9') {
		at++;
		n--;
		minor = take_number(&at, &n);
	}
	if (major < 7 || !take_profile(at, n, profile))
		return (false);
	if (major == 7)
		*arch = HWTD_ARM_ARCH_V7;
	else if (*profile == HWTD_ARM_PROFILE_M || (major == 8 && minor < 3))
		*arch = HWTD_ARM_ARCH_V8;
	else
		*arch = HWTD_ARM_ARCH_V8_3;
	return (true);
}

static bool
find(const char *name, size_t n, uint32_t *arch, uint32_t *profile)
{
	for (size_t i = 0; i < sizeof(cores) / sizeof(cores[0]); i++) {
		if (!hwtdi_ini_same(name, n, cores[i].name))
			continue;
		*arch = cores[i].arch;
		*profile = cores[i].profile;
		return (true);
	}
	if (n > 4 && hwtdi_ini_same(name, 4, "ARMv"))
		return (find_version(name + 4, n - 4, arch, profile));
	if (n < 8 || !hwtdi_ini_same(name, 8, "ARM-aa64"))
		return (false);
	*arch = HWTD_ARM_ARCH_V8_3;
	*profile = HWTD_ARM_PROFILE_A;
	return (n == 8 || take_profile(name + 8, n - 8, profile));
}

bool
hwtdi_arm_core_find(const char *name, size_t n, uint32_t *arch_out,
    uint32_t *profile_out)
{
	*arch_out = HWTD_ARM_ARCH_UNKNOWN;
	*profile_out = HWTD_ARM_PROFILE_UNKNOWN;
	if (find(name, n, arch_out, profile_out))
		return (true);
	*arch_out = HWTD_ARM_ARCH_UNKNOWN;
	*profile_out = HWTD_ARM_PROFILE_UNKNOWN;
	return (false);
}
