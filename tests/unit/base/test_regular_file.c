/*
 * Only regular files are opened, and none is taken for empty that is not.
 */
#include "base/regular_file.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/temp_dir.h"

struct paths {
	char full[300], empty[300], link[300], missing[300], folder[300],
	    fifo[300], socket[300];
};

static void
make(const struct temp_dir *dir, struct paths *p)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd;

	write_file(temp_dir_file(dir, "full", p->full), "abc", 3);
	write_file(temp_dir_file(dir, "empty", p->empty), "", 0);
	assert_int_equal(symlink("full", temp_dir_file(dir, "link", p->link)),
	    0);
	(void)temp_dir_file(dir, "missing", p->missing);
	assert_int_equal(mkdir(temp_dir_file(dir, "folder", p->folder), 0700),
	    0);
	assert_int_equal(mkfifo(temp_dir_file(dir, "fifo", p->fifo), 0600), 0);
	(void)temp_dir_file(dir, "socket", p->socket);
	assert_true(strlen(p->socket) < sizeof(name.sun_path));
	strcpy(name.sun_path, p->socket);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const void *)&name, sizeof(name)), 0);
	(void)close(fd);
}

static void
only_regular_files_are_opened(void **state)
{
	struct temp_dir dir;
	struct paths p;
	const struct {
		const char *path;
		int sys_errno;
		uint64_t size;
		const char *message;
	} cases[] = {
		{ p.full, 0, 3, "" },
		{ p.link, 0, 3, "" },
		{ p.empty, 0, 0, "" },
		{ p.missing, ENOENT, 0, "No such file" },
		{ p.folder, EISDIR, 0, "a directory; name a file in it" },
		{ p.fifo, ESPIPE, 0, "a pipe; save it to a file first" },
		{ p.socket, ESPIPE, 0, "is not a regular file; copy it" },
		{ "/dev/null", ESPIPE, 0, "is not a regular file; copy it" },
		{ "/dev/tty", ESPIPE, 0, "is not a regular file; copy it" },
		{ "/proc/self/maps", EINVAL, 0, "claims to be empty and is" },
		{ "/proc/self/mem", EIO, 0, "claims to be empty, and cannot" },
	};

	(void)state;
	temp_dir_create(&dir);
	make(&dir, &p);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_error err = { .size = sizeof(err) };
		uint64_t size = 1;
		int fd = -1, rc;

		/* Not every system has them. */
		if (access(cases[i].path, F_OK) != 0 &&
		    cases[i].sys_errno != ENOENT)
			continue;
		print_message("case %s\n", cases[i].path);
		rc = hwtdi_regular_file_open(cases[i].path, &fd, &size, &err);
		if (cases[i].sys_errno == 0) {
			assert_int_equal(rc, HWTD_OK);
			assert_int_equal(size, cases[i].size);
			assert_int_equal(close(fd), 0);
			continue;
		}
		assert_int_equal(rc, HWTD_E_IO);
		assert_int_equal(fd, -1);
		assert_int_equal(err.sys_errno, cases[i].sys_errno);
		assert_non_null(strstr(err.message, cases[i].message));
	}
	(void)rmdir(p.folder);
	temp_dir_remove(&dir);
}

static void
names_of_one_file_are_the_same(void **state)
{
	struct temp_dir dir;
	struct paths p;

	(void)state;
	temp_dir_create(&dir);
	make(&dir, &p);
	assert_true(hwtdi_regular_file_same(p.full, p.full));
	assert_true(hwtdi_regular_file_same(p.full, p.link));
	assert_false(hwtdi_regular_file_same(p.full, p.empty));
	assert_false(hwtdi_regular_file_same(p.full, p.missing));
	assert_false(hwtdi_regular_file_same(p.missing, p.full));
	assert_false(hwtdi_regular_file_same(p.folder, p.folder));
	(void)rmdir(p.folder);
	temp_dir_remove(&dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_regular_files_are_opened),
		cmocka_unit_test(names_of_one_file_are_the_same),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
