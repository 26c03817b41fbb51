/*
 * Tables of samples: samples and other tables go in.
 */
#include <string.h>

#include "analysis/memory/memory_internal.h"
#include "base/fail.h"
#include "trace/trace_model.h"

#define DEFAULT_LINE 64u
#define DEFAULT_PAGE 4096u
#define DEFAULT_ROWS (UINT32_C(1) << 18)
#define DEFAULT_ACCESSES (UINT32_C(1) << 20)
#define MIN_LINE 8u
#define MAX_LINE 4096u
#define MAX_PAGE (UINT32_C(1) << 30)
/* Numbers of rows have 32 bits, one of them is no row. */
#define MAX_ROWS (UINT32_C(1) << 28)

#define ALL_FLAGS                                                             \
	((uint32_t)(HWTD_MEMORY_KEEP_ACCESSES | HWTD_MEMORY_KEEP_PHYSICAL))
#define ALL_TABLES ((UINT32_C(1) << HWTD_MEMORY_TABLES) - 1)

static bool
is_size(uint32_t bytes, uint32_t most)
{
	return (bytes >= MIN_LINE && bytes <= most &&
	    (bytes & (bytes - 1)) == 0);
}

/* Defaults for what is 0; HWTD_E_INVALID. */
static int
complete(struct hwtd_memory_options *o, struct hwtd_error *err)
{
	if ((o->tables & ~ALL_TABLES) != 0 || (o->flags & ~ALL_FLAGS) != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "tables %#x, flags %#x", o->tables, o->flags));
	if (o->tables == 0)
		o->tables = ALL_TABLES;
	if (o->line_bytes == 0)
		o->line_bytes = DEFAULT_LINE;
	if (o->page_bytes == 0)
		o->page_bytes = DEFAULT_PAGE;
	if (o->max_rows == 0)
		o->max_rows = DEFAULT_ROWS;
	if (o->max_accesses == 0)
		o->max_accesses = DEFAULT_ACCESSES;
	if (!is_size(o->line_bytes, MAX_LINE) ||
	    !is_size(o->page_bytes, MAX_PAGE))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "a line of %u bytes, a page of %u", o->line_bytes,
		    o->page_bytes));
	if (o->max_rows > MAX_ROWS || o->max_accesses > MAX_ROWS)
		return (hwtdi_fail(err, HWTD_E_INVALID, "%u rows, %u accesses",
		    o->max_rows, o->max_accesses));
	return (HWTD_OK);
}

int
hwtd_memory_open(struct hwtd_trace *trace,
    const struct hwtd_memory_options *opts, struct hwtd_memory **memory_out,
    struct hwtd_error *err)
{
	struct hwtd_memory_options o;
	struct hwtd_memory *memory;
	int rc;

	if (trace == NULL || memory_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no trace or no place for the tables"));
	if (!hwtdi_trace_sealed(trace))
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "the trace is not sealed"));
	rc = hwtdi_options_copy(&o, sizeof(o), opts, err);
	if (rc == HWTD_OK)
		rc = complete(&o, err);
	if (rc != HWTD_OK)
		return (rc);
	memory = hwtdi_zalloc(hwtdi_trace_library(trace), sizeof(*memory));
	if (memory == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*memory)));
	memory->library = hwtdi_trace_library(trace);
	memory->trace = hwtdi_trace_hold(trace);
	memory->options = o;
	rc = hwtdi_memory_code_init(&memory->code, trace, err);
	if (rc != HWTD_OK) {
		hwtd_memory_close(memory);
		return (rc);
	}
	*memory_out = memory;
	return (HWTD_OK);
}

void
hwtd_memory_close(struct hwtd_memory *memory)
{
	struct hwtd_trace *trace;

	if (memory == NULL)
		return;
	trace = memory->trace;
	hwtdi_memory_code_fini(&memory->code);
	for (size_t i = 0; i < HWTD_MEMORY_TABLES; i++)
		hwtdi_memory_rows_fini(&memory->tables[i], memory->library);
	hwtdi_accesses_fini(&memory->accesses, memory->library);
	hwtdi_text_pool_fini(&memory->names, memory->library);
	hwtdi_free(memory->library, memory, sizeof(*memory));
	hwtd_trace_close(trace);
}

