/*
 * Random Intel PT traces: the machine and its tracing hardware.
 */
#include "support/random_trace.h"

#include <stdlib.h>
#include <string.h>

/* Calls that the hardware compares returns with. */
#define CALLS 64
#define FRAMES 64
#define DEFERRED 6

struct machine {
	struct random_trace *t;
	const struct random_program *p;
	struct pt_packets *out;
	unsigned int has;
	uint64_t random;
	/* Number of the next instruction. */
	uint32_t at;
	bool on;
	/* The image that is traced, or RANDOM_IMAGES. */
	uint32_t traced;

	/* Outcomes that wait for a packet, and TIPs that wait for them. */
	uint64_t outcomes;
	unsigned int n_outcomes;
	uint64_t deferred[DEFERRED];
	unsigned int n_deferred;
	/* Instructions up to the last outcome; those the packets tell of. */
	size_t spoken, told;
	/* `told` after a PIP of MOV CR3: a TIP.PGD would be taken for its own. */
	size_t told_cr3;

	uint64_t calls[CALLS];
	unsigned int n_calls;
	/* Calls that a decoder has which the hardware has not. */
	bool more_calls;
	/* What the program itself would return to, and interrupts. */
	uint32_t frames[FRAMES], interrupted[FRAMES];
	unsigned int n_frames, n_interrupted;

	uint64_t last_ip;
	/* The mode, as packets told it, and whether it is to be told again. */
	unsigned int bits_told;
	bool tell_again;
	bool transaction;
	uint32_t fallback;
	uint64_t cr3, vmcs;
	bool guest;
	unsigned int ratio;
	uint64_t tsc;

	/* Where tracing went off, if that is sure. */
	bool has_resume, sure_resume;
	uint64_t resume_ip;
};

static uint32_t
below(struct machine *m, uint32_t n)
{
	return (random_below(&m->random, n));
}

static bool
has(const struct machine *m, unsigned int what)
{
	return ((m->has & what) != 0);
}

static const struct random_insn *
here(const struct machine *m)
{
	return (&m->p->insns[m->at]);
}

static unsigned int
bits_at(const struct machine *m, uint32_t insn)
{
	return (m->p->images[m->p->insns[insn].image].bits);
}

static uint16_t
isa_of(unsigned int bits)
{
	return ((uint16_t)((bits == 64 ? HWTD_ISA_X86_64 : HWTD_ISA_X86_32)
	    << HWTD_EVF_ISA_SHIFT));
}

/* The truth. */

static struct random_trace_event *
event(struct machine *m, uint8_t kind)
{
	struct random_trace *t = m->t;
	struct random_trace_event *e;

	if (t->n_events == t->cap_events) {
		t->cap_events = t->cap_events * 2 + 64;
		t->events = realloc(t->events,
		    t->cap_events * sizeof(*t->events));
		if (t->events == NULL)
			abort();
	}
	e = &t->events[t->n_events++];
	memset(e, 0, sizeof(*e));
	e->at = m->told;
	e->row.kind = kind;
	return (e);
}

static void
set_ip(struct random_trace_event *e, uint64_t ip)
{
	e->row.ip = ip;
	e->row.flags |= HWTD_EVF_IP;
}

static void
set_target(struct random_trace_event *e, uint64_t target)
{
	e->row.target = target;
	e->row.flags |= HWTD_EVF_TARGET;
}

static void
execute(struct machine *m)
{
	struct random_trace *t = m->t;

	if (t->n_insns == t->cap_insns) {
		t->cap_insns = t->cap_insns * 2 + 1024;
		t->insns = realloc(t->insns, t->cap_insns * sizeof(*t->insns));
		if (t->insns == NULL)
			abort();
	}
	t->insns[t->n_insns].ip = here(m)->ip;
	t->insns[t->n_insns++].flags = isa_of(bits_at(m, m->at)) |
	    (m->transaction ? HWTD_EVF_SPECULATIVE : 0);
}

/* The packets tell of all that was executed. */
static void
tell_all(struct machine *m)
{
	m->told = m->t->n_insns;
}

