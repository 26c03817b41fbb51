/*
 * What a flame graph does when it is looked at in a browser: zoom, search, tell.
 */
#ifndef HWTDI_FLAME_SCRIPT_H
#define HWTDI_FLAME_SCRIPT_H

#include "export/export_sink.h"

/* Put a style element, and a script element that comes last in the picture. */
void hwtdi_flame_style(struct hwtdi_sink *sink);
void hwtdi_flame_script(struct hwtdi_sink *sink);

#endif /* HWTDI_FLAME_SCRIPT_H */
