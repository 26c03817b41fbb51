/*
 * Trace bundles of LLDB, written to a folder and opened.  Every failure fails
 * the test.
 */
#ifndef TEST_LLDB_BUNDLE_H
#define TEST_LLDB_BUNDLE_H

#include <hwtdecode/hwtdecode.h>

#include "support/temp_dir.h"

#define CPU_INFO                                                              \
	"\"cpuInfo\":{\"vendor\":\"GenuineIntel\",\"family\":6,\"model\":79," \
	"\"stepping\":1}"
#define CLOCK                                                                 \
	"\"tscPerfZeroConversion\":{\"timeMult\":2,\"timeShift\":1,"          \
	"\"timeZero\":\"0x10\"}"
#define BUNDLE(fields) "{\"type\":\"intel-pt\"," CPU_INFO "," fields "}"
#define PROCESS(fields) BUNDLE("\"processes\":[{\"pid\":10," fields "}]")
#define CPU_TRACE(fields) BUNDLE(CLOCK ",\"processes\":[]," fields)

struct bundle_fixture {
	struct temp_dir dir;
	struct hwtd_context *ctx;
	char path[300];
	struct hwtd_error err;
};

/* For cmocka: `*state` is a struct bundle_fixture. */
int bundle_set_up(void **state);
int bundle_tear_down(void **state);

void bundle_put(struct bundle_fixture *f, const char *name, const void *bytes,
    size_t n);
int bundle_try_open(struct bundle_fixture *f, const char *text,
    const struct hwtd_open_options *opts, struct hwtd_trace **out);
struct hwtd_trace *bundle_must_open(struct bundle_fixture *f,
    const char *text);
struct hwtd_stream_desc bundle_stream_at(const struct hwtd_trace *trace,
    uint32_t id);
struct hwtd_record bundle_record_at(const struct hwtd_trace *trace,
    uint64_t index);
/* A shared object whose code lies at its first byte, address 0. */
void bundle_put_module(struct bundle_fixture *f, const char *name,
    const void *code, size_t n);
/* Append a record; `type` 14 has no other thread in it. */
size_t bundle_put_switch(uint8_t *at, uint32_t type, uint32_t misc,
    uint32_t pid, uint32_t tid, uint64_t time_ns);

#endif /* TEST_LLDB_BUNDLE_H */
