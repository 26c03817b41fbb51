/*
 * A program and a library as ELF files, and exports of traces of them.
 */
#include "support/compiler_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/elf_writer.h"
#include "support/mapped_trace.h"

#define PT_LOAD 1
#define READ 4
#define READ_EXECUTE 5

void
cc_write(const struct temp_dir *dir, const char *name,
    const struct cc_program *program)
{
	struct elf_writer w;
	char path[300];
	size_t at;

	elf_writer_init(&w, true, false, program->type, 62);
	(void)elf_writer_segment(&w,
	    &(struct elf_writer_segment){ PT_LOAD, READ, 0, program->base, 64,
		64, 4096 });
	(void)elf_writer_put(&w, NULL, 1, 4096);
	at = elf_writer_put(&w, program->code, program->n, 64);
	assert_int_equal(at, CC_FILE_OFF);
	(void)elf_writer_segment(&w,
	    &(struct elf_writer_segment){ PT_LOAD, READ_EXECUTE, at,
		program->base + CC_VADDR, program->n, program->n, 4096 });
	elf_writer_finish(&w);
	write_file(temp_dir_file(dir, name, path), w.bytes, w.n_bytes);
	elf_writer_free(&w);
}

uint64_t
cc_at(const struct cc_program *program, uint64_t off)
{
	return (program->base + program->bias + CC_VADDR + off);
}

void
cc_map(struct hwtd_trace *trace, uint32_t pid, const char *name,
    const struct cc_program *program)
{
	struct hwtd_record r = mr_record(HWTD_REC_MMAP, pid,
	    cc_at(program, 0) & ~UINT64_C(4095), 4096);
	char path[300];

	(void)snprintf(path, sizeof(path), "/opt/%s", name);
	r.flags |= HWTD_RECF_FILE_OFF;
	r.file_off = CC_FILE_OFF & ~4095u;
	r.name = path;
	mr_add(trace, &r);
}

uint32_t
cc_stream(struct hwtd_trace *trace, const struct pt_packets *packets,
    uint32_t pid, uint32_t tid)
{
	const struct hwtd_stream_desc desc = { .cpu = HWTD_NO_ID,
		.pid = pid,
		.tid = tid };

	return (mt_stream(trace, packets, &desc));
}

uint32_t
cc_image(const struct hwtd_trace *trace, const char *name)
{
	struct hwtd_image_info info = { .size = sizeof(info) };
	char path[300];
	uint32_t i = 0;

	(void)snprintf(path, sizeof(path), "/opt/%s", name);
	while (hwtd_trace_image(trace, i, &info) == HWTD_OK &&
	    strcmp(info.path, path) != 0)
		i++;
	assert_string_equal(info.path, path);
	return (i);
}

struct text {
	char *at;
	size_t n;
};

static int
take(void *arg, const void *bytes, size_t n)
{
	struct text *text = arg;

	text->at = realloc(text->at, text->n + n + 1);
	assert_non_null(text->at);
	memcpy(text->at + text->n, bytes, n);
	text->n += n;
	text->at[text->n] = '\0';
	return (0);
}

/* Of either source. */
struct source {
	struct hwtd_runs *runs;
	struct hwtd_events *events;
};

static int
begin(struct hwtd_trace *trace, uint32_t format, uint32_t image,
    const struct hwtd_format_options *how, struct source *s,
    struct hwtd_export **out, struct hwtd_error *err)
{
	const struct hwtd_runs_options runs = { .size = sizeof(runs),
		.flags = HWTD_RUNS_EDGES };

	int rc;

	*s = (struct source){ NULL, NULL };
	if (format == HWTD_FORMAT_PERF_SCRIPT) {
		rc = hwtd_events_open(trace, NULL, &s->events, err);
		return (rc != HWTD_OK ? rc
				      : hwtd_export_open_events(s->events,
					    image, how, out, err));
	}
	rc = hwtd_runs_open(trace, &runs, &s->runs, err);
	return (rc != HWTD_OK
		? rc
		: hwtd_export_open_runs(s->runs, image, how, out, err));
}

static int
export_text(struct hwtd_trace *trace, uint32_t format, uint32_t image,
    uint32_t max_depth, struct text *text, struct hwtd_compiler_info *info,
    struct hwtd_error *err)
{
	const struct hwtd_format_options how = { .size = sizeof(how),
		.format = format,
		.write = take,
		.write_arg = text,
		.max_depth = max_depth };
	struct hwtd_export *ex = NULL;
	struct source s;
	int rc = begin(trace, format, image, &how, &s, &ex, err);

	while (rc == HWTD_OK)
		rc = hwtd_export_write(ex, err);
	if (rc == HWTD_END && info != NULL)
		assert_int_equal(hwtd_export_compiler_info(ex, info), HWTD_OK);
	hwtd_export_close(ex);
	hwtd_runs_close(s.runs);
	hwtd_events_close(s.events);
	return (rc);
}

int
cc_drop(void *arg, const void *bytes, size_t n)
{
	(void)arg;
	(void)bytes;
	(void)n;
	return (0);
}

char *
cc_export_events(struct hwtd_events *events, uint32_t image,
    uint32_t max_depth, struct hwtd_compiler_info *info)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct text text = { NULL, 0 };
	const struct hwtd_format_options how = { .size = sizeof(how),
		.format = HWTD_FORMAT_PERF_SCRIPT,
		.write = take,
		.write_arg = &text,
		.max_depth = max_depth };
	struct hwtd_export *ex = NULL;
	int rc = hwtd_export_open_events(events, image, &how, &ex, &err);

	while (rc == HWTD_OK)
		rc = hwtd_export_write(ex, &err);
	if (rc != HWTD_END)
		fail_msg("%d %s: %s", rc, hwtd_code_text(rc), err.message);
	if (info != NULL)
		assert_int_equal(hwtd_export_compiler_info(ex, info), HWTD_OK);
	hwtd_export_close(ex);
	return (text.at);
}

char *
cc_export(struct hwtd_trace *trace, uint32_t format, uint32_t image,
    uint32_t max_depth, struct hwtd_compiler_info *info)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct text text = { NULL, 0 };
	const int rc = export_text(trace, format, image, max_depth, &text,
	    info, &err);

	if (rc != HWTD_END)
		fail_msg("%d %s: %s", rc, hwtd_code_text(rc), err.message);
	if (text.at == NULL)
		(void)take(&text, "", 0);
	return (text.at);
}

int
cc_try(struct hwtd_trace *trace, uint32_t format, char **text_out)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct text text = { NULL, 0 };
	const int rc = export_text(trace, format, HWTD_NO_ID, 4, &text, NULL,
	    &err);

	*text_out = text.at;
	return (rc);
}

void
cc_assert(struct hwtd_trace *trace, uint32_t format, uint32_t image,
    const char *want)
{
	char *got = cc_export(trace, format, image, 0, NULL);

	assert_string_equal(got, want);
	free(got);
}

void
cc_assert_fails(struct hwtd_trace *trace, uint32_t format, uint32_t image,
    int code, const char *says)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct text text = { NULL, 0 };

	assert_int_equal(export_text(trace, format, image, 0, &text, NULL,
			     &err),
	    code);
	if (strstr(err.message, says) == NULL)
		fail_msg("'%s' does not say '%s'", err.message, says);
	free(text.at);
}
