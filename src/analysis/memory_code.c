/*
 * Code of samples by image and symbol: mappings of the trace, symbols of files.
 */
#include "analysis/memory_code.h"

#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "image/elf_names.h"
#include "image/image_bytes.h"
#include "trace/trace_model.h"
#include "trace/trace_names.h"

/* Most programs spend their time in fewer instructions. */
#define ANSWERS 4096

struct hwtdi_memory_image {
	bool asked;
	/* The name of it, if it has one. */
	uint32_t name;
	struct hwtdi_elf_names names;
	/* The file that these were read of; NULL: bytes of the trace. */
	uint8_t *bytes;
	uint64_t n_bytes;
};

struct hwtdi_memory_answer {
	bool given;
	uint32_t pid;
	uint64_t pc;
	struct hwtdi_memory_place place;
};

int
hwtdi_memory_code_init(struct hwtdi_memory_code *code,
    struct hwtd_trace *trace, struct hwtd_error *err)
{
	struct hwtd_context *ctx = hwtdi_trace_library(trace);

	memset(code, 0, sizeof(*code));
	code->trace = trace;
	code->library = ctx;
	code->n_images = hwtdi_trace_n_images(trace);
	code->images = hwtdi_zalloc(ctx,
	    code->n_images * sizeof(*code->images));
	if (code->images == NULL)
		return (hwtdi_fail_nomem(err,
		    code->n_images * sizeof(*code->images)));
	if (!hwtdi_trace_is_fixed(trace))
		return (HWTD_OK);
	code->answers = hwtdi_zalloc(ctx, ANSWERS * sizeof(*code->answers));
	if (code->answers == NULL)
		return (hwtdi_fail_nomem(err,
		    ANSWERS * sizeof(*code->answers)));
	return (HWTD_OK);
}

void
hwtdi_memory_code_fini(struct hwtdi_memory_code *code)
{
	struct hwtd_context *ctx = code->library;

	for (size_t i = 0; code->images != NULL && i < code->n_images; i++) {
		hwtdi_elf_names_fini(&code->images[i].names, ctx);
		hwtdi_free(ctx, code->images[i].bytes,
		    (size_t)code->images[i].n_bytes);
	}
	hwtdi_free(ctx, code->images, code->n_images * sizeof(*code->images));
	hwtdi_free(ctx, code->answers, ANSWERS * sizeof(*code->answers));
	code->images = NULL;
	code->answers = NULL;
}

/* HWTD_E_NOMEM; what is no file with symbols is no failure. */
static int
read_names(struct hwtdi_memory_code *code, struct hwtdi_memory_image *image,
    const char *name, const uint8_t *bytes, uint64_t n_bytes,
    struct hwtd_error *err)
{
	struct hwtdi_elf_tables tables;
	int rc;

	rc = hwtdi_elf_tables_init(&tables, name, bytes, n_bytes, NULL);
	if (rc != HWTD_OK)
		return (rc == HWTD_E_NOMEM ? rc : HWTD_OK);
	return (hwtdi_elf_names_init(&image->names, code->library, &tables,
	    err));
}

/* Symbols are mostly behind the code, where a trace does not hold them. */
static int
read_file(struct hwtdi_memory_code *code, struct hwtdi_memory_image *image,
    const char *path, struct hwtd_error *err)
{
	int rc;

	if (path == NULL ||
	    hwtdi_image_read(code->library, path, 0, 0, &image->bytes,
		&image->n_bytes, NULL) != HWTD_OK) {
		image->bytes = NULL;
		image->n_bytes = 0;
		return (HWTD_OK);
	}
	rc = read_names(code, image, path, image->bytes, image->n_bytes, err);
	if (rc == HWTD_OK && image->names.n == 0) {
		hwtdi_free(code->library, image->bytes,
		    (size_t)image->n_bytes);
		image->bytes = NULL;
	}
	return (rc);
}

