/*
 * Address spaces as the public interface shows them.
 */
#include <string.h>

#include <hwtdecode/space.h>

#include "base/fail.h"
#include "trace/trace_internal.h"

struct hwtd_maps {
	struct hwtd_trace *trace;
	struct hwtd_mapping *mappings;
	size_t n, cap, at;
	/* The space that is walked, and when; only what is its own. */
	struct hwtdi_seen seen;
	uint32_t pid;
	bool own;
	uint64_t seq;
	struct hwtd_error *err;
};

static void
position_range(const struct hwtd_trace *trace, const struct hwtd_position *at,
    uint64_t *lo, uint64_t *hi)
{
	*lo = *hi = trace->records.n;
	if (at == NULL || at->flags == 0)
		return;
	if ((at->flags & HWTD_POSITION_START) != 0) {
		*lo = *hi = hwtdi_position_start(trace->space.positions);
		return;
	}
	hwtdi_position_range(trace->space.positions,
	    (at->flags & HWTD_POSITION_OFFSET) != 0 ? at->stream : HWTD_NO_ID,
	    at->stream_off, (at->flags & HWTD_POSITION_TIME) != 0, at->time_ns,
	    lo, hi);
}

static int
position_copy(const struct hwtd_trace *trace, struct hwtd_position *out,
    const struct hwtd_position *user, struct hwtd_error *err)
{
	const uint32_t known = HWTD_POSITION_OFFSET | HWTD_POSITION_TIME |
	    HWTD_POSITION_START;
	int rc = hwtdi_options_copy(out, sizeof(*out), user, err);

	if (rc == HWTD_OK && (out->flags & ~known) != 0)
		rc = hwtdi_fail(err, HWTD_E_INVALID,
		    "position flags %#x are not known", out->flags);
	if (rc == HWTD_OK && (out->flags & HWTD_POSITION_OFFSET) != 0 &&
	    hwtdi_trace_stream_at(trace, out->stream) == NULL)
		rc = hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "position in stream %u of %zu", out->stream,
		    trace->n_streams);
	return (rc);
}

/* After `seq` records `space` shows the same as `place` there. */
static bool
is_of(const struct hwtd_trace *trace, uint32_t space, uint64_t seq,
    const struct hwtdi_place *place)
{
	struct hwtdi_place there;
	size_t n = 0;

	(void)hwtdi_timeline_find(trace->space.timeline, space, seq, seq,
	    place->first, &there, 1, &n);
	if (n == 0 || there.piece.section != place->piece.section ||
	    there.piece.flags != place->piece.flags)
		return (false);
	return (there.piece.section == HWTD_NO_ID ||
	    there.piece.section_off + (place->first - there.first) ==
		place->piece.section_off);
}

static void
fill(const struct hwtd_trace *trace, const struct hwtdi_place *place,
    struct hwtd_mapping *out)
{
	const struct hwtdi_piece *piece = &place->piece;

	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->pid = HWTD_NO_ID;
	if ((piece->flags & HWTDI_PIECE_ANONYMOUS) != 0)
		out->flags |= HWTD_MAPPINGF_ANONYMOUS;
	if ((piece->flags & HWTDI_PIECE_JIT) != 0)
		out->flags |= HWTD_MAPPINGF_JIT;
	out->section = piece->section;
	out->image = HWTD_NO_ID;
	out->address = place->first;
	out->length = place->last - place->first + 1;
	out->path = "";
	if (piece->section == HWTD_NO_ID)
		return;
	out->image = trace->sections[piece->section].image;
	out->file_off = trace->sections[piece->section].file_off +
	    piece->section_off;
	out->path = trace->images[out->image].path;
	if (trace->section_code[piece->section] == hwtdi_no_code)
		out->flags |= HWTD_MAPPINGF_UNKNOWN;
}

/* Of which space it is, of those that are seen; else it is of `pid`. */
static void
fill_space(const struct hwtd_trace *trace, const struct hwtdi_seen *seen,
    uint32_t pid, uint64_t seq, const struct hwtdi_place *place,
    struct hwtd_mapping *out)
{
	if (is_of(trace, HWTDI_SPACE_ANY, seq, place))
		out->flags |= HWTD_MAPPINGF_EVERYWHERE;
	else if (is_of(trace, seen->kernel, seq, place))
		out->flags |= HWTD_MAPPINGF_KERNEL;
	else
		out->pid = pid;
}

