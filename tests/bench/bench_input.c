/*
 * Cases of the benchmarks: folders with a raw trace and the code it ran.
 */
#include "bench_input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

_Noreturn void
bench_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)fputs("bench: ", stderr);
	(void)vfprintf(stderr, fmt, ap);
	(void)fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

void
bench_print_text(const char *text)
{
	(void)putchar('"');
	for (; *text != '\0'; text++)
		if (*text == '"' || *text == '\\' || (*text & 0xe0) == 0)
			(void)printf("\\u%04x", (unsigned char)*text);
		else
			(void)putchar(*text);
	(void)putchar('"');
}

static bool
read_file(const char *path, struct bench_bytes *out)
{
	FILE *f = fopen(path, "rb");
	size_t room = 65536;

	if (f == NULL) {
		if (errno == ENOENT)
			return (false);
		bench_die("%s: %s", path, strerror(errno));
	}
	out->at = malloc(room);
	out->n = 0;
	while (out->at != NULL) {
		size_t got = fread(out->at + out->n, 1, room - out->n, f);

		if (got == 0)
			break;
		out->n += got;
		if (out->n == room) {
			room *= 2;
			out->at = realloc(out->at, room);
		}
	}
	if (out->at == NULL)
		bench_die("%s: out of memory", path);
	if (ferror(f))
		bench_die("%s: cannot read", path);
	(void)fclose(f);
	return (true);
}

/* Unpack a frame that need not tell its size. */
static void
unpack(const char *path, const struct bench_bytes *packed,
    struct bench_bytes *out)
{
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	ZSTD_inBuffer in = { packed->at, packed->n, 0 };
	ZSTD_outBuffer to = { malloc(65536), 65536, 0 };
	size_t left = 1;

	while (left != 0) {
		if (zstd == NULL || to.dst == NULL)
			bench_die("%s: out of memory", path);
		left = ZSTD_decompressStream(zstd, &to, &in);
		if (ZSTD_isError(left))
			bench_die("%s: %s", path, ZSTD_getErrorName(left));
		if (left != 0 && in.pos == in.size && to.pos < to.size)
			bench_die("%s: cut off", path);
		if (to.pos == to.size) {
			to.size *= 2;
			to.dst = realloc(to.dst, to.size);
		}
	}
	(void)ZSTD_freeDCtx(zstd);
	out->at = to.dst;
	out->n = to.pos;
}

bool
bench_read(const char *path, struct bench_bytes *out)
{
	char packed_path[BENCH_PATH + 8];
	struct bench_bytes packed;

	if (read_file(path, out))
		return (true);
	(void)snprintf(packed_path, sizeof(packed_path), "%s.zst", path);
	if (!read_file(packed_path, &packed))
		return (false);
	unpack(packed_path, &packed, out);
	free(packed.at);
	return (true);
}

/* Images of the same file share its bytes. */
static void
image_bytes(struct bench_case *c, struct bench_image *image)
{
	for (size_t i = 0; i < c->n_images; i++)
		if (strcmp(c->images[i].path, image->path) == 0) {
			image->file = c->images[i].file;
			return;
		}
	if (!bench_read(image->path, &image->file))
		bench_die("%s: not there", image->path);
}

static void
add_image(struct bench_case *c, const char *folder, const char *line)
{
	struct bench_image *image;
	char file[1024];

	c->images = realloc(c->images, (c->n_images + 1) * sizeof(*image));
	if (c->images == NULL)
		bench_die("out of memory");
	image = &c->images[c->n_images];
	memset(image, 0, sizeof(*image));
	if (sscanf(line, "%1023s %" SCNx64 " %" SCNx64 " %" SCNx64, file,
		&image->offset, &image->length, &image->address) != 4)
		bench_die("%s/image.txt: cannot read \"%s\"", folder, line);
	if (snprintf(image->path, sizeof(image->path), "%s/%s", folder,
		file) >= (int)sizeof(image->path))
		bench_die("%s: name too long", folder);
	image_bytes(c, image);
	if (image->offset > image->file.n ||
	    image->length > image->file.n - image->offset)
		bench_die("%s: too short for image.txt", image->path);
	c->image_bytes += image->length;
	c->n_images++;
}

