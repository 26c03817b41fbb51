/*
 * Keys that were chosen for a hash: all of them begin their search in the
 * same few slots of a table.
 */
#ifndef TEST_CHOSEN_KEY_H
#define TEST_CHOSEN_KEY_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define CHOSEN_KEYS 40000u
/* A table that fills itself to one half has no more slots for them. */
#define CHOSEN_SLOTS (1u << 17)
/* All keys together; one by one through all others it takes far longer. */
#define CHOSEN_SECONDS 1.0

static inline bool
is_chosen(uint64_t hash)
{
	return ((hash & (CHOSEN_SLOTS - 1)) < CHOSEN_SLOTS / 128);
}

static inline double
cpu_seconds(void)
{
	return ((double)clock() / CLOCKS_PER_SEC);
}

#endif /* TEST_CHOSEN_KEY_H */
