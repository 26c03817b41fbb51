/*
 * Files that say what lay where while raw bytes were recorded.
 *
 * Source: hwtdecode(1), "Raw bytes of hwt(8)"; procstat(1); kldstat(8).
 */
#include "trace/import/map_file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/number_text.h"
#include "trace/import/file_family.h"
#include "trace/import/map_words.h"
#include "trace/import/side_file.h"

/* Which table the lines at hand are of. */
enum table {
	TABLE_NONE,
	TABLE_PROCSTAT,
	TABLE_KLDSTAT
};

struct reader {
	struct hwtdi_map_file *map;
	struct hwtd_context *ctx;
	struct hwtd_error *err;
	const char *name;
	uint32_t line;
	/* Of the lines that follow. */
	uint32_t pid;
	enum table table;
	struct hwtdi_map_words words;
};

#define MAX_KEYS 3

/* What a value of a fact is. */
enum value {
	VALUE_ADDRESS,
	VALUE_LENGTH,
	VALUE_OFFSET,
	VALUE_BASE,
	VALUE_TID,
	VALUE_NAME
};

struct key {
	const char *name;
	enum value value;
	bool needed;
};

/* Facts: a word, what stands behind it, and values of keys. */
static const struct fact {
	const char *word;
	/* An hwtd_record_type. */
	uint32_t type;
	bool has_path;
	struct key keys[MAX_KEYS];
	const char *usage;
} facts[] = {
	{ "exec", HWTD_REC_EXEC, true,
	    { { "bias", VALUE_ADDRESS, true },
		{ "interp", VALUE_BASE, false } },
	    "exec PATH bias=ADDRESS [interp=ADDRESS]" },
	{ "mmap", HWTD_REC_MMAP, true,
	    { { "addr", VALUE_ADDRESS, true }, { "len", VALUE_LENGTH, false },
		{ "off", VALUE_OFFSET, false } },
	    "mmap PATH addr=ADDRESS [len=BYTES] [off=BYTES]" },
	{ "munmap", HWTD_REC_MUNMAP, false,
	    { { "addr", VALUE_ADDRESS, false },
		{ "len", VALUE_LENGTH, false } },
	    "munmap [addr=ADDRESS [len=BYTES]]" },
	{ "load", HWTD_REC_MODULE_LOAD, true,
	    { { "addr", VALUE_ADDRESS, true } }, "load PATH addr=ADDRESS" },
	{ "interp", HWTD_REC_MODULE_LOAD, true,
	    { { "addr", VALUE_ADDRESS, true } }, "interp PATH addr=ADDRESS" },
	{ "kernel", HWTD_REC_KERNEL, true,
	    { { "addr", VALUE_ADDRESS, true },
		{ "len", VALUE_LENGTH, false } },
	    "kernel PATH addr=ADDRESS [len=BYTES]" },
	{ "module", HWTD_REC_KERNEL, true,
	    { { "addr", VALUE_ADDRESS, true },
		{ "len", VALUE_LENGTH, false } },
	    "module PATH addr=ADDRESS [len=BYTES]" },
	{ "thread", HWTD_REC_THREAD_CREATE, false,
	    { { "tid", VALUE_TID, false }, { "name", VALUE_NAME, false } },
	    "thread INDEX [tid=ID] [name=NAME]" },
};

#define FACTS (sizeof(facts) / sizeof(facts[0]))

