/*
 * Which engines there are; the first of a technology is its default.
 */
#include <string.h>

#include "base/fail.h"
#include "decode/decoder.h"
#include "decode/coresight/cs_engines.h"
#include "decode/pt/pt_engines.h"
#include "decode/spe/spe_engines.h"

static const struct hwtdi_engine *const engines[] = {
	&hwtdi_pt_native,
	&hwtdi_pt_libipt,
	&hwtdi_cs_opencsd,
	&hwtdi_spe_native,
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

int
hwtd_engine(size_t index, struct hwtd_engine *out)
{
	struct hwtd_engine e = { .size = sizeof(e) };

	if (out == NULL)
		return (HWTD_E_INVALID);
	if (index >= sizeof(engines) / sizeof(engines[0]))
		return (HWTD_END);
	e.tech = engines[index]->tech;
	e.name = engines[index]->name;
	e.is_default = hwtdi_engine_find(e.tech, NULL) == engines[index] ? 1
									 : 0;
	return (hwtdi_result_copy(out, &e, sizeof(e)));
}
