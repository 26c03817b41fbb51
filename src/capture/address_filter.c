/*
 * Filters by address: which of them were found, as records come.
 */
#include "capture/address_filter.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "capture/address_filter_internal.h"

/* Images that filters name, whose mappings are remembered. */
#define MOST_IMAGES 64u
/* Places of an image that a message tells. */
#define MOST_TOLD 3u

void
hwtdi_filters_init(struct hwtdi_filters *filters, struct hwtd_context *library,
    const struct hwtdi_image_places *places, uint64_t page)
{
	memset(filters, 0, sizeof(*filters));
	filters->library = library;
	filters->places = places;
	filters->page = page != 0 ? page : HWTDI_ELF_PAGE;
}

static void
forget_images(struct hwtdi_filters *filters)
{
	for (size_t i = 0; i < filters->n_images; i++)
		hwtdi_strfree(filters->library, filters->images[i].path);
	filters->n_images = 0;
}

void
hwtdi_filters_fini(struct hwtdi_filters *filters)
{
	forget_images(filters);
	for (size_t i = 0; i < filters->n; i++)
		hwtdi_address_filter_fini(&filters->filters[i],
		    filters->library);
	hwtdi_array_free(filters->library, filters->images,
	    filters->cap_images, sizeof(*filters->images));
	hwtdi_array_free(filters->library, filters->filters, filters->cap,
	    sizeof(*filters->filters));
	memset(filters, 0, sizeof(*filters));
}

int
hwtdi_filters_add(struct hwtdi_filters *filters, const char *text,
    struct hwtd_error *err)
{
	int rc;

	if (filters->n == HWTDI_FILTERS_MAX)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "\"%.60s\": more than %u filters by address", text,
		    HWTDI_FILTERS_MAX));
	rc = hwtdi_array_grow(filters->library, &filters->filters,
	    &filters->cap, filters->n + 1, sizeof(*filters->filters), err);
	if (rc == HWTD_OK)
		rc = hwtdi_address_filter_parse(&filters->filters[filters->n],
		    filters->library, text, err);
	if (rc == HWTD_OK)
		filters->n++;
	return (rc);
}

bool
hwtdi_filters_any(const struct hwtdi_filters *filters, uint32_t mode)
{
	for (size_t i = 0; i < filters->n; i++)
		if (filters->filters[i].mode == mode)
			return (true);
	return (false);
}

int
hwtdi_address_filter_add_range(struct hwtdi_address_filter *filter,
    struct hwtd_context *ctx, uint64_t start, uint64_t end,
    struct hwtd_error *err)
{
	int rc;

	if (filter->n_ranges == HWTDI_FILTER_RANGES_MAX)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "\"%.60s\" has more than %u ranges", filter->text,
		    HWTDI_FILTER_RANGES_MAX));
	rc = hwtdi_array_grow(ctx, &filter->ranges, &filter->cap_ranges,
	    filter->n_ranges + 1, sizeof(*filter->ranges), err);
	if (rc == HWTD_OK)
		filter
		    ->ranges[filter->n_ranges++] = (struct hwtdi_filter_range){
			start, end, filter->mode
		};
	return (rc);
}

/* Finding. */

/* An image that was met, while filters look into it. */
struct meeting {
	struct hwtdi_filters *filters;
	struct hwtdi_filter_file file;
	struct hwtdi_elf_code code;
	const char *path;
	const char *known;
	bool of_kernel;
	bool changed;
	/* The first that went wrong, but memory counts before it. */
	int rc;
	struct hwtd_error *err;
};

static bool
is_named(const struct meeting *m, const struct hwtdi_address_filter *filter)
{
	return (hwtdi_address_filter_names(filter, m->filters->places, m->path,
	    m->known));
}

static bool
any_named(const struct meeting *m)
{
	for (size_t i = 0; i < m->filters->n; i++)
		if (is_named(m, &m->filters->filters[i]))
			return (true);
	return (false);
}

