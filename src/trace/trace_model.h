/*
 * The trace as neighbours see it: streams and extents of raw bytes, code
 * lookup, interned execution contexts.
 */
#ifndef HWTDI_TRACE_MODEL_H
#define HWTDI_TRACE_MODEL_H

#include <hwtdecode/trace.h>
#include <pthread.h>

#include "base/library.h"
#include "space/timeline.h"

struct hwtd_context *hwtdi_trace_library(const struct hwtd_trace *trace);
struct hwtd_trace *hwtdi_trace_hold(struct hwtd_trace *trace);
bool hwtdi_trace_sealed(const struct hwtd_trace *trace);

/*
 * A window over raw bytes of one stream, one thread at a time.  It keeps what
 * it needs (a buffer, an unpacked chunk) from one call to the next.
 */
struct hwtdi_window;

int hwtdi_window_create(const struct hwtd_trace *trace, uint32_t stream,
    struct hwtdi_window **out, struct hwtd_error *err);
void hwtdi_window_destroy(struct hwtdi_window *window);

/*
 * See [off, off + n) of the stream as adjoining bytes.  Without copy where
 * the stream lies in memory that way.  The bytes are borrowed until the next
 * call on the window.  The range must lie inside one extent.
 *
 * HWTD_E_CORRUPT: a chunk in the range is damaged; *damage_out (never NULL)
 * names the damaged part of the stream and of the file, and the bytes before
 * it in the range can still be seen by asking for less.
 */
int hwtdi_window_see(struct hwtdi_window *window, uint64_t off, size_t n,
    const uint8_t **bytes_out, struct hwtd_damage *damage_out,
    struct hwtd_error *err);

/*
 * Where a byte of a source's stream lies in what its sink wrote.
 * HWTD_E_NOT_FOUND: the stream has its own bytes.
 */
int hwtdi_window_sink_off(struct hwtdi_window *window, uint64_t off,
    uint64_t *sink_off_out, struct hwtd_error *err);

/* It is no hole of a stream. */
static inline bool
hwtdi_damage_is_stray(const struct hwtd_damage *damage)
{
	return (damage->stream == HWTD_NO_ID || damage->first == damage->end);
}

/*
 * Damage of the file where bytes of a stream from `first` on are missing, or
 * NULL.  O(log n).
 */
const struct hwtd_damage *hwtdi_trace_find_damage(
    const struct hwtd_trace *trace, uint32_t stream, uint64_t first);

/* The configuration of an Intel PT stream, or NULL. */
const struct hwtd_pt_config *hwtdi_trace_pt_config(
    const struct hwtd_trace *trace, uint32_t stream);

/* The configuration of a CoreSight stream, or NULL. */
const struct hwtd_spe_config *hwtdi_trace_spe_config(
    const struct hwtd_trace *trace, uint32_t stream);
const struct hwtd_coresight_config *hwtdi_trace_coresight_config(
    const struct hwtd_trace *trace, uint32_t stream);

/* The records by position: indices for hwtd_trace_record().  Borrowed. */
const size_t *hwtdi_trace_record_order(const struct hwtd_trace *trace,
    size_t *n_out);

/* Id of an execution context; equal contexts have one id for ever. */
int hwtdi_trace_intern_context(struct hwtd_trace *trace,
    const struct hwtd_exec_context *context, uint32_t *id_out,
    struct hwtd_error *err);

/*
 * A run of code bytes in place.  Valid while the trace is open.
 */
struct hwtdi_span {
	const uint8_t *bytes;
	/* Virtual address of the first byte. */
	uint64_t address;
	/* Bytes. */
	uint64_t length;
	/* Section id; stands for image and generation. */
	uint32_t section;
	/* When it can have been there; those of the place, and what it adds. */
	struct hwtdi_moments moments;
};

/* Sections that fit, with which an answer is kept. */
#define HWTDI_CODE_CHOSEN 64

/* Answers that are kept; a power of 2. */
#define HWTDI_CODE_ANSWERS 64

/* A question and its answer. */
struct hwtdi_code_answer {
	struct hwtdi_span span;
	/* By the records, and what was known. */
	struct hwtdi_moments moments, known;
	uint32_t chosen[HWTDI_CODE_CHOSEN];
	size_t n_chosen;
};