static void
tell_context(struct machine *m, const uint64_t *ip)
{
	struct random_trace_event *e = event(m, HWTD_EV_CONTEXT);

	e->cr3 = m->cr3;
	e->vmcs = m->vmcs;
	e->guest = m->guest;
	if (ip != NULL)
		set_ip(e, *ip);
}

static struct random_trace_event *
tell_async_disable(struct machine *m, uint64_t ip)
{
	struct random_trace_event *e = event(m, HWTD_EV_DISABLE);

	e->row.flags |= HWTD_EVF_ASYNC;
	set_ip(e, ip);
	m->has_resume = true;
	m->sure_resume = true;
	m->resume_ip = ip;
	return (e);
}

static void
tell_mode(struct machine *m, unsigned int bits, uint64_t ip)
{
	struct random_trace_event *e;

	if (bits == m->bits_told && !m->tell_again)
		return;
	e = event(m, HWTD_EV_MODE);
	e->maybe = bits == m->bits_told;
	m->tell_again = false;
	e->row.flags |= isa_of(bits) | HWTD_EVF_VALUE;
	set_ip(e, ip);
	m->bits_told = bits;
}

static void
tell_transaction(struct machine *m, uint64_t value, uint64_t ip)
{
	struct random_trace_event *e = event(m, HWTD_EV_MODE);

	e->row.flags |= isa_of(m->bits_told) | HWTD_EVF_VALUE;
	e->row.value = HWTD_MODE_IS_TRANSACTION | value;
	set_ip(e, ip);
}

/* Packets. */

/* Some that tell times, which can be between any two others. */
static void
noise_with(struct machine *m, bool ratio)
{
	if (below(m, 8) == 0)
		pt_pad(m->out, 1 + below(m, 9));
	if (!has(m, RANDOM_TIMES) || below(m, 3) != 0)
		return;
	switch (below(m, 6)) {
	case 0:
		m->tsc += below(m, 1000);
		pt_tsc(m->out, m->tsc);
		break;
	case 1:
		pt_mtc(m->out, below(m, 256));
		break;
	case 2:
		pt_cyc_of(m->out, below(m, 31), 1 + below(m, 3));
		break;
	case 3:
		if (ratio && below(m, 3) == 0) {
			m->ratio = below(m, 4) + 8;
			pt_cbr(m->out, m->ratio);
		}
		break;
	default:
		pt_cyc(m->out, below(m, 1u << below(m, 16)));
		break;
	}
}

static void
noise(struct machine *m)
{
	noise_with(m, false);
}

static void
tell_ratio(struct machine *m, unsigned int before)
{
	struct random_trace_event *e;

	if (m->ratio == before)
		return;
	e = event(m, HWTD_EV_FREQUENCY);
	e->row.value = m->ratio;
	e->row.flags |= HWTD_EVF_VALUE;
}

/* Noise where a change of frequency is a row of its own. */
static void
times(struct machine *m)
{
	const unsigned int before = m->ratio;

	noise_with(m, true);
	tell_ratio(m, before);
}

static void
put_ip(struct machine *m,
    void (*put)(struct pt_packets *, enum pt_ip_mode, uint64_t), uint64_t ip)
{
	const uint64_t differs = ip ^ m->last_ip;
	const bool is_48 = ip >> 47 == 0 || ip >> 47 == 0x1ffff;
	enum pt_ip_mode mode = PT_IP_64;

	for (int tries = 0; tries < 4; tries++) {
		switch (has(m, RANDOM_COMPRESS_IPS) ? below(m, 5) : 3) {
		case 0:
			if (differs >> 16 == 0)
				mode = PT_IP_16;
			break;
		case 1:
			if (differs >> 32 == 0)
				mode = PT_IP_32;
			break;
		case 2:
			if (differs >> 48 == 0)
				mode = PT_IP_48;
			break;
		case 3:
			if (is_48)
				mode = PT_IP_48_SIGNED;
			break;
		default:
			break;
		}
		if (mode != PT_IP_64)
			break;
	}
	put(m->out, mode, ip);
	m->last_ip = ip;
}

