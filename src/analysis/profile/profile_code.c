/*
 * Runs are cut into pieces of one function and one line each.
 *
 * Without lines the ends of a run are asked for, since symbols are longer than
 * runs; only where they differ each instruction is.  Lines change within runs, so
 * with them each instruction is asked for.
 */
#include "analysis/profile/profile_code.h"

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

static void
drop_ask(struct hwtdi_profile_ask *ask, struct hwtd_context *library)
{
	hwtdi_array_free(library, ask->where, ask->cap_where,
	    sizeof(*ask->where));
	hwtdi_array_free(library, ask->symbols, ask->cap_symbols,
	    sizeof(*ask->symbols));
}

void
hwtdi_profile_coder_fini(struct hwtdi_profile_coder *c)
{
	struct hwtd_context *library;

	if (c->p == NULL)
		return;
	library = c->p->library;
	hwtdi_profile_names_fini(&c->names);
	drop_ask(&c->some, library);
	drop_ask(&c->each, library);
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
    uint8_t *lengths)
{
	size_t at = 0;

	for (uint32_t i = 0; i < run->insns; i++) {
		lengths[i] = length_at(run, c->bytes + at, run->bytes - at,
		    run->address + at);
		if (lengths[i] == 0)
			return (false);
		at += lengths[i];
	}
	return (at == run->bytes);
}

/*
 * Lengths of the instructions of a run, behind those of others.  Where its bytes
 * say something else than the run does (an engine took what we refuse), they are as
 * equal as can be.
 */
static int
find_lengths(struct hwtdi_profile_coder *c, const struct hwtd_run *run,
    struct hwtd_error *err)
{
	uint8_t *lengths;
	size_t n = 0;
	int rc = hwtdi_array_grow(c->p->library, &c->bytes, &c->cap_bytes,
	    run->bytes, 1, err);

	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(c->p->library, &c->lengths,
		    &c->cap_lengths, c->n_lengths + run->insns, 1, err);
	if (rc != HWTD_OK)
		return (rc);
	lengths = c->lengths + c->n_lengths;
	c->n_lengths += run->insns;
	(void)hwtd_trace_read_code(c->names.trace, run->section, run->address,
	    c->bytes, run->bytes, &n);
	if (n == run->bytes && measure(c, run, lengths))
		return (HWTD_OK);
	for (uint32_t i = 0; i < run->insns; i++)
		lengths[i] = (uint8_t)(run->bytes / run->insns +
		    (i < run->bytes % run->insns));
	return (HWTD_OK);
}

/* Asking. */

static int
ask(struct hwtdi_profile_coder *c, struct hwtdi_profile_ask *ask,
    struct hwtd_error *err)
{
	int rc;

	if (ask->n == 0)
		return (HWTD_OK);
	rc = hwtdi_array_grow(c->p->library, &ask->symbols, &ask->cap_symbols,
	    ask->n, sizeof(*ask->symbols), err);
	return (rc == HWTD_OK ? hwtd_symbolize(c->symbolizer, ask->where,
				    sizeof(*ask->where), ask->n, ask->symbols,
				    sizeof(*ask->symbols), err)
			      : rc);
}

