/*
 * Payloads of .hwt chunks to and from bytes: fields, streams, images, records,
 * damages.
 */
#include "trace/container/hwt_fields.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"

/* Room for `n` bytes at the end, or NULL. */
static uint8_t *
extend(struct hwtdi_hwt_buffer *to, size_t n, struct hwtd_error *err)
{
	uint8_t *at;

	if (hwtdi_array_grow(to->library, &to->bytes, &to->cap, to->n + n, 1,
		err) != HWTD_OK)
		return (NULL);
	at = to->bytes + to->n;
	to->n += n;
	return (at);
}

int
hwtdi_hwt_put_field(struct hwtdi_hwt_buffer *to, uint16_t tag,
    const void *value, size_t n, struct hwtd_error *err)
{
	uint8_t *at;

	at = extend(to, HWTDI_HWT_FIELD_SIZE + n, err);
	if (at == NULL)
		return (HWTD_E_NOMEM);
	hwtdi_put_le(at, tag, 2);
	hwtdi_put_le(at + 2, 0, 2);
	hwtdi_put_le(at + 4, n, 4);
	if (n != 0)
		memcpy(at + HWTDI_HWT_FIELD_SIZE, value, n);
	return (HWTD_OK);
}

int
hwtdi_hwt_put_text(struct hwtdi_hwt_buffer *to, uint16_t tag, const char *text,
    struct hwtd_error *err)
{
	if (text == NULL)
		return (HWTD_OK);
	return (hwtdi_hwt_put_field(to, tag, text, strlen(text), err));
}

static int
put_clock(struct hwtdi_hwt_buffer *to, const struct hwtd_clock *clock,
    struct hwtd_error *err)
{
	uint8_t v[HWTDI_HWT_CLOCK_SIZE];

	hwtdi_put_le(v, clock->counts_per, 8);
	hwtdi_put_le(v + 8, clock->ns_per, 8);
	hwtdi_put_le(v + 16, clock->base_count, 8);
	hwtdi_put_le(v + 24, clock->base_ns, 8);
	hwtdi_put_le(v + 32, clock->wrap_base, 8);
	hwtdi_put_le(v + 40, clock->wrap_mask, 8);
	return (hwtdi_hwt_put_field(to, HWTDI_HWT_STREAM_CLOCK, v,
	    clock->wrap_mask != 0 ? sizeof(v) : HWTDI_HWT_CLOCK_LEAST, err));
}

static int
put_pt(struct hwtdi_hwt_buffer *to, const struct hwtd_pt_config *pt,
    struct hwtd_error *err)
{
	uint8_t v[HWTDI_HWT_PT_SIZE +
	    HWTD_PT_MAX_FILTERS * HWTDI_HWT_PT_FILTER_SIZE];
	uint8_t *at = v + HWTDI_HWT_PT_SIZE;

	hwtdi_put_le(v, pt->cpu_family, 2);
	v[2] = pt->cpu_model;
	v[3] = pt->cpu_stepping;
	v[4] = pt->mtc_freq;
	v[5] = pt->nom_freq;
	hwtdi_put_le(v + 6, 0, 2);
	hwtdi_put_le(v + 8, pt->cpuid_15h_eax, 4);
	hwtdi_put_le(v + 12, pt->cpuid_15h_ebx, 4);
	hwtdi_put_le(v + 16, HWTD_PT_MAX_FILTERS, 4);
	hwtdi_put_le(v + 20, 0, 4);
	for (size_t i = 0; i < HWTD_PT_MAX_FILTERS; i++) {
		hwtdi_put_le(at, pt->filters[i].mode, 4);
		hwtdi_put_le(at + 4, 0, 4);
		hwtdi_put_le(at + 8, pt->filters[i].start, 8);
		hwtdi_put_le(at + 16, pt->filters[i].end, 8);
		at += HWTDI_HWT_PT_FILTER_SIZE;
	}
	return (hwtdi_hwt_put_field(to, HWTDI_HWT_STREAM_PT, v, sizeof(v),
	    err));
}

/*
 * The configuration of a CoreSight source: the members of the struct in their
 * order, 4 bytes each.
 */
#define CORESIGHT_WORDS (HWTDI_HWT_CORESIGHT_SIZE / 4)
#define CORESIGHT_FIRST offsetof(struct hwtd_coresight_config, protocol)

