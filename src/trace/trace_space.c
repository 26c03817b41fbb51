/*
 * Address spaces of a trace: its records, in the order of their positions, as
 * changes of a mapping timeline.
 */
#include "trace/trace_space.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "image/elf_load.h"
#include "trace/trace_image.h"
#include "trace/trace_internal.h"

/* The smallest mapping there is; also of files that are missing. */
#define PAGE HWTDI_ELF_PAGE

struct builder {
	struct hwtd_trace *trace;
	struct hwtdi_trace_space *space;
	struct hwtdi_named_files files;
	const struct hwtd_record *record;
	/* Number of the record at hand. */
	uint64_t seq;
	struct hwtd_error *err;
};

/* Sections. */

static size_t
section_hash(const struct hwtd_section *s)
{
	uint64_t h = s->address * 0x9e3779b97f4a7c15u;

	h = (h ^ s->file_off) * 0xbf58476d1ce4e5b9u;
	h = (h ^ s->length ^ (uint64_t)s->image << 32) * 0x94d049bb133111ebu;
	return ((size_t)(h ^ (h >> 31)));
}

static bool
same_section(const struct hwtd_section *a, const struct hwtd_section *b)
{
	return (a->image == b->image && a->address == b->address &&
	    a->length == b->length && a->file_off == b->file_off);
}

static int
grow_slots(struct builder *b)
{
	struct hwtdi_trace_space *space = b->space;
	size_t n = space->n_slots == 0 ? 64 : space->n_slots * 2;
	uint32_t *slots;

	if (b->trace->n_sections * 2 < space->n_slots)
		return (HWTD_OK);
	slots = hwtdi_zalloc(space->library, n * sizeof(*slots));
	if (slots == NULL)
		return (hwtdi_fail_nomem(b->err, n * sizeof(*slots)));
	hwtdi_array_free(space->library, space->slots, space->n_slots,
	    sizeof(*slots));
	space->slots = slots;
	space->n_slots = n;
	for (size_t i = 0; i < b->trace->n_sections; i++) {
		size_t at = section_hash(&b->trace->sections[i]);

		while (slots[at & (n - 1)] != 0)
			at++;
		slots[at & (n - 1)] = (uint32_t)i + 1;
	}
	return (HWTD_OK);
}

/* The section of these bytes at this address. */
static int
section_of(struct builder *b, uint32_t image, uint64_t address,
    uint64_t length, uint64_t file_off, uint32_t *out)
{
	struct hwtd_trace *trace = b->trace;
	struct hwtd_section s;
	size_t at;
	int rc;

	memset(&s, 0, sizeof(s));
	s.size = sizeof(s);
	s.image = image;
	s.address = address;
	s.length = length;
	s.file_off = file_off;
	rc = grow_slots(b);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(trace->library, &trace->sections,
		    &trace->cap_sections, trace->n_sections + 1,
		    sizeof(*trace->sections), b->err);
	if (rc != HWTD_OK)
		return (rc);
	at = section_hash(&s);
	for (;; at++) {
		uint32_t no = b->space->slots[at & (b->space->n_slots - 1)];

		if (no == 0)
			break;
		if (same_section(&trace->sections[no - 1], &s)) {
			*out = no - 1;
			return (HWTD_OK);
		}
	}
	*out = (uint32_t)trace->n_sections;
	trace->sections[trace->n_sections++] = s;
	b->space->slots[at & (b->space->n_slots - 1)] = *out + 1;
	return (HWTD_OK);
}

/* Mappings. */

static int
map(struct builder *b, uint32_t space, uint32_t image, uint64_t address,
    uint64_t length, uint64_t file_off, uint32_t flags)
{
	struct hwtdi_piece piece = { .section = HWTD_NO_ID, .flags = flags };
	int rc = HWTD_OK;

	if (length == 0)
		return (HWTD_OK);
	if (image != HWTD_NO_ID)
		rc = section_of(b, image, address, length, file_off,
		    &piece.section);
	return (rc != HWTD_OK ? rc
			      : hwtdi_timeline_map(b->space->timeline, b->seq,
				    space, address, length, &piece, b->err));
}

