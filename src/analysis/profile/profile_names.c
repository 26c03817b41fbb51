/*
 * Images, functions and threads of a trace as a profile has them.
 */
#include "analysis/profile/profile_names.h"

#include <string.h>

#include "base/fail.h"
#include "trace/trace_model.h"

int
hwtdi_profile_names_init(struct hwtdi_profile_names *names,
    struct hwtd_profile *p, struct hwtd_trace *trace, struct hwtd_error *err)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_context *library = p->library;

	memset(names, 0, sizeof(*names));
	names->p = p;
	if (trace == NULL || hwtd_trace_info(trace, &info) != HWTD_OK)
		return (HWTD_OK);
	names->trace = trace;
	names->n_sections = info.n_sections;
	names->n_images = info.n_images;
	if (names->n_sections != 0)
		names->sections = hwtdi_zalloc(library,
		    names->n_sections * sizeof(*names->sections));
	if (names->n_images != 0)
		names->images = hwtdi_zalloc(library,
		    names->n_images * sizeof(*names->images));
	if ((names->n_sections != 0 && names->sections == NULL) ||
	    (names->n_images != 0 && names->images == NULL))
		return (hwtdi_fail_nomem(err,
		    names->n_sections * sizeof(*names->sections)));
	return (HWTD_OK);
}

void
hwtdi_profile_names_fini(struct hwtdi_profile_names *names)
{
	struct hwtd_context *library;

	if (names->p == NULL)
		return;
	library = names->p->library;
	hwtdi_free(library, names->sections,
	    names->n_sections * sizeof(*names->sections));
	hwtdi_free(library, names->images,
	    names->n_images * sizeof(*names->images));
	memset(names, 0, sizeof(*names));
}

/* Images. */

static int
find_image(struct hwtdi_profile_names *names,
    const struct hwtd_section *section, uint32_t *no_out,
    struct hwtd_error *err)
{
	struct hwtd_image_info info = { .size = sizeof(info) };
	struct hwtd_profile_image image = { .size = sizeof(image),
		.name = section->path };
	int rc;

	if (section->image >= names->n_images ||
	    hwtd_trace_image(names->trace, section->image, &info) != HWTD_OK) {
		image.flags = HWTD_PROFILE_IMAGEF_ADDRESSES;
		return (hwtdi_profile_add_image(names->p, &image, no_out,
		    err));
	}
	if (names->images[section->image] != 0) {
		*no_out = names->images[section->image] - 1;
		return (HWTD_OK);
	}
	image.name = info.path;
	image.n_build_id = info.n_build_id <= HWTD_MAX_BUILD_ID
	    ? info.n_build_id
	    : 0;
	memcpy(image.build_id, info.build_id, sizeof(image.build_id));
	rc = hwtdi_profile_add_image(names->p, &image, no_out, err);
	if (rc == HWTD_OK)
		names->images[section->image] = *no_out + 1;
	return (rc);
}

int
hwtdi_profile_names_section(struct hwtdi_profile_names *names, uint32_t no,
    struct hwtdi_profile_section **out, struct hwtd_error *err)
{
	struct hwtd_section section = { .size = sizeof(section) };
	struct hwtdi_profile_section *s;
	int rc;

	*out = NULL;
	if (no >= names->n_sections ||
	    hwtd_trace_section(names->trace, no, &section) != HWTD_OK)
		return (HWTD_OK);
	s = &names->sections[no];
	if (!s->known) {
		rc = find_image(names, &section, &s->image, err);
		if (rc != HWTD_OK)
			return (rc);
		if (section.image < names->n_images)
			s->shift = section.file_off - section.address;
		s->generation = section.generation;
		s->known = true;
	}
	*out = s;
	return (HWTD_OK);
}

/* Functions. */

static bool
is_address(const struct hwtdi_profile_names *names, uint32_t image)
{
	return (image == HWTD_NO_ID ||
	    (names->p->images[image].flags & HWTD_PROFILE_IMAGEF_ADDRESSES) !=
		0);
}

int
hwtdi_profile_names_function(struct hwtdi_profile_names *names,
    const struct hwtdi_profile_section *section, uint64_t address,
    const struct hwtd_symbol *symbol, uint32_t *function_out,
    struct hwtd_error *err)
{
	struct hwtd_profile_function f = { .size = sizeof(f) };

	*function_out = HWTD_NO_ID;
	if (symbol->text == NULL || symbol->text[0] == '\0')
		return (HWTD_OK);
	f.name = symbol->text;
	f.linkage_name = symbol->name;
	f.image = section->image;
	f.file_off = address + section->shift - symbol->offset;
	f.bytes = symbol->symbol_size;
	f.flags = is_address(names, section->image)
	    ? HWTD_PROFILE_FUNCTIONF_ADDRESS
	    : HWTD_PROFILE_FUNCTIONF_OFFSET;
	if ((symbol->flags & HWTD_SYMBOLF_PLT) != 0)
		f.flags |= HWTD_PROFILE_FUNCTIONF_PLT;
	/* Lists of names have addresses of the process that ran. */
	if ((symbol->flags & (HWTD_SYMBOLF_FILE_OFF | HWTD_SYMBOLF_LISTED)) ==
	    HWTD_SYMBOLF_FILE_OFF) {
		f.flags |= HWTD_PROFILE_FUNCTIONF_LINKED;
		f.link_address = symbol->symbol_address;
	}
	/* Its file is that of its first instruction, inlined or not. */
	if (symbol->offset == 0 && symbol->n_frames != 0) {
		const struct hwtd_symbol_frame
		    *frame = &symbol->frames[symbol->n_frames - 1];

		f.file = frame->file;
		f.line = frame->line;
	}
	return (hwtdi_profile_add_function(names->p, &f, function_out, err));
}

