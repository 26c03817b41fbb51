/*
 * perf.data put together number by number, in either byte order.
 *
 * Source: perf_event_open(2); Linux, tools/perf/Documentation/perf.data-file-format.txt.
 */
#include "support/perf_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/temp_dir.h"

#define HEADER_BYTES 8u
#define ATTR_BYTES 112u
#define PMU_TYPE 8u
#define SAMPLE_ID_ALL 18u

void
pw_init(struct pw *w, bool big, uint64_t sample_type)
{
	memset(w, 0, sizeof(*w));
	w->big = big;
	w->sample_type = sample_type;
}

void
pw_fini(struct pw *w)
{
	for (size_t i = 0; i < w->n_features; i++)
		free(w->features[i].bytes);
	free(w->bytes);
	memset(w, 0, sizeof(*w));
}

static void
reserve(struct pw *w, size_t n)
{
	if (w->n + n <= w->cap)
		return;
	w->cap = 2 * (w->n + n) + 4096;
	w->bytes = realloc(w->bytes, w->cap);
	assert_non_null(w->bytes);
}

void
pw_set(struct pw *w, size_t at, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		w->bytes[at + (w->big ? n - 1 - i : i)] = (uint8_t)(v >>
		    (8 * i));
}

void
pw_put(struct pw *w, uint64_t v, size_t n)
{
	reserve(w, n);
	w->n += n;
	pw_set(w, w->n - n, v, n);
}

void
pw_bytes(struct pw *w, const void *bytes, size_t n)
{
	reserve(w, n);
	memcpy(w->bytes + w->n, bytes, n);
	w->n += n;
}

void
pw_text(struct pw *w, const char *text)
{
	const size_t n = strlen(text) + 1;

	pw_bytes(w, text, n);
	for (size_t i = n; i % 8 != 0; i++)
		pw_put(w, 0, 1);
}

void
pw_attr(struct pw *w, size_t n, uint32_t type, uint64_t config,
    uint64_t sample_type)
{
	const size_t at = w->n;

	for (size_t i = 0; i < n; i++)
		pw_put(w, 0, 1);
	pw_set(w, at, type, 4);
	pw_set(w, at + 4, n, 4);
	pw_set(w, at + 8, config, 8);
	pw_set(w, at + 24, sample_type, 8);
	/* Bit fields begin at the other end where bytes do. */
	pw_set(w, at + 40,
	    (uint64_t)1 << (w->big ? 63 - SAMPLE_ID_ALL : SAMPLE_ID_ALL), 8);
}

void
pw_file(struct pw *w, bool big, uint64_t sample_type)
{
	pw_init(w, big, sample_type);
	/* The magic is a number, too. */
	pw_put(w, UINT64_C(0x32454c4946524550), 8);
	pw_put(w, 104, 8);
	pw_put(w, ATTR_BYTES + 16, 8);
	pw_put(w, 112, 8);
	pw_put(w, ATTR_BYTES + 16, 8);
	w->data = 112 + ATTR_BYTES + 16;
	pw_put(w, w->data, 8);
	/* Records; set at the end. */
	pw_put(w, 0, 8);
	for (size_t i = 0; i < 6; i++)
		pw_put(w, 0, 8);
	/* IDs of the event. */
	pw_put(w, 1, 8);
	pw_attr(w, ATTR_BYTES, PMU_TYPE, 0, sample_type);
	pw_put(w, 104, 8);
	pw_put(w, 8, 8);
	assert_int_equal(w->n, w->data);
}

void
pw_pipe(struct pw *w, bool big, uint64_t sample_type)
{
	pw_init(w, big, sample_type);
	pw_put(w, UINT64_C(0x32454c4946524550), 8);
	pw_put(w, 16, 8);
	pw_begin(w, PW_HEADER_ATTR, 0);
	pw_attr(w, ATTR_BYTES, PMU_TYPE, 0, sample_type);
	pw_put(w, 1, 8);
	pw_end(w, NULL);
}