_Static_assert(sizeof(struct hwtd_coresight_config) ==
	CORESIGHT_FIRST + HWTDI_HWT_CORESIGHT_SIZE,
    "all members of the configuration are saved");

static int
put_coresight(struct hwtdi_hwt_buffer *to,
    const struct hwtd_coresight_config *config, struct hwtd_error *err)
{
	uint8_t v[HWTDI_HWT_CORESIGHT_SIZE];
	uint32_t words[CORESIGHT_WORDS];

	memcpy(words, (const uint8_t *)config + CORESIGHT_FIRST,
	    sizeof(words));
	for (size_t i = 0; i < CORESIGHT_WORDS; i++)
		hwtdi_put_le(v + 4 * i, words[i], 4);
	return (hwtdi_hwt_put_field(to, HWTDI_HWT_STREAM_CORESIGHT, v,
	    sizeof(v), err));
}

static int
put_spe(struct hwtdi_hwt_buffer *to, const struct hwtd_spe_config *spe,
    struct hwtd_error *err)
{
	uint8_t v[HWTDI_HWT_SPE_SIZE];

	hwtdi_put_le(v, spe->midr, 4);
	hwtdi_put_le(v + 4, spe->version, 4);
	hwtdi_put_le(v + 8, spe->owner, 4);
	hwtdi_put_le(v + 12, spe->counter_bits, 4);
	hwtdi_put_le(v + 16, spe->interval, 8);
	return (hwtdi_hwt_put_field(to, HWTDI_HWT_STREAM_SPE, v, sizeof(v),
	    err));
}

static int
put_sink(struct hwtdi_hwt_buffer *to, const struct hwtd_stream_desc *desc,
    struct hwtd_error *err)
{
	uint8_t v[HWTDI_HWT_SINK_SIZE];

	if (desc->framing == HWTD_FRAMING_NONE && desc->sink_plus_1 == 0)
		return (HWTD_OK);
	hwtdi_put_le(v, desc->framing, 4);
	hwtdi_put_le(v + 4, desc->sink_plus_1, 4);
	return (hwtdi_hwt_put_field(to, HWTDI_HWT_STREAM_SINK, v, sizeof(v),
	    err));
}

int
hwtdi_hwt_put_stream(struct hwtdi_hwt_buffer *to,
    const struct hwtd_stream_desc *desc, struct hwtd_error *err)
{
	uint8_t v[HWTDI_HWT_STREAM_DESC_SIZE];
	int rc;

	hwtdi_put_le(v, desc->tech, 4);
	hwtdi_put_le(v + 4, desc->cpu, 4);
	hwtdi_put_le(v + 8, desc->pid, 4);
	hwtdi_put_le(v + 12, desc->tid, 4);
	hwtdi_put_le(v + 16, desc->flags, 4);
	hwtdi_put_le(v + 20, 0, 4);
	rc = hwtdi_hwt_put_field(to, HWTDI_HWT_STREAM_DESC, v, sizeof(v), err);
	if (rc == HWTD_OK)
		rc = hwtdi_hwt_put_text(to, HWTDI_HWT_STREAM_NAME, desc->name,
		    err);
	if (rc == HWTD_OK && desc->clock.counts_per != 0)
		rc = put_clock(to, &desc->clock, err);
	if (rc == HWTD_OK && desc->pt != NULL)
		rc = put_pt(to, desc->pt, err);
	if (rc == HWTD_OK && desc->coresight != NULL)
		rc = put_coresight(to, desc->coresight, err);
	if (rc == HWTD_OK && desc->spe != NULL)
		rc = put_spe(to, desc->spe, err);
	if (rc == HWTD_OK)
		rc = put_sink(to, desc, err);
	return (rc);
}

int
hwtdi_hwt_put_image(struct hwtdi_hwt_buffer *to,
    const struct hwtdi_hwt_image *image, const char *path,
    struct hwtd_error *err)
{
	uint8_t v[HWTDI_HWT_IMAGE_DESC_SIZE], id[4];
	int rc;

