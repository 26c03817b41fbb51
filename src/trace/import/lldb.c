/*
 * Trace bundles of LLDB.
 *
 * Source: LLDB, "trace schema intel-pt".
 */
#include "trace/import/lldb.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "trace/import/json_tree.h"
#include "trace/import/perf/perf_data.h"
#include "trace/import/perf/perf_format.h"
#include "trace/import/perf/perf_time.h"
#include "trace/import/side_file.h"

/* How much of a file must be text. */
#define LOOK_BYTES ((size_t)4096)

/* Where a kernel lies that was not moved. */
#define KERNEL_ADDRESS 0xffffffff81000000u

struct bundle {
	struct hwtd_trace *trace;
	struct hwtd_pt_config pt;
	bool has_pt;
	struct hwtd_clock clock;
	/* Streams are of CPUs. */
	bool by_cpu;
	struct hwtd_error *err;
};

static bool
is_text(const uint8_t *bytes, size_t n)
{
	size_t i = 0;

	for (size_t k = 0; k < n; k++)
		if ((bytes[k] < ' ' && strchr("\t\r\n", bytes[k]) == NULL) ||
		    bytes[k] == 0)
			return (false);
	while (i < n && strchr(" \t\r\n", bytes[i]) != NULL)
		i++;
	if (i == n || bytes[i++] != '{')
		return (false);
	while (i < n && strchr(" \t\r\n", bytes[i]) != NULL)
		i++;
	return (i == n || bytes[i] == '"' || bytes[i] == '}');
}

int
hwtdi_lldb_recognize(const struct hwtd_trace *trace, bool *is_out,
    struct hwtd_error *err)
{
	size_t n = trace->file.size < LOOK_BYTES ? (size_t)trace->file.size
						 : LOOK_BYTES;
	uint8_t bytes[LOOK_BYTES];
	int rc;

	rc = hwtdi_trace_file_read(&trace->file, 0, bytes, n, err);
	*is_out = rc == HWTD_OK && is_text(bytes, n);
	return (rc);
}

/* Fields.  Each of these reads one that must be there. */

static int
number(struct bundle *b, const struct hwtdi_json *object, const char *name,
    uint64_t most, uint64_t *out)
{
	struct hwtdi_json field;
	int rc;

	rc = hwtdi_json_field(object, name, &field, b->err);
	return (rc == HWTD_OK ? hwtdi_json_number(&field, most, out, b->err)
			      : rc);
}

static int
id(struct bundle *b, const struct hwtdi_json *object, const char *name,
    uint32_t *out)
{
	uint64_t value = 0;
	int rc = number(b, object, name, HWTD_NO_ID - 1, &value);

	*out = (uint32_t)value;
	return (rc);
}

static int
address(struct bundle *b, const struct hwtdi_json *object, const char *name,
    uint64_t *out)
{
	struct hwtdi_json field;
	int rc;

	rc = hwtdi_json_field(object, name, &field, b->err);
	return (rc == HWTD_OK ? hwtdi_json_address(&field, out, b->err) : rc);
}

static int
text(struct bundle *b, const struct hwtdi_json *object, const char *name,
    const char **out)
{
	struct hwtdi_json field;
	int rc;

	rc = hwtdi_json_field(object, name, &field, b->err);
	return (rc == HWTD_OK ? hwtdi_json_text(&field, out, b->err) : rc);
}

/* NULL if it is missing. */
static int
optional_text(struct bundle *b, const struct hwtdi_json *object,
    const char *name, const char **out)
{
	struct hwtdi_json field;
	int rc;

	*out = NULL;
	rc = hwtdi_json_field(object, name, &field, b->err);
	return (rc == HWTD_OK && hwtdi_json_has(&field)
		? hwtdi_json_text(&field, out, b->err)
		: rc);
}

typedef int each_fn(struct bundle *b, const struct hwtdi_json *element,
    void *arg);

