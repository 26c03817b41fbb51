/*
 * Conditions on samples.
 */
#include "cli/print/where.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/message.h"
#include "cli/options/option_values.h"
#include "cli/print/sample_fields.h"

#define WORD_MAX 48

enum term_kind {
	TERM_FIELD,
	TERM_PC,
	TERM_CLASS,
	TERM_LOAD,
	TERM_TAKEN,
	TERM_FLAG,
	TERM_SAMPLE_FLAG,
	TERM_EVENT
};

enum comparison {
	/* The field is there. */
	COMPARE_NONE,
	COMPARE_EQUAL,
	COMPARE_UNEQUAL,
	COMPARE_LESS,
	COMPARE_LESS_EQUAL,
	COMPARE_GREATER,
	COMPARE_GREATER_EQUAL
};

struct where_term {
	bool negated;
	enum term_kind kind;
	const struct sample_field *field;
	enum comparison comparison;
	uint64_t value;
	/* Class, flag or number of the event. */
	uint32_t number;
	/* Of an event that was named: on other CPUs the bit is another one. */
	const char *name;
};

struct parser {
	const char *text;
	const char *at;
};

static void
skip_blanks(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static bool
is_word_char(char c)
{
	return (isalnum((unsigned char)c) || c == '_' || c == '-');
}

/* The next word, or "" where there is none. */
static void
next_word(struct parser *p, char word[WORD_MAX])
{
	size_t n = 0;

	skip_blanks(p);
	while (is_word_char(*p->at)) {
		if (n + 1 < WORD_MAX)
			word[n++] = *p->at;
		p->at++;
	}
	word[n] = '\0';
}

static bool
take_text(struct parser *p, const char *text)
{
	const size_t n = strlen(text);

	skip_blanks(p);
	if (strncmp(p->at, text, n) != 0)
		return (false);
	p->at += n;
	return (true);
}

/* A word that stands alone. */
static bool
take_word(struct parser *p, const char *text)
{
	const char *begin;

	skip_blanks(p);
	begin = p->at;
	if (take_text(p, text) && !is_word_char(*p->at))
		return (true);
	p->at = begin;
	return (false);
}

static enum comparison
next_comparison(struct parser *p)
{
	static const struct {
		const char *text;
		enum comparison comparison;
	} all[] = {
		{ "==", COMPARE_EQUAL },
		{ "=", COMPARE_EQUAL },
		{ "!=", COMPARE_UNEQUAL },
		{ "<=", COMPARE_LESS_EQUAL },
		{ "<", COMPARE_LESS },
		{ ">=", COMPARE_GREATER_EQUAL },
		{ ">", COMPARE_GREATER },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (take_text(p, all[i].text))
			return (all[i].comparison);
	return (COMPARE_NONE);
}

static bool
find_event_of(struct where_term *term, uint32_t midr, const char *word)
{
	for (uint32_t bit = 0; bit < 64; bit++) {
		const char *name = hwtd_sample_event_name(midr, 0, bit);

		if (name == NULL || strcmp(name, word) != 0)
			continue;
		term->number = bit;
		term->name = name;
		return (true);
	}
	return (false);
}

/* CPUs have events of their own, and files tell only later of which they are. */
static bool
find_event(struct where_term *term, const char *word)
{
	const char *cpu;
	char *end;

	term->kind = TERM_EVENT;
	if (find_event_of(term, 0, word))
		return (true);
	for (size_t i = 0; (cpu = hwtd_spe_cpu_at(i)) != NULL; i++)
		if (find_event_of(term, hwtd_spe_cpu_midr(cpu), word))
			return (true);
	if (strncmp(word, "bit", 3) != 0 || !isdigit((unsigned char)word[3]))
		return (false);
	const unsigned long bit = strtoul(word + 3, &end, 10);

	term->number = (uint32_t)bit;
	return (*end == '\0' && bit < 64);
}

static bool
find_flag(struct where_term *term, const char *word)
{
	term->kind = TERM_FLAG;
	for (size_t i = 0; i < N_OP_FLAGS; i++) {
		term->number = op_flags[i].bit;
		if (strcmp(op_flags[i].name, word) == 0)
			return (true);
	}
	term->kind = TERM_SAMPLE_FLAG;
	for (size_t i = 0; i < N_SAMPLE_FLAGS; i++) {
		term->number = sample_flags[i].bit;
		if (strcmp(sample_flags[i].name, word) == 0)
			return (true);
	}
	return (false);
}

static bool
find_class(struct where_term *term, const char *word)
{
	term->kind = TERM_CLASS;
	for (uint32_t i = HWTD_OP_CLASS_OTHER; i <= HWTD_OP_CLASS_RESERVED;
	     i++) {
		term->number = i;
		if (strcmp(hwtd_op_class_name(i), word) == 0)
			return (true);
	}
	return (false);
}

static bool
find_field(struct where_term *term, const char *word)
{
	if (strcmp(word, "pc") == 0) {
		term->kind = TERM_PC;
		return (true);
	}
	term->kind = TERM_FIELD;
	for (size_t i = 0; i < N_SAMPLE_FIELDS; i++) {
		term->field = &sample_fields[i];
		if (strcmp(sample_fields[i].name, word) == 0)
			return (true);
	}
	return (false);
}

static bool
find_word(struct where_term *term, const char *word)
{
	if (strcmp(word, "load") == 0) {
		term->kind = TERM_LOAD;
		return (true);
	}
	if (strcmp(word, "taken") == 0) {
		term->kind = TERM_TAKEN;
		return (true);
	}
	return (find_class(term, word) || find_flag(term, word) ||
	    find_event(term, word));
}

static bool
parse_term(struct parser *p, struct where_term *term)
{
	char word[WORD_MAX], number[WORD_MAX];

	memset(term, 0, sizeof(*term));
	while (take_word(p, "not") || take_text(p, "!"))
		term->negated = !term->negated;
	next_word(p, word);
	if (word[0] == '\0') {
		say_error("--where: '%s': a condition is missing", p->text);
		say_hint("as in: store and lat_total >= 100");
		return (false);
	}
	if (!find_field(term, word)) {
		if (find_word(term, word))
			return (true);
		say_error("--where: there is no field, class, flag or event "
			  "'%s'",
		    word);
		say_hint("fields are the keys of 'hwtdecode spe --format "
			 "jsonl' with numbers of the sample, events their "
			 "event_names");
		return (false);
	}
	term->comparison = next_comparison(p);
	if (term->comparison == COMPARE_NONE)
		return (true);
	next_word(p, number);
	if (parse_number(number, strlen(number), &term->value) == VALUE_FINE)
		return (true);
	say_error("--where: '%s' is not a number to compare %s with", number,
	    word);
	return (false);
}

static bool
parse(struct where *where, const char *text)
{
	struct parser p = { .text = text, .at = text };

	do {
		struct where_term *grown = realloc(where->terms,
		    (where->n + 1) * sizeof(*grown));

		if (grown == NULL) {
			say_error("out of memory");
			return (false);
		}
		where->terms = grown;
		if (!parse_term(&p, &where->terms[where->n]))
			return (false);
		where->n++;
	} while (take_word(&p, "and") || take_text(&p, ","));
	skip_blanks(&p);
	if (*p.at == '\0')
		return (true);
	say_error("--where: '%s' stands where an 'and' belongs", p.at);
	return (false);
}

bool
where_init(struct where *where, const struct options *options)
{
	memset(where, 0, sizeof(*where));
	for (size_t i = 0; i < options->n_wheres; i++)
		if (!parse(where, options->wheres[i])) {
			where_fini(where);
			return (false);
		}
	return (true);
}

void
where_fini(struct where *where)
{
	free(where->terms);
	memset(where, 0, sizeof(*where));
}

static bool
compares(enum comparison comparison, uint64_t a, uint64_t b)
{
	switch (comparison) {
	case COMPARE_EQUAL:
		return (a == b);
	case COMPARE_UNEQUAL:
		return (a != b);
	case COMPARE_LESS:
		return (a < b);
	case COMPARE_LESS_EQUAL:
		return (a <= b);
	case COMPARE_GREATER:
		return (a > b);
	case COMPARE_GREATER_EQUAL:
		return (a >= b);
	default:
		return (true);
	}
}

/* Bit of events: a branch that is not taken. */
#define NOT_TAKEN 6

static bool
term_holds(const struct where_term *term, const struct hwtd_sample *s,
    const struct row_stream *stream)
{
	const char *name;

	switch (term->kind) {
	case TERM_FIELD:
		return ((s->present & term->field->present) != 0 &&
		    compares(term->comparison,
			sample_field_value(term->field, s), term->value));
	case TERM_PC:
		return ((s->present & HWTD_SAMPLE_PC) != 0 &&
		    compares(term->comparison, s->pc, term->value));
	case TERM_CLASS:
		return (s->op_class == term->number);
	case TERM_LOAD:
		return (s->op_class == HWTD_OP_CLASS_MEMORY &&
		    (s->op_flags & HWTD_OPF_STORE) == 0);
	case TERM_TAKEN:
		return (s->op_class == HWTD_OP_CLASS_BRANCH &&
		    (s->present & HWTD_SAMPLE_EVENTS) != 0 &&
		    (s->events >> NOT_TAKEN & 1) == 0);
	case TERM_FLAG:
		return ((s->op_flags & term->number) != 0);
	case TERM_SAMPLE_FLAG:
		return ((s->flags & term->number) != 0);
	default:
		if ((s->events >> term->number & 1) == 0)
			return (false);
		if (term->name == NULL)
			return (true);
		name = hwtd_sample_event_name(stream->midr, stream->version,
		    term->number);
		return (name != NULL && strcmp(name, term->name) == 0);
	}
}

bool
where_holds(const struct where *where, const struct hwtd_sample *sample,
    const struct row_stream *stream)
{
	for (size_t i = 0; i < where->n; i++)
		if (term_holds(&where->terms[i], sample, stream) ==
		    where->terms[i].negated)
			return (false);
	return (true);
}
