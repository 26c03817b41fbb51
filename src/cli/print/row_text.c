/*
 * Rows as aligned columns for people.
 */
#include "cli/output/color.h"
#include "cli/print/row_writer.h"

/* Widths of the columns; between them lie two blanks. */
#define WIDTH_TIME 18
#define WIDTH_STREAM 6
#define WIDTH_CPU 3
#define WIDTH_KIND 9
#define WIDTH_ADDRESS 18
/* All columns before the detail, with any 64-bit number in each. */
#define MAX_COLUMNS 192

static char *
pad_to(char *at, const char *start, size_t width)
{
	while ((size_t)(at - start) < width)
		*at++ = ' ';
	return (at);
}

/* [from, from + n) with blanks before it. */
static char *
right_aligned(char *at, const char *from, size_t n, size_t width)
{
	for (size_t i = n; i < width; i++)
		*at++ = ' ';
	memcpy(at, from, n);
	return (at + n);
}

/* Seconds with nine decimals; "~" before a time that is estimated. */
static char *
write_time(char *at, const struct hwtd_event *row)
{
	char text[40];
	char *end = text;

	if ((row->flags & HWTD_EVF_TIME) == 0)
		return (right_aligned(at, "-", 1, WIDTH_TIME));
	if ((row->flags & HWTD_EVF_TIME_ESTIMATED) != 0)
		*end++ = '~';
	end = format_seconds(end, row->time_ns);
	return (right_aligned(at, text, (size_t)(end - text), WIDTH_TIME));
}

static char *
write_id(char *at, uint32_t id, size_t width)
{
	char text[20];

	if (id == HWTD_NO_ID)
		return (right_aligned(at, "-", 1, width));
	return (right_aligned(at, text, (size_t)(format_u64(text, id) - text),
	    width));
}

static char *
write_address(char *at, bool known, uint64_t address)
{
	const char *start = at;

	if (known)
		at = format_hex(at, address);
	else
		*at++ = '-';
	return (pad_to(at, start, WIDTH_ADDRESS));
}

static char *
blanks(char *at)
{
	*at++ = ' ';
	*at++ = ' ';
	return (at);
}

static void
write_code(struct row_writer *writer, const struct hwtd_event *row)
{
	struct output *out = writer->out;
	const struct instruction_text
	    insn = disassembly_of(writer->disassembly, row);

	if (writer->code_bytes) {
		for (uint32_t i = 0; i < insn.n_code; i++) {
			output_hex_bytes(out, insn.code + i, 1);
			output_char(out, ' ');
		}
		/* Most instructions have at most eight bytes. */
		if (writer->code_text || row->branch != HWTD_BRANCH_NONE) {
			for (uint32_t i = insn.n_code; i < 8; i++)
				output_text(out, "   ");
			output_char(out, ' ');
		}
	}
	if (writer->code_text) {
		const size_t n = strlen(insn.text);

		output_bytes(out, insn.text, n);
		if (row->branch != HWTD_BRANCH_NONE)
			for (size_t i = n; i < 36; i++)
				output_char(out, ' ');
		if (row->branch != HWTD_BRANCH_NONE)
			output_char(out, ' ');
	}
}

void
row_write_text(struct row_writer *writer, const struct hwtd_event *row,
    const struct hwtd_batch *batch)
{
	struct output *out = writer->out;
	const char *name = hwtd_event_kind_name(row->kind);
	const bool is_loss = writer->color && row->kind == HWTD_EV_GAP;
	const bool is_faint = writer->color && row->kind != HWTD_EV_GAP &&
	    row->kind != HWTD_EV_BLOCK && row->kind != HWTD_EV_INSN;

	if (is_loss)
		output_text(out, COLOR_LOSS);
	else if (is_faint)
		output_text(out, COLOR_FAINT);
	output_room(out, MAX_COLUMNS);
	char *at = out->at;

	at = write_time(at, row);
	at = blanks(at);
	at = write_id(at, row->stream, WIDTH_STREAM);
	at = blanks(at);
	at = write_id(at, row_cpu(writer, row), WIDTH_CPU);
	at = blanks(at);
	const char *start = at;

	while (*name != '\0')
		*at++ = *name++;
	at = blanks(pad_to(at, start, WIDTH_KIND));
	at = write_address(at, (row->flags & HWTD_EVF_IP) != 0, row->ip);
	at = blanks(at);
	at = write_address(at, (row->flags & HWTD_EVF_TARGET) != 0,
	    row->target);
	out->at = blanks(at);
	if (row->kind == HWTD_EV_INSN && writer->disassembly != NULL)
		write_code(writer, row);
	row_write_detail(writer, out, row, batch);
	if (writer->names != NULL)
		symbol_names_text(writer->names, out, row);

	/* No blanks at the end of a line; the columns lie in the buffer. */
	while (out->at > out->buffer && out->at[-1] == ' ')
		out->at--;
	if (is_loss || is_faint)
		output_text(out, COLOR_OFF);
	output_char(out, '\n');
}
