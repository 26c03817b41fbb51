/*
 * OpenCSD, and nothing else knows it: one tree for one trace source.
 *
 * Versions of the library differ in the layout of what they hand out, under one
 * SONAME; so what is read is chosen by the version that runs, and versions whose
 * layout is not known are refused.
 */
#ifndef HWTDI_CS_LIBRARY_H
#define HWTDI_CS_LIBRARY_H

#include <hwtdecode/coresight.h>

#include "decode/coresight/cs_element.h"

/* Where versions differ. */
struct hwtdi_cs_layout {
	uint32_t version;
	/* Of the pointer to more data, in an element. */
	uint8_t extended_at;
	/* Kinds from this number on mean something else, or nothing. */
	uint8_t n_kinds;
	/* Bits of all memory spaces. */
	uint8_t any_space;
	/* Time stamps of STM in Gray code are others from 31 bits on. */
	bool wrong_gray;
	/* Why nothing is known, or trace ends: it is the end of what there is. */
	uint8_t end_reason;
	/* Bytes in the struct of an ETMv4 packet that 1.3.3 does not have. */
	uint8_t etmv4_shift;
	/* What is not committed is kept as hwtdi_cs_speculation does it. */
	bool has_old_speculation;
};

/* HWTD_OK; HWTD_E_UNSUPPORTED: what a version hands out is not known. */
int hwtdi_cs_layout_of(uint32_t version, struct hwtdi_cs_layout *out,
    struct hwtd_error *err);

/* From an element of the library; `off` is not set. */
void hwtdi_cs_copy_element(const struct hwtdi_cs_layout *layout,
    const void *element, struct hwtdi_cs_element *out);

/* The version as number and text, as the library and its header say. */
uint32_t hwtdi_cs_library_version(void);
void hwtdi_cs_library_text(uint32_t version, char text[16]);
uint32_t hwtdi_cs_header_version(void);

/* Code that the source executes: bytes read at `address`, at most `n`. */
typedef size_t (*hwtdi_cs_read_code)(void *arg, uint64_t address, uint8_t *buf,
    size_t n);

/*
 * A packet as the library's struct of its protocol, and the bytes it is of, the
 * first of which is at `off`; all borrowed during the call.
 */
typedef void (*hwtdi_cs_see_packet)(void *arg, uint64_t off,
    const void *packet, const uint8_t *bytes, size_t n);

struct hwtdi_cs_tree_args {
	struct hwtd_context *library;
	const struct hwtd_coresight_config *config;
	/*
	 * Elements are put there, and see_packet may be told the packet before
	 * what it makes.  NULL: only see_packet is told.
	 */
	struct hwtdi_cs_queue *queue;
	hwtdi_cs_see_packet see_packet;
	hwtdi_cs_read_code read_code;
	void *arg;
};

struct hwtdi_cs_tree;

/*
 * HWTD_OK, HWTD_E_NOMEM, HWTD_E_UNSUPPORTED (a protocol or configuration that
 * the library does not know, or a library that is not known).
 */
int hwtdi_cs_tree_create(const struct hwtdi_cs_tree_args *args,
    struct hwtdi_cs_tree **out, struct hwtd_error *err);
void hwtdi_cs_tree_destroy(struct hwtdi_cs_tree *tree);

/* What comes next does not adjoin. */
int hwtdi_cs_tree_reset(struct hwtdi_cs_tree *tree, uint64_t off,
    struct hwtd_error *err);

/*
 * Bytes of the source that adjoin; at most HWTDI_CS_FEED_MAX.  HWTD_OK: all were
 * taken.  HWTD_E_CORRUPT: the library gave up; all is forgotten up to the next
 * reset.  HWTD_E_NOMEM.
 */
#define HWTDI_CS_FEED_MAX 1024
/*
 * The library keeps all bytes of a packet until it ends: one that is so long has no
 * end.  (Of packets that synchronise only zeros before them are more.)
 */
#define HWTDI_CS_ENDLESS 4096
/* Those of a packet that is not whole, which are fed with the next. */
#define HWTDI_CS_KEPT_MAX 64

/* Where a tree stopped, behind HWTD_E_CORRUPT. */
struct hwtdi_cs_stop {
	/* It is all known; else `next` is. */
	bool is_known;
	/* An hwtdi_cs_why. */
	uint8_t why;
	/* From where on nothing is told; a synchronisation comes not before `next`. */
	uint64_t off, next;
	/* Where the packet ends. */
	uint64_t end;
};

/* Behind a reset: it was because of this, which the next NO_SYNC tells. */
void hwtdi_cs_tree_tell(struct hwtdi_cs_tree *tree,
    const struct hwtdi_cs_stop *stop);
/* The same while nothing told it. */
const struct hwtdi_cs_stop *hwtdi_cs_tree_untold(const struct hwtdi_cs_tree
	*tree);

const struct hwtdi_cs_stop *hwtdi_cs_tree_stop(const struct hwtdi_cs_tree
	*tree);

/*
 * All bytes up to `end`, where feeding stands, are of packets that can be, and none
 * is cut off.  False also where that is not known.
 */
bool hwtdi_cs_tree_is_whole(const struct hwtdi_cs_tree *tree, uint64_t end);

int hwtdi_cs_tree_feed(struct hwtdi_cs_tree *tree, uint64_t off,
    const uint8_t *bytes, size_t n, struct hwtd_error *err);

/* There are no more. */
int hwtdi_cs_tree_end(struct hwtdi_cs_tree *tree, struct hwtd_error *err);

/* Code may have changed: what was read of it is forgotten. */
int hwtdi_cs_tree_forget_code(struct hwtdi_cs_tree *tree,
    struct hwtd_error *err);

#endif /* HWTDI_CS_LIBRARY_H */
