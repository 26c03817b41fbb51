/*
 * Functions that calls lead to, and the times of their calls.
 */
#include "analysis/call_functions.h"

#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "image/elf_names.h"
#include "image/image_bytes.h"
#include "trace/trace_model.h"
#include "trace/trace_names.h"

#define ANSWERS 8192u

struct hwtdi_call_image {
	bool asked;
	uint32_t name;
	struct hwtdi_elf_names names;
	/* The file that these were read of; NULL: bytes of the trace. */
	uint8_t *bytes;
	uint64_t n_bytes;
};

struct hwtdi_call_answer {
	uint64_t address;
	uint32_t section;
	/* HWTD_NO_ID: that of all. */
	uint32_t pid;
	bool given;
	/* HWTDI_NO_FUNCTION: no symbol. */
	struct hwtdi_extent extent;
};

int
hwtdi_call_functions_init(struct hwtdi_call_functions *f,
    struct hwtd_context *library, struct hwtd_trace *trace, bool with_symbols,
    struct hwtd_error *err)
{
	memset(f, 0, sizeof(*f));
	f->library = library;
	f->trace = trace;
	f->with_symbols = with_symbols && trace != NULL;
	if (!f->with_symbols)
		return (HWTD_OK);
	f->n_images = hwtdi_trace_n_images(trace);
	f->images = hwtdi_zalloc(library, f->n_images * sizeof(*f->images));
	f->answers = hwtdi_zalloc(library, ANSWERS * sizeof(*f->answers));
	if ((f->images == NULL && f->n_images != 0) || f->answers == NULL)
		return (hwtdi_fail_nomem(err, ANSWERS * sizeof(*f->answers)));
	return (HWTD_OK);
}

void
hwtdi_call_functions_fini(struct hwtdi_call_functions *f)
{
	struct hwtd_context *ctx = f->library;

	for (size_t i = 0; i < f->n; i++)
		hwtdi_latency_fini(ctx, &f->at[i].sums.spread);
	hwtdi_array_free(ctx, f->at, f->cap, sizeof(*f->at));
	hwtdi_index_fini(&f->index, ctx);
	hwtdi_text_pool_fini(&f->names, ctx);
	for (size_t i = 0; f->images != NULL && i < f->n_images; i++) {
		hwtdi_elf_names_fini(&f->images[i].names, ctx);
		hwtdi_free(ctx, f->images[i].bytes,
		    (size_t)f->images[i].n_bytes);
	}
	hwtdi_free(ctx, f->images, f->n_images * sizeof(*f->images));
	hwtdi_free(ctx, f->answers, ANSWERS * sizeof(*f->answers));
	f->at = NULL;
	f->images = NULL;
	f->answers = NULL;
}

/* What functions are known by. */
static uint64_t
hash_of(const struct hwtdi_call_functions *f,
    const struct hwtdi_call_function *what)
{
	return (hwtdi_hash_pair(f->library->seed, what->address,
	    (uint64_t)what->section << 32 | what->name));
}

static bool
known(const struct hwtdi_call_functions *f,
    const struct hwtdi_call_function *what, uint32_t *function_out)
{
	size_t tries = 0;
	uint32_t no;

	while (hwtdi_index_next(&f->index, hash_of(f, what), &tries, &no)) {
		const struct hwtdi_call_function *at = &f->at[no];

		if (at->address != what->address ||
		    at->section != what->section || at->name != what->name ||
		    at->has_address != what->has_address)
			continue;
		*function_out = no;
		return (true);
	}
	return (false);
}