/* Call `fn` for every element of an array. */
static int
each(struct bundle *b, const struct hwtdi_json *array, each_fn *fn, void *arg)
{
	struct hwtdi_json element;
	size_t n = 0;
	int rc;

	rc = hwtdi_json_array(array, &n, b->err);
	for (size_t i = 0; i < n && rc == HWTD_OK; i++) {
		hwtdi_json_element(array, i, &element);
		rc = fn(b, &element, arg);
	}
	return (rc);
}

/* The processor. */

static int
read_cpu_info(struct bundle *b, const struct hwtdi_json *root,
    const struct hwtd_open_options *opts)
{
	uint64_t family = 0, model = 0, stepping = 0;
	const char *vendor = "";
	struct hwtdi_json info;
	int rc;

	b->has_pt = opts->pt != NULL;
	rc = hwtdi_options_copy(&b->pt, sizeof(b->pt), opts->pt, b->err);
	b->pt.size = sizeof(b->pt);
	if (rc == HWTD_OK)
		rc = hwtdi_json_field(root, "cpuInfo", &info, b->err);
	if (rc == HWTD_OK)
		rc = text(b, &info, "vendor", &vendor);
	if (rc == HWTD_OK)
		rc = number(b, &info, "family", UINT16_MAX, &family);
	if (rc == HWTD_OK)
		rc = number(b, &info, "model", UINT8_MAX, &model);
	if (rc == HWTD_OK)
		rc = number(b, &info, "stepping", UINT8_MAX, &stepping);
	if (rc != HWTD_OK || strcmp(vendor, "GenuineIntel") != 0)
		return (rc);
	b->has_pt = true;
	b->pt.cpu_family = (uint16_t)family;
	b->pt.cpu_model = (uint8_t)model;
	b->pt.cpu_stepping = (uint8_t)stepping;
	return (HWTD_OK);
}

static int
read_clock(struct bundle *b, const struct hwtdi_json *conversion)
{
	struct hwtdi_perf_time time = { 0 };
	struct hwtdi_json field;
	int rc;

	rc = number(b, conversion, "timeMult", UINT32_MAX, &time.mult);
	if (rc == HWTD_OK)
		rc = number(b, conversion, "timeShift", 63, &time.shift);
	if (rc == HWTD_OK)
		rc = address(b, conversion, "timeZero", &time.zero);
	if (rc == HWTD_OK && !hwtdi_perf_time_clock(&time, &b->clock)) {
		(void)hwtdi_json_field(conversion, "timeMult", &field, NULL);
		return (hwtdi_json_fail(&field, b->err,
		    "0 would stop the clock"));
	}
	return (rc);
}

/* Streams. */

/* The bytes of the file that the field `name` names, as a new stream. */
static int
add_stream(struct bundle *b, const struct hwtdi_json *owner, const char *name,
    uint32_t cpu, uint32_t pid, uint32_t tid)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc),
		.tech = HWTD_TECH_INTEL_PT,
		.cpu = cpu,
		.pid = pid,
		.tid = tid };
	struct hwtdi_side_file file;
	struct hwtdi_json field;
	uint32_t stream;
	int rc;

	rc = text(b, owner, name, &desc.name);
	if (rc != HWTD_OK)
		return (rc);
	desc.pt = b->has_pt ? &b->pt : NULL;
	desc.clock = b->clock;
	(void)hwtdi_json_field(owner, name, &field, NULL);
	rc = hwtdi_side_file_read(&file, b->trace, desc.name, UINT64_MAX,
	    b->err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_add_stream(b->trace, &desc, &stream, b->err);
	if (rc == HWTD_OK && file.n > 0)
		rc = hwtd_trace_add_bytes(b->trace, stream, file.bytes, file.n,
		    b->err);
	hwtdi_side_file_fini(&file, b->trace->library);
	return (rc == HWTD_OK ? rc : hwtdi_json_prefix(&field, b->err, rc));
}

