/*
 * Fuzz harness of mangled names: the input is one.
 */
#include <hwtdecode/hwtdecode.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define MAX_INPUT 4200

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char name[MAX_INPUT + 1], text[65536], small[64];
	int rc;

	if (size > MAX_INPUT)
		return (0);
	memcpy(name, data, size);
	name[size] = '\0';
	rc = hwtd_symbol_text(name, text, sizeof(text));
	FUZZ_CHECK(rc == HWTD_OK || rc == HWTD_E_NOT_FOUND, "%d", rc);
	FUZZ_CHECK(rc != HWTD_OK || memchr(text, 0, sizeof(text)) != NULL,
	    "a text without an end");
	FUZZ_CHECK(hwtd_symbol_text(name, small, sizeof(small)) == rc ||
		strlen(text) >= sizeof(small) || rc != HWTD_OK,
	    "%.60s: it would have had room", text);
	return (0);
}
