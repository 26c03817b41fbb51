/*
 * Addresses relative to what.
 *
 * Source: read from the tools themselves: llvm-profgen and perf2bolt 22,
 * create_llvm_prof 0.19; tests/exports runs them.
 */
#include "export/compilers/code_base.h"

/* Profgen takes pages to have this size, on all machines. */
#define PROFGEN_PAGE UINT64_C(4096)

static uint64_t
first_executable(const struct hwtdi_image_layout *layout)
{
	size_t i = 0;

	while (i < layout->n_segments && !layout->segments[i].executable)
		i++;
	return (i < layout->n_segments
		? layout->segments[i].vaddr & ~(PROFGEN_PAGE - 1)
		: 0);
}

static uint64_t
lowest(const struct hwtdi_image_layout *layout)
{
	uint64_t at = UINT64_MAX;

	for (size_t i = 0; i < layout->n_segments; i++)
		if (layout->segments[i].vaddr < at)
			at = layout->segments[i].vaddr;
	return (layout->n_segments > 0 ? at : 0);
}

uint64_t
hwtdi_code_base(const struct hwtdi_image_layout *layout, uint32_t format)
{
	switch (format) {
	case HWTD_FORMAT_LLVM_UNSYMBOLIZED:
		return (first_executable(layout));
	case HWTD_FORMAT_AUTOFDO:
		return (lowest(layout));
	default:
		return (0);
	}
}
