/*
 * What would take a call of Python for each row, record or address.
 */
#ifndef HWTPY_ACCOUNT_H
#define HWTPY_ACCOUNT_H

#ifndef HWTD_CDEF
#include <hwtdecode/hwtdecode.h>
#endif

/* Whom a record is of, as far as hwtpy_record_owners() remembers it. */
struct hwtpy_owner {
	uint32_t cpu;
	uint32_t pid;
	uint32_t tid;
	/* Not 0: the place is taken. */
	uint32_t used;
};

/* Places in `seen`. */
#define HWTPY_OWNERS 4096

/*
 * Numbers of records that may be the first of a CPU, process or thread, or that
 * name one: other records are passed over.  Begins at *at, and sets it behind the
 * last that was looked at; `most` are looked at.  Returns how many were stored.
 */
size_t hwtpy_record_owners(const struct hwtd_trace *trace, uint64_t *at,
    uint64_t most, struct hwtpy_owner *seen, uint64_t *numbers, size_t cap);

/* The hash of hwtdecode check, over the instructions of a batch. */
uint64_t hwtpy_ip_hash(uint64_t hash, const struct hwtd_batch *batch);

/*
 * Set what `flag` says, an HWTD_WHERE_* bit or 0 for addresses, of `n` places to
 * name.  `step` 0: one value for all, else 1.  An id that is none is left out.
 */
void hwtpy_where_set(struct hwtd_where *where, size_t n, uint32_t flag,
    const uint64_t *values, size_t step);

#endif /* HWTPY_ACCOUNT_H */
