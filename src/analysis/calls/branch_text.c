/*
 * Reading lines of perf-script(1).  All of it is hostile: names can be anything
 * that a file or a process is called.
 *
 * Source: tools/perf/Documentation/perf-script.txt, "--fields"; flags of branches:
 * perf-intel-pt.txt, "perf script".
 */
#include "analysis/calls/branch_text.h"

#include <hwtdecode/trace.h>
#include <string.h>

static bool
is_digit(char c)
{
	return (c >= '0' && c <= '9');
}

static bool
is_space(char c)
{
	return (c == ' ' || c == '\t');
}

static int
hex_value(char c)
{
	if (is_digit(c))
		return (c - '0');
	if (c >= 'a' && c <= 'f')
		return (c - 'a' + 10);
	return (-1);
}

static void
skip_spaces(struct hwtdi_text *t)
{
	while (t->n > 0 && is_space(*t->at)) {
		t->at++;
		t->n--;
	}
}

static void
skip(struct hwtdi_text *t, size_t n)
{
	t->at += n;
	t->n -= n;
}

/* The next word; empty at the end. */
static struct hwtdi_text
take_word(struct hwtdi_text *t)
{
	struct hwtdi_text word;

	skip_spaces(t);
	word.at = t->at;
	word.n = 0;
	while (word.n < t->n && !is_space(t->at[word.n]))
		word.n++;
	skip(t, word.n);
	return (word);
}

static bool
is_word(const struct hwtdi_text *word, const char *text)
{
	return (word->n == strlen(text) &&
	    memcmp(word->at, text, word->n) == 0);
}

static bool
begins(const struct hwtdi_text *t, const char *text)
{
	const size_t n = strlen(text);

	return (t->n >= n && memcmp(t->at, text, n) == 0);
}

/* All of it is a number. */
static bool
decimal(struct hwtdi_text t, uint64_t *out)
{
	uint64_t value = 0;

	if (t.n == 0 || t.n > 19)
		return (false);
	for (size_t i = 0; i < t.n; i++) {
		if (!is_digit(t.at[i]))
			return (false);
		value = value * 10 + (uint64_t)(t.at[i] - '0');
	}
	*out = value;
	return (true);
}

static bool
hexadecimal(struct hwtdi_text t, uint64_t *out)
{
	uint64_t value = 0;

	if (t.n == 0 || t.n > 16)
		return (false);
	for (size_t i = 0; i < t.n; i++) {
		const int digit = hex_value(t.at[i]);

		if (digit < 0)
			return (false);
		value = value << 4 | (uint64_t)digit;
	}
	*out = value;
	return (true);
}

/* "SECONDS.FRACTION", of which nanoseconds count. */
static bool
seconds(struct hwtdi_text t, uint64_t *ns_out)
{
	const char *dot = memchr(t.at, '.', t.n);
	struct hwtdi_text whole = { t.at, 0 };
	uint64_t s, ns = 0, unit = 100000000;

	if (t.n == 0 || dot == NULL)
		return (false);
	whole.n = (size_t)(dot - t.at);
	if (!decimal(whole, &s) || s > UINT64_MAX / 1000000000 - 1 ||
	    whole.n + 1 == t.n)
		return (false);
	for (size_t i = whole.n + 1; i < t.n; i++) {
		if (!is_digit(t.at[i]))
			return (false);
		ns += unit * (uint64_t)(t.at[i] - '0');
		unit /= 10;
	}
	*ns_out = s * 1000000000 + ns;
	return (true);
}

/* "PID/TID", or the thread alone. */
static bool
take_ids(struct hwtdi_text word, struct hwtdi_text_line *out)
{
	const char *slash = memchr(word.at, '/', word.n);
	struct hwtdi_text first = word;
	uint64_t pid, tid;

	if (word.n == 0)
		return (false);
	if (slash != NULL) {
		first.n = (size_t)(slash - word.at);
		skip(&word, first.n + 1);
	}
	if (!decimal(first, &pid) || !decimal(word, &tid) ||
	    pid >= HWTD_NO_ID || tid >= HWTD_NO_ID)
		return (false);
	out->pid = slash != NULL ? (uint32_t)pid : HWTD_NO_ID;
	out->tid = (uint32_t)tid;
	return (true);
}

