/*
 * Going through the stacks of a profile.
 */
#include "export/stacks/profile_walk.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"

#define BATCH 128

int
hwtdi_profile_walk_open(struct hwtdi_profile_walk *w, struct hwtd_context *ctx,
    struct hwtd_profile *profile, struct hwtd_error *err)
{
	int rc;

	memset(w, 0, sizeof(*w));
	w->ctx = ctx;
	w->profile = profile;
	w->thread = HWTD_NO_ID;
	w->info.size = sizeof(w->info);
	rc = hwtd_profile_info(profile, &w->info);
	if (rc != HWTD_OK)
		return (hwtdi_fail(err, rc, "the profile cannot be read"));
	w->batch = hwtdi_alloc(ctx, BATCH * sizeof(*w->batch));
	return (w->batch != NULL
		? HWTD_OK
		: hwtdi_fail_nomem(err, BATCH * sizeof(*w->batch)));
}

void
hwtdi_profile_walk_close(struct hwtdi_profile_walk *w)
{
	if (w->batch != NULL)
		hwtdi_free(w->ctx, w->batch, BATCH * sizeof(*w->batch));
	hwtdi_array_free(w->ctx, w->path, w->cap_path, sizeof(*w->path));
	w->batch = NULL;
	w->path = NULL;
	w->cap_path = 0;
}

static uint32_t
place_of(const struct hwtdi_profile_walk *w,
    const struct hwtd_profile_node *node)
{
	enum hwtdi_place_kind kind = HWTDI_PLACE_UNKNOWN;

	if ((node->flags & HWTD_PROFILE_NODEF_ROOT) != 0)
		kind = HWTDI_PLACE_ROOT;
	else if ((node->flags & HWTD_PROFILE_NODEF_OTHERS) != 0)
		kind = HWTDI_PLACE_OTHERS;
	else if (node->function < w->info.n_functions)
		return (node->function);
	else if ((node->flags & HWTD_PROFILE_NODEF_UNTRACED) != 0)
		kind = node->type == HWTD_CALL_TYPE_SYSCALL
		    ? HWTDI_PLACE_SYSCALL
		    : node->type == HWTD_CALL_TYPE_INTERRUPT
		    ? HWTDI_PLACE_INTERRUPT
		    : node->type == HWTD_CALL_TYPE_EXCEPTION
		    ? HWTDI_PLACE_EXCEPTION
		    : HWTDI_PLACE_UNTRACED;
	return (w->info.n_functions + (uint32_t)kind);
}

int
hwtdi_profile_walk_next(struct hwtdi_profile_walk *w,
    struct hwtd_profile_node *out, struct hwtd_error *err)
{
	int rc;

	if (w->at_batch == w->n_batch) {
		if (w->next >= w->info.n_nodes)
			return (HWTD_END);
		rc = hwtd_profile_nodes(w->profile, w->next, w->batch,
		    sizeof(*w->batch), BATCH, &w->n_batch);
		if (rc != HWTD_OK)
			return (hwtdi_fail(err, rc < 0 ? rc : HWTD_E_INVALID,
			    "stacks of the profile cannot be read"));
		w->next += w->n_batch;
		w->at_batch = 0;
	}
	*out = w->batch[w->at_batch++];
	rc = hwtdi_array_grow(w->ctx, &w->path, &w->cap_path,
	    (size_t)out->depth + 1, sizeof(*w->path), err);
	if (rc != HWTD_OK)
		return (rc);
	if (out->depth == 0)
		w->thread = out->thread;
	w->path[out->depth] = place_of(w, out);
	return (HWTD_OK);
}

/* Texts. */

const char *
hwtdi_place_name(uint32_t kind)
{
	static const char *const names[HWTDI_PLACES] = {
		[HWTDI_PLACE_UNKNOWN] = "[unknown]",
		[HWTDI_PLACE_UNTRACED] = "[untraced]",
		[HWTDI_PLACE_SYSCALL] = "[syscall]",
		[HWTDI_PLACE_INTERRUPT] = "[interrupt]",
		[HWTDI_PLACE_EXCEPTION] = "[exception]",
		[HWTDI_PLACE_OTHERS] = "[other calls]",
		[HWTDI_PLACE_DEEPER] = "[deeper]",
		[HWTDI_PLACE_ROOT] = "[all]",
	};

	return (kind < HWTDI_PLACES ? names[kind] : "[unknown]");
}

void
hwtdi_thread_text(struct hwtd_profile *profile, uint32_t thread, char *text,
    size_t room)
{
	struct hwtd_profile_thread t = { .size = sizeof(t) };
	char ids[64] = "";

	if (hwtd_profile_thread(profile, thread, &t) != HWTD_OK) {
		(void)snprintf(text, room, "[unknown thread]");
		return;
	}
	if (t.pid != HWTD_NO_ID && t.tid != HWTD_NO_ID)
		(void)snprintf(ids, sizeof(ids), "%u/%u", t.pid, t.tid);
	else if (t.tid != HWTD_NO_ID)
		(void)snprintf(ids, sizeof(ids), "tid %u", t.tid);
	else if (t.pid != HWTD_NO_ID)
		(void)snprintf(ids, sizeof(ids), "pid %u", t.pid);
	else if (t.stream != HWTD_NO_ID)
		(void)snprintf(ids, sizeof(ids), "stream %u", t.stream);
	(void)snprintf(text, room, "%s%s%s", t.name != NULL ? t.name : "",
	    t.name != NULL && ids[0] != '\0' ? " " : "",
	    t.name == NULL && ids[0] == '\0' ? "[unknown thread]" : ids);
}

void
hwtdi_unseen_text(const struct hwtd_profile_info *info, char *text,
    size_t room)
{
	const struct hwtd_profile_seen
	    *seen = &info->seen[info->seen[HWTD_PROFILE_CALLS].added != 0
		    ? HWTD_PROFILE_CALLS
		    : HWTD_PROFILE_RUNS];
	uint64_t gaps = 0;

	for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
		gaps += seen->gaps[i];
	(void)snprintf(text, room,
	    "not seen: %llu gap%s of %llu bytes of trace, %llu ns",
	    (unsigned long long)gaps, gaps == 1 ? "" : "s",
	    (unsigned long long)seen->gap_bytes,
	    (unsigned long long)info->total.gap_ns);
}
