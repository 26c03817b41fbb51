/*
 * Stored expectations: what a decode gave, as lines of "key value", kept to
 * be compared with later decodes.
 */
#ifndef HWTDECODE_CLI_EXPECTATION_H
#define HWTDECODE_CLI_EXPECTATION_H

#include "cli/output/account.h"

/* How the first line of every version of the format starts. */
#define EXPECTATION_MARK "hwtdecode-expectation "

struct expectation_line {
	char *key;
	char *value;
};

struct expectation {
	/* In the order of the file. */
	struct expectation_line *lines;
	size_t n;
	/* The same by key. */
	const struct expectation_line **sorted;
};

/* What was found.  False after a message. */
bool expectation_of(struct expectation *expectation,
    const struct account *account);

/* What is stored.  False after a message; *code_out is the exit code. */
bool expectation_read(struct expectation *expectation, const char *path,
    int *code_out);

/* False after a message. */
bool expectation_write(const struct expectation *expectation,
    const char *path);

/* Called with every difference; NULL where a side lacks the key. */
typedef void (*difference_fn)(void *arg, const char *key, const char *expected,
    const char *found);

/* How many keys differ. */
size_t expectation_compare(const struct expectation *expected,
    const struct expectation *found, difference_fn on_difference, void *arg);

void expectation_fini(struct expectation *expectation);

#endif /* HWTDECODE_CLI_EXPECTATION_H */
