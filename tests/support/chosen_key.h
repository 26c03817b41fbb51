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

/*
 * For all keys together; one by one through all others it takes far longer.
 * It is 200 times what simple work takes here and now, about a second in a
 * build without sanitizers on an idle machine.
 */
static inline double
chosen_seconds(void)
{
	static uint32_t at[CHOSEN_SLOTS];
	const double start = cpu_seconds();
	uint64_t x = 1;

	for (uint32_t i = 0; i < 4000000; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		at[x >> 47]++;
	}
	return (200 * (cpu_seconds() - start) + 0.2 * (at[0] > 0));
}

#endif /* TEST_CHOSEN_KEY_H */
