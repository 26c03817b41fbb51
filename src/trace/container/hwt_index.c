/*
 * The index at the end of .hwt files: checked as a whole, then followed.
 */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "trace/container/hwt_reader.h"

#define END_BYTES (HWTDI_HWT_HEADER_SIZE + HWTDI_HWT_END_SIZE)

/* Where the index lies, as END says. */
struct place {
	uint64_t first;
	uint64_t n_index;
	uint64_t n_chunks;
	/* Of the END chunk. */
	uint64_t end;
};

/* The walk over all entries: once to check, once to take in. */
struct walk {
	struct hwtdi_hwt_reader *reader;
	struct hwtdi_hwt_unpacker unpacker;
	struct place place;
	/* Offset that the next entry must have, and its number. */
	uint64_t next_off;
	uint64_t next_entry;
};

/* Damage that a scan does not see: the index itself is bad. */
static int
bad_index(struct hwtdi_hwt_reader *r, uint64_t off, uint64_t n,
    const char *what, struct hwtd_error *err)
{
	return (hwtdi_trace_note_damage(r->trace, off, n, HWTD_NO_ID, 0, 0,
	    err, "%s", what));
}

/* HWTD_END: there is no END chunk, or it is damaged. */
static int
find_end(struct hwtdi_hwt_reader *r, struct hwtdi_hwt_unpacker *unpacker,
    struct place *out, struct hwtd_error *err)
{
	const struct hwtdi_trace_file *file = &r->trace->file;
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtdi_hwt_header h;
	bool valid;
	int rc;

	if (file->size < HWTDI_HWT_FILE_HEADER_SIZE + END_BYTES)
		return (HWTD_END);
	out->end = file->size - END_BYTES;
	rc = hwtdi_hwt_read_header(file, out->end, &h, &valid, err);
	if (rc != HWTD_OK)
		return (rc);
	if (!valid || h.type != HWTDI_HWT_END ||
	    h.raw_size != HWTDI_HWT_END_SIZE)
		return (HWTD_END);
	rc = hwtdi_hwt_unpack(unpacker, file, &h, &inner);
	if (rc == HWTD_E_CORRUPT) {
		rc = bad_index(r, out->end, END_BYTES, inner.message, err);
		return (rc != HWTD_OK ? rc : HWTD_END);
	}
	if (rc != HWTD_OK)
		return (hwtdi_fail_pass(err, &inner));
	out->first = hwtdi_le(unpacker->raw, 8);
	out->n_index = hwtdi_le(unpacker->raw + 8, 8);
	out->n_chunks = hwtdi_le(unpacker->raw + 16, 8);
	return (HWTD_OK);
}

static void
get_entry(const uint8_t *at, uint64_t number, struct hwtdi_hwt_header *h)
{
	memset(h, 0, sizeof(*h));
	h->file_off = hwtdi_le(at, 8);
	h->position = hwtdi_le(at + 8, 8);
	h->id = (uint32_t)hwtdi_le(at + 16, 4);
	h->raw_size = (uint32_t)hwtdi_le(at + 20, 4);
	h->stored_size = (uint32_t)hwtdi_le(at + 24, 4);
	h->detail = (uint32_t)hwtdi_le(at + 28, 4);
	h->type = (uint16_t)hwtdi_le(at + 32, 2);
	h->flags = (uint16_t)hwtdi_le(at + 34, 2);
	h->sequence = number;
}

/* Entries must cover the file without gap or overlap. */
static const char *
check_entry(struct walk *w, const struct hwtdi_hwt_header *h)
{
	if (h->file_off != w->next_off)
		return ("index has a gap or an overlap");
	if (hwtdi_hwt_header_fault(h) != NULL)
		return ("index has a chunk that breaks the size rules");
	if (h->type == HWTDI_HWT_INDEX || h->type == HWTDI_HWT_END)
		return ("index lists itself");
	w->next_off += HWTDI_HWT_HEADER_SIZE + (uint64_t)h->stored_size;
	if (w->next_off > w->place.first)
		return ("index has a chunk that overlaps the index");
	return (NULL);
}

/*
 * Go through the entries of the INDEX chunk in the unpacker.  `*fault` is set
 * when a check fails.
 */
