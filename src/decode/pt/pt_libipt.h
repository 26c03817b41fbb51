/*
 * The libipt engine.
 */
#ifndef HWTDI_PT_LIBIPT_H
#define HWTDI_PT_LIBIPT_H

#include "decode/decoder.h"

extern const struct hwtdi_engine hwtdi_pt_libipt;

#endif /* HWTDI_PT_LIBIPT_H */
