/*
 * Calls go into a profile: rows become trees of stacks, with functions by
 * content.
 */
#include <string.h>

#include "analysis/calls/call_source.h"
#include "analysis/profile/profile_names.h"
#include "analysis/profile/profile_stacks.h"
#include "base/fail.h"

#define ROWS_AT_ONCE 1024u
#define SPARE_NODES 64u

/* A thread of calls. */
struct caller {
	bool known;
	/* Of the profile. */
	uint32_t thread, root;
	struct hwtdi_profile_stack *stacks;
	size_t n_stacks, cap_stacks;
	/* Index of the one that rows were of last. */
	size_t last;
	/* Of its idle time, what was in gaps. */
	uint64_t gap_ns;
};

struct adding {
	struct hwtdi_profile_adding head;
	struct hwtd_calls *calls;
	struct hwtdi_profile_names names;
	/* With lines; else that of the calls. */
	struct hwtd_symbolizer *symbolizer;
	struct caller *threads;
	size_t n_threads, cap_threads;
	/* Of calls, as the profile has them, + 1; 0: not known yet. */
	uint32_t *functions;
	size_t n_functions, cap_functions;
	/* Of the calls so far: how well their times are known. */
	struct hwtd_profile_seen seen;
	struct hwtd_call rows[ROWS_AT_ONCE];
};

/* Functions. */

static int
find_text_function(struct hwtd_profile *p, const struct hwtd_call_function *f,
    uint32_t *no_out, struct hwtd_error *err)
{
	struct hwtd_profile_function what = { .size = sizeof(what),
		.name = f->name,
		.image = HWTD_NO_ID,
		.bytes = f->bytes };
	struct hwtd_profile_image image = { .size = sizeof(image),
		.name = f->image,
		.flags = HWTD_PROFILE_IMAGEF_ADDRESSES };
	int rc = HWTD_OK;

	if (f->image != NULL)
		rc = hwtdi_profile_add_image(p, &image, &what.image, err);
	if ((f->flags & HWTD_CALL_FUNCTIONF_ADDRESS) != 0) {
		what.flags = HWTD_PROFILE_FUNCTIONF_ADDRESS;
		what.file_off = f->address;
	}
	return (rc == HWTD_OK
		? hwtdi_profile_add_function(p, &what, no_out, err)
		: rc);
}

/* As runs name it, where the same symbol is found; else as calls do. */
static int
find_symbol(struct adding *a, const struct hwtdi_profile_section *section,
    const struct hwtd_call_function *f, uint32_t *no_out,
    struct hwtd_error *err)
{
	const struct hwtd_where where = { .flags = HWTD_WHERE_SECTION,
		.section = f->section,
		.address = f->address };
	struct hwtd_symbolizer *symbolizer = a->symbolizer != NULL
	    ? a->symbolizer
	    : hwtdi_calls_symbolizer(a->calls);
	struct hwtd_symbol symbol = { .image = HWTD_NO_ID };
	int rc = HWTD_OK;

	if (symbolizer != NULL && f->name != NULL)
		rc = hwtd_symbolize(symbolizer, &where, sizeof(where), 1,
		    &symbol, sizeof(symbol), err);
	if (rc != HWTD_OK)
		return (rc);
	if (symbol.text == NULL || strcmp(symbol.text, f->name) != 0 ||
	    symbol.offset != 0)
		symbol = (struct hwtd_symbol){ .text = f->name,
			.symbol_size = f->bytes };
	if (symbol.text != NULL)
		return (hwtdi_profile_names_function(&a->names, section,
		    f->address, &symbol, no_out, err));
	return (hwtdi_profile_names_unnamed(&a->names, section, f->address,
	    no_out, err));
}