/* HWTD_E_CORRUPT "FILE: line N: message". */
static int fail(const struct reader *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static int
fail(const struct reader *r, const char *fmt, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return (hwtdi_fail(r->err, HWTD_E_CORRUPT,
	    "%.60s: line %" PRIu32 ": %s", r->name, r->line, text));
}

/* Records. */

static struct hwtd_record
record_of(const struct reader *r, uint32_t type)
{
	const struct hwtd_record record = {
		.size = sizeof(record),
		.type = type,
		.cpu = HWTD_NO_ID,
		.pid = r->pid,
		.tid = HWTD_NO_ID,
		.stream = HWTD_NO_ID,
		.image = HWTD_NO_ID,
	};

	return (record);
}

static int
keep(struct reader *r, const struct hwtd_record *record)
{
	struct hwtdi_map_file *map = r->map;
	int rc;

	if (record->name != NULL && strlen(record->name) > HWTDI_TEXT_MAX)
		return (fail(r, "a path of %zu bytes; at most %u",
		    strlen(record->name), HWTDI_TEXT_MAX));
	if ((record->flags & HWTD_RECF_LEN) != 0 && record->len != 0 &&
	    record->len - 1 > UINT64_MAX - record->addr)
		return (fail(r,
		    "%#" PRIx64 " bytes from %#" PRIx64
		    " on are more than there are addresses",
		    record->len, record->addr));
	rc = hwtdi_array_grow(r->ctx, &map->records, &map->cap_records,
	    map->n_records + 1, sizeof(*map->records), r->err);
	if (rc == HWTD_OK)
		map->records[map->n_records++] = *record;
	return (rc);
}

static int
keep_thread(struct reader *r, uint32_t index, const struct hwtd_record *record)
{
	struct hwtdi_map_file *map = r->map;
	struct hwtd_record create = *record;
	int rc;

	for (size_t i = 0; i < map->n_threads; i++)
		if (map->threads[i].index == index)
			return (fail(r,
			    "thread %" PRIu32 " is in line %" PRIu32
			    " already",
			    index, map->threads[i].line));
	if (map->n_threads == HWTDI_FAMILY_MAX)
		return (fail(r, "more than %u threads", HWTDI_FAMILY_MAX));
	rc = hwtdi_array_grow(r->ctx, &map->threads, &map->cap_threads,
	    map->n_threads + 1, sizeof(*map->threads), r->err);
	if (rc != HWTD_OK)
		return (rc);
	map->threads[map->n_threads++] = (struct hwtdi_map_thread){
		.index = index,
		.tid = record->tid,
		.line = r->line
	};
	if (create.tid == HWTD_NO_ID)
		create.tid = index;
	create.name = NULL;
	rc = keep(r, &create);
	if (rc != HWTD_OK || record->name == NULL)
		return (rc);
	create.type = HWTD_REC_THREAD_NAME;
	create.name = record->name;
	return (keep(r, &create));
}

/* Facts. */

/* An id, of processes, threads or hwt(4). */
static int
read_id(const struct reader *r, const char *what, const char *text,
    const char *usage, uint32_t *out)
{
	uint64_t value;

	if (!hwtdi_number_of(text, strlen(text), &value) ||
	    value >= HWTD_NO_ID - 1)
		return (fail(r,
		    "%s '%.40s' is no number up to %u; expected %s", what,
		    text, HWTD_NO_ID - 2, usage));
	*out = (uint32_t)value;
	return (HWTD_OK);
}

static int
take_value(const struct reader *r, const struct fact *fact,
    const struct key *key, char *text, struct hwtd_record *record)
{
	uint64_t value = 0;

	if (key->value == VALUE_NAME) {
		record->name = text;
		return (HWTD_OK);
	}
	if (key->value == VALUE_TID)
		return (read_id(r, "tid", text, fact->usage, &record->tid));
	if (!hwtdi_number_of(text, strlen(text), &value))
		return (fail(r,
		    "%s= has '%.40s', which is no number; expected 0x... or "
		    "decimal digits",
		    key->name, text));
	switch (key->value) {
	case VALUE_ADDRESS:
		record->addr = value;
		record->flags |= HWTD_RECF_ADDR;
		break;
	case VALUE_LENGTH:
		if (value == 0)
			return (fail(r, "len=0; expected 1 or more"));
		record->len = value;
		record->flags |= HWTD_RECF_LEN;
		break;
	case VALUE_OFFSET:
		record->file_off = value;
		record->flags |= HWTD_RECF_FILE_OFF;
		break;
	default:
		record->base = value;
		record->flags |= HWTD_RECF_BASE;
		break;
	}
	return (HWTD_OK);
}

static int
read_values(struct reader *r, const struct fact *fact,
    struct hwtd_record *record)
{
	bool seen[MAX_KEYS] = { false };
	char *word;

	while ((word = hwtdi_map_word(&r->words)) != NULL) {
		char *value = strchr(word, '=');
		size_t i = 0;
		int rc;

		if (value != NULL)
			*value++ = '\0';
		while (i < MAX_KEYS && fact->keys[i].name != NULL &&
		    strcmp(fact->keys[i].name, word) != 0)
			i++;
		if (value == NULL || i == MAX_KEYS ||
		    fact->keys[i].name == NULL)
			return (fail(r, "'%.40s' is not known; expected %s",
			    word, fact->usage));
		if (seen[i])
			return (fail(r, "%s= is there twice", word));
		seen[i] = true;
		rc = take_value(r, fact, &fact->keys[i], value, record);
		if (rc != HWTD_OK)
			return (rc);
	}
	if (r->words.why != NULL)
		return (fail(r, "%s; expected %s", r->words.why, fact->usage));
	for (size_t i = 0; i < MAX_KEYS && fact->keys[i].name != NULL; i++)
		if (fact->keys[i].needed && !seen[i])
			return (fail(r, "%s= is missing; expected %s",
			    fact->keys[i].name, fact->usage));
	if ((record->flags & HWTD_RECF_LEN) != 0 &&
	    (record->flags & HWTD_RECF_ADDR) == 0)
		return (fail(r, "len= without addr=; expected %s",
		    fact->usage));
	return (HWTD_OK);
}

static int
read_fact(struct reader *r, const struct fact *fact)
{
	struct hwtd_record record = record_of(r, fact->type);
	const bool is_thread = fact->type == HWTD_REC_THREAD_CREATE;
	uint32_t index = 0;
	char *word;
	int rc = HWTD_OK;

	if (fact->type == HWTD_REC_KERNEL)
		record.pid = HWTD_NO_ID;
	if (fact->has_path || is_thread) {
		word = hwtdi_map_word(&r->words);
		if (r->words.why != NULL)
			return (fail(r, "%s; expected %s", r->words.why,
			    fact->usage));
		if (word == NULL || word[0] == '\0')
			return (fail(r, "%s is missing; expected %s",
			    is_thread ? "a number" : "a path", fact->usage));
		if (is_thread)
			rc = read_id(r, "thread", word, fact->usage, &index);
		else
			record.name = word;
	}
	if (rc == HWTD_OK)
		rc = read_values(r, fact, &record);
	if (rc != HWTD_OK)
		return (rc);
	return (is_thread ? keep_thread(r, index, &record) : keep(r, &record));
}

static void
take_pid(struct reader *r, uint32_t pid)
{
	/* Bytes are of the first process that is told. */
	if (r->map->pid_plus_1 == 0)
		r->map->pid_plus_1 = pid + 1;
	r->pid = pid;
}

/* A word that stands alone, with one behind it. */
static int
read_setting(struct reader *r, const char *name, const char *usage)
{
	char *word = hwtdi_map_word(&r->words);
	uint32_t pid = 0;
	int rc;

	if (word == NULL || hwtdi_map_word(&r->words) != NULL)
		return (fail(r, "expected %s", usage));
	if (strcmp(name, "pid") == 0) {
		rc = read_id(r, "pid", word, usage, &pid);
		if (rc == HWTD_OK)
			take_pid(r, pid);
		return (rc);
	}
	if (strcmp(word, "cpus") != 0 && strcmp(word, "threads") != 0)
		return (fail(r, "'%.40s' is not known; expected %s", word,
		    usage));
	r->map->by_cpu = word[0] == 'c';
	return (HWTD_OK);
}

/* Tables. */

static bool
is_digits(const char *text)
{
	return (text[0] != '\0' && strspn(text, "0123456789") == strlen(text));
}

/* A number in a column of a table, hexadecimal with 0x or without. */
static bool
hex_column(const char *text, uint64_t *out)
{
	if (text != NULL && text[0] == '0' && text[1] == 'x')
		text += 2;
	return (text != NULL && hwtdi_hex_of(text, strlen(text), out));
}

/* PID START END PRT RES PRES REF SHD FLAG TP PATH */
static int
read_mapping(struct reader *r, const char *pid)
{
	static const char expected[] = "a line of procstat -v: PID START END "
				       "PRT RES PRES REF SHD FLAG TP "
				       "PATH";
	struct hwtd_record record = record_of(r, HWTD_REC_MMAP);
	const char *columns[9];
	uint64_t end = 0;
	int rc;

	for (size_t i = 0; i < 9; i++) {
		columns[i] = hwtdi_map_column(&r->words);
		if (columns[i] == NULL)
			return (fail(r, "column %zu is missing; expected %s",
			    i + 2, expected));
	}
	rc = read_id(r, "PID", pid, expected, &record.pid);
	if (rc != HWTD_OK)
		return (rc);
	if (!hex_column(columns[0], &record.addr) ||
	    !hex_column(columns[1], &end) || end <= record.addr)
		return (fail(r,
		    "no range is at '%.20s' to '%.20s'; expected %s",
		    columns[0], columns[1], expected));
	if (r->map->pid_plus_1 == 0)
		r->map->pid_plus_1 = record.pid + 1;
	record.name = hwtdi_map_rest(&r->words);
	/* Only files that are executed tell of code. */
	if (strchr(columns[2], 'x') == NULL || strcmp(columns[8], "vn") != 0 ||
	    record.name[0] == '\0')
		return (HWTD_OK);
	record.len = end - record.addr;
	record.flags = HWTD_RECF_ADDR | HWTD_RECF_LEN;
	return (keep(r, &record));
}

/* Id Refs Address Size Name */
static int
read_linked(struct reader *r)
{
	struct hwtd_record record = record_of(r, HWTD_REC_KERNEL);
	const char *refs = hwtdi_map_column(&r->words);
	const char *address = hwtdi_map_column(&r->words);
	const char *size = hwtdi_map_column(&r->words);

	record.name = hwtdi_map_rest(&r->words);
	record.pid = HWTD_NO_ID;
	if (refs == NULL || !is_digits(refs) ||
	    !hex_column(address, &record.addr) ||
	    !hex_column(size, &record.len) || record.len == 0 ||
	    record.name[0] == '\0')
		return (fail(r,
		    "expected a line of kldstat: Id Refs Address Size Name"));
	record.flags = HWTD_RECF_ADDR | HWTD_RECF_LEN;
	return (keep(r, &record));
}

/* The head of a table; all others are facts. */
static bool
is_head(struct reader *r, const char *line, const char *word)
{
	if (strcmp(word, "PID") == 0 && strstr(line, "START") != NULL)
		r->table = TABLE_PROCSTAT;
	else if (strcmp(word, "Id") == 0 && strstr(line, "Refs") != NULL)
		r->table = TABLE_KLDSTAT;
	else
		return (false);
	return (true);
}

static int
read_line(struct reader *r, char *line)
{
	char *word;

	r->words.at = line;
	r->words.why = NULL;
	word = hwtdi_map_word(&r->words);
	if (r->words.why != NULL)
		return (fail(r, "%s", r->words.why));
	if (word == NULL || is_head(r, r->words.at, word))
		return (HWTD_OK);
	if (is_digits(word) && r->table == TABLE_KLDSTAT)
		return (read_linked(r));
	if (is_digits(word))
		return (read_mapping(r, word));
	r->table = TABLE_NONE;
	if (strcmp(word, "pid") == 0)
		return (read_setting(r, word, "pid NUMBER"));
	if (strcmp(word, "numbers") == 0)
		return (read_setting(r, word, "numbers threads|cpus"));
	for (size_t i = 0; i < FACTS; i++)
		if (strcmp(facts[i].word, word) == 0)
			return (read_fact(r, &facts[i]));
	return (fail(r,
	    "'%.30s' is not known; expected exec, mmap, munmap, load, interp, "
	    "kernel, module, thread, pid, numbers, or a table",
	    word));
}

static int
read_text(struct reader *r, char *text, size_t n)
{
	int rc = HWTD_OK;

	for (size_t at = 0; rc == HWTD_OK && at < n;) {
		char *line = text + at;
		char *stop = memchr(line, '\n', n - at);
		const size_t length = stop != NULL ? (size_t)(stop - line)
						   : n - at;

		r->line++;
		line[length] = '\0';
		at += length + 1;
		rc = memchr(line, '\0', length) != NULL
		    ? fail(r, "a NUL character; expected text")
		    : read_line(r, line);
	}
	return (rc);
}

int
hwtdi_map_file_read(struct hwtdi_map_file *map, struct hwtd_trace *trace,
    const char *path, uint32_t pid_plus_1, struct hwtd_error *err)
{
	const char *slash = strrchr(path, '/');
	struct hwtd_context *ctx = trace->library;
	struct reader r = { .map = map,
		.ctx = ctx,
		.err = err,
		.name = slash != NULL ? slash + 1 : path,
		.pid = pid_plus_1 != 0 ? pid_plus_1 - 1 : HWTD_NO_ID };
	struct hwtdi_side_file file;
	uint8_t *text;
	int rc;

	memset(map, 0, sizeof(*map));
	map->pid_plus_1 = pid_plus_1;
	rc = hwtdi_side_code_read(&file, trace, path, HWTDI_MAP_MAX_TEXT, err);
	if (rc != HWTD_OK || file.n == 0)
		return (rc);
	text = hwtdi_resize(ctx, file.bytes, file.n, file.n + 1);
	if (text == NULL) {
		hwtdi_side_file_fini(&file, ctx);
		return (hwtdi_fail_nomem(err, file.n + 1));
	}
	map->text = (char *)text;
	map->room = file.n + 1;
	rc = read_text(&r, map->text, file.n);
	if (rc != HWTD_OK)
		hwtdi_map_file_fini(map, ctx);
	return (rc);
}

void
hwtdi_map_file_fini(struct hwtdi_map_file *map, struct hwtd_context *ctx)
{
	hwtdi_free(ctx, map->text, map->room);
	hwtdi_array_free(ctx, map->records, map->cap_records,
	    sizeof(*map->records));
	hwtdi_array_free(ctx, map->threads, map->cap_threads,
	    sizeof(*map->threads));
	memset(map, 0, sizeof(*map));
}

uint32_t
hwtdi_map_file_tid(const struct hwtdi_map_file *map, uint32_t index)
{
	for (size_t i = 0; i < map->n_threads; i++)
		if (map->threads[i].index == index)
			return (map->threads[i].tid != HWTD_NO_ID
				? map->threads[i].tid
				: index);
	return (HWTD_NO_ID);
}

int
hwtdi_map_file_add(const struct hwtdi_map_file *map, struct hwtd_trace *trace,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; rc == HWTD_OK && i < map->n_records; i++)
		rc = hwtd_trace_add_record(trace, &map->records[i], err);
	return (rc);
}
