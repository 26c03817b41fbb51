/*
 * Where files are damaged, as text and as JSON.
 */
#include "cli/print/damage_writer.h"

#include "cli/output/json_line.h"

void
damage_bytes(struct output *out, uint64_t first, uint64_t n, bool earlier_file)
{
	output_text(out,
	    earlier_file ? "bytes of an earlier file " : "file bytes ");
	output_hex(out, first);
	output_char(out, '-');
	output_hex(out, first + n);
}

void
json_damage_bytes(struct output *out, uint64_t first, uint64_t n,
    bool earlier_file)
{
	json_u64(out, "file_first", first);
	json_u64(out, "file_end", first + n);
	if (earlier_file)
		json_bool(out, "earlier_file", true);
}

void
json_damage(struct output *out, const struct hwtd_damage *damage)
{
	json_begin(out, "damage");
	json_damage_bytes(out, damage->file_off, damage->file_bytes,
	    (damage->flags & HWTD_DAMAGEF_EARLIER_FILE) != 0);
	if (damage->stream != HWTD_NO_ID) {
		json_u64(out, "stream", damage->stream);
		json_u64(out, "first", damage->first);
		json_u64(out, "end", damage->end);
	}
	json_string(out, "text", damage->text);
	json_end(out);
}
