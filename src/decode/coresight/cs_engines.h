/*
 * Engines for CoreSight.
 */
#ifndef HWTDI_CS_ENGINES_H
#define HWTDI_CS_ENGINES_H

#include "decode/decoder.h"

extern const struct hwtdi_engine hwtdi_cs_opencsd;

#endif /* HWTDI_CS_ENGINES_H */