/* Tell the outcomes that wait, and what waits for them. */
static void
flush(struct machine *m)
{
	if (m->n_outcomes == 0)
		return;
	if (m->n_outcomes > 6 || (has(m, RANDOM_LONG_TNT) && below(m, 4) == 0))
		pt_long_tnt_bits(m->out, m->outcomes, m->n_outcomes);
	else
		pt_tnt_bits(m->out, m->outcomes, m->n_outcomes);
	m->n_outcomes = 0;
	m->outcomes = 0;
	for (unsigned int i = 0; i < m->n_deferred; i++) {
		noise(m);
		put_ip(m, pt_tip, m->deferred[i]);
	}
	m->n_deferred = 0;
	m->told = m->spoken;
}

static void
outcome(struct machine *m, bool taken)
{
	const unsigned int most = has(m, RANDOM_LONG_TNT) ? 47 : 6;

	m->outcomes = m->outcomes << 1 | taken;
	m->n_outcomes++;
	m->spoken = m->t->n_insns;
	if (m->n_outcomes == most || below(m, 12) == 0) {
		flush(m);
		times(m);
	}
}

static void
target(struct machine *m, bool can_wait)
{
	const uint64_t ip = here(m)->ip;

	if (can_wait && m->n_outcomes > 0 && m->n_deferred < DEFERRED &&
	    below(m, 2) == 0) {
		m->deferred[m->n_deferred++] = ip;
		m->spoken = m->t->n_insns;
		return;
	}
	flush(m);
	times(m);
	put_ip(m, pt_tip, ip);
	tell_all(m);
}

/* PIP and VMCS of a transfer; `ip` as tell_context(). */
static void
put_contexts(struct machine *m, const uint64_t *ip)
{
	if (!has(m, RANDOM_CONTEXTS))
		return;
	if (below(m, 6) == 0) {
		m->vmcs = (uint64_t)below(m, 50) << 12;
		pt_vmcs(m->out, m->vmcs);
		tell_all(m);
		tell_context(m, ip);
	}
	if (below(m, 4) == 0) {
		m->cr3 = (uint64_t)below(m, 50) << 12;
		m->guest = below(m, 3) == 0;
		pt_pip(m->out, m->cr3, m->guest);
		tell_all(m);
		tell_context(m, ip);
	}
}

/* MODE.Exec, if it is needed or by chance. */
static void
put_mode(struct machine *m, unsigned int bits)
{
	if (bits != m->bits_told || m->tell_again || below(m, 4) == 0)
		pt_mode_exec(m->out, bits);
}

/* Calls and returns. */

static void
push(struct machine *m, uint32_t back)
{
	if (m->n_frames == FRAMES)
		m->n_frames = 0;
	m->frames[m->n_frames++] = back;
	if (m->n_calls == CALLS) {
		memmove(m->calls, m->calls + 1,
		    (CALLS - 1) * sizeof(m->calls[0]));
		m->n_calls--;
	}
	m->calls[m->n_calls++] = m->p->insns[back].ip;
}

/* Going somewhere. */

static bool
is_traced(const struct machine *m, uint32_t insn)
{
	return (m->traced == RANDOM_IMAGES ||
	    m->p->insns[insn].image == m->traced);
}

static uint32_t
any(struct machine *m, unsigned int bits)
{
	return (random_program_any(m->p, &m->random, bits, RANDOM_IMAGES));
}

static void sync_point(struct machine *m);

/* Tracing is off; some time later it goes on. */
static void
wait_off(struct machine *m, bool stopped)
{
	m->on = false;
	if (stopped && below(m, 4) == 0) {
		pt_stop(m->out);
		event(m, HWTD_EV_DISABLE)->row.flags |= HWTD_EVF_STOPPED;
	}
	if (has(m, RANDOM_FORGETS_CALLS)) {
		m->n_calls = 0;
		m->more_calls = true;
	}
	times(m);
	if (has(m, RANDOM_SYNCS) && below(m, 6) == 0)
		sync_point(m);
	put_contexts(m, NULL);
	times(m);
}

