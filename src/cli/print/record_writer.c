/*
 * What a record says, in words and as JSON.
 */
#include "cli/print/record_writer.h"

#include <inttypes.h>

#include "cli/print/image_report.h"
#include "cli/output/json_line.h"

static const struct {
	uint32_t bit;
	const char *name;
} flag_names[] = {
	{ HWTD_RECF_KERNEL_SPACE, "kernel" },
	{ HWTD_RECF_ANONYMOUS, "anonymous" },
	{ HWTD_RECF_JIT, "jit" },
	{ HWTD_RECF_SWITCH_OUT, "switch_out" },
	{ HWTD_RECF_HYPERVISOR_SPACE, "hypervisor" },
};

#define N_FLAG_NAMES (sizeof(flag_names) / sizeof(flag_names[0]))

static const struct {
	uint64_t bit;
	const char *name;
} buffer_flags[] = {
	{ HWTD_BUFFERF_TRUNCATED, "truncated" },
	{ HWTD_BUFFERF_OVERWRITE, "overwrite" },
	{ HWTD_BUFFERF_PARTIAL, "partial" },
	{ HWTD_BUFFERF_COLLISION, "collision" },
};

#define N_BUFFER_FLAGS (sizeof(buffer_flags) / sizeof(buffer_flags[0]))

static bool
has_buffer_flag(const struct hwtd_record *r, size_t i)
{
	return (r->type == HWTD_REC_BUFFER && record_has(r, HWTD_RECF_VALUE) &&
	    (r->value & buffer_flags[i].bit) != 0);
}

static void
write_place(struct output *out, const struct hwtd_record *r)
{
	if (record_has(r, HWTD_RECF_ADDR)) {
		output_char(out, ' ');
		output_hex(out, r->addr);
	}
	if (record_has(r, HWTD_RECF_LEN)) {
		output_text(out,
		    record_has(r, HWTD_RECF_ADDR) ? "+" : " length ");
		output_hex(out, r->len);
	}
	if (record_has(r, HWTD_RECF_FILE_OFF)) {
		output_text(out, " file-offset ");
		output_hex(out, r->file_off);
	}
	if (record_has(r, HWTD_RECF_BASE)) {
		output_text(out, " interpreter ");
		output_hex(out, r->base);
	}
	if (r->type == HWTD_REC_BUFFER) {
		for (size_t i = 0; i < N_BUFFER_FLAGS; i++)
			if (has_buffer_flag(r, i))
				output_format(out, " %s",
				    buffer_flags[i].name);
	} else if (record_has(r, HWTD_RECF_VALUE)) {
		output_format(out, " %s %" PRIu64,
		    r->type == HWTD_REC_FORK	     ? "parent"
			: r->type == HWTD_REC_SWITCH ? "next"
						     : "value",
		    r->value);
	}
	if (record_has(r, HWTD_RECF_VMID))
		output_format(out, " vmid %" PRIu32, r->vmid);
	if (record_has(r, HWTD_RECF_STREAM_OFF)) {
		output_text(out, " at ");
		if (r->stream != HWTD_NO_ID)
			output_format(out, "%" PRIu32 ":", r->stream);
		output_hex(out, r->stream_off);
	}
}

void
record_write_words(struct output *out, const struct hwtd_trace *trace,
    const struct hwtd_record *r)
{
	struct hwtd_image_info image = { .size = sizeof(image) };

	write_place(out, r);
	for (size_t i = 0; i < N_FLAG_NAMES; i++)
		if (record_has(r, flag_names[i].bit))
			output_format(out, " %s", flag_names[i].name);
	if (r->n_build_id > 0) {
		output_text(out, " build-id ");
		write_build_id(out, r->build_id, r->n_build_id);
	}
	if (r->name != NULL) {
		output_char(out, ' ');
		output_escaped(out, r->name);
	}
	if (r->image != HWTD_NO_ID &&
	    hwtd_trace_image(trace, r->image, &image) == HWTD_OK) {
		output_text(out, " image ");
		output_escaped(out, image.path);
	}
}

void
record_write_flags(struct output *out, const struct hwtd_record *r)
{
	bool any = false;

	for (size_t i = 0; i < N_FLAG_NAMES; i++) {
		if (!record_has(r, flag_names[i].bit))
			continue;
		output_format(out, "%s%s", any ? " " : "", flag_names[i].name);
		any = true;
	}
}

void
record_write_json_type(struct output *out, uint64_t number,
    const struct hwtd_record *r)
{
	json_u64(out, "record", number);
	json_name(out, "record_type", hwtd_record_type_name(r->type));
}

void
record_write_json_rest(struct output *out, const struct hwtd_record *r)
{
	if (record_has(r, HWTD_RECF_ADDR))
		json_hex(out, "address", r->addr);
	if (record_has(r, HWTD_RECF_LEN))
		json_u64(out, "length", r->len);
	if (record_has(r, HWTD_RECF_FILE_OFF))
		json_u64(out, "file_offset", r->file_off);
	if (record_has(r, HWTD_RECF_BASE))
		json_hex(out, "base", r->base);
	if (record_has(r, HWTD_RECF_VALUE))
		json_u64(out, "value", r->value);
	if (record_has(r, HWTD_RECF_VMID))
		json_u64(out, "vmid", r->vmid);
	if (r->image != HWTD_NO_ID)
		json_u64(out, "image", r->image);
	if (r->name != NULL)
		json_string(out, "name", r->name);
	if (r->n_build_id > 0) {
		json_key(out, "build_id");
		output_char(out, '"');
		write_build_id(out, r->build_id, r->n_build_id);
		output_char(out, '"');
	}
	for (size_t i = 0; i < N_FLAG_NAMES; i++)
		if (record_has(r, flag_names[i].bit))
			json_bool(out, flag_names[i].name, true);
	for (size_t i = 0; i < N_BUFFER_FLAGS; i++)
		if (has_buffer_flag(r, i))
			json_bool(out, buffer_flags[i].name, true);
}
