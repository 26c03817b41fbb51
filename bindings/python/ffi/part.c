/*
 * Files in the making.
 */
#include "part.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hwtpy_part {
	uint64_t process;
	char *name;
};

struct hwtpy_part *
hwtpy_part_create(const char *name, uint64_t process)
{
	struct hwtpy_part *part = calloc(1, sizeof(*part));

	if (part == NULL)
		return (NULL);
	part->process = process;
	part->name = strdup(name);
	if (part->name == NULL) {
		free(part);
		return (NULL);
	}
	return (part);
}

void
hwtpy_part_drop(struct hwtpy_part *part)
{
	if (part->process == (uint64_t)getpid())
		(void)unlink(part->name);
	free(part->name);
	free(part);
}
