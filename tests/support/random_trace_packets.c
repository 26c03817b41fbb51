/*
 * Random Intel PT traces: the tracing hardware, and what it makes known.
 */
#include <stdlib.h>
#include <string.h>

#include "support/random_trace_internal.h"

struct random_trace_event *
rm_event(struct machine *m, uint8_t kind)
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

void
rm_set_ip(struct random_trace_event *e, uint64_t ip)
{
	e->row.ip = ip;
	e->row.flags |= HWTD_EVF_IP;
}

void
rm_set_target(struct random_trace_event *e, uint64_t target)
{
	e->row.target = target;
	e->row.flags |= HWTD_EVF_TARGET;
}

void
rm_execute(struct machine *m)
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
void
rm_tell_all(struct machine *m)
{
	m->told = m->t->n_insns;
}

void
rm_tell_context(struct machine *m, const uint64_t *ip)
{
	struct random_trace_event *e = rm_event(m, HWTD_EV_CONTEXT);

	e->cr3 = m->cr3;
	e->vmcs = m->vmcs;
	e->guest = m->guest;
	if (ip != NULL)
		rm_set_ip(e, *ip);
}

struct random_trace_event *
rm_tell_async_disable(struct machine *m, uint64_t ip)
{
	struct random_trace_event *e = rm_event(m, HWTD_EV_DISABLE);

	e->row.flags |= HWTD_EVF_ASYNC;
	rm_set_ip(e, ip);
	m->has_resume = true;
	m->sure_resume = true;
	m->resume_ip = ip;
	return (e);
}

void
rm_tell_mode(struct machine *m, unsigned int bits, uint64_t ip)
{
	struct random_trace_event *e;

	if (bits == m->bits_told && !m->tell_again)
		return;
	e = rm_event(m, HWTD_EV_MODE);
	e->maybe = bits == m->bits_told;
	m->tell_again = false;
	e->row.flags |= isa_of(bits) | HWTD_EVF_VALUE;
	rm_set_ip(e, ip);
	m->bits_told = bits;
}

void
rm_tell_transaction(struct machine *m, uint64_t value, uint64_t ip)
{
	struct random_trace_event *e = rm_event(m, HWTD_EV_MODE);

	e->row.flags |= isa_of(m->bits_told) | HWTD_EVF_VALUE;
	e->row.value = HWTD_MODE_IS_TRANSACTION | value;
	rm_set_ip(e, ip);
}

/* Some that tell times, which can be between any two others. */
static void
noise_with(struct machine *m, bool ratio)
{
	uint64_t cycles;

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
		/* In this order with every compiler. */
		cycles = below(m, 31);
		pt_cyc_of(m->out, cycles, 1 + below(m, 3));
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

void
rm_noise(struct machine *m)
{
	noise_with(m, false);
}

void
rm_tell_ratio(struct machine *m, unsigned int before)
{
	struct random_trace_event *e;

	if (m->ratio == before)
		return;
	e = rm_event(m, HWTD_EV_FREQUENCY);
	e->row.value = m->ratio;
	e->row.flags |= HWTD_EVF_VALUE;
}

/* Noise where a change of frequency is a row of its own. */
void
rm_times(struct machine *m)
{
	const unsigned int before = m->ratio;

	noise_with(m, true);
	rm_tell_ratio(m, before);
}

void
rm_put_ip(struct machine *m,
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
void
rm_flush(struct machine *m)
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
		rm_noise(m);
		rm_put_ip(m, pt_tip, m->deferred[i]);
	}
	m->n_deferred = 0;
	m->told = m->spoken;
}

void
rm_outcome(struct machine *m, bool taken)
{
	const unsigned int most = has(m, RANDOM_LONG_TNT) ? 47 : 6;

	m->outcomes = m->outcomes << 1 | taken;
	m->n_outcomes++;
	m->spoken = m->t->n_insns;
	if (m->n_outcomes == most || below(m, 12) == 0) {
		rm_flush(m);
		rm_times(m);
	}
}

void
rm_target(struct machine *m, bool can_wait)
{
	const uint64_t ip = here(m)->ip;

	if (can_wait && m->n_outcomes > 0 && m->n_deferred < DEFERRED &&
	    below(m, 2) == 0) {
		m->deferred[m->n_deferred++] = ip;
		m->spoken = m->t->n_insns;
		return;
	}
	rm_flush(m);
	rm_times(m);
	rm_put_ip(m, pt_tip, ip);
	rm_tell_all(m);
}

/* PIP and VMCS of a transfer; `ip` as rm_tell_context(). */
void
rm_put_contexts(struct machine *m, const uint64_t *ip)
{
	if (!has(m, RANDOM_CONTEXTS))
		return;
	if (below(m, 6) == 0) {
		m->vmcs = (uint64_t)below(m, 50) << 12;
		pt_vmcs(m->out, m->vmcs);
		rm_tell_all(m);
		rm_tell_context(m, ip);
	}
	if (below(m, 4) == 0) {
		m->cr3 = (uint64_t)below(m, 50) << 12;
		m->guest = below(m, 3) == 0;
		pt_pip(m->out, m->cr3, m->guest);
		rm_tell_all(m);
		rm_tell_context(m, ip);
	}
}

/* MODE.Exec, if it is needed or by chance. */
void
rm_put_mode(struct machine *m, unsigned int bits)
{
	if (bits != m->bits_told || m->tell_again || below(m, 4) == 0)
		pt_mode_exec(m->out, bits);
}