static int
put_where(struct hwtdi_profile_coder *c, struct hwtdi_profile_ask *ask,
    uint32_t section, uint64_t address, struct hwtd_error *err)
{
	int rc = hwtdi_array_grow(c->p->library, &ask->where, &ask->cap_where,
	    ask->n + 1, sizeof(*ask->where), err);

	if (rc == HWTD_OK)
		ask->where[ask->n++] = (struct hwtd_where){
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
	c->each.n = 0;
	rc = put_where(c, &c->each, section, address, err);
	if (rc == HWTD_OK)
		rc = ask(c, &c->each, err);
	return (rc == HWTD_OK ? name_symbol(c, s, &c->each.where[0],
				    &c->each.symbols[0], out, err)
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

/* A run on its way: where its lengths and answers are. */
struct coding {
	const struct hwtd_run *run;
	/* NULL: it is left out. */
	const struct hwtdi_profile_section *section;
	size_t lengths;
	size_t asked;
	uint32_t first, last;
};

/* A piece of a run: `n` instructions from number `first` on, at `off` in it. */
static int
add_piece(struct hwtdi_profile_coder *c, const struct coding *g,
    const struct hwtdi_profile_named *named, uint32_t first, uint32_t n,
    uint64_t off, uint32_t bytes, struct hwtd_error *err)
{
	const struct hwtd_run *run = g->run;
	const struct hwtdi_profile_code code = {
		.off = run->address + g->section->shift + off,
		.count = run->count,
		.image = g->section->image,
		.function = named->function,
		.inlined = named->inlined,
		.line = named->line,
		.generation = g->section->generation,
		.bytes = bytes,
		.insns = n,
		.isa = run->isa,
		.branch = first + n == run->insns ? run->branch
						  : HWTD_BRANCH_NONE,
	};

	return (hwtdi_profile_add_code(c->p, &code,
	    c->lengths + g->lengths + first, err));
}

/* Of each instruction there is an answer, from `asked` on. */
static int
add_pieces(struct hwtdi_profile_coder *c, struct coding *g,
    struct hwtdi_profile_ask *answers, size_t asked, struct hwtd_error *err)
{
	const uint8_t *lengths = c->lengths + g->lengths;
	struct hwtdi_profile_named last = { HWTD_NO_ID, HWTD_NO_ID,
		HWTD_NO_ID };
	uint64_t off = 0, begin_off = 0;
	uint32_t begin = 0;
	int rc = HWTD_OK;

	for (uint32_t i = 0; i < g->run->insns && rc == HWTD_OK; i++) {
		struct hwtdi_profile_named named;

		rc = name_symbol(c, g->section, &answers->where[asked + i],
		    &answers->symbols[asked + i], &named, err);
		if (rc == HWTD_OK && i > 0 && !is_same(&named, &last)) {
			rc = add_piece(c, g, &last, begin, i - begin,
			    begin_off, (uint32_t)(off - begin_off), err);
			begin = i;
			begin_off = off;
		}
		if (i == 0)
			g->first = named.function;
		last = named;
		off += lengths[i];
	}
	g->last = last.function;
	return (rc == HWTD_OK
		? add_piece(c, g, &last, begin, g->run->insns - begin,
		      begin_off, (uint32_t)(off - begin_off), err)
		: rc);
}

static int
put_each(struct hwtdi_profile_coder *c, const struct coding *g,
    struct hwtdi_profile_ask *ask, struct hwtd_error *err)
{
	uint64_t address = g->run->address;
	int rc = HWTD_OK;

	for (uint32_t i = 0; i < g->run->insns && rc == HWTD_OK; i++) {
		rc = put_where(c, ask, g->run->section, address, err);
		address += c->lengths[g->lengths + i];
	}
	return (rc);
}

static int
put_ends(struct hwtdi_profile_coder *c, const struct coding *g,
    struct hwtd_error *err)
{
	const struct hwtd_run *run = g->run;
	int rc = put_where(c, &c->some, run->section, run->address, err);

	if (rc == HWTD_OK && run->insns > 1)
		rc = put_where(c, &c->some, run->section,
		    run->address + run->bytes -
			c->lengths[g->lengths + run->insns - 1],
		    err);
	return (rc);
}

/* Of both ends there are answers; where these differ all is asked for. */
static int
add_whole(struct hwtdi_profile_coder *c, struct coding *g,
    struct hwtd_error *err)
{
	struct hwtdi_profile_named named[2] = {
		{ HWTD_NO_ID, HWTD_NO_ID, HWTD_NO_ID },
	};
	const size_t n = c->symbolizer == NULL ? 0 : g->run->insns > 1 ? 2 : 1;
	int rc = HWTD_OK;

	for (size_t i = 0; i < n && rc == HWTD_OK; i++)
		rc = name_symbol(c, g->section, &c->some.where[g->asked + i],
		    &c->some.symbols[g->asked + i], &named[i], err);
	if (rc != HWTD_OK)
		return (rc);
	if (n > 1 && !is_same(&named[0], &named[1])) {
		c->each.n = 0;
		rc = put_each(c, g, &c->each, err);
		if (rc == HWTD_OK)
			rc = ask(c, &c->each, err);
		return (rc == HWTD_OK ? add_pieces(c, g, &c->each, 0, err)
				      : rc);
	}
	g->first = g->last = named[0].function;
	return (add_piece(c, g, &named[0], 0, g->run->insns, 0, g->run->bytes,
	    err));
}

/* What has to be known of a run, and what is to be asked. */
static int
prepare(struct hwtdi_profile_coder *c, struct coding *g,
    struct hwtd_error *err)
{
	struct hwtdi_profile_section *section;
	int rc;

	g->first = g->last = HWTD_NO_ID;
	g->section = NULL;
	rc = hwtdi_profile_names_section(&c->names, g->run->section, &section,
	    err);
	if (rc != HWTD_OK || section == NULL || g->run->insns == 0)
		return (rc);
	g->section = section;
	g->lengths = c->n_lengths;
	g->asked = c->some.n;
	rc = find_lengths(c, g->run, err);
	if (rc != HWTD_OK || c->symbolizer == NULL)
		return (rc);
	return (c->with_lines ? put_each(c, g, &c->some, err)
			      : put_ends(c, g, err));
}

static int
add_some(struct hwtdi_profile_coder *c, const struct hwtd_run *runs, size_t n,
    uint32_t *firsts, uint32_t *lasts, struct hwtd_error *err)
{
	struct coding some[HWTDI_PROFILE_RUNS_AT_ONCE];
	int rc = HWTD_OK;

	c->n_lengths = c->some.n = 0;
	for (size_t i = 0; i < n && rc == HWTD_OK; i++) {
		some[i].run = &runs[i];
		rc = prepare(c, &some[i], err);
	}
	if (rc == HWTD_OK)
		rc = ask(c, &c->some, err);
	for (size_t i = 0; i < n && rc == HWTD_OK; i++) {
		struct coding *g = &some[i];

		if (g->section != NULL)
			rc = c->with_lines && c->symbolizer != NULL
			    ? add_pieces(c, g, &c->some, g->asked, err)
			    : add_whole(c, g, err);
		firsts[i] = g->first;
		lasts[i] = g->last;
	}
	return (rc);
}

int
hwtdi_profile_coder_add(struct hwtdi_profile_coder *c,
    const struct hwtd_run *runs, size_t n, uint32_t *firsts, uint32_t *lasts,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t at = 0; at < n && rc == HWTD_OK;
	     at += HWTDI_PROFILE_RUNS_AT_ONCE)
		rc = add_some(c, runs + at,
		    n - at < HWTDI_PROFILE_RUNS_AT_ONCE
			? n - at
			: HWTDI_PROFILE_RUNS_AT_ONCE,
		    firsts + at, lasts + at, err);
	return (rc);
}
