/*
 * A library that the program calls, and that calls it back.
 */
#include "program.h"

__attribute__((noinline)) static uint32_t
inside(uint32_t x)
{
	return (x >> 3 | x << 29);
}

uint32_t
mix(uint32_t x, uint32_t (*call)(uint32_t))
{
	return (call(inside(x)) ^ 0x0f0f0f0fu);
}
