/*
 * All that the C files of the module offer to Python: each header once, in the
 * order that they need each other.
 */
#ifndef HWTPY_MODULE_H
#define HWTPY_MODULE_H

#include "account.h"
#include "arrow.h"
#include "log.h"
#include "memory_rows.h"
#include "part.h"
#include "profile_rows.h"
#include "signals.h"
#include "sink.h"
#include "slot.h"
#include "table.h"

#endif /* HWTPY_MODULE_H */