static void
go_on(struct machine *m)
{
	const uint64_t ip = here(m)->ip;
	const unsigned int bits = bits_at(m, m->at);
	struct random_trace_event *e;

	put_mode(m, bits);
	times(m);
	put_ip(m, pt_pge, ip);
	e = event(m, HWTD_EV_ENABLE);
	set_ip(e, ip);
	if (!m->has_resume || !m->sure_resume)
		e->open |= HWTD_EVF_RESUMED;
	if (m->has_resume && m->resume_ip == ip)
		e->row.flags |= HWTD_EVF_RESUMED;
	m->has_resume = false;
	m->on = true;
	tell_mode(m, bits, ip);
}

/* Where tracing goes on after it went off at a transfer to `insn`. */
static void
come_back(struct machine *m)
{
	wait_off(m, true);
	if (below(m, 2) == 0 && m->has_resume) {
		for (uint32_t i = 0; i < m->p->n_insns; i++)
			if (m->p->insns[i].ip == m->resume_ip &&
			    is_traced(m, i)) {
				m->at = i;
				go_on(m);
				return;
			}
	}
	m->at = random_program_any(m->p, &m->random, 0, m->traced);
	go_on(m);
}

/* A transfer to m->at, which is not traced. */
static void
leave(struct machine *m, bool direct)
{
	struct random_trace_event *e;
	bool hides;

	flush(m);
	times(m);
	hides = direct && has(m, RANDOM_SKL014) && m->told != m->told_cr3;
	tell_all(m);
	e = event(m, HWTD_EV_DISABLE);
	if (hides)
		pt_pgd(m->out, PT_IP_NONE, 0);
	else {
		put_ip(m, pt_pgd, here(m)->ip);
		set_target(e, here(m)->ip);
	}
	come_back(m);
}

/* A direct transfer without trace. */
static void
go(struct machine *m, uint32_t to)
{
	m->at = to;
	if (!is_traced(m, to))
		leave(m, true);
}

/* A transfer with a TIP packet. */
static void
go_told(struct machine *m, uint32_t to, bool can_wait)
{
	m->at = to;
	if (is_traced(m, to))
		target(m, can_wait);
	else
		leave(m, false);
}

static void
near_return(struct machine *m)
{
	uint32_t to = any(m, bits_at(m, m->at));
	bool same = false, none = m->n_calls == 0 && !m->more_calls;

	if (m->n_frames > 0 && below(m, 8) != 0) {
		uint32_t back = m->frames[--m->n_frames];

		if (bits_at(m, back) == bits_at(m, m->at))
			to = back;
	}
	if (m->n_calls > 0)
		same = m->calls[--m->n_calls] == m->p->insns[to].ip;
	if (same && has(m, RANDOM_COMPRESS_RETURNS) && is_traced(m, to)) {
		m->at = to;
		outcome(m, true);
	} else
		go_told(m, to, none && has(m, RANDOM_DEFERS_RETURNS));
}

static void
far(struct machine *m)
{
	const struct random_insn *i = here(m);
	const uint32_t next = m->at + 1;
	uint32_t to = any(m, 0);
	uint64_t ip;

	flush(m);
	if (i->kind == RANDOM_FAR_RETURN && m->n_interrupted > 0 &&
	    below(m, 6) != 0)
		to = m->interrupted[--m->n_interrupted];
	if (has(m, RANDOM_PAUSES) && m->traced == RANDOM_IMAGES &&
	    m->told != m->told_cr3 && below(m, 3) == 0) {
		times(m);
		pt_pgd(m->out, PT_IP_NONE, 0);
		tell_all(m);
		(void)event(m, HWTD_EV_DISABLE);
		m->has_resume = i->kind == RANDOM_FAR_CALL;
		m->sure_resume = m->has_resume;
		m->resume_ip = m->p->insns[next].ip;
		come_back(m);
		return;
	}
	if (i->kind == RANDOM_FAR_CALL && m->n_interrupted < FRAMES)
		m->interrupted[m->n_interrupted++] = next;
	m->at = to;
	if (!is_traced(m, to)) {
		leave(m, false);
		return;
	}
	times(m);
	ip = here(m)->ip;
	if (below(m, 2) == 0) {
		put_contexts(m, NULL);
		put_mode(m, bits_at(m, to));
	} else {
		put_mode(m, bits_at(m, to));
		put_contexts(m, NULL);
	}
	noise(m);
	put_ip(m, pt_tip, ip);
	tell_all(m);
	tell_mode(m, bits_at(m, to), ip);
}