	hwtdi_put_le(v, image->offset, 8);
	hwtdi_put_le(v + 8, image->n_bytes, 8);
	hwtdi_put_le(v + 16, image->address, 8);
	hwtdi_put_le(v + 24, image->sum, 8);
	hwtdi_put_le(v + 32, image->flags, 4);
	hwtdi_put_le(v + 36, 0, 4);
	rc = hwtdi_hwt_put_field(to, HWTDI_HWT_IMAGE_DESC, v, sizeof(v), err);
	if (rc == HWTD_OK)
		rc = hwtdi_hwt_put_text(to, HWTDI_HWT_IMAGE_PATH, path, err);
	if (rc == HWTD_OK && image->n_build_id != 0)
		rc = hwtdi_hwt_put_field(to, HWTDI_HWT_IMAGE_BUILD_ID,
		    image->build_id, image->n_build_id, err);
	hwtdi_put_le(id, image->same_bytes, sizeof(id));
	if (rc == HWTD_OK && image->same_bytes != HWTD_NO_ID)
		rc = hwtdi_hwt_put_field(to, HWTDI_HWT_IMAGE_SAME_BYTES, id,
		    sizeof(id), err);
	hwtdi_put_le(id, image->same_file, sizeof(id));
	if (rc == HWTD_OK && image->same_file != HWTD_NO_ID)
		rc = hwtdi_hwt_put_field(to, HWTDI_HWT_IMAGE_SAME_FILE, id,
		    sizeof(id), err);
	return (rc);
}

int
hwtdi_hwt_put_record(struct hwtdi_hwt_buffer *to, const struct hwtd_record *r,
    struct hwtd_error *err)
{
	const size_t n_name = r->name != NULL ? strlen(r->name) : 0;
	uint8_t *at;

	at = extend(to, HWTDI_HWT_RECORD_SIZE + n_name, err);
	if (at == NULL)
		return (HWTD_E_NOMEM);
	hwtdi_put_le(at, HWTDI_HWT_RECORD_SIZE + n_name, 4);
	hwtdi_put_le(at + 4, HWTDI_HWT_RECORD_SIZE, 2);
	hwtdi_put_le(at + 6, r->name != NULL ? HWTDI_HWT_RECORD_NAMED : 0, 2);
	hwtdi_put_le(at + 8, r->type, 4);
	hwtdi_put_le(at + 12, r->flags, 4);
	hwtdi_put_le(at + 16, r->cpu, 4);
	hwtdi_put_le(at + 20, r->pid, 4);
	hwtdi_put_le(at + 24, r->tid, 4);
	hwtdi_put_le(at + 28, r->stream, 4);
	hwtdi_put_le(at + 32, r->image, 4);
	hwtdi_put_le(at + 36, r->n_build_id, 4);
	hwtdi_put_le(at + 40, r->time_ns, 8);
	hwtdi_put_le(at + 48, r->stream_off, 8);
	hwtdi_put_le(at + 56, r->addr, 8);
	hwtdi_put_le(at + 64, r->len, 8);
	hwtdi_put_le(at + 72, r->file_off, 8);
	hwtdi_put_le(at + 80, r->base, 8);
	hwtdi_put_le(at + 88, r->value, 8);
	memcpy(at + 96, r->build_id, HWTD_MAX_BUILD_ID);
	hwtdi_put_le(at + 128, r->vmid, 4);
	hwtdi_put_le(at + 132, 0, 4);
	if (n_name != 0)
		memcpy(at + HWTDI_HWT_RECORD_SIZE, r->name, n_name);
	return (HWTD_OK);
}

int
hwtdi_hwt_put_damage(struct hwtdi_hwt_buffer *to, const struct hwtd_damage *d,
    struct hwtd_error *err)
{
	const size_t n_text = strlen(d->text);
	uint8_t *at;

	at = extend(to, HWTDI_HWT_DAMAGE_SIZE + n_text, err);
	if (at == NULL)
		return (HWTD_E_NOMEM);
	hwtdi_put_le(at, HWTDI_HWT_DAMAGE_SIZE + n_text, 4);
	hwtdi_put_le(at + 4, HWTDI_HWT_DAMAGE_SIZE, 2);
	hwtdi_put_le(at + 6,
	    (d->flags & HWTD_DAMAGEF_MORE) != 0 ? HWTDI_HWT_DAMAGE_MORE : 0,
	    2);
	hwtdi_put_le(at + 8, d->stream, 4);
	hwtdi_put_le(at + 12, 0, 4);
	hwtdi_put_le(at + 16, d->first, 8);
	hwtdi_put_le(at + 24, d->file_off, 8);
	hwtdi_put_le(at + 32, d->file_bytes, 8);
	memcpy(at + HWTDI_HWT_DAMAGE_SIZE, d->text, n_text);
	return (HWTD_OK);
}

