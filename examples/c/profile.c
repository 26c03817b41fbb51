/*
 * Where instructions went: sums by function, and stacks for a flame graph.
 *
 * usage: profile TRACE FOLDED [ROOT]
 *
 * FOLDED is written as flamegraph.pl, speedscope and others read it.
 */
#include <hwtdecode/hwtdecode.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ROWS 64

/* Counts of code are cheap, and know no callers; calls know them. */
static int
add_all(struct hwtd_profile *profile, struct hwtd_trace *trace,
    struct hwtd_error *err)
{
	const struct hwtd_calls_options opts = { .size = sizeof(opts),
		.flags = HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS };
	struct hwtd_calls *calls = NULL;
	struct hwtd_runs *runs = NULL;
	int rc;

	rc = hwtd_runs_open(trace, NULL, &runs, err);
	while (rc == HWTD_OK)
		rc = hwtd_profile_add_runs(profile, runs, NULL, err);
	if (rc == HWTD_END)
		rc = hwtd_calls_open(trace, &opts, &calls, err);
	while (rc == HWTD_OK)
		rc = hwtd_profile_add_calls(profile, calls, err);
	hwtd_calls_close(calls);
	hwtd_runs_close(runs);
	return (rc == HWTD_END ? HWTD_OK : rc);
}

static int
print_functions(struct hwtd_profile *profile)
{
	static struct hwtd_profile_row rows[ROWS];
	struct hwtd_profile_info info = { .size = sizeof(info) };
	uint64_t first = 0;
	size_t n = 0;
	int rc;

	while ((rc = hwtd_profile_rows(profile, HWTD_PROFILE_BY_FUNCTION,
		    first, rows, sizeof(rows[0]), ROWS, &n)) == HWTD_OK) {
		for (size_t i = 0; i < n; i++) {
			struct hwtd_profile_function f = { .size = sizeof(f) };
			const char *name = "?";

			/* Code without a name has no function. */
			if (rows[i].function != HWTD_NO_ID &&
			    hwtd_profile_function(profile, rows[i].function,
				&f) == HWTD_OK &&
			    f.name != NULL)
				name = f.name;
			else if ((rows[i].flags &
				     HWTD_PROFILE_NODEF_UNTRACED) != 0)
				name = "[not traced]";
			printf("%s: %" PRIu64 " instructions, %" PRIu64
			       " calls\n",
			    name, rows[i].insns, rows[i].self.calls);
		}
		first += n;
	}
	if (rc != HWTD_END)
		return (rc);
	/* What was lost is missing in all sums: say it with them. */
	rc = hwtd_profile_info(profile, &info);
	if (rc == HWTD_OK)
		printf("%" PRIu64 " of %" PRIu64 " bytes lost\n",
		    info.seen[HWTD_PROFILE_RUNS].gap_bytes,
		    info.seen[HWTD_PROFILE_RUNS].bytes);
	return (rc);
}

/* The library opens no files to write: it gives bytes, here to stdio. */
static int
give(void *file, const void *bytes, size_t n)
{
	return (fwrite(bytes, 1, n, file) == n ? 0 : errno);
}

static int
write_folded(struct hwtd_profile *profile, const char *path,
    struct hwtd_error *err)
{
	struct hwtd_format_options opts = { .size = sizeof(opts),
		.format = HWTD_FORMAT_FOLDED,
		.write = give,
		.value = HWTD_VALUE_INSNS };
	struct hwtd_export *out = NULL;
	FILE *file = fopen(path, "w");
	int rc;

	if (file == NULL) {
		snprintf(err->message, sizeof(err->message), "%s: %s", path,
		    strerror(errno));
		return (HWTD_E_IO);
	}
	opts.write_arg = file;
	rc = hwtd_export_open_profile(profile, &opts, &out, err);
	while (rc == HWTD_OK)
		rc = hwtd_export_write(out, err);
	hwtd_export_close(out);
	if (fclose(file) != 0 && rc == HWTD_END) {
		snprintf(err->message, sizeof(err->message), "%s: %s", path,
		    strerror(errno));
		rc = HWTD_E_IO;
	}
	return (rc == HWTD_END ? HWTD_OK : rc);
}

int
main(int argc, char **argv)
{
	const char *const roots[1] = { argc > 3 ? argv[3] : NULL };
	const struct hwtd_search search = { .size = sizeof(search),
		.roots = roots,
		.n_roots = argc > 3 ? 1 : 0 };
	const struct hwtd_open_options opts = { .size = sizeof(opts),
		.search = &search };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_profile *profile = NULL;
	struct hwtd_context *ctx = NULL;
	struct hwtd_trace *trace = NULL;
	int rc;

	if (argc != 3 && argc != 4) {
		fprintf(stderr, "usage: profile TRACE FOLDED [ROOT]\n");
		return (2);
	}
	rc = hwtd_context_create(NULL, &ctx, &err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_open(ctx, argv[1], &opts, &trace, &err);
	if (rc == HWTD_OK)
		rc = hwtd_profile_create(ctx, NULL, &profile, &err);
	if (rc == HWTD_OK)
		rc = add_all(profile, trace, &err);
	if (rc == HWTD_OK)
		rc = print_functions(profile);
	if (rc == HWTD_OK)
		rc = write_folded(profile, argv[2], &err);
	if (rc != HWTD_OK)
		fprintf(stderr, "profile: %s\n", err.message);
	hwtd_profile_destroy(profile);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	return (rc == HWTD_OK ? 0 : 1);
}
