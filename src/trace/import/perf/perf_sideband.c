/*
 * Records about programs: what the kernel, and perf for it, wrote.
 *
 * Source: perf_event_open(2), "PERF_RECORD_*".
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/fail.h"
#include "base/hash.h"
#include "trace/import/perf/perf_file.h"
#include "trace/trace_names.h"

/* A record that is being read. */
struct reading {
	struct hwtdi_perf_file *file;
	const struct hwtdi_perf_record *perf;
	/* Without the sample id. */
	struct hwtdi_perf_bytes body;
	struct hwtdi_perf_sample_id id;
	struct hwtd_record out;
};

/* Names of mappings that are of no file. */
static bool
is_anonymous(const char *name)
{
	static const char *const starts[] = {
		"//anon",
		"[heap]",
		"[stack",
		"[anon",
		"anon_inode:",
		"/dev/zero",
		"/SYSV",
		"/anon_hugepage",
		"/memfd:",
	};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (strncmp(name, starts[i], strlen(starts[i])) == 0)
			return (true);
	return (name[0] == '\0');
}

/* What perf inject made of code that a program made: jitted-PID-N.so. */
static bool
is_jitted(const char *name)
{
	const char *last = strrchr(name, '/');

	return (strncmp(last != NULL ? last + 1 : name, "jitted-", 7) == 0);
}

static int
add(struct reading *r)
{
	return (hwtd_trace_add_record(r->file->trace, &r->out, r->file->err));
}

static int
bad(struct reading *r, const char *what)
{
	return (hwtdi_perf_bad_record(r->file, r->perf, what));
}

/*
 * The rest of the body is a text.  It is filled up to 8 bytes, so that a sample id
 * of another size than it is taken for shows.
 */
static const char *
read_name(struct reading *r)
{
	const size_t n = r->body.rest.left;
	const char *text = hwtdi_perf_text(&r->body, n);

	if (text == NULL || ((strlen(text) + 8) & ~(size_t)7) != n)
		return (NULL);
	return (text);
}

/* It ends where addresses do, or before. */
static bool
is_range(const struct hwtd_record *r)
{
	return (r->len == 0 || r->len - 1 <= UINT64_MAX - r->addr);
}

/* Mappings. */

static bool
is_kernel(const struct reading *r, uint32_t pid)
{
	const uint32_t mode = r->perf->misc & PERF_MISC_CPUMODE;

	return (mode == PERF_MISC_KERNEL || mode == PERF_MISC_GUEST_KERNEL ||
	    (pid == HWTD_NO_ID && mode == 0));
}

static bool
is_module(const char *name)
{
	return (name[0] == '/' && strstr(name, ".ko") != NULL);
}

/* What the kernel itself mapped, or that of a virtual machine. */
static void
kernel_mapping(struct reading *r, uint32_t pid, const char *name)
{
	const bool is_guest = (r->perf->misc & PERF_MISC_CPUMODE) ==
	    PERF_MISC_GUEST_KERNEL;
	struct hwtd_record *out = &r->out;

	out->pid = out->tid = HWTD_NO_ID;
	out->flags |= HWTD_RECF_KERNEL_SPACE;
	if (is_guest && pid != HWTD_NO_ID) {
		out->flags |= HWTD_RECF_VMID;
		out->vmid = pid;
	}
	if (strncmp(name, "[kernel", 7) == 0 ||
	    strncmp(name, "[guest.kernel", 13) == 0) {
		/* The offset is the address of the symbol behind the ']'. */
		out->type = HWTD_REC_KERNEL;
		out->flags &= ~(uint32_t)HWTD_RECF_FILE_OFF;
		if (strstr(name, "]_text") != NULL) {
			out->flags |= HWTD_RECF_VALUE;
			out->value = out->file_off;
		} else if (strstr(name, "]_stext") != NULL) {
			out->flags |= HWTD_RECF_BASE;
			out->base = out->file_off;
		}
	} else if (is_module(name)) {
		out->type = HWTD_REC_MODULE_LOAD;
		out->flags &= ~(uint32_t)HWTD_RECF_FILE_OFF;
	}
}

