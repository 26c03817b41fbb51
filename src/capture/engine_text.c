/*
 * How a capture was made, in lines of what=value for the file.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "capture/engine_internal.h"

/* Lines; what does not fit is left out as whole lines, and they are counted. */
struct lines {
	char *text;
	size_t n, cap;
	size_t left_out;
};

#define LINES_BYTES ((size_t)64 << 10)
/* Room for that count. */
#define COUNT_BYTES 48u

static void add(struct lines *lines, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
add(struct lines *lines, const char *fmt, ...)
{
	const size_t left = lines->cap - lines->n;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(lines->text + lines->n, left, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n + 2 > left) {
		lines->text[lines->n] = '\0';
		lines->left_out++;
		return;
	}
	/* A value of one line stays one. */
	for (size_t i = lines->n; i < lines->n + (size_t)n; i++)
		if (lines->text[i] == '\n')
			lines->text[i] = ' ';
	lines->n += (size_t)n;
	lines->text[lines->n++] = '\n';
	lines->text[lines->n] = '\0';
}

static void
add_machine(const struct hwtdi_engine *e, struct lines *lines)
{
	const struct hwtdi_machine *m = &e->machine;

	add(lines, "os=FreeBSD %s", m->release);
	add(lines, "arch=%s", m->arch);
	add(lines, "cpus=%" PRIu32, m->n_cpus);
	add(lines, "page_bytes=%" PRIu64, m->page_size);
	if (m->family != 0)
		add(lines, "cpuid.signature=family %u model %u stepping %u",
		    m->family, m->cpu_model, m->stepping);
	for (int i = 0; m->has_pt && i < 2; i++)
		add(lines,
		    "cpuid.14h.%d=%#" PRIx32 " %#" PRIx32 " %#" PRIx32
		    " %#" PRIx32,
		    i, m->leaf_14[i][0], m->leaf_14[i][1], m->leaf_14[i][2],
		    m->leaf_14[i][3]);
	if (m->leaf_15[0] != 0)
		add(lines, "cpuid.15h=%#" PRIx32 " %#" PRIx32 " %#" PRIx32,
		    m->leaf_15[0], m->leaf_15[1], m->leaf_15[2]);
	if (m->midr != 0)
		add(lines, "midr=%#" PRIx32, m->midr);
	add(lines, "started_ns=%" PRIu64, e->begun_ns);
	add(lines, "started_real_ns=%" PRIu64, e->begun_real_ns);
}

static void
add_session(const struct hwtdi_session *s, struct lines *lines)
{
	const char *name = hwtdi_backend_name(s->options.backend);

	add(lines, "%s.ident=%d", name, s->hwt->ident);
	add(lines, "%s.buffer_bytes=%" PRIu64, name, s->bufsize);
	add(lines, "%s.entry_bytes=%zu", name, s->hwt->stride);
	add(lines, "%s.kernel=%s", name,
	    s->hwt->kernel == HWTDI_KERNEL_5BSD ? "5bsd" : "stock");
	if (s->config.size == 0)
		return;
	add(lines, "%s.records=%s", name, s->config.text);
	switch (s->options.backend) {
	case HWTDI_BACKEND_PT:
		/* TraceEn and ToPA are the kernel's. */
		add(lines, "pt.rtit_ctl=%#" PRIx64, s->hwt->rtit_ctl | 0x101);
		break;
	case HWTDI_BACKEND_SPE:
		add(lines, "spe.interval=%" PRIu32,
		    s->config.blob.spe.interval);
		add(lines, "spe.level=%" PRIu32, s->config.blob.spe.level);
		add(lines, "spe.ctx_field=%" PRIu32,
		    s->config.blob.spe.ctx_field);
		break;
	default:
		add(lines, "coresight.trcconfigr=%#" PRIx32,
		    s->config.blob.cs.cfg);
		break;
	}
}

/* Of which there may be more than fit: they come behind all else. */
static void
add_lists(const struct hwtdi_engine *e, struct lines *lines)
{
	for (size_t i = 0; e->spawned && e->options.argv[i] != NULL; i++)
		add(lines, "argv.%zu=%s", i, e->options.argv[i]);
	for (size_t i = 0; i < e->n_modules; i++)
		add(lines,
		    "module.%zu=%#" PRIx64 " %#" PRIx64 " %.255s %.1023s", i,
		    e->modules[i].addr, e->modules[i].len, e->modules[i].name,
		    e->modules[i].path);
	for (size_t i = 0; i < e->n_sessions; i++) {
		const struct hwtdi_session *s = &e->sessions[i];

		for (size_t k = 0; k < s->n_nodes; k++)
			if (s->nodes[k].tid != HWTD_NO_ID)
				add(lines, "%s.thread.%" PRIu32 "=%" PRIu32,
				    hwtdi_backend_name(s->options.backend),
				    s->nodes[k].index, s->nodes[k].tid);
	}
}

static void
add_end(const struct hwtdi_engine *e, struct lines *lines)
{
	const struct hwtd_capture_status *st = &e->status;
	char missing[1024];

	add(lines, "looks=%" PRIu64, st->n_looks);
	add(lines, "ended_ns=%" PRIu64, e->sys->now(e->sys->state));
	if (st->program_ended != 0 && st->exit_signal != 0)
		add(lines, "program.signal=%" PRIu32, st->exit_signal);
	else if (st->program_ended != 0)
		add(lines, "program.status=%" PRIu32, st->exit_status);
	for (uint32_t i = 0; i < HWTD_CAPTURE_LOSSES; i++)
		if (st->losses[i] != 0)
			add(lines, "lost.%s=%" PRIu64,
			    hwtd_capture_loss_name(i), st->losses[i]);
	if (e->filters_stale)
		add(lines,
		    "filters.moved=an image of a filter was loaded "
		    "elsewhere while the ranges could not be changed");
	if (e->options.n_filters > 0 &&
	    hwtdi_filters_missing(&e->filters, missing, sizeof(missing)) > 0)
		add(lines, "filters.missing=%s", missing);
}

int
hwtdi_engine_describe(struct hwtdi_engine *e, bool ended,
    struct hwtd_error *err)
{
	struct hwtdi_trace_text text = { 0 };
	struct lines lines = { .cap = LINES_BYTES - COUNT_BYTES };
	char origin[96], abi[96], model[HWTDI_MACHINE_TEXT];
	char clock[] = "CLOCK_MONOTONIC";
	int rc;

	lines.text = hwtdi_zalloc(e->library, LINES_BYTES);
	if (lines.text == NULL)
		return (hwtdi_fail_nomem(err, LINES_BYTES));
	add(&lines, "mode=%s", e->mode == HWTDI_HWT_CPU ? "cpus" : "threads");
	if (e->pid != HWTD_NO_ID)
		add(&lines, "pid=%" PRIu32, e->pid);
	add_machine(e, &lines);
	for (size_t i = 0; i < e->n_sessions; i++)
		add_session(&e->sessions[i], &lines);
	for (size_t i = 0; i < e->options.n_filters; i++)
		add(&lines, "filter.%zu=%s", i, e->options.filters[i]);
	if (ended)
		add_end(e, &lines);
	add_lists(e, &lines);
	lines.cap = LINES_BYTES;
	if (lines.left_out > 0)
		add(&lines, "left_out=%zu lines", lines.left_out);

	(void)snprintf(origin, sizeof(origin), "libhwtdecode %s, hwt(4)",
	    hwtd_version());
	(void)snprintf(abi, sizeof(abi), "FreeBSD %.60s", e->machine.arch);
	memcpy(model, e->machine.model, sizeof(model));
	text.origin = origin;
	text.abi = abi;
	text.cpu_model = model;
	text.clock = clock;
	text.capture = lines.text;
	rc = hwtdi_writer_meta(e->file.writer, &text, err);
	hwtdi_free(e->library, lines.text, LINES_BYTES);
	return (rc);
}
