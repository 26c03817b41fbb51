/*
 * All that the C files of the module offer to Python: each header once, in the
 * order that they need each other.
 */
#ifndef HWTPY_MODULE_H
#define HWTPY_MODULE_H

#include "account.h"
#include "arrow.h"
#include "log.h"

#endif /* HWTPY_MODULE_H */
