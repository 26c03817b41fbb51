/*
 * Names of code that come from no symbol table of an image.
 */
#include "trace/trace_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "trace/import/side_file.h"
#include "trace/trace_internal.h"

static int
compare(const struct hwtdi_named_code *a, uint32_t pid, uint32_t vmid)
{
	if (a->pid != pid)
		return (a->pid < pid ? -1 : 1);
	return (a->vmid < vmid ? -1 : a->vmid > vmid);
}

static int
by_space(const void *va, const void *vb)
{
	const struct hwtdi_named_code *b = vb;

	return (compare(va, b->pid, b->vmid));
}

/* Few have lists, and each comes once. */
static int
table_of(struct hwtd_trace *trace, uint32_t pid, uint32_t vmid,
    struct hwtdi_name_table **out, struct hwtd_error *err)
{
	struct hwtdi_trace_names *names = &trace->names;
	int rc;

	for (size_t i = names->n_spaces; i-- > 0;) {
		if (compare(&names->spaces[i], pid, vmid) == 0) {
			*out = &names->spaces[i].table;
			return (HWTD_OK);
		}
	}
	rc = hwtdi_array_grow(trace->library, &names->spaces,
	    &names->cap_spaces, names->n_spaces + 1, sizeof(*names->spaces),
	    err);
	if (rc != HWTD_OK)
		return (rc);
	names->spaces[names->n_spaces] = (struct hwtdi_named_code){ .pid = pid,
		.vmid = vmid };
	*out = &names->spaces[names->n_spaces++].table;
	return (HWTD_OK);
}

static void
warn(const struct hwtd_trace *trace, const char *name,
    const struct hwtdi_name_table *table, uint64_t n_before)
{
	if (table->n_bad != n_before)
		hwtdi_log(trace->library, HWTD_LOG_WARNING, "names",
		    "%.150s: %" PRIu64 " lines are no names of code; the first"
		    " of all is line %" PRIu64,
		    name, table->n_bad - n_before, table->first_bad);
}

int
hwtdi_trace_add_perf_map(struct hwtd_trace *trace, uint32_t pid,
    const char *name, const void *text, size_t n, struct hwtd_error *err)
{
	struct hwtdi_name_table *table;
	uint64_t n_bad;
	int rc;

	rc = table_of(trace, pid, HWTD_NO_ID, &table, err);
	if (rc != HWTD_OK)
		return (rc);
	n_bad = table->n_bad;
	rc = hwtdi_name_table_add_perf_map(table, trace->library, text, n,
	    err);
	if (rc == HWTD_OK)
		warn(trace, name, table, n_bad);
	return (rc);
}

int
hwtdi_trace_add_kallsyms(struct hwtd_trace *trace, uint32_t vmid,
    const char *name, const void *text, size_t n, struct hwtd_error *err)
{
	struct hwtdi_name_table *table;
	uint64_t n_bad;
	int rc;

	rc = table_of(trace, HWTD_NO_ID, vmid, &table, err);
	if (rc != HWTD_OK)
		return (rc);
	n_bad = table->n_bad;
	rc = hwtdi_name_table_add_kallsyms(table, trace->library, text, n,
	    err);
	if (rc == HWTD_OK)
		warn(trace, name, table, n_bad);
	return (rc);
}

int
hwtdi_trace_add_name(struct hwtd_trace *trace, uint32_t pid, uint32_t vmid,
    uint64_t addr, uint64_t len, const char *text, struct hwtd_error *err)
{
	const struct hwtdi_name name = { .address = addr, .size = len };
	struct hwtdi_name_table *table;
	int rc;

	rc = table_of(trace, pid, pid == HWTD_NO_ID ? vmid : HWTD_NO_ID,
	    &table, err);
	return (rc == HWTD_OK ? hwtdi_name_table_add(table, trace->library,
				    &name, text, strlen(text), NULL, 0, err)
			      : rc);
}

/* A file with a list of either kind. */
static int
read_names(struct hwtd_trace *trace, uint32_t id, const char *path,
    int (*add)(struct hwtd_trace *trace, uint32_t id, const char *name,
	const void *text, size_t n, struct hwtd_error *err),
    struct hwtd_error *err)
{
	struct hwtdi_side_file file;
	int rc;

	rc = hwtdi_side_code_read(&file, trace, path, HWTDI_NAMES_FILE_MAX,
	    err);
	if (rc != HWTD_OK)
		return (rc);
	rc = add(trace, id, path, file.bytes, file.n, err);
	hwtdi_side_file_fini(&file, trace->library);
	return (rc);
}

int
hwtdi_trace_read_perf_map(struct hwtd_trace *trace, uint32_t pid,
    const char *path, struct hwtd_error *err)
{
	return (read_names(trace, pid, path, hwtdi_trace_add_perf_map, err));
}

int
hwtdi_trace_read_kallsyms(struct hwtd_trace *trace, uint32_t vmid,
    const char *path, struct hwtd_error *err)
{
	return (read_names(trace, vmid, path, hwtdi_trace_add_kallsyms, err));
}

/* Names in records. */

static bool
names_code(const struct hwtd_trace *trace, const struct hwtd_record *r)
{
	return (r->type == HWTD_REC_CODE && r->name != NULL &&
	    r->image < trace->n_images && (r->flags & HWTD_RECF_LEN) != 0 &&
	    r->len != 0);
}