/* PERF_RECORD_MMAP and PERF_RECORD_MMAP2. */
static int
read_mmap(struct reading *r, bool is_2)
{
	struct hwtdi_perf_bytes *b = &r->body;
	struct hwtd_record *out = &r->out;
	uint32_t n;

	out->type = HWTD_REC_MMAP;
	out->pid = hwtdi_perf_u32(b);
	out->tid = hwtdi_perf_u32(b);
	out->addr = hwtdi_perf_u64(b);
	out->len = hwtdi_perf_u64(b);
	out->file_off = hwtdi_perf_u64(b);
	if (is_2 && (r->perf->misc & PERF_MISC_MMAP_BUILD_ID) != 0) {
		const uint8_t *id;

		n = (uint32_t)hwtdi_perf_get(b, 1);
		(void)hwtdi_perf_get(b, 3);
		id = hwtdi_bytes_take(&b->rest, 20);
		if (id == NULL || n > 20)
			return (bad(r, "build_id_size"));
		memcpy(out->build_id, id, n);
		out->n_build_id = n;
	} else if (is_2)
		(void)hwtdi_bytes_take(&b->rest, 24);
	/* Protection and flags. */
	if (is_2)
		(void)hwtdi_perf_u64(b);
	if (b->rest.bad)
		return (bad(r, "size"));
	out->name = read_name(r);
	if (out->name == NULL)
		return (bad(r, "filename"));
	out->flags |= HWTD_RECF_ADDR | HWTD_RECF_LEN | HWTD_RECF_FILE_OFF;
	if (!is_range(out))
		return (bad(r, "len"));
	if (is_kernel(r, out->pid))
		kernel_mapping(r, out->pid, out->name);
	else if (is_anonymous(out->name))
		out->flags |= HWTD_RECF_ANONYMOUS;
	else if (is_jitted(out->name))
		out->flags |= HWTD_RECF_JIT;
	return (add(r));
}

/* Processes and threads. */

static int
read_comm(struct reading *r)
{
	int rc;

	r->out.pid = hwtdi_perf_u32(&r->body);
	r->out.tid = hwtdi_perf_u32(&r->body);
	if (r->body.rest.bad)
		return (bad(r, "size"));
	r->out.name = read_name(r);
	if (r->out.name == NULL)
		return (bad(r, "comm"));
	if ((r->perf->misc & PERF_MISC_COMM_EXEC) != 0) {
		const char *name = r->out.name;

		r->out.type = HWTD_REC_EXEC;
		r->out.name = NULL;
		rc = add(r);
		if (rc != HWTD_OK)
			return (rc);
		r->out.name = name;
	}
	r->out.type = HWTD_REC_THREAD_NAME;
	return (add(r));
}

/*
 * PERF_RECORD_FORK.  One at time 0 is perf's own and tells of a process that was
 * there, with what it had mapped told by itself.
 */
static int
read_fork(struct reading *r)
{
	uint32_t parent;

	r->out.pid = hwtdi_perf_u32(&r->body);
	parent = hwtdi_perf_u32(&r->body);
	r->out.tid = hwtdi_perf_u32(&r->body);
	(void)hwtdi_perf_u32(&r->body);
	(void)hwtdi_perf_u64(&r->body);
	r->out.type = HWTD_REC_THREAD_CREATE;
	if (r->out.pid != parent &&
	    ((r->out.flags & HWTD_RECF_TIME) == 0 || r->out.time_ns != 0)) {
		r->out.type = HWTD_REC_FORK;
		r->out.flags |= HWTD_RECF_VALUE;
		r->out.value = parent;
	}
	/* The CPU is the parent's. */
	r->out.cpu = HWTD_NO_ID;
	return (add(r));
}

static int
read_exit(struct reading *r)
{
	r->out.pid = hwtdi_perf_u32(&r->body);
	(void)hwtdi_perf_u32(&r->body);
	r->out.tid = hwtdi_perf_u32(&r->body);
	(void)hwtdi_perf_u32(&r->body);
	(void)hwtdi_perf_u64(&r->body);
	/* The first thread may end before others do. */
	r->out.type = HWTD_REC_THREAD_EXIT;
	r->file->has_exits = true;
	return (add(r));
}

/* Of the CPU that the event is counted on, where the record does not tell. */
static void
set_cpu(struct reading *r)
{
	if (r->out.cpu == HWTD_NO_ID)
		r->out.cpu = r->id.event_cpu;
}

/*
 * Who runs is what the sample id says.  What SWITCH_CPU_WIDE says about the other
 * thread, the next one where it tells who stops, may be -1; that one has a record
 * of its own, unless it was lost.
 */
