/*
 * Objects that others keep: they are gone when nobody uses them any more, so
 * that the order of closing is free.
 */
#ifndef HWTDI_USERS_H
#define HWTDI_USERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Who uses an object besides the one that made it; all zero: nobody. */
struct hwtdi_users {
	_Atomic uint32_t others;
};

static inline void
hwtdi_users_add(struct hwtdi_users *users)
{
	(void)atomic_fetch_add_explicit(&users->others, 1,
	    memory_order_relaxed);
}

/* One less.  True: nobody is left. */
static inline bool
hwtdi_users_drop(struct hwtdi_users *users)
{
	return (atomic_fetch_sub_explicit(&users->others, 1,
		    memory_order_acq_rel) == 0);
}

#endif /* HWTDI_USERS_H */
