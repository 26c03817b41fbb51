/*
 * What CPUs get wrong in Intel PT, by their model.
 *
 * Source: Intel, the specification updates of the processors named below.
 */
#include "decode/pt/pt_errata.h"

#include <stddef.h>

#define BDM64 0x1u
#define SKD007 0x2u
#define SKD022 0x4u
#define APL12 0x8u

/* Of family 6. */
static const struct {
	uint8_t model;
	uint8_t errata;
} models[] = {
	/* Broadwell */
	{ 0x3d, BDM64 },
	{ 0x47, BDM64 },
	{ 0x4f, BDM64 },
	{ 0x56, BDM64 },
	/* Skylake, Kaby Lake, Comet Lake */
	{ 0x4e, SKD007 | SKD022 },
	{ 0x5e, SKD007 | SKD022 },
	{ 0x8e, SKD007 | SKD022 },
	{ 0x9e, SKD007 | SKD022 },
	{ 0xa5, SKD007 | SKD022 },
	{ 0xa6, SKD007 | SKD022 },
	/* Goldmont */
	{ 0x5c, APL12 },
	{ 0x5f, APL12 },
	/* Goldmont Plus, Tremont */
	{ 0x7a, 0 },
	{ 0x86, 0 },
	{ 0x96, 0 },
	{ 0x9c, 0 },
};

/* Xeons since Skylake, and all since Cannon Lake. */
#define NEWEST SKD022

struct hwtdi_pt_errata
hwtdi_pt_errata_of(const struct hwtd_pt_config *config)
{
	unsigned int bits = NEWEST;

	if (config != NULL && config->cpu_family == 6)
		for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
			if (models[i].model == config->cpu_model)
				bits = models[i].errata;
	return ((struct hwtdi_pt_errata){
	    .bdm64 = (bits & BDM64) != 0,
	    .skd007 = (bits & SKD007) != 0,
	    .skd022 = (bits & SKD022) != 0,
	    .apl12 = (bits & APL12) != 0,
	});
}
