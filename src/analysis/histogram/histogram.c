/*
 * Histograms of calls: what rows of calls are worth, and whose they are.
 */
#include <string.h>

#include "analysis/calls/call_functions.h"
#include "analysis/calls/call_source.h"
#include "analysis/histogram/histogram_store.h"
#include "base/fail.h"

#define ROWS_AT_ONCE 512

/* Functions. */

/* Where it lies: in its file, if there is one, so that other runs have it too. */
static int
place_of(struct hwtd_histogram *h, const struct hwtd_call_function *f,
    struct hwtdi_histogram_place *out, struct hwtd_error *err)
{
	struct hwtd_section section = { .size = sizeof(section) };
	const char *image = f->image;
	int rc;

	if ((f->flags & HWTD_CALL_FUNCTIONF_ADDRESS) != 0) {
		out->flags = HWTD_HISTOGRAM_ROWF_ADDRESS;
		out->address = f->address;
	}
	if (out->flags != 0 && h->trace != NULL && f->section != HWTD_NO_ID &&
	    hwtd_trace_section(h->trace, f->section, &section) == HWTD_OK) {
		out->flags = HWTD_HISTOGRAM_ROWF_FILE_OFF;
		out->address = f->address - section.address + section.file_off;
		if (image == NULL)
			image = section.path;
	}
	rc = hwtdi_text_pool_add(&h->names, h->library, f->name, &out->name,
	    err);
	return (rc != HWTD_OK ? rc
			      : hwtdi_text_pool_add(&h->names, h->library,
				    image, &out->image, err));
}

static void
choose(const struct hwtd_histogram *h, struct hwtdi_histogram_function *f,
    const char *text)
{
	f->chosen = h->function == NULL ||
	    hwtdi_histogram_matches(h->function, text);
	f->chosen_to = h->to != NULL && hwtdi_histogram_matches(h->to, text);
}

/* A number as text: 0x and digits. */
static void
hex_text(char text[19], uint64_t value)
{
	static const char digits[] = "0123456789abcdef";
	size_t n = 1, at = 2;

	while (n < 16 && value >> (4 * n) != 0)
		n++;
	text[0] = '0';
	text[1] = 'x';
	while (n-- > 0)
		text[at++] = digits[value >> (4 * n) & 15];
	text[at] = '\0';
}

static int
look_up(struct hwtd_histogram *h, uint32_t function,
    struct hwtdi_histogram_function *out, struct hwtd_error *err)
{
	struct hwtd_call_function f = { .size = sizeof(f) };
	char text[19] = "[unknown]";
	int rc;

	rc = hwtd_calls_function(h->calls, function, &f);
	if (rc != HWTD_OK)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "function %u is not one of the calls", function));
	rc = place_of(h, &f, &out->place, err);
	if (rc != HWTD_OK)
		return (rc);
	if ((f.flags & HWTD_CALL_FUNCTIONF_ADDRESS) != 0)
		hex_text(text, f.address);
	choose(h, out, f.name != NULL ? f.name : text);
	out->known = true;
	return (HWTD_OK);
}

static void
look_up_nameless(struct hwtd_histogram *h, uint32_t type,
    struct hwtdi_histogram_function *out)
{
	const bool untraced = type < HWTD_CALL_TYPES;

	out->place = (struct hwtdi_histogram_place){ .flags = untraced
		    ? HWTD_HISTOGRAM_ROWF_UNTRACED
		    : 0,
		.type = untraced ? type : 0 };
	choose(h, out,
	    !untraced				   ? "[unknown]"
		: type == HWTD_CALL_TYPE_SYSCALL   ? "[syscall]"
		: type == HWTD_CALL_TYPE_INTERRUPT ? "[interrupt]"
		: type == HWTD_CALL_TYPE_EXCEPTION ? "[exception]"
						   : "[untraced]");
	out->known = true;
}

/* Borrowed until the next one. */
static int
function_of(struct hwtd_histogram *h, const struct hwtd_call *row,
    struct hwtdi_histogram_function **out, struct hwtd_error *err)
{
	const size_t no = row->function;
	int rc;