static int
intern(struct hwtdi_call_functions *f, const struct hwtdi_call_function *what,
    uint32_t *function_out, struct hwtd_error *err)
{
	int rc;

	if (known(f, what, function_out))
		return (HWTD_OK);
	rc = hwtdi_index_reserve(&f->index, f->library, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(f->library, &f->at, &f->cap, f->n + 1,
		    sizeof(*f->at), err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_index_put(&f->index, hash_of(f, what), (uint32_t)f->n);
	f->at[f->n] = *what;
	*function_out = (uint32_t)f->n++;
	return (HWTD_OK);
}

/* Symbols. */

/* HWTD_E_NOMEM; what is no file with symbols is no failure. */
static int
read_names(struct hwtdi_call_functions *f, struct hwtdi_call_image *image,
    const char *name, const uint8_t *bytes, uint64_t n_bytes,
    struct hwtd_error *err)
{
	struct hwtdi_elf_tables tables;
	const int rc = hwtdi_elf_tables_init(&tables, name, bytes, n_bytes,
	    NULL);

	if (rc != HWTD_OK)
		return (rc == HWTD_E_NOMEM ? rc : HWTD_OK);
	return (hwtdi_elf_names_init(&image->names, f->library, &tables, err));
}

static int
open_image(struct hwtdi_call_functions *f, uint32_t id,
    struct hwtdi_call_image **out, struct hwtd_error *err)
{
	struct hwtdi_call_image *image = &f->images[id];
	struct hwtdi_image_source held;
	int rc;

	*out = image;
	if (image->asked)
		return (HWTD_OK);
	hwtdi_trace_image_source(f->trace, id, &held);
	rc = hwtdi_text_pool_add(&f->names, f->library, held.name,
	    &image->name, err);
	if (rc == HWTD_OK && held.bytes != NULL)
		rc = read_names(f, image, held.name, held.bytes, held.n_bytes,
		    err);
	/* A trace mostly holds code alone, and symbols are behind it. */
	if (rc == HWTD_OK && image->names.n == 0 && held.path != NULL &&
	    hwtdi_image_read(f->library, held.path, 0, 0, &image->bytes,
		&image->n_bytes, NULL) == HWTD_OK) {
		hwtdi_elf_names_fini(&image->names, f->library);
		rc = read_names(f, image, held.path, image->bytes,
		    image->n_bytes, err);
	}
	image->asked = rc == HWTD_OK;
	return (rc);
}

/*
 * A number for all parts of a function: that of its name in its image.  Source:
 * GCC's clone_function_name(): "NAME.cold", with older ones "NAME.cold.N".
 */
static int
set_family(struct hwtdi_call_functions *f, struct hwtdi_call_function *what,
    const char *name, struct hwtd_error *err)
{
	const char *image = hwtdi_text_pool_get(&f->names, what->image);
	const char *cold = strstr(name, ".cold");
	char text[512];
	size_t n, n_image;

	what->is_cold = cold != NULL && cold != name &&
	    (cold[5] == '\0' || cold[5] == '.');
	n = what->is_cold ? (size_t)(cold - name) : strlen(name);
	n_image = image != NULL ? strlen(image) : 0;
	/* Long names have no parts that are known. */
	if (n + n_image + 2 > sizeof(text))
		return (HWTD_OK);
	memcpy(text, name, n);
	text[n] = '\n';
	memcpy(text + n + 1, image != NULL ? image : "", n_image);
	text[n + 1 + n_image] = '\0';
	return (hwtdi_text_pool_add(&f->names, f->library, text, &what->family,
	    err));
}

/* A symbol at `address - symbol_off`; `bytes` 0: its end is not known. */
static int
symbol_of(struct hwtdi_call_functions *f, uint32_t section, uint32_t image,
    uint64_t address, const char *name, uint64_t symbol_off, uint64_t bytes,
    struct hwtdi_extent *out, struct hwtd_error *err)
{
	struct hwtdi_call_function what = { .address = address - symbol_off,
		.bytes = bytes,
		.section = section,
		.image = image,
		.has_address = true };
	int rc = hwtdi_text_pool_add(&f->names, f->library, name, &what.name,
	    err);

	if (rc == HWTD_OK)
		rc = set_family(f, &what, name, err);
	if (rc == HWTD_OK)
		rc = intern(f, &what, &out->function, err);
	out->family = what.family;
	out->is_cold = what.is_cold;
	out->first = what.address;
	/* Up to here it goes on for sure. */
	out->end = what.address + (bytes != 0 ? bytes : symbol_off + 1);
	out->at_start = symbol_off == 0;
	return (rc);
}

static int
find_symbol(struct hwtdi_call_functions *f, uint32_t *pid_inout,
    uint32_t section, uint64_t address, struct hwtdi_extent *out,
    struct hwtd_error *err)
{
	const uint32_t pid = *pid_inout;
	struct hwtd_section desc = { .size = sizeof(desc) };
	const struct hwtdi_elf_name *symbol;
	struct hwtdi_call_image *image;
	struct hwtdi_name_found found;
	uint64_t off, in_file;
	int rc;

	*pid_inout = HWTD_NO_ID;

	if (hwtd_trace_section(f->trace, section, &desc) != HWTD_OK ||
	    desc.image >= f->n_images)
		return (HWTD_OK);
	rc = open_image(f, desc.image, &image, err);
	if (rc != HWTD_OK)
		return (rc);
	off = address - desc.address + desc.file_off;
	symbol = hwtdi_elf_names_address(&image->names, off, &in_file)
	    ? hwtdi_elf_names_find(&image->names, in_file)
	    : NULL;
	if (symbol != NULL)
		return (symbol_of(f, section, image->name, address,
		    symbol->name, in_file - symbol->address, symbol->size, out,
		    err));
	if (hwtdi_trace_name_in_image(f->trace, desc.image, off, &found))
		return (symbol_of(f, section, image->name, address, found.text,
		    off - found.address, 0, out, err));
	*pid_inout = pid;
	if (hwtdi_trace_name_at(f->trace, pid, address, &found))
		return (symbol_of(f, section, image->name, address, found.text,
		    address - found.address, 0, out, err));
	return (HWTD_OK);
}

static int
ask_symbols(struct hwtdi_call_functions *f, uint32_t pid, uint32_t section,
    uint64_t address, struct hwtdi_extent *out, struct hwtd_error *err)
{
	struct hwtdi_call_answer *answer;
	int rc;

	if (!f->with_symbols || section == HWTD_NO_ID)
		return (HWTD_OK);
	answer = &f->answers[hwtdi_hash_pair(f->library->seed, address,
				 section) %
	    ANSWERS];
	if (!answer->given || answer->address != address ||
	    answer->section != section ||
	    (answer->pid != HWTD_NO_ID && answer->pid != pid)) {
		rc = find_symbol(f, &pid, section, address, out, err);
		if (rc != HWTD_OK)
			return (rc);
		*answer = (struct hwtdi_call_answer){ .address = address,
			.section = section,
			.pid = pid,
			.given = true,
			.extent = *out };
	}
	*out = answer->extent;
	return (HWTD_OK);
}

int
hwtdi_call_functions_find(struct hwtdi_call_functions *f, uint32_t pid,
    uint32_t section, uint64_t address, bool called, struct hwtdi_extent *out,
    struct hwtd_error *err)
{
	const struct hwtdi_call_function what = { .address = address,
		.section = section,
		.has_address = true };
	int rc;

	*out = (struct hwtdi_extent){ .function = HWTDI_NO_FUNCTION };
	rc = ask_symbols(f, pid, section, address, out, err);
	if (rc != HWTD_OK || out->function != HWTDI_NO_FUNCTION)
		return (rc);
	if (called)
		rc = intern(f, &what, &out->function, err);
	else if (!known(f, &what, &out->function))
		return (HWTD_OK);
	out->at_start = true;
	return (rc);
}

int
hwtdi_call_functions_named(struct hwtdi_call_functions *f, const char *name,
    const char *image, const uint64_t *address, uint32_t *function_out,
    struct hwtd_error *err)
{
	struct hwtdi_call_function what = { .section = HWTD_NO_ID,
		.address = address != NULL ? *address : 0,
		.has_address = address != NULL };
	int rc = hwtdi_text_pool_add(&f->names, f->library, name, &what.name,
	    err);

	if (rc == HWTD_OK)
		rc = hwtdi_text_pool_add(&f->names, f->library, image,
		    &what.image, err);
	if (rc == HWTD_OK)
		rc = set_family(f, &what, name, err);
	return (rc != HWTD_OK ? rc : intern(f, &what, function_out, err));
}

void
hwtdi_call_functions_set_image(struct hwtdi_call_functions *f,
    uint32_t function, uint32_t image)
{
	if (function < f->n && f->at[function].image == 0)
		f->at[function].image = image;
}

/* Times. */

/* Begin and end were seen, and all between. */
static bool
is_whole(const struct hwtd_call *row)
{
	const uint32_t want = HWTD_CALLF_BEGIN_TIME | HWTD_CALLF_END_TIME;
	const uint32_t unseen = HWTD_CALLF_BEGAN_BEFORE |
	    HWTD_CALLF_BEGAN_UNSEEN | HWTD_CALLF_UNPROVEN |
	    HWTD_CALLF_SWITCHED;

	return ((row->flags & want) == want && (row->flags & unseen) == 0 &&
	    row->gaps == 0 && row->end != HWTD_CALL_END_GAP &&
	    row->end != HWTD_CALL_END_OPEN && row->end != HWTD_CALL_END_LIMIT);
}

int
hwtdi_call_functions_add(struct hwtdi_call_functions *f,
    const struct hwtd_call *row, struct hwtd_error *err)
{
	struct hwtdi_call_sums *sums;
	const uint64_t ns = row->end_ns - row->begin_ns;
	int rc;

	if (row->function >= f->n)
		return (HWTD_OK);
	sums = &f->at[row->function].sums;
	if (is_whole(row)) {
		rc = hwtdi_latency_add(f->library, &sums->spread,
		    ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX,
		    ns >= UINT32_MAX, err);
		if (rc != HWTD_OK)
			return (rc);
		if (sums->whole++ == 0 || ns < sums->min_ns)
			sums->min_ns = ns;
		if (ns > sums->max_ns)
			sums->max_ns = ns;
		sums->ns += ns;
		sums->self_ns += row->self_ns;
	}
	sums->calls++;
	sums->all_self_ns += row->self_ns;
	sums->self_insns += row->self_insns;
	sums->self_cycles += row->self_cycles;
	return (HWTD_OK);
}