static int
find_function(struct adding *a, struct hwtd_profile *p, uint32_t function,
    uint32_t *no_out, struct hwtd_error *err)
{
	struct hwtd_call_function f = { .size = sizeof(f) };
	struct hwtdi_profile_section *section = NULL;
	int rc = HWTD_OK;

	*no_out = HWTD_NO_ID;
	if (hwtd_calls_function(a->calls, function, &f) != HWTD_OK)
		return (HWTD_OK);
	if (function >= a->n_functions) {
		rc = hwtdi_array_grow(p->library, &a->functions,
		    &a->cap_functions, (size_t)function + 1,
		    sizeof(*a->functions), err);
		if (rc != HWTD_OK)
			return (rc);
		memset(a->functions + a->n_functions, 0,
		    (function + 1 - a->n_functions) * sizeof(*a->functions));
		a->n_functions = (size_t)function + 1;
	}
	if (a->functions[function] != 0) {
		*no_out = a->functions[function] - 1;
		return (HWTD_OK);
	}
	if (f.section != HWTD_NO_ID)
		rc = hwtdi_profile_names_section(&a->names, f.section,
		    &section, err);
	if (rc == HWTD_OK)
		rc = section != NULL ? find_symbol(a, section, &f, no_out, err)
				     : find_text_function(p, &f, no_out, err);
	if (rc == HWTD_OK)
		a->functions[function] = *no_out + 1;
	return (rc);
}

/* Threads and their stacks. */

static int
find_thread(struct adding *a, struct hwtd_profile *p, uint32_t no,
    struct caller **out, struct hwtd_error *err)
{
	struct hwtd_profile_thread thread = { .size = sizeof(thread) };
	struct hwtd_call_thread t = { .size = sizeof(t) };
	struct caller *c;
	int rc;

	if (no >= a->n_threads) {
		rc = hwtdi_array_grow(p->library, &a->threads, &a->cap_threads,
		    (size_t)no + 1, sizeof(*a->threads), err);
		if (rc != HWTD_OK)
			return (rc);
		memset(a->threads + a->n_threads, 0,
		    (no + 1 - a->n_threads) * sizeof(*a->threads));
		a->n_threads = (size_t)no + 1;
	}
	*out = c = &a->threads[no];
	if (c->known)
		return (HWTD_OK);
	(void)hwtd_calls_thread(a->calls, no, &t);
	thread.pid = t.pid;
	thread.tid = t.tid;
	thread.stream = t.stream;
	rc = hwtdi_profile_add_thread(p, &thread, &c->thread, err);
	if (rc == HWTD_OK)
		rc = hwtdi_profile_add_root(p, c->thread, &c->root, err);
	c->known = rc == HWTD_OK;
	return (rc);
}

/* Rows are of another stack: one that has no calls is over. */
static int
change_stack(struct hwtd_profile *p, struct caller *c, uint32_t id,
    struct hwtd_error *err)
{
	size_t at = c->n_stacks, unused = c->n_stacks;
	int rc;

	if (c->last < c->n_stacks && c->stacks[c->last].n_open == 0) {
		rc = hwtdi_profile_stack_end(&c->stacks[c->last], p, c->root,
		    err);
		if (rc != HWTD_OK)
			return (rc);
	}
	for (size_t i = 0; i < c->n_stacks; i++) {
		if (!c->stacks[i].used)
			unused = i;
		else if (c->stacks[i].id == id)
			at = i;
	}
	c->last = at < c->n_stacks ? at : unused;
	if (at < c->n_stacks)
		return (HWTD_OK);
	if (unused == c->n_stacks) {
		rc = hwtdi_array_grow(p->library, &c->stacks, &c->cap_stacks,
		    c->n_stacks + 1, sizeof(*c->stacks), err);
		if (rc != HWTD_OK)
			return (rc);
		memset(&c->stacks[c->n_stacks++], 0, sizeof(*c->stacks));
	}
	return (hwtdi_profile_stack_begin(&c->stacks[c->last], p, id, err));
}

static int
find_stack(struct hwtd_profile *p, struct caller *c, uint32_t id,
    struct hwtdi_profile_stack **out, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (c->last >= c->n_stacks || !c->stacks[c->last].used ||
	    c->stacks[c->last].id != id)
		rc = change_stack(p, c, id, err);
	*out = rc == HWTD_OK ? &c->stacks[c->last] : NULL;
	return (rc);
}

/* Rows. */

static int
enter(struct adding *a, struct hwtd_profile *p, struct caller *c,
    struct hwtdi_profile_stack *s, const struct hwtd_call *row,
    struct hwtd_error *err)
{
	struct hwtdi_profile_tree_node node = { .type = row->type };
	int rc = find_function(a, p, row->function, &node.function, err);

	/* Those of calls that are open stay, so there are as many again first. */
	if (rc == HWTD_OK &&
	    s->n_nodes >= SPARE_NODES + p->options.max_nodes + 2 * s->n_open)
		rc = hwtdi_profile_stack_spill(s, p, c->root, err);
	return (rc == HWTD_OK
		? hwtdi_profile_stack_enter(s, p, &node,
		      (row->flags & HWTD_CALLF_BEGAN_BEFORE) != 0, err)
		: rc);
}

