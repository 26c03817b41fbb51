/*
 * hwtdecode help: the table of commands, and help of each made from the
 * option table.
 */
#include <limits.h>
#include <string.h>

#include "cli/output/loss.h"
#include "cli/output/message.h"
#include "cli/options/option_values.h"
#include "cli/output/output.h"
#include "cli/options/packet_options.h"

#define HELP_COLUMN 26

const struct command commands[] = {
	{ "info", COMMAND_INFO, "FILE", 1, 1,
	    "show what a trace holds, without decoding it",
	    "Shows the format, the streams and how they were recorded, the "
	    "images, the number of records and known damage.  The trace bytes "
	    "are not decoded unless --time-span asks for it.",
	    cmd_info },
	{ "check", COMMAND_CHECK, "FILE", 1, 1,
	    "decode everything and account for every byte",
	    "Decodes the whole trace and says, per stream, how many bytes "
	    "gave "
	    "events and how many gave nothing, why, and what to do about it.  "
	    "With --expect it compares with a stored result.",
	    cmd_check },
	{ "events", COMMAND_EVENTS, "FILE", 1, 1,
	    "print the events, code as blocks",
	    "Prints one row per event.  Executed code comes as blocks: runs "
	    "of "
	    "instructions up to the next branch.",
	    cmd_events },
	{ "insns", COMMAND_INSNS, "FILE", 1, 1,
	    "print every executed instruction",
	    "Prints one row per executed instruction and per other event.",
	    cmd_insns },
	{ "import", COMMAND_IMPORT, "FILE", 1, 1,
	    "turn any readable input into a .hwt file",
	    "Saves the trace, with what the options say about it, as a file "
	    "that needs none of these options any more.  -o is needed.  Code "
	    "of the images is stored when --image or --images is given, since "
	    "the new file could not be decoded elsewhere without.",
	    cmd_import },
	{ "records", COMMAND_RECORDS, "FILE", 1, 1,
	    "print what the trace says about programs and mappings",
	    "Prints one line per record: programs, mappings, threads, "
	    "switches, "
	    "buffers and losses, in the order in which they were recorded.",
	    cmd_records },
	{ "maps", COMMAND_MAPS, "FILE", 1, 1,
	    "show what is mapped where, by process",
	    "Shows the mappings of each process, of the kernel and of all "
	    "processes, by address, at the end of the trace or --at another "
	    "position.",
	    cmd_maps },
	{ "packets", COMMAND_PACKETS, "FILE", 1, 1,
	    "print the raw packets, every byte of them",
	    "Prints one row per packet: offset, bytes, name and fields.  "
	    "Bytes "
	    "that are no packet are rows too.",
	    cmd_packets },
	{ "spe", COMMAND_SPE, "FILE", 1, 1,
	    "print the samples of Arm SPE, every field of them",
	    "Prints one row per sample: when, who and where, the operation, "
	    "addresses, latencies, events and the data source by name, and "
	    "what is wrong with it.  Raw bytes need --tech spe.",
	    cmd_spe },
	{ "mem", COMMAND_MEM, "FILE ...", 1, 4096,
	    "add up the samples of Arm SPE: latency, cache misses, sharing",
	    "Adds up samples by code, by data, by where data came from or by "
	    "who used it: latencies, misses, transfers between caches, "
	    "mispredicted branches.  Samples of several files are added "
	    "together.  Raw bytes need --tech spe.",
	    cmd_mem },
	{ "calls", COMMAND_CALLS, "FILE", 1, 1,
	    "print which function called which, when and for how long",
	    "Prints the calls of each thread, indented: a line where a call "
	    "begins and one where it ends, with its time.  Calls end by the "
	    "address behind them, not by name.  FILE may be text of "
	    "perf-script(1) with branches, too.",
	    cmd_calls },
	{ "report", COMMAND_REPORT, "FILE ...", 1, 4096,
	    "add up what was executed: functions, lines, callers, threads",
	    "Adds up executed instructions by function, line, image, block or "
	    "thread; with --calls also time and what each function called.  "
	    "Says what was not seen.  What several files hold is added "
	    "together.  FILE may be text of perf-script(1) with branches, "
	    "too.",
	    cmd_report },
	{ "coverage", COMMAND_COVERAGE, "FILE ...", 1, 4096,
	    "tell which lines, functions and branches ran, and which did not",
	    "Counts how often each line, function, branch and edge of the "
	    "programs was executed, by their debug information and symbols, "
	    "and lists what was not reached.  Several files are added up.  "
	    "Writes files for genhtml(1), and fails if too little was "
	    "reached.",
	    cmd_coverage },
	{ "export", COMMAND_EXPORT, "FILE", 0, 1,
	    "write a file for viewers, profilers and compilers",
	    "Writes what was found in the trace in a format of other "
	    "programs: --to names it, or the name of the file of -o ends in "
	    "it.  '--to help' lists the formats.  FILE may be text of "
	    "perf-script(1) with branches, for formats made of calls.",
	    cmd_export },
	{ "flame", COMMAND_FLAME, "FILE", 1, 1,
	    "show what stacks of calls weigh, as a flame graph",
	    "Adds up the stacks of all calls and tells what each weighs: as "
	    "a tree, as a picture for browsers (-o FILE.svg), or folded into "
	    "lines.  --diff compares with another trace.  FILE may be text "
	    "of perf-script(1) with branches, too.",
	    cmd_flame },
	{ "hist", COMMAND_HIST, "FILE ...", 1, 4096,
	    "show how times of calls are distributed",
	    "Prints for each function how the times of its calls are "
	    "distributed, or the instructions or cycles they took, or the "
	    "time "
	    "from one function to another: percentiles, and bars.  Calls that "
	    "were not seen in full are counted apart.  Several files are "
	    "added together.  FILE may be text of perf-script(1) with "
	    "branches, too.",
	    cmd_hist },
	{ "diff", COMMAND_DIFF, "A B", 2, 2,
	    "compare two traces: functions, calls, and where they part",
	    "Prints which functions changed most from A to B, and where the "
	    "threads of both first went different ways, with what they "
	    "executed before and then.  Programs may lie elsewhere in each; "
	    "what is in a gap is not compared.  Functions of text of "
	    "perf-script(1) can be compared, too.",
	    cmd_diff },
	{ "archive", COMMAND_ARCHIVE, "FILE", 1, 1,
	    "save a trace with the code of every image",
	    "Saves the trace as a .hwt file that holds the mapped code of "
	    "every image, so that it decodes on any machine.  -o is needed.  "
	    "Images that are not there are listed.",
	    cmd_archive },
	{ "record", COMMAND_RECORD, "[--] PROGRAM [ARGUMENT ...]", 0, UINT_MAX,
	    "record a trace with hwt(4) of FreeBSD",
	    "Runs a program, or takes a process that runs or CPUs, and writes "
	    "what the hardware traces of it to the .hwt file of -o, until the "
	    "program ends, a limit is reached or SIGINT comes.  --list says "
	    "what this machine can record with.",
	    cmd_record },
	{ "help", COMMAND_HELP, "[COMMAND]", 0, 1,
	    "show help, of one command if named",
	    "Shows the commands, or the options of one.", cmd_help },
	{ "version", COMMAND_VERSION, "", 0, 0,
	    "show the versions of the tool and its libraries",
	    "Shows the version of the tool, of libhwtdecode and of the "
	    "libraries it decodes with.",
	    cmd_version },
	{ NULL, 0, NULL, 0, 0, NULL, NULL, NULL },
};

