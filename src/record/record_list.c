/*
 * Records kept in the order of adding, and the names of their types.
 */
#include "record/record_list.h"

#include <string.h>

#include "base/fail.h"

/* A copy whose owner is a `const char *` in a public struct. */
static void
free_name(struct hwtd_context *ctx, const char *name)
{
	union {
		const char *in;
		char *out;
	} u = { .in = name };

	hwtdi_strfree(ctx, u.out);
}

/* What is not known is 0, whatever the caller or a file left there. */
static void
clear_unknown(struct hwtd_record *r)
{
	const struct {
		uint32_t flag;
		uint64_t *field;
	} fields[] = {
		{ HWTD_RECF_TIME, &r->time_ns },
		{ HWTD_RECF_STREAM_OFF, &r->stream_off },
		{ HWTD_RECF_ADDR, &r->addr },
		{ HWTD_RECF_LEN, &r->len },
		{ HWTD_RECF_FILE_OFF, &r->file_off },
		{ HWTD_RECF_BASE, &r->base },
		{ HWTD_RECF_VALUE, &r->value },
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if ((r->flags & fields[i].flag) == 0)
			*fields[i].field = 0;
	if ((r->flags & HWTD_RECF_VMID) == 0)
		r->vmid = 0;
	memset(r->build_id + r->n_build_id, 0,
	    sizeof(r->build_id) - r->n_build_id);
	r->reserved = 0;
}

int
hwtdi_record_list_add(struct hwtd_context *ctx, struct hwtdi_record_list *list,
    const struct hwtd_record *record, struct hwtd_error *err)
{
	char *name = NULL;
	int rc;

	rc = hwtdi_array_grow(ctx, &list->records, &list->cap, list->n + 1,
	    sizeof(*list->records), err);
	if (rc != HWTD_OK)
		return (rc);
	if (record->name != NULL) {
		name = hwtdi_strdup(ctx, record->name);
		if (name == NULL)
			return (hwtdi_fail_nomem(err, sizeof(*record)));
	}
	list->records[list->n] = *record;
	list->records[list->n].size = sizeof(*record);
	list->records[list->n].name = name;
	clear_unknown(&list->records[list->n]);
	list->n++;
	return (HWTD_OK);
}

void
hwtdi_record_list_fini(struct hwtd_context *ctx,
    struct hwtdi_record_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free_name(ctx, list->records[i].name);
	hwtdi_array_free(ctx, list->records, list->cap,
	    sizeof(*list->records));
	list->records = NULL;
	list->n = 0;
	list->cap = 0;
}

const char *
hwtd_record_type_name(uint32_t type)
{
	static const char *const names[HWTD_REC_TYPES] = {
		[HWTD_REC_UNKNOWN] = "unknown",
		[HWTD_REC_EXEC] = "exec",
		[HWTD_REC_MMAP] = "mmap",
		[HWTD_REC_MUNMAP] = "munmap",
		[HWTD_REC_PROTECT] = "protect",
		[HWTD_REC_KERNEL] = "kernel",
		[HWTD_REC_MODULE_LOAD] = "module-load",
		[HWTD_REC_MODULE_UNLOAD] = "module-unload",
		[HWTD_REC_THREAD_CREATE] = "thread-create",
		[HWTD_REC_THREAD_NAME] = "thread-name",
		[HWTD_REC_THREAD_EXIT] = "thread-exit",
		[HWTD_REC_FORK] = "fork",
		[HWTD_REC_EXIT] = "exit",
		[HWTD_REC_SWITCH] = "switch",
		[HWTD_REC_BUFFER] = "buffer",
		[HWTD_REC_LOST] = "lost",
		[HWTD_REC_CODE] = "code",
		[HWTD_REC_CLOCK] = "clock",
	};

	return (type < HWTD_REC_TYPES ? names[type] : "unknown");
}

uint32_t
hwtdi_record_vmid(const struct hwtd_record *record)
{
	return ((record->flags & HWTD_RECF_VMID) != 0 ? record->vmid
						      : HWTD_NO_ID);
}

struct hwtd_record
hwtdi_record_of(uint32_t type)
{
	return ((struct hwtd_record){
	    .size = sizeof(struct hwtd_record),
	    .type = type,
	    .cpu = HWTD_NO_ID,
	    .pid = HWTD_NO_ID,
	    .tid = HWTD_NO_ID,
	    .stream = HWTD_NO_ID,
	    .image = HWTD_NO_ID,
	    .vmid = HWTD_NO_ID,
	});
}
