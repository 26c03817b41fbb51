/*
 * The machine that a capture runs on, as far as streams and configs depend on it.
 */
#ifndef HWTDI_MACHINE_H
#define HWTDI_MACHINE_H

#include "capture/hwt_calls.h"

/* A version that is longer is cut. */
#define HWTDI_MACHINE_TEXT 256

struct hwtdi_machine {
	uint32_t n_cpus;
	uint64_t page_size;
	/* "amd64", "aarch64"; "": not known. */
	char arch[HWTDI_MACHINE_TEXT];
	/* "15.0-RELEASE" */
	char release[HWTDI_MACHINE_TEXT];
	/* What the CPU calls itself. */
	char model[HWTDI_MACHINE_TEXT];
	/* File of the kernel, and folders of modules, with ';' between. */
	char bootfile[1024];
	char module_path[1024];

	/* x86; family 0: not known. */
	uint16_t family;
	uint8_t cpu_model;
	uint8_t stepping;
	/* Base frequency in 100 MHz; 0: not known. */
	uint8_t nom_freq;
	/* CPUID leaf 14h, subleaves 0 and 1, and leaf 15h. */
	uint32_t leaf_14[2][4];
	uint32_t leaf_15[4];
	/* It has Intel PT that a kernel can use; else why not. */
	bool has_pt;
	struct hwtdi_pt_caps pt;
	struct hwtd_error no_pt;

	/* Arm; 0: not known. */
	uint32_t midr;

	/* Counts of `counter()` in a second; 0: there is none. */
	uint64_t frequency;
	/* One moment of both clocks. */
	uint64_t base_count;
	uint64_t base_ns;
};

/* What cannot be found out stays unknown. */
void hwtdi_machine_read(const struct hwtdi_system *sys,
    struct hwtdi_machine *out);

/* MIDR_EL1 of what hw.model says, for instance "ARM Neoverse-N1 r3p1". */
uint32_t hwtdi_machine_midr(const char *model);

/* A number of sysctl(3); false: there is none of that name. */
bool hwtdi_machine_number(const struct hwtdi_system *sys, const char *name,
    uint64_t *out);

#endif /* HWTDI_MACHINE_H */
