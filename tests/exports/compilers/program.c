/*
 * A program that a profile helps: a loop with a way that is nearly always gone, a
 * call through a pointer that nearly always leads to one function, a function that
 * is worth inlining, a tail call, recursion, system calls and calls of a library
 * that calls back.  It prints a number that depends on all of it.
 *
 * No C library: what runs is this, so that it is short enough to be stepped through.
 */
#include "program.h"

#define SYS_WRITE 1
#define SYS_GETPID 39
#define SYS_EXIT_GROUP 231

#define ROUNDS 700u

static long
system_call(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return (result);
}

__attribute__((noinline)) static uint32_t
often(uint32_t x)
{
	return (x * 2654435761u ^ x >> 15);
}

__attribute__((noinline)) static uint32_t
seldom(uint32_t x)
{
	for (unsigned int i = 0; i < 3; i++)
		x = (x << 7 | x >> 25) + i * 77u;
	return (x);
}

__attribute__((noinline)) static uint32_t
never(uint32_t x)
{
	return (x != 0 ? x / 3u + never(x / 2u) : 1);
}

/* Worth inlining where it is called often. */
static uint32_t
weigh(uint32_t x, uint32_t kind)
{
	if (kind == 0)
		return ((x ^ 0x5bd1e995u) + (x >> 3));
	if (kind == 1)
		return (x * 31u + 7u);
	if (kind == 2)
		return (never(x));
	return (seldom(x) + kind);
}

__attribute__((noinline)) static uint32_t
finish(uint32_t x)
{
	return (x ^ x >> 16);
}

/* Ends with a tail call. */
__attribute__((noinline)) static uint32_t
pass_on(uint32_t x)
{
	return (finish(x + 0x1234567u));
}

__attribute__((noinline)) static uint32_t
depth(uint32_t n)
{
	return (n < 2 ? n + 1 : depth(n - 1) + depth(n - 2));
}

/* The library calls it. */
static uint32_t
called_back(uint32_t x)
{
	return (x + 3u);
}

__attribute__((noinline)) uint32_t
run(void)
{
	uint32_t (*volatile ways[2])(uint32_t) = { often, seldom };
	uint32_t x = 1, sum = 0;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		x = ways[i % 64u == 63u](x + i);
		sum += weigh(x, i % 100u == 99u ? 3u : (i % 16u == 15u));
		if (i % 128u == 127u)
			sum += (uint32_t)(system_call(SYS_GETPID, 0, 0, 0) >
			    0);
		if (i % 32u == 31u)
			sum += mix(x, called_back);
		sum ^= pass_on(sum);
	}
	return (sum + depth(8));
}

__attribute__((used)) static void
start(void)
{
	char text[10] = "00000000\n";
	uint32_t sum = run();

	for (int i = 7; i >= 0; i--, sum >>= 4)
		text[i] = (char)((sum & 15u) < 10u ? '0' + (sum & 15u)
						   : 'a' + (sum & 15u) - 10);
	system_call(SYS_WRITE, 1, (long)text, 9);
	system_call(SYS_EXIT_GROUP, 0, 0, 0);
}

/* The stack is aligned as after a call. */
__asm__(".text\n"
	".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	"	xor	%ebp, %ebp\n"
	"	and	$-16, %rsp\n"
	"	call	start\n"
	"	ud2\n"
	".size _start, . - _start\n");
