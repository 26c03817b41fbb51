/*
 * The engine for Arm SPE.
 */
#ifndef HWTDI_SPE_ENGINES_H
#define HWTDI_SPE_ENGINES_H

#include "decode/decoder.h"

extern const struct hwtdi_engine hwtdi_spe_native;

#endif /* HWTDI_SPE_ENGINES_H */