int
hwtdi_hwt_get_field(struct hwtdi_bytes *from, struct hwtdi_hwt_field *out,
    struct hwtd_error *err)
{
	if (from->left == 0)
		return (HWTD_END);
	out->tag = (uint16_t)hwtdi_bytes_le(from, 2);
	(void)hwtdi_bytes_le(from, 2);
	out->n = (size_t)hwtdi_bytes_le(from, 4);
	out->value = hwtdi_bytes_take(from, out->n);
	if (from->bad)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "field goes past the end of its chunk"));
	return (HWTD_OK);
}

/* A copy with a 0 byte behind it. */
static int
copy_text(struct hwtd_context *ctx, const uint8_t *bytes, size_t n,
    char **text_out, struct hwtd_error *err)
{
	char *text;

	if (n > HWTDI_TEXT_MAX)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "text of %zu bytes; at most %u", n, HWTDI_TEXT_MAX));
	if (n != 0 && memchr(bytes, 0, n) != NULL)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "text of %zu bytes has a 0 byte in it", n));
	text = hwtdi_alloc(ctx, n + 1);
	if (text == NULL)
		return (hwtdi_fail_nomem(err, n + 1));
	if (n != 0)
		memcpy(text, bytes, n);
	text[n] = '\0';
	*text_out = text;
	return (HWTD_OK);
}

int
hwtdi_hwt_get_text(struct hwtd_context *ctx,
    const struct hwtdi_hwt_field *field, char **text_inout,
    struct hwtd_error *err)
{
	char *text = NULL;
	int rc;

	rc = copy_text(ctx, field->value, field->n, &text, err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_strfree(ctx, *text_inout);
	*text_inout = text;
	return (HWTD_OK);
}

static int
too_short(const char *what, size_t n, struct hwtd_error *err)
{
	return (hwtdi_fail(err, HWTD_E_CORRUPT, "%s of %zu bytes is too short",
	    what, n));
}

static int
get_pt(const struct hwtdi_hwt_field *f, struct hwtd_pt_config *pt,
    struct hwtd_error *err)
{
	const uint8_t *v = f->value;
	uint64_t n;

	if (f->n < HWTDI_HWT_PT_SIZE)
		return (too_short("Intel PT configuration", f->n, err));
	memset(pt, 0, sizeof(*pt));
	pt->size = sizeof(*pt);
	pt->cpu_family = (uint16_t)hwtdi_le(v, 2);
	pt->cpu_model = v[2];
	pt->cpu_stepping = v[3];
	pt->mtc_freq = v[4];
	pt->nom_freq = v[5];
	pt->cpuid_15h_eax = (uint32_t)hwtdi_le(v + 8, 4);
	pt->cpuid_15h_ebx = (uint32_t)hwtdi_le(v + 12, 4);
	n = hwtdi_le(v + 16, 4);
	if (n > HWTD_PT_MAX_FILTERS)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "%" PRIu64 " address filters; at most %d can be", n,
		    HWTD_PT_MAX_FILTERS));
	if (f->n - HWTDI_HWT_PT_SIZE < n * HWTDI_HWT_PT_FILTER_SIZE)
		return (too_short("Intel PT configuration", f->n, err));
	v += HWTDI_HWT_PT_SIZE;
	for (size_t i = 0; i < n; i++) {
		pt->filters[i].mode = (uint32_t)hwtdi_le(v, 4);
		pt->filters[i].start = hwtdi_le(v + 8, 8);
		pt->filters[i].end = hwtdi_le(v + 16, 8);
		v += HWTDI_HWT_PT_FILTER_SIZE;
	}
	return (HWTD_OK);
}

static int
get_coresight(const struct hwtdi_hwt_field *f,
    struct hwtd_coresight_config *config, struct hwtd_error *err)
{
	uint32_t words[CORESIGHT_WORDS];

