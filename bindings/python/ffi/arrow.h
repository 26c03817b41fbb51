/*
 * Arrow's structs between the library, Python's objects and consumers of
 * capsules: who holds what, and when it is given back.
 */
#ifndef HWTPY_ARROW_H
#define HWTPY_ARROW_H

#ifndef HWTD_CDEF
#include <hwtdecode/export.h>
#endif

/*
 * Shared schemas and arrays: immutable, counted, and handed to as many
 * consumers as like, each of which gets structs of its own with the same
 * buffers.  Any thread may hold, hand out and drop them.
 */

struct hwtpy_schema;
struct hwtpy_array;

/* Take over `from`, which is empty afterwards.  NULL: no memory. */
struct hwtpy_schema *hwtpy_schema_take(struct ArrowSchema *from);
struct hwtpy_array *hwtpy_array_take(struct ArrowArray *from);

/* One user less; NULL does nothing. */
void hwtpy_schema_drop(struct hwtpy_schema *schema);
void hwtpy_array_drop(struct hwtpy_array *array);

/* Borrowed: not to be released. */
const struct ArrowSchema *hwtpy_schema_get(const struct hwtpy_schema *schema);
const struct ArrowArray *hwtpy_array_get(const struct hwtpy_array *array);

/*
 * Hand it out, of an array rows [first, first + n), which it has to have.
 * 0, or ENOMEM.
 */
int hwtpy_schema_export(struct hwtpy_schema *schema, struct ArrowSchema *out);
int hwtpy_array_export(struct hwtpy_array *array, int64_t first, int64_t n,
    struct ArrowArray *out);

/*
 * A pass: one or more streams of the library, one after the other, that answer
 * while they decode.  Threads that read it take turns.
 */

struct hwtpy_pass;

/* `main_thread`: what Python calls the thread that sees signals. */
struct hwtpy_pass *hwtpy_pass_create(uint64_t main_thread);

/*
 * Give it up with its streams, or with what was not handed out of it; NULL does
 * nothing.
 */
void hwtpy_pass_destroy(struct hwtpy_pass *pass);

/*
 * Room for one more stream, to be filled by an export or left empty.  It moves
 * when there is another one.  NULL: no memory.
 */
struct ArrowArrayStream *hwtpy_pass_add(struct hwtpy_pass *pass);

/* For `poll` of an export, with the pass as its argument. */
int hwtpy_pass_poll(void *pass);

/* A thread that is in the pass comes back soon, with EINTR. */
void hwtpy_pass_stop(struct hwtpy_pass *pass);

/* 0, or errno and a text. */
int hwtpy_pass_schema(struct hwtpy_pass *pass, struct ArrowSchema *out);

/*
 * The next array; without `release`: there is none.  0, or errno; EINTR: it
 * took long, ask again.
 */
int hwtpy_pass_next(struct hwtpy_pass *pass, struct ArrowArray *out);

/* The stream that is read now; NULL: there is none.  Borrowed. */
const struct ArrowArrayStream *hwtpy_pass_stream(const struct hwtpy_pass
	*pass);

/* Why the last call failed; NULL: it did not.  Borrowed until the next one. */
const char *hwtpy_pass_error(struct hwtpy_pass *pass);

/*
 * Hand it out as one stream, which looks for signals while it decodes, if the
 * thread that reads it is that of signals.  The pass belongs to it.
 */
void hwtpy_pass_export(struct hwtpy_pass *pass, struct ArrowArrayStream *out);

/*
 * Arrays as a stream of their own, with their schema; all stay the caller's.
 * 0, or ENOMEM.
 */
int hwtpy_arrays_stream(struct hwtpy_schema *schema,
    struct hwtpy_array *const *arrays, size_t n, struct ArrowArrayStream *out);

/*
 * What capsules hold, all zero; NULL: no memory.  The functions of the same
 * name that are called with a capsule release what is in it, once, and free it;
 * `free` does so without a capsule.
 */
struct ArrowSchema *hwtpy_new_schema(void);
struct ArrowArray *hwtpy_new_array(void);
struct ArrowArrayStream *hwtpy_new_stream(void);
void hwtpy_free_schema(struct ArrowSchema *schema);
void hwtpy_free_array(struct ArrowArray *array);
void hwtpy_free_stream(struct ArrowArrayStream *stream);

/* Addresses for PyCapsule_New(): of names, which live for ever, and of functions. */
struct hwtpy_capsule_kind {
	uintptr_t name;
	uintptr_t destructor;
};

void hwtpy_capsule_schema(struct hwtpy_capsule_kind *out);
void hwtpy_capsule_array(struct hwtpy_capsule_kind *out);
void hwtpy_capsule_stream(struct hwtpy_capsule_kind *out);

/* One bit a row, from the bit `first` on, as bytes of 0 and 1. */
void hwtpy_unpack_bits(const uint8_t *bits, int64_t first, int64_t n,
    uint8_t *out);

#endif /* HWTPY_ARROW_H */