static void
note_error(struct meeting *m, const struct hwtd_error *one)
{
	if (m->rc == HWTD_E_NOMEM ||
	    (m->rc != HWTD_OK && one->code != HWTD_E_NOMEM))
		return;
	m->rc = hwtdi_fail_pass(m->err, one);
}

/* All filters that name the image wait for the same reason. */
static void
all_wait(struct meeting *m, const struct hwtd_error *one)
{
	for (size_t i = 0; i < m->filters->n; i++) {
		struct hwtdi_address_filter *filter = &m->filters->filters[i];

		if (!filter->found && is_named(m, filter))
			(void)snprintf(filter->why, sizeof(filter->why), "%s",
			    one->message);
	}
}

static bool
same_ranges(const struct hwtdi_address_filter *a,
    const struct hwtdi_address_filter *b)
{
	if (!a->found || a->n_ranges != b->n_ranges)
		return (false);
	for (size_t i = 0; i < a->n_ranges; i++)
		if (a->ranges[i].start != b->ranges[i].start ||
		    a->ranges[i].end != b->ranges[i].end)
			return (false);
	return (true);
}

/* Look for one filter; what it had stays if that fails. */
static void
find_one(struct meeting *m, struct hwtdi_address_filter *filter)
{
	struct hwtd_context *ctx = m->filters->library;
	struct hwtdi_address_filter one = *filter;
	struct hwtd_error err;
	int rc;

	hwtdi_error_begin(&err);
	one.ranges = NULL;
	one.n_ranges = one.cap_ranges = 0;
	rc = hwtdi_address_filter_find(&one, ctx, &m->file, &m->code, &err);
	if (rc != HWTD_OK) {
		hwtdi_array_free(ctx, one.ranges, one.cap_ranges,
		    sizeof(*one.ranges));
		if (!filter->found)
			(void)snprintf(filter->why, sizeof(filter->why), "%s",
			    err.message);
		note_error(m, &err);
		return;
	}
	m->changed |= !same_ranges(filter, &one);
	hwtdi_array_free(ctx, filter->ranges, filter->cap_ranges,
	    sizeof(*filter->ranges));
	*filter = one;
	filter->found = true;
	filter->of_kernel = m->of_kernel;
	filter->why[0] = '\0';
}

static void
find_all(struct meeting *m)
{
	for (size_t i = 0; i < m->filters->n; i++)
		if (is_named(m, &m->filters->filters[i]))
			find_one(m, &m->filters->filters[i]);
}

/* Open the file of the image; false: it cannot be used. */
static bool
open_file(struct meeting *m)
{
	struct hwtd_error err;

	hwtdi_error_begin(&err);
	if (hwtdi_filter_file_open(&m->file, m->filters->library, m->path,
		m->known, m->filters->places, &err) == HWTD_OK)
		return (true);
	all_wait(m, &err);
	note_error(m, &err);
	return (false);
}

/* Look into a linked file that was moved. */
static void
find_linked(struct meeting *m, uint64_t bias)
{
	struct hwtd_context *ctx = m->filters->library;
	struct hwtd_error err;

	hwtdi_error_begin(&err);
	if (hwtdi_elf_code_init_linked(&m->code, ctx, &m->file.found->elf,
		bias, &err) != HWTD_OK) {
		note_error(m, &err);
		return;
	}
	find_all(m);
	hwtdi_elf_code_fini(&m->code, ctx);
}

static void
find_object(struct meeting *m, uint64_t address)
{
	const struct hwtdi_image_found *found = m->file.found;
	struct hwtd_context *ctx = m->filters->library;
	struct hwtdi_elf_object object;
	struct hwtd_error err;
	int rc;

	hwtdi_error_begin(&err);
	rc = hwtdi_elf_object_init(&object, ctx, found->path, found->bytes,
	    found->n_bytes, address, &err);
	if (rc == HWTD_OK) {
		rc = hwtdi_elf_code_init_object(&m->code, ctx, &object, &err);
		hwtdi_elf_object_fini(&object, ctx);
	}
	if (rc != HWTD_OK) {
		all_wait(m, &err);
		note_error(m, &err);
		return;
	}
	find_all(m);
	hwtdi_elf_code_fini(&m->code, ctx);
}