/* Map what lies around `address` of an ELF file; all of it if `all`. */
static int
map_elf(struct builder *b, uint32_t space, struct hwtdi_named_file *file,
    uint64_t bias, uint64_t address, bool all, uint32_t flags)
{
	struct hwtdi_elf_layout layout;
	int rc;

	rc = hwtdi_elf_layout_init(&layout, b->trace->library, &file->elf,
	    bias, PAGE, b->err);
	if (rc != HWTD_OK)
		return (rc);
	for (size_t i = 0; i < layout.n_pieces && rc == HWTD_OK; i++) {
		const struct hwtdi_elf_piece *p = &layout.pieces[i];

		if (all || address - p->address < p->length)
			rc = map(b, space, file->image, p->address, p->length,
			    p->file_off, flags);
	}
	hwtdi_elf_layout_fini(&layout, b->trace->library);
	return (rc);
}

static int
unmap_elf(struct builder *b, uint32_t space, struct hwtdi_named_file *file,
    uint64_t bias)
{
	struct hwtdi_elf_layout layout;
	int rc;

	rc = hwtdi_elf_layout_init(&layout, b->trace->library, &file->elf,
	    bias, PAGE, b->err);
	if (rc != HWTD_OK)
		return (rc);
	for (size_t i = 0; i < layout.n_pieces && rc == HWTD_OK; i++)
		rc = hwtdi_timeline_unmap(b->space->timeline, b->seq, space,
		    layout.pieces[i].address, layout.pieces[i].length, b->err);
	hwtdi_elf_layout_fini(&layout, b->trace->library);
	return (rc);
}

static int
named(struct builder *b, const char *name, bool with_id,
    struct hwtdi_named_file **out)
{
	return (hwtdi_named_files_get(&b->files, name, b->record->build_id,
	    with_id ? b->record->n_build_id : 0, out, b->err));
}

/* Processes. */

static int
process_of(struct builder *b, uint32_t pid, struct hwtdi_process **out)
{
	const struct hwtdi_space_key key = { .kind = HWTDI_SPACE_KIND_USER,
		.pid = pid,
		.vmid = HWTD_NO_ID };
	struct hwtdi_trace_space *space = b->space;
	uint32_t no;
	int rc;

	rc = hwtdi_space_table_intern(space->library, &space->pids, &key, &no,
	    b->err);
	if (rc == HWTD_OK && no == space->n_processes) {
		rc = hwtdi_array_grow(space->library, &space->processes,
		    &space->cap_processes, space->n_processes + 1,
		    sizeof(*space->processes), b->err);
		if (rc != HWTD_OK)
			return (rc);
		memset(&space->processes[no], 0, sizeof(space->processes[no]));
		space->processes[no].pid = pid;
		space->processes[no].parent = HWTD_NO_ID;
		space->n_processes++;
	}
	if (rc == HWTD_OK)
		*out = &space->processes[no];
	return (rc);
}

static int
space_of(struct builder *b, uint32_t *out)
{
	const struct hwtd_record *r = b->record;
	struct hwtdi_space_key key = { .kind = HWTDI_SPACE_KIND_USER,
		.pid = r->pid,
		.vmid = HWTD_NO_ID };

	if ((r->flags & HWTD_RECF_KERNEL_SPACE) != 0 ||
	    r->type == HWTD_REC_KERNEL) {
		*out = HWTDI_SPACE_KERNEL;
		return (HWTD_OK);
	}
	if (r->pid == HWTD_NO_ID) {
		*out = HWTDI_SPACE_ANY;
		return (HWTD_OK);
	}
	return (hwtdi_timeline_space(b->space->timeline, &key, out, b->err));
}

/* Records. */

