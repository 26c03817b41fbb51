/*
 * Finding the file of an image.
 *
 * Sources: GDB manual, "Debugging Information in Separate Files" (build-id
 * folders, debug links); debuginfod_find_debuginfo(3) (its cache);
 * perf-buildid-cache(1).
 */
#include "image/image_search.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/fail.h"
#include "image/elf_tables.h"
#include "image/image_bytes.h"
#include "image/packed_file.h"
#include "image/perf_cache.h"

/* Bytes that zlib is given at once. */
#define CRC_STEP (UINT32_C(1) << 30)

/* One search. */
struct search {
	struct hwtd_context *ctx;
	struct hwtdi_image_found *found;
	/* Of the image; NULL: of debug information. */
	const char *name;
	struct hwtdi_build_id build_id;
	char hex[2 * HWTDI_BUILD_ID_MAX + 1];
	/* Of debug information: this file is not it, and it has this CRC. */
	bool debug;
	/* Files are mapped: little of them is looked at. */
	bool map;
	const char *self;
	bool has_crc;
	uint32_t crc;
	/* What a copy of memory must have, and whether its place is proof. */
	const uint64_t *around;
	bool copies;
	/* A folder can lie in the place of the file. */
	bool folders;
	uint32_t n_files;
	/* HWTD_OK, or why the search cannot go on. */
	int rc;
	/* The first file that is there and cannot be used. */
	struct hwtd_error wrong;
	struct hwtd_error *err;
};

static void
search_init(struct search *s, struct hwtd_context *ctx,
    struct hwtdi_image_found *found, const struct hwtdi_build_id *build_id,
    struct hwtd_error *err)
{
	memset(s, 0, sizeof(*s));
	memset(found, 0, sizeof(*found));
	s->ctx = ctx;
	s->found = found;
	s->wrong.size = sizeof(s->wrong);
	s->err = err;
	if (build_id == NULL || build_id->n > HWTDI_BUILD_ID_MAX)
		return;
	s->build_id = *build_id;
	for (uint32_t i = 0; i < build_id->n; i++)
		(void)snprintf(s->hex + (size_t)2 * i, 3, "%02x",
		    build_id->bytes[i]);
}

static bool
is_done(const struct search *s)
{
	return (s->rc != HWTD_OK || s->found->verdict == HWTDI_IMAGE_MATCH ||
	    (s->found->verdict == HWTDI_IMAGE_UNCHECKED &&
		s->build_id.n == 0) ||
	    s->found->n_paths >= HWTDI_SEARCH_MAX_PATHS ||
	    s->n_files >= HWTDI_SEARCH_MAX_FILES);
}

/*
 * Source: GDB manual, "Debugging Information in Separate Files": the CRC-32
 * of IEEE 802.3, low bit first.
 */
static uint32_t
crc32_of(const uint8_t *bytes, uint64_t n)
{
	uint32_t crc = 0;

	for (uint64_t i = 0; i < n;) {
		const uint64_t left = n - i;
		const uInt step = left < CRC_STEP ? (uInt)left : CRC_STEP;

		crc = (uint32_t)crc32(crc, bytes + i, step);
		i += step;
	}
	return (crc);
}

static uint32_t
judge(const struct search *s, const struct hwtdi_image_found *f)
{
	if (f->is_elf && f->elf.build_id.n != 0 && s->build_id.n != 0)
		return (f->elf.build_id.n == s->build_id.n &&
			    memcmp(f->elf.build_id.bytes, s->build_id.bytes,
				s->build_id.n) == 0
			? HWTDI_IMAGE_MATCH
			: HWTDI_IMAGE_MISMATCH);
	if (s->has_crc)
		return (crc32_of(f->bytes, f->n_bytes) == s->crc
			? HWTDI_IMAGE_MATCH
			: HWTDI_IMAGE_MISMATCH);
	/* Copies of memory have no notes; their folder tells the build-id. */
	if (s->copies && f->is_elf && f->elf.type == HWTDI_ELF_CORE)
		return (HWTDI_IMAGE_MATCH);
	return (HWTDI_IMAGE_UNCHECKED);
}

/* A kernel lies elsewhere each time that it starts. */
static bool
is_elsewhere(const struct search *s, const struct hwtdi_elf_file *elf)
{
	if (s->around == NULL || elf->type != HWTDI_ELF_CORE)
		return (false);
	for (size_t i = 0; i < elf->n_segments; i++)
		if (*s->around - elf->segments[i].vaddr <
		    elf->segments[i].memory_bytes)
			return (false);
	return (true);
}

