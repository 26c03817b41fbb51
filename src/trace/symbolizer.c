/*
 * Names of code: which image and file has an address, and what they say of it.
 *
 * Answers are kept by image and offset, so that code that runs often is looked up
 * once; texts and frames are kept once each for as long as the symbolizer is
 * open.
 */
#include "trace/symbolizer.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/text_pool.h"
#include "base/users.h"
#include "image/dwarf_walk.h"
#include "image/symbol_text.h"
#include "trace/search_copy.h"
#include "trace/symbol_image.h"
#include "trace/trace_internal.h"

/* Answers that are kept; a power of 2. */
#define ANSWERS 4096u

#define DEFAULT_CACHE ((uint64_t)256 << 20)

/* Bytes of a path of a source file. */
#define PATH_ROOM 16384u

#define KNOWN_FLAGS                                                           \
	(HWTD_SYMBOLIZER_NO_LINES | HWTD_SYMBOLIZER_RAW_NAMES |               \
	    HWTD_SYMBOLIZER_NO_DEBUG_FILES)
#define KNOWN_WHERE                                                           \
	(HWTD_WHERE_SECTION | HWTD_WHERE_IMAGE | HWTD_WHERE_PID |             \
	    HWTD_WHERE_CONTEXT | HWTD_WHERE_OFFSET | HWTD_WHERE_TIME)

/* Where debuggers look for debug information. */
static const char *const system_dirs[] = { "/usr/lib/debug" };

struct answer {
	bool given;
	uint32_t image;
	uint64_t file_off;
	struct hwtd_symbol symbol;
};

struct chain {
	struct hwtd_symbol_frame *frames;
	uint32_t n;
};

struct hwtd_symbolizer {
	struct hwtdi_users users;
	struct hwtd_trace *trace;
	struct hwtd_context *library;
	pthread_mutex_t lock;
	uint32_t flags;
	/* Bytes of debug information that are held, and how many may be. */
	uint64_t cached, max_cache;
	/* Places to look at; those of the caller are a copy. */
	struct hwtdi_search search;
	const char **dirs;
	size_t n_dirs;
	struct hwtdi_symbol_search where;
	/* By image. */
	struct hwtdi_symbol_image *images;
	size_t n_images;
	struct answer *answers;
	struct hwtdi_text_pool texts;
	/* Frames that are kept, each list once. */
	struct chain *chains;
	size_t n_chains, cap_chains;
	struct hwtdi_index chain_index;
	struct hwtdi_dwarf_frame found[HWTDI_DWARF_DEPTH_MAX];
	struct hwtd_symbol_frame frames[HWTDI_DWARF_DEPTH_MAX];
	char path[PATH_ROOM];
	char text[HWTDI_SYMBOL_TEXT_MAX];
};

/* Texts and frames. */

static int
keep(struct hwtd_symbolizer *s, const char *text, const char **out,
    struct hwtd_error *err)
{
	uint32_t no;
	int rc;

	rc = hwtdi_text_pool_add(&s->texts, s->library, text, &no, err);
	*out = rc == HWTD_OK ? hwtdi_text_pool_get(&s->texts, no) : NULL;
	return (rc);
}

/* As people write it; false: it is written as it is. */
static bool
demangle(struct hwtd_symbolizer *s, const char *name)
{
	return (name != NULL && (s->flags & HWTD_SYMBOLIZER_RAW_NAMES) == 0 &&
	    hwtdi_symbol_text(name, s->text, sizeof(s->text)));
}

static int
keep_frame(struct hwtd_symbolizer *s, const struct hwtdi_dwarf_frame *f,
    struct hwtd_symbol_frame *out, struct hwtd_error *err)
{
	const char *name = f->linkage_name != NULL ? f->linkage_name : f->name;
	int rc;

	memset(out, 0, sizeof(*out));
	out->line = f->line;
	out->column = f->column;
	out->discriminator = f->discriminator;
	rc = keep(s, f->linkage_name, &out->linkage_name, err);
	if (rc == HWTD_OK)
		rc = keep(s, demangle(s, name) ? s->text : name,
		    &out->function, err);
	if (rc == HWTD_OK)
		rc = keep(s,
		    hwtdi_dwarf_frame_path(f, s->path, sizeof(s->path)),
		    &out->file, err);
	return (rc);
}