/* Programs, with their ELF interpreters. */

static void
meet_program(struct meeting *m, const struct hwtdi_filter_load *load)
{
	const struct hwtdi_elf_file *elf = &m->file.found->elf;
	struct meeting other = { .filters = m->filters,
		.path = elf->interpreter,
		.err = m->err };

	if (any_named(m))
		find_linked(m, hwtdi_elf_bias_of_program(elf, load->addr));
	if (load->base == 0 || elf->interpreter[0] == '\0' ||
	    !any_named(&other))
		return;
	other.rc = m->rc;
	if (open_file(&other)) {
		find_linked(&other,
		    hwtdi_elf_bias_of_base(&other.file.found->elf, load->base,
			m->filters->page));
		hwtdi_filter_file_close(&other.file, m->filters->library);
	}
	m->rc = other.rc;
	m->changed |= other.changed;
}

static void
see_program(struct meeting *m, const struct hwtdi_filter_load *load)
{
	const bool named = any_named(m);
	bool wanted = named;
	int rc;

	forget_images(m->filters);
	for (size_t i = 0; i < m->filters->n; i++) {
		struct hwtdi_address_filter *filter = &m->filters->filters[i];

		if (filter->of_kernel)
			continue;
		m->changed |= filter->found;
		filter->found = false;
		filter->n_ranges = 0;
		filter->why[0] = '\0';
		wanted |= load->base != 0;
	}
	if (!wanted)
		return;
	if (named && !open_file(m))
		return;
	/* It only leads to the ELF interpreter: if it is not there, so be it. */
	if (!named) {
		rc = hwtdi_filter_file_open(&m->file, m->filters->library,
		    m->path, m->known, m->filters->places, NULL);
		if (rc == HWTD_E_NOMEM)
			m->rc = hwtdi_fail_nomem(m->err,
			    sizeof(*m->file.found));
		if (rc != HWTD_OK)
			return;
	}
	meet_program(m, load);
	hwtdi_filter_file_close(&m->file, m->filters->library);
}

/* Mappings. */

/* The image of a path, which is added; NULL: no memory. */
static struct hwtdi_loaded_image *
image_of(struct hwtdi_filters *filters, const char *path,
    struct hwtd_error *err)
{
	struct hwtdi_loaded_image *image;
	char *copy;

	for (size_t i = 0; i < filters->n_images; i++)
		if (strcmp(filters->images[i].path, path) == 0)
			return (&filters->images[i]);
	if (hwtdi_array_grow(filters->library, &filters->images,
		&filters->cap_images, filters->n_images + 1, sizeof(*image),
		err) != HWTD_OK)
		return (NULL);
	copy = hwtdi_strdup(filters->library, path);
	if (copy == NULL) {
		(void)hwtdi_fail_nomem(err, strlen(path) + 1);
		return (NULL);
	}
	/* Hostile programs map one file after the other. */
	if (filters->n_images == MOST_IMAGES) {
		hwtdi_strfree(filters->library, filters->images[0].path);
		filters->n_images--;
		memmove(&filters->images[0], &filters->images[1],
		    filters->n_images * sizeof(*image));
	}
	image = &filters->images[filters->n_images++];
	memset(image, 0, sizeof(*image));
	image->path = copy;
	return (image);
}

static bool
same_mapping(const struct hwtdi_elf_mapping *a,
    const struct hwtdi_elf_mapping *b)
{
	return (a->address == b->address &&
	    a->has_file_off == b->has_file_off && a->file_off == b->file_off &&
	    a->has_length == b->has_length && a->length == b->length);
}