/* Bytes with all headers of a copy of memory, which has few segments. */
#define FRONT_BYTES 8192

/*
 * The same from its first bytes, without reading all of it: it is large.  What
 * they do not tell is found when it is read.
 */
static bool
begins_elsewhere(const struct search *s, const char *path)
{
	uint8_t front[FRONT_BYTES];
	struct hwtdi_elf_tables t;
	GElf_Phdr ph;
	size_t n = 0;

	if (s->around == NULL ||
	    hwtdi_image_read_front(path, front, sizeof(front), &n, NULL) !=
		HWTD_OK ||
	    hwtdi_elf_tables_init(&t, path, front, n, NULL) != HWTD_OK ||
	    t.header.e_type != ET_CORE || t.n_segments == 0 ||
	    t.n_segments < t.claimed_segments)
		return (false);
	for (uint32_t i = 0; hwtdi_elf_segment(&t, i, &ph); i++)
		if (ph.p_type == PT_LOAD &&
		    *s->around - ph.p_vaddr < ph.p_memsz)
			return (false);
	return (true);
}

/* A name says so; in a cache it may be that of the image only. */
static bool
is_packed(const struct search *s, const struct hwtdi_image_found *f)
{
	return (hwtdi_unpacked_name(f->path) != 0 ||
	    (s->name != NULL && hwtdi_unpacked_name(s->name) != 0));
}

/* Debug information is large, and little of it is looked at. */
static int
map_candidate(struct hwtdi_image_found *f, struct hwtd_error *err)
{
	int rc = hwtdi_mapped_file_open(&f->map, f->path, err);

	if (rc != HWTD_OK) {
		hwtdi_fail_prefix(err, "%.120s", f->path);
		return (rc);
	}
	f->bytes = (uint8_t *)(uintptr_t)f->map.bytes;
	f->n_bytes = f->map.n;
	return (HWTD_OK);
}

/* Read a file and its headers; false: it cannot be used. */
static bool
read_candidate(struct search *s, struct hwtdi_image_found *f)
{
	struct hwtd_error wrong = { .size = sizeof(wrong) };
	int rc;

	if (begins_elsewhere(s, f->path))
		rc = hwtdi_fail(&wrong, HWTD_E_NOT_FOUND,
		    "%.120s: memory without 0x%" PRIx64, f->path, *s->around);
	else if (s->map && !is_packed(s, f))
		rc = map_candidate(f, &wrong);
	else
		rc = hwtdi_image_read(s->ctx, f->path, 0, 0, &f->bytes,
		    &f->n_bytes, &wrong);
	if (rc == HWTD_E_IO &&
	    (wrong.sys_errno == ENOENT || wrong.sys_errno == ENOTDIR ||
		(wrong.sys_errno == EISDIR && s->folders)))
		return (false);
	s->n_files++;
	if (rc == HWTD_OK && is_packed(s, f))
		rc = hwtdi_unpack(s->ctx, f->path, &f->bytes, &f->n_bytes,
		    &wrong);
	if (rc == HWTD_OK) {
		rc = hwtdi_elf_file_init(&f->elf, s->ctx, f->path, f->bytes,
		    f->n_bytes, &wrong);
		f->is_elf = rc == HWTD_OK;
		/* Without a build-id to keep to, any file may hold code. */
		if (rc == HWTD_E_UNRECOGNIZED && !s->debug)
			rc = HWTD_OK;
	}
	if (rc == HWTD_OK && f->n_bytes == 0)
		rc = hwtdi_fail(&wrong, HWTD_E_NOT_FOUND, "%.120s: empty file",
		    f->path);
	if (rc == HWTD_OK && f->is_elf && f->elf.debug_only && !s->debug)
		rc = hwtdi_fail(&wrong, HWTD_E_NOT_FOUND,
		    "%.120s: debug information without code", f->path);
	if (rc == HWTD_OK && f->is_elf && is_elsewhere(s, &f->elf))
		rc = hwtdi_fail(&wrong, HWTD_E_NOT_FOUND,
		    "%.120s: memory without 0x%" PRIx64, f->path, *s->around);
	if (hwtdi_fail_is_final(rc)) {
		s->rc = rc;
		(void)hwtdi_fail_pass(s->err, &wrong);
	} else if (rc != HWTD_OK && s->wrong.code == HWTD_OK) {
		/* The cause first: texts are cut at the tail. */
		s->wrong = wrong;
		(void)snprintf(s->wrong.message, sizeof(s->wrong.message),
		    "%.90s, file %s", hwtdi_fail_cause(&wrong, f->path),
		    f->path);
	}
	return (rc == HWTD_OK);
}

