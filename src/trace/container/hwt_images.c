/*
 * Reading .hwt files into a trace: images, parts of files, and their bytes.
 */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/hash.h"
#include "image/elf_file.h"
#include "image/image_bytes.h"
#include "trace/container/hwt_fields.h"
#include "trace/container/hwt_reader.h"

/* The image or part of an id in the file, which is known. */
static struct hwtdi_image *
at_id(const struct hwtdi_hwt_reader *r, uint32_t id)
{
	const struct hwtdi_hwt_image_id *at = &r->image_ids[id];

	return (at->part ? &r->trace->parts[at->no]
			 : &r->trace->images[at->no]);
}

uint32_t
hwtdi_hwt_image_of(const struct hwtdi_hwt_reader *r, uint32_t id)
{
	if (id >= r->n_image_ids || r->image_ids[id].part)
		return (HWTD_NO_ID);
	return (r->image_ids[id].no);
}

/* Give the next id of the file to an image or part. */
static int
put_image(struct hwtdi_hwt_reader *r, const struct hwtdi_image *image,
    const char *path, struct hwtd_error *err)
{
	struct hwtdi_hwt_image_id *at;
	int rc;

	rc = hwtdi_array_grow(r->trace->library, &r->image_ids,
	    &r->cap_image_ids, r->n_image_ids + 1, sizeof(*r->image_ids), err);
	if (rc != HWTD_OK)
		return (rc);
	at = &r->image_ids[r->n_image_ids];
	at->part = image->part;
	rc = at->part
	    ? hwtdi_trace_put_part(r->trace, image, path, &at->no, err)
	    : hwtdi_trace_put_image(r->trace, image, path, &at->no, err);
	if (rc == HWTD_OK)
		r->n_image_ids++;
	return (rc);
}

/* See whether the file of an image that was found is a program. */
static int
check_program(struct hwtd_context *ctx, struct hwtdi_image *image,
    struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	uint8_t *bytes = NULL;
	uint64_t n = 0;
	int rc;

	rc = hwtdi_image_read(ctx, image->path, 0, HWTDI_ELF_HEADER_MAX,
	    &bytes, &n, &inner);
	if (hwtdi_fail_is_final(rc))
		return (hwtdi_fail_pass(err, &inner));
	image->stranger = rc != HWTD_OK || !hwtdi_elf_is_program(bytes, n);
	hwtdi_free(ctx, bytes, (size_t)n);
	return (HWTD_OK);
}

/* Look for the bytes of an image where they came from. */
static int
find_image_bytes(struct hwtdi_hwt_reader *r, struct hwtdi_image *image,
    struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtd_context *ctx = r->trace->library;
	uint8_t *bytes = NULL;
	uint64_t n = 0;
	int rc;

	if (!image->from_file || image->linked || !image->has_sum ||
	    image->n_bytes == 0)
		return (HWTD_OK);
	rc = hwtdi_image_read(ctx, image->path, image->offset, image->n_bytes,
	    &bytes, &n, &inner);
	if (hwtdi_fail_is_final(rc))
		return (hwtdi_fail_pass(err, &inner));
	if (rc != HWTD_OK) {
		hwtdi_log(ctx, HWTD_LOG_WARNING, "trace",
		    "code of an image is missing: %s", inner.message);
		return (HWTD_OK);
	}
	if (hwtdi_checksum(bytes, (size_t)n) == image->sum) {
		image->bytes = bytes;
		return (check_program(ctx, image, err));
	}
	hwtdi_log(ctx, HWTD_LOG_WARNING, "trace",
	    "%.120s: changed since it was traced; its code is missing",
	    image->path);
	hwtdi_free(ctx, bytes, (size_t)n);
	return (HWTD_OK);
}

static void
drop_loading(struct hwtdi_hwt_reader *r)
{
	struct hwtdi_hwt_loading *l = &r->loading;

	hwtdi_array_free(r->trace->library, l->bytes.at, l->bytes.cap, 1);
	memset(l, 0, sizeof(*l));
}

void
hwtdi_hwt_drop_images(struct hwtdi_hwt_reader *r)
{
	drop_loading(r);
	hwtdi_array_free(r->trace->library, r->image_ids, r->cap_image_ids,
	    sizeof(*r->image_ids));
}

