/*
 * What the program of the example traces keeps its items in.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stddef.h>
#include <stdint.h>

struct item {
	uint32_t id;
	uint32_t price;
	uint32_t sold;
};

struct table {
	struct item *items;
	size_t room;
	size_t n;
	size_t n_grown;
};

/* Inlined, so that the trace has an inlined function. */
__attribute__((always_inline)) static inline uint32_t
hash(uint32_t id)
{
	id ^= id >> 15;
	id *= 0x2c1b3c6du;
	id ^= id >> 12;
	return (id);
}

void table_init(struct table *table);
struct item *table_find(struct table *table, uint32_t id);
struct item *table_insert(struct table *table, uint32_t id);

#endif /* TABLE_H */