static int
apply_exec(struct builder *b, uint32_t space)
{
	const struct hwtd_record *r = b->record;
	struct hwtdi_named_file *file, *linker;
	uint64_t bias;
	int rc;

	rc = hwtdi_timeline_exec(b->space->timeline, b->seq, space, b->err);
	if (rc != HWTD_OK || r->name == NULL)
		return (rc);
	rc = named(b, r->name, true, &file);
	if (rc != HWTD_OK || !file->is_elf)
		return (rc);
	/* Without its load bias only what is not moved can be placed. */
	if ((r->flags & HWTD_RECF_ADDR) != 0 ||
	    file->elf.type == HWTDI_ELF_EXEC) {
		bias = hwtdi_elf_bias_of_program(&file->elf, r->addr);
		rc = map_elf(b, space, file, bias, 0, true, 0);
	}
	if (rc != HWTD_OK || (r->flags & HWTD_RECF_BASE) == 0 ||
	    file->elf.interpreter[0] == '\0')
		return (rc);
	rc = named(b, file->elf.interpreter, false, &linker);
	if (rc != HWTD_OK || !linker->is_elf)
		return (rc);
	bias = hwtdi_elf_bias_of_base(&linker->elf, r->base, PAGE);
	return (map_elf(b, space, linker, bias, 0, true, 0));
}

/* A mapping of an ELF file that tells no length or offset. */
static int
apply_segment(struct builder *b, uint32_t space, struct hwtdi_named_file *file,
    uint32_t flags)
{
	const struct hwtd_record *r = b->record;
	struct hwtdi_elf_mapping mapping = {
		.address = r->addr,
		.has_file_off = (r->flags & HWTD_RECF_FILE_OFF) != 0,
		.has_length = (r->flags & HWTD_RECF_LEN) != 0,
		.file_off = r->file_off,
		.length = r->len,
	};
	struct hwtdi_elf_bias bias;

	if (!file->is_elf ||
	    hwtdi_elf_bias_of_mappings(&file->elf, &mapping, 1, PAGE, &bias,
		NULL) != HWTD_OK)
		return (map(b, space, file->image, r->addr,
		    mapping.has_length ? r->len : PAGE, r->file_off, flags));
	return (map_elf(b, space, file, bias.bias, r->addr, false, flags));
}

static int
apply_mmap(struct builder *b, uint32_t space)
{
	const struct hwtd_record *r = b->record;
	const uint32_t whole = HWTD_RECF_LEN | HWTD_RECF_FILE_OFF;
	struct hwtdi_named_file *file;
	uint32_t flags = 0;
	int rc;

	if ((r->flags & HWTD_RECF_ADDR) == 0)
		return (HWTD_OK);
	if (r->type == HWTD_REC_CODE || (r->flags & HWTD_RECF_JIT) != 0)
		flags |= HWTDI_PIECE_JIT;
	if ((r->flags & HWTD_RECF_ANONYMOUS) != 0)
		flags |= HWTDI_PIECE_ANONYMOUS;
	if (r->image != HWTD_NO_ID)
		return (map(b, space, r->image, r->addr, r->len, r->file_off,
		    flags));
	if (r->name == NULL || (r->flags & HWTD_RECF_ANONYMOUS) != 0)
		return (map(b, space, HWTD_NO_ID, r->addr, r->len, 0, flags));
	rc = named(b, r->name, true, &file);
	if (rc != HWTD_OK)
		return (rc);
	if ((r->flags & whole) == whole)
		return (map(b, space, file->image, r->addr, r->len,
		    r->file_off, flags));
	return (apply_segment(b, space, file, flags));
}

/* Remember what was loaded at an address, to know what an unload takes. */
static int
remember(struct builder *b, uint32_t space, struct hwtdi_named_file *file,
    uint64_t bias)
{
	struct hwtdi_trace_space *s = b->space;
	int rc;

	rc = hwtdi_array_grow(s->library, &s->loads, &s->cap_loads,
	    s->n_loads + 1, sizeof(*s->loads), b->err);
	if (rc != HWTD_OK)
		return (rc);
	s->loads[s->n_loads].space = space;
	s->loads[s->n_loads].addr = b->record->addr;
	s->loads[s->n_loads].bias = bias;
	s->loads[s->n_loads++].file = file;
	return (HWTD_OK);
}

