/*
 * Names of code that come from no symbol table of an image: lists of runtimes
 * for a process (perf-PID.map), symbols of a kernel (kallsyms), and records of
 * code that was made at run time.
 */
#ifndef HWTDI_TRACE_NAMES_H
#define HWTDI_TRACE_NAMES_H

#include "image/name_table.h"

struct hwtd_trace;

/* Bytes of a file with names. */
#define HWTDI_NAMES_FILE_MAX ((uint64_t)1 << 30)

/* Names of a process or a kernel, by address; of an image, by file offset. */
struct hwtdi_named_code {
	/* HWTD_NO_ID twice: the kernel of the host. */
	uint32_t pid, vmid;
	struct hwtdi_name_table table;
};

/* All zero: none. */
struct hwtdi_trace_names {
	/* By pid and virtual machine, when they are sorted. */
	struct hwtdi_named_code *spaces;
	size_t n_spaces, cap_spaces;
	/* Of images, whose number `image_index` has + 1; made at seal. */
	struct hwtdi_name_table *images;
	size_t n_images, cap_images;
	uint32_t *image_index;
	size_t n_image_index;
};

/*
 * Add names to a trace that is not sealed: of a process of the host, or of the
 * kernel of a virtual machine (HWTD_NO_ID: the host).  The text stays the
 * caller's.  Lines that cannot be read are left out, and a warning tells how
 * many; `name` is for that.
 *
 * HWTD_E_NOMEM, HWTD_E_LIMIT.
 */
int hwtdi_trace_add_perf_map(struct hwtd_trace *trace, uint32_t pid,
    const char *name, const void *text, size_t n, struct hwtd_error *err);
int hwtdi_trace_add_kallsyms(struct hwtd_trace *trace, uint32_t vmid,
    const char *name, const void *text, size_t n, struct hwtd_error *err);

/* A single one, of `len` bytes; `pid` HWTD_NO_ID: of the kernel. */
int hwtdi_trace_add_name(struct hwtd_trace *trace, uint32_t pid, uint32_t vmid,
    uint64_t addr, uint64_t len, const char *text, struct hwtd_error *err);

/* Lists in files beside the trace, or of absolute paths; HWTD_E_IO. */
int hwtdi_trace_read_perf_map(struct hwtd_trace *trace, uint32_t pid,
    const char *path, struct hwtd_error *err);
int hwtdi_trace_read_kallsyms(struct hwtd_trace *trace, uint32_t vmid,
    const char *path, struct hwtd_error *err);

/* When the trace is sealed: names that records tell, and all of them sorted. */
int hwtdi_trace_names_build(struct hwtd_trace *trace, struct hwtd_error *err);
void hwtdi_trace_names_fini(struct hwtd_trace *trace);

/* The name of a byte of an image; false: none is known. */
bool hwtdi_trace_name_in_image(const struct hwtd_trace *trace, uint32_t image,
    uint64_t file_off, struct hwtdi_name_found *out);

/* The name at an address of a process, or of the kernel below it. */
bool hwtdi_trace_name_at(const struct hwtd_trace *trace, uint32_t pid,
    uint64_t address, struct hwtdi_name_found *out);

#endif /* HWTDI_TRACE_NAMES_H */