/* Samples. */

/* A sample on its way to the tables. */
struct adding {
	struct hwtd_memory *memory;
	const struct hwtd_sample *sample;
	struct hwtd_exec_context who;
	struct hwtdi_memory_digest digest;
	struct hwtdi_memory_place place;
	struct hwtd_error *err;
};

/* False: it belongs in no statistics. */
static bool
is_whole(struct hwtd_memory_info *info, const struct hwtd_sample *s)
{
	info->samples++;
	if ((s->flags & HWTD_SAMPLEF_DAMAGED) != 0)
		info->damaged++;
	else if ((s->flags & HWTD_SAMPLEF_TRUNCATED) != 0)
		info->truncated++;
	else if ((s->flags & HWTD_SAMPLEF_DUPLICATE) != 0)
		info->duplicate++;
	else if ((s->flags & HWTD_SAMPLEF_HEADLESS) != 0)
		info->headless++;
	else
		return (true);
	return (false);
}

static void
note_midr(struct hwtd_memory_info *info, uint32_t midr)
{
	if (midr == 0)
		info->flags |= HWTD_MEMORY_INFO_NO_MIDR;
	else if (hwtdi_memory_has_branch_bias(midr))
		info->flags |= HWTD_MEMORY_INFO_BRANCH_BIAS;
	if (info->used == 0)
		info->midr = midr;
	else if (info->midr != midr) {
		info->flags |= HWTD_MEMORY_INFO_MANY_MIDRS;
		info->midr = 0;
	}
	if ((info->flags & HWTD_MEMORY_INFO_MANY_MIDRS) != 0)
		info->midr = 0;
}

static void
note_intervals(struct hwtd_memory_info *info, uint64_t low, uint64_t high)
{
	if (low != 0 && (info->interval_min == 0 || low < info->interval_min))
		info->interval_min = low;
	if (high > info->interval_max)
		info->interval_max = high;
}

static void
note(struct hwtd_memory_info *info, const struct hwtdi_memory_producer *p,
    const struct adding *a)
{
	note_midr(info, p->who.midr);
	note_intervals(info, p->interval, p->interval);
	info->used++;
	info->unweighted += p->interval == 0;
	info->saturated += a->digest.saturated != 0;
	info->without_pc += (a->sample->present & HWTD_SAMPLE_PC) == 0;
	info->without_origin += a->sample->op_class == HWTD_OP_CLASS_MEMORY &&
	    !a->digest.has_origin;
}

static int
add_to(struct adding *a, uint32_t table, const struct hwtdi_memory_key *key,
    struct hwtdi_memory_data **row_out)
{
	struct hwtd_memory *memory = a->memory;
	struct hwtdi_memory_data *row;
	int rc;

	if (!hwtdi_memory_has(memory, table))
		return (HWTD_OK);
	rc = hwtdi_memory_row(&memory->tables[table], memory->library, key,
	    memory->options.max_rows, &row, a->err);
	if (rc == HWTD_OK)
		rc = hwtdi_memory_row_add(memory->library, row, &a->digest,
		    a->err);
	if (rc == HWTD_OK && row_out != NULL)
		*row_out = row;
	return (rc);
}

