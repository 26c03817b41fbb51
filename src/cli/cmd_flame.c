/*
 * hwtdecode flame: what stacks weigh, as a picture, folded, or as a tree; also
 * compared with those of another trace.
 */
#include <stdio.h>
#include <string.h>

#include "cli/export/export_files.h"
#include "cli/print/flame_writer.h"
#include "cli/output/interrupt.h"
#include "cli/output/message.h"
#include "cli/input/profile_input.h"

/* Parts of a million: what people do not read; what would be too much to hold. */
#define TEXT_PPM 5000u
#define INVERT_PPM 100u

struct flame {
	const struct options *options;
	enum flame_format format;
	struct profile_input now, before;
	/* Those of the command, with the other file. */
	struct options before_options;
	const char *before_operand;
	struct hwtd_flame *flame;
	struct hwtd_flame_info info;
	/* The user broke off: not all was read. */
	bool interrupted;
};

static int
read_inputs(struct flame *f)
{
	const uint32_t flags = HWTD_PROFILE_THREADS |
	    (f->format == FLAME_SPEEDSCOPE || f->format == FLAME_JSONL
		    ? HWTD_PROFILE_LINES
		    : 0);
	int code = profile_input_open(&f->now, f->options, flags);

	if (code == EXIT_DONE)
		code = profile_input_read(&f->now);
	if (code != EXIT_DONE || f->options->flame.diff == NULL)
		return (code);
	code = profile_input_open(&f->before, &f->before_options, flags);
	return (code == EXIT_DONE ? profile_input_read(&f->before) : code);
}

/* Nothing weighs anything, though there is something. */
static int
check_value(const struct profile_input *in, uint64_t total, uint32_t value)
{
	struct hwtd_profile_info info = { .size = sizeof(info) };

	if (total != 0 || hwtd_profile_info(in->profile, &info) != HWTD_OK ||
	    info.total.calls == 0)
		return (EXIT_DONE);
	say_error("%s: nothing in it has %s", in->calls.name,
	    value == HWTD_VALUE_TIME	     ? "a time"
		: value == HWTD_VALUE_CYCLES ? "cycles"
					     : "instructions");
	say_hint("--value chooses what weighs; calls always do");
	return (EXIT_FAILED);
}

static int
make_flame(struct flame *f)
{
	const struct flame_options *o = &f->options->flame;
	const struct hwtd_flame_options how = { .size = sizeof(how),
		.flags = (o->by_thread ? HWTD_FLAME_BY_THREAD : 0) |
		    (o->invert ? HWTD_FLAME_INVERT : 0) |
		    (o->by_name || f->format == FLAME_FOLDED
			    ? HWTD_FLAME_BY_NAME
			    : 0) |
		    (o->absolute ? HWTD_FLAME_ABSOLUTE : 0) |
		    (o->off_time ? HWTD_FLAME_OFF_TIME : 0),
		.value = f->options->export.value,
		.max_depth = f->options->max_depth,
		.min_ppm = o->has_min	      ? o->min_ppm
		    : f->format == FLAME_TEXT ? TEXT_PPM
		    : o->invert		      ? INVERT_PPM
					      : 0,
		.base = f->before.profile };
	struct hwtd_error err = { .size = sizeof(err) };
	int code;

	if (hwtd_flame_open(f->now.profile, &how, &f->flame, &err) != HWTD_OK)
		return (say_library_error(f->now.calls.name, &err));
	f->info.size = sizeof(f->info);
	(void)hwtd_flame_info(f->flame, &f->info);
	code = check_value(&f->now, f->info.total, f->info.value);
	if (code == EXIT_DONE && f->before.profile != NULL)
		code = check_value(&f->before, f->info.base_total,
		    f->info.value);
	return (code);
}

/* The last part of a path. */
static const char *
short_name(const char *name)
{
	const char *slash = strrchr(name, '/');

	return (slash != NULL && slash[1] != '\0' ? slash + 1 : name);
}

