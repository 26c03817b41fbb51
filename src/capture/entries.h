/*
 * Entries of hwt(4): what the kernel wrote, as typed values and as records.
 *
 * All bytes of an entry are taken for hostile.
 */
#ifndef HWTDI_ENTRIES_H
#define HWTDI_ENTRIES_H

#include <hwtdecode/error.h>
#include <hwtdecode/record.h>

#include "capture/hwt_abi.h"
#include "capture/system.h"

/* Own codes, for numbers of kernels differ. */
enum hwtdi_entry_kind {
	HWTDI_ENTRY_UNKNOWN,
	HWTDI_ENTRY_EXEC,
	HWTDI_ENTRY_MMAP,
	HWTDI_ENTRY_MUNMAP,
	HWTDI_ENTRY_KERNEL,
	HWTDI_ENTRY_THREAD,
	HWTDI_ENTRY_THREAD_NAME,
	HWTDI_ENTRY_BUFFER,
	HWTDI_ENTRY_OVERFLOW
};

/* The path had no end: it is cut. */
#define HWTDI_ENTRYF_TRUNCATED 0x1
#define HWTDI_ENTRYF_ADDR 0x2
#define HWTDI_ENTRYF_BASE 0x4
/* file_off, len */
#define HWTDI_ENTRYF_FILE_OFF 0x8
#define HWTDI_ENTRYF_LEN 0x10
#define HWTDI_ENTRYF_INDEX 0x20
#define HWTDI_ENTRYF_POSITION 0x40
/* A number that cannot be: it is not among the known ones. */
#define HWTDI_ENTRYF_DOUBTFUL 0x80
/* hwtdi_entry_resolve() found the file. */
#define HWTDI_ENTRYF_RESOLVED 0x100
/* A module of the kernel, not the kernel itself. */
#define HWTDI_ENTRYF_MODULE 0x200

struct hwtdi_entry {
	enum hwtdi_entry_kind kind;
	/* The type in the numbers of the kernel. */
	uint32_t number;
	/* HWTDI_ENTRYF_* bits: what is known.  The rest is 0. */
	uint32_t flags;
	/* Index of a thread, or a CPU: as in the name of its node. */
	uint32_t index;
	/* BUFFER: bytes from the start of the buffer, and as they were told. */
	uint64_t position;
	int32_t page;
	uint64_t page_offset;
	/* EXEC: the load bias.  Else where it begins. */
	uint64_t addr;
	/* EXEC: where the interpreter is, if there is one. */
	uint64_t base;
	uint64_t file_off;
	uint64_t len;
	/* "": none */
	char path[HWTDI_HWT_PATH_ROOM + 1];
};

/*
 * Read one entry of `stride` bytes; buffers have `bufsize` bytes.
 * HWTD_E_INVALID: no kernel has entries of that size.
 */
int hwtdi_entry_read(const uint8_t *bytes, size_t stride, uint64_t bufsize,
    struct hwtdi_entry *out, struct hwtd_error *err);

/* Where files of the kernel are. */
struct hwtdi_kernel_files {
	/* kern.bootfile, kern.module_path; NULL: not known */
	const char *bootfile;
	const char *module_path;
	/* What kldstat(8) lists, if it is known. */
	const struct hwtdi_module *modules;
	size_t n_modules;
	/* Whether there is such a file; NULL: the first place is taken. */
	bool (*exists)(void *arg, const char *path);
	void *arg;
};

/*
 * Of a KERNEL entry, whose path is a name only: the file, and how long it is.  What is
 * not found stays a name.  Other entries stay as they are.
 */
void hwtdi_entry_resolve(struct hwtdi_entry *entry,
    const struct hwtdi_kernel_files *files);

/* What an entry does not say. */
struct hwtdi_entry_place {
	bool cpu_mode;
	/* HWTD_NO_ID in CPU mode. */
	uint32_t pid;
	/* Kernel's ids of threads by index; HWTD_NO_ID and beyond: not known. */
	const uint32_t *tids;
	size_t n_tids;
	/* Stream of a buffer by index of the thread, or CPU; as above. */
	const uint32_t *streams;
	size_t n_streams;
};

/*
 * The entry as a record.  Its name is that in `entry`, or static, and lives as long.
 *
 * stream_off of a BUFFER is the position in the buffer, not in a stream: who knows
 * how often it was filled puts that right.
 */
void hwtdi_entry_record(const struct hwtdi_entry *entry,
    const struct hwtdi_entry_place *place, struct hwtd_record *out);

#endif /* HWTDI_ENTRIES_H */
