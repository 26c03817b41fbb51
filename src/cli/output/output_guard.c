/*
 * What no output may replace: the files that a command reads.  Files are
 * compared, not names: links and other spellings lead to the same file.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/input/expectation.h"
#include "cli/output/message.h"
#include "cli/output/output_guard.h"

/* A file that will be written. */
struct target {
	/* As the user named it, and the option that did. */
	const char *name;
	const char *option;
	/* A regular file that is there. */
	bool exists;
	struct stat st;
};

/* -o, and what no command has both of: --expect --update, --lcov. */
#define MAX_TARGETS 2

static bool
is_same(const struct stat *a, const struct stat *b)
{
	return (a->st_dev == b->st_dev && a->st_ino == b->st_ino);
}

static bool
is_standard(const char *path)
{
	return (strcmp(path, "-") == 0);
}

static size_t
list_targets(const struct options *options, struct target targets[MAX_TARGETS])
{
	size_t n = 0;

	if (options->update && options->expect != NULL)
		targets[n++] = (struct target){
			.name = options->expect,
			.option = "--expect",
		};
	if (options->coverage.lcov != NULL)
		targets[n++] = (struct target){
			.name = options->coverage.lcov,
			.option = "--lcov",
		};
	/* What is appended to the trace while it is read has no end. */
	if (options->output == NULL || is_standard(options->output)) {
		struct target *out = &targets[n++];

		*out = (struct target){ .name = "standard output" };
		out->exists = fstat(STDOUT_FILENO, &out->st) == 0;
	} else {
		targets[n++] = (struct target){
			.name = options->output,
			.option = "-o",
		};
	}
	for (size_t i = 0; i < n; i++) {
		struct target *target = &targets[i];

		if (target->option != NULL)
			target->exists = stat(target->name, &target->st) == 0;
		/* Devices and pipes are written to, not replaced. */
		if (target->exists && !S_ISREG(target->st.st_mode))
			target->exists = false;
	}
	return (n);
}

static bool
spares(const struct target *targets, size_t n, const struct stat *st)
{
	for (size_t i = 0; i < n; i++) {
		if (!targets[i].exists || !is_same(&targets[i].st, st))
			continue;
		say_error("%s: is both input and output", targets[i].name);
		if (targets[i].option != NULL)
			say_hint("name another file with %s",
			    targets[i].option);
		else
			say_hint("write to another file, for instance with "
				 "-o FILE");
		return (false);
	}
	return (true);
}

static bool
spares_path(const struct target *targets, size_t n, const char *path)
{
	struct stat st;

	return (stat(path, &st) != 0 || spares(targets, n, &st));
}

/* The two, where no file need be there yet. */
static bool
differ(const struct options *options, const struct target *targets, size_t n)
{
	if (n != MAX_TARGETS || options->output == NULL ||
	    is_standard(options->output))
		return (true);
	if (targets[0].exists && targets[1].exists
		? is_same(&targets[0].st, &targets[1].st)
		: strcmp(targets[0].name, targets[1].name) == 0) {
		say_error("%s: is the file of both %s and -o", options->output,
		    targets[0].option);
		say_hint("name another file with -o");
		return (false);
	}
	return (true);
}

/* What --update replaces was written by it, or holds nothing. */
static bool
is_replaceable(const struct target *target)
{
	char line[sizeof(EXPECTATION_MARK) - 1];
	size_t n = 0;

	if (!target->exists || target->st.st_size == 0)
		return (true);
	const int fd = open(target->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		say_error("%s: %s", target->name, strerror(errno));
		return (false);
	}
	while (n < sizeof(line)) {
		const ssize_t got = read(fd, line + n, sizeof(line) - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	close(fd);
	if (n == sizeof(line) && memcmp(line, EXPECTATION_MARK, n) == 0)
		return (true);
	say_error("%s: is no expectation, and --update would replace it",
	    target->name);
	say_hint("name another file with --expect, or remove this one");
	return (false);
}

int
guard_inputs(const struct options *options)
{
	struct target targets[MAX_TARGETS];
	const size_t n = list_targets(options, targets);
	struct stat st;
	bool good = true;

	for (size_t i = 0; good && i < options->n_operands; i++) {
		if (!is_standard(options->operands[i]))
			good = spares_path(targets, n, options->operands[i]);
		else if (fstat(STDIN_FILENO, &st) == 0)
			good = spares(targets, n, &st);
	}
	for (size_t i = 0; good && i < options->n_images; i++)
		good = spares_path(targets, n, options->images[i].path);
	for (size_t i = 0; good && i < options->n_image_lists; i++)
		good = spares_path(targets, n, options->image_lists[i]);
	for (size_t i = 0; good && i < options->n_config_files; i++)
		good = spares_path(targets, n, options->config_files[i]);
	if (good && options->map_file != NULL)
		good = spares_path(targets, n, options->map_file);
	for (size_t i = 0; good && i < options->n_perf_records; i++)
		good = spares_path(targets, n, options->perf_records[i].path);
	if (good && options->expect != NULL && !options->update)
		good = spares_path(targets, n, options->expect);
	good = good && differ(options, targets, n);
	if (good && options->expect != NULL && options->update)
		good = is_replaceable(&targets[0]);
	return (good ? EXIT_DONE : EXIT_BAD_USAGE);
}

int
guard_named_files(const struct options *options,
    const struct hwtd_trace *trace)
{
	struct target targets[MAX_TARGETS];
	const size_t n = list_targets(options, targets);
	struct hwtd_section section = { .size = sizeof(section) };
	struct hwtd_image_info info = { .size = sizeof(info) };
	bool exists = false;

	for (size_t i = 0; i < n; i++)
		exists = exists || targets[i].exists;
	/* The operand can be the folder of the first. */
	for (size_t i = 0; exists && hwtd_trace_file(trace, i) != NULL; i++)
		if (!spares_path(targets, n, hwtd_trace_file(trace, i)))
			return (EXIT_BAD_USAGE);
	for (uint32_t i = 0;
	     exists && hwtd_trace_section(trace, i, &section) == HWTD_OK;
	     i++) {
		if (section.path != NULL &&
		    !spares_path(targets, n, section.path))
			return (EXIT_BAD_USAGE);
	}
	for (uint32_t i = 0;
	     exists && hwtd_trace_image(trace, i, &info) == HWTD_OK; i++)
		if (info.file[0] != '\0' &&
		    !spares_path(targets, n, info.file))
			return (EXIT_BAD_USAGE);
	return (EXIT_DONE);
}

int
guard_further_output(const struct options *options, const char *path)
{
	struct target target = { .name = path };

	target.exists = stat(path, &target.st) == 0 &&
	    S_ISREG(target.st.st_mode);
	for (size_t i = 0; i < options->n_operands; i++)
		if (!is_standard(options->operands[i]) &&
		    !spares_path(&target, 1, options->operands[i]))
			return (EXIT_BAD_USAGE);
	for (size_t i = 0; i < options->n_images; i++)
		if (!spares_path(&target, 1, options->images[i].path))
			return (EXIT_BAD_USAGE);
	return (EXIT_DONE);
}
