/*
 * All that one profile has goes into another one.
 */
#include <string.h>

#include "analysis/profile/profile_store.h"
#include "base/fail.h"

/* Numbers of arrival in `from` as they are in `into`. */
struct merging {
	struct hwtd_profile *into;
	const struct hwtd_profile *from;
	struct hwtd_error *err;
	uint32_t *images, *functions, *threads, *lines, *nodes;
};

static const char *
text(const struct merging *m, uint32_t no)
{
	return (hwtdi_text_pool_get(&m->from->texts, no));
}

static uint32_t
number(const uint32_t *numbers, uint32_t no)
{
	return (no == HWTD_NO_ID ? no : numbers[no]);
}

static int
make_numbers(struct merging *m, uint32_t **out, size_t n)
{
	if (n == 0)
		return (HWTD_OK);
	*out = hwtdi_alloc(m->into->library, n * sizeof(**out));
	return (*out != NULL ? HWTD_OK
			     : hwtdi_fail_nomem(m->err, n * sizeof(**out)));
}

static int
merge_images(struct merging *m)
{
	int rc = make_numbers(m, &m->images, m->from->n_images);

	for (size_t i = 0; i < m->from->n_images && rc == HWTD_OK; i++) {
		const struct hwtdi_profile_image *at = &m->from->images[i];
		struct hwtd_profile_image image = {
			.name = text(m, at->name),
			.n_build_id = at->n_build_id,
			.flags = at->flags,
		};

		memcpy(image.build_id, at->build_id, sizeof(image.build_id));
		rc = hwtdi_profile_add_image(m->into, &image, &m->images[i],
		    m->err);
	}
	return (rc);
}

static int
merge_functions(struct merging *m)
{
	int rc = make_numbers(m, &m->functions, m->from->n_functions);

	for (size_t i = 0; i < m->from->n_functions && rc == HWTD_OK; i++) {
		const struct hwtdi_profile_function *at = &m->from
							       ->functions[i];
		const struct hwtd_profile_function function = {
			.name = text(m, at->name),
			.linkage_name = text(m, at->linkage_name),
			.file = text(m, at->file),
			.line = at->line,
			.image = number(m->images, at->image),
			.file_off = at->file_off,
			.bytes = at->bytes,
			.flags = at->flags,
			.link_address = at->link_address,
		};

		rc = hwtdi_profile_add_function(m->into, &function,
		    &m->functions[i], m->err);
	}
	return (rc);
}

static int
merge_threads(struct merging *m)
{
	int rc = make_numbers(m, &m->threads, m->from->n_threads);

	for (size_t i = 0; i < m->from->n_threads && rc == HWTD_OK; i++) {
		const struct hwtdi_profile_thread *at = &m->from->threads[i];
		const struct hwtd_profile_thread thread = {
			.name = text(m, at->name),
			.pid = at->pid,
			.tid = at->tid,
			.stream = at->stream,
			.idle_ns = at->idle_ns,
		};

		rc = hwtdi_profile_add_thread(m->into, &thread, &m->threads[i],
		    m->err);
	}
	return (rc);
}

static int
merge_lines(struct merging *m)
{
	int rc = make_numbers(m, &m->lines, m->from->n_lines);

	for (size_t i = 0; i < m->from->n_lines && rc == HWTD_OK; i++)
		rc = hwtdi_profile_add_line(m->into,
		    text(m, m->from->lines[i].file), m->from->lines[i].line,
		    &m->lines[i], m->err);
	return (rc);
}

static int
merge_nodes(struct merging *m)
{
	int rc = make_numbers(m, &m->nodes, m->from->n_nodes);

	/* Parents come first. */
	for (size_t i = 0; i < m->from->n_nodes && rc == HWTD_OK; i++) {
		const struct hwtdi_profile_node *at = &m->from->nodes[i];
		const struct hwtd_profile_node node = {
			.parent = number(m->nodes, at->parent),
			.function = number(m->functions, at->function),
			.thread = number(m->threads, at->thread),
			.type = at->type,
			.flags = at->flags,
			.self = at->self,
		};

		rc = hwtdi_profile_add_node(m->into, &node, &m->nodes[i],
		    m->err);
	}
	return (rc);
}

