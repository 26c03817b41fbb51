/*
 * The options of all commands: the table that drives parsing and help, and
 * what parsing makes of a command line.
 */
#ifndef HWTDECODE_CLI_OPTIONS_H
#define HWTDECODE_CLI_OPTIONS_H

#include <stdbool.h>

#include <hwtdecode/hwtdecode.h>

#include "cli/command.h"

enum option_id {
	OPTION_TECH,
	OPTION_IMAGE,
	OPTION_IMAGES,
	OPTION_PT_CPU,
	OPTION_PT_MTC_FREQ,
	OPTION_PT_NOM_FREQ,
	OPTION_PT_CPUID_15H,
	OPTION_PT_FILTER,
	OPTION_PT_STOP,
	OPTION_ETM_CONFIG,
	OPTION_FRAMING,
	OPTION_CLOCK,
	OPTION_SPE_CPU,
	OPTION_SPE_VERSION,
	OPTION_SPE_OWNER,
	OPTION_SPE_COUNTER_BITS,
	OPTION_SPE_INTERVAL,
	OPTION_SPLIT_AT,
	OPTION_PERF_RECORDS,
	OPTION_MAPS,
	OPTION_THREAD,
	OPTION_STREAM_CPU,
	OPTION_STREAM_PID,
	OPTION_STREAM_TID,
	OPTION_TIME,
	OPTION_CPU,
	OPTION_TID,
	OPTION_PID,
	OPTION_ADDRESS,
	OPTION_KIND,
	OPTION_STREAM,
	OPTION_LIMIT,
	OPTION_JOBS,
	OPTION_ENGINE,
	OPTION_STRICT,
	OPTION_MAX_LOSS,
	OPTION_GAPS,
	OPTION_EXPECT,
	OPTION_UPDATE,
	OPTION_TIME_SPAN,
	OPTION_DISASM,
	OPTION_SYNTAX,
	OPTION_BYTES,
	OPTION_SYMBOLS,
	OPTION_LINES,
	OPTION_NO_COMPRESS,
	OPTION_LEVEL,
	OPTION_EMBED,
	OPTION_NO_EMBED,
	OPTION_ANY_FILE,
	OPTION_FORMAT,
	OPTION_OUTPUT,
	OPTION_NO_HEADER,
	OPTION_COLOR,
	OPTION_PROGRESS,
	OPTION_ROOT,
	OPTION_BUILD_ID_DIR,
	OPTION_MODULE_DIR,
	OPTION_NO_ORIGINAL_PATHS,
	OPTION_NO_BUILD_ID_CACHE,
	OPTION_MAX_MEMORY,
	OPTION_TYPE,
	OPTION_AT,
	OPTION_PACKET_KIND,
	OPTION_OFFSET,
	OPTION_TIMES,
	OPTION_RAW,
	OPTION_NO_SYNC,
	OPTION_BY,
	OPTION_SORT,
	OPTION_TOP,
	OPTION_WHERE,
	OPTION_ACCESSES,
	OPTION_HISTOGRAM,
	OPTION_LINE_BYTES,
	OPTION_PHYSICAL,
	OPTION_STYLE,
	OPTION_RECORD_TECH,
	OPTION_RECORD_PID,
	OPTION_CPUS,
	OPTION_USER,
	OPTION_KERNEL,
	OPTION_FILTER,
	OPTION_BUFFER,
	OPTION_TSC,
	OPTION_MTC,
	OPTION_CYC,
	OPTION_PSB,
	OPTION_PTWRITE,
	OPTION_NO_BRANCHES,
	OPTION_NO_TNT,
	OPTION_ANY_BUFFER,
	OPTION_INTERVAL,
	OPTION_CONTEXT,
	OPTION_CYCLES,
	OPTION_BRANCH_BROADCAST,
	OPTION_NO_RETURN_STACK,
	OPTION_NO_TIMESTAMPS,
	OPTION_NO_CONTEXT,
	OPTION_EVERY,
	OPTION_MAX_SIZE,
	OPTION_MAX_TIME,
	OPTION_RECORD_ARCHIVE,
	OPTION_KILL,
	OPTION_REPLACE,
	OPTION_LIST,
	OPTION_MIN_DURATION,
	OPTION_MAX_DEPTH,
	OPTION_TRIGGER,
	OPTION_ENTERS,
	OPTION_FUNCTIONS,
	OPTION_NO_INTERPOLATION,
	OPTION_TEXT,
	OPTION_REPORT_BY,
	OPTION_REPORT_SORT,
	OPTION_PERCENT_LIMIT,
	OPTION_CALLS,
	OPTION_INCLUSIVE,
	OPTION_CALLERS,
	OPTION_CALLEES,
	OPTION_TO,
	OPTION_SPLIT_SIZE,
	OPTION_RESOLUTION,
	OPTION_VALUE,
	OPTION_DETAILS,
	OPTION_COUNTERS,
	OPTION_TITLE,
	OPTION_GZIP,
	OPTION_CODE,
	OPTION_FLAME_FORMAT,
	OPTION_BY_THREAD,
	OPTION_INVERT,
	OPTION_ICICLE,
	OPTION_BY_NAME,
	OPTION_ABSOLUTE,
	OPTION_OFF_TIME,
	OPTION_MIN_WIDTH,
	OPTION_MIN_PERCENT,
	OPTION_DIFF,
	OPTION_PROGRAM,
	OPTION_COVERAGE_BY,
	OPTION_COVERAGE_FORMAT,
	OPTION_UNCOVERED,
	OPTION_LCOV,
	OPTION_ONLY_IMAGE,
	OPTION_SOURCE,
	OPTION_EXCLUDE,
	OPTION_PATH_MAP,
	OPTION_STRIP_PREFIX,
	OPTION_FAIL_UNDER,
	OPTION_SYM,
	OPTION_FROM,
	OPTION_TO_SYM,
	OPTION_HIST_VALUE,
	OPTION_HIST_SORT,
	OPTION_EXACT,
	OPTION_BARS,
	OPTION_BUCKETS,
	OPTION_SHOW,
	OPTION_DIFF_BY,
	OPTION_NORMALIZE,
	OPTION_THRESHOLD,
	OPTION_DIVERGENCES,
	OPTION_BLOCKS,
	OPTION_WINDOW,
	OPTION_WITH_KERNEL,
	OPTION_TID_A,
	OPTION_TID_B,
	OPTION_EXIT_CODE,
	OPTION_HELP,
	OPTION_VERSION
};