void
pw_feature(struct pw *w, unsigned no, const struct pw *content)
{
	const size_t i = w->n_features++;

	assert_true(i < sizeof(w->features) / sizeof(w->features[0]));
	w->features[i].no = no;
	w->features[i].n = content->n;
	w->features[i].bytes = malloc(content->n + 1);
	assert_non_null(w->features[i].bytes);
	memcpy(w->features[i].bytes, content->bytes, content->n);
}

void
pw_text_feature(struct pw *w, unsigned no, const char *text)
{
	const size_t n = (strlen(text) + 64) / 64 * 64;
	struct pw content;

	pw_init(&content, w->big, 0);
	pw_put(&content, n, 4);
	pw_bytes(&content, text, strlen(text));
	while (content.n < n + 4)
		pw_put(&content, 0, 1);
	pw_feature(w, no, &content);
	pw_fini(&content);
}

void
pw_finish(struct pw *w)
{
	uint64_t bits = 0;
	size_t at;

	pw_set(w, 48, w->n - w->data, 8);
	at = w->n + 16 * w->n_features;
	for (size_t i = 0; i < w->n_features; i++) {
		bits |= (uint64_t)1 << w->features[i].no;
		pw_put(w, at, 8);
		pw_put(w, w->features[i].n, 8);
		at += w->features[i].n;
	}
	pw_set(w, 72, bits, 8);
	for (size_t i = 0; i < w->n_features; i++)
		pw_bytes(w, w->features[i].bytes, w->features[i].n);
}

size_t
pw_begin(struct pw *w, uint32_t type, uint32_t misc)
{
	w->record = w->n;
	pw_put(w, type, 4);
	pw_put(w, misc, 2);
	pw_put(w, 0, 2);
	return (w->record);
}

void
pw_who(struct pw *w, uint64_t type, const struct pw_who *who)
{
	if ((type & PW_TID) != 0) {
		pw_put(w, who->pid, 4);
		pw_put(w, who->tid, 4);
	}
	if ((type & PW_TIME) != 0)
		pw_put(w, who->time, 8);
	if ((type & PW_ID) != 0)
		pw_put(w, who->id, 8);
	if ((type & PW_STREAM_ID) != 0)
		pw_put(w, UINT64_C(0x5151515151515151), 8);
	if ((type & PW_CPU) != 0) {
		pw_put(w, who->cpu, 4);
		pw_put(w, 0, 4);
	}
	if ((type & PW_IDENTIFIER) != 0)
		pw_put(w, who->id, 8);
}

void
pw_end(struct pw *w, const struct pw_who *who)
{
	if (who != NULL)
		pw_who(w, w->sample_type, who);
	pw_set(w, w->record + 6, w->n - w->record, 2);
}

void
pw_mmap(struct pw *w, const struct pw_who *who, uint32_t misc, uint32_t pid,
    uint64_t addr, uint64_t len, const char *name)
{
	pw_begin(w, PW_MMAP2, misc);
	pw_put(w, pid, 4);
	pw_put(w, pid, 4);
	pw_put(w, addr, 8);
	pw_put(w, len, 8);
	pw_put(w, 0x1000, 8);
	/* The device, its inode, protection and flags. */
	for (size_t i = 0; i < 4; i++)
		pw_put(w, 5, 8);
	pw_text(w, name);
	pw_end(w, who);
}

void
pw_comm(struct pw *w, const struct pw_who *who, uint32_t misc, uint32_t pid,
    uint32_t tid, const char *name)
{
	pw_begin(w, PW_COMM, misc);
	pw_put(w, pid, 4);
	pw_put(w, tid, 4);
	pw_text(w, name);
	pw_end(w, who);
}

void
pw_task(struct pw *w, const struct pw_who *who, uint32_t type, uint32_t pid,
    uint32_t ppid, uint32_t tid, uint32_t ptid)
{
	pw_begin(w, type, 0);
	pw_put(w, pid, 4);
	pw_put(w, ppid, 4);
	pw_put(w, tid, 4);
	pw_put(w, ptid, 4);
	pw_put(w, who != NULL ? who->time : 0, 8);
	pw_end(w, who);
}

