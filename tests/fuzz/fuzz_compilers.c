/*
 * Fuzz harness of exports for compilers.  An input is a byte of choices (bits 0 and
 * 1: depth of stacks; bit 2: of one image; bit 3: not moved), the length of a name,
 * the name, a number of changes of 4 bytes each to the ELF file of the program
 * (where, in two bytes, and what), and packets of Intel PT.
 *
 * Lines are what readers expect, whatever names and headers there are; ranges do
 * not go back; counts add up to what was executed.
 */
#include <hwtdecode/hwtdecode.h>
#include <stdlib.h>

#include "fuzz.h"

#define FILE_BYTES 0x1100
#define CODE_OFF 0x1040
#define LOADED UINT64_C(0x50003000)

struct text {
	char *at;
	size_t n, cap;
};

static int
take(void *arg, const void *bytes, size_t n)
{
	struct text *text = arg;

	if (text->n + n + 1 > text->cap) {
		text->cap = 2 * (text->n + n + 1);
		text->at = realloc(text->at, text->cap);
		FUZZ_CHECK(text->at != NULL, "no memory");
	}
	memcpy(text->at + text->n, bytes, n);
	text->n += n;
	text->at[text->n] = '\0';
	return (0);
}

/* The program. */

static void
poke(uint8_t *file, size_t at, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		file[at + i] = (uint8_t)(v >> (8 * i));
}

static void
put_segment(uint8_t *file, size_t i, uint32_t flags, uint64_t off,
    uint64_t vaddr, uint64_t bytes)
{
	const size_t at = 64 + 56 * i;

	poke(file, at, 1, 4);
	poke(file, at + 4, flags, 4);
	poke(file, at + 8, off, 8);
	poke(file, at + 16, vaddr, 8);
	poke(file, at + 24, vaddr, 8);
	poke(file, at + 32, bytes, 8);
	poke(file, at + 40, bytes, 8);
	poke(file, at + 48, 4096, 8);
}

/* Loops, calls, returns, indirect branches, a system call. */
static const uint8_t program_code[] = { 0x90, 0xff, 0xc8, 0x75, 0xfb, 0xe8,
	0x06, 0, 0, 0, 0xff, 0xe0, 0x0f, 0x05, 0x74, 0xf0, 0xc3, 0xff, 0xd0,
	0xeb, 0xeb, 0x90, 0xc3 };

static void
make_file(uint8_t *file, bool fixed)
{
	static const uint8_t ident[] = { 0x7f, 'E', 'L', 'F', 2, 1, 1 };
	const uint64_t base = fixed ? LOADED - 0x3000 : 0;

	memset(file, 0, FILE_BYTES);
	memcpy(file, ident, sizeof(ident));
	poke(file, 16, fixed ? 2 : 3, 2);
	poke(file, 18, 62, 2);
	poke(file, 20, 1, 4);
	poke(file, 32, 64, 8);
	poke(file, 52, 64, 2);
	poke(file, 54, 56, 2);
	poke(file, 56, 2, 2);
	put_segment(file, 0, 4, 0, base, 0x100);
	put_segment(file, 1, 5, CODE_OFF, base + 0x3040,
	    FILE_BYTES - CODE_OFF);
	memset(file + CODE_OFF, 0x90, FILE_BYTES - CODE_OFF);
	memcpy(file + CODE_OFF, program_code, sizeof(program_code));
}

static struct hwtd_trace *
make_trace(struct hwtd_context *ctx, const char *name, const uint8_t *file,
    const struct fuzz_in *packets)
{
	const struct hwtd_image_desc image = { .size = sizeof(image),
		.path = name,
		.bytes = file,
		.n_bytes = FILE_BYTES };
	const struct hwtd_stream_desc stream = { .size = sizeof(stream),
		.tech = HWTD_TECH_INTEL_PT,
		.cpu = HWTD_NO_ID,
		.pid = 7,
		.tid = 7 };
	struct hwtd_record r = { .size = sizeof(r),
		.type = HWTD_REC_MMAP,
		.flags = HWTD_RECF_ADDR | HWTD_RECF_LEN | HWTD_RECF_FILE_OFF,
		.cpu = HWTD_NO_ID,
		.pid = 7,
		.tid = HWTD_NO_ID,
		.stream = HWTD_NO_ID,
		.addr = LOADED,
		.len = FILE_BYTES - 0x1000,
		.file_off = 0x1000 };
	struct hwtd_trace *trace = NULL;
	uint32_t id;

	FUZZ_CHECK(hwtd_trace_create(ctx, NULL, &trace, NULL) == HWTD_OK,
	    "no trace");
	if (hwtd_trace_add_image(trace, &image, &r.image, NULL) != HWTD_OK ||
	    hwtd_trace_add_record(trace, &r, NULL) != HWTD_OK ||
	    hwtd_trace_add_stream(trace, &stream, &id, NULL) != HWTD_OK ||
	    (packets->left > 0 &&
		hwtd_trace_add_bytes(trace, id, packets->at, packets->left,
		    NULL) != HWTD_OK) ||
	    hwtd_trace_seal(trace, NULL) != HWTD_OK)
		fuzz_fail(__FILE__, __LINE__, "no trace");
	return (trace);
}

