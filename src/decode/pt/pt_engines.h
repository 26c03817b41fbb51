/*
 * The engines for Intel PT.
 */
#ifndef HWTDI_PT_ENGINES_H
#define HWTDI_PT_ENGINES_H

#include "decode/decoder.h"

extern const struct hwtdi_engine hwtdi_pt_native;
extern const struct hwtdi_engine hwtdi_pt_libipt;

#endif /* HWTDI_PT_ENGINES_H */