/* The mappings with one more ahead, of the same load or of a new one. */
static int
add_mapping(struct hwtdi_loaded_image *image, const struct hwtdi_elf_file *elf,
    const struct hwtdi_elf_mapping *mapping, uint64_t page,
    struct hwtdi_elf_bias *bias_out, struct hwtd_error *err)
{
	struct hwtdi_elf_mapping all[HWTDI_ELF_MAX_MAPPINGS];
	size_t n = 1;
	int rc;

	all[0] = *mapping;
	for (size_t i = 0; i < image->n && n < HWTDI_ELF_MAX_MAPPINGS; i++)
		if (!same_mapping(&image->mappings[i], mapping))
			all[n++] = image->mappings[i];
	rc = hwtdi_elf_bias_of_mappings(elf, all, n, page, bias_out, NULL);
	if (rc != HWTD_OK) {
		n = 1;
		rc = hwtdi_elf_bias_of_mappings(elf, all, n, page, bias_out,
		    err);
	}
	if (rc != HWTD_OK)
		return (rc);
	memcpy(image->mappings, all, n * sizeof(all[0]));
	image->n = n;
	return (HWTD_OK);
}

/* Whether a mapping alone allows a bias. */
static bool
allows(const struct hwtdi_elf_file *elf, const struct hwtdi_elf_mapping *m,
    uint64_t page, uint64_t bias)
{
	struct hwtdi_elf_file one = *elf;
	struct hwtdi_elf_bias other;

	one.n_segments = 1;
	for (size_t i = 0; i < elf->n_segments; i++) {
		one.segments = &elf->segments[i];
		if (hwtdi_elf_bias_of_mappings(&one, m, 1, page, &other,
			NULL) == HWTD_OK &&
		    other.bias == bias)
			return (true);
	}
	return (false);
}

/* Tell which load addresses mappings allow. */
static void
tell_doubt(const struct meeting *m, const struct hwtdi_loaded_image *image,
    uint32_t n_fits, struct hwtd_error *err)
{
	const struct hwtdi_elf_file *elf = &m->file.found->elf;
	struct hwtdi_elf_file one = *elf;
	uint64_t told[MOST_TOLD];
	struct hwtdi_elf_bias bias;
	char list[MOST_TOLD * 24] = "";
	size_t n = 0;

	one.n_segments = 1;
	for (size_t i = 0; i < elf->n_segments && n < MOST_TOLD; i++) {
		bool known = false;

		one.segments = &elf->segments[i];
		if (hwtdi_elf_bias_of_mappings(&one, &image->mappings[0], 1,
			m->filters->page, &bias, NULL) != HWTD_OK)
			continue;
		for (size_t k = 0; k < n; k++)
			known |= told[k] == bias.bias;
		for (size_t k = 1; k < image->n && !known; k++)
			known = !allows(elf, &image->mappings[k],
			    m->filters->page, bias.bias);
		if (known)
			continue;
		told[n++] = bias.bias;
		hwtdi_filter_append(list, sizeof(list), "%s%#" PRIx64,
		    n == 1 ? "" : ", ", bias.bias);
	}
	(void)hwtdi_fail(err, HWTD_E_NOT_FOUND,
	    "%.60s: its mapping at %#" PRIx64 " allows %" PRIu32
	    " load addresses: %s%s",
	    m->file.found->path, image->mappings[0].address, n_fits, list,
	    n < n_fits ? ", ..." : "");
}

static void
meet_mapping(struct meeting *m, const struct hwtdi_filter_load *load)
{
	const struct hwtdi_elf_mapping mapping = { .address = load->addr,
		.has_file_off = load->has_file_off,
		.has_length = load->has_length,
		.file_off = load->has_file_off ? load->file_off : 0,
		.length = load->has_length ? load->length : 0 };
	struct hwtdi_loaded_image *image;
	struct hwtdi_elf_bias bias;
	struct hwtd_error err;

	hwtdi_error_begin(&err);
	image = image_of(m->filters, m->path, &err);
	if (image == NULL) {
		note_error(m, &err);
		return;
	}
	if (add_mapping(image, &m->file.found->elf, &mapping, m->filters->page,
		&bias, &err) != HWTD_OK) {
		hwtdi_fail_prefix(&err, "%.80s", m->file.found->path);
		all_wait(m, &err);
		note_error(m, &err);
		return;
	}
	if (bias.n_fits == 1) {
		find_linked(m, bias.bias);
		return;
	}
	tell_doubt(m, image, bias.n_fits, &err);
	all_wait(m, &err);
}

