/*
 * Writes an example trace: raw bytes, and the program that they are of.
 *
 *     pack pt|spe OUTPUT PROGRAM ADDRESS ORIGIN BYTES ...
 *
 * Each file of bytes is a stream.  The whole file of the program is stored, not
 * only its code as `hwtdecode archive` does it, so that its symbols and lines
 * are in the trace.  ADDRESS is where its first page with code lies.
 */
#include <hwtdecode/hwtdecode.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The CPU that tests/tools/ptcapture makes up, see its pt_model.h. */
static const struct hwtd_pt_config pt = {
	.size = sizeof(pt),
	.cpu_family = 6,
	.cpu_model = 0x55,
	.cpu_stepping = 4,
	.mtc_freq = 3,
	.nom_freq = 30,
	.cpuid_15h_eax = 2,
	.cpuid_15h_ebx = 250,
};

/* That of model_spe.py. */
static struct hwtd_spe_config spe = {
	.size = sizeof(spe),
	.version = 1,
	.owner = HWTD_SPE_OWNER_PROCESS,
	.counter_bits = 12,
	.interval = 1024,
};

static struct hwtd_error err = { .size = sizeof(err) };

static void
must(int rc)
{
	if (rc != HWTD_OK) {
		fprintf(stderr, "pack: %s\n", err.message);
		exit(1);
	}
}

static void *
read_file(const char *path, size_t *n_out)
{
	FILE *file = fopen(path, "rb");
	size_t room = 1 << 20;
	char *bytes = malloc(room);

	if (file == NULL || bytes == NULL) {
		perror(path);
		exit(1);
	}
	*n_out = fread(bytes, 1, room, file);
	if (*n_out == room) {
		fprintf(stderr, "%s: larger than 1 MiB\n", path);
		exit(1);
	}
	fclose(file);
	return (bytes);
}

static void
add_stream(struct hwtd_trace *trace, bool is_pt, uint32_t id, uint32_t cpu,
    const char *path)
{
	struct hwtd_stream_desc stream = { .size = sizeof(stream) };
	size_t n;
	void *bytes = read_file(path, &n);

	stream.cpu = is_pt ? HWTD_NO_ID : cpu;
	stream.pid = stream.tid = is_pt ? id : HWTD_NO_ID;
	if (is_pt) {
		stream.tech = HWTD_TECH_INTEL_PT;
		stream.pt = &pt;
	} else {
		stream.tech = HWTD_TECH_SPE;
		stream.spe = &spe;
		stream.clock.counts_per = 1;
		stream.clock.ns_per = 40;
	}
	must(hwtd_trace_add_stream(trace, &stream, &cpu, &err));
	must(hwtd_trace_add_bytes(trace, cpu, bytes, n, &err));
	free(bytes);
}

static void
add_record(struct hwtd_trace *trace, uint32_t type, uint32_t id,
    struct hwtd_record r)
{
	r.size = sizeof(r);
	r.type = type;
	r.cpu = r.stream = HWTD_NO_ID;
	r.pid = r.tid = id;
	must(hwtd_trace_add_record(trace, &r, &err));
}

static void
add_program(struct hwtd_trace *trace, uint32_t id, const char *path,
    uint64_t address)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	size_t n;
	void *bytes = read_file(path, &n);
	uint32_t image;

	must(hwtd_trace_add_image(trace,
	    &(struct hwtd_image_desc){ .size = sizeof(struct hwtd_image_desc),
		.path = name,
		.bytes = bytes,
		.n_bytes = n },
	    &image, &err));
	add_record(trace, HWTD_REC_EXEC, id,
	    (struct hwtd_record){ .image = HWTD_NO_ID });
	add_record(trace, HWTD_REC_THREAD_NAME, id,
	    (struct hwtd_record){ .image = HWTD_NO_ID, .name = name });
	add_record(trace, HWTD_REC_MMAP, id,
	    (struct hwtd_record){ .flags = HWTD_RECF_ADDR | HWTD_RECF_LEN |
		    HWTD_RECF_FILE_OFF,
		.image = image,
		.addr = address,
		.len = 0x1000,
		.name = name });
	free(bytes);
}

int
main(int argc, char *argv[])
{
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	struct hwtd_trace_options options = { .size = sizeof(options) };
	struct hwtd_save_options save = { .size = sizeof(save),
		.level = 19,
		.flags = HWTD_SAVE_IMAGES };
	/* Processes, of no machine that there is. */
	const bool is_pt = argc > 1 && strcmp(argv[1], "pt") == 0;
	const uint32_t id = is_pt ? 1001 : 2002;

	if (argc < 7) {
		fprintf(stderr,
		    "usage: pack pt|spe OUTPUT PROGRAM ADDRESS ORIGIN BYTES "
		    "...\n");
		return (2);
	}
	options.origin = argv[5];
	spe.midr = hwtd_spe_cpu_midr("neoverse-n1");

	must(hwtd_context_create(NULL, &ctx, &err));
	must(hwtd_trace_create(ctx, &options, &trace, &err));
	for (int i = 6; i < argc; i++)
		add_stream(trace, is_pt, id, (uint32_t)i - 6, argv[i]);
	add_program(trace, id, argv[3], strtoull(argv[4], NULL, 0));
	must(hwtd_trace_seal(trace, &err));
	must(hwtd_trace_save(trace, argv[2], &save, &err));
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	return (0);
}
