/*
 * Lines of text to transfers of control.
 */
#include "analysis/calls/call_text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/regular_file.h"

/* Bytes of a line; longer ones are none that is known. */
#define LINE_MAX_BYTES ((size_t)64 << 10)
#define BUFFER_BYTES (4 * LINE_MAX_BYTES)
/* Lines for one call. */
#define LINES_AT_ONCE 1024
/* Among so many at the start there is one that is known. */
#define FIRST_LINES 256

void
hwtdi_call_text_fini(struct hwtdi_call_text *text)
{
	struct hwtd_context *ctx = text->library;

	if (ctx == NULL)
		return;
	for (size_t i = 0; i < text->n_feeds; i++)
		hwtdi_call_feed_fini(&text->feeds[i].feed);
	hwtdi_array_free(ctx, text->feeds, text->cap_feeds,
	    sizeof(*text->feeds));
	hwtdi_array_free(ctx, text->callers, text->cap_callers,
	    sizeof(*text->callers));
	hwtdi_free(ctx, text->bytes, BUFFER_BYTES);
	hwtdi_free(ctx, text->name, 2 * LINE_MAX_BYTES);
	hwtdi_free(ctx, text->event, text->n_event);
	if (text->fd >= 0)
		(void)close(text->fd);
	memset(text, 0, sizeof(*text));
	text->fd = -1;
}

/* Bytes. */

