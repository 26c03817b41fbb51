/*
 * Captures of Intel PT of programs whose flow is known, on the simulated kernel.
 */
#include "pt_run.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/mapped_trace.h"
#include "support/row_text.h"

/* jmp to the next; the same; nop; jmp rax. */
static const uint8_t code[] = { 0xeb, 0x00, 0xeb, 0x00, 0x90, 0xff, 0xe0 };

#define TEXT_ROOM ((size_t)256 << 10)

void
pt_run_init(struct pt_run *r, const struct sim_options *sim)
{
	const struct hwtd_context_options o = {
		.size = sizeof(o),
		.allocator = &r->memory.allocator,
	};

	memset(r, 0, sizeof(*r));
	engine_run_init(&r->run, sim);
	/* One whose memory is counted. */
	hwtd_context_destroy(r->run.ctx);
	failing_allocator_init(&r->memory);
	assert_int_equal(hwtd_context_create(&o, &r->run.ctx, NULL), HWTD_OK);
	(void)snprintf(r->path, sizeof(r->path), "%s",
	    pt_run_file(r, "program", 3, 7, NULL));
	r->argv[0] = r->path;
	r->run.options.argv = r->argv;
	r->script = sim_program(r->run.kernel, r->path);
	sim_set_sysctl_text(r->run.kernel, "hw.machine_arch", "amd64");
	r->pt.size = sizeof(r->pt);
	r->pt.buffer_bytes = PT_RUN_BUFFER;
	r->run.options.pt = &r->pt;
}

void
pt_run_fini(struct pt_run *r)
{
	engine_run_fini(&r->run);
	for (size_t i = 0; i < r->n_packets; i++)
		pt_free(&r->packets[i]);
	assert_int_equal(r->memory.blocks, 0);
}

const char *
pt_run_file(struct pt_run *r, const char *name, uint16_t type,
    uint8_t build_id, const char *interpreter)
{
	const struct small_elf elf = {
		.type = type,
		.base = type == 2 ? 0x400000 : 0,
		.code = code,
		.n_code = sizeof(code),
		.build_id = build_id,
		.interpreter = interpreter,
	};
	char *path;

	assert_true(r->n_paths < PT_RUN_PATHS);
	path = r->paths[r->n_paths++];
	(void)temp_dir_file(&r->run.dir, name, path);
	small_elf_write(&elf, path);
	return (path);
}

/* Packets */

static struct pt_packets *
new_packets(struct pt_run *r)
{
	assert_true(r->n_packets < PT_RUN_PACKETS);
	return (&r->packets[r->n_packets++]);
}

static void
put_flow(struct pt_packets *p, uint64_t at, unsigned rounds)
{
	pt_pge(p, PT_IP_48, at);
	for (unsigned i = 1; i < rounds; i++)
		pt_tip(p, PT_IP_16, at);
	pt_pgd(p, PT_IP_NONE, 0);
}

const struct pt_packets *
pt_run_flow(struct pt_run *r, uint64_t at, unsigned rounds)
{
	struct pt_packets *p = new_packets(r);

	pt_psb(p);
	pt_mode_exec(p, 64);
	pt_psbend(p);
	put_flow(p, at, rounds);
	return (p);
}

const struct pt_packets *
pt_run_more(struct pt_run *r, uint64_t at, unsigned rounds)
{
	struct pt_packets *p = new_packets(r);

	put_flow(p, at, rounds);
	return (p);
}

const struct pt_packets *
pt_run_unique(struct pt_run *r, size_t n)
{
	struct pt_packets *p = new_packets(r);
	uint64_t number = (uint64_t)r->n_packets << 32;

	pt_psb(p);
	pt_psbend(p);
	while (p->n + 10 <= n)
		pt_ptw(p, 8, ++number, 0);
	pt_pad(p, n - p->n);
	return (p);
}