	if (f->n < HWTDI_HWT_CORESIGHT_SIZE)
		return (too_short("CoreSight configuration", f->n, err));
	for (size_t i = 0; i < CORESIGHT_WORDS; i++)
		words[i] = (uint32_t)hwtdi_le(f->value + 4 * i, 4);
	memset(config, 0, sizeof(*config));
	config->size = sizeof(*config);
	memcpy((uint8_t *)config + CORESIGHT_FIRST, words, sizeof(words));
	return (HWTD_OK);
}

static int
get_spe(const struct hwtdi_hwt_field *f, struct hwtd_spe_config *spe,
    struct hwtd_error *err)
{
	if (f->n < HWTDI_HWT_SPE_SIZE)
		return (too_short("SPE configuration", f->n, err));
	memset(spe, 0, sizeof(*spe));
	spe->size = sizeof(*spe);
	spe->midr = (uint32_t)hwtdi_le(f->value, 4);
	spe->version = (uint32_t)hwtdi_le(f->value + 4, 4);
	spe->owner = (uint32_t)hwtdi_le(f->value + 8, 4);
	spe->counter_bits = (uint32_t)hwtdi_le(f->value + 12, 4);
	spe->interval = hwtdi_le(f->value + 16, 8);
	return (HWTD_OK);
}

static int
get_sink(const struct hwtdi_hwt_field *f, struct hwtd_stream_desc *desc,
    struct hwtd_error *err)
{
	if (f->n < HWTDI_HWT_SINK_SIZE)
		return (too_short("trace sink", f->n, err));
	desc->framing = (uint32_t)hwtdi_le(f->value, 4);
	desc->sink_plus_1 = (uint32_t)hwtdi_le(f->value + 4, 4);
	return (HWTD_OK);
}

static int
get_clock(const struct hwtdi_hwt_field *f, struct hwtd_clock *clock,
    struct hwtd_error *err)
{
	if (f->n < HWTDI_HWT_CLOCK_LEAST)
		return (too_short("clock", f->n, err));
	clock->counts_per = hwtdi_le(f->value, 8);
	clock->ns_per = hwtdi_le(f->value + 8, 8);
	clock->base_count = hwtdi_le(f->value + 16, 8);
	clock->base_ns = hwtdi_le(f->value + 24, 8);
	if (f->n >= HWTDI_HWT_CLOCK_SIZE) {
		clock->wrap_base = hwtdi_le(f->value + 32, 8);
		clock->wrap_mask = hwtdi_le(f->value + 40, 8);
	}
	if (clock->counts_per == 0 || clock->ns_per == 0)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "clock with %" PRIu64 " counts in %" PRIu64 " ns",
		    clock->counts_per, clock->ns_per));
	return (HWTD_OK);
}

static int
get_stream_field(struct hwtd_context *ctx, const struct hwtdi_hwt_field *f,
    struct hwtdi_hwt_stream *stream, char **name, bool *described,
    struct hwtd_error *err)
{
	struct hwtd_stream_desc *desc = &stream->desc;
	const uint8_t *v = f->value;

	switch (f->tag) {
	case HWTDI_HWT_STREAM_DESC:
		if (f->n < HWTDI_HWT_STREAM_DESC_SIZE)
			return (too_short("description", f->n, err));
		desc->tech = (uint32_t)hwtdi_le(v, 4);
		desc->cpu = (uint32_t)hwtdi_le(v + 4, 4);
		desc->pid = (uint32_t)hwtdi_le(v + 8, 4);
		desc->tid = (uint32_t)hwtdi_le(v + 12, 4);
		desc->flags = (uint32_t)hwtdi_le(v + 16, 4);
		*described = true;
		return (HWTD_OK);
	case HWTDI_HWT_STREAM_NAME:
		return (hwtdi_hwt_get_text(ctx, f, name, err));
	case HWTDI_HWT_STREAM_CLOCK:
		return (get_clock(f, &desc->clock, err));
	case HWTDI_HWT_STREAM_PT:
		desc->pt = &stream->pt;
		return (get_pt(f, &stream->pt, err));
	case HWTDI_HWT_STREAM_CORESIGHT:
		desc->coresight = &stream->coresight;
		return (get_coresight(f, &stream->coresight, err));
	case HWTDI_HWT_STREAM_SPE:
		desc->spe = &stream->spe;
		return (get_spe(f, &stream->spe, err));
	case HWTDI_HWT_STREAM_SINK:
		return (get_sink(f, desc, err));
	default:
		return (HWTD_OK);
	}
}

