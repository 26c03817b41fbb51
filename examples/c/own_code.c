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
#include <string.h>

#define PIECE 4096
#define ROWS 256

struct memory {
	FILE *file;
	uint64_t address;
	struct hwtd_image_desc *pieces;
	size_t n;
	size_t room;
	int failed;
};

/* Keep a piece; its bytes stay where they are when there is more of them. */
static int
keep_piece(struct memory *m, uint64_t start, const uint8_t *bytes, size_t n)
{
	uint8_t *copy = malloc(n);

	if (m->n == m->room) {
		const size_t room = m->room > 0 ? 2 * m->room : 16;
		void *more = realloc(m->pieces, room * sizeof(m->pieces[0]));

		if (more != NULL) {
			m->pieces = more;
			m->room = room;
		}
	}
	if (copy == NULL || m->n == m->room) {
		free(copy);
		return (0);
	}
	memcpy(copy, bytes, n);
	m->pieces[m->n++] = (struct hwtd_image_desc){
		.size = sizeof(m->pieces[0]),
		.path = "memory",
		.bytes = copy,
		.n_bytes = n,
		.flags = HWTD_IMAGEF_ADDRESS,
		.address = start,
	};
	return (1);
}

/* The code reader: the piece of memory around an address.  0: there is none. */
static size_t
read_piece(struct memory *m, uint64_t address)
{
	uint8_t bytes[PIECE];
	const uint64_t off = (address - m->address) / PIECE * PIECE;
	const uint64_t start = m->address + off;
	size_t n;

	for (size_t i = 0; i < m->n; i++)
		if (m->pieces[i].address == start)
			return (0);
	if (address < m->address || off > LONG_MAX ||
	    fseek(m->file, (long)off, SEEK_SET) != 0)
		return (0);
	n = fread(bytes, 1, PIECE, m->file);
	if (n == 0)
		return (0);
	if (!keep_piece(m, start, bytes, n)) {
		m->failed = 1;
		return (0);
	}
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
	struct memory m = { .file = NULL };
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
		while (rc == HWTD_OK && n_new > 0 && !m.failed);
	if (rc != HWTD_OK)
		fprintf(stderr, "own_code: %s\n", err.message);
	/* Code that did not fit is not code that is not there. */
	else if (m.failed)
		fprintf(stderr, "own_code: out of memory after %zu pieces\n",
		    m.n);
	hwtd_context_destroy(ctx);
	for (size_t i = 0; i < m.n; i++)
		free((void *)(uintptr_t)m.pieces[i].bytes);
	free(m.pieces);
	fclose(m.file);
	return (rc == HWTD_OK && !m.failed ? 0 : 1);
}
