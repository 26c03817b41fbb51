/*
 * What perf(1) calls names without a file, and where it keeps files.
 *
 * Its cache of build-ids is a folder, by default ~/.debug, with a folder for
 * each file and build-id, NAME/BUILD-ID/elf, and links to these folders,
 * .build-id/XX/YYYY.  Old ones have the file in the place of that folder.
 * Copies of kernel memory are below [kernel.kcore]/BUILD-ID, each in a folder
 * whose name is the time when it was made.
 */
#ifndef HWTDI_PERF_CACHE_H
#define HWTDI_PERF_CACHE_H

#include <stdbool.h>
#include <stddef.h>

/* Folders of copies of kernel memory that are looked into. */
#define HWTDI_PERF_MAX_COPIES 8u

/* Bytes of the name of such a folder, with its NUL. */
#define HWTDI_PERF_COPY_NAME 32u

enum hwtdi_perf_name {
	/* A path, or nothing that is known. */
	HWTDI_PERF_FILE = 0,
	/* "[kernel.kallsyms]" and the like, also of guests. */
	HWTDI_PERF_KERNEL = 1,
	/* "[vdso]", "[vdso32]". */
	HWTDI_PERF_VDSO = 2,
	/* "[name]": a kernel module, or memory such as "[heap]". */
	HWTDI_PERF_OTHER = 3
};

enum hwtdi_perf_name hwtdi_perf_name_kind(const char *name);

/* By name, the newest first.  Names have digits only. */
struct hwtdi_perf_copies {
	char names[HWTDI_PERF_MAX_COPIES][HWTDI_PERF_COPY_NAME];
	size_t n;
};

/* Look for folders of copies in `folder`; if it is none there are none. */
void hwtdi_perf_copies_find(struct hwtdi_perf_copies *copies,
    const char *folder);

#endif /* HWTDI_PERF_CACHE_H */