	if (row->function == HWTD_NO_ID) {
		const uint32_t type = (row->flags & HWTD_CALLF_UNTRACED) !=
			    0 &&
			row->type < HWTD_CALL_TYPES
		    ? row->type
		    : HWTD_CALL_TYPES;

		*out = &h->nameless[type];
		if (!(*out)->known)
			look_up_nameless(h, type, *out);
		return (HWTD_OK);
	}
	if (no >= h->n_functions) {
		rc = hwtdi_array_grow(h->library, &h->functions,
		    &h->cap_functions, no + 1, sizeof(*h->functions), err);
		if (rc != HWTD_OK)
			return (rc);
		memset(h->functions + h->n_functions, 0,
		    (no + 1 - h->n_functions) * sizeof(*h->functions));
		h->n_functions = no + 1;
	}
	*out = &h->functions[no];
	return ((*out)->known ? HWTD_OK
			      : look_up(h, row->function, *out, err));
}

/* Values of calls. */

static bool
is_time(uint32_t value)
{
	return (value == HWTD_HISTOGRAM_TIME ||
	    value == HWTD_HISTOGRAM_RUNNING || value == HWTD_HISTOGRAM_SELF ||
	    value == HWTD_HISTOGRAM_BETWEEN);
}

static uint64_t
value_of(uint32_t value, const struct hwtd_call *row)
{
	switch (value) {
	case HWTD_HISTOGRAM_TIME:
		return (row->end_ns - row->begin_ns);
	case HWTD_HISTOGRAM_RUNNING:
		return (row->ns);
	case HWTD_HISTOGRAM_SELF:
		return (row->self_ns);
	case HWTD_HISTOGRAM_CYCLES:
		return (row->cycles);
	case HWTD_HISTOGRAM_SELF_CYCLES:
		return (row->self_cycles);
	case HWTD_HISTOGRAM_INSNS:
		return (row->insns);
	default:
		return (row->self_insns);
	}
}

/* What was executed and not traced, or is of text, has no instructions. */
static bool
is_known(const struct hwtd_histogram *h, const struct hwtd_call *row)
{
	const uint32_t times = HWTD_CALLF_BEGIN_TIME | HWTD_CALLF_END_TIME;

	switch (h->value) {
	case HWTD_HISTOGRAM_CYCLES:
	case HWTD_HISTOGRAM_SELF_CYCLES:
		return ((row->flags & HWTD_CALLF_CYCLES) != 0);
	case HWTD_HISTOGRAM_INSNS:
	case HWTD_HISTOGRAM_SELF_INSNS:
		return (h->trace != NULL &&
		    (row->flags & HWTD_CALLF_UNTRACED) == 0);
	default:
		return ((row->flags & times) == times &&
		    row->begin_ns <= row->end_ns);
	}
}

static enum hwtdi_histogram_worth
worth_of(const struct hwtd_histogram *h, const struct hwtd_call *row)
{
	if (!hwtdi_call_was_seen(row))
		return (HWTDI_WORTH_UNSEEN);
	if (hwtdi_call_has_gap(row))
		return (HWTDI_WORTH_GAPPED);
	if (h->value == HWTD_HISTOGRAM_TIME &&
	    (row->flags & HWTD_CALLF_SWITCHED) != 0)
		return (HWTDI_WORTH_SWITCHED);
	if (!is_known(h, row))
		return (HWTDI_WORTH_UNKNOWN);
	if (!is_time(h->value))
		return (HWTDI_WORTH_EXACT);
	if ((row->flags &
		(HWTD_CALLF_BEGIN_ESTIMATED | HWTD_CALLF_END_ESTIMATED)) != 0)
		return (HWTDI_WORTH_ESTIMATED);
	if ((row->flags &
		(HWTD_CALLF_BEGIN_INTERPOLATED |
		    HWTD_CALLF_END_INTERPOLATED)) != 0)
		return (HWTDI_WORTH_INTERPOLATED);
	return (HWTDI_WORTH_EXACT);
}

