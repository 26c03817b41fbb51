/*
 * libhwtdecode: hardware traces in, events out.  Include this header.
 *
 * Rules that hold for every entry:
 * - Structs with a `size` member start with it; set it to sizeof.  Options are
 *   all zero for defaults and may be NULL.
 * - Outputs come last, then `err`, which may be NULL.
 * - An object is used by one thread at a time, except contexts and sealed
 *   traces, which are shareable.
 * - Objects keep what they need alive, so the order of closing is free.
 */
#ifndef HWTDECODE_HWTDECODE_H
#define HWTDECODE_HWTDECODE_H

#include <hwtdecode/version.h>
#include <hwtdecode/error.h>
#include <hwtdecode/context.h>
#include <hwtdecode/record.h>
#include <hwtdecode/coresight.h>
#include <hwtdecode/spe.h>
#include <hwtdecode/image.h>
#include <hwtdecode/trace.h>
#include <hwtdecode/space.h>
#include <hwtdecode/symbol.h>
#include <hwtdecode/sample.h>
#include <hwtdecode/event.h>
#include <hwtdecode/packet.h>
#include <hwtdecode/runs.h>
#include <hwtdecode/calls.h>
#include <hwtdecode/profile.h>
#include <hwtdecode/coverage.h>
#include <hwtdecode/histogram.h>
#include <hwtdecode/diff.h>
#include <hwtdecode/divergence.h>
#include <hwtdecode/memory.h>
#include <hwtdecode/export.h>
#include <hwtdecode/format.h>
#include <hwtdecode/flame.h>
#include <hwtdecode/compiler.h>
#include <hwtdecode/capture.h>

#endif /* HWTDECODE_HWTDECODE_H */