int
hwtdi_hwt_get_stream(struct hwtd_context *ctx, struct hwtdi_bytes from,
    struct hwtdi_hwt_stream *out, char **name_out, struct hwtd_error *err)
{
	struct hwtdi_hwt_field f;
	bool described = false;
	char *name = NULL;
	int rc;

	memset(&out->desc, 0, sizeof(out->desc));
	out->desc.size = sizeof(out->desc);
	while ((rc = hwtdi_hwt_get_field(&from, &f, err)) == HWTD_OK) {
		rc = get_stream_field(ctx, &f, out, &name, &described, err);
		if (rc != HWTD_OK)
			break;
	}
	if (rc == HWTD_END && !described)
		rc = hwtdi_fail(err, HWTD_E_CORRUPT, "has no description");
	if (rc != HWTD_END) {
		hwtdi_strfree(ctx, name);
		return (rc);
	}
	out->desc.name = name;
	*name_out = name;
	return (HWTD_OK);
}

static int
get_image_field(struct hwtd_context *ctx, const struct hwtdi_hwt_field *f,
    struct hwtdi_hwt_image *image, char **path, bool *described,
    struct hwtd_error *err)
{
	const uint8_t *v = f->value;

	switch (f->tag) {
	case HWTDI_HWT_IMAGE_DESC:
		if (f->n < HWTDI_HWT_IMAGE_DESC_SIZE)
			return (too_short("description", f->n, err));
		image->offset = hwtdi_le(v, 8);
		image->n_bytes = hwtdi_le(v + 8, 8);
		image->address = hwtdi_le(v + 16, 8);
		image->sum = hwtdi_le(v + 24, 8);
		image->flags = (uint32_t)hwtdi_le(v + 32, 4);
		*described = true;
		return (HWTD_OK);
	case HWTDI_HWT_IMAGE_PATH:
		return (hwtdi_hwt_get_text(ctx, f, path, err));
	case HWTDI_HWT_IMAGE_BUILD_ID:
		if (f->n > HWTD_MAX_BUILD_ID)
			return (hwtdi_fail(err, HWTD_E_CORRUPT,
			    "build-id of %zu bytes", (size_t)f->n));
		image->n_build_id = (uint32_t)f->n;
		memcpy(image->build_id, v, f->n);
		return (HWTD_OK);
	case HWTDI_HWT_IMAGE_SAME_BYTES:
	case HWTDI_HWT_IMAGE_SAME_FILE:
		if (f->n < 4)
			return (too_short("id of an image", f->n, err));
		if (f->tag == HWTDI_HWT_IMAGE_SAME_BYTES)
			image->same_bytes = (uint32_t)hwtdi_le(v, 4);
		else
			image->same_file = (uint32_t)hwtdi_le(v, 4);
		return (HWTD_OK);
	default:
		return (HWTD_OK);
	}
}

int
hwtdi_hwt_get_image(struct hwtd_context *ctx, struct hwtdi_bytes from,
    struct hwtdi_hwt_image *image, char **path_out, struct hwtd_error *err)
{
	struct hwtdi_hwt_field f;
	bool described = false;
	char *path = NULL;
	int rc;

	memset(image, 0, sizeof(*image));
	image->same_bytes = HWTD_NO_ID;
	image->same_file = HWTD_NO_ID;
	while ((rc = hwtdi_hwt_get_field(&from, &f, err)) == HWTD_OK) {
		rc = get_image_field(ctx, &f, image, &path, &described, err);
		if (rc != HWTD_OK)
			break;
	}
	if (rc == HWTD_END && (!described || path == NULL))
		rc = hwtdi_fail(err, HWTD_E_CORRUPT,
		    "has no description or no name");
	if (rc != HWTD_END) {
		hwtdi_strfree(ctx, path);
		return (rc);
	}
	*path_out = path;
	return (HWTD_OK);
}

int
hwtdi_hwt_get_record(struct hwtd_context *ctx, struct hwtdi_bytes *from,
    struct hwtd_record *r, char **name_out, struct hwtd_error *err)
{
	const uint8_t *at;
	size_t n, fixed;