static int
add_record(struct hwtd_trace *trace, const struct hwtd_record *r,
    struct hwtd_error *err)
{
	struct hwtdi_trace_names *names = &trace->names;
	uint32_t *no = &names->image_index[r->image];
	const struct hwtdi_name name = {
		.address = (r->flags & HWTD_RECF_FILE_OFF) != 0
		    ? r->file_off
		    : trace->images[r->image].offset,
		.size = r->len
	};
	int rc;

	if (*no == 0) {
		rc = hwtdi_array_grow(trace->library, &names->images,
		    &names->cap_images, names->n_images + 1,
		    sizeof(*names->images), err);
		if (rc != HWTD_OK)
			return (rc);
		memset(&names->images[names->n_images], 0,
		    sizeof(*names->images));
		*no = (uint32_t)++names->n_images;
	}
	return (hwtdi_name_table_add(&names->images[*no - 1], trace->library,
	    &name, r->name, strlen(r->name), NULL, 0, err));
}

static void
forget_images(struct hwtd_trace *trace)
{
	struct hwtdi_trace_names *names = &trace->names;
	struct hwtd_context *ctx = trace->library;

	for (size_t i = 0; i < names->n_images; i++)
		hwtdi_name_table_fini(&names->images[i], ctx);
	hwtdi_array_free(ctx, names->images, names->cap_images,
	    sizeof(*names->images));
	hwtdi_free(ctx, names->image_index,
	    names->n_image_index * sizeof(*names->image_index));
	names->images = NULL;
	names->image_index = NULL;
	names->n_images = names->cap_images = names->n_image_index = 0;
}

static int
add_records(struct hwtd_trace *trace, struct hwtd_error *err)
{
	struct hwtdi_trace_names *names = &trace->names;
	const struct hwtdi_record_list *list = &trace->records;
	const size_t room = trace->n_images * sizeof(*names->image_index);
	size_t i = 0;
	int rc = HWTD_OK;

	while (i < list->n && !names_code(trace, &list->records[i]))
		i++;
	if (i == list->n)
		return (HWTD_OK);
	names->image_index = hwtdi_zalloc(trace->library, room);
	if (names->image_index == NULL)
		return (hwtdi_fail_nomem(err, room));
	names->n_image_index = trace->n_images;
	for (; i < list->n && rc == HWTD_OK; i++) {
		if (names_code(trace, &list->records[i]))
			rc = add_record(trace, &list->records[i], err);
		if (rc == HWTD_OK)
			rc = hwtdi_poll_each(trace->library, i, err);
	}
	return (rc);
}

int
hwtdi_trace_names_build(struct hwtd_trace *trace, struct hwtd_error *err)
{
	struct hwtdi_trace_names *names = &trace->names;
	int rc;

	/* From an attempt to seal that failed. */
	forget_images(trace);
	rc = add_records(trace, err);
	for (size_t i = 0; i < names->n_images && rc == HWTD_OK; i++)
		rc = hwtdi_name_table_finish(&names->images[i], trace->library,
		    err);
	for (size_t i = 0; i < names->n_spaces && rc == HWTD_OK; i++)
		rc = hwtdi_name_table_finish(&names->spaces[i].table,
		    trace->library, err);
	if (rc == HWTD_OK && names->n_spaces > 1)
		qsort(names->spaces, names->n_spaces, sizeof(*names->spaces),
		    by_space);
	return (rc);
}

void
hwtdi_trace_names_fini(struct hwtd_trace *trace)
{
	struct hwtdi_trace_names *names = &trace->names;

	forget_images(trace);
	for (size_t i = 0; i < names->n_spaces; i++)
		hwtdi_name_table_fini(&names->spaces[i].table, trace->library);
	hwtdi_array_free(trace->library, names->spaces, names->cap_spaces,
	    sizeof(*names->spaces));
	memset(names, 0, sizeof(*names));
}

/* Asking. */

bool
hwtdi_trace_name_in_image(const struct hwtd_trace *trace, uint32_t image,
    uint64_t file_off, struct hwtdi_name_found *out)
{
	const struct hwtdi_trace_names *names = &trace->names;

	return (image < names->n_image_index &&
	    names->image_index[image] != 0 &&
	    hwtdi_name_table_find(
		&names->images[names->image_index[image] - 1], file_off, out));
}

static bool
find_at(const struct hwtdi_trace_names *names, uint32_t pid, uint64_t address,
    struct hwtdi_name_found *out)
{
	size_t low = 0, high = names->n_spaces;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (compare(&names->spaces[middle], pid, HWTD_NO_ID) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return (low < names->n_spaces &&
	    compare(&names->spaces[low], pid, HWTD_NO_ID) == 0 &&
	    hwtdi_name_table_find(&names->spaces[low].table, address, out));
}

bool
hwtdi_trace_name_at(const struct hwtd_trace *trace, uint32_t pid,
    uint64_t address, struct hwtdi_name_found *out)
{
	return ((pid != HWTD_NO_ID &&
		    find_at(&trace->names, pid, address, out)) ||
	    find_at(&trace->names, HWTD_NO_ID, address, out));
}
