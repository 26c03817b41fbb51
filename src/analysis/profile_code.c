/*
 * Runs are cut into pieces of one function and one line each.
 *
 * Without lines the ends of a run are asked for, since symbols are longer than
 * runs; only where they differ each instruction is.  Lines change within runs, so
 * with them each instruction is asked for.
 */
#include "analysis/profile_code.h"

#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "decode/code/arm_insn.h"
#include "decode/code/x86_insn.h"

#define ANSWERS 4096u

/* What a symbol became: texts and frames of a symbolizer stay where they are. */
struct hwtdi_profile_answer {
	const void *text, *frames;
	uint64_t first;
	uint32_t image;
	bool at_start;
	struct hwtdi_profile_named named;
};

int
hwtdi_profile_coder_init(struct hwtdi_profile_coder *c, struct hwtd_profile *p,
    struct hwtd_trace *trace, struct hwtd_symbolizer *symbolizer,
    struct hwtd_error *err)
{
	const size_t max = sizeof(c->pids) / sizeof(c->pids[0]);
	int rc;

	memset(c, 0, sizeof(*c));
	c->p = p;
	c->symbolizer = symbolizer;
	c->with_lines = (p->options.flags & HWTD_PROFILE_LINES) != 0;
	rc = hwtdi_profile_names_init(&c->names, p, trace, err);
	if (rc != HWTD_OK)
		return (rc);
	c->answers = hwtdi_zalloc(p->library, ANSWERS * sizeof(*c->answers));
	if (c->answers == NULL)
		return (hwtdi_fail_nomem(err, ANSWERS * sizeof(*c->answers)));
	for (size_t i = 0; i <= max; i++) {
		struct hwtd_process process = { .size = sizeof(process) };

		if (hwtd_trace_process(trace, i, &process) != HWTD_OK)
			break;
		/* With so many a name would be looked for too long. */
		if (i == max)
			c->n_pids = 0;
		else
			c->pids[c->n_pids++] = process.pid;
	}
	return (HWTD_OK);
}

void
hwtdi_profile_coder_fini(struct hwtdi_profile_coder *c)
{
	struct hwtd_context *library;

	if (c->p == NULL)
		return;
	library = c->p->library;
	hwtdi_profile_names_fini(&c->names);
	hwtdi_array_free(library, c->where, c->cap_where, sizeof(*c->where));
	hwtdi_array_free(library, c->symbols, c->cap_symbols,
	    sizeof(*c->symbols));
	hwtdi_free(library, c->answers, ANSWERS * sizeof(*c->answers));
	hwtdi_array_free(library, c->bytes, c->cap_bytes, 1);
	hwtdi_array_free(library, c->lengths, c->cap_lengths, 1);
	memset(c, 0, sizeof(*c));
}

/* Instructions of a run. */

/* 0: it is none. */
static uint8_t
length_at(const struct hwtd_run *run, const uint8_t *bytes, size_t n,
    uint64_t address)
{
	struct hwtdi_x86_insn insn;
	size_t length;

	switch (run->isa) {
	case HWTD_ISA_X86_16:
	case HWTD_ISA_X86_32:
	case HWTD_ISA_X86_64:
		return (hwtdi_x86_decode(bytes, n, run->isa, address, &insn)
			? insn.length
			: 0);
	default:
		length = hwtdi_arm_length(bytes, n, run->isa);
		return (length <= n ? (uint8_t)length : 0);
	}
}

static bool
measure(const struct hwtdi_profile_coder *c, const struct hwtd_run *run,
    size_t n)
{
	size_t at = 0;

	for (uint32_t i = 0; i < run->insns; i++) {
		c->lengths[i] = length_at(run, c->bytes + at, n - at,
		    run->address + at);
		if (c->lengths[i] == 0)
			return (false);
		at += c->lengths[i];
	}
	return (at == run->bytes);
}

/*
 * Lengths of the instructions of a run.  Where its bytes say something else than
 * the run does (an engine took what we refuse), they are as equal as can be.
 */
static int
find_lengths(struct hwtdi_profile_coder *c, const struct hwtd_run *run,
    struct hwtd_error *err)
{
	size_t n = 0;
	int rc = hwtdi_array_grow(c->p->library, &c->bytes, &c->cap_bytes,
	    run->bytes, 1, err);

	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(c->p->library, &c->lengths,
		    &c->cap_lengths, run->insns, 1, err);
	if (rc != HWTD_OK)
		return (rc);
	(void)hwtd_trace_read_code(c->names.trace, run->section, run->address,
	    c->bytes, run->bytes, &n);
	if (n == run->bytes && measure(c, run, n))
		return (HWTD_OK);
	for (uint32_t i = 0; i < run->insns; i++)
		c->lengths[i] = (uint8_t)(run->bytes / run->insns +
		    (i < run->bytes % run->insns));
	return (HWTD_OK);
}

/* Asking. */