/*
 * Files of the kernel lie with their lowest segment at their address, whatever
 * the file says.
 */
static void
meet_kernel(struct meeting *m, const struct hwtdi_filter_load *load)
{
	const struct hwtdi_elf_file *elf = &m->file.found->elf;

	if (elf->type == HWTDI_ELF_REL)
		find_object(m, load->addr);
	else
		find_linked(m,
		    load->addr -
			(elf->lowest_vaddr & ~(m->filters->page - 1)));
}

static void
see_file(struct meeting *m, const struct hwtdi_filter_load *load)
{
	struct hwtd_error err;

	if (!any_named(m) || !open_file(m))
		return;
	if (m->of_kernel) {
		meet_kernel(m, load);
	} else if (m->file.found->elf.type == HWTDI_ELF_REL) {
		hwtdi_error_begin(&err);
		(void)hwtdi_fail(&err, HWTD_E_UNSUPPORTED,
		    "%.120s: an object, which processes do not run",
		    m->file.found->path);
		all_wait(m, &err);
		note_error(m, &err);
	} else {
		meet_mapping(m, load);
	}
	hwtdi_filter_file_close(&m->file, m->filters->library);
}

int
hwtdi_filters_see(struct hwtdi_filters *filters,
    const struct hwtdi_filter_load *load, bool *changed_out,
    struct hwtd_error *err)
{
	struct meeting m = { .filters = filters,
		.path = load->path,
		.known = load->file,
		.of_kernel = load->kind == HWTDI_FILTER_KERNEL,
		.err = err };

	*changed_out = false;
	switch (load->kind) {
	case HWTDI_FILTER_EXECUTABLE:
		see_program(&m, load);
		break;
	case HWTDI_FILTER_MMAP:
	case HWTDI_FILTER_KERNEL:
		see_file(&m, load);
		break;
	default:
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "kind %" PRIu32 " of a load", load->kind));
	}
	*changed_out = m.changed;
	return (m.rc);
}

int
hwtdi_filters_try(const struct hwtdi_filters *filters, const char *path,
    struct hwtd_error *err)
{
	struct hwtdi_filters copy = *filters;
	size_t bytes = filters->n * sizeof(*copy.filters);
	struct meeting m = { .filters = &copy,
		.path = path,
		.known = path,
		.err = err };

	if (!any_named(&m))
		return (HWTD_OK);
	copy.filters = hwtdi_alloc(filters->library, bytes);
	if (copy.filters == NULL)
		return (hwtdi_fail_nomem(err, bytes));
	memcpy(copy.filters, filters->filters, bytes);
	for (size_t i = 0; i < copy.n; i++) {
		copy.filters[i].ranges = NULL;
		copy.filters[i].n_ranges = copy.filters[i].cap_ranges = 0;
	}
	if (open_file(&m)) {
		if (m.file.found->elf.type == HWTDI_ELF_REL)
			find_object(&m, 0);
		else
			find_linked(&m, 0);
		hwtdi_filter_file_close(&m.file, filters->library);
	}
	for (size_t i = 0; i < copy.n; i++)
		hwtdi_array_free(filters->library, copy.filters[i].ranges,
		    copy.filters[i].cap_ranges,
		    sizeof(*copy.filters[i].ranges));
	hwtdi_free(filters->library, copy.filters, bytes);
	return (m.rc);
}

/* Results. */