int
hwtd_space_lookup_context(const struct hwtd_trace *trace,
    const struct hwtd_exec_context *who, const struct hwtd_position *at,
    uint64_t address, struct hwtd_mapping *out)
{
	struct hwtdi_place places[3];
	struct hwtd_position position;
	struct hwtd_exec_context w;
	struct hwtd_mapping mapping;
	struct hwtdi_seen seen;
	uint64_t lo, hi;
	size_t n = 0, mapped = 0;
	int rc;

	if (trace == NULL || who == NULL || out == NULL)
		return (HWTD_E_INVALID);
	if (!trace->sealed) {
		/* Who takes it for ambiguous finds nothing known. */
		fill(trace,
		    &(const struct hwtdi_place){ address, address,
			{ .section = HWTD_NO_ID } },
		    &mapping);
		rc = hwtdi_result_copy(out, &mapping, sizeof(mapping));
		return (rc == HWTD_OK ? HWTD_E_STATE : rc);
	}
	rc = hwtdi_options_copy(&w, sizeof(w), who, NULL);
	if (rc == HWTD_OK)
		rc = position_copy(trace, &position, at, NULL);
	if (rc != HWTD_OK)
		return (rc);
	seen = hwtdi_trace_space_see(&trace->space, &w);
	/* The default can be that of the only process. */
	if (w.pid == HWTD_NO_ID && seen.space == trace->space.default_space &&
	    seen.space != HWTDI_SPACE_KERNEL)
		w.pid = trace->space.processes[0].pid;
	position_range(trace, &position, &lo, &hi);
	(void)hwtdi_timeline_find(trace->space.timeline, seen.space, lo, hi,
	    address, places, 3, &n);
	/* That nothing is mapped there yet, or any more, is no mapping. */
	for (size_t i = 0; i < n; i++)
		if ((places[i].piece.flags & HWTDI_PIECE_NOTHING) == 0)
			places[mapped++] = places[i];
	if (mapped == 0)
		return (HWTD_E_NOT_FOUND);
	fill(trace, &places[0], &mapping);
	fill_space(trace, &seen, w.pid, hi, &places[0], &mapping);
	rc = hwtdi_result_copy(out, &mapping, sizeof(mapping));
	return (rc == HWTD_OK && mapped > 1 ? HWTD_E_STATE : rc);
}

static struct hwtd_exec_context
process_context(uint32_t pid)
{
	const struct hwtd_exec_context who = { .size = sizeof(who),
		.pid = pid };

	return (who);
}

int
hwtd_space_lookup(const struct hwtd_trace *trace, uint32_t pid,
    const struct hwtd_position *at, uint64_t address, struct hwtd_mapping *out)
{
	const struct hwtd_exec_context who = process_context(pid);

	return (hwtd_space_lookup_context(trace, &who, at, address, out));
}

static int
add_place(void *arg, const struct hwtdi_place *place)
{
	struct hwtd_maps *maps = arg;
	struct hwtd_mapping *m;
	int rc;

	rc = hwtdi_array_grow(maps->trace->library, &maps->mappings,
	    &maps->cap, maps->n + 1, sizeof(*maps->mappings), maps->err);
	if (rc != HWTD_OK)
		return (rc);
	m = &maps->mappings[maps->n++];
	fill(maps->trace, place, m);
	if (maps->own && maps->pid == HWTD_NO_ID)
		m->flags |= HWTD_MAPPINGF_KERNEL;
	else if (maps->own)
		m->pid = maps->pid;
	else
		fill_space(maps->trace, &maps->seen, maps->pid, maps->seq,
		    place, m);
	return (HWTD_OK);
}

int
hwtd_maps_open_context(struct hwtd_trace *trace,
    const struct hwtd_exec_context *who, uint32_t flags,
    const struct hwtd_position *at, struct hwtd_maps **maps_out,
    struct hwtd_error *err)
{
	struct hwtd_position position;
	struct hwtd_exec_context w;
	struct hwtd_maps *maps;
	uint64_t lo, hi;
	int rc;

