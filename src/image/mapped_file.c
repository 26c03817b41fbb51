/*
 * Files that are looked into at a few places, and too large to be read whole.
 */
#include "image/mapped_file.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/regular_file.h"

int
hwtdi_mapped_file_open(struct hwtdi_mapped_file *file, const char *path,
    struct hwtd_error *err)
{
	void *at;
	int fd = -1, rc;

	memset(file, 0, sizeof(*file));
	rc = hwtdi_regular_file_open(path, &fd, &file->n, err);
	if (rc != HWTD_OK || file->n == 0) {
		if (rc == HWTD_OK)
			(void)close(fd);
		return (rc);
	}
	at = file->n <= SIZE_MAX
	    ? mmap(NULL, (size_t)file->n, PROT_READ, MAP_PRIVATE, fd, 0)
	    : MAP_FAILED;
	if (at == MAP_FAILED)
		rc = hwtdi_fail_sys(err, file->n <= SIZE_MAX ? errno : EFBIG,
		    "cannot map %zu bytes", (size_t)file->n);
	(void)close(fd);
	if (rc != HWTD_OK) {
		file->n = 0;
		return (rc);
	}
	file->bytes = at;
	return (HWTD_OK);
}

void
hwtdi_mapped_file_close(struct hwtdi_mapped_file *file)
{
	if (file->bytes != NULL)
		(void)munmap((void *)(uintptr_t)file->bytes, (size_t)file->n);
	memset(file, 0, sizeof(*file));
}