static int
add_code(struct adding *a)
{
	const struct hwtd_sample *s = a->sample;
	struct hwtdi_memory_key key = { .name = a->place.image };
	struct hwtdi_memory_data *row = NULL;
	int rc;

	key.a = a->place.symbol;
	key.b = a->place.symbol_address;
	rc = add_to(a, HWTD_MEMORY_SYMBOL, &key, &row);
	if (rc == HWTD_OK && row != NULL)
		hwtdi_memory_row_place(row, a->place.symbol_address,
		    &a->place);
	row = NULL;
	key.a = a->place.file_off;
	key.b = 0;
	if ((s->present & HWTD_SAMPLE_PC) != 0)
		key.flags = HWTD_MEMORY_ROW_ADDRESS;
	if (rc == HWTD_OK)
		rc = add_to(a, HWTD_MEMORY_INSN, &key, &row);
	if (rc == HWTD_OK && row != NULL)
		hwtdi_memory_row_place(row, s->pc, &a->place);
	return (rc);
}

static int
add_access(struct adding *a, uint64_t address,
    const struct hwtdi_memory_data *line)
{
	struct hwtd_memory *memory = a->memory;
	const struct hwtd_sample *s = a->sample;
	const uint64_t counts = a->digest.counts;
	struct hwtdi_access access;
	struct hwtdi_access_key *key = &access.key;

	if (line == NULL ||
	    (memory->options.flags & HWTD_MEMORY_KEEP_ACCESSES) == 0)
		return (HWTD_OK);
	memset(&access, 0, sizeof(access));
	if ((line->key.flags & HWTD_MEMORY_ROW_OTHER) != 0) {
		memory->accesses.lost++;
		return (HWTD_OK);
	}
	key->line = (uint32_t)(line - memory->tables[HWTD_MEMORY_LINE].at);
	key->offset = (uint32_t)(address & (memory->options.line_bytes - 1));
	key->pid = a->who.pid;
	key->tid = a->who.tid;
	key->cpu = a->who.cpu;
	if ((s->present & HWTD_SAMPLE_PC) != 0) {
		key->flags |= HWTD_MEMORY_ROW_ADDRESS;
		key->pc = s->pc;
	}
	if ((s->present & HWTD_SAMPLE_SOURCE) != 0) {
		key->flags |= HWTD_MEMORY_ROW_SOURCE;
		key->source = s->source;
		key->family = a->digest.family;
	}
	access.loads = counts >> HWTDI_MC_LOADS & 1;
	access.stores = counts >> HWTDI_MC_STORES & 1;
	access.transfers = counts >> HWTDI_MC_TRANSFERS & 1;
	access.latency = s->lat_total;
	access.place = a->place;
	return (hwtdi_access_add(&memory->accesses, memory->library, &access,
	    memory->options.max_accesses, a->err));
}

/* Addresses of programs are those of a process, of the kernel there is one. */
static uint32_t
owner_of(uint64_t va, uint32_t pid)
{
	return (va >> 63 != 0 ? HWTD_NO_ID : pid);
}

static int
add_data(struct adding *a)
{
	static const uint32_t tables[] = { HWTD_MEMORY_ADDRESS,
		HWTD_MEMORY_PAGE, HWTD_MEMORY_LINE };
	const struct hwtd_memory_options *o = &a->memory->options;
	const uint32_t bytes[] = { 1, o->page_bytes, o->line_bytes };
	const bool physical = (o->flags & HWTD_MEMORY_KEEP_PHYSICAL) != 0;
	const struct hwtd_sample *s = a->sample;
	const uint64_t address = physical ? s->pa : s->va;
	struct hwtdi_memory_key key = { .flags = 0 };
	struct hwtdi_memory_data *row = NULL;
	int rc;

	if ((s->op_flags & HWTD_OPF_STORE) != 0 &&
	    (s->op_flags & HWTD_OPF_ATOMIC) == 0)
		key.flags |= HWTD_MEMORY_ROW_STORES;
	if ((s->present & HWTD_SAMPLE_SOURCE) != 0) {
		key.flags |= HWTD_MEMORY_ROW_SOURCE;
		key.a = s->source;
		key.d = a->digest.family;
	}
	rc = add_to(a, HWTD_MEMORY_SOURCE, &key, NULL);
	if ((s->present & (physical ? HWTD_SAMPLE_PA : HWTD_SAMPLE_VA)) == 0)
		return (rc);
	memset(&key, 0, sizeof(key));
	key.flags = HWTD_MEMORY_ROW_ADDRESS;
	key.d = physical ? HWTD_NO_ID : owner_of(s->va, a->who.pid);
	for (size_t i = 0; rc == HWTD_OK && i < 3; i++) {
		key.a = address & ~((uint64_t)bytes[i] - 1);
		row = NULL;
		rc = add_to(a, tables[i], &key, &row);
	}
	return (rc == HWTD_OK ? add_access(a, address, row) : rc);
}

