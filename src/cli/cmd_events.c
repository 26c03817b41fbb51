/*
 * hwtdecode events: every event as one row, code as blocks.
 */
#include "cli/print/print_rows.h"

int
cmd_events(const struct options *options)
{
	return (print_rows(options, HWTD_LEVEL_BLOCK));
}