static const char *const group_titles[GROUP_COUNT] = {
	[GROUP_COMMAND] = "Options",
	[GROUP_TARGET] = "What to record",
	[GROUP_CAPTURE] = "How to record",
	[GROUP_INPUT] = "About the input",
	[GROUP_FILTER] = "What to print",
	[GROUP_DECODE] = "How to decode",
	[GROUP_OUTPUT] = "Output",
	[GROUP_GENERAL] = "General",
};

const struct command *
command_find(const char *name)
{
	for (const struct command *c = commands; c->name != NULL; c++) {
		if (strcmp(c->name, name) == 0)
			return (c);
	}
	return (NULL);
}

void
command_unknown(const char *name)
{
	const struct command *best = NULL;
	unsigned int best_distance = 3;

	for (const struct command *c = commands; c->name != NULL; c++) {
		const unsigned int distance = word_distance(name, c->name);

		if (distance < best_distance) {
			best_distance = distance;
			best = c;
		}
	}
	say_error("unknown command '%s'", name);
	if (best != NULL)
		say_hint("did you mean %s?", best->name);
	else
		say_hint("'hwtdecode help' lists the commands");
}

static void
write_item(struct output *out, const char *item, const char *text)
{
	size_t at = strlen(item) + 2;

	output_text(out, "  ");
	output_text(out, item);
	if (at + 2 > HELP_COLUMN) {
		output_char(out, '\n');
		at = 0;
	}
	for (; at < HELP_COLUMN; at++)
		output_char(out, ' ');
	output_wrapped(out, text, HELP_COLUMN, at);
}

