/*
 * A long Intel PT trace of a small program.
 */
#include "support/long_trace.h"

#include <stdlib.h>
#include <string.h>

#include "support/memory_trace.h"

/*
 * 00 nop                   0c call 16
 * 01 jne 00                11 jmp *%rax (to 00)
 * 03 ptwrite %eax          13 syscall
 * 07 mov %rax, %cr3        15 nop
 * 0a je 0c                 16 je 19; 18 nop; 19 ret
 *                          20 nop; 21 iretq
 */
static const uint8_t program[] = {
	0x90, 0x75, 0xfd, 0xf3, 0x0f, 0xae, 0xe0, 0x0f, 0x22, 0xd8, 0x74, 0x00,
	0xe8, 0x05, 0x00, 0x00, 0x00, 0xff, 0xe0, 0x0f, 0x05, 0x90, 0x74, 0x01,
	0x90, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x48, 0xcf,
	0x90, /* 20 */
};

#define AT(off) (LONG_TRACE_BASE + (off))
#define HANDLER 0x20

struct machine {
	struct long_trace *t;
	const struct long_trace_options *o;
	uint64_t random;
	/* Offset of the next instruction. */
	unsigned int at;
	uint64_t cr3;
	uint64_t tsc;
	/* Outcomes that wait for a TNT packet. */
	char bits[8];
	size_t n_bits;
	/* A call since the last PSB, whose return can be compressed. */
	bool called;
	size_t last_psb;
	size_t cap_ips, cap_psbs;
};

static unsigned int
choose(struct machine *m, unsigned int n)
{
	m->random = m->random * 6364136223846793005u + 1442695040888963407u;
	return ((unsigned int)(m->random >> 33) % n);
}

/* One of `n` times; never if `n` is 0. */
static bool
once_in(struct machine *m, unsigned int n)
{
	return (n != 0 && choose(m, n) == 0);
}

static void
flush(struct machine *m)
{
	if (m->n_bits == 0)
		return;
	m->bits[m->n_bits] = '\0';
	pt_tnt(&m->t->packets, m->bits);
	m->n_bits = 0;
}

static void
outcome(struct machine *m, bool taken)
{
	m->bits[m->n_bits++] = taken ? 'T' : 'N';
	if (m->n_bits == 6)
		flush(m);
}

static void
execute(struct machine *m)
{
	struct long_trace *t = m->t;

	if (t->n_ips == m->cap_ips) {
		m->cap_ips = m->cap_ips * 2 + 1024;
		t->ips = realloc(t->ips, m->cap_ips * sizeof(*t->ips));
		if (t->ips == NULL)
			abort();
	}
	t->ips[t->n_ips++] = AT(m->at);
}

static void
time_goes_on(struct machine *m)
{
	m->tsc += 1 + choose(m, 50);
	if (m->o->timed)
		pt_tsc(&m->t->packets, m->tsc);
}

/* In front of the next instruction. */
static void
sync_point(struct machine *m)
{
	struct long_trace *t = m->t;
	struct pt_packets *p = &t->packets;

	flush(m);
	if (t->n_psbs == m->cap_psbs) {
		m->cap_psbs = m->cap_psbs * 2 + 64;
		t->psbs = realloc(t->psbs, m->cap_psbs * sizeof(*t->psbs));
		if (t->psbs == NULL)
			abort();
	}
	t->psbs[t->n_psbs++] = p->n;
	m->last_psb = p->n;
	pt_psb(p);
	time_goes_on(m);
	pt_fup(p, PT_IP_48_SIGNED, AT(m->at));
	pt_mode_exec(p, 64);
	pt_pip(p, m->cr3, 0);
	pt_psbend(p);
	m->called = false;
}

static void
overflow(struct machine *m)
{
	flush(m);
	pt_ovf(&m->t->packets);
	pt_fup(&m->t->packets, PT_IP_48_SIGNED, AT(m->at));
	m->called = false;
	m->t->n_overflows++;
}

