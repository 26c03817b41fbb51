/*
 * Runs a program under single step and writes an Intel PT trace of it, its
 * code, and the truth about what it executed.
 *
 * The files are those of the family pt-captured; see fixtures/README.md.
 */
#define _GNU_SOURCE
#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pt_model.h"

static FILE *
create(const char *directory, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "wb");
	if (file == NULL)
		err(1, "%s", path);
	return (file);
}

static void
finish(FILE *file, const char *name)
{
	if (ferror(file) != 0 || fclose(file) != 0)
		err(1, "write %s", name);
}

static void
make_directory(const char *path)
{
	if (mkdir(path, 0777) != 0 && errno != EEXIST)
		err(1, "%s", path);
}

/* Zigzag differences of neighbours, 7 bits per byte, low ones first. */
static void
write_ips(const struct run *run, uint64_t n, const char *directory)
{
	FILE *file = create(directory, "expected/0.ips");
	uint64_t last = 0;

	for (uint64_t i = 0; i < n; i++) {
		const uint64_t delta = run->ips[i] - last;
		uint64_t value = delta << 1 ^ (delta >> 63 ? UINT64_MAX : 0);

		last = run->ips[i];
		for (; value > 0x7f; value >>= 7)
			putc((int)(value & 0x7f) | 0x80, file);
		putc((int)value, file);
	}
	finish(file, "expected/0.ips");
}

/* Only ranges that executed: the rest differs from kernel to kernel. */
static void
write_code(const struct run *run, const uint64_t *position,
    const uint64_t *gone, const char *directory)
{
	FILE *code = create(directory, "code.bin");
	FILE *image = create(directory, "image.txt");
	FILE *maps = create(directory, "maps.jsonl");
	uint64_t off = 0;

	for (size_t i = 0; i < run->n_ranges; i++) {
		const struct code_range *r = &run->ranges[i];
		const uint64_t size = r->end - r->start;

		if (!r->executed)
			continue;
		fwrite(r->bytes, 1, (size_t)size, code);
		fprintf(image,
		    "code.bin %" PRIx64 " %" PRIx64 " %" PRIx64 "\n", off,
		    size, r->start);
		fprintf(maps,
		    "{\"t\":\"map\",\"addr\":\"0x%" PRIx64
		    "\",\"len\":\"0x%" PRIx64 "\",\"off\":\"0x%" PRIx64
		    "\",\"path\":\"code.bin\",\"pos\":[%" PRIu64 "]}\n",
		    r->start, size, off, position[i]);
		off += size;
	}
	for (size_t i = 0; i < run->n_ranges; i++) {
		const struct code_range *r = &run->ranges[i];

		if (r->executed && r->until < run->n)
			fprintf(maps,
			    "{\"t\":\"unmap\",\"addr\":\"0x%" PRIx64
			    "\",\"len\":\"0x%" PRIx64 "\",\"pos\":[%" PRIu64
			    "]}\n",
			    r->start, r->end - r->start, gone[i]);
	}
	finish(code, "code.bin");
	finish(image, "image.txt");
	finish(maps, "maps.jsonl");
}

/* The files themselves, as hwtdecode --maps reads it. */
static void
write_files(const struct run *run, const char *directory)
{
	FILE *maps = create(directory, "maps.txt");

	for (size_t i = 0; i < run->n_ranges; i++) {
		const struct code_range *r = &run->ranges[i];

		if (r->executed && r->path[0] == '/')
			fprintf(maps,
			    "mmap \"%s\" addr=0x%" PRIx64 " len=0x%" PRIx64
			    " off=0x%" PRIx64 "\n",
			    r->path, r->start, r->end - r->start, r->file_off);
	}
	finish(maps, "maps.txt");
}

static void
usage(void)
{
	fprintf(stderr,
	    "usage: ptcapture [-cilrt] [-m freq] [-n insns] [-p bytes]"
	    " [-q insns] outdir program [argument ...]\n"
	    "  -c  CYC packets             -i  compressed addresses\n"
	    "  -l  long TNT packets        -r  compressed returns\n"
	    "  -t  TSC at each PSB         -m  MTC packets of this period\n"
	    "  -n  stop after so many instructions\n"
	    "  -p  bytes from PSB to PSB   -q  interrupt every so many\n");
	exit(2);
}

static uint64_t
number(const char *text)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno != 0 || *end != '\0' || end == text)
		errx(2, "not a number: %s", text);
	return (value);
}

static size_t
options(int argc, char *argv[], struct model_options *o)
{
	size_t limit = SIZE_MAX;
	int c;

	while ((c = getopt(argc, argv, "+cilrtm:n:p:q:")) != -1) {
		switch (c) {
		case 'c':
			o->cyc = true;
			break;
		case 'i':
			o->ip_compression = true;
			break;
		case 'l':
			o->long_tnt = true;
			break;
		case 'r':
			o->ret_compression = true;
			break;
		case 't':
			o->tsc = true;
			break;
		case 'm':
			o->mtc_freq = (int)(number(optarg) & 15);
			break;
		case 'n':
			limit = (size_t)number(optarg);
			break;
		case 'p':
			o->psb = number(optarg);
			break;
		case 'q':
			o->interrupts = number(optarg);
			break;
		default:
			usage();
		}
	}
	if (argc - optind < 2)
		usage();
	return (limit);
}

int
main(int argc, char *argv[])
{
	struct model_options o = { .psb = 4096, .mtc_freq = -1 };
	struct pt_out out = { .data = NULL };
	struct run run = { .ips = NULL };
	struct model_counts counts;
	uint64_t *position, *gone;
	FILE *truth, *trace;
	size_t limit = options(argc, argv, &o);
	const char *directory = argv[optind];
	char expected[4096];

	tracee_run(&run, argv + optind + 1, limit);
	make_directory(directory);
	snprintf(expected, sizeof(expected), "%s/expected", directory);
	make_directory(expected);
	position = calloc(2 * run.n_ranges + 1, sizeof(*position));
	if (position == NULL)
		err(1, "ranges");
	gone = position + run.n_ranges;
	truth = create(directory, "expected/0.truth.txt");
	model_encode(&run, &o, &out, truth, position, gone, &counts);
	finish(truth, "expected/0.truth.txt");
	trace = create(directory, "0.pt");
	fwrite(out.data, 1, out.len, trace);
	finish(trace, "0.pt");
	write_code(&run, position, gone, directory);
	write_files(&run, directory);
	write_ips(&run, counts.insns, directory);
	printf("{\"insns\": %" PRIu64 ", \"bytes\": %zu, \"tnt\": %" PRIu64
	       ", \"tip\": %" PRIu64 ", \"syscalls\": %" PRIu64
	       ", \"irqs\": %" PRIu64 ", \"psbs\": %" PRIu64
	       ", \"hash\": \"0x%016" PRIx64 "\"}\n",
	    counts.insns, out.len, counts.tnt, counts.tip, counts.syscalls,
	    counts.interrupts, counts.psbs, counts.hash);
	return (0);
}
