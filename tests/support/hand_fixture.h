/*
 * A test of one .hwt file put together by hand: the file, a context that must
 * end empty, and what is asked about the trace that comes of it.
 */
#ifndef TEST_HAND_FIXTURE_H
#define TEST_HAND_FIXTURE_H

#include <hwtdecode/hwtdecode.h>

#include "support/hand_written.h"
#include "support/temp_dir.h"

struct hand_fixture {
	struct temp_dir dir;
	struct hwtd_context *ctx;
	char path[300];
	struct hand file;
};

/* For cmocka; *state is the fixture, with a file header of version 1.0. */
int hand_set_up(void **state);
int hand_tear_down(void **state);

/* Start the file again. */
void hand_again(struct hand_fixture *f);

/* Write the file and open it. */
int hand_open(struct hand_fixture *f, struct hwtd_trace **out,
    struct hwtd_error *err);

/* The same; ends the test if it is not opened. */
struct hwtd_trace *hand_must_open(struct hand_fixture *f);

uint32_t n_damages(const struct hwtd_trace *trace);
struct hwtd_damage damage_at(const struct hwtd_trace *trace, size_t i);

/* Bytes of a stream are those of a text. */
void assert_stream(const struct hwtd_trace *trace, uint32_t stream,
    uint64_t off, const char *want);

#endif /* TEST_HAND_FIXTURE_H */
