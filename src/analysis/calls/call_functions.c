/*
 * Functions that calls lead to, and the times of their calls.
 */
#include "analysis/calls/call_functions.h"

#include <string.h>

#include "base/fail.h"
#include "base/hash.h"

#define ANSWERS 8192u

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
	/* A function that was inlined is not called. */
	const struct hwtd_symbolizer_options opts = { .size = sizeof(opts),
		.flags = HWTD_SYMBOLIZER_NO_LINES };
	int rc;

	memset(f, 0, sizeof(*f));
	f->library = library;
	f->trace = trace;
	f->with_symbols = with_symbols && trace != NULL;
	if (!f->with_symbols)
		return (HWTD_OK);
	rc = hwtd_symbolizer_open(trace, &opts, &f->symbolizer, err);
	if (rc != HWTD_OK)
		return (rc);
	f->answers = hwtdi_zalloc(library, ANSWERS * sizeof(*f->answers));
	if (f->answers == NULL)
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
	hwtd_symbolizer_close(f->symbolizer);
	hwtdi_free(ctx, f->answers, ANSWERS * sizeof(*f->answers));
	f->at = NULL;
	f->symbolizer = NULL;
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

/*
 * What its name says of a function, and a number for all parts of it: that of its
 * name in its image.  Source: GCC's clone_function_name(): "NAME.cold", with older
 * ones "NAME.cold.N".
 */
static int
set_family(struct hwtdi_call_functions *f, struct hwtdi_call_function *what,
    const char *name, struct hwtd_error *err)
{
	const char *image = hwtdi_text_pool_get(&f->names, what->image);
	const char *cold = strstr(name, ".cold");
	char text[512];
	size_t n, n_image;

	/* Source: Itanium C++ ABI, "Exception Handling", 1.6. */
	what->resumes = strcmp(name, "_Unwind_Resume") == 0;
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

/* The symbol at an address; a size of 0: its end is not known. */
static int
symbol_of(struct hwtdi_call_functions *f, uint32_t section, uint32_t image,
    uint64_t address, const struct hwtd_symbol *symbol,
    struct hwtdi_extent *out, struct hwtd_error *err)
{
	const uint64_t bytes = symbol->symbol_size;
	struct hwtdi_call_function what = { .address = address -
		    symbol->offset,
		.bytes = bytes,
		.section = section,
		.image = image,
		.has_address = true };
	int rc = hwtdi_text_pool_add(&f->names, f->library, symbol->text,
	    &what.name, err);

	if (rc == HWTD_OK)
		rc = set_family(f, &what, symbol->name, err);
	if (rc == HWTD_OK)
		rc = intern(f, &what, &out->function, err);
	out->family = what.family;
	out->is_cold = what.is_cold;
	out->resumes = what.resumes;
	out->first = what.address;
	/* Up to here it goes on for sure. */
	out->end = what.address + (bytes != 0 ? bytes : symbol->offset + 1);
	out->at_start = symbol->offset == 0;
	return (rc);
}

static int
find_symbol(struct hwtdi_call_functions *f, uint32_t *pid_inout,
    uint32_t section, uint64_t address, struct hwtdi_extent *out,
    struct hwtd_error *err)
{
	struct hwtd_where where = { .flags = HWTD_WHERE_SECTION,
		.section = section,
		.pid = *pid_inout,
		.address = address };
	struct hwtd_symbol symbol;
	uint32_t image;
	int rc;

	if (where.pid != HWTD_NO_ID)
		where.flags |= HWTD_WHERE_PID;
	rc = hwtd_symbolize(f->symbolizer, &where, sizeof(where), 1, &symbol,
	    sizeof(symbol), err);
	/* Symbols of files are those of all processes. */
	if (rc == HWTD_OK && symbol.name != NULL &&
	    (symbol.flags & HWTD_SYMBOLF_LISTED) == 0)
		*pid_inout = HWTD_NO_ID;
	if (rc != HWTD_OK || symbol.name == NULL)
		return (rc);
	rc = hwtdi_text_pool_add(&f->names, f->library, symbol.image_name,
	    &image, err);
	if (rc != HWTD_OK)
		return (rc);
	return (symbol_of(f, section, image, address, &symbol, out, err));
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

/* Without a symbol it is a function if it was called. */
static int
find_called(struct hwtdi_call_functions *f, uint32_t section, uint64_t address,
    bool called, struct hwtdi_extent *out, struct hwtd_error *err)
{
	const struct hwtdi_call_function what = { .address = address,
		.section = section,
		.has_address = true };
	int rc = HWTD_OK;

	if (called)
		rc = intern(f, &what, &out->function, err);
	else if (!known(f, &what, &out->function))
		return (HWTD_OK);
	out->at_start = true;
	return (rc);
}

int
hwtdi_call_functions_find(struct hwtdi_call_functions *f, uint32_t pid,
    uint32_t section, uint64_t address, bool called, struct hwtdi_extent *out,
    struct hwtd_error *err)
{
	int rc;

	*out = (struct hwtdi_extent){ .function = HWTDI_NO_FUNCTION };
	rc = ask_symbols(f, pid, section, address, out, err);
	if (rc != HWTD_OK || out->function != HWTDI_NO_FUNCTION)
		return (rc);
	return (find_called(f, section, address, called, out, err));
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

bool
hwtdi_call_was_seen(const struct hwtd_call *row)
{
	return ((row->flags &
		    (HWTD_CALLF_BEGAN_BEFORE | HWTD_CALLF_BEGAN_UNSEEN)) ==
		0 &&
	    row->end != HWTD_CALL_END_GAP && row->end != HWTD_CALL_END_OPEN &&
	    row->end != HWTD_CALL_END_LIMIT && row->end != HWTD_CALL_END_EXIT);
}

bool
hwtdi_call_has_gap(const struct hwtd_call *row)
{
	return (row->gaps != 0 || (row->flags & HWTD_CALLF_UNPROVEN) != 0);
}

/* Begin and end were seen, and all between. */
static bool
is_whole(const struct hwtd_call *row)
{
	const uint32_t want = HWTD_CALLF_BEGIN_TIME | HWTD_CALLF_END_TIME;

	return ((row->flags & want) == want && hwtdi_call_was_seen(row) &&
	    !hwtdi_call_has_gap(row) &&
	    (row->flags & HWTD_CALLF_SWITCHED) == 0);
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
		rc = hwtdi_latency_add(f->library, &sums->spread, ns, false,
		    err);
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
