/*
 * How an Intel PT stream was recorded, in libipt's terms.
 */
#ifndef HWTDI_PT_CONFIG_H
#define HWTDI_PT_CONFIG_H

#include <intel-pt.h>

#include <hwtdecode/trace.h>

/* Fill all but the buffer.  `pt` may be NULL: unknown. */
void hwtdi_pt_config_libipt(struct pt_config *out,
    const struct hwtd_pt_config *pt);

#endif /* HWTDI_PT_CONFIG_H */
