/*
 * What became of the images of a trace: for info, and for check by how much
 * trace was lost without them.
 */
#ifndef HWTDECODE_CLI_IMAGE_REPORT_H
#define HWTDECODE_CLI_IMAGE_REPORT_H

#include "cli/input/input.h"
#include "cli/output/output.h"

/* "found", "missing", "other-build-id" or "unknown". */
const char *image_state_name(uint32_t state);

/* Why it is missing, without its name in front. */
const char *image_why(const struct hwtd_image_info *info);

/*
 * Which images sections show: flags by image id, to be freed; NULL without
 * memory.
 */
bool *images_shown(const struct input *input);

/* A build-id in hexadecimal. */
void write_build_id(struct output *out, const uint8_t *id, uint32_t n);

/* All images, without a title; as JSON lines of type "image". */
void image_report_text(struct output *out, const struct input *input);
void image_report_json(struct output *out, const struct input *input);

/* Images that were needed and not there. */
struct missing_images {
	const struct input *input;
	/* By image id; NULL: out of memory, nothing is counted. */
	struct missing_image *images;
};

void missing_images_init(struct missing_images *missing,
    const struct input *input);
void missing_images_fini(struct missing_images *missing);

/* Count a gap, if it is one of code that an image holds; whether it is. */
bool missing_images_add(struct missing_images *missing, uint32_t stream,
    const struct hwtd_event *row, const struct hwtd_gap *gap);

/*
 * Those that cost most first, then images of another build-id and missing ones
 * of which is not known where they lay.  In text also the command that looks
 * for them.
 */
void missing_images_write(const struct missing_images *missing,
    struct output *out, const struct options *options);

#endif /* HWTDECODE_CLI_IMAGE_REPORT_H */
