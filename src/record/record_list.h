/*
 * Records kept in the order of adding, with copies of their names.
 */
#ifndef HWTDI_RECORD_LIST_H
#define HWTDI_RECORD_LIST_H

#include <hwtdecode/record.h>

#include "base/library.h"

struct hwtdi_record_list {
	struct hwtd_record *records;
	size_t n;
	size_t cap;
};

/*
 * Add a copy.  `record` is of this library's size; fields whose flag is not
 * set are 0 in the copy, so that nobody takes them for known.
 */
int hwtdi_record_list_add(struct hwtd_context *ctx,
    struct hwtdi_record_list *list, const struct hwtd_record *record,
    struct hwtd_error *err);
void hwtdi_record_list_fini(struct hwtd_context *ctx,
    struct hwtdi_record_list *list);

/* A record of which nothing is known but its type. */
struct hwtd_record hwtdi_record_of(uint32_t type);

/* The virtual machine of a record; HWTD_NO_ID: the host. */
uint32_t hwtdi_record_vmid(const struct hwtd_record *record);

#endif /* HWTDI_RECORD_LIST_H */