static void
write_option(struct output *out, const struct option_entry *entry)
{
	char item[192] = "";
	size_t n = 0;

	if (entry->letter != 0) {
		item[n++] = '-';
		item[n++] = entry->letter;
		item[n++] = ',';
		item[n++] = ' ';
	}
	item[n++] = '-';
	item[n++] = '-';
	const bool may = entry->value != NULL && entry->value[0] == '[';
	const char *parts[3] = { entry->name,
		entry->value != NULL && !may ? " " : "",
		entry->choices != NULL	   ? entry->choices
		    : entry->value != NULL ? entry->value
					   : "" };

	for (size_t i = 0; i < 3; i++) {
		const size_t len = strlen(parts[i]);

		if (n + len >= sizeof(item))
			break;
		memcpy(item + n, parts[i], len + 1);
		n += len;
	}
	write_item(out, item, entry->help);
}

void
help_write_overview(struct output *out)
{
	output_text(out,
	    "hwtdecode decodes hardware traces: Intel PT, CoreSight, Arm "
	    "SPE.\n\n"
	    "usage: hwtdecode COMMAND [OPTION ...] [FILE]\n\n"
	    "Commands:\n");
	for (const struct command *c = commands; c->name != NULL; c++)
		write_item(out, c->name, c->summary);
	output_text(out,
	    "\nFILE is a .hwt file, a perf.data of Linux, a snapshot, a "
	    "bundle, a recording\nof hwt(8) or bsdtrace, or raw bytes "
	    "(--tech); - is standard input.\n"
	    "'hwtdecode help COMMAND' shows the options of a command, "
	    "'hwtdecode help gaps' what\nto do where a trace gave nothing.\n"
	    "Exit codes: 0 done, 1 failure, 2 usage, 3 more loss than "
	    "--max-loss,\n4 input not recognised or damaged beyond use, 130 "
	    "interrupted.\n");
}

void
help_write_command(struct output *out, const struct command *command)
{
	output_format(out, "usage: hwtdecode %s [OPTION ...]%s%s\n\n",
	    command->name, command->operands[0] != '\0' ? " " : "",
	    command->operands);
	output_wrapped(out, command->about, 0, 0);
	for (unsigned int group = 0; group < GROUP_COUNT; group++) {
		bool titled = false;

		for (const struct option_entry *e = option_table;
		     e->name != NULL; e++) {
			if (e->group != group ||
			    (e->commands & command->bit) == 0)
				continue;
			if (!titled)
				output_format(out, "\n%s:\n",
				    group_titles[group]);
			titled = true;
			write_option(out, e);
		}
	}
	if ((command->bit & (COMMAND_EVENTS | COMMAND_INSNS | COMMAND_SPE)) !=
	    0) {
		size_t at = 0;

		output_text(out, "\nKinds:");
		for (uint32_t kind = 1; kind < HWTD_EV_KINDS; kind++) {
			const char *name = hwtd_event_kind_name(kind);

			/* Eight to a line. */
			output_format(out, "%s%s", at % 8 == 0 ? "\n  " : " ",
			    name);
			at++;
		}
		output_char(out, '\n');
	}
	if (command->bit == COMMAND_PACKETS) {
		size_t at = 0;

		output_text(out, "\nKinds:");
		for (uint32_t kind = 0; kind < HWTD_PACKET_KINDS; kind++) {
			if (is_packet_kind(kind))
				output_format(out, "%s%s",
				    at++ % 6 == 0 ? "\n  " : " ",
				    hwtd_packet_kind_name(kind));
		}
		output_char(out, '\n');
	}
	if (command->bit == COMMAND_RECORDS) {
		output_text(out, "\nTypes:");
		for (uint32_t type = 0; type < HWTD_REC_TYPES; type++)
			output_format(out, "%s%s",
			    type % 6 == 0 ? "\n  " : " ",
			    hwtd_record_type_name(type));
		output_char(out, '\n');
	}
}

/* Each reason of a gap, and what to do. */
static void
write_gaps(struct output *out)
{
	output_text(out,
	    "What gave no event is a gap, with a reason.  What helps:\n\n");
	for (uint32_t i = 0; i < HWTD_GAP_REASONS; i++)
		write_item(out, hwtd_gap_reason_name(i), loss_advice(i));
	output_text(out,
	    "\n'hwtdecode check --gaps FILE' lists the gaps of a trace.\n");
}

int
cmd_help(const struct options *options)
{
	const struct command *command = NULL;
	bool gaps = false;
	struct output out;

	if (options->n_operands > 0)
		gaps = strcmp(options->operands[0], "gaps") == 0;
	if (options->n_operands > 0 && !gaps) {
		command = command_find(options->operands[0]);
		if (command == NULL) {
			command_unknown(options->operands[0]);
			return (EXIT_BAD_USAGE);
		}
	}
	if (!output_open(&out, NULL))
		return (EXIT_FAILED);
	if (gaps)
		write_gaps(&out);
	else if (command != NULL)
		help_write_command(&out, command);
	else
		help_write_overview(&out);
	return (output_close(&out, true) ? EXIT_DONE : EXIT_FAILED);
}
