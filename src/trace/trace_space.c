/*
 * Address spaces of a trace: its records, in the order of their positions, as
 * changes of a mapping timeline.
 */
#include "trace/trace_space.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "image/elf_load.h"
#include "trace/space_builder.h"

int
hwtdi_space_named(struct hwtdi_space_builder *b, struct hwtdi_named_file **out)
{
	return (hwtdi_space_file(b, b->record, out));
}

/* Processes. */

static int
process_of(struct hwtdi_space_builder *b, struct hwtdi_process **out)
{
	const struct hwtdi_space_key key = { .kind = HWTDI_SPACE_KIND_USER,
		.pid = b->record->pid,
		.vmid = hwtdi_record_vmid(b->record) };
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
		space->processes[no].pid = key.pid;
		space->processes[no].vmid = key.vmid;
		space->processes[no].parent = HWTD_NO_ID;
		space->n_processes++;
	}
	if (rc == HWTD_OK)
		*out = &space->processes[no];
	return (rc);
}

static int
space_of(struct hwtdi_space_builder *b, uint32_t *out)
{
	const struct hwtd_record *r = b->record;
	struct hwtdi_space_key key = { .kind = HWTDI_SPACE_KIND_USER,
		.pid = r->pid,
		.vmid = hwtdi_record_vmid(r) };

	if ((r->flags & HWTD_RECF_HYPERVISOR_SPACE) != 0)
		key.kind = HWTDI_SPACE_KIND_HYPERVISOR;
	else if ((r->flags & HWTD_RECF_KERNEL_SPACE) != 0 ||
	    r->type == HWTD_REC_KERNEL)
		key.kind = HWTDI_SPACE_KIND_KERNEL;
	else if (r->pid == HWTD_NO_ID && key.vmid == HWTD_NO_ID)
		key.kind = HWTDI_SPACE_KIND_ANY;
	else if (r->pid == HWTD_NO_ID)
		key.kind = HWTDI_SPACE_KIND_KERNEL;
	if (key.kind != HWTDI_SPACE_KIND_USER)
		key.pid = HWTD_NO_ID;
	return (hwtdi_timeline_space(b->space->timeline, &key, out, b->err));
}

static struct hwtdi_space_key
machine_key(uint32_t vmid)
{
	const struct hwtdi_space_key key = { .kind = HWTDI_SPACE_KIND_KERNEL,
		.pid = HWTD_NO_ID,
		.vmid = vmid };

	return (key);
}

/* The machine whose code runs; false: a guest, but not which. */
static bool
find_vm(const struct hwtdi_trace_space *space,
    const struct hwtd_exec_context *who, uint32_t *vmid_out)
{
	const struct hwtdi_space_table *vms = &space->machines;
	const struct hwtdi_space_key zero = machine_key(0);
	uint32_t no;

	*vmid_out = HWTD_NO_ID;
	if ((who->flags & HWTD_CTXF_VMID) != 0) {
		/* Machine 0 is the host, unless records speak of one. */
		if (who->vmid != 0 || hwtdi_space_table_find(vms, &zero, &no))
			*vmid_out = (uint32_t)who->vmid;
		return (who->vmid < HWTD_NO_ID);
	}
	if ((who->flags & HWTD_CTXF_GUEST) != 0 && vms->n != 0) {
		*vmid_out = vms->keys[0].vmid;
		return (vms->n == 1);
	}
	return (true);
}

