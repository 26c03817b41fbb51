/*
 * A whole capture, in the process that owns it: what is traced, what the kernel
 * tells, and the file.
 */
#ifndef HWTDI_ENGINE_H
#define HWTDI_ENGINE_H

#include <stdatomic.h>

#include "capture/session.h"

/* A file that was mapped, and its build-id then. */
struct hwtdi_image_id {
	char *path;
	struct hwtdi_build_id id;
	/* Where it was found, and what tells that it was replaced. */
	char *found;
	uint64_t device, number, bytes;
	int64_t changed_s, changed_ns;
};

struct hwtdi_engine {
	struct hwtd_context *library;
	const struct hwtdi_system *sys;
	/* Of this library's size; what it points to is borrowed. */
	struct hwtd_capture_options options;
	struct hwtdi_machine machine;
	struct hwtdi_module *modules;
	size_t n_modules, cap_modules;
	struct hwtd_capture_status status;
	struct hwtdi_capture_file file;

	enum hwtdi_hwt_mode mode;
	uint32_t *cpus;
	size_t n_cpus;
	struct hwtdi_session sessions[HWTDI_BACKENDS];
	size_t n_sessions;

	/* The program: HWTD_NO_ID, or what was started or is attached to. */
	uint32_t pid;
	bool spawned;
	/* A child that was not released yet. */
	bool gated;
	int gate;

	struct hwtdi_thread_table numbers;
	struct hwtdi_thread_list before, after;
	/* The program ended; it had one thread, as it was then. */
	struct hwtdi_thread last_thread;
	bool last_known;

	struct hwtdi_image_places places;
	struct hwtdi_image_id *files;
	size_t n_files, cap_files;
	struct hwtdi_filters filters;
	/* Filters wait for images; threads that map code are held. */
	bool filtering;
	/* Some thread may still be held. */
	bool holding;
	/* A filter's image moved, and the hardware could not be told. */
	bool filters_stale;

	uint64_t begun_ns;
	uint64_t begun_real_ns;
	/* Records that come from here on happened later. */
	uint64_t drained_ns;
	/* Entries that were handled. */
	uint64_t n_entries;
	/* Where to say which process is stopped just now; NULL: nowhere. */
	_Atomic uint32_t *stopped;
};

/*
 * `options` and what they point to are borrowed.  Everything is checked, made and
 * started, and the program is let go.  HWTD_E_*: nothing is left but what the
 * kernel keeps until the process ends, and no file.
 */
int hwtdi_engine_begin(struct hwtdi_engine *engine,
    struct hwtd_context *library, const struct hwtdi_system *sys,
    const struct hwtd_capture_options *options, struct hwtd_error *err);

/* One look at everything; *ended_out: it is time for hwtdi_engine_end(). */
int hwtdi_engine_step(struct hwtdi_engine *engine, bool *ended_out,
    struct hwtd_error *err);

/* Wait until the next look. */
void hwtdi_engine_pause(struct hwtdi_engine *engine);

/*
 * Take what is left and complete the file; also after a step that failed.
 * HWTD_E_NOT_FOUND: a filter's image never came; the file is complete.
 */
int hwtdi_engine_end(struct hwtdi_engine *engine, struct hwtd_error *err);

/* All zero is fine. */
void hwtdi_engine_fini(struct hwtdi_engine *engine);

#endif /* HWTDI_ENGINE_H */