static int
apply_load(struct builder *b, uint32_t space)
{
	const struct hwtd_record *r = b->record;
	struct hwtdi_named_file *file;
	uint64_t bias;
	int rc;

	if ((r->flags & HWTD_RECF_ADDR) == 0 || r->name == NULL)
		return (HWTD_OK);
	rc = named(b, r->name, true, &file);
	if (rc != HWTD_OK)
		return (rc);
	if (!file->is_elf)
		return (map(b, space, file->image, r->addr,
		    (r->flags & HWTD_RECF_LEN) != 0 ? r->len : PAGE, 0, 0));
	/* Who says where it lies knows better than a fixed address in it. */
	bias = file->elf.has_load
	    ? r->addr - (file->elf.lowest_vaddr & ~(uint64_t)(PAGE - 1))
	    : 0;
	rc = map_elf(b, space, file, bias, 0, true, 0);
	return (rc == HWTD_OK ? remember(b, space, file, bias) : rc);
}

static int
apply_unload(struct builder *b, uint32_t space)
{
	const struct hwtd_record *r = b->record;
	struct hwtdi_trace_space *s = b->space;
	int rc;

	if ((r->flags & HWTD_RECF_ADDR) == 0)
		return (HWTD_OK);
	for (size_t i = s->n_loads; i-- > 0;) {
		if (s->loads[i].space != space || s->loads[i].addr != r->addr)
			continue;
		rc = unmap_elf(b, space, s->loads[i].file, s->loads[i].bias);
		s->n_loads--;
		memmove(&s->loads[i], &s->loads[i + 1],
		    (s->n_loads - i) * sizeof(*s->loads));
		return (rc);
	}
	return (HWTD_OK);
}

static int
apply_fork(struct builder *b, uint32_t space)
{
	const struct hwtd_record *r = b->record;
	struct hwtdi_space_key key = { .kind = HWTDI_SPACE_KIND_USER,
		.pid = (uint32_t)r->value,
		.vmid = HWTD_NO_ID };
	struct hwtdi_process *process;
	uint32_t parent;
	int rc;

	if ((r->flags & HWTD_RECF_VALUE) == 0 || r->pid == HWTD_NO_ID ||
	    r->value > UINT32_MAX || r->value == r->pid)
		return (HWTD_OK);
	rc = process_of(b, r->pid, &process);
	if (rc != HWTD_OK)
		return (rc);
	process->parent = (uint32_t)r->value;
	rc = hwtdi_timeline_space(b->space->timeline, &key, &parent, b->err);
	return (rc == HWTD_OK ? hwtdi_timeline_fork(b->space->timeline, b->seq,
				    space, parent, b->err)
			      : rc);
}

static int
note_process(struct builder *b)
{
	const struct hwtd_record *r = b->record;
	struct hwtdi_process *process;
	bool main_thread = r->tid == r->pid || r->tid == HWTD_NO_ID;
	int rc;

	if (r->pid == HWTD_NO_ID)
		return (HWTD_OK);
	rc = process_of(b, r->pid, &process);
	if (rc != HWTD_OK)
		return (rc);
	if (r->type == HWTD_REC_EXEC)
		process->n_execs++;
	if (r->name != NULL &&
	    (r->type == HWTD_REC_EXEC ||
		(r->type == HWTD_REC_THREAD_NAME && main_thread)))
		process->name = r->name;
	return (HWTD_OK);
}

static int
apply(struct builder *b)
{
	const struct hwtd_record *r = b->record;
	uint32_t space = HWTDI_SPACE_ANY;
	int rc;

	rc = note_process(b);
	if (rc == HWTD_OK)
		rc = space_of(b, &space);
	if (rc != HWTD_OK)
		return (rc);
	switch (r->type) {
	case HWTD_REC_EXEC:
		return (apply_exec(b, space));
	case HWTD_REC_MMAP:
	case HWTD_REC_CODE:
		return (apply_mmap(b, space));
	case HWTD_REC_MUNMAP:
		if ((r->flags & HWTD_RECF_ADDR) == 0)
			return (HWTD_OK);
		return (hwtdi_timeline_unmap(b->space->timeline, b->seq, space,
		    r->addr, r->len, b->err));
	case HWTD_REC_KERNEL:
	case HWTD_REC_MODULE_LOAD:
		return (apply_load(b, space));
	case HWTD_REC_MODULE_UNLOAD:
		return (apply_unload(b, space));
	case HWTD_REC_FORK:
		return (apply_fork(b, space));
	case HWTD_REC_EXIT:
		if (r->tid != HWTD_NO_ID && r->tid != r->pid)
			return (HWTD_OK);
		return (hwtdi_timeline_exit(b->space->timeline, b->seq, space,
		    b->err));
	default:
		return (HWTD_OK);
	}
}

