/*
 * The tracing hardware, modelled: branch packets, return compression, PSBs,
 * user-only filtering and time.
 *
 * Source: Intel SDM vol. 3C, "Trace Packets and Data Types" and "Packet
 * Generation under Different Enable Conditions".
 */
#include "pt_model.h"

#include <err.h>
#include <inttypes.h>
#include <string.h>

#define RETURN_STACK 64
#define TSC_AT_START UINT64_C(1000000000000)
#define CYCLES_OF_KERNEL 800
#define CYCLES_OF_BRANCH 3

struct model {
	const struct model_options *options;
	struct pt_out *out;
	FILE *truth;
	struct model_counts counts;
	uint64_t n;
	uint64_t hash;
	uint64_t tnt_bits;
	unsigned int tnt_n;
	/* A ring: the oldest entry falls off. */
	uint64_t returns[RETURN_STACK];
	unsigned int return_top;
	unsigned int return_n;
	uint64_t psb_at;
	uint64_t cycles;
	uint64_t cycles_told;
	uint64_t mtc_told;
	bool mode_told;
};

static uint64_t
tsc_now(const struct model *m)
{
	return (TSC_AT_START + m->cycles * PT_NOM_FREQ / PT_CORE_RATIO);
}

static uint64_t
ctc_now(const struct model *m)
{
	return (tsc_now(m) * PT_CPUID_15_EAX / PT_CPUID_15_EBX);
}

static void
row(struct model *m, const char *type, int flags, uint64_t ip, uint64_t off,
    uint64_t arg)
{
	fprintf(m->truth,
	    "%s %d %" PRIu64 " %016" PRIx64 " %" PRIx64 " %" PRIu64 " %" PRIu64
	    " %" PRIu64 " %" PRIx64 " 0\n",
	    type, flags, m->n, m->hash, ip, off, tsc_now(m), m->cycles, arg);
}

/* Cycles since the last CYC packet go in front of a packet that tells time. */
static void
tell_cycles(struct model *m)
{
	if (!m->options->cyc || m->cycles == m->cycles_told)
		return;
	pt_cyc(m->out, m->cycles - m->cycles_told);
	m->cycles_told = m->cycles;
}

static void
flush_tnt(struct model *m)
{
	if (m->tnt_n == 0)
		return;
	tell_cycles(m);
	while (m->tnt_n > 0) {
		unsigned int n = m->tnt_n;

		/* A short packet where one is enough. */
		if (!m->options->long_tnt && n > PT_TNT8_MAX)
			n = PT_TNT8_MAX;
		m->tnt_n -= n;
		pt_tnt(m->out,
		    m->tnt_bits >> m->tnt_n & ((UINT64_C(1) << n) - 1), n);
		m->counts.tnt++;
	}
	m->tnt_bits = 0;
}

static void
outcome(struct model *m, bool taken)
{
	const unsigned int full = m->options->long_tnt ? PT_TNT64_MAX
						       : PT_TNT8_MAX;

	m->tnt_bits = m->tnt_bits << 1 | taken;
	m->tnt_n++;
	if (m->tnt_n == full)
		flush_tnt(m);
}

static void
target(struct model *m, uint64_t ip)
{
	flush_tnt(m);
	tell_cycles(m);
	pt_ip(m->out, PT_TIP, ip);
	m->counts.tip++;
}

static void
push(struct model *m, uint64_t ip)
{
	m->returns[m->return_top++ % RETURN_STACK] = ip;
	if (m->return_n < RETURN_STACK)
		m->return_n++;
}

static void
return_to(struct model *m, uint64_t ip)
{
	bool matches = false;

	if (m->return_n > 0) {
		/* Popped whether it matches or not. */
		m->return_n--;
		matches = m->returns[--m->return_top % RETURN_STACK] == ip;
	}
	if (matches && m->options->ret_compression)
		outcome(m, true);
	else
		target(m, ip);
}

static void
psb(struct model *m, uint64_t ip, bool on)
{
	flush_tnt(m);
	m->psb_at = m->out->len;
	m->counts.psbs++;
	row(m, "sync", on, on ? ip : 0, m->out->len, 0);
	pt_psb(m->out);
	if (m->options->tsc)
		pt_tsc(m->out, tsc_now(m));
	if (m->options->tsc && m->options->mtc_freq >= 0) {
		const uint64_t ctc = ctc_now(m);
		const uint64_t edge = (ctc * PT_CPUID_15_EBX +
					  PT_CPUID_15_EAX - 1) /
		    PT_CPUID_15_EAX;

		pt_tma(m->out, (unsigned int)(ctc & 0xffff),
		    (unsigned int)(tsc_now(m) - edge) & 0x1ff);
		m->mtc_told = ctc >> m->options->mtc_freq;
	}
	pt_cbr(m->out, PT_CORE_RATIO);
	if (on) {
		pt_mode_exec_64(m->out);
		pt_ip(m->out, PT_FUP, ip);
	}
	pt_psbend(m->out);
	/* Only calls since the PSB may have compressed returns. */
	m->return_n = 0;
	m->mode_told = on;
}

static void
enable(struct model *m, uint64_t ip)
{
	tell_cycles(m);
	if (!m->mode_told)
		pt_mode_exec_64(m->out);
	m->mode_told = true;
	row(m, "enable", 0, ip, m->out->len, 0);
	pt_ip(m->out, PT_TIP_PGE, ip);
}

