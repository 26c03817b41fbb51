/*
 * A hash table: finding is fast, and once in a while inserting is slow.
 */
#include "table.h"

#define FIRST_ROOM 16
#define POOL 4096

static struct item pool[POOL];
static size_t n_used;

static struct item *
take(size_t n)
{
	struct item *items = &pool[n_used];

	n_used += n;
	return (items);
}

void
table_init(struct table *table)
{
	table->items = take(FIRST_ROOM);
	table->room = FIRST_ROOM;
}

__attribute__((noinline)) static struct item *
slot(struct item *items, size_t room, uint32_t id)
{
	size_t at = hash(id) & (room - 1);

	while (items[at].id != 0 && items[at].id != id)
		at = (at + 1) & (room - 1);
	return (&items[at]);
}

/* The rare slow path: all items move to a table of twice the size. */
__attribute__((noinline)) static void
grow(struct table *table)
{
	const size_t room = 2 * table->room;
	struct item *items = take(room);

	for (size_t i = 0; i < table->room; i++)
		if (table->items[i].id != 0)
			*slot(items, room,
			    table->items[i].id) = table->items[i];
	table->items = items;
	table->room = room;
	table->n_grown++;
}

__attribute__((noinline)) struct item *
table_find(struct table *table, uint32_t id)
{
	struct item *item = slot(table->items, table->room, id);

	return (item->id != 0 ? item : NULL);
}

__attribute__((noinline)) struct item *
table_insert(struct table *table, uint32_t id)
{
	struct item *item;

	if (4 * (table->n + 1) > 3 * table->room)
		grow(table);
	item = slot(table->items, table->room, id);
	if (item->id == 0) {
		item->id = id;
		table->n++;
	}
	return (item);
}