struct hwtdi_seen
hwtdi_trace_space_see(const struct hwtdi_trace_space *space,
    const struct hwtd_exec_context *who)
{
	struct hwtdi_seen seen = { space->default_space, HWTDI_SPACE_KERNEL,
		true };
	struct hwtdi_space_key key = { .kind = HWTDI_SPACE_KIND_USER };
	struct hwtdi_space_key kernel;

	if (who == NULL)
		return (seen);
	seen.known = find_vm(space, who, &key.vmid);
	kernel = machine_key(key.vmid);
	if (!seen.known ||
	    !hwtdi_timeline_space_find(space->timeline, &kernel, &seen.kernel))
		seen.kernel = HWTDI_SPACE_ANY;
	key.pid = who->pid;
	if ((who->flags & HWTD_CTXF_LEVEL) != 0 && who->level == 2) {
		key.kind = HWTDI_SPACE_KIND_HYPERVISOR;
		key.pid = HWTD_NO_ID;
		key.vmid = HWTD_NO_ID;
		seen.kernel = HWTDI_SPACE_KERNEL;
	} else if (who->pid == HWTD_NO_ID && key.vmid == HWTD_NO_ID) {
		if (!seen.known)
			seen.space = HWTDI_SPACE_ANY;
		return (seen);
	} else if (who->pid == HWTD_NO_ID) {
		seen.space = seen.kernel;
		seen.known = seen.kernel != HWTDI_SPACE_ANY;
		return (seen);
	}
	seen.known = seen.kernel != HWTDI_SPACE_ANY &&
	    hwtdi_timeline_space_find(space->timeline, &key, &seen.space);
	/* A process that no record names has only what all have. */
	if (!seen.known)
		seen.space = seen.kernel;
	return (seen);
}

/* Records. */

static void
clear_loads(struct hwtdi_space_builder *b, uint32_t space)
{
	hwtdi_load_list_clear(&b->loads, space);
	hwtdi_load_list_clear(&b->segments, space);
}

static int
apply_exec(struct hwtdi_space_builder *b, uint32_t space)
{
	const struct hwtd_record *r = b->record;
	struct hwtdi_shown_elf elf = { 0 };
	struct hwtdi_named_file *file;
	int rc;

	clear_loads(b, space);
	rc = hwtdi_timeline_exec(b->space->timeline, b->seq, space, b->err);
	if (rc != HWTD_OK || r->name == NULL)
		return (rc);
	rc = hwtdi_space_named(b, &file);
	if (rc != HWTD_OK || !file->is_elf)
		return (rc);
	/* Without its load bias only what is not moved can be placed. */
	if ((r->flags & HWTD_RECF_ADDR) != 0 ||
	    file->elf.type == HWTDI_ELF_EXEC) {
		elf.file = file;
		elf.bias = hwtdi_elf_bias_of_program(&file->elf, r->addr);
		rc = hwtdi_space_map_elf(b, space, &elf);
	}
	if (rc != HWTD_OK || (r->flags & HWTD_RECF_BASE) == 0 ||
	    file->elf.interpreter[0] == '\0')
		return (rc);
	/* The build-id of the record is that of the program. */
	rc = hwtdi_named_files_get(&b->files, file->elf.interpreter,
	    r->build_id, 0, &file, b->err);
	if (rc != HWTD_OK || !file->is_elf)
		return (rc);
	elf.file = file;
	elf.bias = hwtdi_elf_bias_of_base(&file->elf, r->base,
	    HWTDI_SPACE_PAGE);
	return (hwtdi_space_map_elf(b, space, &elf));
}

/* A mapping of no file that tells no length or offset. */
static int
apply_image(struct hwtdi_space_builder *b, uint32_t space,
    struct hwtdi_shown *shown)
{
	const struct hwtd_record *r = b->record;
	const struct hwtdi_image *image = NULL;

	if (shown->image != HWTD_NO_ID)
		image = &b->trace->images[shown->image];
	if (image != NULL && (r->flags & HWTD_RECF_FILE_OFF) == 0)
		shown->file_off = image->offset;
	if ((r->flags & HWTD_RECF_LEN) == 0) {
		shown->length = HWTDI_SPACE_PAGE;
		if (image != NULL &&
		    shown->file_off - image->offset < image->n_bytes)
			shown->length = image->n_bytes -
			    (shown->file_off - image->offset);
	}
	return (hwtdi_space_map(b, space, shown));
}

/* How the file of a mapping is moved; false: no segment of it lies there. */
static bool
find_bias(const struct hwtd_record *r, const struct hwtdi_named_file *file,
    uint64_t *bias_out)
{
	const struct hwtdi_elf_mapping mapping = {
		.address = r->addr,
		.has_file_off = (r->flags & HWTD_RECF_FILE_OFF) != 0,
		.has_length = (r->flags & HWTD_RECF_LEN) != 0,
		.file_off = r->file_off,
		.length = r->len,
	};
	struct hwtdi_elf_bias bias;

	if (!file->is_elf ||
	    hwtdi_elf_bias_of_mappings(&file->elf, &mapping, 1,
		HWTDI_SPACE_PAGE, &bias, NULL) != HWTD_OK)
		return (false);
	*bias_out = bias.bias;
	return (true);
}

