/*
 * Which engines there are; the first of a technology is its default.
 */
#include <string.h>

#include "decode/decoder.h"
#include "decode/pt/pt_libipt.h"

static const struct hwtdi_engine *const engines[] = {
	&hwtdi_pt_libipt,
};

const struct hwtdi_engine *
hwtdi_engine_find(uint32_t tech, const char *name)
{
	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		if (engines[i]->tech == tech &&
		    (name == NULL || strcmp(engines[i]->name, name) == 0))
			return (engines[i]);
	return (NULL);
}

bool
hwtdi_engine_exists(const char *name)
{
	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		if (strcmp(engines[i]->name, name) == 0)
			return (true);
	return (false);
}
