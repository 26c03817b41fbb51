/*
 * The time at packets of Intel PT: from TSC, TMA, MTC, CYC and CBR.
 *
 * Source: Intel SDM vol. 3C, "Packet Definitions" and "Tracking Time Using
 * Intel PT".
 *
 * Time is told block by block, from one PSB to the next, and depends on nothing
 * else but the TSC in the PSB+ behind: so it is the same wherever reading began.
 * Where TSC goes back, which it should not, a segment keeps its highest count.
 * Two passes go over a block.  The first finds its *references*, the packets
 * that tell a count of the time stamp counter: TSC, and MTC where TMA says
 * which edge of the crystal clock it stands for.  The second places CYC between
 * those that are around it; it reads the block once more only if there were too
 * many CYC to remember.  Packets between two references without any CYC are spread by
 * their bytes.
 *
 * What is told lies between two references, and they bound the error.
 */
#ifndef HWTDI_PT_TIME_H
#define HWTDI_PT_TIME_H

#include "base/library.h"
#include "base/ratio.h"
#include "decode/decoder.h"
#include "decode/pt/pt_lexer.h"

/* A packet that tells a count. */
struct hwtdi_pt_ref {
	uint64_t stream_off;
	uint64_t count;
	uint64_t error;
	/* Weighted cycles up to it, where these must lie, and up to its CYC. */
	uint64_t weight, low, high, told;
	/* Those up to where cycles are of no known rate; else HWTDI_PT_NEVER. */
	uint64_t broken;
	bool estimated;
};

#define HWTDI_PT_NEVER UINT64_MAX

/* A CYC: the weighted cycles of the block up to and with it. */
struct hwtdi_pt_cyc {
	uint64_t stream_off;
	uint64_t weight;
};

/* The first pass remembers so many in a block. */
#ifndef HWTDI_PT_CYCS
#define HWTDI_PT_CYCS ((size_t)1 << 14)
#endif

/* Core clocks, each weighted by its length as CBR tells it. */
struct hwtdi_pt_cycles {
	uint64_t weight;
	/* The weight of one, at the ratio that holds. */
	uint64_t each;
};

/* One core clock at the nominal ratio of 1. */
#define HWTDI_PT_CYCLE ((uint64_t)1 << 24)

/* What is known of the time from a byte on, up to the next such. */
struct hwtdi_pt_moment {
	uint64_t stream_off;
	/* At this packet, and from the next one on. */
	uint64_t count, count_after;
	/*
	 * They are not off by more, unless only what was told is asked for.
	 * UINT64_MAX: nobody knows.  It is relied
	 * upon that, where no TSC is behind, less than 256 MTC are missing in a
	 * row without a sign of it.
	 */
	uint64_t error, error_after;
	bool estimated;
	/* If no cycles are counted up to it: the reference behind. */
	bool has_ref;
	uint64_t ref_off, ref_count;
};

/* Moments that are found at a time, at least 2. */
#define HWTDI_PT_MOMENTS 32

struct hwtdi_pt_time {
	struct hwtd_context *library;
	/* Configuration. */
	uint32_t crystal, counter;
	unsigned int mtc_freq;
	unsigned int nominal;
	/* Counts are those of 64 bits that are nearest to this one. */
	uint64_t near;
	/* There were MTC packets that tell nothing without CPUID 15h. */
	bool mtc_ignored;
	/* Only what hwtdi_pt_time_told() tells is asked for. */
	bool only_told;

	/* The segment, and the block [at, end) of it that is left. */
	struct hwtdi_pt_stretch segment;
	struct hwtdi_pt_lexer lexer;
	uint64_t at, end;
	bool synced;
	struct hwtdi_pt_ref *refs;
	size_t n_refs, cap_refs;
	/* All CYC of the block, if `has_cycs`. */
	struct hwtdi_pt_cyc *cycs;
	size_t n_cycs, cap_cycs;
	bool has_cycs;
	/* Counts in the block are not above this one. */
	uint64_t most;

	/*
	 * How far the second pass is: the next reference and CYC, and what was
	 * last.
	 */
	size_t i_ref, i_cyc;
	struct hwtdi_pt_cycles cycles;
	/*
	 * From the last reference to the next: counts in weighted cycles, if it
	 * is so simple, and there is a next one.
	 */
	struct hwtdi_ratio pace;
	/* So many counts in so many weighted cycles of the block; else 0. */
	uint64_t rate_counts, rate_weight;
	/* No count of the segment is below this one. */
	uint64_t least;
	unsigned int i_now, n_found;
	bool has_now;
	/* More are not to be found now. */
	unsigned int most_found;
	/*
	 * Moments that were found: `i_now` is the one that holds, if there is
	 * one yet; those behind it are to come.  The others are not set: they
	 * are most of this.
	 */
	struct hwtdi_pt_moment found[HWTDI_PT_MOMENTS + 1];
};