/* A mapping of a file; an unmapping may name where the file starts. */
static int
apply_segment(struct hwtdi_space_builder *b, uint32_t space,
    const struct hwtdi_named_file *file, struct hwtdi_shown *shown)
{
	const uint32_t whole = HWTD_RECF_LEN | HWTD_RECF_FILE_OFF;
	const struct hwtd_record *r = b->record;
	struct hwtd_context *ctx = b->trace->library;
	struct hwtdi_shown_elf elf = { .file = file,
		.around = &r->addr,
		.flags = shown->flags,
		.loads = &b->segments };
	const bool found = find_bias(r, file, &elf.bias);
	uint64_t start;
	int rc = HWTD_OK;

	if (found) {
		start = elf.bias +
		    (file->elf.lowest_vaddr &
			~((uint64_t)HWTDI_SPACE_PAGE - 1));
		rc = hwtdi_load_list_add(&b->segments, ctx, space, start,
		    shown->image, true, b->seq, b->err);
	}
	if (rc != HWTD_OK)
		return (rc);
	if (found && (r->flags & whole) != whole)
		return (hwtdi_space_map_elf(b, space, &elf));
	if ((r->flags & HWTD_RECF_LEN) == 0)
		shown->length = HWTDI_SPACE_PAGE;
	if (found)
		rc = hwtdi_load_list_add_piece(&b->segments, ctx,
		    shown->address, shown->length, b->err);
	return (rc == HWTD_OK ? hwtdi_space_map(b, space, shown) : rc);
}

static int
apply_mmap(struct hwtdi_space_builder *b, uint32_t space)
{
	const struct hwtd_record *r = b->record;
	struct hwtdi_shown shown = { .image = r->image,
		.address = r->addr,
		.length = r->len,
		.file_off = r->file_off };
	struct hwtdi_named_file *file;
	int rc;

	if ((r->flags & HWTD_RECF_ADDR) == 0)
		return (HWTD_OK);
	if (r->type == HWTD_REC_CODE || (r->flags & HWTD_RECF_JIT) != 0)
		shown.flags |= HWTDI_PIECE_JIT;
	if ((r->flags & HWTD_RECF_ANONYMOUS) != 0)
		shown.flags |= HWTDI_PIECE_ANONYMOUS;
	if (r->image != HWTD_NO_ID || r->name == NULL ||
	    (r->flags & HWTD_RECF_ANONYMOUS) != 0)
		return (apply_image(b, space, &shown));
	rc = hwtdi_space_named(b, &file);
	if (rc != HWTD_OK)
		return (rc);
	shown.image = file->image;
	return (apply_segment(b, space, file, &shown));
}

static int
apply_fork(struct hwtdi_space_builder *b, uint32_t space)
{
	const struct hwtd_record *r = b->record;
	struct hwtdi_space_key key = { .kind = HWTDI_SPACE_KIND_USER,
		.pid = (uint32_t)r->value,
		.vmid = hwtdi_record_vmid(r) };
	struct hwtdi_process *process;
	uint32_t parent;
	int rc;

	if ((r->flags & HWTD_RECF_VALUE) == 0 || r->pid == HWTD_NO_ID ||
	    r->value > UINT32_MAX || r->value == r->pid)
		return (HWTD_OK);
	rc = process_of(b, &process);
	if (rc != HWTD_OK)
		return (rc);
	process->parent = (uint32_t)r->value;
	rc = hwtdi_timeline_space(b->space->timeline, &key, &parent, b->err);
	if (rc == HWTD_OK)
		rc = hwtdi_load_list_fork(&b->loads, b->trace->library, space,
		    parent, b->seq, b->err);
	if (rc == HWTD_OK)
		rc = hwtdi_load_list_fork(&b->segments, b->trace->library,
		    space, parent, b->seq, b->err);
	return (rc == HWTD_OK ? hwtdi_timeline_fork(b->space->timeline, b->seq,
				    space, parent, b->err)
			      : rc);
}

