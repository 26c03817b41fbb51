/*
 * Which rows of a profile a report has, and in which order.
 */
#include "cli/print/report_table.h"

#include <stdlib.h>

#include "cli/output/loss.h"
#include "cli/output/message.h"
#include "cli/options/report_options.h"

#define DEFAULT_TOP 40u
/* So many are read at once. */
#define RELATIVES 256u

/* What is known. */

static void
find_source(struct report *r)
{
	const struct hwtd_profile_seen *seen = r->info.seen;

	r->source = seen[HWTD_PROFILE_CALLS].added != 0 ? HWTD_PROFILE_CALLS
	    : seen[HWTD_PROFILE_EVENTS].added != 0	? HWTD_PROFILE_EVENTS
							: HWTD_PROFILE_RUNS;
	r->weight = WEIGHT_INSNS;
	r->has_insns = true;
	r->whole = seen[r->source].insns;
	if (r->source != HWTD_PROFILE_CALLS)
		return;
	r->has_time = r->info.total.ns != 0 || r->info.total.gap_ns != 0 ||
	    r->info.total.off_ns != 0;
	r->has_cycles = r->info.total.cycles != 0;
	r->whole = r->info.total.insns;
	/* Text says nothing of them. */
	r->has_insns = r->whole != 0 || seen[r->source].insns != 0;
	if (r->has_insns)
		return;
	r->weight = r->info.total.ns != 0 ? WEIGHT_NS : WEIGHT_CALLS;
	r->whole = r->weight == WEIGHT_NS ? r->info.total.ns
					  : r->info.total.calls;
}

static uint64_t
weigh(const struct report *r, const struct hwtd_profile_sums *sums)
{
	return (r->weight == WEIGHT_INSNS ? sums->insns
		: r->weight == WEIGHT_NS  ? sums->ns
					  : sums->calls);
}

uint64_t
report_self(const struct report *r, const struct hwtd_profile_row *row)
{
	return (r->source == HWTD_PROFILE_CALLS ? weigh(r, &row->self)
						: row->insns);
}

uint64_t
report_total(const struct report *r, const struct hwtd_profile_row *row)
{
	return (r->source == HWTD_PROFILE_CALLS ? weigh(r, &row->total)
						: row->insns);
}

double
report_percent(const struct report *r, uint64_t part)
{
	return (r->whole != 0 ? 100.0 * (double)part / (double)r->whole : 0);
}

/* Sorting. */

struct sorted {
	uint64_t key;
	/* By name only. */
	const char *name;
	struct hwtd_profile_row row;
	size_t place;
};

static int
compare(const void *va, const void *vb)
{
	const struct sorted *a = va, *b = vb;
	int order;

	if (a->key != b->key)
		return (a->key < b->key ? 1 : -1);
	if (a->name != NULL && b->name != NULL) {
		order = strcmp(a->name, b->name);
		if (order != 0)
			return (order);
	}
	return (a->place < b->place ? -1 : a->place > b->place);
}

static void
set_key(const struct report *r, struct sorted *s)
{
	const struct options *o = r->options;
	const uint32_t sort = o->has_report_sort ? o->report_sort
	    : o->inclusive			 ? REPORT_BY_TOTAL
						 : REPORT_BY_SELF;

	switch (sort) {
	case REPORT_BY_TOTAL:
		s->key = report_total(r, &s->row);
		break;
	case REPORT_BY_CALLS:
		s->key = s->row.self.calls;
		break;
	case REPORT_BY_TIME:
		s->key = o->inclusive ? s->row.total.ns : s->row.self.ns;
		break;
	case REPORT_BY_CYCLES:
		s->key = o->inclusive ? s->row.total.cycles
				      : s->row.self.cycles;
		break;
	case REPORT_BY_ENTERED:
		s->key = s->row.entered;
		break;
	case REPORT_BY_NAME:
		s->name = report_row_name(r, &s->row);
		/* Those without a name come last. */
		s->key = s->name != NULL;
		break;
	default:
		s->key = report_self(r, &s->row);
		break;
	}
}

static bool
is_heavy(const struct report *r, const struct hwtd_profile_row *row)
{
	const bool inclusive = r->options->inclusive ||
	    (r->options->has_report_sort &&
		r->options->report_sort == REPORT_BY_TOTAL);

	return (report_percent(r,
		    inclusive ? report_total(r, row) : report_self(r, row)) >=
	    r->options->percent_limit);
}

static uint64_t
top_of(const struct options *o)
{
	if (o->top == UINT64_MAX)
		return (o->format == FORMAT_TEXT ? DEFAULT_TOP : UINT64_MAX);
	return (o->top == 0 ? UINT64_MAX : o->top);
}

/* All rows; NULL after a message. */
static struct sorted *
sort_rows(const struct report *r, size_t *n_out)
{
	struct hwtd_profile_row row;
	struct sorted *rows = NULL;
	size_t n = 0, cap = 0, got;

	for (uint64_t i = 0;
	     hwtd_profile_rows(r->profile, r->options->report_by, i, &row,
		 sizeof(row), 1, &got) == HWTD_OK;
	     i++) {
		if (n == cap) {
			const size_t more = cap * 2 + 256;
			struct sorted *grown = realloc(rows,
			    more * sizeof(*rows));

			if (grown == NULL) {
				say_error("out of memory");
				free(rows);
				return (NULL);
			}
			rows = grown;
			cap = more;
		}
		if (!is_heavy(r, &row))
			continue;
		rows[n] = (struct sorted){ .row = row, .place = n };
		set_key(r, &rows[n++]);
	}
	if (n > 1)
		qsort(rows, n, sizeof(*rows), compare);
	*n_out = n;
	return (rows != NULL ? rows : malloc(sizeof(*rows)));
}