static int
ask(struct hwtdi_profile_coder *c, size_t n, struct hwtd_error *err)
{
	int rc = hwtdi_array_grow(c->p->library, &c->symbols, &c->cap_symbols,
	    n, sizeof(*c->symbols), err);

	return (rc == HWTD_OK
		? hwtd_symbolize(c->symbolizer, c->where, sizeof(*c->where), n,
		      c->symbols, sizeof(*c->symbols), err)
		: rc);
}

static int
put_where(struct hwtdi_profile_coder *c, size_t at, uint32_t section,
    uint64_t address, struct hwtd_error *err)
{
	int rc = hwtdi_array_grow(c->p->library, &c->where, &c->cap_where,
	    at + 1, sizeof(*c->where), err);

	if (rc == HWTD_OK)
		c->where[at] = (struct hwtd_where){
			.flags = HWTD_WHERE_SECTION,
			.section = section,
			.address = address,
		};
	return (rc);
}

/* Code that is made at run time has a name in the list of its process only. */
static int
ask_processes(struct hwtdi_profile_coder *c, const struct hwtd_where *w,
    struct hwtd_symbol *symbol, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; i < c->n_pids && symbol->text == NULL; i++) {
		struct hwtd_mapping mapping = { .size = sizeof(mapping) };
		struct hwtd_where where = *w;

		if (hwtd_space_lookup(c->names.trace, c->pids[i], NULL,
			w->address, &mapping) != HWTD_OK ||
		    mapping.section != w->section)
			continue;
		where.flags |= HWTD_WHERE_PID;
		where.pid = c->pids[i];
		rc = hwtd_symbolize(c->symbolizer, &where, sizeof(where), 1,
		    symbol, sizeof(*symbol), err);
		if (rc != HWTD_OK)
			return (rc);
	}
	return (rc);
}

static bool
is_answer(const struct hwtdi_profile_answer *a,
    const struct hwtdi_profile_answer *key)
{
	return (a->text == key->text && a->frames == key->frames &&
	    a->first == key->first && a->image == key->image &&
	    a->at_start == key->at_start);
}

static int
make_named(struct hwtdi_profile_coder *c,
    const struct hwtdi_profile_section *section, uint64_t address,
    const struct hwtd_symbol *symbol, struct hwtdi_profile_named *out,
    struct hwtd_error *err)
{
	int rc = hwtdi_profile_names_function(&c->names, section, address,
	    symbol, &out->function, err);

	out->inlined = out->line = HWTD_NO_ID;
	if (rc == HWTD_OK && c->with_lines)
		rc = hwtdi_profile_names_frames(&c->names, section, symbol,
		    &out->inlined, &out->line, err);
	return (rc);
}

/* What a symbol is in the profile. */
static int
name_symbol(struct hwtdi_profile_coder *c,
    const struct hwtdi_profile_section *section, const struct hwtd_where *w,
    struct hwtd_symbol *symbol, struct hwtdi_profile_named *out,
    struct hwtd_error *err)
{
	struct hwtdi_profile_answer key = { .image = section->image };
	struct hwtdi_profile_answer *answer;
	int rc = HWTD_OK;

	if (symbol->text == NULL)
		rc = ask_processes(c, w, symbol, err);
	if (rc != HWTD_OK)
		return (rc);
	key.text = symbol->text;
	key.frames = symbol->frames;
	key.first = symbol->text != NULL
	    ? w->address + section->shift - symbol->offset
	    : 0;
	key.at_start = symbol->offset == 0;
	answer = &c->answers[hwtdi_hash_pair(c->p->library->seed, key.first,
				 (uint64_t)(uintptr_t)key.frames) %
	    ANSWERS];
	if ((key.text != NULL || key.frames != NULL) &&
	    is_answer(answer, &key)) {
		*out = answer->named;
		return (HWTD_OK);
	}
	rc = make_named(c, section, w->address, symbol, out, err);
	key.named = *out;
	if (rc == HWTD_OK)
		*answer = key;
	return (rc);
}

int
hwtdi_profile_coder_name(struct hwtdi_profile_coder *c, uint32_t section,
    uint64_t address, struct hwtdi_profile_named *out, struct hwtd_error *err)
{
	struct hwtdi_profile_section *s;
	int rc;

	*out = (struct hwtdi_profile_named){ HWTD_NO_ID, HWTD_NO_ID,
		HWTD_NO_ID };
	rc = hwtdi_profile_names_section(&c->names, section, &s, err);
	if (rc != HWTD_OK || s == NULL || c->symbolizer == NULL)
		return (rc);
	rc = put_where(c, 0, section, address, err);
	if (rc == HWTD_OK)
		rc = ask(c, 1, err);
	return (rc == HWTD_OK
		? name_symbol(c, s, &c->where[0], &c->symbols[0], out, err)
		: rc);
}

/* Adding. */

static bool
is_same(const struct hwtdi_profile_named *a,
    const struct hwtdi_profile_named *b)
{
	return (a->function == b->function && a->inlined == b->inlined &&
	    a->line == b->line);
}