static int
note_process(struct hwtdi_space_builder *b)
{
	const struct hwtd_record *r = b->record;
	struct hwtdi_process *process;
	bool main_thread = r->tid == r->pid || r->tid == HWTD_NO_ID;
	int rc;

	if (r->pid == HWTD_NO_ID)
		return (HWTD_OK);
	rc = process_of(b, &process);
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
apply(struct hwtdi_space_builder *b)
{
	const struct hwtd_record *r = b->record;
	const struct hwtdi_space_key
	    machine = machine_key(hwtdi_record_vmid(r));
	uint32_t space = HWTDI_SPACE_ANY;
	int rc = HWTD_OK;

	if (machine.vmid != HWTD_NO_ID)
		rc = hwtdi_space_table_intern(b->space->library,
		    &b->space->machines, &machine, &space, b->err);
	if (rc == HWTD_OK)
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
		return (hwtdi_space_unmap(b, space));
	case HWTD_REC_KERNEL:
	case HWTD_REC_MODULE_LOAD:
		return (hwtdi_space_load(b, space));
	case HWTD_REC_MODULE_UNLOAD:
		return (hwtdi_space_unload(b, space));
	case HWTD_REC_FORK:
		return (apply_fork(b, space));
	case HWTD_REC_EXIT:
		if (r->tid != HWTD_NO_ID && r->tid != r->pid)
			return (HWTD_OK);
		clear_loads(b, space);
		return (hwtdi_timeline_exit(b->space->timeline, b->seq, space,
		    b->err));
	default:
		return (HWTD_OK);
	}
}

/* Images that were added with an address hold everywhere from the start. */
static int
map_everywhere(struct hwtdi_space_builder *b, size_t n_images)
{
	int rc = HWTD_OK;

	b->seq = HWTDI_SEQ_START;
	for (size_t i = 0; i < n_images && rc == HWTD_OK; i++) {
		const struct hwtdi_image *image = &b->trace->images[i];

		if (image->mapped)
			rc = hwtdi_space_map(b, HWTDI_SPACE_ANY,
			    &(const struct hwtdi_shown){ .image = (uint32_t)i,
				.address = image->address,
				.length = image->n_bytes,
				.file_off = image->offset });
	}
	return (rc);
}

static int
by_pid(const void *a, const void *b)
{
	const struct hwtdi_process *x = a, *y = b;

	if (x->pid != y->pid)
		return (x->pid < y->pid ? -1 : 1);
	/* The host before virtual machines. */
	return (x->vmid + 1 < y->vmid + 1 ? -1 : x->vmid + 1 > y->vmid + 1);
}

/* Code of unknown processes is that of the only one, if there is one. */
static void
choose_default(struct hwtdi_trace_space *space)
{
	struct hwtdi_space_key key = { .kind = HWTDI_SPACE_KIND_USER };

	space->default_space = HWTDI_SPACE_KERNEL;
	if (space->n_processes != 1 || space->processes[0].vmid != HWTD_NO_ID)
		return;
	key.pid = space->processes[0].pid;
	key.vmid = HWTD_NO_ID;
	(void)hwtdi_timeline_space_find(space->timeline, &key,
	    &space->default_space);
}

static int
apply_all(struct hwtdi_space_builder *b)
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
		if (rc == HWTD_OK)
			rc = hwtdi_poll_each(b->trace->library, i, b->err);
	}
	return (rc);
}

int
hwtdi_trace_space_build(struct hwtd_trace *trace,
    struct hwtdi_trace_space *space, struct hwtd_error *err)
{
	const size_t n_images = trace->n_images;
	struct hwtdi_space_builder b = { .trace = trace,
		.space = space,
		.err = err };
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
	hwtdi_modules_fini(&b.modules, trace->library);
	hwtdi_load_list_fini(&b.loads, trace->library);
	hwtdi_load_list_fini(&b.segments, trace->library);
	hwtdi_named_files_fini(&b.files);
	hwtdi_index_fini(&b.sections, trace->library);
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
	hwtdi_space_table_fini(ctx, &space->pids);
	hwtdi_space_table_fini(ctx, &space->machines);
	memset(space, 0, sizeof(*space));
}
