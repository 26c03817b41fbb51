/*
 * Code that lies beside a perf.data: kernels, and what programs made at run time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/regular_file.h"
#include "trace/import/jitdump.h"
#include "trace/import/perf/perf_file.h"
#include "trace/import/side_file.h"
#include "trace/trace_names.h"

/* Files of one trace; a hostile one could name any number. */
#define MAX_JITDUMPS 256u
#define MAX_PERF_MAPS 1024u

#define CLOCK_MONOTONIC_ID 1

static bool
is_file(const char *path)
{
	uint64_t size;
	int fd;

	if (hwtdi_regular_file_open(path, &fd, &size, NULL) != HWTD_OK)
		return (false);
	(void)close(fd);
	return (true);
}

/* Without a file there is less to see, and the rest is as good as it was. */
static int
missing(struct hwtdi_perf_file *f, const struct hwtd_error *why,
    const char *what)
{
	if (hwtdi_fail_is_final(why->code))
		return (hwtdi_fail_pass(f->err, why));
	hwtdi_log(f->trace->library, HWTD_LOG_WARNING, "perf", "%s: %s", what,
	    why->message);
	return (HWTD_OK);
}

static int
rename_record(struct hwtdi_perf_file *f, struct hwtd_record *r,
    const char *name)
{
	struct hwtd_context *ctx = f->trace->library;
	char *copy = hwtdi_strdup(ctx, name);
	union {
		const char *in;
		char *out;
	} old = { .in = r->name };

	if (copy == NULL)
		return (hwtdi_fail_nomem(f->err, strlen(name)));
	hwtdi_strfree(ctx, old.out);
	r->name = copy;
	return (HWTD_OK);
}

/* What perf makes a folder of lies there by this name; others own nothing there. */
static bool
is_in_folder(const struct hwtdi_perf_file *f)
{
	const char *slash = strrchr(f->trace->file.path, '/');

	return (strcmp(slash != NULL ? slash + 1 : f->trace->file.path,
		    "data") == 0);
}

/* A file in the folder of perf record --kcore that the data lies in. */
static int
in_kcore_folder(struct hwtdi_perf_file *f, const char *name, char **out)
{
	return (hwtdi_side_path(f->trace->library, f->trace->file.path, name,
	    out, f->err));
}

/* Its copy of kernel memory is the file of the kernel. */
static int
give_copy(struct hwtdi_perf_file *f, const char *path)
{
	struct hwtdi_record_list *list = &f->trace->records;
	int rc = HWTD_OK;

	f->trace->owns_folder = true;
	for (size_t i = 0; rc == HWTD_OK && i < list->n; i++) {
		struct hwtd_record *r = &list->records[i];

		if (r->type != HWTD_REC_KERNEL ||
		    (r->flags & HWTD_RECF_VMID) != 0)
			continue;
		/* Memory has no build-id of its own. */
		r->n_build_id = 0;
		memset(r->build_id, 0, sizeof(r->build_id));
		rc = rename_record(f, r, path);
	}
	return (rc);
}

/* perf record --threads puts records into more files than the one with the header. */
static int
note_threads(struct hwtdi_perf_file *f)
{
	char *path = NULL;
	int rc;

	rc = in_kcore_folder(f, "data.0", &path);
	if (rc == HWTD_OK && is_file(path))
		rc = hwtdi_trace_note_damage(f->trace, 0, 0, HWTD_NO_ID, 0, 0,
		    f->err,
		    "data.0 and others beside it (perf record --threads) are "
		    "not read");
	hwtdi_strfree(f->trace->library, path);
	return (rc);
}

int
hwtdi_perf_give_kernel(struct hwtdi_perf_file *f)
{
	struct hwtd_context *ctx = f->trace->library;
	struct hwtd_error why = { .size = sizeof(why) };
	char *path = NULL;
	int rc;

	if (!is_in_folder(f))
		return (HWTD_OK);
	rc = in_kcore_folder(f, "kcore_dir/kcore", &path);
	if (rc == HWTD_OK && is_file(path))
		rc = give_copy(f, path);
	hwtdi_strfree(ctx, path);
	path = NULL;
	if (rc == HWTD_OK)
		rc = in_kcore_folder(f, "kcore_dir/kallsyms", &path);
	if (rc == HWTD_OK && is_file(path) &&
	    hwtdi_trace_read_kallsyms(f->trace, HWTD_NO_ID, path, &why) !=
		HWTD_OK)
		rc = missing(f, &why, "symbols of the kernel");
	hwtdi_strfree(ctx, path);
	return (rc == HWTD_OK ? note_threads(f) : rc);
}

/* jit-PID.dump: a runtime maps the file to tell that it writes one. */
static bool
is_jitdump(const struct hwtd_record *r)
{
	const char *name = r->name != NULL ? strrchr(r->name, '/') : NULL;
	const char *at;

	if (r->type != HWTD_REC_MMAP || name == NULL ||
	    strncmp(name, "/jit-", 5) != 0)
		return (false);
	for (at = name + 5; *at >= '0' && *at <= '9'; at++)
		;
	return (at != name + 5 && strcmp(at, ".dump") == 0);
}