static int
add_switches(struct bundle *b, const struct hwtdi_json *owner, uint32_t cpu)
{
	struct hwtdi_side_file file;
	struct hwtdi_json field;
	const char *name;
	int rc;

	rc = text(b, owner, "contextSwitchTrace", &name);
	if (rc != HWTD_OK)
		return (rc);
	(void)hwtdi_json_field(owner, "contextSwitchTrace", &field, NULL);
	rc = hwtdi_side_file_read(&file, b->trace, name, UINT64_MAX, b->err);
	if (rc == HWTD_OK) {
		rc = hwtdi_perf_records_add(b->trace,
		    &(const struct hwtdi_perf_records){ .bytes = file.bytes,
			.n = file.n,
			.name = name,
			.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
			.cpu = cpu,
			.strict = true,
			.switches_only = true },
		    b->err);
		if (rc == HWTD_E_CORRUPT)
			hwtdi_fail_prefix(b->err, "%.80s", name);
	}
	hwtdi_side_file_fini(&file, b->trace->library);
	return (rc == HWTD_OK ? rc : hwtdi_json_prefix(&field, b->err, rc));
}

static int
read_cpu(struct bundle *b, const struct hwtdi_json *cpu, void *arg)
{
	uint32_t no;
	int rc;

	(void)arg;
	rc = id(b, cpu, "id", &no);
	if (rc == HWTD_OK)
		rc = add_stream(b, cpu, "iptTrace", no, HWTD_NO_ID,
		    HWTD_NO_ID);
	return (rc == HWTD_OK ? add_switches(b, cpu, no) : rc);
}

/* Processes. */

/* A record that holds from the start. */
static struct hwtd_record
record_at_start(uint32_t type)
{
	struct hwtd_record r = {
		.size = sizeof(r),
		.type = type,
		.flags = HWTD_RECF_TIME,
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.stream = HWTD_NO_ID,
		.image = HWTD_NO_ID,
	};

	return (r);
}

static int
read_thread(struct bundle *b, const struct hwtdi_json *thread, void *arg)
{
	struct hwtd_record r = record_at_start(HWTD_REC_THREAD_CREATE);
	const uint32_t *pid = arg;
	const char *file;
	int rc;

	r.pid = *pid;
	rc = id(b, thread, "tid", &r.tid);
	if (rc == HWTD_OK)
		rc = optional_text(b, thread, "iptTrace", &file);
	/* Where CPUs were traced, threads have no trace of their own. */
	if (rc == HWTD_OK && file != NULL && !b->by_cpu)
		rc = add_stream(b, thread, "iptTrace", HWTD_NO_ID, r.pid,
		    r.tid);
	return (rc == HWTD_OK ? hwtd_trace_add_record(b->trace, &r, b->err)
			      : rc);
}

static int
hex(char c)
{
	if (c >= '0' && c <= '9')
		return (c - '0');
	if (c >= 'a' && c <= 'f')
		return (c - 'a' + 10);
	return (c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1);
}

/*
 * A uuid as LLDB writes it is the build-id in hexadecimal, with dashes; four
 * bytes are a checksum of a file that has none.  0: it is no build-id.
 */
static uint32_t
build_id(const char *uuid, uint8_t out[HWTD_MAX_BUILD_ID])
{
	uint32_t n = 0;

	while (*uuid != '\0') {
		if (*uuid == '-') {
			uuid++;
			continue;
		}
		if (n == HWTD_MAX_BUILD_ID || hex(uuid[0]) < 0 ||
		    hex(uuid[1]) < 0)
			return (0);
		out[n++] = (uint8_t)(hex(uuid[0]) << 4 | hex(uuid[1]));
		uuid += 2;
	}
	return (n > 4 ? n : 0);
}

/* Add a record about the file `name`. */
static int
add_file_record(struct bundle *b, const struct hwtdi_json *owner,
    struct hwtd_record *r, const char *name)
{
	char *path;
	int rc;