/* Under which heading help shows an option. */
enum option_group {
	GROUP_COMMAND,
	GROUP_TARGET,
	GROUP_CAPTURE,
	GROUP_INPUT,
	GROUP_FILTER,
	GROUP_DECODE,
	GROUP_OUTPUT,
	GROUP_GENERAL,
	GROUP_COUNT
};

struct option_entry {
	enum option_id id;
	/* Without "--". */
	const char *name;
	/* Short form, or 0. */
	char letter;
	enum option_group group;
	/* command_bit of each command that takes it. */
	uint32_t commands;
	/* Name of its value; NULL: it has none; "[=N]": it may, after "=". */
	const char *value;
	/* Values that it can have, as "a|b|c"; NULL: not a choice. */
	const char *choices;
	const char *help;
};

/* Ends with a NULL name. */
extern const struct option_entry option_table[];

enum output_format {
	FORMAT_TEXT,
	FORMAT_JSONL,
	FORMAT_CSV
};

enum color_choice {
	COLOR_AUTO,
	COLOR_ALWAYS,
	COLOR_NEVER
};

struct id_list {
	uint32_t *ids;
	size_t n;
};

struct range_list {
	struct hwtd_range *ranges;
	size_t n;
};

/* What a file of another program's is to be. */
struct export_options {
	/* Borrowed from argv, or NULL. */
	const char *to;
	const char *title;
	const char *program;
	uint64_t split_bytes;
	uint64_t resolution_ns;
	/* An hwtd_export_value. */
	uint32_t value;
	/* HWTD_EXPORT_* bits. */
	uint32_t flags;
	/* Of profiles: of code, not of calls. */
	bool code;
};