static void
advance(struct model *m, uint64_t cycles)
{
	uint64_t now;

	m->cycles += cycles;
	if (m->options->mtc_freq < 0)
		return;
	now = ctc_now(m) >> m->options->mtc_freq;
	while (m->mtc_told < now) {
		flush_tnt(m);
		tell_cycles(m);
		pt_mtc(m->out, (unsigned int)(++m->mtc_told & 0xff));
	}
}

static void
count(struct model *m, uint64_t ip)
{
	const uint64_t x = ip * UINT64_C(0x9e3779b97f4a7c15);

	m->hash = m->hash * UINT64_C(0xd6e8feb86659fd93) + (x ^ x >> 29);
	m->n++;
}

/* The instruction at `ip` executed; `next` did then, or 0: nothing more. */
static void
executed(struct model *m, uint64_t ip, const struct insn_class *c,
    uint64_t next, uint32_t syscall)
{
	if (next == 0 && c->kind != INSN_SYSCALL) {
		/* The capture was cut here: as an interrupt in front of it. */
		flush_tnt(m);
		tell_cycles(m);
		row(m, "async-disable", 0, ip, m->out->len, 0);
		pt_ip(m->out, PT_FUP, ip);
		pt_ip_suppressed(m->out, PT_TIP_PGD);
		return;
	}
	count(m, ip);
	if (c->kind == INSN_SYSCALL) {
		flush_tnt(m);
		tell_cycles(m);
		row(m, "disable", 0, ip, m->out->len, syscall);
		pt_ip_suppressed(m->out, PT_TIP_PGD);
		return;
	}
	switch (c->kind) {
	case INSN_COND:
		if (next != c->next && next != c->target)
			errx(1, "%#" PRIx64 " goes to %#" PRIx64, ip, next);
		outcome(m, next != c->next);
		break;
	case INSN_CALL:
		if (c->target != c->next)
			push(m, c->next);
		break;
	case INSN_INDIRECT_CALL:
		push(m, c->next);
		target(m, next);
		break;
	case INSN_INDIRECT_JUMP:
		target(m, next);
		break;
	case INSN_RETURN:
		return_to(m, next);
		break;
	case INSN_FAR:
		errx(1, "the far transfer at %#" PRIx64 " is not modelled",
		    ip);
	default:
		break;
	}
	if ((c->kind == INSN_CALL || c->kind == INSN_JUMP) &&
	    next != c->target)
		errx(1, "%#" PRIx64 " goes to %#" PRIx64, ip, next);
	if (c->kind == INSN_OTHER && (next <= ip || next > ip + INSN_MAX))
		errx(1, "%#" PRIx64 " goes to %#" PRIx64, ip, next);
}

static void
note_ranges(const struct run *run, size_t i, const struct model *m,
    uint64_t *position, uint64_t *gone)
{
	for (size_t k = 0; k < run->n_ranges; k++) {
		if (run->ranges[k].from == i)
			position[k] = m->out->len;
		if (run->ranges[k].until == i)
			gone[k] = m->out->len;
	}
}

void
model_encode(const struct run *run, const struct model_options *options,
    struct pt_out *out, FILE *truth, uint64_t *position, uint64_t *gone,
    struct model_counts *counts)
{
	struct model m = { .options = options, .out = out, .truth = truth };
	size_t syscalls = 0;
	bool off = true;

	out->compress = options->ip_compression;
	fprintf(truth,
	    "# type flags n h ip off tsc cyc arg r1 "
	    "(n, off, tsc, cyc, r1 decimal; the rest hex)\n");
	note_ranges(run, 0, &m, position, gone);
	psb(&m, 0, false);
	for (size_t i = 0; i < run->n; i++) {
		const uint64_t ip = run->ips[i];
		const uint64_t next = i + 1 < run->n ? run->ips[i + 1] : 0;
		uint8_t code[INSN_MAX];
		struct insn_class c;

		if (i > 0)
			note_ranges(run, i, &m, position, gone);
		if (off)
			enable(&m, ip);
		else if (out->len - m.psb_at >= options->psb)
			psb(&m, ip, true);
		else if (options->interrupts != 0 &&
		    i % options->interrupts == 0) {
			flush_tnt(&m);
			tell_cycles(&m);
			row(&m, "async-disable", 0, ip, out->len, 0);
			pt_ip(out, PT_FUP, ip);
			pt_ip_suppressed(out, PT_TIP_PGD);
			m.counts.interrupts++;
			advance(&m, CYCLES_OF_KERNEL);
			enable(&m, ip);
		}
		off = false;
		if (!run_code(run, i, ip, code))
			errx(1, "no code at %#" PRIx64, ip);
		c = insn_classify(ip, code);
		executed(&m, ip, &c, next,
		    c.kind == INSN_SYSCALL ? run->syscalls[syscalls] : 0);
		if (next != 0)
			advance(&m,
			    c.kind == INSN_OTHER ? 1 : CYCLES_OF_BRANCH);
		if (c.kind == INSN_SYSCALL) {
			syscalls++;
			m.counts.syscalls++;
			off = true;
			if (next != 0)
				advance(&m, CYCLES_OF_KERNEL);
		}
	}
	row(&m, "end", 0, 0, out->len, 0);
	m.counts.insns = m.n;
	m.counts.hash = m.hash;
	*counts = m.counts;
}
