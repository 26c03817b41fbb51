/*
 * Names of the code of rows: --symbols and --lines.
 */
#include <stdlib.h>

#include "cli/output/json_line.h"
#include "cli/output/message.h"
#include "cli/print/symbol_names.h"

#define MOST_FAULTS 8

struct symbol_names {
	struct hwtd_symbolizer *symbolizer;
	bool lines;
	/* What is wrong with files is told once, and not of each of a thousand. */
	const char *faults[MOST_FAULTS];
	size_t n_faults;
	bool failed;
};

/* Of the row at hand; without a name: not known. */
struct named {
	struct hwtd_symbol at;
	struct hwtd_symbol target;
};

struct symbol_names *
symbol_names_create(struct hwtd_trace *trace, bool lines)
{
	const struct hwtd_symbolizer_options opts = { .size = sizeof(opts),
		.flags = lines ? 0 : HWTD_SYMBOLIZER_NO_LINES };
	struct hwtd_error err = { .size = sizeof(err) };
	struct symbol_names *names = calloc(1, sizeof(*names));

	if (names == NULL) {
		say_error("out of memory");
		return (NULL);
	}
	names->lines = lines;
	if (hwtd_symbolizer_open(trace, &opts, &names->symbolizer, &err) !=
	    HWTD_OK) {
		free(names);
		(void)say_library_error("symbols", &err);
		return (NULL);
	}
	return (names);
}

void
symbol_names_destroy(struct symbol_names *names)
{
	if (names == NULL)
		return;
	hwtd_symbolizer_close(names->symbolizer);
	free(names);
}

static void
say_fault(struct symbol_names *names, const char *fault)
{
	/* Equal ones are the same text. */
	for (size_t i = 0; i < names->n_faults; i++)
		if (names->faults[i] == fault)
			return;
	if (fault == NULL || names->n_faults == MOST_FAULTS)
		return;
	names->faults[names->n_faults++] = fault;
	say_warning("%s", fault);
	if (names->n_faults == MOST_FAULTS)
		say_warning("what else is wrong with files of symbols is not "
			    "told");
}

/* Rows of code say in which section it is; a target can be in another one. */
static struct named
name_row(struct symbol_names *names, const struct hwtd_event *row)
{
	const bool is_code = row->kind == HWTD_EV_BLOCK ||
	    row->kind == HWTD_EV_INSN;
	struct hwtd_where where[2] = { 0 };
	struct hwtd_symbol symbols[2];
	struct named named = { 0 };
	struct hwtd_error err = { .size = sizeof(err) };
	const bool has_ip = (row->flags & HWTD_EVF_IP) != 0;
	const bool has_target = (row->flags & HWTD_EVF_TARGET) != 0;
	size_t n = 0;

	for (size_t i = 0; i < 2; i++) {
		if (!(i == 0 ? has_ip : has_target))
			continue;
		where[n].address = i == 0 ? row->ip : row->target;
		where[n].context = row->context;
		if (row->context != HWTD_NO_ID)
			where[n].flags |= HWTD_WHERE_CONTEXT;
		where[n].section = row->section;
		if (i == 0 && is_code && (row->flags & HWTD_EVF_SECTION) != 0)
			where[n].flags |= HWTD_WHERE_SECTION;
		where[n].stream = row->stream;
		where[n].stream_off = row->stream_off;
		if (row->stream != HWTD_NO_ID)
			where[n].flags |= HWTD_WHERE_OFFSET;
		where[n].time_ns = row->time_ns;
		if ((row->flags & HWTD_EVF_TIME) != 0)
			where[n].flags |= HWTD_WHERE_TIME;
		n++;
	}
	if (n == 0)
		return (named);
	if (hwtd_symbolize(names->symbolizer, where, sizeof(where[0]), n,
		symbols, sizeof(symbols[0]), &err) != HWTD_OK) {
		if (!names->failed)
			say_warning("code without names: %s", err.message);
		names->failed = true;
		return (named);
	}
	if (has_ip)
		named.at = symbols[0];
	if (has_target)
		named.target = symbols[n - 1];
	say_fault(names, named.at.fault);
	return (named);
}