/* Take the file if it is better than what was found before. */
static void try_path(struct search *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
try_path(struct search *s, const char *fmt, ...)
{
	struct hwtdi_image_found f;
	va_list ap;
	int n;

	if (is_done(s))
		return;
	memset(&f, 0, sizeof(f));
	va_start(ap, fmt);
	n = vsnprintf(f.path, sizeof(f.path), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(f.path) ||
	    (s->self != NULL && strcmp(s->self, f.path) == 0))
		return;
	f.n_paths = ++s->found->n_paths;
	if (read_candidate(s, &f)) {
		f.verdict = judge(s, &f);
		if (s->found->verdict == HWTDI_IMAGE_UNKNOWN ||
		    f.verdict < s->found->verdict) {
			hwtdi_image_found_fini(s->found, s->ctx);
			*s->found = f;
			return;
		}
	}
	hwtdi_image_found_fini(&f, s->ctx);
}

bool
hwtdi_search_stays_inside(const char *path)
{
	const char *part = path;

	while (*part != '\0') {
		size_t n = strcspn(part, "/");

		if (n == 2 && part[0] == '.' && part[1] == '.')
			return (false);
		part += n;
		part += strspn(part, "/");
	}
	return (true);
}

/* The part after the last '/'; NULL if that is no name of a file. */
static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash != NULL ? slash + 1 : path;

	if (base[0] == '\0' || strcmp(base, ".") == 0 ||
	    strcmp(base, "..") == 0)
		return (NULL);
	return (base);
}

/* Copies of the memory of the kernel, the newest first. */
static void
try_copies(struct search *s, const char *dir)
{
	static const char *const below[] = { "[kernel.kcore]", ".build-id" };
	struct hwtdi_perf_copies copies;
	char folder[HWTDI_SEARCH_PATH_MAX];
	int n;

	s->copies = true;
	for (size_t k = 0; k < 2 && !is_done(s); k++) {
		n = k == 0 ? snprintf(folder, sizeof(folder), "%s/%s/%s", dir,
				 below[k], s->hex)
			   : snprintf(folder, sizeof(folder), "%s/%s/%.2s/%s",
				 dir, below[k], s->hex, s->hex + 2);
		if (n < 0 || (size_t)n >= sizeof(folder))
			break;
		hwtdi_perf_copies_find(&copies, folder);
		for (size_t i = 0; i < copies.n; i++)
			try_path(s, "%s/%s/kcore", folder, copies.names[i]);
		try_path(s, "%s/kcore", folder);
	}
	s->copies = false;
}

/* XX/YYYY, or what is in such a folder of perf's cache. */
static void
try_linked(struct search *s, const char *dir, const char *below,
    enum hwtdi_perf_name kind)
{
	static const char *const files[] = { "", "/elf", "/vdso", "/vmlinux" };
	const bool used[] = { true, true, kind == HWTDI_PERF_VDSO,
		kind == HWTDI_PERF_KERNEL };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		s->folders = i == 0;
		if (used[i])
			try_path(s, "%s%s/%.2s/%s%s", dir, below, s->hex,
			    s->hex + 2, files[i]);
	}
}

/* The same folders by name, where links were lost. */
static void
try_named(struct search *s, const char *dir, const char *name,
    enum hwtdi_perf_name kind)
{
	if (kind == HWTDI_PERF_VDSO)
		try_path(s, "%s/[vdso]/%s/vdso", dir, s->hex);
	if (kind != HWTDI_PERF_FILE || name[0] != '/' ||
	    !hwtdi_search_stays_inside(name))
		return;
	try_path(s, "%s%s/%s/elf", dir, name, s->hex);
	s->folders = true;
	try_path(s, "%s%s/%s", dir, name, s->hex);
	s->folders = false;
}