/* Of one asker, who is not asked by two threads. */
struct hwtdi_code_answers {
	/* A bit for each that is there. */
	uint64_t given;
	struct hwtdi_code_answer at[HWTDI_CODE_ANSWERS];
};
_Static_assert(HWTDI_CODE_ANSWERS == 64, "answers have a bit each");

/* None yet, in memory that is not set: it is a lot. */
static inline void
hwtdi_code_answers_init(struct hwtdi_code_answers *answers)
{
	answers->given = 0;
}

/* Where code is asked for. */
struct hwtdi_code_place {
	/* May be NULL: unknown. */
	const struct hwtd_exec_context *context;
	uint32_t stream;
	uint64_t stream_off;
	bool has_time;
	uint64_t time_ns;
	/* When it can be, by what was found before. */
	struct hwtdi_moments moments;
	/* Sections that were found to fit; the first that is possible holds. */
	const uint32_t *chosen;
	size_t n_chosen;
	/* Else which of several that are possible: 0 is the newest. */
	uint32_t choice;
	/* May be NULL. */
	struct hwtdi_code_answers *answers;
};

/*
 * The span that holds `address` at a place.  Thread-safe on a sealed trace.
 *
 * HWTD_OK; HWTD_END: this one, but there may be others that differ, see
 * `choice`; HWTD_E_NOT_FOUND (nothing, or nothing more, is mapped);
 * HWTD_E_UNSUPPORTED (what is mapped has no bytes: a missing image);
 * HWTD_E_STATE (what can be there contradicts what was found before: it belongs
 * to a program that had ended, or had not started).
 */
int hwtdi_trace_find_code(const struct hwtd_trace *trace,
    const struct hwtdi_code_place *place, uint64_t address,
    struct hwtdi_span *out);

/* Where the whole file of an image can be read; borrowed from the trace. */
struct hwtdi_image_source {
	const char *name;
	/* What the trace holds, from the start of the file on; NULL: nothing. */
	const uint8_t *bytes;
	uint64_t n_bytes;
	/* The file that the bytes are of; NULL: none is known. */
	const char *path;
};

void hwtdi_trace_image_source(const struct hwtd_trace *trace, size_t image,
    struct hwtdi_image_source *out);

/* No record can change which code is where. */
bool hwtdi_trace_is_fixed(const struct hwtd_trace *trace);

/*
 * Who runs at a place of a stream that is not of one thread, if records tell;
 * *until_out (may be NULL): the time, or the offset where there is no time,
 * up to which that holds.
 */
void hwtdi_trace_runner(const struct hwtd_trace *trace,
    const struct hwtdi_code_place *place, uint32_t *pid_inout,
    uint32_t *tid_inout, uint64_t *until_out);

/*
 * Who was sampled, where the sample has values of CONTEXTIDR_EL2 and _EL1 (0: it
 * has not, or says nothing).  In: who runs by records, else who owns the stream.
 *
 * As the stream says whose ids they are.  Where it does not, a value that is a
 * thread of the trace is it.  Others may be ids of another
 * namespace, so that records come before them, and they before the owner.
 */
void hwtdi_trace_sampled(const struct hwtd_trace *trace, uint32_t stream,
    uint32_t context_el2, uint32_t context_el1, uint32_t *pid_inout,
    uint32_t *tid_inout);

/*
 * Whose code it is, where CONTEXTIDR of the context is a thread that records know:
 * the trace says so at the byte, and records only at a time.  In: who runs by
 * records, else who owns the stream.
 */
void hwtdi_trace_in_context(const struct hwtd_trace *trace, uint32_t stream,
    const struct hwtd_exec_context *context, uint32_t *pid_inout,
    uint32_t *tid_inout);

/*
 * Answers about code and who runs, to the same questions, do not change before
 * this byte of the stream and this time; UINT64_MAX: never.
 */
void hwtdi_trace_until(const struct hwtd_trace *trace,
    const struct hwtdi_code_place *place, uint64_t *off_out,
    uint64_t *time_out);

/*
 * What layers above make of a trace when it is first needed, and share: a place
 * for it.  `drop` is called when the trace is closed.
 */
struct hwtdi_shared {
	pthread_mutex_t lock;
	void *object;
	void (*drop)(void *object);
};

struct hwtdi_shared *hwtdi_trace_shared(struct hwtd_trace *trace);

/* Drop it; when it is needed it is made anew. */
void hwtdi_trace_forget(struct hwtd_trace *trace);

#endif /* HWTDI_TRACE_MODEL_H */