static int
write_rows(struct report *r)
{
	const uint64_t top = top_of(r->options);
	struct sorted *rows;
	size_t n;

	rows = sort_rows(r, &n);
	if (rows == NULL)
		return (EXIT_FAILED);
	report_write_header(r);
	for (size_t i = 0; i < n && i < top; i++)
		report_write_row(r, &rows[i].row);
	if (n > top && r->options->format == FORMAT_TEXT)
		output_format(r->out, "%zu more rows: --top 0 shows all\n",
		    n - (size_t)top);
	free(rows);
	return (EXIT_DONE);
}

/* Relatives. */

static int
compare_relatives(const void *va, const void *vb)
{
	const struct hwtd_profile_relative *a = va, *b = vb;

	if (a->branches != b->branches)
		return (a->branches < b->branches ? 1 : -1);
	if (a->sums.insns != b->sums.insns)
		return (a->sums.insns < b->sums.insns ? 1 : -1);
	if (a->sums.calls != b->sums.calls)
		return (a->sums.calls < b->sums.calls ? 1 : -1);
	if (a->function != b->function)
		return (a->function < b->function ? -1 : 1);
	return (a->type < b->type ? -1 : a->type > b->type);
}

static int
write_relatives_of(struct report *r, uint32_t function)
{
	const uint32_t side = r->options->callers != NULL
	    ? HWTD_PROFILE_CALLERS
	    : HWTD_PROFILE_CALLEES;
	const uint64_t top = top_of(r->options);
	struct hwtd_profile_relative *all = NULL, *grown;
	size_t n = 0, got = 0;
	int rc;

	do {
		grown = realloc(all, (n + RELATIVES) * sizeof(*all));
		if (grown == NULL) {
			say_error("out of memory");
			free(all);
			return (EXIT_FAILED);
		}
		all = grown;
		rc = hwtd_profile_relatives(r->profile, function, side, n,
		    all + n, sizeof(*all), RELATIVES, &got);
		n += got;
	} while (rc == HWTD_OK);
	qsort(all, n, sizeof(*all), compare_relatives);
	for (size_t i = 0; i < n && i < top; i++)
		report_write_relative(r, function, &all[i]);
	free(all);
	return (EXIT_DONE);
}

static int
write_relatives(struct report *r)
{
	const char *name = r->options->callers != NULL ? r->options->callers
						       : r->options->callees;
	struct hwtd_profile_function f = { .size = sizeof(f) };
	int code = EXIT_DONE;
	bool found = false;

	for (uint32_t i = 0; code == EXIT_DONE &&
	     hwtd_profile_function(r->profile, i, &f) == HWTD_OK;
	     i++) {
		if ((f.flags & HWTD_PROFILE_FUNCTIONF_INLINED) != 0 ||
		    ((f.name == NULL || strcmp(f.name, name) != 0) &&
			(f.linkage_name == NULL ||
			    strcmp(f.linkage_name, name) != 0)))
			continue;
		if (!found)
			report_write_relative_header(r);
		found = true;
		code = write_relatives_of(r, i);
	}
	if (!found && !r->interrupted) {
		say_error("no function '%s' was executed", name);
		say_hint("'hwtdecode report --top 0 --sort name' lists those "
			 "that were");
		return (EXIT_FAILED);
	}
	return (code);
}

/* All of it. */

/* What --max-loss speaks of. */
static int
judge(const struct report *r)
{
	const struct hwtd_profile_seen *seen = &r->info.seen[r->source];
	const char *name = r->options->n_operands == 1
	    ? r->options->operands[0]
	    : "all of them";
	struct hwtd_stats stats = { .size = sizeof(stats),
		.bytes = seen->bytes,
		.gap_bytes = seen->gap_bytes,
		.file_gap_bytes = seen->file_gap_bytes };

	memcpy(stats.gaps, seen->gaps, sizeof(stats.gaps));
	/* Rows have no place for it. */
	if (r->options->format == FORMAT_CSV)
		loss_warn(name, &stats);
	return (loss_exit_code(name, &stats, r->options->max_loss));
}

int
report_write(struct report *r)
{
	int code, rc;

	r->info.size = sizeof(r->info);
	rc = hwtd_profile_info(r->profile, &r->info);
	if (rc != HWTD_OK) {
		say_error(rc == HWTD_E_NOMEM ? "out of memory"
					     : "the profile is too large");
		return (EXIT_FAILED);
	}
	find_source(r);
	/* Code is counted as a whole, or not at all. */
	if (r->interrupted && r->info.seen[r->source].added == 0) {
		report_write_interrupted(r);
		return (EXIT_DONE);
	}
	code = r->options->callers != NULL || r->options->callees != NULL
	    ? write_relatives(r)
	    : write_rows(r);
	if (code != EXIT_DONE)
		return (code);
	report_write_unseen(r);
	report_write_interrupted(r);
	return (judge(r));
}