static void
leave(struct hwtdi_profile_stack *s, const struct hwtd_call *row)
{
	const struct hwtd_profile_sums sums = { .calls = 1,
		.insns = row->self_insns,
		.cycles = row->self_cycles,
		.ns = row->self_ns,
		.gap_ns = row->self_gap_ns,
		.off_ns = row->self_off_ns,
		.gap_bytes = row->gap_bytes,
		.gaps = row->gaps };

	hwtdi_profile_stack_leave(s, &sums,
	    (row->flags & HWTD_CALLF_UNTRACED) != 0
		? HWTD_PROFILE_NODEF_UNTRACED
		: 0);
}

static void
count_times(struct hwtd_profile_seen *seen, const struct hwtd_call *row)
{
	const uint32_t timed = HWTD_CALLF_BEGIN_TIME | HWTD_CALLF_END_TIME;

	if ((row->flags & timed) != timed)
		return;
	seen->timed_calls++;
	if ((row->flags &
		(HWTD_CALLF_BEGIN_ESTIMATED | HWTD_CALLF_END_ESTIMATED)) != 0)
		seen->estimated_calls++;
	else if ((row->flags &
		     (HWTD_CALLF_BEGIN_INTERPOLATED |
			 HWTD_CALLF_END_INTERPOLATED)) != 0)
		seen->interpolated_calls++;
}

/* While no call runs gaps are those of what is around all. */
static int
add_gap(struct hwtd_profile *p, struct caller *c, const struct hwtd_call *row,
    struct hwtd_error *err)
{
	const struct hwtd_profile_node root = {
		.parent = HWTD_NO_ID,
		.function = HWTD_NO_ID,
		.thread = c->thread,
		.self = { .gap_ns = row->self_gap_ns,
		    .gap_bytes = row->gap_bytes,
		    .gaps = row->gaps },
	};
	uint32_t no;

	c->gap_ns = hwtdi_profile_sum(c->gap_ns, row->self_gap_ns);
	return (hwtdi_profile_add_node(p, &root, &no, err));
}

static int
add_row(struct adding *a, struct hwtd_profile *p, const struct hwtd_call *row,
    struct hwtd_error *err)
{
	struct hwtdi_profile_stack *s;
	struct caller *c;
	int rc;

	rc = find_thread(a, p, row->thread, &c, err);
	if (rc == HWTD_OK)
		rc = find_stack(p, c, row->stack, &s, err);
	if (rc != HWTD_OK)
		return (rc);
	switch (row->kind) {
	case HWTD_CALL_ENTER:
		return (enter(a, p, c, s, row, err));
	case HWTD_CALL_LEAVE:
		leave(s, row);
		count_times(&a->seen, row);
		return (HWTD_OK);
	case HWTD_CALL_GAP:
		return (s->n_open == 0 ? add_gap(p, c, row, err) : HWTD_OK);
	default:
		return (HWTD_OK);
	}
}

/* Beginning and ending. */

static void
drop(struct adding *a, struct hwtd_context *library)
{
	for (size_t i = 0; i < a->n_threads; i++) {
		struct caller *c = &a->threads[i];

		for (size_t k = 0; k < c->n_stacks; k++)
			hwtdi_profile_stack_fini(&c->stacks[k], library);
		hwtdi_array_free(library, c->stacks, c->cap_stacks,
		    sizeof(*c->stacks));
	}
	hwtdi_array_free(library, a->threads, a->cap_threads,
	    sizeof(*a->threads));
	hwtdi_array_free(library, a->functions, a->cap_functions,
	    sizeof(*a->functions));
	hwtdi_profile_names_fini(&a->names);
	hwtd_symbolizer_close(a->symbolizer);
	hwtd_calls_close(a->calls);
	hwtdi_free(library, a, sizeof(*a));
}

