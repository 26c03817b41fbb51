/*
 * hwtdecode spe: the samples of Arm SPE, every field of them.
 */
#include "cli/print/print_rows.h"

int
cmd_spe(const struct options *options)
{
	struct options mine = *options;

	mine.sample_rows = true;
	if (mine.kinds == 0)
		mine.kinds = 1u << HWTD_EV_SAMPLE | 1u << HWTD_EV_GAP;
	return (print_rows(&mine, HWTD_LEVEL_BLOCK));
}
