/*
 * Opening regular files.
 */
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

static int
check_kind(const struct stat *st, struct hwtd_error *err)
{
	if (S_ISREG(st->st_mode))
		return (HWTD_OK);
	if (S_ISDIR(st->st_mode))
		return (hwtdi_fail_sys(err, EISDIR,
		    "is not a regular file but a directory; name a file in "
		    "it"));
	if (S_ISFIFO(st->st_mode))
		return (hwtdi_fail_sys(err, ESPIPE,
		    "is not a regular file but a pipe; save it to a file "
		    "first"));
	return (hwtdi_fail_sys(err, ESPIPE,
	    "is not a regular file; copy it to one first"));
}

/* A size of 0 is no promise. */
static int
check_empty(int fd, struct hwtd_error *err)
{
	char byte;
	ssize_t n;

	do
		n = pread(fd, &byte, 1, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return (hwtdi_fail_sys(err, errno,
		    "claims to be empty, and cannot be read: %s; name a file "
		    "on disk",
		    strerror(errno)));
	if (n > 0)
		return (hwtdi_fail_sys(err, EINVAL,
		    "claims to be empty and is not; copy it to a file on disk "
		    "first"));
	return (HWTD_OK);
}

static int
check_open(int fd, uint64_t *size_out, struct hwtd_error *err)
{
	struct stat st;
	int rc;

	if (fstat(fd, &st) != 0)
		return (hwtdi_fail_sys(err, errno, "%s", strerror(errno)));
	/* It may be another file by now. */
	rc = check_kind(&st, err);
	if (rc == HWTD_OK && st.st_size <= 0)
		rc = check_empty(fd, err);
	if (rc == HWTD_OK)
		*size_out = st.st_size > 0 ? (uint64_t)st.st_size : 0;
	return (rc);
}

int
hwtdi_regular_file_open(const char *path, int *fd_out, uint64_t *size_out,
    struct hwtd_error *err)
{
	struct stat st;
	int fd, rc;

	if (stat(path, &st) != 0)
		return (hwtdi_fail_sys(err, errno, "%s", strerror(errno)));
	rc = check_kind(&st, err);
	if (rc != HWTD_OK)
		return (rc);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return (hwtdi_fail_sys(err, errno, "%s", strerror(errno)));
	rc = check_open(fd, size_out, err);
	if (rc != HWTD_OK) {
		(void)close(fd);
		return (rc);
	}
	*fd_out = fd;
	return (HWTD_OK);
}

bool
hwtdi_regular_file_same(const char *a, const char *b)
{
	struct stat x, y;

	return (stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) &&
	    x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}
