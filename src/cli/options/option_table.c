/*
 * The table of all options: parsing, help and completion read it.
 */
#include "cli/options/diff_options.h"
#include "cli/options/flame_options.h"
#include "cli/options/hist_options.h"
#include "cli/options/options.h"
#include "cli/options/report_options.h"
#include "cli/options/sample_options.h"

/* What can follow calls. */
#define FOLLOWERS                                                             \
	(COMMAND_CALLS | COMMAND_REPORT | COMMAND_EXPORT | COMMAND_FLAME |    \
	    COMMAND_HIST | COMMAND_DIFF)
#define READERS                                                               \
	(COMMAND_INFO | COMMAND_CHECK | COMMAND_EVENTS | COMMAND_INSNS |      \
	    COMMAND_IMPORT | COMMAND_RECORDS | COMMAND_MAPS |                 \
	    COMMAND_ARCHIVE | COMMAND_PACKETS | COMMAND_SPE | COMMAND_MEM |   \
	    FOLLOWERS | COMMAND_COVERAGE)
#define LISTERS (COMMAND_RECORDS | COMMAND_MAPS)
#define PRINTERS                                                              \
	(COMMAND_INFO | COMMAND_CHECK | COMMAND_EVENTS | COMMAND_INSNS |      \
	    COMMAND_PACKETS | COMMAND_SPE | COMMAND_MEM | COMMAND_CALLS |     \
	    COMMAND_REPORT | COMMAND_COVERAGE | COMMAND_HIST | COMMAND_DIFF)
#define SAVERS (COMMAND_IMPORT | COMMAND_ARCHIVE)
#define DECODERS                                                              \
	(COMMAND_CHECK | COMMAND_EVENTS | COMMAND_INSNS | COMMAND_SPE |       \
	    COMMAND_MEM | FOLLOWERS | COMMAND_COVERAGE)
#define ROWS (COMMAND_EVENTS | COMMAND_INSNS | COMMAND_SPE)
/* What looks for files of images. */
#define FINDERS (READERS | COMMAND_RECORD)
/* What reads rows, whatever it makes of them. */
#define CHOOSERS (ROWS | COMMAND_MEM | FOLLOWERS | COMMAND_COVERAGE)
/* What tells of lines that ran. */
#define COVERERS (COMMAND_COVERAGE | COMMAND_EXPORT)