static int
read_switch(struct reading *r, bool is_wide)
{
	const bool is_out = (r->perf->misc & PERF_MISC_SWITCH_OUT) != 0;
	uint32_t pid = HWTD_NO_ID, tid = HWTD_NO_ID;

	if (is_wide) {
		pid = hwtdi_perf_u32(&r->body);
		tid = hwtdi_perf_u32(&r->body);
	}
	r->out.type = HWTD_REC_SWITCH;
	set_cpu(r);
	if ((r->id.has & PERF_SAMPLE_TID) == 0) {
		/* All there is: who comes next. */
		if (!is_wide)
			return (bad(r, "its sample id has no thread"));
		if (!is_out || tid == HWTD_NO_ID)
			return (HWTD_OK);
		r->out.pid = pid;
		r->out.tid = tid;
		return (add(r));
	}
	if (!is_out)
		return (add(r));
	r->out.flags |= HWTD_RECF_SWITCH_OUT;
	if (tid != HWTD_NO_ID) {
		r->out.flags |= HWTD_RECF_VALUE;
		r->out.value = tid;
	}
	return (add(r));
}

/* Tracing begins in this thread, which runs. */
static int
read_itrace_start(struct reading *r)
{
	r->out.type = HWTD_REC_SWITCH;
	set_cpu(r);
	if ((r->id.has & PERF_SAMPLE_TID) == 0) {
		r->out.pid = hwtdi_perf_u32(&r->body);
		r->out.tid = hwtdi_perf_u32(&r->body);
	}
	return (add(r));
}

/* Losses and buffers. */

static int
read_lost(struct reading *r, bool has_id)
{
	if (has_id)
		(void)hwtdi_perf_u64(&r->body);
	r->out.value = hwtdi_perf_u64(&r->body);
	r->out.type = HWTD_REC_LOST;
	r->out.flags |= HWTD_RECF_VALUE;
	return (add(r));
}

/* Which stream it is of is known when all buffers are. */
static int
read_aux(struct reading *r)
{
	struct hwtdi_perf_file *f = r->file;
	struct hwtdi_perf_aux *aux = &f->aux;
	struct hwtdi_perf_piece piece = { .cpu = HWTD_NO_ID,
		.tid = HWTD_NO_ID };
	int rc;

	piece.aux_off = hwtdi_perf_u64(&r->body);
	piece.n = hwtdi_perf_u64(&r->body);
	piece.flags = hwtdi_perf_u64(&r->body);
	if (piece.n >= HWTDI_PERF_MAX_BYTES ||
	    piece.n > UINT64_MAX - piece.aux_off)
		return (bad(r, "aux_size"));
	piece.cpu = (r->id.has & PERF_SAMPLE_CPU) != 0 ? r->id.cpu
						       : r->id.event_cpu;
	piece.tid = (r->id.has & PERF_SAMPLE_TID) != 0 ? r->id.tid
						       : r->id.event_tid;
	r->out.type = HWTD_REC_BUFFER;
	set_cpu(r);
	r->out.flags |= HWTD_RECF_LEN | HWTD_RECF_VALUE;
	r->out.len = piece.n;
	r->out.value = piece.flags &
	    (HWTD_BUFFERF_TRUNCATED | HWTD_BUFFERF_OVERWRITE |
		HWTD_BUFFERF_PARTIAL | HWTD_BUFFERF_COLLISION);
	piece.record = f->trace->records.n;
	rc = add(r);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(f->trace->library, &aux->pieces,
		    &aux->cap_pieces, aux->n_pieces + 1, sizeof(*aux->pieces),
		    f->err);
	if (rc == HWTD_OK)
		aux->pieces[aux->n_pieces++] = piece;
	return (rc);
}

/*
 * The trace ID that a CPU got, and since minor version 1 of which sink.  It has one
 * as long as it is traced.
 * Source: Linux, include/linux/coresight-pmu.h.
 */
