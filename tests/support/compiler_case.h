/*
 * A program and a library as ELF files, traces of them, and what exports for
 * compilers write.  Every failure fails the test.
 */
#ifndef TEST_COMPILER_CASE_H
#define TEST_COMPILER_CASE_H

#include <hwtdecode/hwtdecode.h>

#include "support/pt_packets.h"
#include "support/temp_dir.h"

/*
 * Code of both begins at this byte of the file, which is loaded two pages and
 * 0x40 bytes further on: cc_code() and cc_library() are bytes from there on.
 */
#define CC_FILE_OFF 0x1040u
#define CC_VADDR 0x3040u

struct cc_program {
	/* ELF: 2 is not moved, 3 is. */
	uint16_t type;
	/* Of its lowest segment. */
	uint64_t base;
	/* Where it is loaded: so much higher. */
	uint64_t bias;
	const void *code;
	size_t n;
};

/* Write it to `name` in the folder. */
void cc_write(const struct temp_dir *dir, const char *name,
    const struct cc_program *program);

/* Process `pid` has it mapped as "/opt/NAME". */
void cc_map(struct hwtd_trace *trace, uint32_t pid, const char *name,
    const struct cc_program *program);

/* The address at which byte `off` of its code runs. */
uint64_t cc_at(const struct cc_program *program, uint64_t off);

/* A stream of a thread of a process; both HWTD_NO_ID: not known. */
uint32_t cc_stream(struct hwtd_trace *trace, const struct pt_packets *packets,
    uint32_t pid, uint32_t tid);

/* Id of the image that records name "/opt/NAME". */
uint32_t cc_image(const struct hwtd_trace *trace, const char *name);

/* What an export writes: owned, free().  `info` may be NULL. */
char *cc_export(struct hwtd_trace *trace, uint32_t format, uint32_t image,
    uint32_t max_depth, struct hwtd_compiler_info *info);

/* The same of a cursor of events. */
char *cc_export_events(struct hwtd_events *events, uint32_t image,
    uint32_t max_depth, struct hwtd_compiler_info *info);

/* The same, which may fail: HWTD_END, or what it returned. */
int cc_try(struct hwtd_trace *trace, uint32_t format, char **text_out);

/* A function that writes nowhere, for options. */
int cc_drop(void *arg, const void *bytes, size_t n);

/* It writes this. */
void cc_assert(struct hwtd_trace *trace, uint32_t format, uint32_t image,
    const char *want);

/* It fails so, and says this. */
void cc_assert_fails(struct hwtd_trace *trace, uint32_t format, uint32_t image,
    int code, const char *says);

#endif /* TEST_COMPILER_CASE_H */