static int
open_image(struct hwtdi_memory_code *code, struct hwtdi_text_pool *names,
    uint32_t id, struct hwtdi_memory_image **out, struct hwtd_error *err)
{
	struct hwtdi_memory_image *image = &code->images[id];
	struct hwtdi_image_source held;
	int rc;

	*out = image;
	if (image->asked)
		return (HWTD_OK);
	hwtdi_trace_image_source(code->trace, id, &held);
	rc = hwtdi_text_pool_add(names, code->library, held.name, &image->name,
	    err);
	if (rc == HWTD_OK && held.bytes != NULL)
		rc = read_names(code, image, held.name, held.bytes,
		    held.n_bytes, err);
	if (rc == HWTD_OK && image->names.n == 0) {
		hwtdi_elf_names_fini(&image->names, code->library);
		rc = read_file(code, image, held.path, err);
	}
	image->asked = rc == HWTD_OK;
	return (rc);
}

/* A name that no file has; the image is told if nothing is mapped there. */
static int
find_named(struct hwtdi_memory_code *code, struct hwtdi_text_pool *names,
    const struct hwtdi_name_found *found, uint64_t at,
    struct hwtdi_memory_place *out, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (out->image == 0 && found->group[0] != '\0')
		rc = hwtdi_text_pool_add(names, code->library, found->group,
		    &out->image, err);
	if (rc != HWTD_OK)
		return (rc);
	out->symbol_address = found->address;
	out->symbol_off = at - found->address;
	return (hwtdi_text_pool_add(names, code->library, found->text,
	    &out->symbol, err));
}

static int
find(struct hwtdi_memory_code *code, struct hwtdi_text_pool *names,
    uint32_t pid, const struct hwtd_position *at, uint64_t pc,
    struct hwtdi_memory_place *out, struct hwtd_error *err)
{
	struct hwtd_mapping mapping = { .size = sizeof(mapping) };
	const struct hwtdi_elf_name *symbol = NULL;
	struct hwtdi_memory_image *image;
	struct hwtdi_name_found found;
	uint64_t address;
	int rc;

	memset(out, 0, sizeof(*out));
	out->file_off = pc;
	rc = hwtd_space_lookup(code->trace, pid, at, pc, &mapping);
	/* In doubt it is the newest. */
	if (rc != HWTD_OK && rc != HWTD_E_STATE) {
		rc = HWTD_OK;
	} else if (mapping.image >= code->n_images) {
		rc = hwtdi_text_pool_add(names, code->library, mapping.path,
		    &out->image, err);
	} else {
		rc = open_image(code, names, mapping.image, &image, err);
		if (rc != HWTD_OK)
			return (rc);
		out->image = image->name;
		out->file_off = mapping.file_off + (pc - mapping.address);
		if (hwtdi_elf_names_address(&image->names, out->file_off,
			&address))
			symbol = hwtdi_elf_names_find(&image->names, address);
		if (symbol == NULL &&
		    hwtdi_trace_name_in_image(code->trace, mapping.image,
			out->file_off, &found))
			return (find_named(code, names, &found, out->file_off,
			    out, err));
	}
	if (rc != HWTD_OK)
		return (rc);
	if (symbol == NULL)
		return (hwtdi_trace_name_at(code->trace, pid, pc, &found)
			? find_named(code, names, &found, pc, out, err)
			: HWTD_OK);
	out->symbol_address = symbol->address;
	out->symbol_off = address - symbol->address;
	return (hwtdi_text_pool_add(names, code->library, symbol->name,
	    &out->symbol, err));
}

int
hwtdi_memory_code_find(struct hwtdi_memory_code *code,
    struct hwtdi_text_pool *names, uint32_t pid,
    const struct hwtd_position *at, uint64_t pc,
    struct hwtdi_memory_place *out, struct hwtd_error *err)
{
	struct hwtdi_memory_answer *answer;
	int rc;

	if (code->answers == NULL)
		return (find(code, names, pid, at, pc, out, err));
	answer = &code->answers[hwtdi_hash_pair(code->library->seed, pc, pid) %
	    ANSWERS];
	if (answer->given && answer->pc == pc && answer->pid == pid) {
		*out = answer->place;
		return (HWTD_OK);
	}
	rc = find(code, names, pid, at, pc, out, err);
	if (rc == HWTD_OK)
		*answer = (struct hwtdi_memory_answer){ true, pid, pc, *out };
	return (rc);
}