static int
read_hw_id(struct reading *r)
{
	struct hwtdi_perf_aux *aux = &r->file->aux;
	const uint64_t value = hwtdi_perf_u64(&r->body);
	struct hwtdi_perf_traced_cpu *cpu;

	/* Intel PT counts events with it. */
	if (aux->kind != PERF_AUXTRACE_CS_ETM)
		return (HWTD_OK);
	if ((r->id.has & PERF_SAMPLE_CPU) == 0)
		return (bad(r, "sample id: it must hold the CPU"));
	if (value >> 60 != 0)
		return (bad(r, "hw_id: its version is not known"));
	if ((value & 0xff) < HWTD_CS_FIRST_ID ||
	    (value & 0xff) > HWTD_CS_LAST_ID)
		return (bad(r, "hw_id: no source has such a trace ID"));
	aux->has_hw_ids = true;
	cpu = hwtdi_perf_traced_cpu(r->file, r->id.cpu);
	if (cpu == NULL)
		return (bad(r, "hw_id: the registers of its CPU are missing"));
	if (cpu->trace_id != 0)
		return (HWTD_OK);
	cpu->trace_id = value & 0xff;
	cpu->has_sink = (value >> 56 & 0xf) != 0;
	cpu->sink = (uint32_t)(value >> 8);
	return (HWTD_OK);
}

/* Code of the kernel. */

/* A program, or a piece of code, that the kernel made. */
static int
read_ksymbol(struct reading *r)
{
	struct hwtdi_perf_bytes *b = &r->body;
	uint32_t flags;
	int rc;

	r->out.addr = hwtdi_perf_u64(b);
	r->out.len = hwtdi_perf_u32(b);
	(void)hwtdi_perf_get(b, 2);
	flags = (uint32_t)hwtdi_perf_get(b, 2);
	if (b->rest.bad)
		return (bad(r, "size"));
	r->out.name = read_name(r);
	if (r->out.name == NULL)
		return (bad(r, "name"));
	if (!is_range(&r->out))
		return (bad(r, "len"));
	r->out.pid = r->out.tid = HWTD_NO_ID;
	r->out.flags |= HWTD_RECF_ADDR | HWTD_RECF_LEN |
	    HWTD_RECF_KERNEL_SPACE;
	r->out.type = HWTD_REC_MUNMAP;
	if ((flags & 1) != 0)
		return (add(r));
	r->out.type = HWTD_REC_MMAP;
	r->out.flags |= HWTD_RECF_FILE_OFF | HWTD_RECF_JIT;
	rc = add(r);
	/* Whatever the code comes from, this is what it is called. */
	return (rc == HWTD_OK
		? hwtdi_trace_add_name(r->file->trace, HWTD_NO_ID, HWTD_NO_ID,
		      r->out.addr, r->out.len, r->out.name, r->file->err)
		: rc);
}

/* `n` bytes that are at an address from the time of the record on. */
static int
add_poke(struct reading *r, const uint8_t *bytes, size_t n)
{
	struct hwtdi_perf_pokes *pokes = &r->file->pokes;
	struct hwtd_context *ctx = r->file->trace->library;
	int rc;

	if (n == 0)
		return (HWTD_OK);
	r->out.len = n;
	r->out.file_off = pokes->n;
	rc = hwtdi_array_grow(ctx, &pokes->bytes, &pokes->cap, pokes->n + n, 1,
	    r->file->err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ctx, &pokes->records,
		    &pokes->cap_records, pokes->n_records + 1,
		    sizeof(*pokes->records), r->file->err);
	if (rc != HWTD_OK)
		return (rc);
	memcpy(pokes->bytes + pokes->n, bytes, n);
	pokes->n += n;
	pokes->records[pokes->n_records++] = r->file->trace->records.n;
	return (add(r));
}

/*
 * What was there before the first change was so from the start, whatever the file
 * of the kernel says, which is changed when it is loaded.
 */
static int
add_old(struct reading *r, const uint8_t *bytes, size_t n)
{
	struct hwtdi_perf_pokes *pokes = &r->file->pokes;
	struct hwtd_context *ctx = r->file->trace->library;
	const uint64_t hash = hwtdi_hash(ctx, &r->out.addr,
	    sizeof(r->out.addr));
	const uint64_t time_ns = r->out.time_ns;
	size_t tries = 0;
	uint32_t no;
	int rc;

	while (hwtdi_index_next(&pokes->addresses, hash, &tries, &no))
		if (r->file->trace->records.records[pokes->records[no]].addr ==
		    r->out.addr)
			return (HWTD_OK);
	rc = hwtdi_index_reserve(&pokes->addresses, ctx, r->file->err);
	if (rc != HWTD_OK || n == 0)
		return (rc);
	hwtdi_index_put(&pokes->addresses, hash, (uint32_t)pokes->n_records);
	r->out.time_ns = 0;
	rc = add_poke(r, bytes, n);
	r->out.time_ns = time_ns;
	return (rc);
}