/* What is shown of stacks, and how. */
struct flame_options {
	/* An enum flame_format, if `has_format`. */
	uint32_t format;
	bool has_format;
	bool by_thread, invert, icicle, by_name, absolute, off_time;
	/* Of a million. */
	bool has_min;
	uint32_t min_ppm;
	/* Tenths of a pixel; 0: not given. */
	uint32_t min_width;
	/* A file, borrowed from argv, or NULL. */
	const char *diff;
};

/* Borrowed from argv. */
struct folder_list {
	const char **paths;
	size_t n;
};

/* Tables of coverage, in the order of --by. */
enum coverage_by {
	COVERAGE_BY_FILE,
	COVERAGE_BY_FUNCTION,
	COVERAGE_BY_LINE,
	COVERAGE_BY_BRANCH,
	COVERAGE_BY_EDGE,
	COVERAGE_BY_IMAGE,
	COVERAGE_BY_RANGE
};

/* What coverage is of, and how it is told. */
struct coverage_options {
	enum coverage_by by;
	/* --format lcov, and the file of --lcov; borrowed from argv. */
	bool to_lcov;
	const char *lcov;
	/* Only what was not reached. */
	bool uncovered;
	struct folder_list images, sources, excludes;
	/* Old prefixes are owned. */
	struct hwtd_path_map *maps;
	size_t n_maps;
	/* Percent of lines, functions, branches. */
	bool has_limit[3];
	double fail_under[3];
};

/* What record is asked for. */
struct record_options {
	bool list;
	/* 1 << hwtd_tech of --tech; and by tech, an option that it alone has. */
	uint32_t techs;
	const char *named_by[4];
	/* Whose threads; 0: of a program, or none. */
	uint32_t pid;
	bool by_cpu;
	bool all_cpus;
	struct id_list cpus;
	/* Borrowed from argv. */
	const char **filters;
	size_t n_filters;
	/* HWTD_CAPTURE_USER and HWTD_CAPTURE_KERNEL. */
	uint32_t who;
	uint64_t buffer_bytes;
	struct hwtd_capture_pt pt;
	struct hwtd_capture_spe spe;
	struct hwtd_capture_coresight coresight;
	/* 0: defaults. */
	uint64_t every_ns;
	uint64_t max_bytes;
	uint64_t max_ns;
	bool archive;
	bool kill;
	bool replace;
};

#define PACKET_KIND_WORDS ((HWTD_PACKET_KINDS + 63) / 64)

struct options {
	const struct command *command;
	/* What is no option; borrowed from argv. */
	const char **operands;
	size_t n_operands;
	/* All that follows the command; borrowed. */
	char *const *words;
	int n_words;
	bool help;
	bool version;
	/* Exit code when parsing failed. */
	int failure;

	/* The input. */
	uint32_t tech;
	struct hwtd_image_desc *images;
	size_t n_images;
	/* Files of --images; borrowed from argv. */
	const char **image_lists;
	size_t n_image_lists;
	struct hwtd_pt_config pt;
	unsigned int n_pt_filters;
	bool has_pt;
	bool has_mtc_freq;
	/* Sources of CoreSight, and the files that describe them. */
	struct hwtd_coresight_config *coresight;
	size_t n_coresight;
	/* Owned, with their paths. */
	struct hwtd_perf_records *perf_records;
	size_t n_perf_records;
	/* What lay where; borrowed from argv. */
	const char *map_file;
	uint32_t thread_plus_1;
	const char **config_files;
	size_t n_config_files;
	/* An hwtd_framing. */
	uint32_t framing;
	bool has_framing;
	/* Buffers of raw bytes; what they are is found. */
	struct hwtd_buffer *buffers;
	size_t n_buffers;
	bool find_buffers;
	struct hwtd_spe_config spe;
	bool has_spe;
	struct hwtd_clock clock;
	uint32_t cpu_plus_1;
	uint32_t pid_plus_1;
	uint32_t tid_plus_1;

	/* Where files of images are looked for. */
	struct folder_list roots;
	struct folder_list build_id_dirs;
	struct folder_list module_dirs;
	bool no_original_paths;
	/* perf's cache of this user, if there is one.  Owned. */
	bool no_build_id_cache;
	char *build_id_cache;