static int
add_call(struct hwtd_histogram *h, const struct hwtd_call *row,
    struct hwtd_error *err)
{
	struct hwtdi_histogram_function *f;
	int rc = function_of(h, row, &f, err);

	if (rc != HWTD_OK || !f->chosen)
		return (rc);
	if (f->row_plus_1 == 0) {
		const struct hwtdi_histogram_key key = { .at = f->place };
		size_t no = 0;

		rc = hwtdi_histogram_row(h, &key, &no, err);
		if (rc != HWTD_OK)
			return (rc);
		f->row_plus_1 = no + 1;
	}
	return (hwtdi_histogram_put(h, f->row_plus_1 - 1,
	    value_of(h->value, row), worth_of(h, row), err));
}

/* From one function to another one. */

static int
thread_of(struct hwtd_histogram *h, uint32_t no,
    struct hwtdi_histogram_thread **out, struct hwtd_error *err)
{
	const size_t need = (size_t)no + 1;

	if (need > h->n_threads) {
		const int rc = hwtdi_array_grow(h->library, &h->threads,
		    &h->cap_threads, need, sizeof(*h->threads), err);

		if (rc != HWTD_OK)
			return (rc);
		memset(h->threads + h->n_threads, 0,
		    (need - h->n_threads) * sizeof(*h->threads));
		h->n_threads = need;
	}
	*out = &h->threads[no];
	return (HWTD_OK);
}

static int
arrive(struct hwtd_histogram *h, struct hwtdi_histogram_thread *thread,
    const struct hwtdi_histogram_place *to, const struct hwtd_call *row,
    struct hwtd_error *err)
{
	const struct hwtdi_histogram_key key = { .at = thread->from,
		.to = *to };
	const uint32_t both = thread->flags & row->flags;
	const uint32_t either = thread->flags | row->flags;
	enum hwtdi_histogram_worth worth = HWTDI_WORTH_EXACT;
	size_t no = 0;
	int rc = hwtdi_histogram_row(h, &key, &no, err);

	if (rc != HWTD_OK)
		return (rc);
	thread->open = false;
	if (thread->gapped)
		worth = HWTDI_WORTH_GAPPED;
	else if ((both & HWTD_CALLF_BEGIN_TIME) == 0 ||
	    row->begin_ns < thread->begin_ns)
		worth = HWTDI_WORTH_UNKNOWN;
	else if ((either & HWTD_CALLF_BEGIN_ESTIMATED) != 0)
		worth = HWTDI_WORTH_ESTIMATED;
	else if ((either & HWTD_CALLF_BEGIN_INTERPOLATED) != 0)
		worth = HWTDI_WORTH_INTERPOLATED;
	return (hwtdi_histogram_put(h, no, row->begin_ns - thread->begin_ns,
	    worth, err));
}

/* Where a call was found running nobody came to it. */
static bool
came_to(const struct hwtd_call *row)
{
	return (row->type != HWTD_CALL_TYPE_FOUND &&
	    (row->flags &
		(HWTD_CALLF_BEGAN_BEFORE | HWTD_CALLF_BEGAN_UNSEEN)) == 0);
}

static int
add_way(struct hwtd_histogram *h, const struct hwtd_call *row,
    struct hwtd_error *err)
{
	struct hwtdi_histogram_thread *thread;
	struct hwtdi_histogram_function *f;
	int rc = thread_of(h, row->thread, &thread, err);

	if (rc != HWTD_OK)
		return (rc);
	if (row->kind == HWTD_CALL_GAP) {
		thread->gapped = true;
		return (HWTD_OK);
	}
	if (row->kind != HWTD_CALL_ENTER || !came_to(row))
		return (HWTD_OK);
	rc = function_of(h, row, &f, err);
	if (rc == HWTD_OK && f->chosen_to && thread->open)
		rc = arrive(h, thread, &f->place, row, err);
	if (rc != HWTD_OK || !f->chosen)
		return (rc);
	h->info.restarted += thread->open;
	*thread = (struct hwtdi_histogram_thread){ .open = true,
		.flags = row->flags,
		.begin_ns = row->begin_ns,
		.from = f->place };
	return (HWTD_OK);
}