static int
read_text_poke(struct reading *r)
{
	struct hwtdi_perf_bytes *b = &r->body;
	size_t n_old, n_new;
	const uint8_t *old, *new;
	int rc = HWTD_OK;

	r->out.addr = hwtdi_perf_u64(b);
	n_old = (size_t)hwtdi_perf_get(b, 2);
	n_new = (size_t)hwtdi_perf_get(b, 2);
	old = hwtdi_bytes_take(&b->rest, n_old);
	new = hwtdi_bytes_take(&b->rest, n_new);
	/* Filled up to 8 bytes, as names are. */
	if (b->rest.bad || b->rest.left >= 8)
		return (bad(r, "old_len, new_len"));
	r->out.len = n_old > n_new ? n_old : n_new;
	if (!is_range(&r->out))
		return (bad(r, "addr"));
	r->out.type = HWTD_REC_CODE;
	r->out.flags |= HWTD_RECF_ADDR | HWTD_RECF_LEN | HWTD_RECF_FILE_OFF |
	    HWTD_RECF_KERNEL_SPACE;
	r->out.pid = r->out.tid = HWTD_NO_ID;
	if ((r->out.flags & HWTD_RECF_TIME) != 0)
		rc = add_old(r, old, n_old);
	return (rc == HWTD_OK ? add_poke(r, new, n_new) : rc);
}

int
hwtdi_perf_give_pokes(struct hwtdi_perf_file *f)
{
	const struct hwtdi_perf_pokes *pokes = &f->pokes;
	struct hwtd_image_desc desc = { .size = sizeof(desc),
		.path = "[text poke]" };
	uint32_t image;
	int rc;

	if (pokes->n == 0)
		return (HWTD_OK);
	desc.bytes = pokes->bytes;
	desc.n_bytes = pokes->n;
	rc = hwtd_trace_add_image(f->trace, &desc, &image, f->err);
	for (size_t i = 0; rc == HWTD_OK && i < pokes->n_records; i++)
		f->trace->records.records[pokes->records[i]].image = image;
	return (rc);
}

/* What decoding does not need, and people may. */
static int
add_note(struct reading *r, const char *text)
{
	r->out.type = HWTD_REC_UNKNOWN;
	r->out.name = text;
	r->out.flags |= HWTD_RECF_VALUE;
	r->out.value = r->perf->type;
	return (add(r));
}

static int
read_cgroup(struct reading *r)
{
	const uint64_t id = hwtdi_perf_u64(&r->body);
	const char *path = r->body.rest.bad ? NULL : read_name(r);
	char text[256];

	if (path == NULL)
		return (bad(r, "path"));
	(void)snprintf(text, sizeof(text), "cgroup %" PRIu64 " %s", id, path);
	return (add_note(r, text));
}

static int
read_namespaces(struct reading *r)
{
	static const char *const names[] = { "net", "uts", "ipc", "pid",
		"user", "mnt", "cgroup", "time" };
	struct hwtdi_perf_bytes *b = &r->body;
	char text[512];
	size_t used;
	uint64_t n;

	r->out.pid = hwtdi_perf_u32(b);
	r->out.tid = hwtdi_perf_u32(b);
	n = hwtdi_perf_u64(b);
	if (b->rest.bad || n != b->rest.left / 16)
		return (bad(r, "nr_namespaces"));
	used = (size_t)snprintf(text, sizeof(text), "namespaces");
	for (uint64_t i = 0; i < n && i < sizeof(names) / sizeof(names[0]) &&
	     used < sizeof(text);
	     i++) {
		const uint64_t device = hwtdi_perf_u64(b);
		const uint64_t inode = hwtdi_perf_u64(b);

		used += (size_t)snprintf(text + used, sizeof(text) - used,
		    " %s=%" PRIu64 ":%" PRIu64, names[i], device, inode);
	}
	return (add_note(r, text));
}

static int
read_bpf_event(struct reading *r)
{
	static const char *const what[] = { "unknown", "load", "unload" };
	struct hwtdi_perf_bytes *b = &r->body;
	const size_t type = (size_t)hwtdi_perf_get(b, 2);
	uint32_t id;
	const uint8_t *tag;
	char text[64];

	(void)hwtdi_perf_get(b, 2);
	id = hwtdi_perf_u32(b);
	tag = hwtdi_bytes_take(&b->rest, 8);
	(void)snprintf(text, sizeof(text),
	    "bpf program %" PRIu32 " %s, tag %016" PRIx64, id,
	    what[type < sizeof(what) / sizeof(what[0]) ? type : 0],
	    hwtdi_uint(true, tag, 8));
	return (add_note(r, text));
}

