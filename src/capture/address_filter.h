/*
 * Filters by address for live capture: functions, addresses and whole images
 * by name, which become ranges as soon as a record tells where the image lies.
 *
 * Texts that users write:
 *
 *     FUNCTION@IMAGE   each function of that name; FUNCTION may have a version
 *     0xA-0xB@IMAGE    [A, B) as the ELF file counts; of an object (ET_REL)
 *                      offsets in the file
 *     @IMAGE           all executable segments
 *
 * "stop:" ahead makes it one where tracing stops.  IMAGE is a base name, or a
 * path, which may also lead to the file over links or from the working
 * directory.  What is behind "@/", "@./" and "@../" is a path; otherwise the
 * last '@' separates.
 *
 * Images are files of whoever is traced, and hostile.
 */
#ifndef HWTDI_ADDRESS_FILTER_H
#define HWTDI_ADDRESS_FILTER_H

#include "image/elf_load.h"
#include "image/image_search.h"

/* Filters of one capture, and ranges that one of them may have. */
#define HWTDI_FILTERS_MAX 64u
#define HWTDI_FILTER_RANGES_MAX 1024u

/* Bytes of a text of a user, and of why nothing was found, with the NUL. */
#define HWTDI_FILTER_TEXT_MAX 4096u

enum hwtdi_filter_mode {
	/* Trace inside of the range only. */
	HWTDI_FILTER_TRACE = 1,
	/* TraceStop: the trace ends where the range is entered. */
	HWTDI_FILTER_STOP = 2
};

/* Addresses of the process or kernel; both ends are inside. */
struct hwtdi_filter_range {
	uint64_t start;
	uint64_t end;
	/* An hwtdi_filter_mode. */
	uint32_t mode;
};

/* Kinds of records; numbers of our own. */
enum hwtdi_filter_load_kind {
	/* A process became this program; all but the kernel's are gone. */
	HWTDI_FILTER_EXECUTABLE = 1,
	/* A part of a file was mapped to be run. */
	HWTDI_FILTER_MMAP = 2,
	/* A file of the kernel. */
	HWTDI_FILTER_KERNEL = 3
};

/* What a record tells. */
struct hwtdi_filter_load {
	/* An hwtdi_filter_load_kind. */
	uint32_t kind;
	/* As the kernel names it. */
	const char *path;
	/* Where the caller knows that the file lies; NULL: look for it. */
	const char *file;
	/*
	 * EXECUTABLE: the load bias.  MMAP: start of the mapping.  KERNEL: load
	 * address.
	 */
	uint64_t addr;
	/* EXECUTABLE: where its ELF interpreter lies.  0: it has none. */
	uint64_t base;
	/* MMAP: file offset and length, as 5BSD and kinfo_getvmmap(3) tell. */
	bool has_file_off;
	bool has_length;
	uint64_t file_off;
	uint64_t length;
};

struct hwtdi_address_filter;
struct hwtdi_loaded_image;

struct hwtdi_filters {
	struct hwtd_context *library;
	/* Where files of records are looked for, roots among it.  Borrowed. */
	const struct hwtdi_image_places *places;
	uint64_t page;
	struct hwtdi_address_filter *filters;
	size_t n, cap;
	/* Where images lie whose mappings do not yet tell it. */
	struct hwtdi_loaded_image *images;
	size_t n_images, cap_images;
};

/*
 * No filters yet.  `places` NULL: files lie where records say.  `page` 0:
 * HWTDI_ELF_PAGE.
 */
void hwtdi_filters_init(struct hwtdi_filters *filters,
    struct hwtd_context *library, const struct hwtdi_image_places *places,
    uint64_t page);

void hwtdi_filters_fini(struct hwtdi_filters *filters);

/*
 * Take a text.  HWTD_E_INVALID (the message quotes it and says what is wrong),
 * HWTD_E_LIMIT, HWTD_E_NOMEM.
 */
int hwtdi_filters_add(struct hwtdi_filters *filters, const char *text,
    struct hwtd_error *err);

/* Whether any has this mode (an hwtdi_filter_mode). */
bool hwtdi_filters_any(const struct hwtdi_filters *filters, uint32_t mode);

/*
 * Whether all filters whose IMAGE is `path` can be found in that file, without
 * it being loaded: for a program that is about to be started.  Errors as of
 * hwtdi_filters_see(); nothing is changed.  A file that no filter names is not
 * read.
 */
int hwtdi_filters_try(const struct hwtdi_filters *filters, const char *path,
    struct hwtd_error *err);

/*
 * Take a record, in the order of the kernel.  *changed_out, set in any case:
 * a filter was found, found elsewhere, or (by EXECUTABLE) may be gone.
 *
 * An error says that a filter names this image but cannot be found in it; the
 * others were looked for, and the caller may go on: another image of the name
 * may come.  HWTD_E_NOT_FOUND (no file, no such function), HWTD_E_UNSUPPORTED
 * (an indirect function, data), HWTD_E_CORRUPT, HWTD_E_IO, HWTD_E_LIMIT; with
 * HWTD_E_NOMEM nothing can be said of any.
 *
 * Mappings that allow several load addresses are no error: their filters wait
 * for one that decides.  If an image is loaded again elsewhere, the newest
 * place counts.
 */
int hwtdi_filters_see(struct hwtdi_filters *filters,
    const struct hwtdi_filter_load *load, bool *changed_out,
    struct hwtd_error *err);

/* All were found; also if there are none. */
bool hwtdi_filters_ready(const struct hwtdi_filters *filters);

/*
 * The ranges of all that were found, by mode and then by address, overlapping
 * and adjoining ones joined.  `most` is what the hardware has, and as many are
 * in `out`.
 *
 * HWTD_E_LIMIT: there are more, *n_out tells how many.  HWTD_E_NOMEM.
 */
int hwtdi_filters_ranges(const struct hwtdi_filters *filters, size_t most,
    struct hwtdi_filter_range *out, size_t *n_out, struct hwtd_error *err);

/*
 * How many were not found, and in `text` one line about them ("" for 0): what
 * was looked for and why it was not found.  Cut off at `room` bytes, with the
 * NUL.
 */
size_t hwtdi_filters_missing(const struct hwtdi_filters *filters, char *text,
    size_t room);

/*
 * How many functions have no size, so that their ranges end at the next one: a
 * guess; `text` names them as above.
 */
size_t hwtdi_filters_guessed(const struct hwtdi_filters *filters, char *text,
    size_t room);

#endif /* HWTDI_ADDRESS_FILTER_H */
