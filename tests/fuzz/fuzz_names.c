/*
 * Fuzz harness of names of code: a byte that says which kind of list it is,
 * then its lines.
 */
#include <hwtdecode/hwtdecode.h>
#include <inttypes.h>
#include <stdlib.h>

#include "fuzz.h"
#include "image/name_table.h"

#define MAX_INPUT ((size_t)1 << 16)
/* All names are looked at for each place, so not too many of them. */
#define MAX_MODEL 400

/* The newest with a size that has the address; NULL: there is none. */
static const struct hwtdi_name *
newest(const struct hwtdi_name *names, size_t n, uint64_t address)
{
	for (size_t i = n; i > 0; i--)
		if (names[i - 1].size != 0 &&
		    address - names[i - 1].address < names[i - 1].size)
			return (&names[i - 1]);
	return (NULL);
}

/* `names` are as they were added. */
static void
check_at(const struct hwtdi_name_table *t, const struct hwtdi_name *names,
    size_t n, uint64_t address)
{
	const struct hwtdi_name *want = newest(names, n, address);
	struct hwtdi_name_found found;
	const bool any = hwtdi_name_table_find(t, address, &found);

	FUZZ_CHECK(any || want == NULL, "%#" PRIx64 ": no name", address);
	FUZZ_CHECK(!any || found.address <= address,
	    "%#" PRIx64 ": the name begins behind it", address);
	FUZZ_CHECK(want == NULL ||
		(found.address == want->address &&
		    strcmp(found.text, t->strings + want->text) == 0),
	    "%#" PRIx64 ": %.100s is not the newest", address, found.text);
}

static void
check_names(const struct hwtdi_name_table *t, const struct hwtdi_name *names,
    size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t last = names[i].address +
		    (names[i].size - (names[i].size != 0));

		check_at(t, names, n, names[i].address);
		check_at(t, names, n, names[i].address - 1);
		check_at(t, names, n, last);
		check_at(t, names, n, last + 1);
	}
}

static void
check_pieces(const struct hwtdi_name_table *t)
{
	FUZZ_CHECK(t->n_pieces <= 4 * t->n, "%zu pieces of %zu names",
	    t->n_pieces, t->n);
	for (size_t i = 0; i < t->n_pieces; i++) {
		const struct hwtdi_name_piece *p = &t->pieces[i];
		const struct hwtdi_name *name;

		FUZZ_CHECK(p->first <= p->last, "piece %zu is empty", i);
		FUZZ_CHECK(i == 0 || t->pieces[i - 1].last < p->first,
		    "piece %zu overlaps", i);
		FUZZ_CHECK(p->name < t->n, "piece %zu has no name", i);
		name = &t->names[p->name];
		FUZZ_CHECK(name->address <= p->first &&
			p->last - name->address < name->size,
		    "piece %zu is not of its name", i);
		FUZZ_CHECK(name->text < t->n_strings &&
			t->strings[name->text] != '\0' &&
			memchr(t->strings + name->text, 0,
			    t->n_strings - name->text) != NULL,
		    "piece %zu: no text", i);
	}
}

static void
run(struct hwtd_context *ctx, const uint8_t *data, size_t size)
{
	const bool kallsyms = (data[0] & 1) != 0;
	struct hwtdi_name_table t = { 0 };
	struct hwtdi_name *names;
	/* Just as large, so that a read past the end is noticed. */
	uint8_t *text = malloc(size);
	size_t n;
	int rc;

	FUZZ_CHECK(text != NULL, "out of memory");
	memcpy(text, data + 1, size - 1);
	rc = kallsyms
	    ? hwtdi_name_table_add_kallsyms(&t, ctx, text, size - 1, NULL)
	    : hwtdi_name_table_add_perf_map(&t, ctx, text, size - 1, NULL);
	FUZZ_CHECK(rc == HWTD_OK, "add: %d", rc);
	free(text);
	FUZZ_CHECK((t.n_bad == 0) == (t.first_bad == 0), "first bad line");
	n = t.n;
	names = malloc((n + 1) * sizeof(*names));
	FUZZ_CHECK(names != NULL, "out of memory");
	if (n > 0)
		memcpy(names, t.names, n * sizeof(*names));
	rc = hwtdi_name_table_finish(&t, ctx, NULL);
	FUZZ_CHECK(rc == HWTD_OK, "finish: %d", rc);
	check_pieces(&t);
	if (n <= MAX_MODEL)
		check_names(&t, names, n);
	free(names);
	hwtdi_name_table_fini(&t, ctx);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hwtd_context *ctx;
	uint64_t held = 0;

	if (size == 0 || size > MAX_INPUT)
		return (0);
	FUZZ_CHECK(hwtd_context_create(NULL, &ctx, NULL) == HWTD_OK,
	    "no context");
	run(ctx, data, size);
	hwtd_context_memory(ctx, &held, NULL);
	FUZZ_CHECK(held == 0, "%" PRIu64 " bytes are still held", held);
	hwtd_context_destroy(ctx);
	return (0);
}