void
pw_switch(struct pw *w, const struct pw_who *who, bool is_out)
{
	pw_begin(w, PW_SWITCH, is_out ? PW_SWITCH_OUT : 0);
	pw_end(w, who);
}

void
pw_aux(struct pw *w, const struct pw_who *who, uint64_t off, uint64_t n,
    uint64_t flags)
{
	pw_begin(w, PW_AUX, 0);
	pw_put(w, off, 8);
	pw_put(w, n, 8);
	pw_put(w, flags, 8);
	pw_end(w, who);
}

void
pw_info_pt(struct pw *w, bool is_snapshot)
{
	pw_begin(w, PW_AUXTRACE_INFO, 0);
	pw_put(w, 1, 4);
	pw_put(w, 0, 4);
	for (size_t i = 0; i < 16; i++)
		pw_put(w, i == 0 ? PMU_TYPE : i == 8 && is_snapshot, 8);
	pw_end(w, NULL);
}

void
pw_info_spe(struct pw *w)
{
	pw_begin(w, PW_AUXTRACE_INFO, 0);
	pw_put(w, 4, 4);
	pw_put(w, 0, 4);
	pw_put(w, PMU_TYPE, 8);
	pw_put(w, 0, 8);
	pw_end(w, NULL);
}

void
pw_auxtrace(struct pw *w, uint64_t told, uint64_t off, uint32_t idx,
    uint32_t cpu, uint32_t tid, const void *bytes, size_t n)
{
	pw_begin(w, PW_AUXTRACE, 0);
	pw_put(w, told, 8);
	pw_put(w, off, 8);
	pw_put(w, 0, 8);
	pw_put(w, idx, 4);
	pw_put(w, tid, 4);
	pw_put(w, cpu, 4);
	pw_put(w, 0, 4);
	pw_end(w, NULL);
	pw_bytes(w, bytes, n);
}

int
pw_open_in(struct hwtd_context *ctx, const struct pw *w,
    const struct hwtd_open_options *opts, struct hwtd_trace **out,
    struct hwtd_error *err)
{
	struct temp_dir dir;
	char path[300];
	int rc;

	temp_dir_create(&dir);
	write_file(temp_dir_file(&dir, "perf.data", path), w->bytes, w->n);
	rc = hwtd_trace_open(ctx, path, opts, out, err);
	temp_dir_remove(&dir);
	return (rc);
}

struct hwtd_trace *
pw_open(const struct pw *w, const struct hwtd_open_options *opts)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;

	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	if (pw_open_in(ctx, w, opts, &trace, &err) != HWTD_OK)
		fail_msg("%s", err.message);
	hwtd_context_destroy(ctx);
	return (trace);
}

size_t
pw_n_records(const struct hwtd_trace *trace)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };

	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	return ((size_t)info.n_records);
}

struct hwtd_record
pw_record(const struct hwtd_trace *trace, uint64_t no)
{
	struct hwtd_record r = { .size = sizeof(r) };

	assert_int_equal(hwtd_trace_record(trace, no, &r), HWTD_OK);
	return (r);
}

void
pw_assert_no_damage(const struct hwtd_trace *trace)
{
	struct hwtd_damage d = { .size = sizeof(d) };

	if (hwtd_trace_damage(trace, 0, &d) == HWTD_OK)
		fail_msg("damage: %s", d.text);
}

void
pw_assert_damage(const struct hwtd_trace *trace, uint64_t off,
    const char *text)
{
	struct hwtd_damage d = { .size = sizeof(d) };

	assert_int_equal(hwtd_trace_damage(trace, 0, &d), HWTD_OK);
	print_message("%s\n", d.text);
	assert_int_equal(d.file_off, off);
	assert_non_null(strstr(d.text, text));
	assert_int_not_equal(hwtd_trace_damage(trace, 1, &d), HWTD_OK);
}
