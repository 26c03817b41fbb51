/*
 * Which images of two traces are the same file, so that places in them can be
 * compared.
 */
#ifndef HWTDI_FLOW_IMAGES_H
#define HWTDI_FLOW_IMAGES_H

#include <hwtdecode/divergence.h>

#include "base/library.h"

struct hwtdi_flow_image {
	uint32_t state;
	uint32_t image[2];
	const char *path[2];
	uint64_t insns[2];
};

/* Where an address of a section is. */
struct hwtdi_flow_section {
	bool known;
	/* Its code cannot be compared. */
	bool foreign;
	/* Number in `at`, or HWTD_NO_ID: no image. */
	uint32_t image;
	/* To add to an address for the byte of the file. */
	uint64_t delta;
};

struct hwtdi_flow_images {
	struct hwtd_context *library;
	struct hwtd_trace *trace[2];
	struct hwtdi_flow_image *at;
	size_t n, cap;
	/* By image of each trace: its number in `at`. */
	uint32_t *numbers[2];
	size_t n_numbers[2];
	struct hwtdi_flow_section *sections[2];
	size_t n_sections[2], cap_sections[2];
};

/* HWTD_E_NOMEM. */
int hwtdi_flow_images_init(struct hwtdi_flow_images *images,
    struct hwtd_context *library, struct hwtd_trace *a, struct hwtd_trace *b,
    struct hwtd_error *err);
void hwtdi_flow_images_fini(struct hwtdi_flow_images *images);

/* Borrowed until the next one.  HWTD_E_NOMEM. */
int hwtdi_flow_images_section(struct hwtdi_flow_images *images,
    unsigned int side, uint32_t section, const struct hwtdi_flow_section **out,
    struct hwtd_error *err);

#endif /* HWTDI_FLOW_IMAGES_H */