/* The bytes of the image are complete, or never will be. */
int
hwtdi_hwt_finish_images(struct hwtdi_hwt_reader *r, struct hwtd_error *err)
{
	struct hwtdi_hwt_loading *l = &r->loading;
	struct hwtdi_image *image;
	uint8_t *bytes;
	const char *fault = NULL;
	int rc = HWTD_OK;

	if (!l->active)
		return (HWTD_OK);
	image = at_id(r, l->id);
	if (l->broken || l->bytes.n != image->n_bytes)
		fault = "image is incomplete";
	else if (image->has_sum &&
	    hwtdi_checksum(l->bytes.at, l->bytes.n) != image->sum)
		fault = "image does not match its checksum";
	if (fault != NULL) {
		/* Once is enough if a damaged chunk was noted already. */
		if (hwtdi_hwt_n_own_damages(r) == l->damages_before)
			rc = hwtdi_trace_note_damage(r->trace, l->file_off,
			    HWTDI_HWT_HEADER_SIZE, HWTD_NO_ID, 0, 0, err, "%s",
			    fault);
		drop_loading(r);
		return (rc == HWTD_OK ? find_image_bytes(r, image, err) : rc);
	}
	/* Keeps exactly the bytes that closing will give back. */
	bytes = hwtdi_resize(r->trace->library, l->bytes.at, l->bytes.cap,
	    l->bytes.n);
	if (bytes == NULL)
		return (hwtdi_fail_nomem(err, l->bytes.n));
	image->bytes = bytes;
	memset(l, 0, sizeof(*l));
	return (HWTD_OK);
}

static int
lost_images(struct hwtdi_hwt_reader *r, uint32_t up_to, struct hwtd_error *err)
{
	const struct hwtdi_image none = { 0 };
	int rc = HWTD_OK;

	while (rc == HWTD_OK && r->n_image_ids < up_to)
		rc = put_image(r, &none, "unknown", err);
	return (rc);
}

/* The image or part with an id that comes before the next one. */
static int
before(const struct hwtdi_hwt_reader *r, uint32_t id, struct hwtdi_image **out,
    struct hwtd_error *err)
{
	if (id >= r->n_image_ids)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "is said to equal image %" PRIu32
		    ", which does not come before it",
		    id));
	*out = at_id(r, id);
	return (HWTD_OK);
}

/* Take the bytes of another image, if these are not lost. */
static int
share_bytes(struct hwtdi_hwt_reader *r, uint32_t id, struct hwtdi_image *image,
    struct hwtd_error *err)
{
	struct hwtdi_image *other = NULL;
	int rc = before(r, id, &other, err);

	if (rc != HWTD_OK || other == NULL || other->bytes == NULL)
		return (rc);
	/* Once for all that equal it. */
	if (!other->has_sum) {
		other->sum = hwtdi_checksum(other->bytes,
		    (size_t)other->n_bytes);
		other->has_sum = true;
	}
	if (!image->has_sum || image->n_bytes != other->n_bytes ||
	    image->sum != other->sum)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "is said to equal image %" PRIu32 ", and does not", id));
	image->bytes = other->bytes;
	image->borrowed = true;
	return (HWTD_OK);
}

/* Take the file of another part. */
static int
share_file(const struct hwtdi_hwt_reader *r, uint32_t id,
    struct hwtdi_image *image, struct hwtd_error *err)
{
	struct hwtdi_image *other = NULL;
	int rc = before(r, id, &other, err);

	if (rc != HWTD_OK || other == NULL)
		return (rc);
	if (!r->image_ids[id].part)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "is said to be of the file of image %" PRIu32
		    ", which is no part of one",
		    id));
	image->same_file = true;
	image->file_part = other->same_file ? other->file_part
					    : r->image_ids[id].no;
	image->n_bytes = 0;
	return (HWTD_OK);
}

/* Add the image that a payload describes. */
static int
add_image(struct hwtdi_hwt_reader *r, const struct hwtdi_hwt_header *h,
    struct hwtdi_bytes from, struct hwtd_error *err)
{
	struct hwtd_context *ctx = r->trace->library;
	struct hwtdi_image image = { 0 };
	struct hwtdi_hwt_image i;
	char *path;
	int rc;

