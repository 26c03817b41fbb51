/*
 * What the formats that are made of runs have in common: counting first, then one
 * line after the other.
 */
#ifndef HWTDI_CODE_EXPORT_H
#define HWTDI_CODE_EXPORT_H

#include "export/compilers/code_profile.h"
#include "export/export.h"

/* The state of every export for compilers begins with this. */
struct hwtdi_compiler_state {
	struct hwtd_compiler_info info;
};

struct hwtdi_code_export {
	struct hwtdi_compiler_state told;
	struct hwtdi_code_profile profile;
	bool counted;
	/* The next line. */
	uint64_t line;
};

/*
 * Of struct hwtdi_exporter_ops, with a struct hwtdi_code_export as state.  The
 * steps count, make the profile, and then ask for lines: `begin` is called once,
 * and may be NULL; `put` writes line number `line`, if it is one, and returns
 * false behind the last one.
 */
struct hwtdi_code_writer {
	bool with_flows;
	void (*begin)(struct hwtd_export *ex, struct hwtdi_code_export *s);
	bool (*put)(struct hwtd_export *ex, struct hwtdi_code_export *s,
	    uint64_t line);
};

int hwtdi_code_export_step(struct hwtd_export *ex,
    const struct hwtdi_code_writer *writer, struct hwtd_error *err);
void hwtdi_code_export_close(struct hwtd_export *ex);

/* A count as readers have room for it, which is 63 bits. */
uint64_t hwtdi_code_export_count(struct hwtdi_code_export *s, uint64_t count);

/* The image may be asked for; HWTD_E_NOT_FOUND. */
int hwtdi_compiler_image_check(const struct hwtd_trace *trace, uint32_t image,
    struct hwtd_error *err);

extern const struct hwtdi_exporter_ops hwtdi_llvm_unsymbolized_ops;
extern const struct hwtdi_exporter_ops hwtdi_autofdo_ops;
extern const struct hwtdi_exporter_ops hwtdi_bolt_ops;
extern const struct hwtdi_exporter_ops hwtdi_bolt_legacy_ops;
extern const struct hwtdi_exporter_ops hwtdi_perf_script_ops;

#endif /* HWTDI_CODE_EXPORT_H */
