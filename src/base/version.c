/*
 * The version of the library and of its components.
 */
#include <hwtdecode/error.h>

#define STR2(x) #x
#define STR(x) STR2(x)

const char *
hwtd_version(void)
{
	return (STR(HWTD_VERSION_MAJOR) "." STR(HWTD_VERSION_MINOR) "." STR(
	    HWTD_VERSION_PATCH));
}
