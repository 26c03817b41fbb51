/*
 * The commands of the tool: one table for dispatch, help and options.
 */
#ifndef HWTDECODE_CLI_COMMAND_H
#define HWTDECODE_CLI_COMMAND_H

#include <stdint.h>

struct options;

/* Sets of commands, for the option table. */
enum command_bit {
	COMMAND_INFO = 0x01,
	COMMAND_CHECK = 0x02,
	COMMAND_EVENTS = 0x04,
	COMMAND_INSNS = 0x08,
	COMMAND_IMPORT = 0x10,
	COMMAND_HELP = 0x20,
	COMMAND_VERSION = 0x40,
	COMMAND_RECORDS = 0x80,
	COMMAND_MAPS = 0x100,
	COMMAND_ARCHIVE = 0x200,
	COMMAND_PACKETS = 0x400,
	COMMAND_SPE = 0x800,
	COMMAND_MEM = 0x1000,
	COMMAND_RECORD = 0x2000,
	COMMAND_CALLS = 0x4000,
	COMMAND_REPORT = 0x8000,
	COMMAND_EXPORT = 0x10000,
	COMMAND_FLAME = 0x20000,
	COMMAND_COVERAGE = 0x40000,
	COMMAND_HIST = 0x80000,
	COMMAND_DIFF = 0x100000
};

struct command {
	const char *name;
	uint32_t bit;
	/* Operands as help shows them, and how many there may be. */
	const char *operands;
	unsigned int min_operands;
	unsigned int max_operands;
	/* One line, and what help says besides. */
	const char *summary;
	const char *about;
	/* Returns an exit code. */
	int (*run)(const struct options *options);
};

/* All commands; ends with a NULL name. */
extern const struct command commands[];

/* NULL when there is none of that name. */
const struct command *command_find(const char *name);

/* Says that `name` is none, and which one may be meant. */
void command_unknown(const char *name);

/* Help on stdout or stderr (when usage was wrong). */
struct output;
void help_write_overview(struct output *out);
void help_write_command(struct output *out, const struct command *command);

int cmd_info(const struct options *options);
int cmd_check(const struct options *options);
int cmd_events(const struct options *options);
int cmd_insns(const struct options *options);
int cmd_import(const struct options *options);
int cmd_records(const struct options *options);
int cmd_maps(const struct options *options);
int cmd_packets(const struct options *options);
int cmd_mem(const struct options *options);
int cmd_coverage(const struct options *options);
int cmd_calls(const struct options *options);
int cmd_report(const struct options *options);
int cmd_export(const struct options *options);
int cmd_flame(const struct options *options);
int cmd_hist(const struct options *options);
int cmd_diff(const struct options *options);
int cmd_spe(const struct options *options);
int cmd_record(const struct options *options);
int cmd_archive(const struct options *options);
int cmd_help(const struct options *options);
int cmd_version(const struct options *options);

#endif /* HWTDECODE_CLI_COMMAND_H */