/* What readers expect. */

static bool
take_hex(const char **at, uint64_t *out)
{
	const char *begin = *at;

	*out = 0;
	for (; (**at >= '0' && **at <= '9') || (**at >= 'a' && **at <= 'f');
	     (*at)++)
		*out = *out << 4 |
		    (uint64_t)(**at <= '9' ? **at - '0' : **at - 'a' + 10);
	return (*at > begin && *at - begin <= 16);
}

static bool
take_number(const char **at, uint64_t *out)
{
	const char *begin = *at;

	*out = 0;
	for (; **at >= '0' && **at <= '9'; (*at)++)
		*out = *out * 10 + (uint64_t)(**at - '0');
	return (*at > begin && *at - begin <= 19);
}

static bool
take_text(const char **at, const char *text)
{
	const size_t n = strlen(text);

	if (strncmp(*at, text, n) != 0)
		return (false);
	*at += n;
	return (true);
}

/* "N", and as many lines. */
static void
check_list(const char **at, const char *between, bool are_ranges)
{
	uint64_t n = 0, a = 0, b = 0, count = 0;

	FUZZ_CHECK(take_number(at, &n) && take_text(at, "\n"),
	    "no number of lines: %.40s", *at);
	for (uint64_t i = 0; i < n; i++) {
		FUZZ_CHECK(take_hex(at, &a) && take_text(at, between) &&
			take_hex(at, &b) && take_text(at, ":") &&
			take_number(at, &count) && take_text(at, "\n"),
		    "no line %llu: %.40s", (unsigned long long)i, *at);
		FUZZ_CHECK(!are_ranges || b - a < FILE_BYTES,
		    "a range of %llx bytes", (unsigned long long)(b - a));
		FUZZ_CHECK(count > 0, "a count of 0");
	}
}

static void
check_bolt(const char *at)
{
	uint64_t v;

	while (*at != '\0') {
		const char type = *at++;
		const char *numbers = "";
		size_t n = type == 'T' || type == 'R' ? 3 : 2;

		FUZZ_CHECK(strchr("TRFfB", type) != NULL, "type '%c'", type);
		for (; n > 0; n--)
			FUZZ_CHECK(take_text(&at, " ") && take_hex(&at, &v),
			    "no address: %.40s", at);
		FUZZ_CHECK(take_text(&at, " ") && take_number(&at, &v) &&
			v > 0,
		    "no count: %.40s", at);
		if (type == 'B')
			numbers = " 0";
		FUZZ_CHECK(take_text(&at, numbers) && take_text(&at, "\n"),
		    "no end: %.40s", at);
	}
}

static void
check_stack(const char *at)
{
	uint64_t v;

	FUZZ_CHECK(take_hex(&at, &v), "no address: %.40s", at);
	do
		FUZZ_CHECK(take_text(&at, " 0x") && take_hex(&at, &v) &&
			take_text(&at, "/0x") && take_hex(&at, &v) &&
			take_text(&at, "/-/-/-/0"),
		    "no branch: %.40s", at);
	while (*at != '\n');
}

static void
check_script(const char *at)
{
	for (; *at != '\0'; at = strchr(at, '\n') + 1) {
		const char *end = strchr(at, '\n');

		FUZZ_CHECK(end != NULL, "a line without an end");
		for (const char *c = at; c < end; c++)
			FUZZ_CHECK((unsigned char)*c >= ' ' && *c != 0x7f,
			    "control character %#x", (unsigned char)*c);
		if (!take_text(&at, "PERF_RECORD_MMAP2 "))
			check_stack(at);
	}
}