static void
load_images(struct bench_case *c, const char *folder)
{
	char path[BENCH_PATH], line[2048];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/image.txt", folder);
	f = fopen(path, "r");
	if (f == NULL)
		bench_die("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), f) != NULL)
		if (line[strspn(line, " \t\r\n")] != '\0')
			add_image(c, folder, line);
	(void)fclose(f);
}

void
bench_case_load(const char *folder, const char *trace, struct bench_case *out)
{
	static const char *const usual[] = { "trace.pt", "0.pt" };
	const char *const *names = trace != NULL ? &trace : usual;
	size_t n = trace != NULL ? 1 : 2;
	const char *base;
	char path[BENCH_PATH];

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		if (bench_read(path, &out->trace)) {
			trace = names[i];
			break;
		}
	}
	if (out->trace.at == NULL)
		bench_die("%s: no trace in it", folder);
	base = strrchr(folder, '/');
	(void)snprintf(out->name, sizeof(out->name), "%.120s/%.120s",
	    base != NULL ? base + 1 : folder, trace);
	load_images(out, folder);
}

void
bench_case_repeat(struct bench_case *c, size_t n)
{
	const struct bench_bytes once = c->trace;
	const size_t length = strlen(c->name);

	if (n < 2)
		return;
	if (n > SIZE_MAX / once.n)
		bench_die("%s: %zu times is too long", c->name, n);
	c->trace.n = n * once.n;
	c->trace.at = malloc(c->trace.n);
	if (c->trace.at == NULL)
		bench_die("out of memory");
	for (size_t i = 0; i < n; i++)
		memcpy(c->trace.at + i * once.n, once.at, once.n);
	free(once.at);
	(void)snprintf(c->name + length, sizeof(c->name) - length, " x%zu", n);
}

void
bench_case_free(struct bench_case *c)
{
	for (size_t i = 0; i < c->n_images; i++) {
		bool shared = false;

		for (size_t j = 0; j < i; j++)
			if (c->images[j].file.at == c->images[i].file.at)
				shared = true;
		if (!shared)
			free(c->images[i].file.at);
		if (!shared)
			continue;
		c->images[i].file.at = NULL;
	}
	free(c->images);
	free(c->trace.at);
	memset(c, 0, sizeof(*c));
}

void
bench_check(int rc, const struct hwtd_error *err)
{
	if (rc != HWTD_OK)
		bench_die("%s", err->message);
}

struct hwtd_trace *
bench_case_images(const struct bench_case *c, struct hwtd_context *ctx)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace *trace;

	bench_check(hwtd_trace_create(ctx, NULL, &trace, &err), &err);
	for (size_t i = 0; i < c->n_images; i++) {
		const struct bench_image *from = &c->images[i];
		struct hwtd_image_desc image = { .size = sizeof(image) };

		image.path = from->path;
		image.flags = HWTD_IMAGEF_ADDRESS;
		image.address = from->address;
		/* A file that is not packed has its symbols, too. */
		if (access(from->path, R_OK) == 0) {
			image.offset = from->offset;
			image.length = from->length;
		} else {
			image.bytes = from->file.at + from->offset;
			image.n_bytes = from->length;
		}
		bench_check(hwtd_trace_add_image(trace, &image, NULL, &err),
		    &err);
	}
	return (trace);
}

uint32_t
bench_case_stream(const struct bench_case *c, struct hwtd_trace *trace,
    const struct hwtd_pt_config *pt)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_stream_desc stream = { .size = sizeof(stream) };
	uint32_t id;

	stream.tech = HWTD_TECH_INTEL_PT;
	stream.cpu = HWTD_NO_ID;
	stream.pid = HWTD_NO_ID;
	stream.tid = HWTD_NO_ID;
	stream.pt = pt;
	bench_check(hwtd_trace_add_stream(trace, &stream, &id, &err), &err);
	bench_check(hwtd_trace_add_bytes(trace, id, c->trace.at, c->trace.n,
			&err),
	    &err);
	return (id);
}

struct hwtd_trace *
bench_case_trace(const struct bench_case *c, struct hwtd_context *ctx,
    const struct hwtd_pt_config *pt, unsigned int n_streams)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace *trace = bench_case_images(c, ctx);

	for (unsigned int i = 0; i < n_streams; i++)
		(void)bench_case_stream(c, trace, pt);
	bench_check(hwtd_trace_seal(trace, &err), &err);
	return (trace);
}
