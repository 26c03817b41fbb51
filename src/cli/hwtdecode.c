/*
 * The hwtdecode tool: finds the command and runs it.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/output/interrupt.h"
#include "cli/output/message.h"
#include "cli/options/options.h"
#include "cli/output/output.h"

/*
 * A file opened later must not become standard output or error because the
 * caller closed these.
 */
static void
hold_standard_files(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) == -1)
			(void)open("/dev/null",
			    fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
	}
}

static int
show_help(const struct command *command)
{
	struct output out;

	if (!output_open(&out, NULL))
		return (EXIT_FAILED);
	if (command == NULL)
		help_write_overview(&out);
	else
		help_write_command(&out, command);
	return (output_close(&out, true) ? EXIT_DONE : EXIT_FAILED);
}

static int
run(const struct command *command, int argc, char *const argv[])
{
	struct options options;
	int code;

	if (!options_parse(&options, command, argc, argv))
		code = options.failure;
	else if (options.help)
		code = show_help(command);
	else if (options.version)
		code = cmd_version(&options);
	else
		code = command->run(&options);
	options_fini(&options);
	return (code);
}

int
main(int argc, char *argv[])
{
	const struct command *command;

	hold_standard_files();
	interrupt_catch();
	if (argc < 2) {
		say_error("no command");
		say_hint("'hwtdecode help' lists the commands");
		return (EXIT_BAD_USAGE);
	}
	const char *name = argv[1];

	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		return (show_help(NULL));
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		name = "version";
	if (name[0] == '-') {
		say_error("'%s' stands where the command belongs", name);
		say_hint("options come behind it: hwtdecode COMMAND [OPTION]"
			 " ... FILE");
		return (EXIT_BAD_USAGE);
	}
	command = command_find(name);
	if (command == NULL) {
		command_unknown(name);
		return (EXIT_BAD_USAGE);
	}
	return (run(command, argc - 2, argv + 2));
}
