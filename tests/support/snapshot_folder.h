/*
 * Trace-and-debug snapshots, written to a folder and opened.  Every failure
 * fails the test.
 */
#ifndef TEST_SNAPSHOT_FOLDER_H
#define TEST_SNAPSHOT_FOLDER_H

#include <hwtdecode/hwtdecode.h>

#include "support/failing_allocator.h"
#include "support/temp_dir.h"

/*
 * Of snapshot_set_up(): two cores, an ETMv4 of the second and an STM in one
 * sink, whose bytes are known, and a dump of the first core.
 */
#define SNAPSHOT_ROOT                                                         \
	"; a snapshot\r\n\r\n[snapshot]\r\nversion=1.0\r\n"                   \
	"description = made by a test # and no more\r\n"                      \
	"[device_list]\r\na=cpu_0.ini\r\nb=cpu_1.ini\r\nc = etm.ini\r\n"      \
	"d=stm.ini\r\n[trace]\r\nmetadata=trace.ini\r\n"
#define SNAPSHOT_CORE0                                                        \
	"[device]\nname=cpu_0\nclass=core\ntype=cortex-a53\n"                 \
	"[regs]\nPC(size:64)=0x1000\n"                                        \
	"[dump1]\nfile=mem.bin\naddress=0x1000\nlength=8\n"
#define SNAPSHOT_CORE1                                                        \
	"[device]\nname=cpu_1\nclass=core\ntype=ARMv8.4-A\n"                  \
	"[dump]\nfile=mem.bin\naddress=4096\nlength=010\n"
#define SNAPSHOT_ETM                                                          \
	"[device]\nname=ETM_1\nclass=trace_source\ntype=ETM4.2\n"             \
	"[regs]\nTRCCONFIGR(0x004)=0x8c1\ntrctraceidr(id:0x10)=0x12\n"        \
	"TRCIDR0(size:32)=0x28000EA1\nTRCIDR2=0x488\nTRCVICTLR=7\n"
#define SNAPSHOT_STM                                                          \
	"[device]\nname=STM_0\nclass=trace_source\ntype=STM\n"                \
	"[regs]\nSTMTCSR=0x00200007\n"
#define SNAPSHOT_TRACE                                                        \
	"[trace_buffers]\nbuffers=buf\n[buf]\nname=ETB_0\nfile=etb.bin\n"     \
	"format=coresight\n[source_buffers]\nETM_1=ETB_0\nSTM_0=ETB_0\n"      \
	"[core_trace_sources]\ncpu_1=ETM_1\n"

/* What the sources wrote; 0x33 is an ID of which no source is told. */
#define SNAPSHOT_ETM_BYTES "etm bytes, more than a frame of them"
#define SNAPSHOT_STM_BYTES "stm bytes"
#define SNAPSHOT_OTHER_BYTES "other"
#define SNAPSHOT_MEMORY "memory of a core"

struct snapshot_folder {
	struct temp_dir dir;
	struct failing_allocator allocator;
	struct hwtd_context *ctx;
	struct hwtd_error err;
	/* The last warnings, one after the other. */
	char log[4096];
};

/* For cmocka: `*state` is a struct snapshot_folder. */
int snapshot_set_up(void **state);
int snapshot_tear_down(void **state);

void snapshot_put(struct snapshot_folder *f, const char *name,
    const char *text);
void snapshot_put_bytes(struct snapshot_folder *f, const char *name,
    const void *bytes, size_t n);

/* Open the folder, or a file in it. */
int snapshot_try_open(struct snapshot_folder *f, const char *name,
    struct hwtd_trace **out);
struct hwtd_trace *snapshot_must_open(struct snapshot_folder *f);

struct hwtd_stream_desc snapshot_stream_at(const struct hwtd_trace *trace,
    uint32_t id);
/* The stream has these bytes and no more. */
void snapshot_assert_bytes(const struct hwtd_trace *trace, uint32_t stream,
    const char *bytes);
/* That many streams, and no known damage. */
void snapshot_assert_counts(const struct hwtd_trace *trace, uint32_t streams,
    uint32_t damages);
/* All that the trace of snapshot_set_up() has, but its memory. */
void snapshot_assert_all(const struct hwtd_trace *trace);

#endif /* TEST_SNAPSHOT_FOLDER_H */