static int
merge_code(struct merging *m)
{
	int rc = HWTD_OK;

	for (size_t i = 0; i < m->from->n_blocks && rc == HWTD_OK; i++) {
		struct hwtdi_profile_code code = m->from->blocks[i];

		code.image = number(m->images, code.image);
		code.function = number(m->functions, code.function);
		code.inlined = number(m->functions, code.inlined);
		code.line = number(m->lines, code.line);
		rc = hwtdi_profile_add_code(m->into, &code,
		    m->from->lengths + code.lengths, m->err);
	}
	for (size_t i = 0; i < m->from->n_edges && rc == HWTD_OK; i++) {
		struct hwtd_profile_edge edge = m->from->edges[i];

		edge.from_image = number(m->images, edge.from_image);
		edge.to_image = number(m->images, edge.to_image);
		edge.from_function = number(m->functions, edge.from_function);
		edge.to_function = number(m->functions, edge.to_function);
		rc = hwtdi_profile_add_edge(m->into, &edge, m->err);
	}
	for (size_t i = 0; i < m->from->n_places && rc == HWTD_OK; i++) {
		struct hwtdi_profile_place place = m->from->places[i];

		place.thread = number(m->threads, place.thread);
		rc = hwtdi_profile_add_place(m->into, &place, m->err);
	}
	return (rc);
}

static int
merge_all(struct merging *m)
{
	int rc = merge_images(m);

	if (rc == HWTD_OK)
		rc = merge_functions(m);
	if (rc == HWTD_OK)
		rc = merge_threads(m);
	if (rc == HWTD_OK)
		rc = merge_lines(m);
	if (rc == HWTD_OK)
		rc = merge_nodes(m);
	if (rc == HWTD_OK)
		rc = merge_code(m);
	for (uint32_t i = 0; i < HWTD_PROFILE_SOURCES && rc == HWTD_OK; i++)
		hwtdi_profile_add_seen(m->into, (enum hwtd_profile_source)i,
		    &m->from->seen[i]);
	return (rc);
}

static void
fini(struct merging *m)
{
	struct hwtd_context *library = m->into->library;
	const struct hwtd_profile *from = m->from;

	hwtdi_free(library, m->images, from->n_images * sizeof(*m->images));
	hwtdi_free(library, m->functions,
	    from->n_functions * sizeof(*m->functions));
	hwtdi_free(library, m->threads, from->n_threads * sizeof(*m->threads));
	hwtdi_free(library, m->lines, from->n_lines * sizeof(*m->lines));
	hwtdi_free(library, m->nodes, from->n_nodes * sizeof(*m->nodes));
}

int
hwtd_profile_merge(struct hwtd_profile *into, struct hwtd_profile *from,
    struct hwtd_error *err)
{
	struct merging m = { .into = into, .from = from, .err = err };
	int rc;

	if (into == NULL || from == NULL || into == from)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "two profiles are needed"));
	if (((into->options.flags ^ from->options.flags) &
		HWTD_PROFILE_THREADS) != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "one profile has a root for each thread, the other one "
		    "has not"));
	rc = hwtdi_profile_begin(into, NULL, err);
	if (rc == HWTD_OK && from->adding != NULL)
		rc = hwtdi_profile_begin(from, NULL, err);
	else if (rc == HWTD_OK && from->failed)
		rc = hwtdi_fail(err, HWTD_E_STATE,
		    "something failed to be added to the profile");
	if (rc != HWTD_OK)
		return (rc);
	rc = merge_all(&m);
	into->failed = rc != HWTD_OK;
	fini(&m);
	return (rc);
}