static int
add_branch(struct adding *a)
{
	const struct hwtd_sample *s = a->sample;
	struct hwtdi_memory_key key = { .name = a->place.image };
	struct hwtdi_memory_data *row = NULL;
	int rc = HWTD_OK;

	if ((s->present & HWTD_SAMPLE_PC) == 0)
		return (HWTD_OK);
	key.flags = HWTD_MEMORY_ROW_ADDRESS;
	key.a = s->pc;
	/* Where one that is not taken would go is not always told. */
	if ((a->digest.counts >> HWTDI_MC_TAKEN & 1) != 0) {
		key.flags |= HWTD_MEMORY_ROW_TAKEN;
		if ((s->present & HWTD_SAMPLE_TARGET) != 0) {
			key.flags |= HWTD_MEMORY_ROW_TO;
			key.b = s->target;
		}
	}
	if (s->op_class == HWTD_OP_CLASS_BRANCH)
		rc = add_to(a, HWTD_MEMORY_BRANCH, &key, &row);
	if (rc == HWTD_OK && row != NULL)
		hwtdi_memory_row_place(row, s->pc, &a->place);
	row = NULL;
	key.flags |= HWTD_MEMORY_ROW_PREV_TARGET;
	key.c = s->prev_target;
	if (rc == HWTD_OK && (s->present & HWTD_SAMPLE_PREV_TARGET) != 0)
		rc = add_to(a, HWTD_MEMORY_PATH, &key, &row);
	if (rc == HWTD_OK && row != NULL)
		hwtdi_memory_row_place(row, s->pc, &a->place);
	return (rc);
}

static int
add_users(struct adding *a)
{
	struct hwtdi_memory_key key = { .d = a->who.cpu };
	int rc;

	rc = add_to(a, HWTD_MEMORY_CPU, &key, NULL);
	key.d = a->who.pid;
	key.e = a->who.tid;
	if (rc == HWTD_OK)
		rc = add_to(a, HWTD_MEMORY_THREAD, &key, NULL);
	return (rc);
}

static void
find_who(const struct hwtd_memory *memory, const struct hwtd_event *row,
    struct hwtd_exec_context *out)
{
	struct hwtd_stream_desc stream = { .size = sizeof(stream) };

	*out = (struct hwtd_exec_context){ .size = sizeof(*out),
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.cpu = HWTD_NO_ID };
	if (row->context != HWTD_NO_ID)
		(void)hwtd_trace_exec_context(memory->trace, row->context,
		    out);
	if (out->cpu == HWTD_NO_ID &&
	    hwtd_trace_stream(memory->trace, row->stream, &stream) == HWTD_OK)
		out->cpu = stream.cpu;
}

static int
find_place(struct adding *a, const struct hwtd_event *row)
{
	struct hwtd_memory *memory = a->memory;
	struct hwtd_position at = {
		.size = sizeof(at),
		.flags = HWTD_POSITION_OFFSET,
		.stream = row->stream,
		.stream_off = a->sample->stream_off,
	};

	memset(&a->place, 0, sizeof(a->place));
	if ((a->sample->present & HWTD_SAMPLE_PC) == 0)
		return (HWTD_OK);
	if ((row->flags & HWTD_EVF_TIME) != 0) {
		at.flags |= HWTD_POSITION_TIME;
		at.time_ns = row->time_ns;
	}
	return (hwtdi_memory_code_find(&memory->code, &memory->names,
	    a->who.pid, &at, a->sample->pc, &a->place, a->err));
}