	rc = hwtdi_side_path(b->trace->library, b->trace->file.path, name,
	    &path, b->err);
	if (rc != HWTD_OK)
		return (hwtdi_json_prefix(owner, b->err, rc));
	r->name = path;
	r->flags |= HWTD_RECF_ADDR;
	rc = hwtd_trace_add_record(b->trace, r, b->err);
	hwtdi_strfree(b->trace->library, path);
	return (rc);
}

static int
read_module(struct bundle *b, const struct hwtdi_json *module, void *arg)
{
	struct hwtd_record r = record_at_start(HWTD_REC_MODULE_LOAD);
	const char *path = NULL, *file = NULL, *uuid = NULL;
	const uint32_t *pid = arg;
	int rc;

	r.pid = *pid;
	rc = text(b, module, "systemPath", &path);
	if (rc == HWTD_OK)
		rc = optional_text(b, module, "file", &file);
	if (rc == HWTD_OK)
		rc = address(b, module, "loadAddress", &r.addr);
	if (rc == HWTD_OK)
		rc = optional_text(b, module, "uuid", &uuid);
	if (rc != HWTD_OK)
		return (rc);
	if (uuid != NULL)
		r.n_build_id = build_id(uuid, r.build_id);
	if (r.n_build_id == 0)
		memset(r.build_id, 0, sizeof(r.build_id));
	return (add_file_record(b, module, &r, file != NULL ? file : path));
}

static int
read_process(struct bundle *b, const struct hwtdi_json *process, void *arg)
{
	struct hwtdi_trace_text *said = &b->trace->text;
	struct hwtdi_json threads, modules;
	const char *triple = NULL;
	uint32_t pid;
	int rc;

	(void)arg;
	rc = id(b, process, "pid", &pid);
	if (rc == HWTD_OK)
		rc = optional_text(b, process, "triple", &triple);
	if (rc == HWTD_OK)
		rc = hwtdi_json_field(process, "threads", &threads, b->err);
	if (rc == HWTD_OK)
		rc = each(b, &threads, read_thread, &pid);
	if (rc == HWTD_OK)
		rc = hwtdi_json_field(process, "modules", &modules, b->err);
	if (rc == HWTD_OK)
		rc = each(b, &modules, read_module, &pid);
	if (rc != HWTD_OK || triple == NULL || said->abi != NULL)
		return (rc);
	rc = hwtdi_trace_check_text("triple", triple, b->err);
	if (rc != HWTD_OK)
		return (hwtdi_json_prefix(process, b->err, rc));
	said->abi = hwtdi_strdup(b->trace->library, triple);
	return (said->abi != NULL ? HWTD_OK
				  : hwtdi_fail_nomem(b->err, strlen(triple)));
}

static int
read_kernel(struct bundle *b, const struct hwtdi_json *kernel)
{
	struct hwtd_record r = record_at_start(HWTD_REC_KERNEL);
	struct hwtdi_json field;
	const char *file;
	int rc;

	r.addr = KERNEL_ADDRESS;
	rc = hwtdi_json_field(kernel, "loadAddress", &field, b->err);
	if (rc == HWTD_OK && hwtdi_json_has(&field))
		rc = hwtdi_json_address(&field, &r.addr, b->err);
	if (rc == HWTD_OK)
		rc = text(b, kernel, "file", &file);
	return (rc == HWTD_OK ? add_file_record(b, kernel, &r, file) : rc);
}

/* What the fields at the top have to do with each other. */
static int
check_kind(struct bundle *b, const struct hwtdi_json *processes,
    const struct hwtdi_json *cpus, const struct hwtdi_json *conversion,
    const struct hwtdi_json *kernel)
{
	size_t n = 0;

	if (hwtdi_json_has(cpus) && !hwtdi_json_has(conversion))
		return (hwtdi_json_fail(conversion, b->err,
		    "is missing; cpus need it"));
	if (!hwtdi_json_has(kernel))
		return (hwtdi_json_has(processes)
			? HWTD_OK
			: hwtdi_json_fail(processes, b->err,
			      "is missing; expected an array, or a kernel"));
	if (!hwtdi_json_has(cpus))
		return (hwtdi_json_fail(cpus, b->err,
		    "is missing; a kernel needs it"));
	if (hwtdi_json_has(processes)) {
		int rc = hwtdi_json_array(processes, &n, b->err);

		if (rc != HWTD_OK)
			return (rc);
	}
	if (n > 0)
		return (hwtdi_json_fail(processes, b->err,
		    "expected nothing beside a kernel"));
	return (HWTD_OK);
}

