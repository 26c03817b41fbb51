/*
 * Exports: what all formats have in common, and the list of those there are.
 *
 * A format is a file that offers a struct of operations, and a line in
 * exporters[] of export.c.  It finds its source and the sink in the export, and
 * keeps its own state there.
 */
#ifndef HWTDI_EXPORT_H
#define HWTDI_EXPORT_H

#include <hwtdecode/format.h>

#include "export/export_sink.h"

/* What a format writes of; the one that `ops->source` says is set. */
struct hwtdi_export_source {
	struct hwtd_calls *calls;
	struct hwtd_runs *runs;
	struct hwtd_events *events;
	struct hwtd_trace *trace;
	/* struct hwtd_profile, struct hwtd_coverage. */
	struct hwtd_profile *profile;
	/* Instead of a profile. */
	struct hwtd_flame *flame;
	struct hwtd_coverage *coverage;
	/* For compilers: an image, or HWTD_NO_ID: the format's choice. */
	uint32_t image;
};

struct hwtd_export {
	struct hwtd_context *ctx;
	const struct hwtdi_exporter_ops *ops;
	struct hwtdi_export_source source;
	/* `title` is a copy, "" if there is none. */
	struct hwtd_format_options options;
	struct hwtdi_sink sink;
	/* ops->state_bytes of zeros when it is opened. */
	void *state;
	/* `flags`, `rows`, `dropped` and `merged` are the format's to count. */
	struct hwtd_export_info info;
	/* Nothing more is to be read; step() ends the file. */
	bool stopped;
	/* HWTD_OK, HWTD_END, or an error that stays. */
	int rc;
};

struct hwtdi_exporter_ops {
	/* hwtd_export_format, hwtd_export_source. */
	uint32_t format;
	uint32_t source;
	const char *name;
	const char *suffixes;
	const char *viewer;
	uint64_t viewer_bytes;
	/* Always packed with gzip, as the format wants it. */
	bool packed;
	size_t state_bytes;
	/* Check options, write what comes first.  May be NULL; on failure it cleans up. */
	int (*open)(struct hwtd_export *ex, struct hwtd_error *err);
	/*
	 * Some more.  HWTD_OK: there may be more; HWTD_END: all was put, and the
	 * last file is ended by who called this.
	 */
	int (*step)(struct hwtd_export *ex, struct hwtd_error *err);
	/* Free what the state has.  May be NULL. */
	void (*close)(struct hwtd_export *ex);
};

extern const struct hwtdi_exporter_ops hwtdi_perfetto_ops;
extern const struct hwtdi_exporter_ops hwtdi_chrome_ops;
extern const struct hwtdi_exporter_ops hwtdi_speedscope_ops;
extern const struct hwtdi_exporter_ops hwtdi_firefox_ops;

/*
 * Open an export of any source; `kind` is an hwtd_export_source, and `source` has
 * it.  The public functions that open one check it and call this.
 */
int hwtdi_export_open(struct hwtd_context *ctx, uint32_t kind,
    const struct hwtdi_export_source *source,
    const struct hwtd_format_options *opts, struct hwtd_export **out,
    struct hwtd_error *err);

#endif /* HWTDI_EXPORT_H */