static void
write_cr3(struct machine *m)
{
	flush(m);
	m->cr3 = (uint64_t)below(m, 50) << 12;
	times(m);
	pt_pip(m->out, m->cr3, m->guest);
	tell_all(m);
	tell_context(m, NULL);
	m->told_cr3 = m->told;
	if (!has(m, RANDOM_PAUSES) || below(m, 3) != 0)
		return;
	noise(m);
	pt_pgd(m->out, PT_IP_NONE, 0);
	(void)event(m, HWTD_EV_DISABLE);
	m->has_resume = false;
	come_back(m);
}

static void
ptwrite(struct machine *m, uint64_t ip)
{
	struct random_trace_event *e;
	const bool fup = below(m, 2) == 0;
	const unsigned int size = below(m, 2) == 0 ? 4 : 8;
	const uint64_t payload = below(m, 100000);

	if (!has(m, RANDOM_PTWRITES))
		return;
	flush(m);
	times(m);
	pt_ptw(m->out, size, payload, fup);
	if (fup) {
		noise(m);
		put_ip(m, pt_fup, ip);
	}
	tell_all(m);
	e = event(m, HWTD_EV_MARKER);
	set_ip(e, ip);
	e->marker.source = HWTD_MARKER_PTWRITE;
	e->marker.size = size;
	e->marker.payload = payload;
}

static struct random_trace_event *
tell_power(struct machine *m, uint32_t what, const uint64_t *ip)
{
	struct random_trace_event *e = event(m, HWTD_EV_POWER);

	e->power.what = what;
	if (ip != NULL)
		set_ip(e, *ip);
	return (e);
}

/* MWAIT is at hand. */
static void
sleep_a_while(struct machine *m)
{
	const uint64_t ip = here(m)->ip;
	const uint64_t *at = below(m, 3) != 0 ? &ip : NULL;
	const uint32_t hints = 0x20 + below(m, 4);
	struct random_trace_event *e;

	if (!has(m, RANDOM_POWERS) || below(m, 4) == 0)
		return;
	flush(m);
	times(m);
	pt_mwait(m->out, hints, 1);
	pt_exstop(m->out, at != NULL);
	if (at != NULL) {
		put_ip(m, pt_fup, ip);
		tell_all(m);
	}
	e = tell_power(m, HWTD_POWER_MWAIT, at);
	e->power.hints = hints;
	e->power.extensions = 1;
	(void)tell_power(m, HWTD_POWER_STOP, at);
	if (below(m, 2) != 0)
		return;
	pt_pwre(m->out, 2, 1, 0);
	e = tell_power(m, HWTD_POWER_ENTRY, NULL);
	e->power.state = 2;
	e->power.sub_state = 1;
	times(m);
	pt_pwrx(m->out, 1, 2, PT_WAKE_STORE);
	e = tell_power(m, HWTD_POWER_EXIT, NULL);
	e->power.state = 1;
	e->power.sub_state = 2;
	e->power.wake = 2;
}

/* Transactions. */

static void
begin_transaction(struct machine *m)
{
	if (!has(m, RANDOM_TRANSACTIONS) || m->transaction || below(m, 3) == 0)
		return;
	flush(m);
	times(m);
	pt_mode_tsx(m->out, PT_TSX_BEGIN);
	noise(m);
	put_ip(m, pt_fup, here(m)->ip);
	tell_all(m);
	tell_transaction(m, HWTD_MODE_TRANSACTION, here(m)->ip);
	m->transaction = true;
	m->fallback = here(m)->target;
}