	rc = hwtdi_hwt_get_image(ctx, from, &i, &path, err);
	if (rc != HWTD_OK)
		return (rc);
	image.offset = i.offset;
	image.n_bytes = i.n_bytes;
	image.part = (i.flags & HWTDI_HWT_IMAGE_PART) != 0;
	image.mapped = !image.part && (i.flags & HWTDI_HWT_IMAGE_MAPPED) != 0;
	image.linked = image.part && (i.flags & HWTDI_HWT_IMAGE_LINKED) != 0;
	image.address = image.mapped || image.linked ? i.address : 0;
	image.from_file = (i.flags & HWTDI_HWT_IMAGE_FILE) != 0;
	image.has_sum = (i.flags & HWTDI_HWT_IMAGE_HASH) != 0;
	image.sum = i.sum;
	image.state = HWTD_IMAGE_FOUND;
	image.n_build_id = i.n_build_id;
	memcpy(image.build_id, i.build_id, sizeof(image.build_id));
	if (image.part && i.same_file != HWTD_NO_ID) {
		i.flags &= ~(uint32_t)HWTDI_HWT_IMAGE_BYTES;
		rc = share_file(r, i.same_file, &image, err);
	} else if (i.same_bytes != HWTD_NO_ID &&
	    (i.flags & HWTDI_HWT_IMAGE_BYTES) == 0) {
		rc = share_bytes(r, i.same_bytes, &image, err);
	}
	if (rc == HWTD_OK)
		rc = put_image(r, &image, path, err);
	hwtdi_strfree(ctx, path);
	if (rc != HWTD_OK || image.borrowed || image.same_file)
		return (rc);
	if ((i.flags & HWTDI_HWT_IMAGE_BYTES) == 0)
		return (find_image_bytes(r, at_id(r, h->id), err));
	if (i.n_bytes > ctx->max_image || i.n_bytes > ctx->max_alloc)
		return (hwtdi_fail_at(err, HWTD_E_LIMIT, h->file_off,
		    "image of %" PRIu64 " bytes is over max_image or "
		    "max_alloc",
		    i.n_bytes));
	r->loading.active = true;
	r->loading.id = h->id;
	r->loading.file_off = h->file_off;
	r->loading.damages_before = hwtdi_hwt_n_own_damages(r);
	return (HWTD_OK);
}

int
hwtdi_hwt_accept_image(struct hwtdi_hwt_reader *r,
    const struct hwtdi_hwt_header *h, struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtdi_bytes from;
	bool ok;
	int rc;

	rc = hwtdi_hwt_finish_images(r, err);
	if (rc != HWTD_OK)
		return (rc);
	if (h->id < r->n_image_ids)
		return (hwtdi_hwt_refuse(r, h, "image is described twice",
		    err));
	if (h->id - r->n_image_ids > HWTDI_HWT_MAX_LOST_IDS)
		return (hwtdi_hwt_refuse(r, h,
		    "image id is far beyond the images "
		    "described",
		    err));
	rc = lost_images(r, h->id, err);
	if (rc == HWTD_OK)
		rc = hwtdi_hwt_take_payload(r, h, &from, &ok, err);
	if (rc != HWTD_OK)
		return (rc);
	if (!ok)
		return (lost_images(r, h->id + 1, err));
	rc = add_image(r, h, from, &inner);
	if (rc == HWTD_OK)
		return (HWTD_OK);
	rc = hwtdi_hwt_refuse_for(r, h, &inner, err);
	if (rc == HWTD_OK)
		rc = lost_images(r, h->id + 1, err);
	return (rc);
}

int
hwtdi_hwt_accept_image_data(struct hwtdi_hwt_reader *r,
    const struct hwtdi_hwt_header *h, struct hwtd_error *err)
{
	struct hwtdi_hwt_loading *l = &r->loading;
	struct hwtdi_bytes from;
	bool ok;
	int rc;

	/* Of an image whose description is lost: that was noted. */
	if (!l->active || l->id != h->id)
		return (hwtdi_hwt_n_own_damages(r) != 0
			? HWTD_OK
			: hwtdi_hwt_refuse(r, h,
			      "bytes of an image that is not there", err));
	if (l->broken)
		return (HWTD_OK);
	if (h->position != l->bytes.n ||
	    h->raw_size > at_id(r, l->id)->n_bytes - l->bytes.n) {
		l->broken = true;
		return (hwtdi_hwt_n_own_damages(r) != l->damages_before
			? HWTD_OK
			: hwtdi_hwt_refuse(r, h,
			      "bytes of an image are out of place", err));
	}
	rc = hwtdi_hwt_take_payload(r, h, &from, &ok, err);
	if (rc != HWTD_OK)
		return (rc);
	if (!ok) {
		l->broken = true;
		return (HWTD_OK);
	}
	rc = hwtdi_array_grow(r->trace->library, &l->bytes.at, &l->bytes.cap,
	    l->bytes.n + from.left, 1, err);
	if (rc != HWTD_OK)
		return (rc);
	if (from.left != 0)
		memcpy(l->bytes.at + l->bytes.n, from.at, from.left);
	l->bytes.n += from.left;
	return (HWTD_OK);
}