/* The thread, CPU and time that the sample id tells. */
static void
set_place(struct reading *r)
{
	const struct hwtdi_perf_sample_id *id = &r->id;

	r->out = (struct hwtd_record){
		.size = sizeof(r->out),
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.stream = HWTD_NO_ID,
		.image = HWTD_NO_ID,
	};
	if ((id->has & PERF_SAMPLE_TIME) != 0) {
		r->out.flags |= HWTD_RECF_TIME;
		r->out.time_ns = id->time;
	}
	if ((id->has & PERF_SAMPLE_TID) != 0) {
		r->out.pid = id->pid;
		r->out.tid = id->tid;
	}
	r->out.cpu = (id->has & PERF_SAMPLE_CPU) != 0 ? id->cpu : r->file->cpu;
}

/* Types whose bodies have one size only. */
static const struct {
	uint32_t type;
	uint32_t n;
} sizes[] = {
	{ PERF_RECORD_LOST, 16 },
	{ PERF_RECORD_EXIT, 24 },
	{ PERF_RECORD_FORK, 24 },
	{ PERF_RECORD_AUX, 24 },
	{ PERF_RECORD_ITRACE_START, 8 },
	{ PERF_RECORD_LOST_SAMPLES, 8 },
	{ PERF_RECORD_SWITCH, 0 },
	{ PERF_RECORD_SWITCH_CPU_WIDE, 8 },
	{ PERF_RECORD_BPF_EVENT, 16 },
	{ PERF_RECORD_AUX_OUTPUT_HW_ID, 8 },
};

/*
 * Another size means that the sample id has another one than sample_type says:
 * all that would be read of it would be wrong.
 */
static bool
has_size(const struct reading *r, char *text, size_t n_text)
{
	const size_t header = PERF_RECORD_HEADER_BYTES;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (sizes[i].type != r->perf->type ||
		    sizes[i].n == r->body.rest.left)
			continue;
		(void)snprintf(text, n_text,
		    "%zu bytes, not %zu, of them %zu of the sample id",
		    header + r->body.rest.left + r->id.size,
		    header + sizes[i].n + r->id.size, r->id.size);
		return (false);
	}
	return (true);
}

static int
read_by_type(struct reading *r)
{
	switch (r->perf->type) {
	case PERF_RECORD_MMAP:
		return (read_mmap(r, false));
	case PERF_RECORD_MMAP2:
		return (read_mmap(r, true));
	case PERF_RECORD_COMM:
		return (read_comm(r));
	case PERF_RECORD_FORK:
		return (read_fork(r));
	case PERF_RECORD_EXIT:
		return (read_exit(r));
	case PERF_RECORD_SWITCH:
		return (read_switch(r, false));
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return (read_switch(r, true));
	case PERF_RECORD_ITRACE_START:
		return (read_itrace_start(r));
	case PERF_RECORD_LOST:
		return (read_lost(r, true));
	case PERF_RECORD_LOST_SAMPLES:
		return (read_lost(r, false));
	case PERF_RECORD_AUX:
		return (read_aux(r));
	case PERF_RECORD_AUX_OUTPUT_HW_ID:
		return (read_hw_id(r));
	case PERF_RECORD_KSYMBOL:
		return (read_ksymbol(r));
	case PERF_RECORD_TEXT_POKE:
		return (read_text_poke(r));
	case PERF_RECORD_CGROUP:
		return (read_cgroup(r));
	case PERF_RECORD_NAMESPACES:
		return (read_namespaces(r));
	case PERF_RECORD_BPF_EVENT:
		return (read_bpf_event(r));
	default:
		return (HWTD_OK);
	}
}

int
hwtdi_perf_sideband(struct hwtdi_perf_file *f,
    const struct hwtdi_perf_record *record)
{
	struct reading r = { .file = f, .perf = record };
	struct hwtd_error why = { .size = sizeof(why) };
	char text[96];
	int rc;

	rc = hwtdi_perf_events_sample_id(&f->events, f->trace->library, record,
	    &r.id, &why);
	if (rc != HWTD_OK)
		return (hwtdi_perf_bad_record(f, record, why.message));
	r.body = record->body;
	r.body.rest.left -= r.id.size;
	if (!has_size(&r, text, sizeof(text)))
		return (bad(&r, text));
	set_place(&r);
	return (read_by_type(&r));
}
