/*
 * Places where the library puts what it opens.
 */
#include "slot.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct slot {
	/* First, so that it has the address of the slot. */
	void *object;
	void (*close)(void *object);
	uint64_t process;
	/* What Python finds to be garbage it gives up in any order. */
	atomic_uint users;
};

void **
hwtpy_slot_create(void (*close)(void *object), uint64_t process)
{
	struct slot *slot = calloc(1, sizeof(*slot));

	if (slot == NULL)
		return (NULL);
	slot->close = close;
	slot->process = process;
	atomic_init(&slot->users, 1);
	return (&slot->object);
}

void
hwtpy_slot_hold(void *at)
{
	struct slot *slot = at;

	atomic_fetch_add_explicit(&slot->users, 1, memory_order_relaxed);
}

static void
empty(struct slot *slot)
{
	void *object = slot->object;

	slot->object = NULL;
	if (object != NULL &&
	    (slot->process == 0 || slot->process == (uint64_t)getpid()))
		slot->close(object);
}

void
hwtpy_slot_drop(void *at)
{
	struct slot *slot = at;

	if (atomic_fetch_sub_explicit(&slot->users, 1, memory_order_acq_rel) !=
	    1)
		return;
	empty(slot);
	free(slot);
}

void
hwtpy_slot_close(void *at, void *object)
{
	(void)object;
	empty(at);
	hwtpy_slot_drop(at);
}