static void
add_seen(struct adding *a, struct hwtd_profile *p)
{
	struct hwtd_profile_seen *seen = &a->seen;
	struct hwtd_calls_info info = { .size = sizeof(info) };

	if (hwtd_calls_info(a->calls, &info) != HWTD_OK)
		return;
	seen->added = 1;
	seen->bytes = info.bytes;
	seen->insns = info.insns;
	seen->gap_bytes = info.gap_bytes;
	seen->file_gap_bytes = info.file_gap_bytes;
	memcpy(seen->gaps, info.gaps, sizeof(seen->gaps));
	hwtdi_profile_add_seen(p, HWTD_PROFILE_CALLS, seen);
}

static int
keep_thread(struct adding *a, struct hwtd_profile *p, uint32_t no,
    struct hwtd_error *err)
{
	struct hwtd_call_thread t = { .size = sizeof(t) };
	struct caller *c = &a->threads[no];
	int rc = HWTD_OK;

	if (!c->known)
		return (HWTD_OK);
	for (size_t i = 0; i < c->n_stacks && rc == HWTD_OK; i++)
		rc = hwtdi_profile_stack_end(&c->stacks[i], p, c->root, err);
	if (rc != HWTD_OK || hwtd_calls_thread(a->calls, no, &t) != HWTD_OK)
		return (rc);
	if (t.idle_ns > c->gap_ns)
		p->threads[c->thread]
		    .idle_ns = hwtdi_profile_sum(p->threads[c->thread].idle_ns,
		    t.idle_ns - c->gap_ns);
	return (HWTD_OK);
}

static int
end(struct hwtd_profile *p, struct hwtdi_profile_adding *head, bool keep,
    struct hwtd_error *err)
{
	struct adding *a = (struct adding *)(void *)head;
	int rc = HWTD_OK;

	for (size_t i = 0; i < a->n_threads && rc == HWTD_OK && keep; i++)
		rc = keep_thread(a, p, (uint32_t)i, err);
	if (rc == HWTD_OK && keep) {
		rc = hwtdi_profile_names_threads(&a->names, err);
		add_seen(a, p);
	}
	drop(a, p->library);
	return (rc);
}

static int
begin(struct hwtd_profile *p, struct hwtd_calls *calls, struct hwtd_error *err)
{
	const uint32_t needed = HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS;
	struct hwtd_trace *trace = hwtdi_calls_trace(calls);
	struct adding *a;
	int rc;

	if ((hwtdi_calls_flags(calls) & needed) != needed)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "a profile needs calls with HWTD_CALLS_ENTERS and "
		    "HWTD_CALLS_GAPS"));
	if (hwtdi_calls_begun(calls))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "some calls were read already"));
	a = hwtdi_zalloc(p->library, sizeof(*a));
	if (a == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*a)));
	a->head.by = calls;
	a->head.end = end;
	a->calls = hwtdi_calls_hold(calls);
	rc = hwtdi_profile_names_init(&a->names, p, trace, err);
	if (rc == HWTD_OK && trace != NULL &&
	    (p->options.flags & HWTD_PROFILE_LINES) != 0 &&
	    hwtdi_calls_symbolizer(calls) != NULL)
		rc = hwtd_symbolizer_open(trace, NULL, &a->symbolizer, err);
	if (rc != HWTD_OK) {
		drop(a, p->library);
		return (rc);
	}
	p->adding = &a->head;
	return (HWTD_OK);
}

static int
work(struct hwtd_profile *p, struct adding *a, struct hwtd_error *err)
{
	struct hwtd_call_batch batch = { .size = sizeof(batch),
		.calls = a->rows,
		.stride = sizeof(a->rows[0]),
		.cap = ROWS_AT_ONCE };
	int rc = hwtd_calls_read(a->calls, &batch, err);

	for (size_t i = 0; i < batch.n && rc == HWTD_OK; i++)
		rc = add_row(a, p, &a->rows[i], err);
	if (rc != HWTD_END)
		return (rc);
	p->adding = NULL;
	rc = end(p, &a->head, true, err);
	return (rc == HWTD_OK ? HWTD_END : rc);
}

int
hwtd_profile_add_calls(struct hwtd_profile *p, struct hwtd_calls *calls,
    struct hwtd_error *err)
{
	int rc;

	if (p == NULL || calls == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no profile or no calls"));
	rc = hwtdi_profile_begin(p, calls, err);
	if (rc == HWTD_OK && p->adding == NULL)
		rc = begin(p, calls, err);
	if (rc != HWTD_OK)
		return (rc);
	rc = work(p, (struct adding *)(void *)p->adding, err);
	p->failed = rc < 0;
	return (rc);
}
