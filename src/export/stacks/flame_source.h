/*
 * Formats that are made of a flame: where it comes from, and going through it.
 */
#ifndef HWTDI_FLAME_SOURCE_H
#define HWTDI_FLAME_SOURCE_H

#include <hwtdecode/flame.h>

#include "export/export.h"

/* What the state of such a format begins with. */
struct hwtdi_flame_source {
	const struct hwtd_flame *flame;
	/* Made here, of a profile; else NULL. */
	struct hwtd_flame *own;
	struct hwtd_flame_info info;
	/* Shape [n_path]: frames from the root to the node that was read. */
	uint32_t *path;
	size_t n_path;
	/* Number of the node to be read next. */
	uint32_t at;
};

/* The flame that is the source, or one of the profile that is.  As ops.open. */
int hwtdi_flame_source_open(struct hwtd_export *ex,
    struct hwtdi_flame_source *source, uint32_t flags, struct hwtd_error *err);

void hwtdi_flame_source_close(struct hwtd_export *ex,
    struct hwtdi_flame_source *source);

/* The next node before `end`, with its path; false: there is none. */
bool hwtdi_flame_source_next(struct hwtdi_flame_source *source, uint32_t end,
    struct hwtd_flame_node *out);

/* A node, a frame; there is one of this number. */
void hwtdi_flame_source_node(const struct hwtdi_flame_source *source,
    uint32_t no, struct hwtd_flame_node *out);
void hwtdi_flame_source_frame(const struct hwtdi_flame_source *source,
    uint32_t frame, struct hwtd_flame_frame *out);

#endif /* HWTDI_FLAME_SOURCE_H */
