/*
 * hwtdecode export: files for viewers, profilers and compilers.
 */
#include <sys/stat.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/export/export_files.h"
#include "cli/options/export_options.h"
#include "cli/export/export_source.h"
#include "cli/output/interrupt.h"
#include "cli/output/message.h"
#include "cli/output/progress.h"

/* By hwtd_export_source; NULL: there is no format of it. */
static const struct export_source *const sources[] = {
	[HWTD_SOURCE_PROFILE] = &export_from_profile,
	[HWTD_SOURCE_CALLS] = &export_from_calls,
	[HWTD_SOURCE_RUNS] = &export_from_runs,
	[HWTD_SOURCE_EVENTS] = &export_from_events,
	[HWTD_SOURCE_COVERAGE] = &export_from_coverage,
};

#define N_SOURCES (sizeof(sources) / sizeof(sources[0]))

struct exporting {
	const struct options *options;
	const struct export_target *target;
	const struct export_source *source;
	void *state;
	const char *name;
	struct export_files files;
	struct hwtd_format_options how;
	struct hwtd_export *export;
	struct progress progress;
};

static void
show_progress(struct exporting *x)
{
	if (progress_due(&x->progress))
		progress_show(&x->progress, x->source->bytes_read(x->state));
}

static int
step_error(struct exporting *x, const struct hwtd_error *err)
{
	progress_end(&x->progress);
	/* The output says itself what is wrong with it, when it is closed. */
	if (x->files.out.failed != 0 || x->files.said)
		return (EXIT_FAILED);
	return (x->source->say_error(x->state, err));
}

/* What has to be read before anything is written. */
static int
fill(struct exporting *x)
{
	struct hwtd_error err = { .size = sizeof(err) };
	int rc = HWTD_OK;

	while (x->source->fill != NULL && rc == HWTD_OK) {
		rc = x->source->fill(x->state, &err);
		show_progress(x);
		if (interrupt_seen())
			return (EXIT_INTERRUPTED);
	}
	return (rc < 0 ? step_error(x, &err) : EXIT_DONE);
}

static int
write_all(struct exporting *x)
{
	struct hwtd_error err = { .size = sizeof(err) };
	int code = EXIT_DONE;
	int rc = x->source->begin(x->state, &x->how, &x->export, &err);

	while (rc == HWTD_OK) {
		rc = hwtd_export_write(x->export, &err);
		show_progress(x);
		/* What was read is written; the file is one that is whole. */
		if (code == EXIT_DONE && interrupt_seen()) {
			hwtd_export_stop(x->export);
			code = EXIT_INTERRUPTED;
		}
	}
	/* A reader that went away is no failure. */
	if (x->files.out.failed != 0 && output_is_unread(&x->files.out))
		return (code);
	return (rc < 0 ? step_error(x, &err) : code);
}

static void
say_what_to_do(const struct exporting *x, const struct hwtd_export_info *info)
{
	const struct hwtd_export_format_info *f = &x->target->format;
	const char *file = x->options->output != NULL ? x->options->output
						      : "standard output";

	if (info->rows == 0)
		say_warning("%s: nothing of it is in the file: %s", x->name,
		    f->source == HWTD_SOURCE_COVERAGE
			? "no code of it has lines of source files"
			: x->how.value != 0 ? "it has none of what --value "
					      "names"
					    : "it has nothing that the format "
					      "tells of");
	/* Of stacks the file has a frame for it. */
	if (f->source == HWTD_SOURCE_CALLS &&
	    info->dropped + info->merged != 0)
		say_note(
		    "%s: %llu calls are left out, %llu are part of others",
		    x->name, (unsigned long long)info->dropped,
		    (unsigned long long)info->merged);
	if ((info->flags & HWTD_EXPORTF_INSNS_AS_TIME) != 0 &&
	    x->how.value != HWTD_VALUE_INSNS)
		say_warning("%s: there is no time in it, or not everywhere: "
			    "instructions stand for it, 1 ns each",
		    x->name);
	if ((info->flags & HWTD_EXPORTF_VIEWER_LIMIT) == 0)
		return;
	say_warning("%s: %llu MB are more than the %llu MB that %s takes",
	    file, (unsigned long long)(info->largest_file / 1000000),
	    (unsigned long long)(f->viewer_bytes / 1000000), f->viewer);
	if (f->source == HWTD_SOURCE_CALLS)
		say_hint("--split-size %lluM writes several files; --time, "
			 "--min-duration, --resolution and --max-depth leave "
			 "out what does not matter",
		    (unsigned long long)(f->viewer_bytes >> 20));
	else
		say_hint("--time, --pid and --tid choose what is written");
}

