/*
 * A program with an inlined function: what symbolize.c is tried on.
 */
static volatile int box;

static inline __attribute__((always_inline)) void
inner(void)
{
	box++;
	box++;
}

__attribute__((noinline)) void outer(void);

void
outer(void)
{
	inner();
}

int
main(void)
{
	outer();
	return (0);
}