/* What is behind an address: "SYMBOL+0xOFFSET (IMAGE)", up to the end. */
static void
take_symbol(struct hwtdi_text t, struct hwtdi_text_place *out)
{
	size_t open, plus;

	while (t.n > 0 && is_space(t.at[t.n - 1]))
		t.n--;
	/* Names of images may have parentheses; those of C++ have them too. */
	if (t.n > 0 && t.at[t.n - 1] == ')') {
		size_t inside = 0;

		for (open = t.n; open > 0; open--) {
			const char c = t.at[open - 1];

			inside += c == ')';
			if (c == '(' && --inside == 0)
				break;
		}
		/* [open - 1] is where it begins, if its own have partners. */
		if (open > 0 && (open == 1 || is_space(t.at[open - 2]))) {
			out->image.at = t.at + open;
			out->image.n = t.n - open - 1;
			t.n = open - 1;
		}
	}
	while (t.n > 0 && is_space(t.at[t.n - 1]))
		t.n--;
	out->symbol = t;
	for (plus = t.n; plus > 0; plus--) {
		struct hwtdi_text offset = { t.at + plus, t.n - plus };

		if (t.at[plus - 1] != '+')
			continue;
		if (offset.n > 2 && begins(&offset, "0x")) {
			skip(&offset, 2);
			out->has_offset = hexadecimal(offset, &out->offset);
		}
		if (out->has_offset)
			out->symbol.n = plus - 1;
		break;
	}
	if (is_word(&out->symbol, "[unknown]"))
		out->symbol.n = 0;
}

/* Where "=>" is, in front of an address; t->n: nowhere. */
static size_t
find_arrow(const struct hwtdi_text *t)
{
	for (size_t i = 1; i + 3 < t->n; i++) {
		struct hwtdi_text to = { t->at + i + 2, t->n - i - 2 };
		struct hwtdi_text word;
		uint64_t address;

		if (t->at[i] != '=' || t->at[i + 1] != '>' ||
		    !is_space(t->at[i - 1]) || !is_space(t->at[i + 2]))
			continue;
		word = take_word(&to);
		if (hexadecimal(word, &address))
			return (i);
	}
	return (t->n);
}

/* What branches are called, and what they are. */
static const struct {
	const char *name;
	enum hwtdi_text_branch branch;
} branches[] = {
	{ "call", HWTDI_TEXT_CALL },
	{ "return", HWTDI_TEXT_RETURN },
	{ "jmp", HWTDI_TEXT_JUMP },
	{ "jcc", HWTDI_TEXT_CONDITIONAL },
	{ "syscall", HWTDI_TEXT_FAR_CALL },
	{ "int", HWTDI_TEXT_FAR_CALL },
	{ "sysret", HWTDI_TEXT_FAR_RETURN },
	{ "iret", HWTDI_TEXT_FAR_RETURN },
	{ "vmentry", HWTDI_TEXT_FAR_RETURN },
	{ "vmexit", HWTDI_TEXT_INTERRUPT },
	{ "abrt", HWTDI_TEXT_ABORT },
};

/* "jcc/miss,not_taken/": what perf 6.15 and newer say of a branch besides. */
static struct hwtdi_text
without_events(struct hwtdi_text word, bool *not_taken_out)
{
	const char *slash = memchr(word.at, '/', word.n);
	struct hwtdi_text event = word;

	if (slash == NULL)
		return (word);
	word.n = (size_t)(slash - word.at);
	skip(&event, word.n + 1);
	while (event.n > 0) {
		const size_t n = event.n;
		size_t end = 0;

		while (end < n && event.at[end] != ',' && event.at[end] != '/')
			end++;
		event.n = end;
		*not_taken_out |= is_word(&event, "not_taken");
		event.n = n;
		skip(&event, end < n ? end + 1 : n);
	}
	return (word);
}

/* Words up to the address that it came from. */
static bool
take_flags(struct hwtdi_text *t, struct hwtdi_text_line *out)
{
	struct hwtdi_text word, before = { NULL, 0 };
	bool not_taken = false;
	uint64_t address;

	for (;;) {
		word = take_word(t);
		if (word.n == 0)
			return (false);
		if (hexadecimal(word, &address))
			break;
		word = without_events(word, &not_taken);
		for (size_t i = 0; i < sizeof(branches) / sizeof(branches[0]);
		     i++) {
			if (is_word(&word, branches[i].name))
				out->branch = branches[i].branch;
		}
		/* "hw int" comes from outside. */
		if (is_word(&word, "int") && is_word(&before, "hw"))
			out->branch = HWTDI_TEXT_INTERRUPT;
		if (is_word(&word, "strt"))
			out->starts = true;
		if (is_word(&word, "end"))
			out->ends = true;
		if (is_word(&word, "async"))
			out->async = true;
		before = word;
	}
	if (out->branch == HWTDI_TEXT_NO_BRANCH && out->async && !out->ends)
		out->branch = HWTDI_TEXT_INTERRUPT;
	out->from.address = address;
	/* It went nowhere; of other words nobody knows what they are. */
	if (not_taken)
		out->branch = HWTDI_TEXT_NO_BRANCH;
	return (before.n != 0 &&
	    (out->branch != HWTDI_TEXT_NO_BRANCH || not_taken || out->starts ||
		out->ends));
}