static int
walk_entries(struct walk *w, const struct hwtdi_hwt_header *index, bool take,
    const char **fault, struct hwtd_error *err)
{
	const uint8_t *at = w->unpacker.raw;
	int rc;

	if (index->position != w->next_entry ||
	    index->raw_size % HWTDI_HWT_INDEX_ENTRY_SIZE != 0) {
		*fault = "index is not a list of entries in order";
		return (HWTD_OK);
	}
	for (uint32_t i = 0; i < index->raw_size / HWTDI_HWT_INDEX_ENTRY_SIZE;
	     i++) {
		struct hwtdi_hwt_header h;

		get_entry(at, w->next_entry, &h);
		at += HWTDI_HWT_INDEX_ENTRY_SIZE;
		*fault = check_entry(w, &h);
		if (*fault != NULL)
			return (HWTD_OK);
		rc = take ? hwtdi_hwt_accept(w->reader, &h, err) : HWTD_OK;
		if (rc != HWTD_OK)
			return (rc);
		w->next_entry++;
	}
	return (HWTD_OK);
}

/*
 * Go through all INDEX chunks.  HWTD_END: the index cannot be used, and damage
 * was noted unless a scan will find it.
 */
static int
walk_index(struct walk *w, bool take, struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtdi_hwt_reader *r = w->reader;
	const struct place *place = &w->place;
	uint64_t off = place->first;
	const char *fault = NULL;
	int rc;

	w->next_off = HWTDI_HWT_FILE_HEADER_SIZE;
	w->next_entry = 0;
	for (uint64_t i = 0; fault == NULL && i < place->n_index; i++) {
		struct hwtdi_hwt_header h;
		bool valid;

		if (off >= place->end) {
			fault = "index is shorter than the end chunk says";
			break;
		}
		rc = hwtdi_hwt_read_header(&r->trace->file, off, &h, &valid,
		    err);
		if (rc != HWTD_OK)
			return (rc);
		if (!valid)
			return (HWTD_END);
		if (h.type != HWTDI_HWT_INDEX) {
			fault = "end chunk does not name the index";
			break;
		}
		rc = hwtdi_hwt_unpack(&w->unpacker, &r->trace->file, &h,
		    &inner);
		if (rc == HWTD_E_CORRUPT) {
			rc = bad_index(r, off,
			    HWTDI_HWT_HEADER_SIZE + (uint64_t)h.stored_size,
			    inner.message, err);
			return (rc != HWTD_OK ? rc : HWTD_END);
		}
		if (rc != HWTD_OK)
			return (hwtdi_fail_pass(err, &inner));
		rc = walk_entries(w, &h, take, &fault, err);
		if (rc != HWTD_OK)
			return (rc);
		off += HWTDI_HWT_HEADER_SIZE + (uint64_t)h.stored_size;
	}
	if (fault == NULL && off != place->end)
		fault = "index does not reach to the end chunk";
	if (fault == NULL &&
	    (w->next_entry != place->n_chunks || w->next_off != place->first))
		fault = "index does not cover the file";
	if (fault == NULL)
		return (HWTD_OK);
	rc = bad_index(r, place->end, END_BYTES, fault, err);
	return (rc != HWTD_OK ? rc : HWTD_END);
}

int
hwtdi_hwt_read_index(struct hwtdi_hwt_reader *r, bool *done_out,
    struct hwtd_error *err)
{
	struct walk w = { .reader = r };
	int rc;

	*done_out = false;
	hwtdi_hwt_unpacker_init(&w.unpacker, r->trace->library);
	rc = find_end(r, &w.unpacker, &w.place, err);
	if (rc == HWTD_OK)
		rc = walk_index(&w, false, err);
	if (rc == HWTD_OK) {
		rc = walk_index(&w, true, err);
		/* The file changed under us. */
		if (rc == HWTD_END)
			rc = hwtdi_fail_at(err, HWTD_E_CORRUPT, w.place.first,
			    "index changed while it was read");
		*done_out = rc == HWTD_OK;
	}
	hwtdi_hwt_unpacker_fini(&w.unpacker);
	return (rc == HWTD_END ? HWTD_OK : rc);
}
