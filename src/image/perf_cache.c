/*
 * What perf(1) calls names without a file, and where it keeps files.
 *
 * Sources: perf-buildid-cache(1); Linux, tools/perf/util/build-id.c,
 * build_id_cache__add(), and tools/perf/builtin-buildid-cache.c,
 * build_id_cache__add_kcore(): the layout of the cache.
 */
#include "image/perf_cache.h"

#include <dirent.h>
#include <string.h>

/* Entries of a folder that are looked at. */
#define MAX_ENTRIES 4096u

enum hwtdi_perf_name
hwtdi_perf_name_kind(const char *name)
{
	static const struct {
		const char *begin;
		enum hwtdi_perf_name kind;
	} known[] = {
		{ "[kernel.", HWTDI_PERF_KERNEL },
		{ "[kernel]", HWTDI_PERF_KERNEL },
		{ "[guest.kernel.", HWTDI_PERF_KERNEL },
		{ "[vdso", HWTDI_PERF_VDSO },
	};

	if (name[0] != '[' || strchr(name, ']') == NULL)
		return (HWTDI_PERF_FILE);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strncmp(name, known[i].begin, strlen(known[i].begin)) == 0)
			return (known[i].kind);
	return (HWTDI_PERF_OTHER);
}

/* Longer numbers are later times, and they are all of one length. */
static bool
is_newer(const char *a, const char *b)
{
	const size_t n = strlen(a), m = strlen(b);

	return (n != m ? n > m : strcmp(a, b) > 0);
}

static void
add(struct hwtdi_perf_copies *copies, const char *name)
{
	size_t i = copies->n;

	while (i > 0 && is_newer(name, copies->names[i - 1]))
		i--;
	if (i == HWTDI_PERF_MAX_COPIES)
		return;
	if (copies->n < HWTDI_PERF_MAX_COPIES)
		copies->n++;
	memmove(copies->names[i + 1], copies->names[i],
	    (copies->n - 1 - i) * sizeof(copies->names[0]));
	(void)strcpy(copies->names[i], name);
}

void
hwtdi_perf_copies_find(struct hwtdi_perf_copies *copies, const char *folder)
{
	const struct dirent *entry;
	unsigned int left = MAX_ENTRIES;
	DIR *dir;

	copies->n = 0;
	dir = opendir(folder);
	if (dir == NULL)
		return;
	while (left-- > 0 && (entry = readdir(dir)) != NULL) {
		const size_t n = strlen(entry->d_name);

		if (n < HWTDI_PERF_COPY_NAME &&
		    strspn(entry->d_name, "0123456789") == n)
			add(copies, entry->d_name);
	}
	(void)closedir(dir);
}