static void
interrupt(struct machine *m)
{
	struct pt_packets *p = &m->t->packets;
	unsigned int back = m->at;

	flush(m);
	pt_fup(p, PT_IP_32, AT(m->at));
	pt_tip(p, PT_IP_16, AT(HANDLER));
	time_goes_on(m);
	m->at = HANDLER;
	execute(m);
	m->at = HANDLER + 1;
	execute(m);
	pt_tip(p, PT_IP_16, AT(back));
	m->at = back;
	m->t->n_interrupts++;
}

static void
garbage(struct machine *m)
{
	static const uint8_t bytes[] = { 0x02, 0xff, 0x05, 0x82, 0x02, 0x82,
		0xff };

	flush(m);
	pt_raw(&m->t->packets, bytes, sizeof(bytes));
	m->t->n_garbage++;
	m->t->garbage_bytes += sizeof(bytes);
	sync_point(m);
}

/* Execute the instruction at hand and go on. */
static void
step(struct machine *m)
{
	struct pt_packets *p = &m->t->packets;
	bool taken;

	execute(m);
	switch (m->at) {
	case 0x00:
	case 0x18:
		m->at++;
		break;
	case 0x01:
		taken = choose(m, 4) != 0;
		outcome(m, taken);
		m->at = taken ? 0x00 : 0x03;
		break;
	case 0x03:
		flush(m);
		pt_ptw(p, 4, choose(m, 1000), 0);
		m->at = 0x07;
		break;
	case 0x07:
		flush(m);
		m->cr3 = 0x1000u * (1 + choose(m, 5));
		pt_pip(p, m->cr3, 0);
		m->at = 0x0a;
		break;
	case 0x0a:
		outcome(m, choose(m, 2) != 0);
		m->at = 0x0c;
		break;
	case 0x0c:
		m->called = true;
		m->at = 0x16;
		break;
	case 0x11:
		flush(m);
		m->at = once_in(m, m->o->pause_of) ? 0x13 : 0x00;
		pt_tip(p, PT_IP_32, AT(m->at));
		break;
	case 0x13:
		flush(m);
		pt_pgd(p, PT_IP_NONE, 0);
		time_goes_on(m);
		pt_pge(p, PT_IP_32, AT(0x0c));
		m->at = 0x0c;
		m->t->n_pauses++;
		break;
	case 0x16:
		taken = choose(m, 2) != 0;
		outcome(m, taken);
		m->at = taken ? 0x19 : 0x18;
		break;
	default: /* 19 */
		if (m->called)
			outcome(m, true);
		else {
			flush(m);
			pt_tip(p, PT_IP_32, AT(0x11));
		}
		m->called = false;
		m->at = 0x11;
		break;
	}
}

void
long_trace_make(struct long_trace *t, const struct long_trace_options *opts)
{
	struct machine m = {
		.t = t,
		.o = opts,
		.random = opts->seed,
		.cr3 = 0x1000,
		.tsc = opts->tsc,
	};

	memset(t, 0, sizeof(*t));
	sync_point(&m);
	while (t->n_ips < opts->insns) {
		bool branch = m.at == 0x01 || m.at == 0x0a || m.at == 0x16;

		step(&m);
		/* Only a packet tells the decoder how far it has to go. */
		if (!branch)
			continue;
		if (t->packets.n - m.last_psb >= opts->psb_bytes)
			sync_point(&m);
		else if (once_in(&m, opts->overflow_of))
			overflow(&m);
		else if (once_in(&m, opts->interrupt_of))
			interrupt(&m);
		else if (once_in(&m, opts->garbage_of))
			garbage(&m);
	}
	flush(&m);
	pt_fup(&t->packets, PT_IP_48_SIGNED, AT(m.at));
	pt_pgd(&t->packets, PT_IP_NONE, 0);
}

void
long_trace_free(struct long_trace *t)
{
	pt_free(&t->packets);
	free(t->ips);
	free(t->psbs);
	memset(t, 0, sizeof(*t));
}

uint32_t
long_trace_code(struct hwtd_trace *trace)
{
	return (mt_code(trace, LONG_TRACE_BASE, program, sizeof(program)));
}