static int
keep_chain(struct hwtd_symbolizer *s, uint32_t n, struct hwtd_symbol *out,
    struct hwtd_error *err)
{
	const size_t bytes = n * sizeof(s->frames[0]);
	const uint64_t hash = hwtdi_hash(s->library, s->frames, bytes);
	struct chain new = { .n = n };
	size_t tries = 0;
	uint32_t no;
	int rc;

	out->n_frames = n;
	while (hwtdi_index_next(&s->chain_index, hash, &tries, &no))
		if (s->chains[no].n == n &&
		    memcmp(s->chains[no].frames, s->frames, bytes) == 0) {
			out->frames = s->chains[no].frames;
			return (HWTD_OK);
		}
	rc = hwtdi_index_reserve(&s->chain_index, s->library, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(s->library, &s->chains, &s->cap_chains,
		    s->n_chains + 1, sizeof(new), err);
	if (rc != HWTD_OK)
		return (rc);
	new.frames = hwtdi_alloc(s->library, bytes);
	if (new.frames == NULL)
		return (hwtdi_fail_nomem(err, bytes));
	memcpy(new.frames, s->frames, bytes);
	hwtdi_index_put(&s->chain_index, hash, (uint32_t)s->n_chains);
	s->chains[s->n_chains++] = new;
	out->frames = new.frames;
	return (HWTD_OK);
}

/* What files say. */

static int
set_symbol(struct hwtd_symbolizer *s, const struct hwtdi_elf_name *name,
    uint64_t address, struct hwtd_symbol *out, struct hwtd_error *err)
{
	const bool stub = (name->flags & HWTDI_ELF_NAME_STUB) != 0;
	const char *text = name->name;
	int rc;

	out->offset = address - name->address;
	out->symbol_size = name->size;
	out->symbol_address = name->address;
	if (stub)
		out->flags |= HWTD_SYMBOLF_PLT;
	if ((name->flags & HWTDI_ELF_NAME_FINDER) != 0)
		out->flags |= HWTD_SYMBOLF_FINDER;
	if (name->size == 0)
		out->flags |= HWTD_SYMBOLF_GUESSED;
	rc = keep(s, text, &out->name, err);
	if (rc != HWTD_OK)
		return (rc);
	if (demangle(s, text)) {
		out->flags |= HWTD_SYMBOLF_DEMANGLED;
		text = s->text;
	}
	if (stub) {
		const size_t n = strlen(text);

		if (n + sizeof("@plt") > sizeof(s->text))
			return (keep(s, text, &out->text, err));
		memmove(s->text, text, n);
		memcpy(s->text + n, "@plt", sizeof("@plt"));
		text = s->text;
	}
	return (keep(s, text, &out->text, err));
}

static int
set_fault(struct hwtd_symbolizer *s, const struct hwtd_error *fault,
    struct hwtd_symbol *out, struct hwtd_error *err)
{
	return (fault == NULL || fault->code == HWTD_OK || out->fault != NULL
		? HWTD_OK
		: keep(s, fault->message, &out->fault, err));
}

/* Give up what was read of debug information, of this image half of it. */
static void
trim(struct hwtd_symbolizer *s, const struct hwtdi_symbol_image *now)
{
	s->cached = 0;
	for (size_t i = 0; i < s->n_images; i++) {
		struct hwtdi_symbol_image *image = &s->images[i];

		if (image->dwarf == NULL)
			continue;
		hwtdi_dwarf_image_trim(image->dwarf,
		    image == now ? s->max_cache / 2 : 0);
		s->cached += hwtdi_dwarf_image_bytes(image->dwarf);
	}
}

static int
set_frames(struct hwtd_symbolizer *s, struct hwtdi_symbol_image *image,
    uint64_t address, struct hwtd_symbol *out, struct hwtd_error *err)
{
	const uint64_t before = hwtdi_dwarf_image_bytes(image->dwarf);
	struct hwtd_error inner = { .size = sizeof(inner) };
	size_t n;
	int rc;

	rc = hwtdi_dwarf_image_find(image->dwarf, address, s->found, &n,
	    &inner);
	if (hwtdi_fail_is_final(rc))
		return (hwtdi_fail_pass(err, &inner));
	/* Also that a file is not there that has more; not that no unit has it. */
	rc = rc != HWTD_OK ? set_fault(s, &inner, out, err) : HWTD_OK;
	for (size_t i = 0; rc == HWTD_OK && i < n; i++) {
		rc = keep_frame(s, &s->found[i], &s->frames[i], err);
		if (i + 1 < n)
			s->frames[i].flags = HWTD_FRAMEF_INLINED;
	}
	if (rc == HWTD_OK && n > 0)
		rc = keep_chain(s, (uint32_t)n, out, err);
	s->cached += hwtdi_dwarf_image_bytes(image->dwarf) - before;
	if (s->cached > s->max_cache)
		trim(s, image);
	return (rc);
}

static int
look_up(struct hwtd_symbolizer *s, uint32_t no, uint64_t file_off,
    struct hwtd_symbol *out, struct hwtd_error *err)
{
	struct hwtdi_symbol_image *image = &s->images[no];
	const struct hwtdi_elf_name *name;
	struct hwtdi_image_source held;
	uint64_t address;
	int rc = HWTD_OK;