static void
check_text(uint32_t format, const char *text)
{
	switch (format) {
	case HWTD_FORMAT_LLVM_UNSYMBOLIZED:
		check_list(&text, "-", true);
		check_list(&text, "->", false);
		break;
	case HWTD_FORMAT_AUTOFDO:
		check_list(&text, "-", true);
		FUZZ_CHECK(take_text(&text, "0\n"), "samples: %.40s", text);
		check_list(&text, "->", false);
		break;
	case HWTD_FORMAT_PERF_SCRIPT:
		check_script(text);
		return;
	default:
		check_bolt(text);
		return;
	}
	FUZZ_CHECK(*text == '\0', "more: %.40s", text);
}

/* Exporting. */

static void
export_format(struct hwtd_trace *trace, uint32_t format, uint8_t choices)
{
	const struct hwtd_runs_options edges = { .size = sizeof(edges),
		.flags = HWTD_RUNS_EDGES };
	const uint32_t image = (choices & 4) != 0 ? 0 : HWTD_NO_ID;
	struct text text = { NULL, 0, 0 };
	const struct hwtd_format_options how = { .size = sizeof(how),
		.format = format,
		.write = take,
		.write_arg = &text,
		.max_depth = choices & 3 };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_runs_info info = { .size = sizeof(info) };
	struct hwtd_compiler_info told = { .size = sizeof(told) };
	struct hwtd_events *events = NULL;
	struct hwtd_runs *runs = NULL;
	struct hwtd_export *ex = NULL;
	int rc;

	if (format == HWTD_FORMAT_PERF_SCRIPT) {
		rc = hwtd_events_open(trace, NULL, &events, &err);
		if (rc == HWTD_OK)
			rc = hwtd_export_open_events(events, image, &how, &ex,
			    &err);
	} else {
		rc = hwtd_runs_open(trace, &edges, &runs, &err);
		if (rc == HWTD_OK)
			rc = hwtd_export_open_runs(runs, image, &how, &ex,
			    &err);
	}
	while (rc == HWTD_OK)
		rc = hwtd_export_write(ex, &err);
	FUZZ_CHECK(rc == HWTD_END || rc == HWTD_E_NOT_FOUND ||
		rc == HWTD_E_UNSUPPORTED || rc == HWTD_E_CORRUPT,
	    "%d: %s", rc, err.message);
	(void)take(&text, "", 0);
	if (rc == HWTD_END) {
		check_text(format, text.at);
		(void)hwtd_export_compiler_info(ex, &told);
		if (runs != NULL && hwtd_runs_info(runs, &info) == HWTD_OK)
			FUZZ_CHECK(told.insns + told.insns_elsewhere ==
				info.insns,
			    "%llu instructions of %llu",
			    (unsigned long long)(told.insns +
				told.insns_elsewhere),
			    (unsigned long long)info.insns);
	}
	free(text.at);
	hwtd_export_close(ex);
	hwtd_runs_close(runs);
	hwtd_events_close(events);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };
	const uint8_t choices = (uint8_t)fuzz_take(&in, 1);
	size_t n = (size_t)fuzz_take(&in, 1);
	struct hwtd_context *ctx = NULL;
	struct hwtd_trace *trace;
	uint8_t file[FILE_BYTES];
	char name[256];

	n = n < in.left ? n : in.left;
	memcpy(name, in.at, n);
	name[n] = '\0';
	in.at += n;
	in.left -= n;
	if (name[0] == '\0')
		strcpy(name, "program");
	make_file(file, (choices & 8) != 0);
	for (n = (size_t)fuzz_take(&in, 1); n > 0; n--) {
		const size_t at = (size_t)fuzz_take(&in, 2) % 0xb0;

		poke(file, at, fuzz_take(&in, 2), 2);
	}
	FUZZ_CHECK(hwtd_context_create(NULL, &ctx, NULL) == HWTD_OK,
	    "no context");
	trace = make_trace(ctx, name, file, &in);
	for (uint32_t format = HWTD_FORMAT_LLVM_UNSYMBOLIZED;
	     format <= HWTD_FORMAT_BOLT_LEGACY; format++)
		export_format(trace, format, choices);
	export_format(trace, HWTD_FORMAT_PERF_SCRIPT, choices);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	return (0);
}
