/*
 * Code that lies beside a perf.data: kernels, and what programs made at run time.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/regular_file.h"
#include "trace/import/jitdump.h"
#include "trace/import/perf/perf_file.h"
#include "trace/import/side_file.h"

/* Files of one trace; a hostile one could name any number. */
#define MAX_JITDUMPS 256u

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

/* Whether a path that was recorded can be found: below a root, or as it is. */
static bool
is_somewhere(const struct hwtdi_perf_file *f, const char *path)
{
	const struct hwtd_search *search = &f->trace->search.o;
	char other[4096];

	for (size_t i = 0; i < search->n_roots; i++) {
		const int n = snprintf(other, sizeof(other), "%s%s",
		    search->roots[i], path);

		if (n > 0 && (size_t)n < sizeof(other) && is_file(other))
			return (true);
	}
	return ((search->flags & HWTD_SEARCH_NO_ORIGINAL) == 0 &&
	    is_file(path));
}

/* A name by which the file of a kernel is in a folder of modules. */
static bool
is_in_folder(const struct hwtdi_perf_file *f, const char *name)
{
	const struct hwtd_search *search = &f->trace->search.o;
	char path[4096];

	for (size_t i = 0; i < search->n_dirs; i++) {
		const int n = snprintf(path, sizeof(path), "%s/%s",
		    search->dirs[i], name);

		if (n > 0 && (size_t)n < sizeof(path) && is_file(path))
			return (true);
	}
	return (false);
}

/*
 * Where the file of a kernel is: perf does not tell, distributions have their ways.
 * Empty: nowhere.
 */
static void
find_kernel(const struct hwtdi_perf_file *f, char *path, size_t room)
{
	static const char *const ways[] = {
		"/boot/vmlinux-%s",
		"/usr/lib/debug/boot/vmlinux-%s",
		"/lib/modules/%s/build/vmlinux",
		"/usr/lib/debug/lib/modules/%s/vmlinux",
		"/usr/lib/debug/boot/vmlinux-%s.debug",
	};
	const char *release = f->texts.release;
	int n;

	for (size_t i = 0; release != NULL && strchr(release, '/') == NULL &&
	     i < sizeof(ways) / sizeof(ways[0]);
	     i++) {
		const char *at = strchr(ways[i], '%');

		n = snprintf(path, room, "%.*s%s%s", (int)(at - ways[i]),
		    ways[i], release, at + 2);
		if (n > 0 && (size_t)n < room && is_somewhere(f, path))
			return;
		if (n > 0 && (size_t)n < room &&
		    is_in_folder(f, strrchr(path, '/') + 1))
			return;
	}
	(void)snprintf(path, room, "/boot/vmlinux");
	if (!is_somewhere(f, path) && !is_in_folder(f, "vmlinux"))
		path[0] = '\0';
}

/*
 * The file of the kernel: the copy of its memory that perf record --kcore puts
 * beside the data, or a file of its release.  One with the right build-id is
 * found by that before.
 */
int
hwtdi_perf_give_kernel(struct hwtdi_perf_file *f)
{
	struct hwtdi_record_list *list = &f->trace->records;
	char kernel[4096];
	bool is_copy;
	char *path;
	int rc;

	rc = hwtdi_side_path(f->trace->library, f->trace->file.path,
	    "kcore_dir/kcore", &path, f->err);
	if (rc != HWTD_OK)
		return (rc);
	is_copy = is_file(path);
	if (!is_copy)
		find_kernel(f, kernel, sizeof(kernel));
	for (size_t i = 0; rc == HWTD_OK && i < list->n; i++) {
		struct hwtd_record *r = &list->records[i];

		if (r->type != HWTD_REC_KERNEL ||
		    (r->flags & HWTD_RECF_VMID) != 0)
			continue;
		if (is_copy) {
			/* Memory has no build-id of its own. */
			r->n_build_id = 0;
			memset(r->build_id, 0, sizeof(r->build_id));
			rc = rename_record(f, r, path);
		} else if (kernel[0] != '\0') {
			rc = rename_record(f, r, kernel);
		}
	}
	hwtdi_strfree(f->trace->library, path);
	return (rc);
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

/* Where the file is: below other roots, where it was, or beside the trace. */
static int
find_jitdump(struct hwtdi_perf_file *f, const char *name, char **out)
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
	struct hwtdi_side_file file;
	char *path;
	int rc;

	rc = find_jitdump(f, name, &path);
	if (rc != HWTD_OK)
		return (rc);
	rc = hwtdi_side_file_read_as(&file, f->trace, path, &why);
	if (rc == HWTD_OK) {
		rc = hwtdi_jitdump_add(f->trace, path, file.bytes, file.n,
		    &how, &sum, &why);
		hwtdi_side_file_fini(&file, f->trace->library);
	}
	hwtdi_strfree(f->trace->library, path);
	if (rc == HWTD_E_NOMEM)
		return (hwtdi_fail_pass(f->err, &why));
	/* Without it its code is missing. */
	if (rc != HWTD_OK)
		hwtdi_log(f->trace->library, HWTD_LOG_WARNING, "perf",
		    "code that process %u made at run time: %s", pid,
		    why.message);
	return (HWTD_OK);
}

int
hwtdi_perf_give_jitdumps(struct hwtdi_perf_file *f)
{
	const struct hwtdi_record_list *list = &f->trace->records;
	const size_t n = list->n;
	size_t found[MAX_JITDUMPS];
	size_t n_found = 0;
	int rc = HWTD_OK;

	for (size_t i = 0; i < n && n_found < MAX_JITDUMPS; i++) {
		const struct hwtd_record *r = &list->records[i];
		size_t k = 0;

		if (!is_jitdump(r))
			continue;
		while (k < n_found &&
		    (list->records[found[k]].pid != r->pid ||
			strcmp(list->records[found[k]].name, r->name) != 0))
			k++;
		if (k == n_found)
			found[n_found++] = i;
	}
	/* Each adds records; names stay where they are. */
	for (size_t i = 0; i < n_found && rc == HWTD_OK; i++)
		rc = read_jitdump(f, list->records[found[i]].name,
		    list->records[found[i]].pid);
	return (rc);
}