	hwtdi_trace_image_source(s->trace, no, &held);
	if (!image->opened)
		rc = hwtdi_symbol_image_open(image, s->trace, no, &s->where,
		    err);
	if (rc == HWTD_OK)
		rc = keep(s, held.name, &out->image_name, err);
	if (rc != HWTD_OK)
		return (rc);
	out->image = no;
	out->file_off = file_off;
	out->flags |= HWTD_SYMBOLF_FILE_OFF;
	if (hwtdi_elf_names_address(&image->names, file_off, &address)) {
		name = hwtdi_elf_names_find(&image->names, address);
		if (name != NULL)
			rc = set_symbol(s, name, address, out, err);
		if (rc == HWTD_OK && image->dwarf != NULL)
			rc = set_frames(s, image, address, out, err);
	}
	if (rc == HWTD_OK && image->dwarf != NULL)
		rc = set_fault(s, hwtdi_dwarf_image_fault(image->dwarf), out,
		    err);
	return (rc == HWTD_OK ? set_fault(s, &image->fault, out, err) : rc);
}

/* The same, kept from the last time that it was asked for. */
static int
in_image(struct hwtd_symbolizer *s, uint32_t no, uint64_t file_off,
    struct hwtd_symbol *out, struct hwtd_error *err)
{
	struct answer *answer = &s->answers[hwtdi_hash_pair(s->library->seed,
						file_off, no) %
	    ANSWERS];
	int rc;

	if (!answer->given || answer->image != no ||
	    answer->file_off != file_off) {
		struct hwtd_symbol symbol = { .image = HWTD_NO_ID };

		answer->given = false;
		rc = look_up(s, no, file_off, &symbol, err);
		if (rc != HWTD_OK)
			return (rc);
		*answer = (struct answer){ true, no, file_off, symbol };
	}
	*out = answer->symbol;
	return (HWTD_OK);
}

/* What lists and records say. */

static int
set_listed(struct hwtd_symbolizer *s, const struct hwtdi_name_found *found,
    uint64_t at, struct hwtd_symbol *out, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	out->flags |= HWTD_SYMBOLF_LISTED;
	if (out->image_name == NULL && found->group[0] != '\0')
		rc = keep(s, found->group, &out->image_name, err);
	if (rc == HWTD_OK)
		rc = keep(s, found->text, &out->name, err);
	if (rc != HWTD_OK)
		return (rc);
	out->symbol_address = found->address;
	out->offset = at - found->address;
	if (demangle(s, found->text)) {
		out->flags |= HWTD_SYMBOLF_DEMANGLED;
		return (keep(s, s->text, &out->text, err));
	}
	out->text = out->name;
	return (HWTD_OK);
}

/* A byte of an image, and the address that it has in a process. */
static int
name_image(struct hwtd_symbolizer *s, uint32_t no, uint64_t file_off,
    struct hwtd_symbol *out, struct hwtd_error *err)
{
	struct hwtdi_name_found found;
	int rc;

