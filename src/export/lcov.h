/*
 * The format lcov, for the list of formats.
 */
#ifndef HWTDI_LCOV_H
#define HWTDI_LCOV_H

#include "export/export.h"

extern const struct hwtdi_exporter_ops hwtdi_export_lcov;

#endif /* HWTDI_LCOV_H */