/* `config` may be NULL. */
void hwtdi_pt_time_init(struct hwtdi_pt_time *time,
    struct hwtd_context *library, const struct hwtd_pt_config *config,
    uint64_t near);
void hwtdi_pt_time_fini(struct hwtdi_pt_time *time);

/*
 * Begin a segment.  Its bytes, and those of its tail, stay where they are.
 * `synced`: a packet begins with the first of them.
 */
void hwtdi_pt_time_start(struct hwtdi_pt_time *time,
    const struct hwtdi_pt_stretch *segment, bool synced);

/* What a moment tells of a packet at or behind it, before the next moment. */
void hwtdi_pt_moment_at(const struct hwtdi_pt_moment *moment,
    uint64_t stream_off, struct hwtdi_pt_moment *out);

/*
 * What is known at an offset, which must not go back within a segment.
 * HWTD_OK, HWTD_E_NOT_FOUND: no time is known yet; HWTD_E_NOMEM.
 */
int hwtdi_pt_time_at(struct hwtdi_pt_time *time, uint64_t stream_off,
    struct hwtdi_pt_moment *out);

/* Have the next moment, unless there is none; HWTD_OK, HWTD_E_NOMEM. */
int hwtdi_pt_time_look_ahead(struct hwtdi_pt_time *time);

/* The moment that holds, if there is one, and the one behind it, or NULL. */
static inline const struct hwtdi_pt_moment *
hwtdi_pt_time_now(const struct hwtdi_pt_time *time)
{
	return (&time->found[time->i_now]);
}

static inline const struct hwtdi_pt_moment *
hwtdi_pt_time_next(const struct hwtdi_pt_time *time)
{
	return (time->i_now + 1 < time->n_found ? &time->found[time->i_now + 1]
						: NULL);
}

/* Only find out what hwtdi_pt_time_told() tells at an offset, likewise. */
static inline int
hwtdi_pt_time_pass(struct hwtdi_pt_time *time, uint64_t stream_off)
{
	for (;;) {
		const struct hwtdi_pt_moment *next = hwtdi_pt_time_next(time);

		if (next == NULL) {
			const int rc = hwtdi_pt_time_look_ahead(time);

			if (rc != HWTD_OK)
				return (rc);
			next = hwtdi_pt_time_next(time);
		}
		if (next == NULL || next->stream_off > stream_off)
			return (time->has_now ? HWTD_OK : HWTD_E_NOT_FOUND);
		time->i_now++;
		time->has_now = true;
	}
}

/*
 * Of the offset that was asked for last: the last count that was told there or
 * before, which has passed for sure.
 */
static inline uint64_t
hwtdi_pt_time_told(const struct hwtdi_pt_time *time, uint64_t stream_off)
{
	const struct hwtdi_pt_moment *const now = hwtdi_pt_time_now(time);

	return (stream_off > now->stream_off ? now->count_after : now->count);
}

/*
 * What is told of packets by where they end: the next times of the segment, in
 * order.  None: there are no more.  Who asks so asks for nothing else.  HWTD_OK,
 * HWTD_E_NOMEM.
 */
int hwtdi_pt_time_list(struct hwtdi_pt_time *time,
    struct hwtdi_when out[HWTDI_WHENS], size_t *n_out);

/* What the files share. */

static inline uint64_t
hwtdi_pt_add(uint64_t a, uint64_t b)
{
	return (b > UINT64_MAX - a ? UINT64_MAX : a + b);
}

/* a * b / c, at most UINT64_MAX. */
uint64_t hwtdi_pt_scale(uint64_t a, uint64_t b, uint64_t c);

/* Not so many core clocks pass between two packets. */
#define HWTDI_PT_MANY_CYCLES ((uint64_t)1 << 36)

static inline void
hwtdi_pt_count_cycles(struct hwtdi_pt_cycles *cycles, uint64_t n)
{
	if (n > HWTDI_PT_MANY_CYCLES)
		n = HWTDI_PT_MANY_CYCLES;
	cycles->weight = hwtdi_pt_add(cycles->weight, n * cycles->each);
}

/* No cycles yet, and a CBR. */
void hwtdi_pt_no_cycles(const struct hwtdi_pt_time *time,
    struct hwtdi_pt_cycles *cycles);
void hwtdi_pt_pass_cbr(struct hwtdi_pt_cycles *cycles, uint64_t ratio);

/*
 * Find the references of the block that begins at `at`, and where it ends.
 * HWTD_OK, HWTD_E_NOMEM.
 */
int hwtdi_pt_find_refs(struct hwtdi_pt_time *time);

#endif /* HWTDI_PT_TIME_H */