static void
write_symbol(struct output *out, const struct hwtd_symbol *symbol)
{
	output_escaped(out, symbol->text);
	if (symbol->offset != 0) {
		output_char(out, '+');
		output_hex(out, symbol->offset);
	}
}

static void
write_place(struct output *out, const struct hwtd_symbol *symbol)
{
	const struct hwtd_symbol_frame *frames = symbol->frames;

	if (symbol->n_frames == 0)
		return;
	if (frames[0].file != NULL) {
		output_text(out, "  ");
		output_escaped(out, frames[0].file);
		if (frames[0].line != 0)
			output_format(out, ":%u", frames[0].line);
		if (frames[0].line != 0 && frames[0].column != 0)
			output_format(out, ":%u", frames[0].column);
	}
	for (uint32_t i = 0; i + 1 < symbol->n_frames; i++) {
		output_text(out, i == 0 ? " (" : " < ");
		output_escaped(out,
		    frames[i].function != NULL ? frames[i].function : "?");
	}
	if (symbol->n_frames > 1)
		output_text(out, " inlined)");
}

void
symbol_names_text(struct symbol_names *names, struct output *out,
    const struct hwtd_event *row)
{
	const struct named named = name_row(names, row);

	if (named.at.text != NULL || named.target.text != NULL)
		output_text(out, "  ");
	if (named.at.text != NULL)
		write_symbol(out, &named.at);
	if (named.target.text != NULL) {
		output_text(out, " -> ");
		write_symbol(out, &named.target);
	}
	write_place(out, &named.at);
}

static void
json_symbol(struct output *out, const struct hwtd_symbol *symbol,
    const char *name, const char *offset)
{
	if (symbol->text == NULL)
		return;
	json_string(out, name, symbol->text);
	json_u64(out, offset, symbol->offset);
}

void
symbol_names_json(struct symbol_names *names, struct output *out,
    const struct hwtd_event *row)
{
	const struct named named = name_row(names, row);

	json_symbol(out, &named.at, "symbol", "symbol_offset");
	json_symbol(out, &named.target, "target_symbol", "target_offset");
	if (named.at.n_frames == 0)
		return;
	json_key(out, "frames");
	for (uint32_t i = 0; i < named.at.n_frames; i++) {
		const struct hwtd_symbol_frame *f = &named.at.frames[i];

		/* The first key of an object has no comma. */
		output_text(out,
		    i == 0 ? "[{\"function\":" : ",{\"function\":");
		if (f->function != NULL)
			output_json_string(out, f->function);
		else
			output_text(out, "null");
		if (f->file != NULL)
			json_string(out, "file", f->file);
		if (f->line != 0)
			json_u64(out, "line", f->line);
		if (f->column != 0)
			json_u64(out, "column", f->column);
		if (f->discriminator != 0)
			json_u64(out, "discriminator", f->discriminator);
		output_char(out, '}');
	}
	output_char(out, ']');
}

static void
csv_symbol(struct output *out, const struct hwtd_symbol *symbol)
{
	output_char(out, ',');
	if (symbol->text != NULL)
		output_csv_string(out, symbol->text);
	output_csv_u64(out, symbol->text != NULL, symbol->offset);
}

void
symbol_names_csv(struct symbol_names *names, struct output *out,
    const struct hwtd_event *row)
{
	const struct named named = name_row(names, row);
	const struct hwtd_symbol_frame none = { 0 };
	const struct hwtd_symbol_frame *f = named.at.n_frames > 0
	    ? &named.at.frames[0]
	    : &none;

	csv_symbol(out, &named.at);
	csv_symbol(out, &named.target);
	if (!names->lines)
		return;
	output_char(out, ',');
	if (f->function != NULL)
		output_csv_string(out, f->function);
	output_char(out, ',');
	if (f->file != NULL)
		output_csv_string(out, f->file);
	output_csv_u64(out, f->line != 0, f->line);
	output_csv_u64(out, f->column != 0, f->column);
}

void
symbol_names_csv_header(const struct symbol_names *names, struct output *out)
{
	output_text(out, ",symbol,symbol_offset,target_symbol,target_offset");
	if (names->lines)
		output_text(out, ",function,file,line,column");
}

void
symbol_names_csv_none(const struct symbol_names *names, struct output *out)
{
	output_text(out, names->lines ? ",,,,,,,," : ",,,,");
}
