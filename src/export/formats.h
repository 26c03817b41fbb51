/*
 * The formats that are made of profiles, for the list of all formats.
 */
#ifndef HWTDI_FORMATS_H
#define HWTDI_FORMATS_H

#include "export/export.h"

extern const struct hwtdi_exporter_ops hwtdi_folded_ops;
extern const struct hwtdi_exporter_ops hwtdi_pprof_ops;
extern const struct hwtdi_exporter_ops hwtdi_callgrind_ops;
extern const struct hwtdi_exporter_ops hwtdi_speedscope_sampled_ops;
extern const struct hwtdi_exporter_ops hwtdi_flame_svg_ops;

#endif /* HWTDI_FORMATS_H */
