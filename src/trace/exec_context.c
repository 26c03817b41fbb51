/*
 * Interned execution contexts: an array by id, an index of ids beside it.
 */
#include "trace/exec_context.h"

#include <pthread.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/index.h"

struct hwtdi_exec_contexts {
	struct hwtd_context *library;
	pthread_mutex_t lock;
	struct hwtd_exec_context *rows;
	size_t n;
	size_t cap;
	struct hwtdi_index index;
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
	hwtdi_index_fini(&c->index, c->library);
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

static int
intern(struct hwtdi_exec_contexts *c, const struct hwtd_exec_context *row,
    uint32_t *id_out, struct hwtd_error *err)
{
	const uint64_t hash = hwtdi_hash(c->library, row, sizeof(*row));
	size_t tries = 0;
	uint32_t id;
	int rc;

	while (hwtdi_index_next(&c->index, hash, &tries, &id))
		if (memcmp(&c->rows[id], row, sizeof(*row)) == 0) {
			*id_out = id;
			return (HWTD_OK);
		}
	if (c->n == HWTDI_MAX_EXEC_CONTEXTS)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "more than %u execution contexts",
		    HWTDI_MAX_EXEC_CONTEXTS));
	rc = hwtdi_index_reserve(&c->index, c->library, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(c->library, &c->rows, &c->cap, c->n + 1,
		    sizeof(*c->rows), err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_index_put(&c->index, hash, (uint32_t)c->n);
	/* Copies the bytes between members too. */
	memcpy(&c->rows[c->n], row, sizeof(*row));
	*id_out = (uint32_t)c->n++;
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
