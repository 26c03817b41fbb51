/*
 * Snapshots while they are read, for the files that read them.
 */
#ifndef HWTDI_SNAPSHOT_INTERNAL_H
#define HWTDI_SNAPSHOT_INTERNAL_H

#include "base/index.h"
#include "trace/import/ini.h"
#include "trace/import/snapshot.h"

/* A device; texts lie in its file. */
struct hwtdi_snapshot_device {
	struct hwtdi_ini_file ini;
	const char *name;
	const char *type;
	bool is_core, is_source;
	/* Of a core: its number; who is traced: a core's, or HWTD_NO_ID. */
	uint32_t cpu;
	/* Of a source. */
	struct hwtd_coresight_config config;
	/* Index + 1 of its buffer. */
	uint32_t buffer;
};

/* A dump of memory: a name of the file, and where it lies. */
struct hwtdi_snapshot_dump {
	char *path;
	uint64_t address, length, offset;
	bool has_length;
	/* Of a hypervisor's space. */
	bool is_el2;
};

struct hwtdi_snapshot {
	struct hwtd_trace *trace;
	struct hwtd_error *err;
	struct hwtdi_ini_file ini;
	/* Allocated one by one, so that they stay where they are. */
	struct hwtdi_snapshot_device **devices;
	size_t n_devices, cap_devices;
	/* Of devices, by name. */
	struct hwtdi_index names;
	uint32_t n_cores;
	struct hwtdi_snapshot_dump *dumps;
	size_t n_dumps, cap_dumps;
	struct hwtdi_index dump_index;
	/* Files of buffers. */
	size_t n_files;
	uint64_t n_warnings;
};

/*
 * Read and parse a text that the snapshot names.  HWTD_E_IO: it cannot be
 * read.
 */
int hwtdi_snapshot_read_ini(struct hwtdi_snapshot *s, const char *name,
    struct hwtdi_ini_file *out, struct hwtd_error *err);

/*
 * Tell of what is missing, in the log and as damage; `stream` may be
 * HWTD_NO_ID.
 */
int hwtdi_snapshot_miss(struct hwtdi_snapshot *s, uint32_t stream,
    const char *what, const struct hwtd_error *why);

/* The first HWTDI_SNAPSHOT_MAX_WARNINGS are told, the others are counted. */
void hwtdi_snapshot_warn(struct hwtdi_snapshot *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Add the device that a line of the list names, and its dumps as records. */
int hwtdi_snapshot_add_device(struct hwtdi_snapshot *s,
    const struct hwtdi_ini_entry *listed);

/* NULL: there is none of that name. */
struct hwtdi_snapshot_device *hwtdi_snapshot_device(
    const struct hwtdi_snapshot *s, const char *name);

/* Add the streams that the text of the trace describes. */
int hwtdi_snapshot_read_trace(struct hwtdi_snapshot *s, const char *name);

#endif /* HWTDI_SNAPSHOT_INTERNAL_H */