static int
write_export(struct exporting *x)
{
	struct hwtd_export_info info = { .size = sizeof(info) };
	int code;

	if (!export_files_open(&x->files, x->options))
		return (EXIT_FAILED);
	progress_start(&x->progress, x->options->progress,
	    x->source->bytes(x->state));
	code = fill(x);
	if (code == EXIT_DONE)
		code = write_all(x);
	progress_end(&x->progress);
	if (!export_files_close(&x->files,
		(code == EXIT_DONE || code == EXIT_INTERRUPTED) &&
		    x->export != NULL))
		code = EXIT_FAILED;
	if (code == EXIT_INTERRUPTED)
		say_warning("%s: interrupted: %s", x->name,
		    x->export != NULL ? "only what was read by then is written"
				      : "nothing is written");
	if ((code == EXIT_DONE || code == EXIT_INTERRUPTED) &&
	    hwtd_export_info(x->export, &info) == HWTD_OK)
		say_what_to_do(x, &info);
	if (code == EXIT_DONE)
		code = x->source->judge(x->state);
	hwtd_export_close(x->export);
	return (code);
}

/* The last part of a path, for viewers. */
static const char *
title_of(const struct options *o)
{
	const char *path = o->operands[0];
	const char *slash = strrchr(path, '/');

	if (o->export.title != NULL)
		return (o->export.title);
	if (strcmp(path, "-") == 0)
		return ("standard input");
	return (slash != NULL && slash[1] != '\0' ? slash + 1 : path);
}

static int
export_from(struct exporting *x)
{
	int code;

	x->state = calloc(1, x->source->state_bytes);
	if (x->state == NULL) {
		say_error("out of memory");
		return (EXIT_FAILED);
	}
	code = x->source->open(x->state, x->options, &x->how, &x->name);
	if (code == EXIT_DONE)
		code = write_export(x);
	x->source->close(x->state);
	free(x->state);
	return (code);
}

static int
check_output(const struct options *o, const struct export_target *target)
{
	const bool standard = o->output == NULL || strcmp(o->output, "-") == 0;

	struct stat st;

	if (o->export.split_bytes != 0 && !standard &&
	    stat(o->output, &st) == 0 && !S_ISREG(st.st_mode)) {
		say_error("--split-size: %s is no file that others can stand "
			  "beside",
		    o->output);
		say_hint("name a regular file with -o");
		return (EXIT_BAD_USAGE);
	}
	if (o->export.split_bytes != 0 && standard) {
		say_error("--split-size: further files need a name");
		say_hint("give the first one's with -o");
		return (EXIT_BAD_USAGE);
	}
	if (o->export.split_bytes != 0 &&
	    (target->rows || target->format.source != HWTD_SOURCE_CALLS)) {
		say_error("--split-size: this format is one file");
		say_hint("--time, --pid and --tid choose what is written");
		return (EXIT_BAD_USAGE);
	}
	if (standard && o->output == NULL && !target->rows &&
	    isatty(STDOUT_FILENO)) {
		say_error("a terminal is no place for such a file");
		say_hint("name one with -o FILE, or a pipe");
		return (EXIT_BAD_USAGE);
	}
	return (EXIT_DONE);
}

static int
list_formats(const struct options *options)
{
	struct output out;

	if (!output_open(&out, options->output))
		return (EXIT_FAILED);
	export_list_formats(&out);
	return (output_close(&out, true) ? EXIT_DONE : EXIT_FAILED);
}

int
cmd_export(const struct options *options)
{
	const struct export_options *const e = &options->export;
	struct options rows;
	struct export_target target;
	struct exporting x = { .options = options, .target = &target };
	int code;

	if (e->to != NULL && strcmp(e->to, "help") == 0)
		return (list_formats(options));
	if (options->n_operands == 0) {
		say_error("export needs FILE");
		say_hint("'hwtdecode help export' shows how to use it");
		return (EXIT_BAD_USAGE);
	}
	code = export_target_of(options, &target);
	if (code == EXIT_DONE)
		code = export_check_fit(options, &target);
	if (code == EXIT_DONE)
		code = check_output(options, &target);
	if (code != EXIT_DONE)
		return (code);
	if (target.rows) {
		rows = *options;
		rows.format = target.row_format;
		return (cmd_events(&rows));
	}
	if (target.format.source >= N_SOURCES ||
	    (x.source = sources[target.format.source]) == NULL) {
		say_error("--to %s: this tool cannot make it",
		    target.format.name);
		return (EXIT_FAILED);
	}
	if (e->code) {
		if (target.format.source != HWTD_SOURCE_PROFILE) {
			say_error("--code: this format is made of something "
				  "else");
			say_hint("--to pprof and callgrind have it");
			return (EXIT_BAD_USAGE);
		}
		x.source = &export_from_counts;
	}
	x.how = (struct hwtd_format_options){ .size = sizeof(x.how),
		.format = target.format.format,
		.flags = target.flags,
		.write = export_files_write,
		.write_arg = &x.files,
		.next = export_files_next,
		.split_bytes = e->split_bytes,
		.min_ns = options->min_duration_ns,
		.resolution_ns = e->resolution_ns,
		.max_depth = options->max_depth,
		.value = e->value,
		.title = title_of(options) };
	return (export_from(&x));
}