static void
end_transaction(struct machine *m)
{
	if (!m->transaction)
		return;
	flush(m);
	times(m);
	pt_mode_tsx(m->out, PT_TSX_COMMIT);
	put_ip(m, pt_fup, here(m)->ip);
	tell_all(m);
	tell_transaction(m, 0, here(m)->ip);
	m->transaction = false;
}

static void
abort_transaction(struct machine *m)
{
	const uint64_t ip = here(m)->ip;
	struct random_trace_event *e;

	flush(m);
	times(m);
	pt_mode_tsx(m->out, PT_TSX_ABORT);
	put_ip(m, pt_fup, ip);
	noise(m);
	m->transaction = false;
	tell_all(m);
	tell_transaction(m, HWTD_MODE_ABORTED, ip);
	m->at = m->fallback;
	if (is_traced(m, m->at)) {
		put_ip(m, pt_tip, here(m)->ip);
		e = event(m, HWTD_EV_ASYNC);
		e->abort = true;
		set_ip(e, ip);
		set_target(e, here(m)->ip);
		return;
	}
	put_ip(m, pt_pgd, here(m)->ip);
	set_target(tell_async_disable(m, ip), here(m)->ip);
	come_back(m);
}

static bool
ends_transactions(uint8_t kind)
{
	switch (kind) {
	case RANDOM_FAR_CALL:
	case RANDOM_FAR_RETURN:
	case RANDOM_FAR_JUMP:
	case RANDOM_WRITE_CR3:
	case RANDOM_VMPTRLD:
	case RANDOM_MWAIT:
	case RANDOM_XABORT:
		return (true);
	default:
		return (false);
	}
}

/*
 * VMLAUNCH or VMRESUME is at hand: on most CPUs tracing that goes off in front of
 * it looks as if it was done by it (erratum SKD022).
 */
static bool
is_vm_entry(const struct machine *m)
{
	const struct random_image *im = &m->p->images[here(m)->image];
	const uint8_t *code = im->bytes + (here(m)->ip - im->address);

	return (code[0] == 0x0f && code[1] == 0x01 &&
	    (code[2] == 0xc2 || code[2] == 0xc3));
}

/* What happens between instructions. */

static void
interrupt(struct machine *m)
{
	const uint64_t ip = here(m)->ip;
	struct random_trace_event *e;
	uint32_t to = any(m, 0);
	uint64_t handler = m->p->insns[to].ip;

	flush(m);
	times(m);
	put_ip(m, pt_fup, ip);
	if (!is_traced(m, to)) {
		put_ip(m, pt_pgd, handler);
		tell_all(m);
		set_target(tell_async_disable(m, ip), handler);
		come_back(m);
		return;
	}
	if (m->n_interrupted < FRAMES)
		m->interrupted[m->n_interrupted++] = m->at;
	tell_all(m);
	e = event(m, HWTD_EV_ASYNC);
	set_ip(e, ip);
	set_target(e, handler);
	m->at = to;
	noise(m);
	if (below(m, 2) == 0) {
		put_contexts(m, &handler);
		put_mode(m, bits_at(m, to));
		tell_mode(m, bits_at(m, to), handler);
	} else {
		put_mode(m, bits_at(m, to));
		tell_mode(m, bits_at(m, to), handler);
		put_contexts(m, &handler);
	}
	noise(m);
	put_ip(m, pt_tip, handler);
}

static void
pause(struct machine *m)
{
	flush(m);
	times(m);
	put_ip(m, pt_fup, here(m)->ip);
	noise(m);
	pt_pgd(m->out, PT_IP_NONE, 0);
	tell_all(m);
	(void)tell_async_disable(m, here(m)->ip);
	come_back(m);
}

