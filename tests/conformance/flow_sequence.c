/*
 * The sink that compares every executed address with a list: each address as
 * the difference to the one before (the first to 0), zigzag encoded, in bytes
 * of 7 bits, low ones first, bit 7 set in all but the last.
 */
#include "flow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COMPLAINTS 5

struct sequence {
	struct flow_sink sink;
	FILE *list;
	FILE *out;
	const char *path;
	uint64_t address;
	uint64_t n;
	uint64_t wrong;
	bool short_list;
};

/* Read the next address.  False: the list ends. */
static bool
next(struct sequence *sequence)
{
	uint64_t code = 0, delta;
	unsigned int shift = 0;
	int byte;

	do {
		byte = getc(sequence->list);
		if (byte == EOF && shift == 0)
			return (false);
		if (byte == EOF || shift > 63)
			flow_die("%s: no list of addresses", sequence->path);
		code |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) != 0);
	delta = (code & 1) != 0 ? ~(code >> 1) : code >> 1;
	sequence->address += delta;
	return (true);
}

static void
sequence_rows(struct flow_sink *sink, const struct hwtd_batch *batch)
{
	struct sequence *sequence = (struct sequence *)(void *)sink;

	for (size_t i = 0; i < batch->n && !sequence->short_list; i++) {
		const struct hwtd_event *row = &batch->events[i];

		if (row->kind != HWTD_EV_INSN)
			continue;
		if (!next(sequence)) {
			sequence->short_list = true;
			fprintf(sequence->out,
			    "sequence: %" PRIx64 " executes, the list ended\n",
			    row->ip);
			break;
		}
		if (row->ip != sequence->address &&
		    ++sequence->wrong <= MAX_COMPLAINTS)
			fprintf(sequence->out,
			    "sequence: %" PRIx64 " executes after %" PRIu64
			    " instructions, the "
			    "list says %" PRIx64 "\n",
			    row->ip, sequence->n, sequence->address);
		sequence->n++;
	}
}

static bool
sequence_end(struct flow_sink *sink)
{
	struct sequence *sequence = (struct sequence *)(void *)sink;
	bool good = !sequence->short_list && sequence->wrong == 0;

	if (!sequence->short_list && next(sequence)) {
		fprintf(sequence->out,
		    "sequence: the decode ends, the list "
		    "goes on with %" PRIx64 "\n",
		    sequence->address);
		good = false;
	}
	fprintf(sequence->out,
	    "sequence: %" PRIu64 " addresses, %" PRIu64 " wrong\n",
	    sequence->n, sequence->wrong);
	fclose(sequence->list);
	free(sequence);
	return (good);
}

struct flow_sink *
flow_sequence(const char *path, FILE *out)
{
	struct sequence *sequence = flow_alloc(sizeof(*sequence));

	*sequence = (struct sequence){
		.sink = { .rows = sequence_rows, .end = sequence_end },
		.list = fopen(path, "rb"),
		.out = out,
		.path = path,
	};
	if (sequence->list == NULL)
		flow_die("%s: %s", path, strerror(errno));
	return (&sequence->sink);
}