static int
write_format(struct flame *f, struct export_files *files)
{
	const struct flame_options *o = &f->options->flame;
	const char *given = f->options->export.title;
	char title[512];
	struct hwtd_format_options how = { .size = sizeof(how),
		.format = f->format == FLAME_SVG ? HWTD_FORMAT_FLAME_SVG
		    : f->format == FLAME_FOLDED
		    ? HWTD_FORMAT_FOLDED
		    : HWTD_FORMAT_SPEEDSCOPE_SAMPLED,
		.flags = o->icicle ? HWTD_EXPORT_ICICLE : 0,
		.write = export_files_write,
		.write_arg = files,
		.min_width = o->min_width,
		.title = title };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_export *export = NULL;
	int code = EXIT_DONE, rc;

	(void)snprintf(title, sizeof(title), "%s%s",
	    given != NULL ? given : short_name(f->now.calls.name),
	    f->interrupted ? " (interrupted)" : "");
	rc = hwtd_export_open_flame(f->flame, &how, &export, &err);
	while (rc == HWTD_OK) {
		rc = hwtd_export_write(export, &err);
		if (code == EXIT_DONE && interrupt_seen()) {
			hwtd_export_stop(export);
			code = EXIT_INTERRUPTED;
		}
	}
	hwtd_export_close(export);
	/* The output says itself what is wrong with it, when it is closed. */
	if (files->out.failed != 0)
		return (output_is_unread(&files->out) ? code : EXIT_FAILED);
	return (rc < 0 ? say_library_error(f->now.calls.name, &err) : code);
}

/* Who broke off reading gets what was read. */
static int
write_flame(struct flame *f)
{
	struct export_files files;
	int code;

	if (!export_files_open(&files, f->options))
		return (EXIT_FAILED);
	code = f->format == FLAME_SVG || f->format == FLAME_FOLDED ||
		f->format == FLAME_SPEEDSCOPE
	    ? write_format(f, &files)
	    : flame_write(&files.out, f->options, f->format, f->flame,
		  f->interrupted);
	if (!export_files_close(&files,
		code == EXIT_DONE || code == EXIT_INTERRUPTED))
		code = EXIT_FAILED;
	return (code);
}

static void
say_what_is_merged(const struct flame *f)
{
	const struct hwtd_flame_info *info = &f->info;

	if (info->deeper != 0)
		say_warning("%s: %llu frames are deeper than %u levels and "
			    "are summed up; --max-depth tells more",
		    f->now.calls.name, (unsigned long long)info->deeper,
		    f->options->max_depth != 0 ? f->options->max_depth : 1024);
	if (info->others != 0)
		say_warning("%s: %llu calls had no room in the profile and "
			    "are summed up",
		    f->now.calls.name, (unsigned long long)info->others);
	if ((info->flags & HWTD_FLAMEF_SATURATED) != 0)
		say_warning("%s: sums are beyond 64 bits and are too small",
		    f->now.calls.name);
}

static int
judge(const struct flame *f)
{
	const int now = profile_input_judge(&f->now);
	const int before = f->before.profile != NULL
	    ? profile_input_judge(&f->before)
	    : EXIT_DONE;

	say_what_is_merged(f);
	return (now != EXIT_DONE ? now : before);
}

int
cmd_flame(const struct options *options)
{
	struct flame f = { .options = options, .before_options = *options };
	int code = flame_format_of(options, &f.format);

	if (code != EXIT_DONE)
		return (code);
	f.before_operand = options->flame.diff;
	f.before_options.operands = &f.before_operand;
	f.before_options.n_operands = 1;
	code = read_inputs(&f);
	if (code == EXIT_INTERRUPTED && f.now.profile != NULL &&
	    options->flame.diff == NULL) {
		f.interrupted = true;
		say_warning("%s: broken off: this is of what was read by then",
		    f.now.calls.name);
		if (make_flame(&f) == EXIT_DONE &&
		    write_flame(&f) == EXIT_FAILED)
			code = EXIT_FAILED;
	} else if (code == EXIT_DONE) {
		code = make_flame(&f);
		if (code == EXIT_DONE)
			code = write_flame(&f);
		if (code == EXIT_DONE)
			code = judge(&f);
	}
	hwtd_flame_close(f.flame);
	profile_input_close(&f.before);
	profile_input_close(&f.now);
	return (code);
}
