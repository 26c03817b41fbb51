/*
 * What the program and its library have in common.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdint.h>

uint32_t mix(uint32_t x, uint32_t (*call)(uint32_t));

#endif /* PROGRAM_H */
