/*
 * Code of BPF programs, which the header of a perf.data has and no file.
 *
 * Source: Linux, include/uapi/linux/bpf.h, struct bpf_prog_info, and
 * tools/perf/util/bpf-utils.h, struct perf_bpil: offsets in place of pointers.
 */
#include <stdlib.h>

#include "base/fail.h"
#include "trace/import/perf/perf_file.h"

/* Which arrays of a program are there, by number. */
#define HAS_CODE 0x1u
#define HAS_ADDRESSES 0x8u
#define HAS_LENGTHS 0x10u

/* Offsets in bpf_prog_info. */
#define INFO_TAG 8u
#define INFO_CODE_LEN 16u
#define INFO_CODE 24u
#define INFO_N_FUNCTIONS 104u
#define INFO_ADDRESSES 112u
#define INFO_LENGTHS 120u
#define INFO_BYTES 128u

/* Of a program, what its arrays lie in. */
struct program {
	struct hwtdi_perf_file *file;
	const uint8_t *info;
	const uint8_t *data;
	size_t n_data;
};

static uint64_t
field(const struct program *p, size_t at, size_t n)
{
	return (hwtdi_uint(p->file->big, p->info + at, n));
}

/* `n` bytes of the array that a field points to, or NULL. */
static const uint8_t *
array(const struct program *p, size_t at, uint64_t n)
{
	const uint64_t off = field(p, at, 8);

	return (off <= p->n_data && n <= p->n_data - off ? p->data + off
							 : NULL);
}

/* A function of `n` bytes, the code of which is at the end of what is kept. */
static int
add_function(struct hwtdi_perf_file *f, uint64_t address, uint64_t tag,
    const uint8_t *code, uint32_t n)
{
	struct hwtdi_perf_bpf *bpf = &f->bpf;
	struct hwtd_context *ctx = f->trace->library;
	int rc;

	rc = hwtdi_array_grow(ctx, &bpf->bytes, &bpf->cap, bpf->n + n, 1,
	    f->err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ctx, &bpf->functions,
		    &bpf->cap_functions, bpf->n_functions + 1,
		    sizeof(*bpf->functions), f->err);
	if (rc != HWTD_OK)
		return (rc);
	memcpy(bpf->bytes + bpf->n, code, n);
	bpf->functions[bpf->n_functions++] = (struct hwtdi_perf_function){
		.address = address,
		.tag = tag,
		.off = bpf->n,
		.n = n
	};
	bpf->n += n;
	return (HWTD_OK);
}

/* Its functions follow one another in the code. */
static int
add_program(const struct program *p)
{
	const uint64_t n_code = field(p, INFO_CODE_LEN, 4);
	const uint64_t n = field(p, INFO_N_FUNCTIONS, 4);
	const uint8_t *code = array(p, INFO_CODE, n_code);
	const uint8_t *addresses = array(p, INFO_ADDRESSES, n * 8);
	const uint8_t *lengths = array(p, INFO_LENGTHS, n * 4);
	uint64_t used = 0;
	int rc = HWTD_OK;

	if (code == NULL || addresses == NULL || lengths == NULL)
		return (HWTD_OK);
	for (uint64_t i = 0; i < n && rc == HWTD_OK; i++) {
		const uint64_t length = hwtdi_uint(p->file->big,
		    lengths + i * 4, 4);

		if (length > n_code - used)
			break;
		rc = add_function(p->file,
		    hwtdi_uint(p->file->big, addresses + i * 8, 8),
		    hwtdi_uint(true, p->info + INFO_TAG, 8), code + used,
		    (uint32_t)length);
		used += length;
	}
	return (rc);
}

