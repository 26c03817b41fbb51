/*
 * Whether bytes are JSON, strictly, and UTF-8; for tests of what is exported.
 */
#ifndef TEST_JSON_CHECK_H
#define TEST_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* One value and blanks (RFC 8259); *at_out is where it is wrong. */
bool json_check(const char *text, size_t n, size_t *at_out);

/* All bytes are characters of UTF-8. */
bool utf8_check(const char *text, size_t n);

#endif /* TEST_JSON_CHECK_H */