static int
read_type(struct bundle *b, const struct hwtdi_json *root)
{
	struct hwtdi_json field;
	const char *type;
	int rc;

	rc = hwtdi_json_field(root, "type", &field, b->err);
	if (rc != HWTD_OK)
		return (rc);
	if (!field.there)
		return (hwtdi_fail(b->err, HWTD_E_UNRECOGNIZED,
		    "is JSON, but no trace bundle: it has no \"type\""));
	rc = hwtdi_json_text(&field, &type, b->err);
	if (rc == HWTD_OK && strcmp(type, "intel-pt") != 0)
		return (hwtdi_fail(b->err, HWTD_E_UNRECOGNIZED,
		    "is JSON of type \"%.60s\"; \"intel-pt\" is known", type));
	return (rc);
}

static int
read_root(struct bundle *b, const struct hwtdi_json *root,
    const struct hwtd_open_options *opts)
{
	struct hwtdi_json processes, cpus, conversion, kernel;
	int rc;

	rc = read_type(b, root);
	if (rc != HWTD_OK)
		return (rc);
	(void)hwtdi_json_field(root, "processes", &processes, NULL);
	(void)hwtdi_json_field(root, "cpus", &cpus, NULL);
	(void)hwtdi_json_field(root, "tscPerfZeroConversion", &conversion,
	    NULL);
	(void)hwtdi_json_field(root, "kernel", &kernel, NULL);
	rc = check_kind(b, &processes, &cpus, &conversion, &kernel);
	if (rc == HWTD_OK)
		rc = read_cpu_info(b, root, opts);
	b->by_cpu = hwtdi_json_has(&cpus);
	b->clock = opts->clock;
	if (rc == HWTD_OK && hwtdi_json_has(&conversion))
		rc = read_clock(b, &conversion);
	/* Records that hold from the start come before switches. */
	if (rc == HWTD_OK && hwtdi_json_has(&kernel))
		rc = read_kernel(b, &kernel);
	if (rc == HWTD_OK && hwtdi_json_has(&processes))
		rc = each(b, &processes, read_process, NULL);
	if (rc == HWTD_OK && b->by_cpu)
		rc = each(b, &cpus, read_cpu, NULL);
	return (rc);
}

int
hwtdi_lldb_import(struct hwtd_trace *trace,
    const struct hwtd_open_options *opts, struct hwtd_error *err)
{
	struct bundle b = { .trace = trace, .err = err };
	const uint64_t size = trace->file.size;
	struct hwtdi_json root;
	uint8_t *bytes;
	int rc;

	if (size > HWTDI_LLDB_MAX_TEXT)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "JSON of %" PRIu64 " bytes; at most %" PRIu64, size,
		    HWTDI_LLDB_MAX_TEXT));
	bytes = hwtdi_alloc(trace->library, (size_t)size);
	if (bytes == NULL)
		return (hwtdi_trace_no_room(trace->library, size, err));
	rc = hwtdi_trace_file_read(&trace->file, 0, bytes, (size_t)size, err);
	if (rc == HWTD_OK)
		rc = hwtdi_json_init(&root, trace->library, bytes,
		    (size_t)size, err);
	hwtdi_free(trace->library, bytes, (size_t)size);
	if (rc != HWTD_OK)
		return (rc);
	rc = read_root(&b, &root, opts);
	hwtdi_json_fini(&root);
	trace->format = "lldb";
	return (rc);
}
