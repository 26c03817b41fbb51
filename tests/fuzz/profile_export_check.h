/*
 * What must hold of files that were made of profiles, whatever was in these: they
 * are read again, by the rules of their formats.
 */
#ifndef PROFILE_EXPORT_CHECK_H
#define PROFILE_EXPORT_CHECK_H

#include <hwtdecode/flame.h>
#include <stddef.h>

#include "support/written_export.h"

/* Values of a node are those of its children and its own; numbers are in range. */
void check_flame_adds_up(const struct hwtd_flame *flame);

/* A line for each node that weighs something, with as many names as it is deep. */
void check_folded(const char *text, size_t n, const struct hwtd_flame *flame);

/* JSON with samples and weights, as many of each. */
void check_json(const char *text, size_t n);

/* Characters that XML 1.0 allows, tags that are closed, one script. */
void check_svg(const char *text, size_t n);

/* Known lines; numbers have names; each call has a cost. */
void check_callgrind(const char *text, size_t n);

/* Packed; fields that there are; numbers of things that there are. */
void check_pprof(const struct written_export *out);

#endif /* PROFILE_EXPORT_CHECK_H */