static void
overflow(struct machine *m)
{
	struct random_trace_event *e;

	/* What was not told is lost. */
	m->n_outcomes = 0;
	m->outcomes = 0;
	m->n_deferred = 0;
	m->t->n_insns = m->told;
	m->spoken = m->told;
	if (has(m, RANDOM_SYNCS) && below(m, 4) == 0) {
		/* In PSB+. */
		m->t->n_psbs++;
		pt_psb(m->out);
		m->last_ip = 0;
		pt_tsc(m->out, m->tsc);
		pt_cbr(m->out, m->ratio);
		pt_mode_exec(m->out, m->bits_told);
		pt_vmcs(m->out, m->vmcs);
		pt_pip(m->out, m->cr3, m->guest);
	}
	pt_ovf(m->out);
	m->last_ip = 0;
	m->n_calls = 0;
	m->more_calls = false;
	m->has_resume = false;
	m->at = any(m, m->bits_told);
	if (!is_traced(m, m->at))
		m->at = random_program_any(m->p, &m->random, 0, m->traced);
	e = event(m, HWTD_EV_GAP);
	if (bits_at(m, m->at) == m->bits_told && below(m, 2) == 0) {
		noise(m);
		put_ip(m, pt_fup, here(m)->ip);
		set_target(e, here(m)->ip);
		return;
	}
	m->on = false;
	times(m);
	go_on(m);
}

/* The packets of PSB+ in any order. */
static void
sync_point(struct machine *m)
{
	const unsigned int bits = m->on ? bits_at(m, m->at) : 0;
	unsigned int left = 0x3f;

	flush(m);
	m->t->n_psbs++;
	pt_psb(m->out);
	m->last_ip = 0;
	m->tsc += below(m, 1000);
	while (left != 0) {
		const unsigned int which = below(m, 6);

		if ((left >> which & 1) == 0)
			continue;
		left &= ~(1u << which);
		if (below(m, 4) == 0)
			pt_pad(m->out, below(m, 4));
		switch (which) {
		case 0:
			if (has(m, RANDOM_TIMES))
				pt_tsc(m->out, m->tsc);
			break;
		case 1:
			pt_cbr(m->out, m->ratio);
			break;
		case 2:
			if (m->on)
				pt_mode_exec(m->out, bits);
			break;
		case 3:
			if (has(m, RANDOM_TRANSACTIONS) && m->on)
				pt_mode_tsx(m->out,
				    m->transaction ? PT_TSX_BEGIN
						   : PT_TSX_COMMIT);
			break;
		case 4:
			pt_vmcs(m->out, m->vmcs);
			pt_pip(m->out, m->cr3, m->guest);
			break;
		default:
			if (m->on)
				put_ip(m, pt_fup, here(m)->ip);
			break;
		}
	}
	pt_psbend(m->out);
	if (m->on)
		tell_all(m);
	if (m->on)
		m->bits_told = bits;
	else
		m->tell_again = true;
	m->n_calls = 0;
	m->more_calls = false;
	m->sure_resume = false;
}

static void
between(struct machine *m)
{
	struct random_trace_event *e;

	if (has(m, RANDOM_MARKERS) && below(m, 60) == 0) {
		pt_mnt(m->out, m->tsc);
		e = event(m, HWTD_EV_MARKER);
		e->marker.source = HWTD_MARKER_MNT;
		e->marker.size = 8;
		e->marker.payload = m->tsc;
	}
	if (has(m, RANDOM_SYNCS) && below(m, 70) == 0)
		sync_point(m);
	/* Nothing may happen where the code leads on its own for ever. */
	if (m->transaction) {
		if (below(m, 30) == 0)
			abort_transaction(m);
		return;
	}
	if (has(m, RANDOM_INTERRUPTS) && below(m, 40) == 0 && !is_vm_entry(m))
		interrupt(m);
	else if (has(m, RANDOM_PAUSES) && !is_vm_entry(m) && below(m, 80) == 0)
		pause(m);
	else if (has(m, RANDOM_OVERFLOWS) && below(m, 150) == 0)
		overflow(m);
}

