/*
 * Standard input as a file, in a folder of its own so that it always has the
 * same name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output/interrupt.h"
#include "cli/output/message.h"
#include "cli/input/spool.h"

#define FILE_NAME "/standard-input"
#define COPY_BYTES (64 * 1024)

/* Everything from standard input; 0 or the errno of what failed. */
static int
copy_to(int fd)
{
	char *buffer = malloc(COPY_BYTES);
	int why = buffer == NULL ? ENOMEM : 0;

	while (why == 0 && !interrupt_seen()) {
		const ssize_t n = read(STDIN_FILENO, buffer, COPY_BYTES);

		if (n == 0)
			break;
		if (n < 0) {
			why = errno == EINTR ? 0 : errno;
			continue;
		}
		for (ssize_t at = 0; why == 0 && at < n;) {
			const ssize_t done = write(fd, buffer + at,
			    (size_t)(n - at));

			if (done > 0)
				at += done;
			else if (done < 0 && errno != EINTR)
				why = errno;
		}
	}
	free(buffer);
	return (why);
}

char *
spool_standard_input(void)
{
	const char *folder = getenv("TMPDIR");
	int why = 0;

	if (folder == NULL || folder[0] == '\0')
		folder = "/tmp";
	const size_t room = strlen(folder) + sizeof("/hwtdecode-XXXXXX") +
	    sizeof(FILE_NAME);
	char *path = malloc(room);

	if (path == NULL) {
		say_error("out of memory");
		return (NULL);
	}
	snprintf(path, room, "%s/hwtdecode-XXXXXX", folder);
	if (mkdtemp(path) == NULL) {
		say_error("%s: %s", folder, strerror(errno));
		say_hint("set TMPDIR to a folder that can be written to");
		free(path);
		return (NULL);
	}
	const size_t n = strlen(path);

	memcpy(path + n, FILE_NAME, sizeof(FILE_NAME));
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
	    0600);

	if (fd < 0) {
		why = errno;
	} else {
		why = copy_to(fd);
		if (close(fd) != 0 && why == 0)
			why = errno;
	}
	if (why == 0 && !interrupt_seen())
		return (path);
	if (why != 0) {
		say_error("standard input: cannot copy it to %s: %s", folder,
		    strerror(why));
		say_hint("set TMPDIR to a folder with enough room");
	}
	spool_remove(path);
	return (NULL);
}

void
spool_remove(char *path)
{
	if (path == NULL)
		return;
	(void)unlink(path);
	path[strlen(path) - strlen(FILE_NAME)] = '\0';
	(void)rmdir(path);
	free(path);
}
