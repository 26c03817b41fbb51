/*
 * Exports of calls: opening one.
 */
#include "analysis/calls/call_source.h"
#include "base/fail.h"
#include "export/export.h"

int
hwtd_export_open_calls(struct hwtd_calls *calls,
    const struct hwtd_format_options *opts, struct hwtd_export **export_out,
    struct hwtd_error *err)
{
	const uint32_t needed = HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS;
	const struct hwtdi_export_source source = { .calls = calls };

	if (calls == NULL || opts == NULL || export_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no calls, no options, or no place for the export"));
	if ((hwtdi_calls_flags(calls) & needed) != needed)
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "calls were opened without rows of begins or of gaps"));
	if (hwtdi_calls_begun(calls))
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "rows of the calls were read already: they would be "
		    "missing"));
	return (hwtdi_export_open(hwtdi_calls_library(calls),
	    HWTD_SOURCE_CALLS, &source, opts, export_out, err));
}
