/*
 * Stands in for what asks ELF files in a capture: there are no filters by
 * function, no build-ids in records, and no code in the file.
 */
#include "base/fail.h"
#include "capture/address_filter.h"
#include "capture/capture_archive.h"

void
hwtdi_filters_init(struct hwtdi_filters *filters, struct hwtd_context *library,
    const struct hwtdi_image_places *places, uint64_t page)
{
	*filters = (struct hwtdi_filters){ .library = library,
		.places = places,
		.page = page };
}

void
hwtdi_filters_fini(struct hwtdi_filters *filters)
{
	(void)filters;
}

int
hwtdi_filters_add(struct hwtdi_filters *filters, const char *text,
    struct hwtd_error *err)
{
	(void)filters;
	return (hwtdi_fail(err, HWTD_E_UNSUPPORTED, "no filters: %.100s",
	    text));
}

int
hwtdi_filters_see(struct hwtdi_filters *filters,
    const struct hwtdi_filter_load *load, bool *changed_out,
    struct hwtd_error *err)
{
	(void)filters;
	(void)load;
	(void)err;
	*changed_out = false;
	return (HWTD_OK);
}

bool
hwtdi_filters_ready(const struct hwtdi_filters *filters)
{
	(void)filters;
	return (true);
}

int
hwtdi_filters_ranges(const struct hwtdi_filters *filters, size_t most,
    struct hwtdi_filter_range *out, size_t *n_out, struct hwtd_error *err)
{
	(void)filters;
	(void)most;
	(void)out;
	(void)err;
	*n_out = 0;
	return (HWTD_OK);
}

size_t
hwtdi_filters_missing(const struct hwtdi_filters *filters, char *text,
    size_t room)
{
	(void)filters;
	if (room > 0)
		text[0] = '\0';
	return (0);
}

int
hwtdi_image_search(struct hwtdi_image_found *found, struct hwtd_context *ctx,
    const char *name, const struct hwtdi_build_id *build_id,
    const struct hwtdi_image_places *places, struct hwtd_error *err)
{
	(void)found;
	(void)ctx;
	(void)build_id;
	(void)places;
	return (hwtdi_fail(err, HWTD_E_NOT_FOUND, "not looked for: %.100s",
	    name));
}

void
hwtdi_image_found_fini(struct hwtdi_image_found *found,
    struct hwtd_context *ctx)
{
	(void)found;
	(void)ctx;
}

int
hwtdi_capture_archive(struct hwtd_context *library,
    const struct hwtd_capture_options *options, struct hwtd_error *err)
{
	(void)library;
	return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
	    "%.100s: code cannot be added", options->output));
}
