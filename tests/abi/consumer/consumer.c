/*
 * A program as users write it: built out of an installed tree, in C and C++.
 */
#include <hwtdecode/hwtdecode.h>

#include <stdio.h>
#include <string.h>

int
main(void)
{
	struct hwtd_context *ctx = NULL;
	struct hwtd_component component;
	struct hwtd_error err;
	char version[32];

	memset(&err, 0, sizeof(err));
	err.size = sizeof(err);
	(void)snprintf(version, sizeof(version), "%d.%d.%d",
	    HWTD_VERSION_MAJOR, HWTD_VERSION_MINOR, HWTD_VERSION_PATCH);
	if (strcmp(version, hwtd_version()) != 0) {
		printf("header %s, library %s\n", version, hwtd_version());
		return (1);
	}
	for (size_t i = 0; hwtd_version_component(i, &component) == HWTD_OK;
	     i++)
		printf("%s %s\n", component.name, component.version);
	if (hwtd_context_create(NULL, &ctx, &err) != HWTD_OK) {
		printf("%s\n", err.message);
		return (1);
	}
	hwtd_context_destroy(ctx);
	printf("consumer of libhwtdecode %s\n", version);
	return (0);
}