	/* Bytes; UINT64_MAX: no limit. */
	uint64_t max_memory;

	/* Of records: 1 << type; 0: all.  Of maps. */
	uint32_t record_types;
	struct hwtd_position at;

	/* Of packets.  Kinds: 1 << (kind % 64) in [kind / 64]; all 0: all. */
	uint64_t packet_kinds[PACKET_KIND_WORDS];
	struct range_list offsets;
	bool times_wanted;
	bool raw;
	bool perf_style;
	bool no_sync;

	/* Which rows. */
	struct range_list times;
	struct range_list addresses;
	struct id_list cpus;
	struct id_list tids;
	struct id_list pids;
	struct id_list streams;
	uint32_t kinds;
	/* UINT64_MAX: all. */
	uint64_t limit;

	/* How to decode.  Jobs 0: as many as there are processors. */
	uint32_t jobs;
	const char *engine;
	bool strict;
	/* Percent; below 0: not given. */
	double max_loss;

	/* Rows as spe prints them. */
	bool sample_rows;

	/*
	 * Of tables of samples.  By: an hwtd_memory_table, or SHARING; sort: an
	 * hwtd_memory_sort; UINT64_MAX rows: not told.
	 */
	uint32_t by;
	bool has_sort;
	uint32_t sort;
	uint64_t top;
	uint32_t line_bytes;
	bool accesses;
	bool physical;
	bool histogram;
	/* Expressions of --where; borrowed from argv. */
	const char **wheres;
	size_t n_wheres;

	struct record_options record;
	/* Of calls.  Levels 0: all; the trigger is borrowed from argv. */
	uint64_t min_duration_ns;
	uint32_t max_depth;
	const char *trigger;
	bool enters;
	bool functions;
	bool no_interpolation;
	bool text_input;
	struct export_options export;
	struct flame_options flame;

	/*
	 * Of report.  By: an hwtd_profile_by; sort: an enum report_sort; the names
	 * are borrowed from argv.
	 */
	uint32_t report_by;
	uint32_t report_sort;
	bool has_report_sort;
	double percent_limit;
	bool calls;
	bool inclusive;
	const char *callers;
	const char *callees;
	struct coverage_options coverage;
	/* Of hist.  Patterns are borrowed from argv; value 0: not told. */
	const char *symbol;
	const char *from_symbol;
	const char *to_symbol;
	uint32_t hist_value;
	bool exact;
	bool bars;
	bool buckets;

	/* Of diff.  Parts: bits of DIFF_PARTS; tids: UINT32_MAX: all. */
	uint32_t diff_parts;
	uint32_t diff_by;
	bool has_diff_by;
	bool normalize;
	double threshold;
	uint32_t divergences;
	uint32_t blocks;
	uint32_t window;
	bool with_kernel;
	uint32_t one_tid[2];
	bool exit_code;

	/* Of single commands. */
	bool gaps;
	const char *expect;
	bool update;
	bool time_span;
	bool disasm;
	bool att_syntax;
	bool code_bytes;
	bool symbols;
	/* Files and lines too; it implies the one above. */
	bool lines;
	bool no_compress;
	int level;
	bool embed;
	bool no_embed;
	bool any_file;

	/* Output. */
	enum output_format format;
	const char *output;
	bool no_header;
	enum color_choice color;
	bool progress;
};

/*
 * Parse what follows the command.  Returns false after a message; the options
 * must be given up with options_fini() in both cases.
 */
bool options_parse(struct options *options, const struct command *command,
    int argc, char *const argv[]);

void options_fini(struct options *options);

/* A number of an option in [min, max]; false after a message. */
bool option_number(const struct option_entry *entry, const char *value,
    uint64_t min, uint64_t max, uint64_t *out);

/* Add an image; takes `path` over.  False after a message. */
bool options_add_image(struct options *options, char *path, uint64_t offset,
    uint64_t length, uint64_t address);

#endif /* HWTDECODE_CLI_OPTIONS_H */