/* Images that were added with an address hold everywhere from the start. */
static int
map_everywhere(struct builder *b, size_t n_images)
{
	int rc = HWTD_OK;

	b->seq = HWTDI_SEQ_START;
	for (size_t i = 0; i < n_images && rc == HWTD_OK; i++) {
		const struct hwtdi_image *image = &b->trace->images[i];

		if (image->mapped)
			rc = map(b, HWTDI_SPACE_ANY, (uint32_t)i,
			    image->address, image->n_bytes, image->offset, 0);
	}
	return (rc);
}

static int
by_pid(const void *a, const void *b)
{
	const struct hwtdi_process *x = a, *y = b;

	return (x->pid < y->pid ? -1 : x->pid > y->pid);
}

/* Code of unknown processes is that of the only one, if there is one. */
static void
choose_default(struct hwtdi_trace_space *space)
{
	struct hwtdi_space_key key = { .kind = HWTDI_SPACE_KIND_USER,
		.vmid = HWTD_NO_ID };

	space->default_space = HWTDI_SPACE_KERNEL;
	if (space->n_processes != 1)
		return;
	key.pid = space->processes[0].pid;
	(void)hwtdi_timeline_space_find(space->timeline, &key,
	    &space->default_space);
}

static int
apply_all(struct builder *b)
{
	const struct hwtd_record *records = b->trace->records.records;
	const size_t *order;
	int rc = HWTD_OK;
	size_t n = 0;

	order = hwtdi_position_order(b->space->positions, &n);
	for (size_t i = 0; i < n && rc == HWTD_OK; i++) {
		b->seq = i;
		b->record = &records[order[i]];
		rc = apply(b);
	}
	return (rc);
}

int
hwtdi_trace_space_build(struct hwtd_trace *trace,
    struct hwtdi_trace_space *space, struct hwtd_error *err)
{
	const size_t n_images = trace->n_images;
	struct builder b = { .trace = trace, .space = space, .err = err };
	int rc;

	memset(space, 0, sizeof(*space));
	space->library = trace->library;
	rc = hwtdi_named_files_init(&b.files, trace, err);
	if (rc == HWTD_OK)
		rc = hwtdi_position_create(trace->library,
		    trace->records.records, trace->records.n,
		    &space->positions, err);
	if (rc == HWTD_OK)
		rc = hwtdi_switches_create(trace->library,
		    trace->records.records, space->positions, &space->switches,
		    err);
	if (rc == HWTD_OK)
		rc = hwtdi_timeline_create(trace->library,
		    hwtdi_position_start(space->positions), &space->timeline,
		    err);
	if (rc == HWTD_OK)
		rc = map_everywhere(&b, n_images);
	if (rc == HWTD_OK)
		rc = apply_all(&b);
	hwtdi_named_files_fini(&b.files);
	if (rc != HWTD_OK) {
		hwtdi_trace_space_fini(space);
		return (rc);
	}
	if (space->n_processes > 0)
		qsort(space->processes, space->n_processes,
		    sizeof(*space->processes), by_pid);
	choose_default(space);
	for (size_t i = 0; i < trace->n_sections; i++)
		trace->sections[i]
		    .path = trace->images[trace->sections[i].image].path;
	return (HWTD_OK);
}

void
hwtdi_trace_space_fini(struct hwtdi_trace_space *space)
{
	struct hwtd_context *ctx = space->library;

	if (ctx == NULL)
		return;
	hwtdi_timeline_destroy(space->timeline);
	hwtdi_switches_destroy(space->switches);
	hwtdi_position_destroy(space->positions);
	hwtdi_array_free(ctx, space->processes, space->cap_processes,
	    sizeof(*space->processes));
	hwtdi_array_free(ctx, space->loads, space->cap_loads,
	    sizeof(*space->loads));
	hwtdi_array_free(ctx, space->slots, space->n_slots,
	    sizeof(*space->slots));
	hwtdi_space_table_fini(ctx, &space->pids);
	memset(space, 0, sizeof(*space));
}
