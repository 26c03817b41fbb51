/*
 * Cases of the benchmarks: a raw trace and the code it ran, read from a
 * folder, whether stored as they are or compressed with zstd.
 */
#ifndef BENCH_INPUT_H
#define BENCH_INPUT_H

#include <hwtdecode/hwtdecode.h>

#define BENCH_PATH 4096

/* Of functions that callgrind finds by their names. */
#define BENCH_NOINLINE __attribute__((noinline))

struct bench_bytes {
	uint8_t *at;
	size_t n;
};

/* A line of image.txt: a part of a file and where it is mapped. */
struct bench_image {
	char path[BENCH_PATH];
	struct bench_bytes file;
	uint64_t offset;
	uint64_t length;
	uint64_t address;
};

struct bench_case {
	/* The last part of the folder's name, and the trace file's. */
	char name[256];
	struct bench_bytes trace;
	struct bench_image *images;
	size_t n_images;
	/* Of code that is mapped. */
	uint64_t image_bytes;
};

/*
 * Read `path`, or `path`.zst unpacked.  False if neither is there; damage
 * ends the program.
 */
bool bench_read(const char *path, struct bench_bytes *out);

/*
 * Read `folder`: image.txt, and the trace of this file name, or, if NULL,
 * trace.pt or 0.pt.  Failure ends the program with a message.
 */
void bench_case_load(const char *folder, const char *trace,
    struct bench_case *out);
void bench_case_free(struct bench_case *c);

/* A long trace that repeats itself: so many times the bytes of the case. */
void bench_case_repeat(struct bench_case *c, size_t n);

/*
 * A trace of no Intel PT stream yet, only with the code; and a stream with the
 * bytes of the case.  Failure ends the program.
 */
struct hwtd_trace *bench_case_images(const struct bench_case *c,
    struct hwtd_context *ctx);
uint32_t bench_case_stream(const struct bench_case *c,
    struct hwtd_trace *trace, const struct hwtd_pt_config *pt);

/* A sealed trace of so many streams, all with the bytes of the case. */
struct hwtd_trace *bench_case_trace(const struct bench_case *c,
    struct hwtd_context *ctx, const struct hwtd_pt_config *pt,
    unsigned int n_streams);

/*
 * How the trace was recorded, as the folder's case.json says, if there is one:
 * see its `params`.
 */
void bench_case_config(const char *folder, struct hwtd_pt_config *out);

/* End the program with the message, unless the result is HWTD_OK. */
void bench_check(int rc, const struct hwtd_error *err);

/* A text as a JSON string: names are made of those of folders and files. */
void bench_print_text(const char *text);

_Noreturn void bench_die(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

#endif /* BENCH_INPUT_H */
