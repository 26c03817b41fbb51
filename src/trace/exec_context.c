/*
 * Interned execution contexts: an array by id, a hash table of ids beside it.
 */
#include "trace/exec_context.h"

#include <pthread.h>
#include <string.h>
#include <xxhash.h>

#include "base/fail.h"

struct hwtdi_exec_contexts {
	struct hwtd_context *library;
	pthread_mutex_t lock;
	struct hwtd_exec_context *rows;
	size_t n;
	size_t cap;
	/* Id + 1, 0: free.  A power of two, at most half full. */
	uint32_t *slots;
	size_t n_slots;
};

int
hwtdi_exec_contexts_create(struct hwtd_context *ctx,
    struct hwtdi_exec_contexts **out, struct hwtd_error *err)
{
	struct hwtdi_exec_contexts *c = hwtdi_zalloc(ctx, sizeof(*c));
	int e;

	if (c == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*c)));
	c->library = ctx;
	e = pthread_mutex_init(&c->lock, NULL);
	if (e != 0) {
		hwtdi_free(ctx, c, sizeof(*c));
		return (hwtdi_fail(err, HWTD_E_NOMEM, "no mutex: %s",
		    strerror(e)));
	}
	*out = c;
	return (HWTD_OK);
}

void
hwtdi_exec_contexts_destroy(struct hwtdi_exec_contexts *c)
{
	if (c == NULL)
		return;
	(void)pthread_mutex_destroy(&c->lock);
	hwtdi_array_free(c->library, c->rows, c->cap, sizeof(*c->rows));
	hwtdi_free(c->library, c->slots, c->n_slots * sizeof(*c->slots));
	hwtdi_free(c->library, c, sizeof(*c));
}

/* Fields that are not known must not make a difference. */
static struct hwtd_exec_context
canonical(const struct hwtd_exec_context *in)
{
	struct hwtd_exec_context c;

	/* Also the bytes between members are hashed and compared. */
	memset(&c, 0, sizeof(c));
	c.size = sizeof(c);
	c.pid = in->pid;
	c.tid = in->tid;
	c.cpu = in->cpu;
	c.flags = in->flags;
	c.epoch = in->epoch;
	if (in->flags & HWTD_CTXF_CR3)
		c.cr3 = in->cr3;
	if (in->flags & HWTD_CTXF_VMCS)
		c.vmcs = in->vmcs;
	if (in->flags & HWTD_CTXF_CONTEXTIDR)
		c.contextidr = in->contextidr;
	if (in->flags & HWTD_CTXF_VMID)
		c.vmid = in->vmid;
	if (in->flags & HWTD_CTXF_LEVEL)
		c.level = in->level;
	if (in->flags & HWTD_CTXF_SECURITY)
		c.security = in->security;
	return (c);
}

/* The slot of `row`, or the free one where it belongs. */
static size_t
find_slot(const struct hwtdi_exec_contexts *c, const uint32_t *slots,
    size_t n_slots, const struct hwtd_exec_context *row)
{
	size_t at = (size_t)XXH3_64bits(row, sizeof(*row)) & (n_slots - 1);

	while (slots[at] != 0 &&
	    memcmp(&c->rows[slots[at] - 1], row, sizeof(*row)) != 0)
		at = (at + 1) & (n_slots - 1);
	return (at);
}

static int
grow_slots(struct hwtdi_exec_contexts *c, struct hwtd_error *err)
{
	size_t n = c->n_slots != 0 ? 2 * c->n_slots : 64;
	uint32_t *slots = hwtdi_zalloc(c->library, n * sizeof(*slots));

	if (slots == NULL)
		return (hwtdi_fail_nomem(err, n * sizeof(*slots)));
	for (size_t i = 0; i < c->n; i++)
		slots[find_slot(c, slots, n, &c->rows[i])] = (uint32_t)i + 1;
	hwtdi_free(c->library, c->slots, c->n_slots * sizeof(*slots));
	c->slots = slots;
	c->n_slots = n;
	return (HWTD_OK);
}

static int
intern(struct hwtdi_exec_contexts *c, const struct hwtd_exec_context *row,
    uint32_t *id_out, struct hwtd_error *err)
{
	size_t slot;
	int rc;

	if (c->n_slots < 2 * (c->n + 1)) {
		rc = grow_slots(c, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	slot = find_slot(c, c->slots, c->n_slots, row);
	if (c->slots[slot] == 0) {
		if (c->n == HWTDI_MAX_EXEC_CONTEXTS)
			return (hwtdi_fail(err, HWTD_E_LIMIT,
			    "more than %u execution contexts",
			    HWTDI_MAX_EXEC_CONTEXTS));
		rc = hwtdi_array_grow(c->library, &c->rows, &c->cap, c->n + 1,
		    sizeof(*c->rows), err);
		if (rc != HWTD_OK)
			return (rc);
		/* Copies the bytes between members too. */
		memcpy(&c->rows[c->n], row, sizeof(*row));
		c->slots[slot] = (uint32_t)++c->n;
	}
	*id_out = c->slots[slot] - 1;
	return (HWTD_OK);
}

int
hwtdi_exec_contexts_intern(struct hwtdi_exec_contexts *c,
    const struct hwtd_exec_context *context, uint32_t *id_out,
    struct hwtd_error *err)
{
	const struct hwtd_exec_context row = canonical(context);
	int rc;

	(void)pthread_mutex_lock(&c->lock);
	rc = intern(c, &row, id_out, err);
	(void)pthread_mutex_unlock(&c->lock);
	return (rc);
}

bool
hwtdi_exec_contexts_get(struct hwtdi_exec_contexts *c, uint32_t id,
    struct hwtd_exec_context *out)
{
	bool found;

	(void)pthread_mutex_lock(&c->lock);
	found = id < c->n;
	if (found)
		*out = c->rows[id];
	(void)pthread_mutex_unlock(&c->lock);
	return (found);
}
