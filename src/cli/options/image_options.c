/*
 * Images named on the command line: --image FILE[:OFFSET[:SIZE]]@ADDRESS and
 * --images LIST.
 */
#include <sys/stat.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options/image_options.h"
#include "cli/output/message.h"
#include "cli/options/option_values.h"

/* A line of a list is a path and three numbers. */
#define MAX_LINE 8192

bool
options_add_image(struct options *options, char *path, uint64_t offset,
    uint64_t length, uint64_t address)
{
	struct hwtd_image_desc *images = realloc(options->images,
	    (options->n_images + 1) * sizeof(*images));

	if (images == NULL) {
		free(path);
		say_error("out of memory");
		return (false);
	}
	options->images = images;
	images[options->n_images++] = (struct hwtd_image_desc){
		.size = sizeof(*images),
		.path = path,
		.offset = offset,
		.length = length,
		.flags = HWTD_IMAGEF_ADDRESS,
		.address = address,
	};
	return (true);
}

/*
 * Find the last `separator` before `end` whose rest, up to `end`, is a number.
 */
static const char *
number_before(const char *text, const char *end, char separator,
    uint64_t *value)
{
	const char *at = end;

	while (at > text && *--at != separator)
		;
	if (at == text ||
	    parse_number(at + 1, (size_t)(end - (at + 1)), value) !=
		VALUE_FINE)
		return (NULL);
	return (at);
}

static bool
is_there(const char *path)
{
	struct stat st;

	return (stat(path, &st) == 0);
}

bool
take_image(struct options *options, const char *spec)
{
	/* How many numbers behind the name, and what they make of it. */
	const char *end[3];
	uint64_t number[3] = { 0 };
	uint64_t address = 0;
	size_t most = 0;
	char *path = NULL;

	end[0] = number_before(spec, spec + strlen(spec), '@', &address);
	if (end[0] == NULL) {
		say_error("--image: '%s' is not FILE[:OFFSET[:SIZE]]@ADDRESS",
		    spec);
		say_hint("ADDRESS is where the code lay when it ran, for "
			 "instance --image prog:0x1000@0x401000");
		return (false);
	}
	while (most < 2 &&
	    (end[most + 1] = number_before(spec, end[most], ':',
		 &number[most + 1])) != NULL)
		most++;

	/* A name may itself end in ":1": the reading whose file exists wins. */
	for (size_t take = most;; take--) {
		free(path);
		path = strndup(spec, (size_t)(end[take] - spec));
		if (path == NULL) {
			say_error("out of memory");
			return (false);
		}
		if (is_there(path)) {
			most = take;
			break;
		}
		if (take == 0) {
			free(path);
			path = strndup(spec, (size_t)(end[most] - spec));
			if (path == NULL) {
				say_error("out of memory");
				return (false);
			}
			break;
		}
	}
	/* Numbers stand from right to left: with two, the right one is SIZE. */
	const uint64_t offset = most == 2 ? number[2] : number[1];
	const uint64_t size = most == 2 ? number[1] : 0;

	return (options_add_image(options, path, most == 0 ? 0 : offset, size,
	    address));
}

/* Cut the last word off a line; NULL when there is none. */
static char *
last_word(char *line)
{
	size_t n = strlen(line);

	while (n > 0 && strchr(" \t\r\n", line[n - 1]) != NULL)
		n--;
	line[n] = '\0';
	while (n > 0 && strchr(" \t", line[n - 1]) == NULL)
		n--;
	if (line[n] == '\0')
		return (NULL);
	if (n > 0)
		line[n - 1] = '\0';
	else
		return (NULL);
	return (line + n);
}

/* `name` as seen from the folder of the list at `list`. */
static char *
path_beside(const char *list, const char *name)
{
	const char *slash = strrchr(list, '/');
	const size_t folder = name[0] == '/' || slash == NULL
	    ? 0
	    : (size_t)(slash + 1 - list);
	char *path = malloc(folder + strlen(name) + 1);

	if (path != NULL) {
		memcpy(path, list, folder);
		memcpy(path + folder, name, strlen(name) + 1);
	}
	return (path);
}

static bool
take_line(struct options *options, const char *list, unsigned int number,
    char *line)
{
	/* Address, size, offset: as they come from the right. */
	uint64_t value[3];

	for (size_t i = 0; i < 3; i++) {
		const char *word = last_word(line);

		if (word == NULL ||
		    parse_hex(word, strlen(word), &value[i]) != VALUE_FINE) {
			say_error(
			    "%s: line %u: not 'file offset size address'",
			    list, number);
			say_hint("numbers are hexadecimal without 0x, for "
				 "instance 'prog 1000 2f000 401000'");
			return (false);
		}
	}
	/* What is left is the name, with blanks inside if it has some. */
	size_t n = strlen(line);

	while (n > 0 && strchr(" \t", line[n - 1]) != NULL)
		line[--n] = '\0';
	line += strspn(line, " \t");
	if (line[0] == '\0') {
		say_error("%s: line %u: no file name", list, number);
		return (false);
	}
	char *path = path_beside(list, line);

	if (path == NULL) {
		say_error("out of memory");
		return (false);
	}
	return (options_add_image(options, path, value[2], value[1],
	    value[0]));
}

bool
take_image_list(struct options *options, const char *path)
{
	FILE *file = fopen(path, "r");
	char line[MAX_LINE];
	unsigned int number = 0;
	bool good = true;

	if (file == NULL) {
		say_error("%s: %s", path, strerror(errno));
		say_hint("--images names a text file with one image per line");
		options->failure = EXIT_FAILED;
		return (false);
	}
	while (good && fgets(line, sizeof(line), file) != NULL) {
		number++;
		if (strchr(line, '\n') == NULL && !feof(file)) {
			say_error("%s: line %u: too long", path, number);
			good = false;
			break;
		}
		const size_t blank = strspn(line, " \t\r\n");

		if (line[blank] == '\0' || line[blank] == '#')
			continue;
		good = take_line(options, path, number, line);
	}
	if (good && ferror(file)) {
		say_error("%s: %s", path, strerror(errno));
		options->failure = EXIT_FAILED;
		good = false;
	}
	fclose(file);
	return (good);
}