static void add(char *text, size_t room, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void
add(char *text, size_t room, const char *fmt, ...)
{
	const size_t n = strlen(text);
	va_list ap;
	int added;

	va_start(ap, fmt);
	added = vsnprintf(text + n, room - n, fmt, ap);
	va_end(ap);
	assert_true(added >= 0 && (size_t)added < room - n);
}

void
pt_run_rows(char *text, size_t room, uint64_t at, unsigned rounds,
    unsigned section)
{
	add(text, room, "enable %" PRIx64 "\n", at);
	for (unsigned i = 1; i <= rounds; i++) {
		add(text, room,
		    "block %" PRIx64 " 1/2 jump ->%" PRIx64 " 64 sec%u\n"
		    "block %" PRIx64 " 1/2 jump ->%" PRIx64 " 64 sec%u\n",
		    at, at + 2, section, at + 2, at + 4, section);
		add(text, room, "block %" PRIx64 " 2/3 indirect-jump", at + 4);
		if (i < rounds)
			add(text, room, " ->%" PRIx64 " taken", at);
		add(text, room, " 64 sec%u\n", section);
	}
	add(text, room, "disable\n");
}

/* Steps */

void
pt_run_step(struct pt_run *r, const struct sim_step *step)
{
	sim_add(r->script, step);
}

void
pt_run_exec(struct pt_run *r, const char *path, uint64_t bias)
{
	pt_run_step(r,
	    &(struct sim_step){ .op = SIM_EXEC,
		.path = path,
		.addr = bias,
		.off = PT_RUN_CODE,
		.len = PT_RUN_PAGE });
}

void
pt_run_mmap(struct pt_run *r, unsigned thread, const char *path, uint64_t bias)
{
	pt_run_step(r,
	    &(struct sim_step){ .op = SIM_MMAP,
		.thread = thread,
		.path = path,
		.addr = bias + PT_RUN_CODE,
		.off = PT_RUN_CODE,
		.len = PT_RUN_PAGE });
}

void
pt_run_trace(struct pt_run *r, unsigned thread, uint64_t ns,
    const struct pt_packets *packets)
{
	pt_run_step(r,
	    &(struct sim_step){ .op = SIM_TRACE,
		.thread = thread,
		.cpu = thread,
		.ns = ns,
		.bytes = packets->bytes,
		.n = packets->n });
}

void
pt_run_thread(struct pt_run *r, unsigned by, unsigned number)
{
	pt_run_step(r,
	    &(struct sim_step){ .op = SIM_THREAD_CREATE,
		.thread = by,
		.number = number });
}

void
pt_run_exit(struct pt_run *r, int status)
{
	pt_run_step(r, &(struct sim_step){ .op = SIM_EXIT, .status = status });
}

void
pt_run_attach(struct pt_run *r, unsigned n_threads)
{
	r->n_threads = n_threads;
	r->run.options.argv = NULL;
}

void
pt_run_has(struct pt_run *r, const char *path, uint64_t start, uint64_t bytes,
    uint64_t off, uint32_t prot)
{
	struct hwtdi_vm_entry *m;

	assert_true(r->n_maps < PT_RUN_MAPS);
	m = &r->maps[r->n_maps++];
	m->start = start;
	m->end = start + bytes;
	m->file_off = off;
	m->prot = prot;
	(void)snprintf(m->path, sizeof(m->path), "%s", path);
}

void
pt_run_has_file(struct pt_run *r, const char *path, uint64_t bias)
{
	pt_run_has(r, path, bias, PT_RUN_PAGE, 0, HWTDI_PROT_READ);
	pt_run_has(r, path, bias + PT_RUN_CODE, PT_RUN_PAGE, PT_RUN_CODE,
	    HWTDI_PROT_READ | HWTDI_PROT_EXEC);
}

pid_t
pt_run_begin(struct pt_run *r)
{
	struct sim_kernel *k = r->run.kernel;
	pid_t pid;

	if (r->n_threads == 0 || r->run.options.pid != 0)
		return ((pid_t)r->run.options.pid);
	pid = sim_start(k, r->script, "program", r->n_threads);
	r->run.options.pid = (uint32_t)pid;
	for (size_t i = 0; i < r->n_maps; i++)
		sim_add_mapping(k, pid, &r->maps[i]);
	if (r->credentials != NULL)
		sim_set_credentials(k, pid, r->credentials);
	return (pid);
}

/* Running */

void
pt_run_ok(struct pt_run *r)
{
	(void)pt_run_begin(r);
	if (engine_run(&r->run) != HWTD_OK)
		fail_msg("%s", r->run.err.message);
	engine_run_check(&r->run);
}

void
pt_run_fails(struct pt_run *r, int wanted, const char *words)
{
	int rc;

	(void)pt_run_begin(r);
	rc = engine_run(&r->run);
	if (rc != wanted || strstr(r->run.err.message, words) == NULL)
		fail_msg("%d: %s", rc, r->run.err.message);
	assert_int_equal(r->run.err.code, wanted);
	engine_run_check(&r->run);
}

/* What came of it */

void
pt_run_assert_losses(const struct pt_run *r, const char *text)
{
	char got[300] = "";

	for (uint32_t i = 0; i < HWTD_CAPTURE_LOSSES; i++)
		if (r->run.status.losses[i] != 0)
			add(got, sizeof(got), "%s%s=%" PRIu64,
			    got[0] != '\0' ? " " : "",
			    hwtd_capture_loss_name(i),
			    r->run.status.losses[i]);
	assert_string_equal(got, text);
}

static void
add_name(const struct pt_run *r, char *text, const char *name)
{
	const size_t n = strlen(r->run.dir.path);

	if (strncmp(name, r->run.dir.path, n) == 0)
		add(text, TEXT_ROOM, " $%s", name + n);
	else
		add(text, TEXT_ROOM, " %s", name);
}

static void
add_record(const struct pt_run *r, char *text, const struct hwtd_record *rec)
{
	if (rec->type == HWTD_REC_CLOCK || rec->type == HWTD_REC_BUFFER)
		return;
	add(text, TEXT_ROOM, "%s", hwtd_record_type_name(rec->type));
	if ((rec->flags & HWTD_RECF_ADDR) != 0)
		add(text, TEXT_ROOM, " %" PRIx64, rec->addr);
	if ((rec->flags & HWTD_RECF_LEN) != 0)
		add(text, TEXT_ROOM, "+%" PRIx64, rec->len);
	if ((rec->flags & HWTD_RECF_FILE_OFF) != 0)
		add(text, TEXT_ROOM, " off=%" PRIx64, rec->file_off);
	if ((rec->flags & HWTD_RECF_BASE) != 0 && rec->base != 0)
		add(text, TEXT_ROOM, " base=%" PRIx64, rec->base);
	if ((rec->flags & HWTD_RECF_VALUE) != 0)
		add(text, TEXT_ROOM, " value=%" PRIu64, rec->value);
	if (rec->name != NULL)
		add_name(r, text, rec->name);
	if (rec->n_build_id > 0)
		add(text, TEXT_ROOM, " id=%02x*%" PRIu32, rec->build_id[0],
		    rec->n_build_id);
	for (unsigned i = 0; rec->tid != HWTD_NO_ID && i < 100; i++)
		if (rec->tid == pt_run_tid(r, 0) + i)
			add(text, TEXT_ROOM, " thread %u", i);
	if (rec->stream != HWTD_NO_ID)
		add(text, TEXT_ROOM, " stream %" PRIu32, rec->stream);
	add(text, TEXT_ROOM, "\n");
}

void
pt_run_assert_records(const struct pt_run *r, const char *lines)
{
	struct hwtd_trace *trace = engine_run_open(&r->run);
	struct hwtd_record rec = { .size = sizeof(rec) };
	char *text = calloc(1, TEXT_ROOM);
	uint64_t time = 0;

	assert_non_null(text);
	for (uint64_t i = 0; hwtd_trace_record(trace, i, &rec) == HWTD_OK;
	     i++) {
		add_record(r, text, &rec);
		/* All of them in the order of their times. */
		if ((rec.flags & HWTD_RECF_TIME) != 0) {
			assert_true(rec.time_ns >= time);
			time = rec.time_ns;
		}
	}
	assert_string_equal(text, lines);
	free(text);
	hwtd_trace_close(trace);
}

/* Without "sN " ahead of lines. */
static void
cut_streams(char *text)
{
	char *to = text;

	for (const char *line = text; *line != '\0';) {
		size_t n;

		if (line[0] == 's' && line[1] >= '0' && line[1] <= '9')
			line = strchr(line, ' ') + 1;
		n = strcspn(line, "\n") + 1;
		memmove(to, line, n);
		to += n;
		line += n;
	}
	*to = '\0';
}

void
pt_run_assert_rows(const struct pt_run *r, uint32_t tid, const char *lines)
{
	const struct hwtd_events_options opts = {
		.size = sizeof(opts),
		.level = HWTD_LEVEL_BLOCK,
		.tids = &tid,
		.n_tids = tid != 0,
	};
	struct hwtd_trace *trace = engine_run_open(&r->run);
	struct mt_rows rows = { 0 };
	char *text;

	mt_rows(trace, &opts, &rows);
	text = row_text(trace, &rows);
	cut_streams(text);
	if (strcmp(text, lines) != 0)
		fail_msg("got:\n%swant:\n%s", text, lines);
	free(text);
	mt_rows_free(&rows);
	hwtd_trace_close(trace);
}

void
pt_run_assert_said(const struct pt_run *r, const char *what, const char *value)
{
	struct hwtd_trace *trace = engine_run_open(&r->run);
	struct hwtd_trace_info info = { .size = sizeof(info) };
	const size_t n = strlen(what);
	const char *line;
	bool found = false;

	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	for (line = info.capture; line != NULL && *line != '\0' && !found;
	     line = strchr(line, '\n')) {
		line += *line == '\n';
		found = strncmp(line, what, n) == 0 && line[n] == '=';
		if (found)
			break;
	}
	if (found != (value != NULL))
		fail_msg("%s in:\n%s", what, info.capture);
	if (found) {
		const size_t room = strcspn(line + n + 1, "\n");

		if (strlen(value) != room ||
		    strncmp(line + n + 1, value, room) != 0)
			fail_msg("not %s: %.*s", value, (int)room,
			    line + n + 1);
	}
	hwtd_trace_close(trace);
}

uint32_t
pt_run_tid(const struct pt_run *r, unsigned nth)
{
	struct sim_buffer b;

	/* Threads are numbered one after the other. */
	sim_buffer(r->run.kernel, 0, &b);
	return (b.tid + nth);
}

/* Bytes */

/* Where in [from, end) of `in` these bytes are; SIZE_MAX: nowhere. */
static size_t
find(const uint8_t *in, size_t from, size_t end, const uint8_t *bytes,
    size_t n)
{
	for (size_t i = from; i + n <= end; i++)
		if (in[i] == bytes[0] && memcmp(in + i, bytes, n) == 0)
			return (i);
	return (SIZE_MAX);
}

/* The first slice from *slice on that has all of an extent. */
static size_t
find_in_slices(const struct sim_buffer *b, size_t *slice, size_t from,
    const uint8_t *bytes, size_t n, bool from_start)
{
	for (; *slice < b->n_slices; ++*slice) {
		const struct sim_slice *s = &b->slices[*slice];
		const size_t first = s->offset > from ? s->offset : from;
		size_t at = SIZE_MAX;

		if (from_start) {
			if (first == s->offset && s->n >= n &&
			    memcmp(b->bytes + first, bytes, n) == 0)
				at = first;
		} else {
			at = find(b->bytes, first, s->offset + s->n, bytes, n);
		}
		if (at != SIZE_MAX)
			return (at);
	}
	return (SIZE_MAX);
}

static uint64_t
check_stream(struct hwtd_trace *trace, uint32_t stream,
    const struct sim_buffer *b)
{
	struct hwtd_extent e = { .size = sizeof(e) };
	size_t from = 0, slice = 0, n = 0, seen = 0;

	for (size_t i = 0; hwtd_trace_extent(trace, stream, i, &e) == HWTD_OK;
	     i++) {
		const size_t size = (size_t)(e.end - e.start);
		uint8_t *bytes = malloc(size + 1);
		size_t at;

		assert_non_null(bytes);
		assert_int_equal(hwtd_trace_read_bytes(trace, stream, e.start,
				     bytes, size, &n, NULL),
		    HWTD_OK);
		assert_int_equal(n, size);
		at = find_in_slices(b, &slice, from, bytes, size,
		    e.why == HWTD_EXTENT_NEW);
		if (at == SIZE_MAX)
			fail_msg("extent %zu of stream %" PRIu32
				 " (%zu bytes, why %" PRIu32
				 ") is no piece of one slice",
			    i, stream, size, e.why);
		from = at + size;
		seen += size;
		free(bytes);
	}
	return (b->n - seen);
}

uint64_t
pt_run_check_bytes(const struct pt_run *r)
{
	struct hwtd_trace *trace = engine_run_open(&r->run);
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	uint64_t missing = 0;

	for (size_t i = 0; i < sim_buffers(r->run.kernel); i++) {
		struct sim_buffer b;
		bool found = false;

		sim_buffer(r->run.kernel, i, &b);
		for (uint32_t s = 0;
		     hwtd_trace_stream(trace, s, &desc) == HWTD_OK; s++) {
			if (desc.tid != b.tid)
				continue;
			assert_false(found);
			found = true;
			missing += check_stream(trace, s, &b);
		}
		if (!found)
			missing += b.n;
	}
	hwtd_trace_close(trace);
	return (missing);
}
