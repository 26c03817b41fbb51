/*
 * hwtdecode insns: every executed instruction as one row.
 */
#include "cli/print/print_rows.h"

int
cmd_insns(const struct options *options)
{
	return (print_rows(options, HWTD_LEVEL_INSN));
}
