/*
 * What the parts of filters by address share.
 */
#ifndef HWTDI_ADDRESS_FILTER_INTERNAL_H
#define HWTDI_ADDRESS_FILTER_INTERNAL_H

#include "capture/address_filter.h"
#include "image/elf_functions.h"

enum hwtdi_filter_what {
	HWTDI_FILTER_FUNCTION = 1,
	HWTDI_FILTER_ADDRESSES = 2,
	HWTDI_FILTER_IMAGE = 3
};

struct hwtdi_address_filter {
	/* As the user wrote it. */
	char *text;
	/* The IMAGE in it. */
	const char *image;
	/* The FUNCTION; NULL: none. */
	char *function;
	/* An hwtdi_filter_what and an hwtdi_filter_mode. */
	uint32_t what;
	uint32_t mode;
	/* Of the file; both ends are inside. */
	uint64_t first;
	uint64_t last;
	/* What was found, by address, with its file. */
	bool found;
	bool of_kernel;
	bool guessed;
	struct hwtdi_filter_range *ranges;
	size_t n_ranges, cap_ranges;
	/* Why it was not; "": no such image was met. */
	char why[224];
};

/* An image that filters name, and its mappings of one load. */
struct hwtdi_loaded_image {
	char *path;
	struct hwtdi_elf_mapping mappings[HWTDI_ELF_MAX_MAPPINGS];
	size_t n;
};

/* A range of a filter. */
int hwtdi_address_filter_add_range(struct hwtdi_address_filter *filter,
    struct hwtd_context *ctx, uint64_t start, uint64_t end,
    struct hwtd_error *err);

/* Whether its IMAGE is this file, by name or as the same file. */
bool hwtdi_address_filter_names(const struct hwtdi_address_filter *filter,
    const struct hwtdi_image_places *places, const char *path,
    const char *file);

/* Fill a filter from its text; what it points to is to be given back. */
int hwtdi_address_filter_parse(struct hwtdi_address_filter *filter,
    struct hwtd_context *ctx, const char *text, struct hwtd_error *err);

void hwtdi_address_filter_fini(struct hwtdi_address_filter *filter,
    struct hwtd_context *ctx);

/* Append to a text of `room` bytes; what does not fit is cut off. */
void hwtdi_filter_append(char *text, size_t room, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The file of an image, open. */
struct hwtdi_filter_file {
	/* For messages. */
	const char *name;
	const struct hwtdi_image_places *places;
	struct hwtdi_image_found *found;
	struct hwtdi_elf_tables tables;
	/* Its debug information, looked for once. */
	bool asked_debug;
	struct hwtdi_image_found *debug;
	struct hwtdi_elf_tables debug_tables;
};

int hwtdi_filter_file_open(struct hwtdi_filter_file *file,
    struct hwtd_context *ctx, const char *path, const char *known,
    const struct hwtdi_image_places *places, struct hwtd_error *err);
void hwtdi_filter_file_close(struct hwtdi_filter_file *file,
    struct hwtd_context *ctx);

/* The ranges of a filter in code of the file, instead of those it had. */
int hwtdi_address_filter_find(struct hwtdi_address_filter *filter,
    struct hwtd_context *ctx, struct hwtdi_filter_file *file,
    const struct hwtdi_elf_code *code, struct hwtd_error *err);

#endif /* HWTDI_ADDRESS_FILTER_INTERNAL_H */
