/*
 * Names that resemble one that was not found.
 */
#include "base/near_names.h"

#include <stdbool.h>
#include <string.h>

/* Steps of all comparisons; about a tenth of a second. */
#define WORK (UINT64_C(1) << 25)
/* More than any number of changes. */
#define FAR UINT32_MAX

/* Changes up to which a name is near. */
static uint32_t
most_changes(size_t n)
{
	return (n < 3 ? 1 : (uint32_t)(n / 3));
}

void
hwtdi_near_names_init(struct hwtdi_near_names *near, const char *wanted)
{
	memset(near, 0, sizeof(*near));
	near->wanted = wanted;
	near->n_wanted = strlen(wanted);
	near->left = WORK;
}

/* Bytes to change, add or take away (Levenshtein), row by row. */
static uint32_t
changes(const char *a, size_t n_a, const char *b, size_t n_b)
{
	uint32_t row[HWTDI_NEAR_BYTES_MAX + 1];

	for (size_t i = 0; i <= n_b; i++)
		row[i] = (uint32_t)i;
	for (size_t k = 1; k <= n_a; k++) {
		uint32_t across = row[0];

		row[0] = (uint32_t)k;
		for (size_t i = 1; i <= n_b; i++) {
			uint32_t best = across + (a[k - 1] != b[i - 1]);

			if (row[i] + 1 < best)
				best = row[i] + 1;
			if (row[i - 1] + 1 < best)
				best = row[i - 1] + 1;
			across = row[i];
			row[i] = best;
		}
	}
	return (row[n_b]);
}

static uint32_t
cost_of(struct hwtdi_near_names *near, const char *name, size_t n)
{
	const uint32_t most = most_changes(near->n_wanted);
	const size_t apart = n > near->n_wanted ? n - near->n_wanted
						: near->n_wanted - n;
	const uint64_t work = (uint64_t)(n + 1) * near->n_wanted;
	uint32_t cost = FAR;

	if (work > near->left)
		return (FAR);
	near->left -= apart <= most ? work : n;
	if (apart <= most)
		cost = changes(near->wanted, near->n_wanted, name, n);
	if (cost <= most)
		return (cost);
	/* Short ones are in all names. */
	if (near->n_wanted >= 3 && n > near->n_wanted &&
	    strstr(name, near->wanted) != NULL)
		return (most + (uint32_t)apart);
	return (FAR);
}

static bool
is_plain(const char *name)
{
	for (; *name != '\0'; name++)
		if ((unsigned char)*name < ' ' || *name == 0x7f)
			return (false);
	return (true);
}

void
hwtdi_near_names_offer(struct hwtdi_near_names *near, const char *name)
{
	const size_t n = strnlen(name, HWTDI_NEAR_BYTES_MAX + 1);
	uint32_t cost;
	size_t at;

	if (n == 0 || n > HWTDI_NEAR_BYTES_MAX ||
	    near->n_wanted > HWTDI_NEAR_BYTES_MAX)
		return;
	cost = cost_of(near, name, n);
	if (cost == FAR)
		return;
	for (at = near->n; at > 0 && near->costs[at - 1] > cost; at--)
		continue;
	if (at == HWTDI_NEAR_MAX || !is_plain(name))
		return;
	for (size_t i = 0; i < near->n; i++)
		if (strcmp(near->names[i], name) == 0)
			return;
	if (near->n < HWTDI_NEAR_MAX)
		near->n++;
	for (size_t i = near->n - 1; i > at; i--) {
		near->names[i] = near->names[i - 1];
		near->costs[i] = near->costs[i - 1];
	}
	near->names[at] = name;
	near->costs[at] = cost;
}