const struct option_entry option_table[] = {
	/* Of single commands. */
	{ OPTION_GAPS, "gaps", 'v', GROUP_COMMAND, COMMAND_CHECK, NULL, NULL,
	    "List every gap." },
	{ OPTION_EXPECT, "expect", 0, GROUP_COMMAND, COMMAND_CHECK, "FILE",
	    NULL,
	    "Compare with the expectation stored in FILE; exit 1 when they "
	    "differ." },
	{ OPTION_UPDATE, "update", 0, GROUP_COMMAND, COMMAND_CHECK, NULL, NULL,
	    "Write what was found to the file of --expect." },
	{ OPTION_TIME_SPAN, "time-span", 0, GROUP_COMMAND, COMMAND_INFO, NULL,
	    NULL, "Decode the trace to tell its first and last time." },
	{ OPTION_DISASM, "disasm", 0, GROUP_COMMAND, COMMAND_INSNS, NULL, NULL,
	    "Print the text of each instruction." },
	{ OPTION_SYNTAX, "syntax", 0, GROUP_COMMAND, COMMAND_INSNS, "NAME",
	    "intel|att", "Syntax of --disasm.  Default: intel." },
	{ OPTION_BYTES, "bytes", 0, GROUP_COMMAND, COMMAND_INSNS, NULL, NULL,
	    "Print the code bytes of each instruction." },
	{ OPTION_SYMBOLS, "symbols", 0, GROUP_COMMAND,
	    COMMAND_EVENTS | COMMAND_INSNS, NULL, NULL,
	    "Print the symbols of addresses." },
	{ OPTION_LINES, "lines", 0, GROUP_COMMAND,
	    COMMAND_EVENTS | COMMAND_INSNS, NULL, NULL,
	    "Print symbols, files, lines and what was inlined, from debug "
	    "information." },
	{ OPTION_NO_COMPRESS, "no-compress", 0, GROUP_COMMAND,
	    SAVERS | COMMAND_RECORD, NULL, NULL,
	    "Store without compression." },
	{ OPTION_LEVEL, "level", 0, GROUP_COMMAND, SAVERS | COMMAND_RECORD,
	    "N", NULL, "Compress with zstd level N, 1 to 19.  Default: 3." },
	{ OPTION_EMBED, "embed", 0, GROUP_COMMAND, COMMAND_IMPORT, NULL, NULL,
	    "Store the code of all images.  Default when images are given "
	    "with --image or --images." },
	{ OPTION_NO_EMBED, "no-embed", 0, GROUP_COMMAND, COMMAND_IMPORT, NULL,
	    NULL, "Store no code; the files must be there to decode." },
	{ OPTION_ANY_FILE, "any-file", 0, GROUP_COMMAND, SAVERS, NULL, NULL,
	    "Store bytes of any file that the input names, not only of "
	    "programs and of streams in its folder." },

	{ OPTION_AT, "at", 0, GROUP_COMMAND, COMMAND_MAPS, "POSITION", NULL,
	    "start, end, a time (ns, or with us, ms, s) or STREAM:OFFSET.  "
	    "Default: end." },

	{ OPTION_TIMES, "times", 0, GROUP_COMMAND, COMMAND_PACKETS, NULL, NULL,
	    "Tell the time of each packet." },
	{ OPTION_RAW, "raw", 0, GROUP_COMMAND, COMMAND_PACKETS, NULL, NULL,
	    "Print all bytes of each packet." },
	{ OPTION_NO_SYNC, "no-sync", 0, GROUP_COMMAND, COMMAND_PACKETS, NULL,
	    NULL,
	    "Take the first byte for the begin of a packet: do not wait for a "
	    "PSB." },

	{ OPTION_STYLE, "style", 0, GROUP_COMMAND, COMMAND_PACKETS, "NAME",
	    "columns|perf",
	    "perf: text of Arm SPE as perf lists it.  Default: columns." },

	{ OPTION_BY, "by", 0, GROUP_COMMAND, COMMAND_MEM, "NAME",
	    SAMPLE_TABLES,
	    "What a row is.  Default: symbol.  sharing: cache lines that "
	    "several use, with who touches which byte." },
	{ OPTION_SORT, "sort", 0, GROUP_COMMAND, COMMAND_MEM, "NAME",
	    SAMPLE_SORTS,
	    "Highest first, but for key.  Default: latency; samples for "
	    "branch "
	    "and path, sharing for sharing." },
	{ OPTION_TOP, "top", 0, GROUP_COMMAND,
	    COMMAND_MEM | COMMAND_REPORT | COMMAND_HIST | COMMAND_DIFF, "N",
	    NULL, "Only N rows; 0: all.  Default: 40 as text, else all." },
	{ OPTION_WHERE, "where", 0, GROUP_COMMAND, COMMAND_SPE | COMMAND_MEM,
	    "EXPR", NULL,
	    "Only samples for which EXPR holds, for instance 'store and "
	    "lat_total >= 100'.  Repeatable: all have to." },
	{ OPTION_ACCESSES, "accesses", 0, GROUP_COMMAND, COMMAND_MEM, NULL,
	    NULL, "Of lines: who touches which byte, by which code." },
	{ OPTION_PHYSICAL, "physical", 0, GROUP_COMMAND, COMMAND_MEM, NULL,
	    NULL,
	    "Addresses, pages and lines by physical address: also what "
	    "processes share." },
	{ OPTION_HISTOGRAM, "histogram", 0, GROUP_COMMAND, COMMAND_MEM, NULL,
	    NULL, "Of JSON lines: latencies of each row in buckets." },
	{ OPTION_LINE_BYTES, "line-bytes", 0, GROUP_INPUT, COMMAND_MEM, "N",
	    NULL, "Bytes of a cache line.  Default: 64." },

	/* What to record, and how. */
	{ OPTION_OUTPUT, "output", 'o', GROUP_COMMAND, COMMAND_RECORD, "FILE",
	    NULL,
	    "Write the trace to FILE, which must not be there yet.  It can be "
	    "read while it grows." },
	{ OPTION_REPLACE, "replace", 0, GROUP_COMMAND, COMMAND_RECORD, NULL,
	    NULL, "FILE may be there, and is replaced." },
	{ OPTION_LIST, "list", 0, GROUP_COMMAND, COMMAND_RECORD, NULL, NULL,
	    "Record nothing; say what this machine can record with, and what "
	    "is missing.  With --pid: whether that process may be traced." },
	{ OPTION_RECORD_ARCHIVE, "archive", 0, GROUP_COMMAND, COMMAND_RECORD,
	    NULL, NULL,
	    "Store the code of everything that was mapped, so that FILE "
	    "decodes on any machine." },
	{ OPTION_KILL, "kill", 0, GROUP_COMMAND, COMMAND_RECORD, NULL, NULL,
	    "When recording ends before the program does, end the program." },
	{ OPTION_MAX_SIZE, "max-size", 0, GROUP_COMMAND, COMMAND_RECORD,
	    "SIZE", NULL,
	    "End after SIZE bytes of trace; also with K, M, G." },
	{ OPTION_MAX_TIME, "max-time", 0, GROUP_COMMAND, COMMAND_RECORD,
	    "TIME", NULL, "End after TIME: ns, or with us, ms, s." },
	{ OPTION_MAX_LOSS, "max-loss", 0, GROUP_COMMAND, COMMAND_RECORD,
	    "PERCENT", NULL,
	    "Exit 3 when more of the bytes was lost; 0: when anything was.  "
	    "Default: 100." },

	{ OPTION_RECORD_PID, "pid", 'p', GROUP_TARGET, COMMAND_RECORD, "PID",
	    NULL,
	    "The threads of a process that runs, instead of a program." },
	{ OPTION_CPUS, "cpus", 0, GROUP_TARGET, COMMAND_RECORD, "LIST", NULL,
	    "These CPUs, for instance 0,2-5, or all, whatever they run; a "
	    "program only says how long." },
	{ OPTION_USER, "user", 0, GROUP_TARGET, COMMAND_RECORD, NULL, NULL,
	    "Code of programs.  Default of Intel PT, but of CPUs; of Arm SPE "
	    "with --kernel." },
	{ OPTION_KERNEL, "kernel", 0, GROUP_TARGET, COMMAND_RECORD, NULL, NULL,
	    "Code of the kernel.  Default of Intel PT of CPUs." },
	{ OPTION_FILTER, "filter", 0, GROUP_TARGET, COMMAND_RECORD, "FILTER",
	    NULL,
	    "Only this code: FUNCTION@IMAGE, 0xFIRST-0xLAST@IMAGE (addresses "
	    "of the file) or @IMAGE.  Repeatable, as often as the hardware "
	    "has ranges." },

	{ OPTION_RECORD_TECH, "tech", 0, GROUP_CAPTURE, COMMAND_RECORD, "NAME",
	    "pt|spe|coresight",
	    "Record with this.  Repeatable with --cpus.  Default: pt on "
	    "amd64, spe on arm64." },
	{ OPTION_BUFFER, "buffer", 0, GROUP_CAPTURE, COMMAND_RECORD, "SIZE",
	    NULL,
	    "Buffer of each thread or CPU, in whole pages; also with K, M, "
	    "G." },
	{ OPTION_EVERY, "every", 0, GROUP_CAPTURE, COMMAND_RECORD, "TIME",
	    NULL,
	    "Time between two looks at the buffers: ns, or with us, ms, s.  "
	    "Default: 1ms." },
	{ OPTION_TSC, "tsc", 0, GROUP_CAPTURE, COMMAND_RECORD, NULL, NULL,
	    "Intel PT: TSC packets.  Needs 5BSD, as all up to --ptwrite." },
	{ OPTION_MTC, "mtc", 0, GROUP_CAPTURE, COMMAND_RECORD, "N", NULL,
	    "Intel PT: MTC packets every 2^N crystal ticks." },
	{ OPTION_CYC, "cyc", 0, GROUP_CAPTURE, COMMAND_RECORD, "N", NULL,
	    "Intel PT: CYC packets of at least 2^(N-1) cycles; 0: all." },
	{ OPTION_PSB, "psb", 0, GROUP_CAPTURE, COMMAND_RECORD, "N", NULL,
	    "Intel PT: a PSB every 2^(N+11) bytes." },
	{ OPTION_PTWRITE, "ptwrite", 0, GROUP_CAPTURE, COMMAND_RECORD, NULL,
	    NULL, "Intel PT: values of PTWRITE instructions." },
	{ OPTION_NO_BRANCHES, "no-branches", 0, GROUP_CAPTURE, COMMAND_RECORD,
	    NULL, NULL, "Intel PT: no branches." },
	{ OPTION_NO_TNT, "no-tnt", 0, GROUP_CAPTURE, COMMAND_RECORD, NULL,
	    NULL, "Intel PT: no conditional branches." },
	{ OPTION_ANY_BUFFER, "any-buffer", 0, GROUP_CAPTURE, COMMAND_RECORD,
	    NULL, NULL,
	    "Intel PT: buffers of more than 511 pages, by which kernels "
	    "without the mend write over memory of others." },
	{ OPTION_INTERVAL, "interval", 0, GROUP_CAPTURE, COMMAND_RECORD, "N",
	    NULL,
	    "Arm SPE: one sample of N operations, below 2^24.  Default: "
	    "4096." },
	{ OPTION_CONTEXT, "context", 0, GROUP_CAPTURE, COMMAND_RECORD, "WHO",
	    "process|cpu|none",
	    "Arm SPE: whose number samples have.  Default: process." },
	{ OPTION_CYCLES, "cycles", 0, GROUP_CAPTURE, COMMAND_RECORD, "[=N]",
	    NULL, "CoreSight: cycles, of at least N.  Default of N: 256." },
	{ OPTION_BRANCH_BROADCAST, "branch-broadcast", 0, GROUP_CAPTURE,
	    COMMAND_RECORD, NULL, NULL,
	    "CoreSight: addresses of all branches that are taken." },
	{ OPTION_NO_RETURN_STACK, "no-return-stack", 0, GROUP_CAPTURE,
	    COMMAND_RECORD, NULL, NULL, "CoreSight: no return stack." },
	{ OPTION_NO_TIMESTAMPS, "no-timestamps", 0, GROUP_CAPTURE,
	    COMMAND_RECORD, NULL, NULL, "CoreSight: no times." },
	{ OPTION_NO_CONTEXT, "no-context", 0, GROUP_CAPTURE, COMMAND_RECORD,
	    NULL, NULL, "CoreSight: not who runs." },
	{ OPTION_MIN_DURATION, "min-duration", 0, GROUP_COMMAND,
	    COMMAND_CALLS | COMMAND_EXPORT, "TIME", NULL,
	    "Only calls that took so long: ns (default), us, ms, s." },
	{ OPTION_MAX_DEPTH, "max-depth", 0, GROUP_COMMAND,
	    COMMAND_CALLS | COMMAND_EXPORT | COMMAND_FLAME, "N", NULL,
	    "Only N levels of calls." },
	{ OPTION_TRIGGER, "trigger", 0, GROUP_COMMAND, COMMAND_CALLS, "NAME",
	    NULL, "Only calls of the function NAME, and what they call." },
	{ OPTION_ENTERS, "enters", 0, GROUP_COMMAND, COMMAND_CALLS, NULL, NULL,
	    "Of JSON lines: also where calls begin, in order." },
	{ OPTION_FUNCTIONS, "functions", 0, GROUP_COMMAND, COMMAND_CALLS, NULL,
	    NULL,
	    "A row for each function: its calls, and how long they took." },
	{ OPTION_NO_INTERPOLATION, "no-interpolation", 0, GROUP_COMMAND,
	    FOLLOWERS, NULL, NULL,
	    "Times are those of the last timing packet." },
	{ OPTION_TEXT, "text", 0, GROUP_COMMAND, FOLLOWERS, NULL, NULL,
	    "FILE is text of perf-script(1), also from standard input; of a "
	    "file that is found out." },

	{ OPTION_REPORT_BY, "by", 0, GROUP_COMMAND, COMMAND_REPORT, "NAME",
	    REPORT_TABLES,
	    "What a row is.  inline: the innermost function, also where it "
	    "was inlined.  Default: function." },
	{ OPTION_REPORT_SORT, "sort", 0, GROUP_COMMAND, COMMAND_REPORT, "NAME",
	    REPORT_SORTS,
	    "Highest first, but for name.  total, calls, time and cycles "
	    "follow calls.  Default: self." },
	{ OPTION_PERCENT_LIMIT, "percent-limit", 0, GROUP_COMMAND,
	    COMMAND_REPORT, "PERCENT", NULL,
	    "Leave out rows with a smaller share: self, or total where "
	    "that is sorted by." },
	{ OPTION_CALLS, "calls", 0, GROUP_COMMAND, COMMAND_REPORT, NULL, NULL,
	    "Follow calls: time, and what functions called.  Takes longer." },
	{ OPTION_INCLUSIVE, "inclusive", 0, GROUP_COMMAND, COMMAND_REPORT,
	    NULL, NULL,
	    "Sort by what functions did with all they called; follows "
	    "calls." },
	{ OPTION_CALLERS, "callers", 0, GROUP_COMMAND, COMMAND_REPORT, "NAME",
	    NULL, "Who called the function NAME, and how often." },
	{ OPTION_CALLEES, "callees", 0, GROUP_COMMAND, COMMAND_REPORT, "NAME",
	    NULL, "What the function NAME called, and how often." },
	{ OPTION_SYM, "sym", 0, GROUP_COMMAND, COMMAND_HIST, "NAME", NULL,
	    "Only functions of this name, with bars; * and ? stand for "
	    "anything and any character." },
	{ OPTION_HIST_VALUE, "value", 0, GROUP_COMMAND, COMMAND_HIST, "NAME",
	    HIST_VALUES,
	    "What is measured of a call: from begin to end, while its thread "
	    "ran, of itself only.  Default: time." },
	{ OPTION_FROM, "from", 0, GROUP_COMMAND, COMMAND_HIST, "NAME", NULL,
	    "The time from a call of this function to the next one of that of "
	    "--to, on the same thread." },
	{ OPTION_TO_SYM, "to", 0, GROUP_COMMAND, COMMAND_HIST, "NAME", NULL,
	    "Where that ends." },
	{ OPTION_HIST_SORT, "sort", 0, GROUP_COMMAND, COMMAND_HIST, "NAME",
	    HIST_SORTS, "Highest first, but for name.  Default: sum." },
	{ OPTION_EXACT, "exact", 0, GROUP_COMMAND, COMMAND_HIST, NULL, NULL,
	    "Leave out times that no timing packet tells." },
	{ OPTION_BARS, "bars", 0, GROUP_COMMAND, COMMAND_HIST, NULL, NULL,
	    "As text: the distribution of each function.  10 of them, unless "
	    "--top says how many." },
	{ OPTION_BUCKETS, "buckets", 0, GROUP_COMMAND, COMMAND_HIST, NULL,
	    NULL, "Of CSV: a row for each bucket of each function." },

	{ OPTION_SHOW, "show", 0, GROUP_COMMAND, COMMAND_DIFF, "LIST", NULL,
	    "What to compare, of functions,edges,branches,flow.  Default: "
	    "functions,flow." },
	{ OPTION_DIFF_BY, "by", 0, GROUP_COMMAND, COMMAND_DIFF, "NAME",
	    DIFF_BYS,
	    "What changes of functions are measured by; times and cycles "
	    "follow calls.  Default: insns; of text calls." },
	{ OPTION_NORMALIZE, "normalize", 0, GROUP_COMMAND, COMMAND_DIFF, NULL,
	    NULL, "Compare shares: B counts as much as A in all." },
	{ OPTION_THRESHOLD, "threshold", 0, GROUP_COMMAND, COMMAND_DIFF,
	    "PERCENT", NULL,
	    "Less than this share of all of A is no change." },
	{ OPTION_DIVERGENCES, "divergences", 0, GROUP_COMMAND, COMMAND_DIFF,
	    "N", NULL,
	    "Go on behind a difference of flow, up to N of each thread.  "
	    "Default: 1." },
	{ OPTION_BLOCKS, "blocks", 0, GROUP_COMMAND, COMMAND_DIFF, "N", NULL,
	    "Print N blocks before a difference and behind it.  Default: 8." },
	{ OPTION_WINDOW, "window", 0, GROUP_COMMAND, COMMAND_DIFF, "N", NULL,
	    "Look through N blocks for what is common again.  Default: "
	    "16384." },
	{ OPTION_WITH_KERNEL, "kernel", 0, GROUP_COMMAND, COMMAND_DIFF, NULL,
	    NULL, "Compare code of kernels and interrupts, too." },
	{ OPTION_TID_A, "tid-a", 0, GROUP_COMMAND, COMMAND_DIFF, "TID", NULL,
	    "Flow of this thread of A only." },
	{ OPTION_TID_B, "tid-b", 0, GROUP_COMMAND, COMMAND_DIFF, "TID", NULL,
	    "Flow of this thread of B only." },
	{ OPTION_EXIT_CODE, "exit-code", 0, GROUP_COMMAND, COMMAND_DIFF, NULL,
	    NULL, "Exit 1 when there is a difference." },

	/* Coverage. */
	{ OPTION_COVERAGE_BY, "by", 0, GROUP_COMMAND, COMMAND_COVERAGE, "WHAT",
	    "file|function|line|branch|edge|image|range",
	    "A row for each of these; ranges are stretches of lines that were "
	    "not reached.  Default: file." },
	{ OPTION_UNCOVERED, "uncovered", 0, GROUP_COMMAND, COMMAND_COVERAGE,
	    NULL, NULL, "Only what was not reached; of files, which lines." },
	{ OPTION_LCOV, "lcov", 0, GROUP_COMMAND, COMMAND_COVERAGE, "FILE",
	    NULL, "Write FILE for genhtml(1), too." },
	{ OPTION_FAIL_UNDER, "fail-under", 0, GROUP_COMMAND, COMMAND_COVERAGE,
	    "PERCENT[,WHAT]", NULL,
	    "Exit 1 when less was reached of WHAT: line (default), function "
	    "or branch.  Once for each." },
	{ OPTION_ONLY_IMAGE, "only-image", 0, GROUP_FILTER, COVERERS, "NAME",
	    NULL,
	    "Only images of this path, of a path that ends in /NAME, or of "
	    "this build-id.  Repeatable." },
	{ OPTION_SOURCE, "source", 0, GROUP_FILTER, COVERERS, "PREFIX", NULL,
	    "Only source files whose path begins so.  Repeatable." },
	{ OPTION_EXCLUDE, "exclude", 0, GROUP_FILTER, COVERERS, "PATTERN",
	    NULL,
	    "No source files whose path is like PATTERN, with *, ? and [].  "
	    "Repeatable." },
	{ OPTION_PATH_MAP, "map", 0, GROUP_OUTPUT, COVERERS, "OLD=NEW", NULL,
	    "Paths of source files that begin with OLD begin with NEW.  The "
	    "first that fits; before --source and --exclude.  Repeatable." },
	{ OPTION_STRIP_PREFIX, "strip-prefix", 0, GROUP_OUTPUT, COVERERS,
	    "PREFIX", NULL, "The same as --map PREFIX=.  Repeatable." },

	/* Files for other programs. */
	{ OPTION_TO, "to", 't', GROUP_COMMAND, COMMAND_EXPORT, "FORMAT", NULL,
	    "The format; 'help' lists them.  Default: what the name of -o "
	    "ends in." },
	{ OPTION_SPLIT_SIZE, "split-size", 0, GROUP_COMMAND, COMMAND_EXPORT,
	    "SIZE", NULL,
	    "Begin another file (NAME.2, NAME.3, ...) after about SIZE bytes; "
	    "each can be opened alone.  Also with K, M, G." },
	{ OPTION_RESOLUTION, "resolution", 0, GROUP_COMMAND, COMMAND_EXPORT,
	    "TIME", NULL,
	    "Calls shorter than TIME that follow on one another become one, "
	    "with their sum: 1500, 20us or 1.5ms." },
	{ OPTION_VALUE, "value", 0, GROUP_COMMAND,
	    COMMAND_EXPORT | COMMAND_FLAME, "NAME", "insns|time|cycles|calls",
	    "What weighs.  Default: time where it is known, else "
	    "instructions." },
	{ OPTION_DETAILS, "details", 0, GROUP_COMMAND, COMMAND_EXPORT, NULL,
	    NULL, "Addresses, instructions and cycles of each call, too." },
	{ OPTION_COUNTERS, "counters", 0, GROUP_COMMAND, COMMAND_EXPORT, NULL,
	    NULL, "Curves of instructions over time, too." },
	{ OPTION_TITLE, "title", 0, GROUP_COMMAND,
	    COMMAND_EXPORT | COMMAND_FLAME, "TEXT", NULL,
	    "What viewers call it.  Default: the name of FILE." },
	{ OPTION_CODE, "code", 0, GROUP_COMMAND, COMMAND_EXPORT, NULL, NULL,
	    "Of pprof and callgrind: instructions by line and inlined "
	    "function, without stacks." },
	{ OPTION_GZIP, "gzip", 0, GROUP_COMMAND, COMMAND_EXPORT, NULL, NULL,
	    "Pack with gzip.  Default when the name of -o ends in .gz." },

	/* Stacks. */
	{ OPTION_FLAME_FORMAT, "format", 0, GROUP_COMMAND, COMMAND_FLAME,
	    "NAME", FLAME_FORMATS,
	    "Default: what the name of -o ends in (.svg, .folded, "
	    ".speedscope.json, .jsonl, .csv), else text." },
	{ OPTION_DIFF, "diff", 0, GROUP_COMMAND, COMMAND_FLAME, "FILE2", NULL,
	    "Compare with FILE2, which was before: red weighs more now, blue "
	    "less.  Shares of each whole are compared." },
	{ OPTION_ABSOLUTE, "absolute", 0, GROUP_COMMAND, COMMAND_FLAME, NULL,
	    NULL, "Compare numbers, not shares." },
	{ OPTION_INVERT, "invert", 0, GROUP_COMMAND, COMMAND_FLAME, NULL, NULL,
	    "From what ran to what called it." },
	{ OPTION_BY_THREAD, "by-thread", 0, GROUP_COMMAND, COMMAND_FLAME, NULL,
	    NULL, "A frame for each thread." },
	{ OPTION_MIN_PERCENT, "min-percent", 0, GROUP_COMMAND, COMMAND_FLAME,
	    "N", NULL,
	    "Sum up frames of less than N percent of all.  Default: 0.5 of "
	    "text, else 0; 0.01 with --invert." },
	{ OPTION_OFF_TIME, "off-time", 0, GROUP_COMMAND, COMMAND_FLAME, NULL,
	    NULL, "Of time: also that in which threads did not run." },
	{ OPTION_BY_NAME, "by-name", 0, GROUP_COMMAND, COMMAND_FLAME, NULL,
	    NULL, "Frames of one caller by name.  Default: heaviest first." },
	{ OPTION_ICICLE, "icicle", 0, GROUP_COMMAND, COMMAND_FLAME, NULL, NULL,
	    "Of pictures: the root is at the top." },
	{ OPTION_MIN_WIDTH, "min-width", 0, GROUP_COMMAND, COMMAND_FLAME,
	    "PIXELS", NULL,
	    "Of pictures: draw narrower frames together.  Default: 0.3." },

	{ OPTION_PROGRAM, "program", 0, GROUP_COMMAND, COMMAND_EXPORT, "NAME",
	    NULL,
	    "For compilers: what the profile is of, a path or its last part.  "
	    "Default: the program that executed most; of branches: all." },

	/* The input. */
	{ OPTION_TECH, "tech", 0, GROUP_INPUT, READERS, "NAME",
	    "pt|coresight|spe", "FILE holds raw bytes of this technology." },
	{ OPTION_IMAGE, "image", 0, GROUP_INPUT, READERS,
	    "FILE[:OFFSET[:SIZE]]@ADDRESS", NULL,
	    "Code: SIZE bytes of FILE from OFFSET on lie at ADDRESS.  "
	    "Repeatable." },
	{ OPTION_IMAGES, "images", 0, GROUP_INPUT, READERS, "LIST", NULL,
	    "Code listed in a text file: 'file offset size address' per line, "
	    "numbers in hexadecimal." },
	{ OPTION_PT_CPU, "pt-cpu", 0, GROUP_INPUT, READERS,
	    "FAMILY/MODEL[/STEPPING]", NULL,
	    "Processor that recorded an Intel PT trace." },
	{ OPTION_PT_MTC_FREQ, "pt-mtc-freq", 0, GROUP_INPUT, READERS, "N",
	    NULL, "MTC packets every 2^N crystal ticks." },
	{ OPTION_PT_NOM_FREQ, "pt-nom-freq", 0, GROUP_INPUT, READERS, "N",
	    NULL, "Nominal core ratio (MSR_PLATFORM_INFO[15:8])." },
	{ OPTION_PT_CPUID_15H, "pt-cpuid-15h", 0, GROUP_INPUT, READERS,
	    "EAX/EBX", NULL, "CPUID leaf 15h: crystal to TSC ratio." },
	{ OPTION_PT_FILTER, "pt-filter", 0, GROUP_INPUT, READERS, "START-END",
	    NULL,
	    "Only code in START to END (inclusive) was traced.  Repeatable." },
	{ OPTION_PT_STOP, "pt-stop", 0, GROUP_INPUT, READERS, "START-END",
	    NULL,
	    "Tracing stopped on entry of START to END (inclusive).  "
	    "Repeatable." },
	{ OPTION_FRAMING, "framing", 0, GROUP_INPUT, READERS, "NAME",
	    "none|memory|tpiu|dstream",
	    "Raw CoreSight bytes are frames as a trace sink writes them.  "
	    "Default: none." },
	{ OPTION_ETM_CONFIG, "etm-config", 0, GROUP_INPUT, READERS, "FILE",
	    NULL,
	    "Protocol, trace ID and registers of a source of raw CoreSight "
	    "bytes.  Repeatable." },
	{ OPTION_SPE_CPU, "spe-cpu", 0, GROUP_INPUT, READERS, "NAME|MIDR",
	    NULL,
	    "CPU that recorded Arm SPE, for instance neoverse-n1 or "
	    "0x413fd0c1: names of events and data sources depend on it." },
	{ OPTION_SPE_VERSION, "spe-version", 0, GROUP_INPUT, READERS,
	    "VERSION", NULL,
	    "Version of SPE, 1.0 and up (ID_AA64DFR0_EL1.PMSVer)." },
	{ OPTION_SPE_OWNER, "spe-owner", 0, GROUP_INPUT, READERS, "WHO",
	    "thread|process|cpu",
	    "Whose number context packets of SPE hold." },
	{ OPTION_SPE_COUNTER_BITS, "spe-counter-bits", 0, GROUP_INPUT, READERS,
	    "N", "12|16", "Bits of a latency (PMSIDR_EL1.CountSize)." },
	{ OPTION_SPE_INTERVAL, "spe-interval", 0, GROUP_INPUT, READERS, "N",
	    NULL, "Operations for one sample of SPE." },
	{ OPTION_CLOCK, "clock", 0, GROUP_INPUT, READERS,
	    "COUNTS/NS[@BASE[=BASENS]]", NULL,
	    "COUNTS ticks of the trace take NS ns; tick BASE is at BASENS "
	    "ns." },
	{ OPTION_SPLIT_AT, "split-at", 0, GROUP_INPUT, READERS, "LIST|auto",
	    NULL,
	    "Raw bytes are of several buffers, which begin at these offsets; "
	    "nothing goes on from one to the next.  auto: found by the times "
	    "of Arm SPE." },
	{ OPTION_PERF_RECORDS, "perf-records", 0, GROUP_INPUT, READERS,
	    "FILE[,sample-type=N][,cpu=N][,big-endian]", NULL,
	    "Records of a Linux perf ring buffer that belong to raw bytes: "
	    "mappings, switches.  sample-type is that of perf_event_attr.  "
	    "Repeatable." },
	{ OPTION_MAPS, "maps", 0, GROUP_INPUT, READERS, "FILE", NULL,
	    "What lay where while raw bytes were recorded: lines such as "
	    "'exec "
	    "PATH bias=ADDRESS', or tables of procstat -v and kldstat." },
	{ OPTION_THREAD, "thread", 0, GROUP_INPUT, READERS, "N", NULL,
	    "Raw bytes are of the thread that hwt(4) counts by N." },
	{ OPTION_STREAM_CPU, "stream-cpu", 0, GROUP_INPUT, READERS, "N", NULL,
	    "Raw bytes were recorded on this CPU." },
	{ OPTION_STREAM_PID, "stream-pid", 0, GROUP_INPUT, READERS, "N", NULL,
	    "Raw bytes were recorded of this process." },
	{ OPTION_STREAM_TID, "stream-tid", 0, GROUP_INPUT, READERS, "N", NULL,
	    "Raw bytes were recorded of this thread." },

	{ OPTION_ROOT, "root", 0, GROUP_INPUT, FINDERS, "DIR", NULL,
	    "Look for recorded paths below DIR first.  Repeatable." },
	{ OPTION_ROOT, "symfs", 0, GROUP_INPUT, FINDERS, "DIR", NULL,
	    "The same as --root, as perf calls it." },
	{ OPTION_BUILD_ID_DIR, "build-id-dir", 0, GROUP_INPUT, FINDERS, "DIR",
	    NULL,
	    "Look for files by build-id in DIR, as xx/yyyy.debug or "
	    ".build-id/xx/yyyy, also a cache of perf.  Repeatable." },
	{ OPTION_NO_BUILD_ID_CACHE, "no-build-id-cache", 0, GROUP_INPUT,
	    FINDERS, NULL, NULL,
	    "Do not look in perf's cache of this user, $HOME/.debug." },
	{ OPTION_MODULE_DIR, "module-dir", 0, GROUP_INPUT, FINDERS, "DIR",
	    NULL,
	    "Look for files by their last name in DIR, for instance kernel "
	    "modules.  Repeatable." },
	{ OPTION_NO_ORIGINAL_PATHS, "no-original-paths", 0, GROUP_INPUT,
	    FINDERS, NULL, NULL,
	    "Do not read recorded paths as they are on this machine." },
	{ OPTION_MAX_MEMORY, "max-memory", 0, GROUP_INPUT, FINDERS, "SIZE",
	    NULL,
	    "Hold at most SIZE bytes of the trace and its code in memory; "
	    "also with K, M, G; 0: no limit.  Default: half of the machine's, "
	    "at least 1G." },

	/* Which rows. */
	{ OPTION_TYPE, "type", 0, GROUP_FILTER, COMMAND_RECORDS, "LIST", NULL,
	    "Records of these types, for instance mmap,exec." },
	{ OPTION_TIME, "time", 0, GROUP_FILTER, CHOOSERS | COMMAND_RECORDS,
	    "A-B", NULL,
	    "Rows from time A up to before B.  Units: ns (default), us, ms, "
	    "s; "
	    "either may be left out.  Repeatable." },
	{ OPTION_CPU, "cpu", 0, GROUP_FILTER,
	    DECODERS | COMMAND_RECORDS | COMMAND_PACKETS, "LIST", NULL,
	    "Streams of these CPUs, for instance 0,2-5." },
	{ OPTION_TID, "tid", 0, GROUP_FILTER, CHOOSERS | COMMAND_RECORDS,
	    "LIST", NULL, "Rows of these threads." },
	{ OPTION_PID, "pid", 0, GROUP_FILTER, CHOOSERS | LISTERS, "LIST", NULL,
	    "Rows of these processes." },
	{ OPTION_ADDRESS, "address", 0, GROUP_FILTER, ROWS | COMMAND_MEM,
	    "A-B", NULL,
	    "Rows whose code touches A up to before B; a single A stands for "
	    "itself.  Up to 0xfffffffffffffffe.  Repeatable." },
	{ OPTION_KIND, "kind", 0, GROUP_FILTER, ROWS, "LIST", NULL,
	    "Rows of these kinds, for instance gap,async.  Default: all but "
	    "record and time; of spe sample,gap." },
	{ OPTION_PACKET_KIND, "kind", 0, GROUP_FILTER, COMMAND_PACKETS, "LIST",
	    NULL,
	    "Packets of these kinds, for instance fup,tip.pge; tnt and mode "
	    "stand for both of theirs." },
	{ OPTION_OFFSET, "offset", 0, GROUP_FILTER, COMMAND_PACKETS, "A-B",
	    NULL,
	    "Packets that begin at byte A up to before B of their stream; a "
	    "single A stands for itself.  Repeatable." },
	{ OPTION_STREAM, "stream", 0, GROUP_FILTER,
	    DECODERS | COMMAND_RECORDS | COMMAND_PACKETS, "LIST", NULL,
	    "These streams only." },
	{ OPTION_LIMIT, "limit", 0, GROUP_FILTER,
	    ROWS | COMMAND_RECORDS | COMMAND_PACKETS | COMMAND_CALLS, "N",
	    NULL, "Stop after N rows." },

	/* How to decode. */
	{ OPTION_JOBS, "jobs", 'j', GROUP_DECODE, DECODERS, "N", NULL,
	    "Decode with N threads.  Default: one per processor." },
	{ OPTION_ENGINE, "engine", 0, GROUP_DECODE, DECODERS, "NAME", NULL,
	    "Decode streams of its technology with this engine; "
	    "'hwtdecode version' lists them." },
	{ OPTION_STRICT, "strict", 0, GROUP_DECODE, DECODERS, NULL, NULL,
	    "Fail at the first gap." },
	{ OPTION_MAX_LOSS, "max-loss", 0, GROUP_DECODE,
	    PRINTERS | COMMAND_EXPORT | COMMAND_FLAME, "PERCENT", NULL,
	    "Exit 3 when more of the bytes gave nothing.  Default: 0 for "
	    "check, 100 elsewhere." },

	/* Output. */
	{ OPTION_COVERAGE_FORMAT, "format", 0, GROUP_OUTPUT, COMMAND_COVERAGE,
	    "NAME", "text|jsonl|csv|lcov", "Default: text." },
	{ OPTION_FORMAT, "format", 0, GROUP_OUTPUT,
	    (PRINTERS & ~COMMAND_COVERAGE) | LISTERS | COMMAND_RECORD, "NAME",
	    "text|jsonl|csv", "Default: text." },
	{ OPTION_OUTPUT, "output", 'o', GROUP_OUTPUT, READERS, "FILE", NULL,
	    "Write to FILE, which appears when it is complete; - is standard "
	    "output." },
	{ OPTION_NO_HEADER, "no-header", 0, GROUP_OUTPUT,
	    CHOOSERS | LISTERS | COMMAND_PACKETS | COMMAND_RECORD, NULL, NULL,
	    "Leave out the line of column names." },
	{ OPTION_COLOR, "color", 0, GROUP_OUTPUT, PRINTERS | COMMAND_MAPS,
	    "WHEN", "auto|always|never",
	    "Colour text.  Default: auto, on a terminal unless NO_COLOR is "
	    "set." },
	{ OPTION_PROGRESS, "progress", 0, GROUP_OUTPUT,
	    PRINTERS | COMMAND_RECORD | COMMAND_EXPORT | COMMAND_FLAME, NULL,
	    NULL, "Show progress even when standard error is no terminal." },

	/* General. */
	{ OPTION_HELP, "help", 'h', GROUP_GENERAL, ~0u, NULL, NULL,
	    "Show this help." },
	{ OPTION_VERSION, "version", 'V', GROUP_GENERAL, ~0u, NULL, NULL,
	    "Show versions." },
	{ OPTION_VERSION, NULL, 0, GROUP_GENERAL, 0, NULL, NULL, NULL },
};