/* Reading calls. */

static int
begin(struct hwtd_histogram *h, struct hwtd_calls *calls,
    struct hwtd_error *err)
{
	const uint32_t want = HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS;
	struct hwtd_calls_info info = { .size = sizeof(info) };

	(void)hwtd_calls_info(calls, &info);
	if (h->calls == calls && info.calls >= h->seen_calls &&
	    info.n_functions >= h->n_functions)
		return (HWTD_OK);
	if (h->calls != NULL)
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "other calls are not at their end"));
	if (h->value == HWTD_HISTOGRAM_BETWEEN &&
	    (hwtdi_calls_flags(calls) & want) != want)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "calls without rows of begins and gaps, flags %#x",
		    hwtdi_calls_flags(calls)));
	if (info.calls != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "of the calls some were read already"));
	h->rows = hwtdi_alloc(h->library, ROWS_AT_ONCE * sizeof(*h->rows));
	if (h->rows == NULL)
		return (hwtdi_fail_nomem(err,
		    ROWS_AT_ONCE * sizeof(*h->rows)));
	h->calls = hwtdi_calls_hold(calls);
	h->trace = hwtdi_calls_trace(calls);
	return (HWTD_OK);
}

void
hwtdi_histogram_end_calls(struct hwtd_histogram *h)
{
	hwtdi_free(h->library, h->rows, ROWS_AT_ONCE * sizeof(*h->rows));
	hwtdi_array_free(h->library, h->functions, h->cap_functions,
	    sizeof(*h->functions));
	hwtdi_array_free(h->library, h->threads, h->cap_threads,
	    sizeof(*h->threads));
	memset(h->nameless, 0, sizeof(h->nameless));
	h->rows = NULL;
	h->functions = NULL;
	h->n_functions = h->cap_functions = 0;
	h->threads = NULL;
	h->n_threads = h->cap_threads = 0;
	hwtd_calls_close(h->calls);
	h->calls = NULL;
	h->trace = NULL;
	h->seen_calls = 0;
	memset(&h->reading, 0, sizeof(h->reading));
}

static void
finish(struct hwtd_histogram *h)
{
	for (size_t i = 0; i < h->n_threads; i++)
		h->info.unfinished += h->threads[i].open;
	hwtdi_histogram_add_reading(h, &h->info);
	hwtdi_histogram_end_calls(h);
}

static int
add_rows(struct hwtd_histogram *h, struct hwtd_calls *calls,
    struct hwtd_error *err)
{
	struct hwtd_call_batch batch = { .size = sizeof(batch),
		.calls = h->rows,
		.stride = sizeof(*h->rows),
		.cap = ROWS_AT_ONCE };
	struct hwtd_calls_info info = { .size = sizeof(info) };
	int rc = hwtd_calls_read(calls, &batch, err);

	if (hwtd_calls_info(calls, &info) == HWTD_OK)
		h->reading = info;
	if (rc != HWTD_OK)
		return (rc);
	for (size_t i = 0; rc == HWTD_OK && i < batch.n; i++) {
		if (h->value == HWTD_HISTOGRAM_BETWEEN)
			rc = add_way(h, &h->rows[i], err);
		else if (h->rows[i].kind == HWTD_CALL_LEAVE)
			rc = add_call(h, &h->rows[i], err);
	}
	h->seen_calls = info.calls;
	return (rc);
}

int
hwtd_histogram_add_calls(struct hwtd_histogram *histogram,
    struct hwtd_calls *calls, struct hwtd_error *err)
{
	int rc;

	if (histogram == NULL || calls == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no histogram or calls"));
	if (histogram->failed)
		return (hwtdi_fail(err, HWTD_E_STATE, "adding failed"));
	rc = begin(histogram, calls, err);
	/* What is wrong with the calls does no harm yet. */
	if (rc != HWTD_OK)
		return (rc);
	histogram->sorted = false;
	rc = add_rows(histogram, calls, err);
	if (rc == HWTD_END)
		finish(histogram);
	histogram->failed = rc < 0;
	return (rc);
}
