/*
 * What functions without a name are called: where they are.
 */
#include "analysis/profile/function_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_MOST 400

void
hwtdi_function_text(const struct hwtd_profile_function *function,
    const struct hwtd_profile_image *image, char text[HWTDI_FUNCTION_TEXT])
{
	const char *name = image->name;

	if (name != NULL && strrchr(name, '/') != NULL)
		name = strrchr(name, '/') + 1;
	if (name != NULL && name[0] == '\0')
		name = NULL;
	if ((function->flags & HWTD_PROFILE_FUNCTIONF_ADDRESS) != 0)
		(void)snprintf(text, HWTDI_FUNCTION_TEXT, "0x%" PRIx64,
		    function->file_off);
	else if (name == NULL)
		(void)snprintf(text, HWTDI_FUNCTION_TEXT, "[unknown]");
	else if ((function->flags & HWTD_PROFILE_FUNCTIONF_OFFSET) != 0)
		(void)snprintf(text, HWTDI_FUNCTION_TEXT, "%.*s+0x%" PRIx64,
		    NAME_MOST, name, function->file_off);
	else
		(void)snprintf(text, HWTDI_FUNCTION_TEXT, "[unknown in %.*s]",
		    NAME_MOST, name);
}