static void
take_branch(struct hwtdi_text t, struct hwtdi_text_line *out)
{
	const size_t arrow = find_arrow(&t);
	struct hwtdi_text from = { t.at, arrow };
	struct hwtdi_text to, word;

	out->kind = HWTDI_TEXT_BAD;
	if (arrow == t.n)
		return;
	to = (struct hwtdi_text){ t.at + arrow + 2, t.n - arrow - 2 };
	word = take_word(&to);
	if (!hexadecimal(word, &out->to.address) || !take_flags(&from, out))
		return;
	skip_spaces(&from);
	skip_spaces(&to);
	take_symbol(from, &out->from);
	take_symbol(to, &out->to);
	/* 0 stands for what was not traced. */
	out->has_from = out->from.address != 0;
	out->has_to = out->to.address != 0;
	out->kind = HWTDI_TEXT_BRANCH;
}

/* "instruction trace error type 1 time 1.5 cpu -1 pid 2 tid 2 ip 0 code 7: text" */
static void
take_error(struct hwtdi_text t, struct hwtdi_text_line *out)
{
	struct hwtdi_text word;
	uint64_t id;

	out->kind = HWTDI_TEXT_ERROR;
	for (;;) {
		word = take_word(&t);
		if (word.n == 0 || is_word(&word, "code"))
			return;
		if (is_word(&word, "time")) {
			word = take_word(&t);
			out->has_time = seconds(word, &out->time_ns);
		} else if (is_word(&word, "pid")) {
			word = take_word(&t);
			if (decimal(word, &id) && id < HWTD_NO_ID)
				out->pid = (uint32_t)id;
		} else if (is_word(&word, "tid")) {
			word = take_word(&t);
			if (decimal(word, &id) && id < HWTD_NO_ID)
				out->tid = (uint32_t)id;
		}
	}
}

/* A line behind that of its sample begins with spaces and an address. */
static bool
take_caller(struct hwtdi_text t, struct hwtdi_text_line *out)
{
	struct hwtdi_text word;

	if (t.n == 0 || t.at[0] != '\t')
		return (false);
	word = take_word(&t);
	if (!hexadecimal(word, &out->from.address))
		return (false);
	skip_spaces(&t);
	take_symbol(t, &out->from);
	out->has_from = true;
	out->kind = HWTDI_TEXT_CALLER;
	return (true);
}

/*
 * "COMMAND PID/TID [CPU] TIME: PERIOD EVENT: ...": words in front of the time, of
 * which the command can be several; false: there is no time.
 */
static bool
take_header(struct hwtdi_text *t, struct hwtdi_text_line *out)
{
	struct hwtdi_text last = { NULL, 0 }, word;
	uint64_t ns = 0;

	for (;;) {
		word = take_word(t);
		if (word.n == 0)
			return (false);
		if (word.n > 1 && word.at[word.n - 1] == ':') {
			word.n--;
			/* Commands may be called like a time. */
			if (last.n != 0 && seconds(word, &ns) &&
			    take_ids(last, out))
				break;
			word.n++;
		}
		if (word.at[0] != '[' || word.at[word.n - 1] != ']')
			last = word;
	}
	out->time_ns = ns;
	out->has_time = true;
	return (true);
}

void
hwtdi_text_line(const char *line, size_t n, struct hwtdi_text_line *out)
{
	struct hwtdi_text t = { line, n }, word, rest;
	uint64_t period;

	*out = (struct hwtdi_text_line){ .kind = HWTDI_TEXT_BAD,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID };
	if (take_caller(t, out))
		return;
	skip_spaces(&t);
	if (t.n == 0 || t.at[0] == '#') {
		out->kind = HWTDI_TEXT_EMPTY;
		return;
	}
	if (begins(&t, "instruction trace error")) {
		take_error(t, out);
		return;
	}
	if (!take_header(&t, out))
		return;
	rest = t;
	word = take_word(&rest);
	if (decimal(word, &period))
		word = take_word(&rest);
	if (word.n < 2 || word.at[word.n - 1] != ':')
		return;
	/* What is behind the name are modifiers. */
	out->event = word;
	for (size_t i = 0; i < word.n; i++) {
		if (word.at[i] == ':' || word.at[i] == '/') {
			out->event.n = i;
			break;
		}
	}
	if (is_word(&out->event, "branches")) {
		take_branch(rest, out);
		return;
	}
	skip_spaces(&rest);
	out->kind = rest.n == 0 ? HWTDI_TEXT_SAMPLE : HWTDI_TEXT_OTHER;
}
