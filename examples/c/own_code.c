/*
 * Code that only this program can read: each gap says which address lacks code,
 * and the next round decodes with it.
 *
 * usage: own_code TRACE MEMORY ADDRESS
 *
 * MEMORY stands for what holds the code: a core file, a device, a server.
 */
#include <hwtdecode/hwtdecode.h>

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define PIECE 4096
#define MAX_PIECES 64
#define ROWS 256

struct memory {
	FILE *file;
	uint64_t address;
	struct hwtd_image_desc pieces[MAX_PIECES];
	uint8_t bytes[MAX_PIECES][PIECE];
	size_t n;
};

/* The code reader: the piece of memory around an address; 0: there is none. */
static size_t
read_piece(struct memory *m, uint64_t address)
{
	const uint64_t off = (address - m->address) / PIECE * PIECE;
	const uint64_t start = m->address + off;
	size_t n;

	for (size_t i = 0; i < m->n; i++)
		if (m->pieces[i].address == start)
			return (0);
	if (address < m->address || off > LONG_MAX || m->n == MAX_PIECES ||
	    fseek(m->file, (long)off, SEEK_SET) != 0)
		return (0);
	n = fread(m->bytes[m->n], 1, PIECE, m->file);
	if (n == 0)
		return (0);
	m->pieces[m->n] = (struct hwtd_image_desc){
		.size = sizeof(m->pieces[0]),
		.path = "memory",
		.bytes = m->bytes[m->n],
		.n_bytes = n,
		.flags = HWTD_IMAGEF_ADDRESS,
		.address = start,
	};
	m->n++;
	printf("read %zu bytes at %#" PRIx64 "\n", n, start);
	return (1);
}

/* Decode with what is known, and read what is missing: `n_new` pieces. */
static int
decode(struct hwtd_context *ctx, const char *path, struct memory *m,
    size_t *n_new, struct hwtd_error *err)
{
	static struct hwtd_event rows[ROWS];
	/* A sealed trace never changes, so each round opens it with all pieces. */
	const struct hwtd_open_options opts = { .size = sizeof(opts),
		.images = m->pieces,
		.n_images = m->n };
	const struct hwtd_events_options gaps = { .size = sizeof(gaps),
		.kinds = 1u << HWTD_EV_GAP };
	struct hwtd_batch batch = { .size = sizeof(batch),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = ROWS };
	struct hwtd_stats stats = { .size = sizeof(stats) };
	struct hwtd_trace *trace = NULL;
	struct hwtd_events *ev = NULL;
	int rc;

	*n_new = 0;
	rc = hwtd_trace_open(ctx, path, &opts, &trace, err);
	if (rc == HWTD_OK)
		rc = hwtd_events_open(trace, &gaps, &ev, err);
	while (rc == HWTD_OK &&
	    (rc = hwtd_events_read(ev, &batch, err)) == HWTD_OK)
		for (size_t i = 0; i < batch.n_gaps; i++) {
			const char *first = (const char *)batch.gaps;
			const struct hwtd_gap *gap = (const void *)(first +
			    i * batch.gap_stride);

			if (gap->reason == HWTD_GAP_NO_CODE &&
			    (gap->flags & HWTD_GAPF_ADDR) != 0)
				*n_new += read_piece(m, gap->addr);
		}
	if (rc == HWTD_END && hwtd_events_stats(ev, &stats) == HWTD_OK)
		printf("%" PRIu64 " instructions, %" PRIu64 " of %" PRIu64
		       " bytes lost\n",
		    stats.insns, stats.gap_bytes, stats.bytes);
	hwtd_events_close(ev);
	hwtd_trace_close(trace);
	return (rc == HWTD_END ? HWTD_OK : rc);
}

int
main(int argc, char **argv)
{
	static struct memory m;
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *ctx = NULL;
	size_t n_new;
	int rc;

	if (argc != 4) {
		fprintf(stderr, "usage: own_code TRACE MEMORY ADDRESS\n");
		return (2);
	}
	m.file = fopen(argv[2], "rb");
	m.address = strtoull(argv[3], NULL, 0);
	if (m.file == NULL) {
		perror(argv[2]);
		return (1);
	}
	rc = hwtd_context_create(NULL, &ctx, &err);
	if (rc == HWTD_OK)
		do
			rc = decode(ctx, argv[1], &m, &n_new, &err);
		while (rc == HWTD_OK && n_new > 0);
	if (rc != HWTD_OK)
		fprintf(stderr, "own_code: %s: %s\n", argv[1], err.message);
	hwtd_context_destroy(ctx);
	fclose(m.file);
	return (rc == HWTD_OK ? 0 : 1);
}