static void
try_build_id(struct search *s, const char *name,
    const struct hwtdi_image_places *places)
{
	static const char *const below[] = { "", "/.build-id" };
	const enum hwtdi_perf_name kind = hwtdi_perf_name_kind(name);
	const char *rest = s->hex + 2;

	/* One byte would leave no name for the file. */
	if (s->build_id.n < 2)
		return;
	for (size_t i = 0; i < places->n_build_id_dirs; i++) {
		const char *dir = places->build_id_dirs[i];

		if (kind == HWTDI_PERF_KERNEL && !s->debug)
			try_copies(s, dir);
		for (size_t k = 0; k < 2 && !s->debug; k++)
			try_linked(s, dir, below[k], kind);
		for (size_t k = 0; k < 2 && s->debug; k++)
			try_path(s, "%s%s/%.2s/%s/debug", dir, below[k],
			    s->hex, rest);
		try_path(s, "%s/%s/%s", dir, s->hex,
		    s->debug ? "debuginfo" : "executable");
		for (size_t k = 0; k < 2; k++)
			try_path(s, "%s%s/%.2s/%s.debug", dir, below[k],
			    s->hex, rest);
		if (!s->debug)
			try_named(s, dir, name, kind);
	}
}

/* A kernel by its release, where systems put it below `root`. */
static void
try_release(struct search *s, const char *root, const char *release)
{
	/* Source: Linux, tools/perf/util/symbol.c, vmlinux_paths_upd[]. */
	static const char *const places[][2] = {
		{ "/boot/vmlinux-", "" },
		{ "/usr/lib/debug/boot/vmlinux-", "" },
		{ "/lib/modules/", "/build/vmlinux" },
		{ "/usr/lib/debug/lib/modules/", "/vmlinux" },
		{ "/usr/lib/debug/boot/vmlinux-", ".debug" },
	};

	if (release == NULL || base_name(release) != release)
		return;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		try_path(s, "%s%s%s%s", root, places[i][0], release,
		    places[i][1]);
}

/* Files that have this name, or stand for it. */
static void
try_spelled(struct search *s, const char *name, size_t n,
    const struct hwtdi_image_places *places)
{
	const enum hwtdi_perf_name kind = hwtdi_perf_name_kind(name);
	const char *base = base_name(name);
	const int all = (int)n;
	const int rest = base != NULL ? all - (int)(base - name) : 0;

	if (base == NULL || n >= HWTDI_SEARCH_PATH_MAX)
		return;
	for (size_t i = 0;
	     i < places->n_roots && hwtdi_search_stays_inside(name); i++) {
		try_path(s, "%s%s%.*s", places->roots[i],
		    name[0] == '/' ? "" : "/", all, name);
		if (kind == HWTDI_PERF_KERNEL) {
			try_path(s, "%s/boot/vmlinux", places->roots[i]);
			try_release(s, places->roots[i], places->release);
		}
	}
	/* A bare name is not one of the current folder. */
	if (places->as_is && base != name)
		try_path(s, "%.*s", all, name);
	if (places->as_is && kind == HWTDI_PERF_KERNEL)
		try_release(s, "", places->release);
	for (size_t i = 0; i < places->n_dirs; i++) {
		try_path(s, "%s/%.*s", places->dirs[i], rest, base);
		if (kind == HWTDI_PERF_KERNEL) {
			try_path(s, "%s/kcore", places->dirs[i]);
			try_path(s, "%s/vmlinux", places->dirs[i]);
		}
		if (kind == HWTDI_PERF_OTHER && base == name)
			try_path(s, "%s/%.*s.ko", places->dirs[i],
			    (int)strcspn(name + 1, "]"), name + 1);
	}
}

/* Also without what says that it is compressed: it may lie unpacked. */
static void
try_name(struct search *s, const char *name,
    const struct hwtdi_image_places *places)
{
	const size_t n = hwtdi_unpacked_name(name);

	try_spelled(s, name, strlen(name), places);
	if (n != 0)
		try_spelled(s, name, n, places);
}

static int
finish(struct search *s, const char *name)
{
	if (s->rc == HWTD_OK && s->found->verdict != HWTDI_IMAGE_UNKNOWN)
		return (HWTD_OK);
	hwtdi_image_found_fini(s->found, s->ctx);
	if (s->rc != HWTD_OK)
		return (s->rc);
	if (s->wrong.code != HWTD_OK)
		return (hwtdi_fail_at(s->err, HWTD_E_NOT_FOUND,
		    s->wrong.offset, "%.80s: %s", name, s->wrong.message));
	return (hwtdi_fail(s->err, HWTD_E_NOT_FOUND,
	    "%.120s: not found in %" PRIu32 " place%s", name,
	    s->found->n_paths, s->found->n_paths == 1 ? "" : "s"));
}