	rc = in_image(s, no, file_off, out, err);
	if (rc != HWTD_OK || out->name != NULL ||
	    !hwtdi_trace_name_in_image(s->trace, no, file_off, &found))
		return (rc);
	return (set_listed(s, &found, file_off, out, err));
}

static int
name_address(struct hwtd_symbolizer *s, uint32_t pid, uint64_t address,
    struct hwtd_symbol *out, struct hwtd_error *err)
{
	struct hwtdi_name_found found;

	if (out->name != NULL ||
	    !hwtdi_trace_name_at(s->trace, pid, address, &found))
		return (HWTD_OK);
	return (set_listed(s, &found, address, out, err));
}

/* Where it is. */

static int
in_space(struct hwtd_symbolizer *s, const struct hwtd_exec_context *who,
    const struct hwtd_position *at, uint64_t address, struct hwtd_symbol *out,
    struct hwtd_error *err)
{
	struct hwtd_mapping mapping = { .size = sizeof(mapping) };
	uint32_t ambiguous = 0;
	int rc;

	memset(out, 0, sizeof(*out));
	out->image = HWTD_NO_ID;
	out->file_off = address;
	rc = hwtd_space_lookup_context(s->trace, who, at, address, &mapping);
	if (rc == HWTD_E_STATE)
		ambiguous = HWTD_SYMBOLF_AMBIGUOUS;
	/* In doubt it is the newest. */
	if (rc != HWTD_OK && rc != HWTD_E_STATE)
		rc = HWTD_OK;
	else if (mapping.image < s->n_images)
		rc = name_image(s, mapping.image,
		    mapping.file_off + (address - mapping.address), out, err);
	else
		rc = keep(s, mapping.path, &out->image_name, err);
	out->flags |= ambiguous;
	return (rc == HWTD_OK ? name_address(s, who->pid, address, out, err)
			      : rc);
}

int
hwtdi_symbolizer_find(struct hwtd_symbolizer *s, uint32_t pid,
    const struct hwtd_position *at, uint64_t address, struct hwtd_symbol *out,
    struct hwtd_error *err)
{
	const struct hwtd_exec_context who = { .size = sizeof(who),
		.pid = pid };
	int rc;

	pthread_mutex_lock(&s->lock);
	rc = in_space(s, &who, at, address, out, err);
	pthread_mutex_unlock(&s->lock);
	return (rc);
}

static int
check(const struct hwtd_symbolizer *s, const struct hwtd_where *w,
    struct hwtd_exec_context *who, struct hwtd_error *err)
{
	const uint32_t both = HWTD_WHERE_SECTION | HWTD_WHERE_IMAGE;

	if ((w->flags & ~(uint32_t)KNOWN_WHERE) != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "flags %#x of a place are not known", w->flags));
	if ((w->flags & both) == both)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "a place has a section and an image; set one of them"));
	if ((w->flags & HWTD_WHERE_SECTION) != 0 &&
	    w->section >= s->trace->n_sections)
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "there is no section %u; there are %zu", w->section,
		    s->trace->n_sections));
	if ((w->flags & HWTD_WHERE_IMAGE) != 0 && w->image >= s->n_images)
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "there is no image %u; there are %zu", w->image,
		    s->n_images));
	if ((w->flags & HWTD_WHERE_OFFSET) != 0 &&
	    w->stream >= s->trace->n_streams)
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "there is no stream %u; there are %zu", w->stream,
		    s->trace->n_streams));
	memset(who, 0, sizeof(*who));
	who->size = sizeof(*who);
	who->pid = who->tid = who->cpu = HWTD_NO_ID;
	if ((w->flags & HWTD_WHERE_CONTEXT) != 0 &&
	    hwtd_trace_exec_context(s->trace, w->context, who) != HWTD_OK)
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "there is no execution context %u", w->context));
	if ((w->flags & HWTD_WHERE_PID) != 0)
		who->pid = w->pid;
	return (HWTD_OK);
}

static int
name_one(struct hwtd_symbolizer *s, const struct hwtd_where *w,
    struct hwtd_symbol *out, struct hwtd_error *err)
{
	struct hwtd_position at = { .size = sizeof(at),
		.stream = w->stream,
		.stream_off = w->stream_off,
		.time_ns = w->time_ns };
	const struct hwtd_section *section;
	struct hwtd_exec_context who;
	int rc;