/* A piece of a run: `n` instructions from number `first` on, at `off` in it. */
static int
add_piece(struct hwtdi_profile_coder *c, const struct hwtd_run *run,
    const struct hwtdi_profile_section *section,
    const struct hwtdi_profile_named *named, uint32_t first, uint32_t n,
    uint64_t off, uint32_t bytes, struct hwtd_error *err)
{
	const struct hwtdi_profile_code code = {
		.off = run->address + section->shift + off,
		.count = run->count,
		.image = section->image,
		.function = named->function,
		.inlined = named->inlined,
		.line = named->line,
		.generation = section->generation,
		.bytes = bytes,
		.insns = n,
		.isa = run->isa,
		.branch = first + n == run->insns ? run->branch
						  : HWTD_BRANCH_NONE,
	};

	return (hwtdi_profile_add_code(c->p, &code, c->lengths + first, err));
}

/* Each instruction of a run is asked for. */
static int
add_pieces(struct hwtdi_profile_coder *c, const struct hwtd_run *run,
    const struct hwtdi_profile_section *section, uint32_t *first_out,
    uint32_t *last_out, struct hwtd_error *err)
{
	struct hwtdi_profile_named last = { HWTD_NO_ID, HWTD_NO_ID,
		HWTD_NO_ID };
	uint64_t off = 0, begin_off = 0;
	uint32_t begin = 0;
	int rc = HWTD_OK;

	for (uint32_t i = 0; i < run->insns && rc == HWTD_OK; i++) {
		rc = put_where(c, i, run->section, run->address + off, err);
		off += c->lengths[i];
	}
	if (rc == HWTD_OK)
		rc = ask(c, run->insns, err);
	off = 0;
	for (uint32_t i = 0; i < run->insns && rc == HWTD_OK; i++) {
		struct hwtdi_profile_named named;

		rc = name_symbol(c, section, &c->where[i], &c->symbols[i],
		    &named, err);
		if (rc == HWTD_OK && i > 0 && !is_same(&named, &last)) {
			rc = add_piece(c, run, section, &last, begin,
			    i - begin, begin_off, (uint32_t)(off - begin_off),
			    err);
			begin = i;
			begin_off = off;
		}
		if (i == 0)
			*first_out = named.function;
		last = named;
		off += c->lengths[i];
	}
	*last_out = last.function;
	return (rc == HWTD_OK
		? add_piece(c, run, section, &last, begin, run->insns - begin,
		      begin_off, (uint32_t)(off - begin_off), err)
		: rc);
}

static uint64_t
last_of(const struct hwtdi_profile_coder *c, const struct hwtd_run *run)
{
	return (run->address + run->bytes - c->lengths[run->insns - 1]);
}

/* The ends of a run are asked for. */
static int
add_whole(struct hwtdi_profile_coder *c, const struct hwtd_run *run,
    const struct hwtdi_profile_section *section, uint32_t *first_out,
    uint32_t *last_out, struct hwtd_error *err)
{
	struct hwtdi_profile_named named[2] = {
		{ HWTD_NO_ID, HWTD_NO_ID, HWTD_NO_ID },
	};
	const size_t n = run->insns > 1 ? 2 : 1;
	int rc = HWTD_OK;

	if (c->symbolizer != NULL) {
		rc = put_where(c, 0, run->section, run->address, err);
		if (rc == HWTD_OK && n > 1)
			rc = put_where(c, 1, run->section, last_of(c, run),
			    err);
		if (rc == HWTD_OK)
			rc = ask(c, n, err);
		for (size_t i = 0; i < n && rc == HWTD_OK; i++)
			rc = name_symbol(c, section, &c->where[i],
			    &c->symbols[i], &named[i], err);
	}
	if (rc != HWTD_OK)
		return (rc);
	if (n > 1 && c->symbolizer != NULL && !is_same(&named[0], &named[1]))
		return (add_pieces(c, run, section, first_out, last_out, err));
	*first_out = *last_out = named[0].function;
	return (add_piece(c, run, section, &named[0], 0, run->insns, 0,
	    run->bytes, err));
}

int
hwtdi_profile_coder_add(struct hwtdi_profile_coder *c,
    const struct hwtd_run *runs, size_t n, uint32_t *firsts, uint32_t *lasts,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; i < n && rc == HWTD_OK; i++) {
		struct hwtdi_profile_section *section;

		firsts[i] = lasts[i] = HWTD_NO_ID;
		rc = hwtdi_profile_names_section(&c->names, runs[i].section,
		    &section, err);
		if (rc != HWTD_OK || section == NULL || runs[i].insns == 0)
			continue;
		rc = find_lengths(c, &runs[i], err);
		if (rc == HWTD_OK)
			rc = c->with_lines && c->symbolizer != NULL
			    ? add_pieces(c, &runs[i], section, &firsts[i],
				  &lasts[i], err)
			    : add_whole(c, &runs[i], section, &firsts[i],
				  &lasts[i], err);
	}
	return (rc);
}