/* Where a file is: below other roots, where it was, or beside the trace. */
static int
find_file(struct hwtdi_perf_file *f, const char *name, char **out)
{
	const struct hwtd_search *search = &f->trace->search.o;
	struct hwtd_context *ctx = f->trace->library;
	char path[4096];

	*out = NULL;
	for (size_t i = 0; i < search->n_roots && *out == NULL; i++) {
		const int n = snprintf(path, sizeof(path), "%s%s",
		    search->roots[i], name);

		if (n > 0 && (size_t)n < sizeof(path) && is_file(path) &&
		    (*out = hwtdi_strdup(ctx, path)) == NULL)
			return (hwtdi_fail_nomem(f->err, (size_t)n));
	}
	if (*out == NULL && (search->flags & HWTD_SEARCH_NO_ORIGINAL) == 0 &&
	    is_file(name) && (*out = hwtdi_strdup(ctx, name)) == NULL)
		return (hwtdi_fail_nomem(f->err, strlen(name)));
	return (*out != NULL ? HWTD_OK
			     : hwtdi_side_path(ctx, f->trace->file.path,
				   strrchr(name, '/') + 1, out, f->err));
}

static int
read_jitdump(struct hwtdi_perf_file *f, const char *name, uint32_t pid)
{
	const struct hwtdi_perf_event *event = f->events.events;
	struct hwtd_clock clock;
	const struct hwtdi_jitdump_how how = {
		.pid = pid,
		.same_clock = f->events.n > 0 && event->has_clockid &&
		    event->clockid == CLOCK_MONOTONIC_ID,
		.counts = hwtdi_perf_clock(f, &clock) ? &clock : NULL,
	};
	struct hwtd_error why = { .size = sizeof(why) };
	struct hwtdi_jitdump_sum sum;
	char *path;
	int rc;

	rc = find_file(f, name, &path);
	if (rc != HWTD_OK)
		return (rc);
	/* Where it was is what a reader knows, and not the last place. */
	if (!is_file(path)) {
		hwtdi_strfree(f->trace->library, path);
		hwtdi_log(f->trace->library, HWTD_LOG_WARNING, "perf",
		    "code that was made at run time: %.150s is not there, nor "
		    "below a root or beside the trace",
		    name);
		return (HWTD_OK);
	}
	rc = hwtdi_jitdump_read(f->trace, path, &how, &sum, &why);
	hwtdi_strfree(f->trace->library, path);
	return (rc == HWTD_OK
		? rc
		: missing(f, &why, "code that was made at run time"));
}

int
hwtdi_perf_give_jitdumps(struct hwtdi_perf_file *f)
{
	const struct hwtdi_record_list *list = &f->trace->records;
	const size_t n = list->n;
	size_t found[MAX_JITDUMPS];
	size_t n_found = 0;
	int rc = HWTD_OK;

	for (size_t i = 0; i < n; i++) {
		const struct hwtd_record *r = &list->records[i];
		size_t k = 0;

		if (!is_jitdump(r))
			continue;
		while (k < n_found &&
		    (list->records[found[k]].pid != r->pid ||
			strcmp(list->records[found[k]].name, r->name) != 0))
			k++;
		if (k == MAX_JITDUMPS) {
			hwtdi_log(f->trace->library, HWTD_LOG_WARNING, "perf",
			    "code that programs made at run time: over %u "
			    "files; the rest is not read",
			    MAX_JITDUMPS);
			break;
		}
		if (k == n_found)
			found[n_found++] = i;
	}
	/* Each adds records; names stay where they are. */
	for (size_t i = 0; i < n_found && rc == HWTD_OK; i++)
		rc = read_jitdump(f, list->records[found[i]].name,
		    list->records[found[i]].pid);
	return (rc);
}

/* Names that a runtime wrote to /tmp/perf-PID.map. */
static int
read_perf_map(struct hwtdi_perf_file *f, uint32_t pid)
{
	struct hwtd_error why = { .size = sizeof(why) };
	char name[64];
	char *path;
	int rc;

	(void)snprintf(name, sizeof(name), "/tmp/perf-%" PRIu32 ".map", pid);
	rc = find_file(f, name, &path);
	if (rc == HWTD_OK && is_file(path) &&
	    hwtdi_trace_read_perf_map(f->trace, pid, path, &why) != HWTD_OK)
		rc = missing(f, &why, "names of code");
	hwtdi_strfree(f->trace->library, path);
	return (rc);
}

/* Of processes that have memory for code without a file. */
int
hwtdi_perf_give_perf_maps(struct hwtdi_perf_file *f)
{
	const struct hwtdi_record_list *list = &f->trace->records;
	uint32_t pids[MAX_PERF_MAPS];
	size_t n = 0;
	int rc = HWTD_OK;

	for (size_t i = 0; i < list->n; i++) {
		const struct hwtd_record *r = &list->records[i];
		size_t k = 0;

		if (r->type != HWTD_REC_MMAP || r->pid == HWTD_NO_ID ||
		    (r->flags & HWTD_RECF_ANONYMOUS) == 0)
			continue;
		while (k < n && pids[k] != r->pid)
			k++;
		if (k == MAX_PERF_MAPS) {
			hwtdi_log(f->trace->library, HWTD_LOG_WARNING, "perf",
			    "names of code: over %u processes; those of the "
			    "rest are not read",
			    MAX_PERF_MAPS);
			break;
		}
		if (k == n)
			pids[n++] = r->pid;
	}
	for (size_t i = 0; i < n && rc == HWTD_OK; i++)
		rc = read_perf_map(f, pids[i]);
	return (rc);
}