int
hwtdi_profile_names_unnamed(struct hwtdi_profile_names *names,
    const struct hwtdi_profile_section *section, uint64_t address,
    uint32_t *function_out, struct hwtd_error *err)
{
	const struct hwtd_profile_function f = {
		.image = section->image,
		.file_off = address + section->shift,
		.flags = is_address(names, section->image)
		    ? HWTD_PROFILE_FUNCTIONF_ADDRESS
		    : HWTD_PROFILE_FUNCTIONF_OFFSET,
	};

	return (hwtdi_profile_add_function(names->p, &f, function_out, err));
}

int
hwtdi_profile_names_frames(struct hwtdi_profile_names *names,
    const struct hwtdi_profile_section *section,
    const struct hwtd_symbol *symbol, uint32_t *inlined_out,
    uint32_t *line_out, struct hwtd_error *err)
{
	const struct hwtd_symbol_frame *frame;
	struct hwtd_profile_function f = { .size = sizeof(f) };
	int rc;

	*inlined_out = *line_out = HWTD_NO_ID;
	if (symbol->n_frames == 0)
		return (HWTD_OK);
	frame = &symbol->frames[0];
	if (frame->line != 0) {
		rc = hwtdi_profile_add_line(names->p, frame->file, frame->line,
		    line_out, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	if ((frame->flags & HWTD_FRAMEF_INLINED) == 0 ||
	    frame->function == NULL)
		return (HWTD_OK);
	f.name = frame->function;
	f.linkage_name = frame->linkage_name;
	f.image = section->image;
	f.flags = HWTD_PROFILE_FUNCTIONF_INLINED;
	return (hwtdi_profile_add_function(names->p, &f, inlined_out, err));
}

/* Threads. */

/* By number of arrival, what records tell last; 0: nothing. */
static int
name_thread(struct hwtdi_profile_names *names, uint32_t *texts, uint32_t pid,
    uint32_t tid, const char *name, struct hwtd_error *err)
{
	/* Of some rows the process is not known. */
	const uint32_t pids[] = { pid, HWTD_NO_ID };
	struct hwtd_profile *p = names->p;
	uint32_t text, no;
	int rc = HWTD_OK;

	if (tid == HWTD_NO_ID)
		return (HWTD_OK);
	for (size_t i = 0; i < 2 && rc == HWTD_OK; i++) {
		if (!hwtdi_profile_find_thread(p, pids[i], tid, HWTD_NO_ID,
			&no))
			continue;
		rc = hwtdi_text_pool_add(&p->texts, p->library, name, &text,
		    err);
		if (rc == HWTD_OK)
			texts[no] = text;
	}
	return (rc);
}

static const char *
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return (slash != NULL && slash[1] != '\0' ? slash + 1 : path);
}

static int
read_names(struct hwtdi_profile_names *names, uint32_t *texts,
    struct hwtd_error *err)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	int rc = HWTD_OK;

	if (hwtd_trace_info(names->trace, &info) != HWTD_OK)
		return (HWTD_OK);
	for (uint64_t i = 0; i < info.n_records && rc == HWTD_OK; i++) {
		struct hwtd_record r = { .size = sizeof(r) };

		/* Threads of a guest have numbers of their own. */
		if (hwtd_trace_record(names->trace, i, &r) != HWTD_OK ||
		    r.name == NULL || (r.flags & HWTD_RECF_VMID) != 0)
			continue;
		if (r.type == HWTD_REC_THREAD_NAME)
			rc = name_thread(names, texts, r.pid, r.tid, r.name,
			    err);
		else if (r.type == HWTD_REC_EXEC)
			rc = name_thread(names, texts, r.pid,
			    r.tid != HWTD_NO_ID ? r.tid : r.pid,
			    last_part(r.name), err);
	}
	return (rc);
}

int
hwtdi_profile_names_threads(struct hwtdi_profile_names *names,
    struct hwtd_error *err)
{
	struct hwtd_profile *p = names->p;
	const size_t n = p->n_threads;
	uint32_t *texts;
	int rc;

	if (names->trace == NULL || n == 0)
		return (HWTD_OK);
	texts = hwtdi_zalloc(p->library, n * sizeof(*texts));
	if (texts == NULL)
		return (hwtdi_fail_nomem(err, n * sizeof(*texts)));
	rc = read_names(names, texts, err);
	for (size_t i = 0; i < n && rc == HWTD_OK; i++)
		p->threads[i].name = hwtdi_profile_choose_text(p,
		    p->threads[i].name, texts[i]);
	hwtdi_free(p->library, texts, n * sizeof(*texts));
	return (rc);
}
