/*
 * A model of the hardware that writes to a ring of hwt(4), and what it says about
 * looks into that ring.
 */
#ifndef TEST_RING_MODEL_H
#define TEST_RING_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/ring_look.h"

#define PAGE 4096
#define SIZE_MOST (8 * PAGE)
#define SLICES 24
#define SLICE_MOST (16 * SIZE_MOST)
#define CANDIDATES 128

/* What the hardware did. */
extern struct ring_model {
	uint64_t seed;
	uint64_t size;
	/* Each slice, as a whole. */
	struct {
		uint8_t *bytes;
		size_t n;
		/* By byte: SURE or MIXED, if it was handed out. */
		uint8_t *given;
	} slices[SLICES];
	size_t n_slices;
	bool on;
	uint64_t told;
	/* Bytes of a slice until its next interrupt. */
	size_t interrupt;
	uint64_t switches;
	uint64_t records[64];
	size_t n_records;
	size_t shared;
	/* 0: right; else the page is always the first, or none. */
	unsigned wrong;
	_Alignas(8) uint8_t ring[SIZE_MOST];

	struct hwtd_context *ctx;
	struct hwtdi_look_ring look;
	/* Slices and offsets where the chain of joined pieces may end. */
	struct {
		size_t slice;
		size_t end;
	} ends[CANDIDATES];
	size_t n_ends;
	/* The chain, and how its first piece was. */
	size_t chain;
	size_t chain_at;
	bool chain_older;
	bool chain_new;
	uint8_t chain_bytes[SLICE_MOST];
	size_t newest;
	/* Bytes that never came, as of the last look. */
	size_t missing;
	/* It was said that there are, since bytes came last. */
	bool said;
	/* Totals, so that a test sees that something happened. */
	uint64_t handed, joined, older, mixed, lost, doubted, lapped;

	/* What happens while the ring is copied: how often, and after what. */
	uint64_t moves;
	uint64_t move_after;
	bool one_slice;
} ring_model;

/* Less than `n`. */
uint64_t ring_model_random_to(uint64_t n);
/* Fewer runs, for builds that are slow. */
bool ring_model_small(void);
/* Other runs: HWTDECODE_TEST_SEED is their number, instead of 0. */
uint64_t ring_model_first_seed(void);
/* Nothing was written yet. */
void ring_model_begin(uint64_t seed, uint64_t size, enum hwtdi_look_kind kind);
/* A slice begins, or ends. */
void ring_model_switch_in(void);
void ring_model_switch_out(void);
/* The newest slice goes on. */
void ring_model_write_bytes(size_t n);
/* What was handed out is over: no byte came twice. */
void ring_model_end_chain(void);
/* What a look handed out was written so, and what is missing is said to be. */
void ring_model_check_look(const struct hwtdi_look *look);
/* The writer does something, at most `most` bytes of it. */
void ring_model_anything_happens(bool switches, uint64_t most);
/* A look while the writer goes on, and the last one. */
void ring_model_random_look(bool one_slice);
void ring_model_last_look(void);

#endif /* TEST_RING_MODEL_H */
