/*
 * Names that resemble one that was not found, for messages.
 */
#ifndef HWTDI_NEAR_NAMES_H
#define HWTDI_NEAR_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Names that are kept, and bytes of the longest that is compared. */
#define HWTDI_NEAR_MAX 3u
#define HWTDI_NEAR_BYTES_MAX 200u

struct hwtdi_near_names {
	const char *wanted;
	size_t n_wanted;
	/* The best first; borrowed from who offered them. */
	const char *names[HWTDI_NEAR_MAX];
	uint32_t costs[HWTDI_NEAR_MAX];
	size_t n;
	/* Of comparing: what is offered after it is used up is passed over. */
	uint64_t left;
};

void hwtdi_near_names_init(struct hwtdi_near_names *near, const char *wanted);

/*
 * Keep a name if it is one of the best: few changes lead from one to the other, or
 * it has all of the wanted one in it, as mangled names of C++ have.  A name
 * with control characters is not kept, nor one that is there already.
 */
void hwtdi_near_names_offer(struct hwtdi_near_names *near, const char *name);

#endif /* HWTDI_NEAR_NAMES_H */