	*name_out = NULL;
	if (from->left == 0)
		return (HWTD_END);
	if (from->left < HWTDI_HWT_RECORD_LEAST)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "record goes past the end of its chunk"));
	n = (size_t)hwtdi_le(from->at, 4);
	fixed = (size_t)hwtdi_le(from->at + 4, 2);
	at = hwtdi_bytes_take(from, n);
	if (at == NULL || fixed < HWTDI_HWT_RECORD_LEAST || n < fixed)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "record of %zu bytes with a name at %zu", n, fixed));
	memset(r, 0, sizeof(*r));
	r->size = sizeof(*r);
	r->type = (uint32_t)hwtdi_le(at + 8, 4);
	r->flags = (uint32_t)hwtdi_le(at + 12, 4);
	r->cpu = (uint32_t)hwtdi_le(at + 16, 4);
	r->pid = (uint32_t)hwtdi_le(at + 20, 4);
	r->tid = (uint32_t)hwtdi_le(at + 24, 4);
	r->stream = (uint32_t)hwtdi_le(at + 28, 4);
	r->image = (uint32_t)hwtdi_le(at + 32, 4);
	r->time_ns = hwtdi_le(at + 40, 8);
	r->stream_off = hwtdi_le(at + 48, 8);
	r->addr = hwtdi_le(at + 56, 8);
	r->len = hwtdi_le(at + 64, 8);
	r->file_off = hwtdi_le(at + 72, 8);
	r->base = hwtdi_le(at + 80, 8);
	r->value = hwtdi_le(at + 88, 8);
	if (fixed >= HWTDI_HWT_RECORD_WITH_ID) {
		r->n_build_id = (uint32_t)hwtdi_le(at + 36, 4);
		if (r->n_build_id > HWTD_MAX_BUILD_ID)
			return (hwtdi_fail(err, HWTD_E_CORRUPT,
			    "build-id of %u bytes", r->n_build_id));
		memcpy(r->build_id, at + 96, HWTD_MAX_BUILD_ID);
	}
	if (fixed >= HWTDI_HWT_RECORD_SIZE)
		r->vmid = (uint32_t)hwtdi_le(at + 128, 4);
	if ((hwtdi_le(at + 6, 2) & HWTDI_HWT_RECORD_NAMED) == 0)
		return (HWTD_OK);
	return (copy_text(ctx, at + fixed, n - fixed, name_out, err));
}

int
hwtdi_hwt_get_damage(struct hwtdi_bytes *from, struct hwtd_damage *d,
    struct hwtd_error *err)
{
	const uint8_t *at;
	size_t n, fixed, n_text;

	if (from->left == 0)
		return (HWTD_END);
	if (from->left < HWTDI_HWT_DAMAGE_SIZE)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "damage goes past the end of its chunk"));
	n = (size_t)hwtdi_le(from->at, 4);
	fixed = (size_t)hwtdi_le(from->at + 4, 2);
	at = hwtdi_bytes_take(from, n);
	if (at == NULL || fixed < HWTDI_HWT_DAMAGE_SIZE || n < fixed)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "damage of %zu bytes with a text at %zu", n, fixed));
	memset(d, 0, sizeof(*d));
	d->size = sizeof(*d);
	d->flags = HWTD_DAMAGEF_EARLIER_FILE;
	if ((hwtdi_le(at + 6, 2) & HWTDI_HWT_DAMAGE_MORE) != 0)
		d->flags |= HWTD_DAMAGEF_MORE;
	d->stream = (uint32_t)hwtdi_le(at + 8, 4);
	d->first = d->end = hwtdi_le(at + 16, 8);
	d->file_off = hwtdi_le(at + 24, 8);
	d->file_bytes = hwtdi_le(at + 32, 8);
	if (d->first > INT64_MAX || d->file_off > INT64_MAX ||
	    d->file_bytes > INT64_MAX - d->file_off)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "damage lies out of reach"));
	n_text = n - fixed;
	if (memchr(at + fixed, 0, n_text) != NULL)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "text of %zu bytes has a 0 byte in it", n_text));
	if (n_text > sizeof(d->text) - 1)
		n_text = sizeof(d->text) - 1;
	memcpy(d->text, at + fixed, n_text);
	return (HWTD_OK);
}