	rc = check(s, w, &who, err);
	if (rc != HWTD_OK)
		return (rc);
	if ((w->flags & HWTD_WHERE_IMAGE) != 0)
		return (name_image(s, w->image, w->address, out, err));
	if ((w->flags & HWTD_WHERE_SECTION) != 0) {
		section = &s->trace->sections[w->section];
		rc = name_image(s, section->image,
		    section->file_off + (w->address - section->address), out,
		    err);
		return (rc == HWTD_OK
			? name_address(s, who.pid, w->address, out, err)
			: rc);
	}
	if ((w->flags & HWTD_WHERE_OFFSET) != 0)
		at.flags |= HWTD_POSITION_OFFSET;
	if ((w->flags & HWTD_WHERE_TIME) != 0)
		at.flags |= HWTD_POSITION_TIME;
	return (in_space(s, &who, at.flags != 0 ? &at : NULL, w->address, out,
	    err));
}

int
hwtd_symbolize(struct hwtd_symbolizer *symbolizer,
    const struct hwtd_where *where, size_t where_stride, size_t n,
    struct hwtd_symbol *out, size_t out_stride, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (symbolizer == NULL || (n != 0 && (where == NULL || out == NULL)))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL"));
	if (where_stride < sizeof(*where) || where_stride % 8 != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "places are %zu bytes apart; they need %zu, by 8",
		    where_stride, sizeof(*where)));
	if (out_stride < sizeof(*out) || out_stride % 8 != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "symbols are %zu bytes apart; they need %zu, by 8",
		    out_stride, sizeof(*out)));
	pthread_mutex_lock(&symbolizer->lock);
	for (size_t i = 0; rc == HWTD_OK && i < n; i++) {
		const void *from = (const char *)where + i * where_stride;
		void *to = (char *)out + i * out_stride;
		struct hwtd_symbol symbol = { .image = HWTD_NO_ID };

		rc = name_one(symbolizer, from, &symbol, err);
		memset(to, 0, out_stride);
		memcpy(to, &symbol, sizeof(symbol));
	}
	pthread_mutex_unlock(&symbolizer->lock);
	return (rc);
}

/* For who reads all of an image. */

int
hwtdi_symbolizer_image(struct hwtd_symbolizer *s, uint32_t no,
    struct hwtdi_symbol_image **out, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	pthread_mutex_lock(&s->lock);
	if (!s->images[no].opened)
		rc = hwtdi_symbol_image_open(&s->images[no], s->trace, no,
		    &s->where, err);
	pthread_mutex_unlock(&s->lock);
	*out = &s->images[no];
	return (rc);
}

void
hwtdi_symbolizer_drop_image(struct hwtd_symbolizer *s, uint32_t no)
{
	pthread_mutex_lock(&s->lock);
	hwtdi_symbol_image_fini(&s->images[no], s->library);
	pthread_mutex_unlock(&s->lock);
}

/* Opening and closing. */

static int
set_places(struct hwtd_symbolizer *s, const struct hwtd_search *user,
    struct hwtd_error *err)
{
	const struct hwtd_search *search = &s->trace->search.o;
	struct hwtdi_image_places *places = &s->where.places;
	const size_t n_system = sizeof(system_dirs) / sizeof(system_dirs[0]);
	int rc;

	if (user != NULL) {
		rc = hwtdi_search_init(&s->search, s->library, user, err);
		if (rc != HWTD_OK)
			return (rc);
		search = &s->search.o;
	}
	places->as_is = (search->flags & HWTD_SEARCH_NO_ORIGINAL) == 0;
	places->roots = search->roots;
	places->n_roots = search->n_roots;
	places->dirs = search->dirs;
	places->n_dirs = search->n_dirs;
	places->release = s->trace->text.release;
	s->n_dirs = search->n_build_id_dirs + n_system;
	s->dirs = hwtdi_zalloc(s->library, s->n_dirs * sizeof(*s->dirs));
	if (s->dirs == NULL)
		return (hwtdi_fail_nomem(err, s->n_dirs * sizeof(*s->dirs)));
	for (size_t i = 0; i < search->n_build_id_dirs; i++)
		s->dirs[i] = search->build_id_dirs[i];
	for (size_t i = 0; i < n_system; i++)
		s->dirs[search->n_build_id_dirs + i] = system_dirs[i];
	places->build_id_dirs = s->dirs;
	/* Of this machine only where files of this machine are wanted. */
	places->n_build_id_dirs = places->as_is ? s->n_dirs
						: search->n_build_id_dirs;
	return (HWTD_OK);
}