int
hwtdi_perf_bpf_read(struct hwtdi_perf_file *f, struct hwtdi_perf_bytes *b)
{
	const uint32_t needed = HAS_CODE | HAS_ADDRESSES | HAS_LENGTHS;
	const uint32_t n = hwtdi_perf_u32(b);
	int rc = HWTD_OK;

	for (uint32_t i = 0; i < n && rc == HWTD_OK && !b->rest.bad; i++) {
		struct program p = { .file = f };
		const uint32_t n_info = hwtdi_perf_u32(b);
		uint64_t arrays;

		p.n_data = hwtdi_perf_u32(b);
		arrays = hwtdi_perf_u64(b);
		p.info = hwtdi_bytes_take(&b->rest, n_info);
		p.data = hwtdi_bytes_take(&b->rest, p.n_data);
		if (p.info != NULL && p.data != NULL && n_info >= INFO_BYTES &&
		    (arrays & needed) == needed)
			rc = add_program(&p);
	}
	return (rc);
}

static int
by_address(const void *a, const void *b)
{
	const struct hwtdi_perf_function *x = a, *y = b;

	if (x->address != y->address)
		return (x->address < y->address ? -1 : 1);
	if (x->tag != y->tag)
		return (x->tag < y->tag ? -1 : 1);
	return (x->off < y->off ? -1 : x->off > y->off);
}

/* The first that is not before it. */
static size_t
lower(const struct hwtdi_perf_bpf *bpf, uint64_t address, uint64_t tag)
{
	const struct hwtdi_perf_function wanted = { .address = address,
		.tag = tag };
	size_t low = 0, high = bpf->n_functions;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (by_address(&bpf->functions[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return (low);
}

/*
 * The function that a record is of.  Programs come to lie where others were: the
 * name has the tag of one, or of a part of one, which the header does not tell; that
 * is one that no other program was at the place of.  NULL: nobody knows.
 */
static const struct hwtdi_perf_function *
find(const struct hwtdi_perf_bpf *bpf, const struct hwtd_record *r)
{
	static const char begin[] = "bpf_prog_";
	const struct hwtdi_perf_function *functions = bpf->functions;
	const size_t n = bpf->n_functions;
	size_t i;

	if (r->name != NULL &&
	    strncmp(r->name, begin, sizeof(begin) - 1) == 0) {
		const uint64_t tag = strtoull(r->name + sizeof(begin) - 1,
		    NULL, 16);

		i = lower(bpf, r->addr, tag);
		if (i < n && functions[i].address == r->addr &&
		    functions[i].tag == tag)
			return (&functions[i]);
	}
	i = lower(bpf, r->addr, 0);
	if (i == n || functions[i].address != r->addr)
		return (NULL);
	/* The last of this address is of the same program. */
	for (size_t low = i, high = n; low < high;) {
		const size_t middle = low + (high - low) / 2;

		if (functions[middle].address > r->addr)
			high = middle;
		else if (functions[middle].tag != functions[i].tag)
			return (NULL);
		else
			low = middle + 1;
	}
	return (&functions[i]);
}

int
hwtdi_perf_give_bpf(struct hwtdi_perf_file *f)
{
	struct hwtdi_record_list *list = &f->trace->records;
	const struct hwtdi_perf_bpf *bpf = &f->bpf;
	const uint32_t flags = HWTD_RECF_KERNEL_SPACE | HWTD_RECF_JIT |
	    HWTD_RECF_LEN;
	struct hwtd_image_desc desc = { .size = sizeof(desc),
		.path = "[bpf]",
		.bytes = bpf->bytes,
		.n_bytes = bpf->n };
	uint32_t image;
	int rc;

	if (bpf->n == 0)
		return (HWTD_OK);
	qsort(bpf->functions, bpf->n_functions, sizeof(*bpf->functions),
	    by_address);
	rc = hwtd_trace_add_image(f->trace, &desc, &image, f->err);
	for (size_t i = 0; rc == HWTD_OK && i < list->n; i++) {
		struct hwtd_record *r = &list->records[i];
		const struct hwtdi_perf_function *found;

		if (r->type != HWTD_REC_MMAP || (r->flags & flags) != flags ||
		    r->image != HWTD_NO_ID)
			continue;
		found = find(bpf, r);
		if (found == NULL || found->n == 0)
			continue;
		r->image = image;
		r->file_off = found->off;
		if (found->n < r->len)
			r->len = found->n;
	}
	return (rc);
}
