/*
 * A program of which the calls are known: no library, so that its code is ours
 * alone.  It calls shallow and deep, itself, and by a jump at the end.
 */
#define SYS_EXIT_GROUP 231

static volatile unsigned int sum;

__attribute__((noinline)) void
leaf(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		sum += i;
}

__attribute__((noinline)) unsigned int
deep(unsigned int n)
{
	unsigned int below = n == 0 ? 0 : deep(n - 1);

	leaf(n);
	return (below + 1);
}

__attribute__((noinline)) void
middle(unsigned int n)
{
	leaf(n);
	leaf(n + 1);
	sum++;
}

void
_start(void)
{
	for (unsigned int i = 0; i < 20; i++) {
		middle(i);
		sum += deep(i % 5);
	}
	__asm__ volatile("syscall" : : "a"(SYS_EXIT_GROUP), "D"(0));
	__builtin_unreachable();
}