int
hwtd_symbolizer_open(struct hwtd_trace *trace,
    const struct hwtd_symbolizer_options *opts,
    struct hwtd_symbolizer **symbolizer_out, struct hwtd_error *err)
{
	struct hwtd_symbolizer_options o;
	struct hwtd_context *library;
	struct hwtd_symbolizer *s;
	int rc;

	if (trace == NULL || symbolizer_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL"));
	rc = hwtdi_options_copy(&o, sizeof(o), opts, err);
	if (rc != HWTD_OK)
		return (rc);
	if ((o.flags & ~(uint32_t)KNOWN_FLAGS) != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "symbolizer flags %#x are not known", o.flags));
	if (!hwtdi_trace_sealed(trace))
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "the trace is not sealed"));
	library = trace->library;
	s = hwtdi_zalloc(library, sizeof(*s));
	if (s == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*s)));
	pthread_mutex_init(&s->lock, NULL);
	s->trace = hwtdi_trace_hold(trace);
	s->library = library;
	s->flags = o.flags;
	s->max_cache = o.max_cache != 0 ? o.max_cache : DEFAULT_CACHE;
	s->where.lines = (o.flags & HWTD_SYMBOLIZER_NO_LINES) == 0;
	s->where.debug_files = (o.flags & HWTD_SYMBOLIZER_NO_DEBUG_FILES) == 0;
	rc = set_places(s, o.search, err);
	s->n_images = trace->n_images;
	if (rc == HWTD_OK) {
		s->images = hwtdi_zalloc(library,
		    s->n_images * sizeof(*s->images));
		s->answers = hwtdi_zalloc(library,
		    ANSWERS * sizeof(*s->answers));
		if (s->images == NULL || s->answers == NULL)
			rc = hwtdi_fail_nomem(err,
			    s->n_images * sizeof(*s->images));
	}
	if (rc != HWTD_OK) {
		hwtd_symbolizer_close(s);
		return (rc);
	}
	*symbolizer_out = s;
	return (HWTD_OK);
}

struct hwtd_symbolizer *
hwtdi_symbolizer_hold(struct hwtd_symbolizer *symbolizer)
{
	hwtdi_users_add(&symbolizer->users);
	return (symbolizer);
}

void
hwtd_symbolizer_close(struct hwtd_symbolizer *symbolizer)
{
	struct hwtd_symbolizer *s = symbolizer;
	struct hwtd_context *library;
	struct hwtd_trace *trace;

	if (s == NULL || !hwtdi_users_drop(&s->users))
		return;
	library = s->library;
	trace = s->trace;
	for (size_t i = 0; s->images != NULL && i < s->n_images; i++)
		hwtdi_symbol_image_fini(&s->images[i], library);
	hwtdi_free(library, s->images, s->n_images * sizeof(*s->images));
	hwtdi_free(library, s->answers, ANSWERS * sizeof(*s->answers));
	for (size_t i = 0; i < s->n_chains; i++)
		hwtdi_free(library, s->chains[i].frames,
		    s->chains[i].n * sizeof(*s->chains[i].frames));
	hwtdi_array_free(library, s->chains, s->cap_chains,
	    sizeof(*s->chains));
	hwtdi_index_fini(&s->chain_index, library);
	hwtdi_text_pool_fini(&s->texts, library);
	hwtdi_free(library, s->dirs, s->n_dirs * sizeof(*s->dirs));
	hwtdi_search_fini(&s->search, library);
	pthread_mutex_destroy(&s->lock);
	hwtdi_free(library, s, sizeof(*s));
	hwtd_trace_close(trace);
}

int
hwtd_symbol_text(const char *name, char *buf, size_t cap)
{
	if (name == NULL || buf == NULL || cap == 0)
		return (HWTD_E_INVALID);
	return (hwtdi_symbol_text(name, buf, cap) ? HWTD_OK
						  : HWTD_E_NOT_FOUND);
}