static int
read_more(struct hwtdi_call_text *text, struct hwtd_error *err)
{
	ssize_t got;

	if (text->begin != 0) {
		memmove(text->bytes, text->bytes + text->begin, text->n);
		text->begin = 0;
	}
	do {
		got = read(text->fd, text->bytes + text->n,
		    BUFFER_BYTES - text->n);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return (hwtdi_fail_sys(err, errno, "reading line %llu",
		    (unsigned long long)text->lines + 1));
	text->at_end = got == 0;
	text->n += (size_t)got;
	text->n_bytes += (uint64_t)got;
	return (HWTD_OK);
}

/* The next line, without its newline; HWTD_END: there is none. */
static int
next_line(struct hwtdi_call_text *text, struct hwtdi_text *out,
    struct hwtd_error *err)
{
	int rc;

	for (;;) {
		const char *at = text->bytes + text->begin;
		const char *end = memchr(at, '\n', text->n);
		const size_t n = end != NULL ? (size_t)(end - at) : text->n;
		const bool whole = end != NULL || text->at_end;

		if (text->at_end && text->n == 0)
			return (HWTD_END);
		if (!whole && n < LINE_MAX_BYTES) {
			rc = read_more(text, err);
			if (rc != HWTD_OK)
				return (rc);
			continue;
		}
		*out = (struct hwtdi_text){ at, n };
		text->begin += n + (end != NULL);
		text->n -= n + (end != NULL);
		if (!whole || text->skipping || n >= LINE_MAX_BYTES)
			/* The middle of a long one, or its end. */
			out->n = 0;
		if (whole)
			text->lines++;
		if (!text->skipping && (!whole || n >= LINE_MAX_BYTES)) {
			text->bad_lines++;
			if (text->first_bad_line == 0)
				text->first_bad_line = text->lines + !whole;
		}
		text->skipping = !whole;
		return (HWTD_OK);
	}
}

/* Who and what. */

static int
feed_of(struct hwtdi_call_text *text, const struct hwtdi_text_line *line,
    struct hwtdi_call_feed **out, uint32_t *no_out, struct hwtd_error *err)
{
	const struct hwtdi_call_who who = { .pid = line->pid,
		.tid = line->tid,
		.stream = HWTD_NO_ID };
	int rc = hwtdi_call_threads_find(text->threads, &who, no_out, err);

	if (rc == HWTD_OK && *no_out >= text->n_feeds) {
		rc = hwtdi_array_grow(text->library, &text->feeds,
		    &text->cap_feeds, text->n_feeds + 1, sizeof(*text->feeds),
		    err);
		if (rc != HWTD_OK)
			return (rc);
		memset(&text->feeds[text->n_feeds], 0, sizeof(*text->feeds));
		text->feeds[text->n_feeds].feed.threads = text->threads;
		text->feeds[text->n_feeds++]
		    .feed.interpolate = text->interpolate;
	}
	if (rc == HWTD_OK && line->has_time) {
		text->feeds[*no_out].has_time = true;
		text->feeds[*no_out].last_ns = line->time_ns;
	}
	if (rc == HWTD_OK)
		*out = &text->feeds[*no_out].feed;
	return (rc);
}

/* A copy that ends in NUL; what is behind a NUL of the text does not count. */
static const char *
name_of(const struct hwtdi_text *t, char *to)
{
	memcpy(to, t->at, t->n);
	to[t->n] = '\0';
	return (to);
}

/* The function that a place names; HWTDI_NO_FUNCTION: none. */
static int
function_of(struct hwtdi_call_text *text, const struct hwtdi_text_place *place,
    uint32_t *function_out, uint64_t *first_out, uint32_t *image_out,
    struct hwtd_error *err)
{
	const char *image = NULL;
	uint64_t first = place->address - place->offset;

	*function_out = HWTDI_NO_FUNCTION;
	*first_out = first;
	*image_out = 0;
	if (place->image.n != 0)
		image = name_of(&place->image, text->name + LINE_MAX_BYTES);
	if (place->symbol.n == 0)
		return (hwtdi_text_pool_add(&text->functions->names,
		    text->library, image, image_out, err));
	return (hwtdi_call_functions_named(text->functions,
	    name_of(&place->symbol, text->name), image,
	    place->has_offset ? &first : NULL, function_out, err));
}

static int
step_of(struct hwtdi_call_text *text, const struct hwtdi_text_line *line,
    struct hwtdi_step *out, struct hwtd_error *err)
{
	*out = (struct hwtdi_step){ .time_ns = line->time_ns,
		.flags = line->has_time ? HWTDI_STEP_TIME : 0,
		.from_section = HWTD_NO_ID,
		.to_section = HWTD_NO_ID,
		.to_function = HWTDI_NO_FUNCTION,
		.context = HWTD_NO_ID };
	if (line->has_from) {
		out->flags |= HWTDI_STEP_FROM | HWTDI_STEP_BACK |
		    HWTDI_STEP_LOOSE;
		out->from = out->back = line->from.address;
	}
	if (!line->has_to)
		return (HWTD_OK);
	out->flags |= HWTDI_STEP_TO;
	out->to = line->to.address;
	return (function_of(text, &line->to, &out->to_function, &out->to_first,
	    &out->to_image, err));
}

static uint32_t
transfer_of(enum hwtdi_text_branch branch)
{
	switch (branch) {
	case HWTDI_TEXT_CALL:
		return (HWTDI_TRANSFER_CALL);
	case HWTDI_TEXT_RETURN:
		return (HWTDI_TRANSFER_RETURN);
	case HWTDI_TEXT_FAR_CALL:
		return (HWTDI_TRANSFER_FAR_CALL);
	case HWTDI_TEXT_FAR_RETURN:
		return (HWTDI_TRANSFER_FAR_RETURN);
	case HWTDI_TEXT_INTERRUPT:
		return (HWTDI_TRANSFER_INTERRUPT);
	case HWTDI_TEXT_CONDITIONAL:
		return (HWTDI_TRANSFER_JUMP);
	default:
		return (HWTDI_TRANSFER_INDIRECT);
	}
}

/* Code was found running where the first branch of a thread is. */
static int
arrive_at(struct hwtdi_call_text *text, struct hwtdi_call_feed *feed,
    const struct hwtdi_step *step, const struct hwtdi_text_place *place,
    uint32_t what, struct hwtd_error *err)
{
	struct hwtdi_step at = *step;
	int rc;

	at.what = what;
	at.to = place->address;
	at.flags = (at.flags &
		       (HWTDI_STEP_TIME | HWTDI_STEP_ESTIMATED |
			   HWTDI_STEP_LOOSE)) |
	    HWTDI_STEP_TO;
	rc = function_of(text, place, &at.to_function, &at.to_first,
	    &at.to_image, err);
	return (rc != HWTD_OK ? rc : hwtdi_call_feed_add(feed, &at, err));
}

static int
set_time(struct hwtdi_call_feed *feed, struct hwtdi_step *step,
    struct hwtd_error *err)
{
	feed->executed++;
	if ((step->flags & HWTDI_STEP_TIME) == 0)
		return (HWTD_OK);
	/* Lines go on with the time of the last packet that had one. */
	if (feed->has_anchor && feed->anchor_ns == step->time_ns) {
		step->flags |= HWTDI_STEP_ESTIMATED;
		return (HWTD_OK);
	}
	return (hwtdi_call_feed_anchor(feed, step->time_ns, feed->executed,
	    err));
}

static int
add_branch(struct hwtdi_call_text *text, const struct hwtdi_text_line *line,
    struct hwtd_error *err)
{
	struct hwtdi_call_feed *feed;
	struct hwtdi_step step;
	uint32_t no;
	int rc = feed_of(text, line, &feed, &no, err);

	if (rc == HWTD_OK)
		rc = step_of(text, line, &step, err);
	if (rc != HWTD_OK)
		return (rc);
	step.thread = no;
	rc = set_time(feed, &step, err);
	if (rc == HWTD_OK && line->starts && line->has_to)
		rc = arrive_at(text, feed, &step, &line->to, HWTDI_TRANSFER_ON,
		    err);
	else if (rc == HWTD_OK && line->has_from && feed->executed == 1)
		rc = arrive_at(text, feed, &step, &line->from,
		    HWTDI_TRANSFER_ARRIVE, err);
	if (rc == HWTD_OK && !line->starts &&
	    line->branch != HWTDI_TEXT_NO_BRANCH) {
		struct hwtdi_step go = step;

		go.what = transfer_of(line->branch);
		/* What was interrupted goes on with this instruction. */
		if (go.what == HWTDI_TRANSFER_INTERRUPT)
			go.flags &= ~HWTDI_STEP_LOOSE;
		rc = hwtdi_call_feed_add(feed, &go, err);
	}
	if (rc != HWTD_OK || !line->ends)
		return (rc);
	step.what = HWTDI_TRANSFER_OFF;
	step.flags &= ~(HWTDI_STEP_TO | HWTDI_STEP_LOOSE);
	if (line->async)
		step.flags |= HWTDI_STEP_ASYNC;
	if (line->branch != HWTDI_TEXT_NO_BRANCH)
		step.flags |= HWTDI_STEP_LED_OUT;
	return (hwtdi_call_feed_add(feed, &step, err));
}

static int
add_error(struct hwtdi_call_text *text, const struct hwtdi_text_line *line,
    struct hwtd_error *err)
{
	struct hwtdi_call_feed *feed;
	struct hwtdi_step step;
	uint32_t no;
	int rc;

	text->gaps++;
	rc = feed_of(text, line, &feed, &no, err);
	if (rc == HWTD_OK)
		rc = step_of(text, line, &step, err);
	if (rc == HWTD_OK)
		rc = hwtdi_call_feed_flush(feed, err);
	if (rc != HWTD_OK)
		return (rc);
	step.thread = no;
	step.what = HWTDI_TRANSFER_GAP;
	rc = hwtdi_call_feed_add(feed, &step, err);
	return (rc != HWTD_OK ? rc : hwtdi_call_feed_flush(feed, err));
}

/* Samples. */

static int
end_sample(struct hwtdi_call_text *text, struct hwtd_error *err)
{
	int rc;

	if (!text->in_sample)
		return (HWTD_OK);
	text->in_sample = false;
	rc = hwtdi_call_feed_flush(&text->feeds[text->sample.thread].feed,
	    err);
	/* Outermost first. */
	for (size_t i = 0; i < text->n_callers / 2; i++) {
		const struct hwtdi_caller c = text->callers[i];

		text->callers[i] = text->callers[text->n_callers - 1 - i];
		text->callers[text->n_callers - 1 - i] = c;
	}
	return (rc != HWTD_OK || text->n_callers == 0
		? rc
		: hwtdi_call_thread_sample(
		      text->threads->at[text->sample.thread].calls,
		      &text->sample, text->callers, text->n_callers, err));
}

static int
begin_sample(struct hwtdi_call_text *text, const struct hwtdi_text_line *line,
    struct hwtd_error *err)
{
	struct hwtdi_call_feed *feed;
	uint32_t no;
	int rc;

	if (text->event == NULL && line->event.n != 0) {
		text->event = hwtdi_alloc(text->library, line->event.n);
		if (text->event == NULL)
			return (hwtdi_fail_nomem(err, line->event.n));
		memcpy(text->event, line->event.at, line->event.n);
		text->n_event = line->event.n;
	}
	/* Callers at samples of other events would only mix with these. */
	rc = feed_of(text, line, &feed, &no, err);
	if (rc != HWTD_OK || line->event.n != text->n_event ||
	    line->event.n == 0 ||
	    memcmp(line->event.at, text->event, text->n_event) != 0)
		return (rc);
	text->n_callers = 0;
	rc = step_of(text, line, &text->sample, err);
	text->sample.thread = no;
	text->in_sample = rc == HWTD_OK;
	return (rc);
}

static int
add_caller(struct hwtdi_call_text *text, const struct hwtdi_text_line *line,
    struct hwtd_error *err)
{
	struct hwtdi_caller caller = { .address = line->from.address };
	const struct hwtdi_extent unknown = { .function = HWTDI_NO_FUNCTION };
	struct hwtdi_extent at = unknown;
	uint64_t first;
	uint32_t image;
	int rc;

	if (!text->in_sample || text->n_callers == HWTDI_TEXT_CALLERS)
		return (HWTD_OK);
	rc = function_of(text, &line->from, &caller.function, &first, &image,
	    err);
	if (rc == HWTD_OK && caller.function == HWTDI_NO_FUNCTION) {
		rc = hwtdi_call_functions_find(text->functions, HWTD_NO_ID,
		    HWTD_NO_ID, caller.address, true, &at, err);
		if (rc == HWTD_OK)
			hwtdi_call_functions_set_image(text->functions,
			    at.function, image);
		caller.function = at.function;
	}
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(text->library, &text->callers,
		    &text->cap_callers, text->n_callers + 1,
		    sizeof(*text->callers), err);
	if (rc == HWTD_OK)
		text->callers[text->n_callers++] = caller;
	return (rc);
}

/* Lines. */

static int
add_line(struct hwtdi_call_text *text, const struct hwtdi_text *bytes,
    struct hwtd_error *err)
{
	struct hwtdi_text_line line;
	struct hwtdi_call_feed *feed;
	uint32_t no;
	int rc = HWTD_OK;

	hwtdi_text_line(bytes->at, bytes->n, &line);
	if (line.kind != HWTDI_TEXT_CALLER)
		rc = end_sample(text, err);
	if (rc != HWTD_OK)
		return (rc);
	switch (line.kind) {
	case HWTDI_TEXT_BRANCH:
		return (add_branch(text, &line, err));
	case HWTDI_TEXT_ERROR:
		return (add_error(text, &line, err));
	case HWTDI_TEXT_SAMPLE:
		return (begin_sample(text, &line, err));
	case HWTDI_TEXT_CALLER:
		return (add_caller(text, &line, err));
	case HWTDI_TEXT_OTHER:
		return (feed_of(text, &line, &feed, &no, err));
	case HWTDI_TEXT_BAD:
		text->bad_lines++;
		if (text->first_bad_line == 0)
			text->first_bad_line = text->lines;
		return (HWTD_OK);
	default:
		return (HWTD_OK);
	}
}

/* It was there at the time of its last line. */
static int
end_thread(struct hwtdi_text_thread *thread, uint32_t no,
    struct hwtd_error *err)
{
	struct hwtdi_step step = { .time_ns = thread->last_ns,
		.flags = thread->has_time
		    ? HWTDI_STEP_TIME | HWTDI_STEP_ESTIMATED
		    : 0,
		.what = HWTDI_TRANSFER_IN,
		.thread = no };
	int rc = hwtdi_call_feed_add(&thread->feed, &step, err);

	return (rc != HWTD_OK ? rc
			      : hwtdi_call_feed_flush(&thread->feed, err));
}

int
hwtdi_call_text_work(struct hwtdi_call_text *text, struct hwtd_error *err)
{
	struct hwtdi_text line;
	int rc = HWTD_OK;

	for (size_t i = 0; i < LINES_AT_ONCE && rc == HWTD_OK; i++) {
		rc = next_line(text, &line, err);
		if (rc == HWTD_OK)
			rc = add_line(text, &line, err);
	}
	if (rc != HWTD_END)
		return (rc);
	rc = end_sample(text, err);
	for (size_t i = 0; i < text->n_feeds && rc == HWTD_OK; i++)
		rc = end_thread(&text->feeds[i], (uint32_t)i, err);
	return (rc == HWTD_OK ? HWTD_END : rc);
}

/* Something at the start is a line of perf-script(1). */
static bool
is_known(const struct hwtdi_call_text *text)
{
	const char *at = text->bytes;
	size_t left = text->n;

	for (size_t i = 0; i < FIRST_LINES && left > 0; i++) {
		const char *end = memchr(at, '\n', left);
		const size_t n = end != NULL ? (size_t)(end - at) : left;
		struct hwtdi_text_line line;

		hwtdi_text_line(at, n, &line);
		if (line.kind == HWTDI_TEXT_BRANCH ||
		    line.kind == HWTDI_TEXT_SAMPLE ||
		    line.kind == HWTDI_TEXT_ERROR ||
		    line.kind == HWTDI_TEXT_OTHER)
			return (true);
		at += n + (end != NULL);
		left -= n + (end != NULL);
	}
	return (false);
}

int
hwtdi_call_text_init(struct hwtdi_call_text *text, const char *path,
    struct hwtdi_call_threads *threads, struct hwtdi_call_functions *functions,
    bool interpolate, struct hwtd_error *err)
{
	uint64_t size;
	int rc;

	memset(text, 0, sizeof(*text));
	text->fd = -1;
	text->library = threads->rules->library;
	text->threads = threads;
	text->functions = functions;
	text->interpolate = interpolate;
	text->bytes = hwtdi_alloc(text->library, BUFFER_BYTES);
	text->name = hwtdi_alloc(text->library, 2 * LINE_MAX_BYTES);
	if (text->bytes == NULL || text->name == NULL)
		return (hwtdi_fail_nomem(err, BUFFER_BYTES));
	rc = hwtdi_regular_file_open(path, &text->fd, &size, err);
	if (rc == HWTD_OK)
		rc = read_more(text, err);
	if (rc != HWTD_OK) {
		hwtdi_fail_prefix(err, "%s", path);
		return (rc);
	}
	if (!is_known(text))
		return (hwtdi_fail(err, HWTD_E_UNRECOGNIZED,
		    "%s: no line of perf-script(1) is at its start", path));
	return (HWTD_OK);
}