int
hwtd_memory_add(struct hwtd_memory *memory, const struct hwtd_event *row,
    const struct hwtd_sample *sample, struct hwtd_error *err)
{
	struct adding a = { .memory = memory, .sample = sample, .err = err };
	struct hwtdi_memory_producer producer;
	int rc;

	if (memory == NULL || row == NULL || sample == NULL ||
	    row->kind != HWTD_EV_SAMPLE)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no tables, or no sample"));
	if (!is_whole(&memory->info, sample))
		return (HWTD_OK);
	hwtdi_memory_producer(memory->trace, row->stream, &memory->options,
	    &producer);
	hwtdi_memory_digest(&producer, sample, &a.digest);
	note(&memory->info, &producer, &a);
	find_who(memory, row, &a.who);
	rc = find_place(&a, row);
	if (rc == HWTD_OK && (sample->present & HWTD_SAMPLE_PC) != 0)
		memory->info.without_symbol += a.place.symbol == 0;
	if (rc == HWTD_OK)
		rc = add_code(&a);
	if (rc == HWTD_OK && sample->op_class == HWTD_OP_CLASS_MEMORY)
		rc = add_data(&a);
	if (rc == HWTD_OK)
		rc = add_branch(&a);
	if (rc == HWTD_OK)
		rc = add_users(&a);
	return (rc);
}

/* Tables. */

static int
translate(struct hwtd_memory *memory, const struct hwtd_memory *from,
    uint32_t name, uint32_t *out, struct hwtd_error *err)
{
	return (hwtdi_text_pool_add(&memory->names, memory->library,
	    hwtdi_text_pool_get(&from->names, name), out, err));
}

static int
translate_place(struct hwtd_memory *memory, const struct hwtd_memory *from,
    struct hwtdi_memory_place *place, struct hwtd_error *err)
{
	int rc;

	rc = translate(memory, from, place->image, &place->image, err);
	return (rc == HWTD_OK
		? translate(memory, from, place->symbol, &place->symbol, err)
		: rc);
}

static int
merge_row(struct hwtd_memory *memory, const struct hwtd_memory *from,
    uint32_t table, const struct hwtdi_memory_data *theirs, uint32_t *no_out,
    struct hwtd_error *err)
{
	struct hwtdi_memory_rows *rows = &memory->tables[table];
	struct hwtdi_memory_place place = theirs->place;
	struct hwtdi_memory_key key = theirs->key;
	struct hwtdi_memory_data *row;
	int rc;

	rc = translate(memory, from, key.name, &key.name, err);
	if (rc == HWTD_OK)
		rc = translate_place(memory, from, &place, err);
	if (rc == HWTD_OK && table == HWTD_MEMORY_SYMBOL)
		key.a = place.symbol;
	if (rc == HWTD_OK)
		rc = hwtdi_memory_row(rows, memory->library, &key,
		    memory->options.max_rows, &row, err);
	if (rc == HWTD_OK)
		rc = hwtdi_memory_row_merge(memory->library, row, theirs, err);
	if (rc != HWTD_OK)
		return (rc);
	if (theirs->address != UINT64_MAX)
		hwtdi_memory_row_place(row, theirs->address, &place);
	*no_out = (row->key.flags & HWTD_MEMORY_ROW_OTHER) != 0
	    ? HWTD_NO_ID
	    : (uint32_t)(row - rows->at);
	return (HWTD_OK);
}

/* `lines` has our row for each of theirs. */
static int
merge_accesses(struct hwtd_memory *memory, const struct hwtd_memory *from,
    const uint32_t *lines, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	memory->accesses.lost += from->accesses.lost;
	for (size_t i = 0; rc == HWTD_OK && i < from->accesses.n; i++) {
		struct hwtdi_access access = from->accesses.at[i];

		access.key.line = lines[access.key.line];
		if (access.key.line == HWTD_NO_ID) {
			memory->accesses.lost += access.loads + access.stores;
			continue;
		}
		rc = translate_place(memory, from, &access.place, err);
		if (rc == HWTD_OK)
			rc = hwtdi_access_add(&memory->accesses,
			    memory->library, &access,
			    memory->options.max_accesses, err);
	}
	return (rc);
}