bool
hwtdi_filters_ready(const struct hwtdi_filters *filters)
{
	for (size_t i = 0; i < filters->n; i++)
		if (!filters->filters[i].found)
			return (false);
	return (true);
}

static int
by_place(const void *va, const void *vb)
{
	const struct hwtdi_filter_range *a = va, *b = vb;

	if (a->mode != b->mode)
		return (a->mode < b->mode ? -1 : 1);
	if (a->start != b->start)
		return (a->start < b->start ? -1 : 1);
	return (a->end < b->end ? -1 : a->end > b->end);
}

/* Sort, and join what overlaps or adjoins; how many are left. */
static size_t
join(struct hwtdi_filter_range *ranges, size_t n)
{
	size_t left = 0;

	if (n > 1)
		qsort(ranges, n, sizeof(*ranges), by_place);
	for (size_t i = 0; i < n; i++) {
		struct hwtdi_filter_range *last = left > 0 ? &ranges[left - 1]
							   : NULL;

		if (last == NULL || last->mode != ranges[i].mode ||
		    (ranges[i].start > last->end &&
			ranges[i].start - last->end > 1))
			ranges[left++] = ranges[i];
		else if (ranges[i].end > last->end)
			last->end = ranges[i].end;
	}
	return (left);
}

int
hwtdi_filters_ranges(const struct hwtdi_filters *filters, size_t most,
    struct hwtdi_filter_range *out, size_t *n_out, struct hwtd_error *err)
{
	struct hwtdi_filter_range *all = NULL;
	size_t n = 0, cap = 0;
	int rc = HWTD_OK;

	*n_out = 0;
	for (size_t i = 0; rc == HWTD_OK && i < filters->n; i++) {
		const struct hwtdi_address_filter *f = &filters->filters[i];

		if (!f->found)
			continue;
		rc = hwtdi_array_grow(filters->library, &all, &cap,
		    n + f->n_ranges, sizeof(*all), err);
		if (rc != HWTD_OK)
			break;
		memcpy(all + n, f->ranges, f->n_ranges * sizeof(*all));
		n += f->n_ranges;
	}
	if (rc == HWTD_OK) {
		*n_out = join(all, n);
		if (*n_out > most)
			rc = hwtdi_fail(err, HWTD_E_LIMIT,
			    "filters by address have %zu ranges, but the "
			    "hardware has %zu; name fewer functions",
			    *n_out, most);
		else if (*n_out > 0)
			memcpy(out, all, *n_out * sizeof(*out));
	}
	hwtdi_array_free(filters->library, all, cap, sizeof(*all));
	return (rc);
}

void
hwtdi_filter_append(char *text, size_t room, const char *fmt, ...)
{
	const size_t n = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text + n, room - n, fmt, ap);
	va_end(ap);
}

size_t
hwtdi_filters_missing(const struct hwtdi_filters *filters, char *text,
    size_t room)
{
	size_t n = 0;

	if (room > 0)
		text[0] = '\0';
	for (size_t i = 0; i < filters->n; i++) {
		const struct hwtdi_address_filter *f = &filters->filters[i];

		if (f->found)
			continue;
		if (room > 0)
			hwtdi_filter_append(text, room, "%s\"%s\": %s",
			    n == 0 ? "" : "; ", f->text,
			    f->why[0] != '\0' ? f->why
					      : "no such image was loaded");
		n++;
	}
	return (n);
}

size_t
hwtdi_filters_guessed(const struct hwtdi_filters *filters, char *text,
    size_t room)
{
	size_t n = 0;

	if (room > 0)
		text[0] = '\0';
	for (size_t i = 0; i < filters->n; i++) {
		const struct hwtdi_address_filter *f = &filters->filters[i];

		if (!f->found || !f->guessed)
			continue;
		if (room > 0)
			hwtdi_filter_append(text, room,
			    "%s\"%s\" has no size, and goes to the next "
			    "function",
			    n == 0 ? "" : "; ", f->text);
		n++;
	}
	return (n);
}