	if (trace == NULL || who == NULL || maps_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL"));
	if ((flags & ~(uint32_t)HWTD_MAPS_OWN) != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "maps flags %#x are not known", flags));
	if (!trace->sealed)
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "the trace is not sealed"));
	rc = hwtdi_options_copy(&w, sizeof(w), who, err);
	if (rc == HWTD_OK)
		rc = position_copy(trace, &position, at, err);
	if (rc != HWTD_OK)
		return (rc);
	maps = hwtdi_zalloc(trace->library, sizeof(*maps));
	if (maps == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*maps)));
	maps->trace = hwtdi_trace_hold(trace);
	maps->own = (flags & HWTD_MAPS_OWN) != 0;
	maps->err = err;
	maps->pid = w.pid;
	maps->seen = hwtdi_trace_space_see(&trace->space, &w);
	if (w.pid == HWTD_NO_ID &&
	    maps->seen.space == trace->space.default_space)
		maps->seen.space = maps->seen.kernel;
	position_range(trace, &position, &lo, &hi);
	maps->seq = hi;
	/* What no record speaks of has nothing of its own. */
	if (!maps->own || maps->seen.known)
		rc = hwtdi_timeline_walk(trace->space.timeline,
		    maps->seen.space, hi, !maps->own, add_place, maps);
	maps->err = NULL;
	if (rc != HWTD_OK) {
		hwtd_maps_close(maps);
		return (rc);
	}
	*maps_out = maps;
	return (HWTD_OK);
}

int
hwtd_maps_open(struct hwtd_trace *trace, uint32_t pid,
    const struct hwtd_position *at, struct hwtd_maps **maps_out,
    struct hwtd_error *err)
{
	const struct hwtd_exec_context who = process_context(pid);

	return (hwtd_maps_open_context(trace, &who, 0, at, maps_out, err));
}

int
hwtd_maps_read(struct hwtd_maps *maps, struct hwtd_mapping *out)
{
	int rc;

	if (maps == NULL || out == NULL)
		return (HWTD_E_INVALID);
	if (maps->at == maps->n)
		return (HWTD_END);
	rc = hwtdi_result_copy(out, &maps->mappings[maps->at], sizeof(*out));
	if (rc == HWTD_OK)
		maps->at++;
	return (rc);
}

void
hwtd_maps_close(struct hwtd_maps *maps)
{
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;

	if (maps == NULL)
		return;
	trace = maps->trace;
	ctx = trace->library;
	hwtdi_array_free(ctx, maps->mappings, maps->cap,
	    sizeof(*maps->mappings));
	hwtdi_free(ctx, maps, sizeof(*maps));
	hwtd_trace_close(trace);
}

int
hwtd_trace_process(const struct hwtd_trace *trace, size_t index,
    struct hwtd_process *out)
{
	const struct hwtdi_process *p;
	struct hwtd_process row = { .size = sizeof(row) };

	if (trace == NULL || out == NULL)
		return (HWTD_E_INVALID);
	if (!trace->sealed)
		return (HWTD_E_STATE);
	if (index >= trace->space.n_processes)
		return (HWTD_END);
	p = &trace->space.processes[index];
	row.pid = p->pid;
	row.parent = p->parent;
	row.n_execs = p->n_execs;
	row.vmid = p->vmid;
	row.name = p->name != NULL ? p->name : "";
	return (hwtdi_result_copy(out, &row, sizeof(row)));
}

int
hwtd_trace_machine(const struct hwtd_trace *trace, size_t index,
    uint32_t *vmid_out)
{
	if (trace == NULL || vmid_out == NULL)
		return (HWTD_E_INVALID);
	if (!trace->sealed)
		return (HWTD_E_STATE);
	if (index >= trace->space.machines.n)
		return (HWTD_END);
	*vmid_out = trace->space.machines.keys[index].vmid;
	return (HWTD_OK);
}

int
hwtd_trace_image(const struct hwtd_trace *trace, uint32_t image,
    struct hwtd_image_info *out)
{
	struct hwtd_image_info row = { .size = sizeof(row) };
	const struct hwtdi_image *i;

	if (trace == NULL || out == NULL)
		return (HWTD_E_INVALID);
	if (image >= trace->n_images)
		return (HWTD_E_NOT_FOUND);
	i = &trace->images[image];
	row.state = i->state;
	row.n_build_id = i->n_build_id;
	memcpy(row.build_id, i->build_id, sizeof(row.build_id));
	row.path = i->path;
	row.file = i->file != NULL ? i->file : "";
	row.n_bytes = i->bytes != NULL ? i->n_bytes : 0;
	memcpy(row.text, i->text, sizeof(row.text));
	if (hwtdi_trace_is_stranger(i))
		row.flags |= HWTD_IMAGE_INFO_NO_PROGRAM;
	if (i->unlinked)
		row.flags |= HWTD_IMAGE_INFO_UNLINKED;
	return (hwtdi_result_copy(out, &row, sizeof(row)));
}