static int
merge_table(struct hwtd_memory *memory, const struct hwtd_memory *from,
    uint32_t table, struct hwtd_error *err)
{
	const struct hwtdi_memory_rows *rows = &from->tables[table];
	uint32_t *numbers;
	int rc = HWTD_OK;

	if (!hwtdi_memory_has(memory, table) || rows->n == 0)
		return (HWTD_OK);
	numbers = hwtdi_alloc(memory->library, rows->n * sizeof(*numbers));
	if (numbers == NULL)
		return (hwtdi_fail_nomem(err, rows->n * sizeof(*numbers)));
	for (size_t i = 0; rc == HWTD_OK && i < rows->n; i++)
		rc = merge_row(memory, from, table, &rows->at[i], &numbers[i],
		    err);
	if (rc == HWTD_OK && table == HWTD_MEMORY_LINE &&
	    (memory->options.flags & HWTD_MEMORY_KEEP_ACCESSES) != 0)
		rc = merge_accesses(memory, from, numbers, err);
	hwtdi_free(memory->library, numbers, rows->n * sizeof(*numbers));
	return (rc);
}

static void
merge_info(struct hwtd_memory_info *info, const struct hwtd_memory_info *from)
{
	if (from->used != 0 && info->used != 0 && info->midr != from->midr)
		info->flags |= HWTD_MEMORY_INFO_MANY_MIDRS;
	if (info->used == 0)
		info->midr = from->midr;
	info->flags |= from->flags;
	if ((info->flags & HWTD_MEMORY_INFO_MANY_MIDRS) != 0)
		info->midr = 0;
	note_intervals(info, from->interval_min, from->interval_max);
	info->samples += from->samples;
	info->used += from->used;
	info->damaged += from->damaged;
	info->truncated += from->truncated;
	info->duplicate += from->duplicate;
	info->headless += from->headless;
	info->without_pc += from->without_pc;
	info->without_symbol += from->without_symbol;
	info->without_origin += from->without_origin;
	info->saturated += from->saturated;
	info->unweighted += from->unweighted;
}

int
hwtd_memory_merge(struct hwtd_memory *memory, const struct hwtd_memory *from,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (memory == NULL || from == NULL || memory == from)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no tables, or twice the same"));
	if (memory->options.line_bytes != from->options.line_bytes ||
	    memory->options.page_bytes != from->options.page_bytes ||
	    ((memory->options.flags ^ from->options.flags) &
		HWTD_MEMORY_KEEP_PHYSICAL) != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "lines or pages of different size, or kind"));
	for (uint32_t i = 0; rc == HWTD_OK && i < HWTD_MEMORY_TABLES; i++)
		rc = merge_table(memory, from, i, err);
	if (rc == HWTD_OK)
		merge_info(&memory->info, &from->info);
	return (rc);
}

int
hwtd_memory_info(const struct hwtd_memory *memory,
    struct hwtd_memory_info *out)
{
	struct hwtd_memory_info info;

	if (memory == NULL || out == NULL)
		return (HWTD_E_INVALID);
	info = memory->info;
	info.accesses_lost = memory->accesses.lost;
	for (size_t i = 0; i < HWTD_MEMORY_TABLES; i++) {
		info.rows[i] = memory->tables[i].n;
		if (memory->tables[i].other_plus_1 != 0)
			info.flags |= HWTD_MEMORY_INFO_FULL;
	}
	if (info.accesses_lost != 0)
		info.flags |= HWTD_MEMORY_INFO_FULL;
	return (hwtdi_result_copy(out, &info, sizeof(info)));
}
