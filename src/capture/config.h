/*
 * What a context of hwt(4) is asked to record: options in terms of the library
 * become the config of a backend, and the description of its streams.
 */
#ifndef HWTDI_CONFIG_H
#define HWTDI_CONFIG_H

#include <hwtdecode/capture.h>

#include "capture/address_filter.h"
#include "capture/machine.h"

/* Buffers by default, and the least pages of any. */
#define HWTDI_CONFIG_PT_PAGES 511
#define HWTDI_CONFIG_SPE_PAGES 256
#define HWTDI_CONFIG_CS_PAGES 1024
#define HWTDI_CONFIG_SPE_INTERVAL 4096

struct hwtdi_config {
	enum hwtdi_backend backend;
	/* For SET_CONFIG. */
	size_t size;
	int version;
	union {
		struct hwtdi_hwt_pt_config pt;
		struct hwtdi_hwt_pt_long_config pt_long;
		struct hwtdi_hwt_spe_config spe;
		struct hwtdi_hwt_cs_config cs;
	} blob;
	/* For streams: one of them counts. */
	struct hwtd_pt_config pt;
	struct hwtd_spe_config spe;
	/* Without the trace ID. */
	struct hwtd_coresight_config cs;
	/* What is recorded, in words. */
	char text[HWTD_CAPTURE_TEXT];
};

/* The options of one backend; the others are not looked at. */
struct hwtdi_config_options {
	enum hwtdi_backend backend;
	enum hwtdi_kernel_kind kernel;
	enum hwtdi_hwt_mode mode;
	struct hwtd_capture_pt pt;
	struct hwtd_capture_spe spe;
	struct hwtd_capture_coresight coresight;
	/* Shape [n_ranges]. */
	const struct hwtdi_filter_range *ranges;
	size_t n_ranges;
};

/* Bytes of a buffer: as asked for, or the default. */
uint64_t hwtdi_config_bufsize(const struct hwtdi_config_options *options,
    uint64_t page_size);

/* Code of the kernel is among what is recorded. */
bool hwtdi_config_traces_kernel(const struct hwtdi_config_options *options);

/* Ranges that the hardware has; 0: none. */
size_t hwtdi_config_ranges(enum hwtdi_backend backend,
    const struct hwtdi_machine *machine);

/*
 * HWTD_E_INVALID: an option out of range; HWTD_E_UNSUPPORTED: this kernel or
 * CPU cannot do it, the message says which.
 */
int hwtdi_config_make(const struct hwtdi_config_options *options,
    const struct hwtdi_machine *machine, struct hwtdi_config *out,
    struct hwtd_error *err);

/*
 * ID registers of the ETM of a CPU, by sysctl(3).  False: they cannot be read, and
 * a decoder will not know how the trace was written.
 */
bool hwtdi_config_etm_ids(const struct hwtdi_system *sys, uint32_t unit,
    uint32_t idr[HWTD_CS_IDRS]);

#endif /* HWTDI_CONFIG_H */