int
hwtdi_image_search(struct hwtdi_image_found *found, struct hwtd_context *ctx,
    const char *name, const struct hwtdi_build_id *build_id,
    const struct hwtdi_image_places *places, struct hwtd_error *err)
{
	struct search s;

	search_init(&s, ctx, found, build_id, err);
	s.name = name;
	s.map = places->map;
	s.around = places->around;
	try_build_id(&s, name, places);
	try_name(&s, name, places);
	return (finish(&s, name));
}

int
hwtdi_image_search_debug(struct hwtdi_image_found *found,
    struct hwtd_context *ctx, const char *path,
    const struct hwtdi_elf_file *elf, const struct hwtdi_image_places *places,
    struct hwtd_error *err)
{
	const char *link = elf->debug_link;
	const char *slash = strrchr(path, '/');
	int dir = slash != NULL ? (int)(slash - path) : 0;
	const char *where = slash != NULL ? path : ".";
	struct search s;

	search_init(&s, ctx, found, &elf->build_id, err);
	s.debug = s.map = true;
	s.self = path;
	try_build_id(&s, path, places);
	if (strchr(link, '/') != NULL || base_name(link) == NULL ||
	    strlen(path) >= HWTDI_SEARCH_PATH_MAX)
		return (finish(&s, path));
	s.has_crc = true;
	s.crc = elf->debug_link_crc;
	if (slash == NULL)
		dir = 1;
	try_path(&s, "%.*s/%s", dir, where, link);
	try_path(&s, "%.*s/.debug/%s", dir, where, link);
	if (path[0] != '/' || !hwtdi_search_stays_inside(path))
		return (finish(&s, path));
	for (size_t i = 0; i < places->n_roots; i++) {
		try_path(&s, "%s%.*s/%s", places->roots[i], dir, where, link);
		try_path(&s, "%s%.*s/.debug/%s", places->roots[i], dir, where,
		    link);
	}
	for (size_t i = 0; i < places->n_build_id_dirs; i++)
		try_path(&s, "%s%.*s/%s", places->build_id_dirs[i], dir, where,
		    link);
	return (finish(&s, path));
}

int
hwtdi_image_search_shared(struct hwtdi_image_found *found,
    struct hwtd_context *ctx, const char *path, const char *name,
    const struct hwtdi_build_id *build_id,
    const struct hwtdi_image_places *places, struct hwtd_error *err)
{
	const bool inside = hwtdi_search_stays_inside(name);
	const char *slash = strrchr(path, '/');
	/* Where systems keep such files, below the folder of build-ids. */
	const char *dwz = strstr(name, "/.dwz/");
	struct search s;

	search_init(&s, ctx, found, build_id, err);
	s.debug = s.map = true;
	s.self = path;
	if (build_id->n == 0)
		return (finish(&s, name));
	try_build_id(&s, name, places);
	for (size_t i = 0; i < places->n_build_id_dirs && dwz != NULL; i++)
		if (hwtdi_search_stays_inside(dwz))
			try_path(&s, "%s%s", places->build_id_dirs[i], dwz);
	for (size_t i = 0; i < places->n_roots && name[0] == '/' && inside;
	     i++)
		try_path(&s, "%s%s", places->roots[i], name);
	if (name[0] == '/' && places->as_is)
		try_path(&s, "%s", name);
	/* Above that folder is what others than this file may not say. */
	if (name[0] != '/' && slash != NULL && (inside || places->as_is))
		try_path(&s, "%.*s/%s", (int)(slash - path), path, name);
	return (finish(&s, name));
}

void
hwtdi_image_found_fini(struct hwtdi_image_found *found,
    struct hwtd_context *ctx)
{
	if (found->is_elf)
		hwtdi_elf_file_fini(&found->elf, ctx);
	if (found->map.bytes != NULL)
		hwtdi_mapped_file_close(&found->map);
	else
		hwtdi_free(ctx, found->bytes, (size_t)found->n_bytes);
	found->bytes = NULL;
	found->n_bytes = 0;
	found->is_elf = false;
	found->verdict = HWTDI_IMAGE_UNKNOWN;
}