static void
step(struct machine *m)
{
	const struct random_insn *i;
	const uint32_t next = m->at + 1;
	uint32_t to;

	i = here(m);
	if (m->transaction && ends_transactions(i->kind)) {
		abort_transaction(m);
		return;
	}
	if (i->kind == RANDOM_XBEGIN)
		begin_transaction(m);
	else if (i->kind == RANDOM_XEND)
		end_transaction(m);
	else if (i->kind == RANDOM_MWAIT)
		sleep_a_while(m);
	execute(m);
	switch (i->kind) {
	case RANDOM_COND:
		to = below(m, 2) == 0 ? i->target : next;
		m->at = to;
		if (is_traced(m, to))
			outcome(m, to == i->target && i->target != next);
		else
			leave(m, false);
		break;
	case RANDOM_JUMP:
		go(m, i->target);
		break;
	case RANDOM_CALL:
		if (i->target != next)
			push(m, next);
		go(m, i->target);
		break;
	case RANDOM_CALL_INDIRECT:
		push(m, next);
		go_told(m, any(m, bits_at(m, m->at)), has(m, RANDOM_DEFERS));
		break;
	case RANDOM_JUMP_INDIRECT:
		go_told(m, any(m, bits_at(m, m->at)), has(m, RANDOM_DEFERS));
		break;
	case RANDOM_RETURN:
		near_return(m);
		break;
	case RANDOM_FAR_CALL:
	case RANDOM_FAR_RETURN:
	case RANDOM_FAR_JUMP:
		far(m);
		break;
	case RANDOM_WRITE_CR3:
		m->at = next;
		write_cr3(m);
		break;
	case RANDOM_PTWRITE:
		m->at = next;
		ptwrite(m, i->ip);
		break;
	case RANDOM_VMPTRLD:
		m->at = next;
		flush(m);
		tell_all(m);
		m->vmcs = (uint64_t)below(m, 50) << 12;
		pt_vmcs(m->out, m->vmcs);
		tell_context(m, NULL);
		break;
	default:
		m->at = next;
		break;
	}
}

static void
set_filter(struct machine *m)
{
	const struct random_image *im;
	struct hwtd_pt_config *c = &m->t->config;

	m->traced = below(m, m->p->n_images);
	im = &m->p->images[m->traced];
	c->filters[0].mode = HWTD_PT_FILTER_TRACE;
	c->filters[0].start = im->address;
	c->filters[0].end = im->address + im->n_bytes - 1;
}

void
random_trace_make(struct random_trace *t, uint64_t seed, unsigned int what,
    size_t insns)
{
	struct machine m = { .t = t,
		.p = &t->program,
		.out = &t->packets,
		.has = what,
		.random = seed * 0x9e3779b97f4a7c15 + 99,
		.traced = RANDOM_IMAGES,
		.ratio = 8,
		.tsc = 1000 };

	memset(t, 0, sizeof(*t));
	random_program_make(&t->program, seed);
	t->config.size = sizeof(t->config);
	if (has(&m, RANDOM_FILTERS)) {
		set_filter(&m);
		/* It is not said what holds where tracing goes on. */
		m.has &= ~RANDOM_TRANSACTIONS;
	}
	m.at = random_program_any(m.p, &m.random, 0, m.traced);
	if (has(&m, RANDOM_NO_PSB) && bits_at(&m, m.at) == 64) {
		m.bits_told = 64;
		pt_pge(&t->packets, PT_IP_64, here(&m)->ip);
		m.last_ip = here(&m)->ip;
		set_ip(event(&m, HWTD_EV_ENABLE), here(&m)->ip);
		pt_cbr(&t->packets, m.ratio);
		tell_ratio(&m, 0);
		m.on = true;
	} else {
		m.on = below(&m, 4) != 0;
		sync_point(&m);
		if (!m.on) {
			wait_off(&m, false);
			go_on(&m);
		}
	}
	while (t->n_insns < insns || is_vm_entry(&m)) {
		between(&m);
		step(&m);
	}
	flush(&m);
	put_ip(&m, pt_fup, here(&m)->ip);
	pt_pgd(&t->packets, PT_IP_NONE, 0);
	tell_all(&m);
	tell_async_disable(&m, here(&m)->ip);
}

void
random_trace_free(struct random_trace *t)
{
	pt_free(&t->packets);
	free(t->insns);
	free(t->events);
	memset(t, 0, sizeof(*t));
}
