/*
 * The libraries that decode, unpack and check underneath, with their versions.
 */
#if defined(__has_include)
#if __has_include(<elfutils/version.h>)
#include <elfutils/version.h>
#endif
#endif
#include <intel-pt.h>
#include <stdio.h>
#include <zstd.h>

#include <hwtdecode/error.h>

#include "base/hash.h"
#include "decode/coresight/cs_library.h"

struct numbers {
	unsigned int major, minor, patch;
};

/* The version as zstd and xxHash write it in one number. */
static struct numbers
from_decimal(unsigned int v)
{
	return ((struct numbers){ v / 10000, v / 100 % 100, v % 100 });
}

/* The same of OpenCSD. */
static struct numbers
from_bytes(uint32_t v)
{
	return ((struct numbers){ v >> 16, v >> 8 & 0xff, v & 0xff });
}

static struct numbers
libipt_numbers(void)
{
	struct pt_version v = pt_library_version();

	return ((struct numbers){ v.major, v.minor, v.patch });
}

/* libelf cannot be asked; elfutils says it in a header, elftoolchain not. */
static struct numbers
libelf_numbers(void)
{
#ifdef _ELFUTILS_VERSION
	return ((struct numbers){ 0, _ELFUTILS_VERSION, 0 });
#else
	return ((struct numbers){ 0, 0, 0 });
#endif
}

static void
print(char text[32], struct numbers v)
{
	(void)snprintf(text, 32, "%u.%u.%u", v.major, v.minor, v.patch);
}

static int
fill(struct hwtd_component *out, const char *name, struct numbers running,
    struct numbers header)
{
	(void)snprintf(out->name, sizeof(out->name), "%s", name);
	print(out->version, running);
	print(out->built_with, header);
	return (HWTD_OK);
}

int
hwtd_version_component(size_t index, struct hwtd_component *out)
{
	if (out == NULL)
		return (HWTD_E_INVALID);
	switch (index) {
	case 0:
		return (fill(out, "libipt", libipt_numbers(),
		    (struct numbers){ LIBIPT_VERSION_MAJOR,
			LIBIPT_VERSION_MINOR, LIBIPT_VERSION_PATCH }));
	case 1:
		return (fill(out, "zstd", from_decimal(ZSTD_versionNumber()),
		    from_decimal(ZSTD_VERSION_NUMBER)));
	case 2:
		return (fill(out, "xxHash", from_decimal(hwtdi_hash_version()),
		    from_decimal(hwtdi_hash_version())));
	case 3:
		return (fill(out, "libelf", libelf_numbers(),
		    libelf_numbers()));
	case 4:
		return (fill(out, "OpenCSD",
		    from_bytes(hwtdi_cs_library_version()),
		    from_bytes(hwtdi_cs_header_version())));
	default:
		return (HWTD_END);
	}
}
