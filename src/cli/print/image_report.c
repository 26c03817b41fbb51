/*
 * What became of the images of a trace: for info, and for check by how much
 * trace was lost without them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/print/image_report.h"
#include "cli/output/json_line.h"

struct missing_image {
	uint32_t image;
	uint64_t gaps;
	uint64_t bytes;
	/* Lowest address that was missed, and where the file lies there. */
	uint64_t lowest;
	uint64_t file_off;
	/* Its file is there, but not what a kernel made of it. */
	bool unknown;
};

const char *
image_state_name(uint32_t state)
{
	switch (state) {
	case HWTD_IMAGE_FOUND:
		return ("found");
	case HWTD_IMAGE_MISSING:
		return ("missing");
	case HWTD_IMAGE_MISMATCH:
		return ("other-build-id");
	default:
		return ("unknown");
	}
}

const char *
image_why(const struct hwtd_image_info *info)
{
	const size_t n = strlen(info->path);

	return (strncmp(info->text, info->path, n) == 0 &&
		    info->text[n] == ':' && info->text[n + 1] == ' '
		? info->text + n + 2
		: info->text);
}

bool *
images_shown(const struct input *input)
{
	bool *shown = calloc((size_t)input->info.n_images + 1, sizeof(*shown));
	struct hwtd_section section = { .size = sizeof(section) };

	for (uint32_t i = 0; shown != NULL && i < input->info.n_sections; i++)
		if (hwtd_trace_section(input->trace, i, &section) == HWTD_OK &&
		    section.image < input->info.n_images)
			shown[section.image] = true;
	return (shown);
}

void
write_build_id(struct output *out, const uint8_t *id, uint32_t n)
{
	for (uint32_t i = 0; i < n && i < HWTD_MAX_BUILD_ID; i++)
		output_format(out, "%02x", id[i]);
}

static bool
image_at(const struct input *input, uint32_t i, struct hwtd_image_info *info)
{
	*info = (struct hwtd_image_info){ .size = sizeof(*info) };
	return (hwtd_trace_image(input->trace, i, info) == HWTD_OK);
}

/* File and reason, where they say more than the name. */
static void
text_why(struct output *out, const struct hwtd_image_info *info)
{
	if (info->file[0] != '\0' && strcmp(info->file, info->path) != 0) {
		output_text(out, "  file ");
		output_escaped(out, info->file);
	}
	if (info->text[0] != '\0') {
		output_text(out, "  ");
		output_escaped(out, image_why(info));
	}
}

void
image_report_text(struct output *out, const struct input *input)
{
	struct hwtd_image_info info;

	for (uint32_t i = 0; image_at(input, i, &info); i++) {
		output_format(out, "  %-4" PRIu32 " %-14s %10" PRIu64 "  ", i,
		    image_state_name(info.state), info.n_bytes);
		output_escaped(out, info.path);
		text_why(out, &info);
		output_char(out, '\n');
	}
}

static void
json_image_keys(struct output *out, uint32_t image,
    const struct hwtd_image_info *info)
{
	json_u64(out, "image", image);
	json_string(out, "path", info->path);
	json_name(out, "state", image_state_name(info->state));
	if (info->file[0] != '\0')
		json_string(out, "file", info->file);
	if (info->n_build_id > 0) {
		json_key(out, "build_id");
		output_char(out, '"');
		write_build_id(out, info->build_id, info->n_build_id);
		output_char(out, '"');
	}
	if (info->text[0] != '\0')
		json_string(out, "text", image_why(info));
}

void
image_report_json(struct output *out, const struct input *input)
{
	struct hwtd_image_info info;

	for (uint32_t i = 0; image_at(input, i, &info); i++) {
		json_begin(out, "image");
		json_image_keys(out, i, &info);
		json_u64(out, "bytes", info.n_bytes);
		json_end(out);
	}
}

void
missing_images_init(struct missing_images *missing, const struct input *input)
{
	missing->input = input;
	missing->images = calloc(input->info.n_images + 1,
	    sizeof(*missing->images));
}

void
missing_images_fini(struct missing_images *missing)
{
	free(missing->images);
	missing->images = NULL;
}

bool
missing_images_add(struct missing_images *missing, uint32_t stream,
    const struct hwtd_event *row, const struct hwtd_gap *gap)
{
	const struct hwtd_trace *trace = missing->input->trace;
	struct hwtd_exec_context who = { .size = sizeof(who) };
	struct hwtd_mapping mapping = { .size = sizeof(mapping) };
	struct hwtd_position at = {
		.size = sizeof(at),
		.flags = HWTD_POSITION_OFFSET,
		.stream = stream,
		.stream_off = gap->first,
	};
	struct hwtd_image_info info;
	struct missing_image *image;
	uint64_t skip;
	int rc;

	if (missing->images == NULL || gap->reason != HWTD_GAP_NO_CODE ||
	    (gap->flags & HWTD_GAPF_ADDR) == 0)
		return (false);
	if ((row->flags & HWTD_EVF_TIME) != 0) {
		at.flags |= HWTD_POSITION_TIME;
		at.time_ns = row->time_ns;
	}
	if (hwtd_trace_exec_context(trace, row->context, &who) != HWTD_OK)
		who.pid = HWTD_NO_ID;
	rc = hwtd_space_lookup_context(trace, &who, &at, gap->addr, &mapping);
	if ((rc != HWTD_OK && rc != HWTD_E_STATE) ||
	    mapping.image >= missing->input->info.n_images)
		return (false);
	/* It is one of several, and not that which is missing. */
	if (rc == HWTD_E_STATE &&
	    (!image_at(missing->input, mapping.image, &info) ||
		info.state == HWTD_IMAGE_FOUND))
		return (false);
	image = &missing->images[mapping.image];
	skip = gap->addr - mapping.address;
	if (image->gaps == 0 || gap->addr < image->lowest) {
		image->lowest = gap->addr;
		image->file_off = mapping.file_off + skip;
	}
	if ((mapping.flags & HWTD_MAPPINGF_UNKNOWN) != 0)
		image->unknown = true;
	image->gaps++;
	image->bytes += gap->end - gap->first;
	return (true);
}

