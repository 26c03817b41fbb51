/*
 * Counts of lines are kept also of processes that end by _exit(), as those of
 * captures do; linked where coverage is measured only.
 */
#include "sim_coverage.h"

#include <unistd.h>

/* Of gcov, and of the linker. */
void __gcov_dump(void);
void __real__exit(int status) __attribute__((noreturn));

void
__wrap__exit(int status)
{
	__gcov_dump();
	__real__exit(status);
}