static int
by_cost(const void *a, const void *b)
{
	const struct missing_image *x = a, *y = b;

	if (x->bytes != y->bytes)
		return (x->bytes < y->bytes ? 1 : -1);
	if (x->gaps != y->gaps)
		return (x->gaps < y->gaps ? 1 : -1);
	return (x->image < y->image ? -1 : x->image > y->image);
}

static void
text_missing_image(struct output *out, const struct missing_image *m,
    const struct hwtd_image_info *info)
{
	if (m->gaps > 0)
		output_format(out, "  %10" PRIu64 " bytes in %" PRIu64 " %s  ",
		    m->bytes, m->gaps, m->gaps == 1 ? "gap" : "gaps");
	else
		output_text(out, "  cost not known  ");
	output_escaped(out, info->path);
	text_why(out, info);
	if (info->n_build_id > 0) {
		output_text(out, "\n             wanted build-id ");
		write_build_id(out, info->build_id, info->n_build_id);
	}
	if (info->state == HWTD_IMAGE_FOUND && m->unknown)
		output_text(out,
		    "\n             give the kernel, its debug file and the"
		    " modules that it calls with\n"
		    "             --module-dir DIR");
	else if (info->state == HWTD_IMAGE_FOUND && m->gaps == 0)
		output_text(out, "\n             the file is damaged");
	else if (info->state == HWTD_IMAGE_FOUND)
		output_format(out,
		    "\n             the file ends before 0x%" PRIx64,
		    m->file_off);
	output_char(out, '\n');
}

/* A word as a shell takes it. */
static void
text_word(struct output *out, const char *word)
{
	const size_t plain = strspn(word,
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	    "_-./:@%+=,");

	if (plain > 0 && word[plain] == '\0') {
		output_text(out, word);
		return;
	}
	char *copy = strdup(word), *at = copy, *quote;

	output_char(out, '\'');
	while (at != NULL && (quote = strchr(at, '\'')) != NULL) {
		*quote = '\0';
		output_escaped(out, at);
		output_text(out, "'\\''");
		at = quote + 1;
	}
	output_escaped(out, at != NULL ? at : word);
	output_char(out, '\'');
	free(copy);
}

/* One command that is given all of them. */
static void
text_command(struct output *out, const struct options *options,
    const char *path)
{
	output_text(out, "  with their files below a folder DIR, as DIR");
	/* What perf calls a kernel is no file that anyone has. */
	if (strncmp(path, "[kernel", 7) == 0 ||
	    strncmp(path, "[guest.kernel", 13) == 0)
		path = "/boot/vmlinux";
	output_text(out, path[0] == '/' ? "" : "/");
	output_escaped(out, path);
	output_text(out, ":\n    hwtdecode check --root DIR");
	for (int i = 0; i < options->n_words; i++) {
		output_char(out, ' ');
		text_word(out, options->words[i]);
	}
	output_char(out, '\n');
}

static void
write_one(struct output *out, enum output_format format,
    const struct missing_image *m, const struct hwtd_image_info *info)
{
	switch (format) {
	case FORMAT_TEXT:
		text_missing_image(out, m, info);
		break;
	case FORMAT_JSONL:
		json_begin(out, "missing_image");
		json_image_keys(out, m->image, info);
		json_u64(out, "gaps", m->gaps);
		json_u64(out, "bytes", m->bytes);
		if (m->gaps > 0) {
			json_hex(out, "lowest", m->lowest);
			json_u64(out, "file_offset", m->file_off);
		}
		json_end(out);
		break;
	case FORMAT_CSV:
		output_format(out,
		    "total,missing-image.%" PRIu32 ".bytes,%" PRIu64 "\n",
		    m->image, m->bytes);
		output_format(out, "total,missing-image.%" PRIu32 ".path,",
		    m->image);
		output_csv_string(out, info->path);
		output_char(out, '\n');
		break;
	}
}

void
missing_images_write(const struct missing_images *missing, struct output *out,
    const struct options *options)
{
	const enum output_format format = options->format;
	const uint32_t n = missing->input->info.n_images;
	struct hwtd_image_info info;
	bool titled = false;
	const char *first = NULL;

	bool *shown = images_shown(missing->input);

	if (missing->images == NULL || shown == NULL) {
		free(shown);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		missing->images[i].image = i;
	qsort(missing->images, n, sizeof(*missing->images), by_cost);
	for (uint32_t i = 0; i < n; i++) {
		const struct missing_image *m = &missing->images[i];

		if (!image_at(missing->input, m->image, &info))
			continue;
		/* Mapped and never run, or there and whole. */
		if (m->gaps == 0 &&
		    (info.flags & HWTD_IMAGE_INFO_UNLINKED) != 0 &&
		    info.state == HWTD_IMAGE_FOUND)
			continue;
		if (m->gaps == 0 && info.state != HWTD_IMAGE_MISMATCH &&
		    (info.state == HWTD_IMAGE_MISSING ? shown[m->image]
						      : info.text[0] == '\0'))
			continue;
		if (!titled && format == FORMAT_TEXT)
			output_text(out, "\nmissing images\n");
		titled = true;
		/* A file that is there is not what it takes. */
		if (first == NULL && !m->unknown)
			first = info.path;
		write_one(out, format, m, &info);
	}
	if (first != NULL && format == FORMAT_TEXT)
		text_command(out, options, first);
	free(shown);
}
