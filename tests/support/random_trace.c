/*
 * Random Intel PT traces: the machine.
 */
#include <stdlib.h>
#include <string.h>

#include "support/random_trace_internal.h"

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
		rm_event(m, HWTD_EV_DISABLE)->row.flags |= HWTD_EVF_STOPPED;
	}
	if (has(m, RANDOM_FORGETS_CALLS)) {
		m->n_calls = 0;
		m->more_calls = true;
	}
	rm_times(m);
	if (has(m, RANDOM_SYNCS) && below(m, 6) == 0)
		sync_point(m);
	rm_put_contexts(m, NULL);
	rm_times(m);
}

static void
go_on(struct machine *m)
{
	const uint64_t ip = here(m)->ip;
	const unsigned int bits = bits_at(m, m->at);
	struct random_trace_event *e;

	rm_put_mode(m, bits);
	rm_times(m);
	rm_put_ip(m, pt_pge, ip);
	e = rm_event(m, HWTD_EV_ENABLE);
	rm_set_ip(e, ip);
	if (!m->has_resume || !m->sure_resume)
		e->open |= HWTD_EVF_RESUMED;
	if (m->has_resume && m->resume_ip == ip)
		e->row.flags |= HWTD_EVF_RESUMED;
	m->has_resume = false;
	m->on = true;
	rm_tell_mode(m, bits, ip);
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

	rm_flush(m);
	rm_times(m);
	hides = direct && has(m, RANDOM_SKL014) && m->told != m->told_cr3;
	rm_tell_all(m);
	e = rm_event(m, HWTD_EV_DISABLE);
	if (hides)
		pt_pgd(m->out, PT_IP_NONE, 0);
	else {
		rm_put_ip(m, pt_pgd, here(m)->ip);
		rm_set_target(e, here(m)->ip);
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
		rm_target(m, can_wait);
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
		rm_outcome(m, true);
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

	rm_flush(m);
	if (i->kind == RANDOM_FAR_RETURN && m->n_interrupted > 0 &&
	    below(m, 6) != 0)
		to = m->interrupted[--m->n_interrupted];
	if (has(m, RANDOM_PAUSES) && m->traced == RANDOM_IMAGES &&
	    m->told != m->told_cr3 && below(m, 3) == 0) {
		rm_times(m);
		pt_pgd(m->out, PT_IP_NONE, 0);
		rm_tell_all(m);
		(void)rm_event(m, HWTD_EV_DISABLE);
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
	rm_times(m);
	ip = here(m)->ip;
	if (below(m, 2) == 0) {
		rm_put_contexts(m, NULL);
		rm_put_mode(m, bits_at(m, to));
	} else {
		rm_put_mode(m, bits_at(m, to));
		rm_put_contexts(m, NULL);
	}
	rm_noise(m);
	rm_put_ip(m, pt_tip, ip);
	rm_tell_all(m);
	rm_tell_mode(m, bits_at(m, to), ip);
}

static void
write_cr3(struct machine *m)
{
	rm_flush(m);
	m->cr3 = (uint64_t)below(m, 50) << 12;
	rm_times(m);
	pt_pip(m->out, m->cr3, m->guest);
	rm_tell_all(m);
	rm_tell_context(m, NULL);
	m->told_cr3 = m->told;
	if (!has(m, RANDOM_PAUSES) || below(m, 3) != 0)
		return;
	rm_noise(m);
	pt_pgd(m->out, PT_IP_NONE, 0);
	(void)rm_event(m, HWTD_EV_DISABLE);
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
	rm_flush(m);
	rm_times(m);
	pt_ptw(m->out, size, payload, fup);
	if (fup) {
		rm_noise(m);
		rm_put_ip(m, pt_fup, ip);
	}
	rm_tell_all(m);
	e = rm_event(m, HWTD_EV_MARKER);
	rm_set_ip(e, ip);
	e->marker.source = HWTD_MARKER_PTWRITE;
	e->marker.size = size;
	e->marker.payload = payload;
}

static struct random_trace_event *
tell_power(struct machine *m, uint32_t what, const uint64_t *ip)
{
	struct random_trace_event *e = rm_event(m, HWTD_EV_POWER);

	e->power.what = what;
	if (ip != NULL)
		rm_set_ip(e, *ip);
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
	rm_flush(m);
	rm_times(m);
	pt_mwait(m->out, hints, 1);
	pt_exstop(m->out, at != NULL);
	if (at != NULL) {
		rm_put_ip(m, pt_fup, ip);
		rm_tell_all(m);
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
	rm_times(m);
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
	rm_flush(m);
	rm_times(m);
	pt_mode_tsx(m->out, PT_TSX_BEGIN);
	rm_noise(m);
	rm_put_ip(m, pt_fup, here(m)->ip);
	rm_tell_all(m);
	rm_tell_transaction(m, HWTD_MODE_TRANSACTION, here(m)->ip);
	m->transaction = true;
	m->fallback = here(m)->target;
}

static void
end_transaction(struct machine *m)
{
	if (!m->transaction)
		return;
	rm_flush(m);
	rm_times(m);
	pt_mode_tsx(m->out, PT_TSX_COMMIT);
	rm_put_ip(m, pt_fup, here(m)->ip);
	rm_tell_all(m);
	rm_tell_transaction(m, 0, here(m)->ip);
	m->transaction = false;
}

static void
abort_transaction(struct machine *m)
{
	const uint64_t ip = here(m)->ip;
	struct random_trace_event *e;

	rm_flush(m);
	rm_times(m);
	pt_mode_tsx(m->out, PT_TSX_ABORT);
	rm_put_ip(m, pt_fup, ip);
	rm_noise(m);
	m->transaction = false;
	rm_tell_all(m);
	rm_tell_transaction(m, HWTD_MODE_ABORTED, ip);
	m->at = m->fallback;
	if (is_traced(m, m->at)) {
		rm_put_ip(m, pt_tip, here(m)->ip);
		e = rm_event(m, HWTD_EV_ASYNC);
		e->abort = true;
		rm_set_ip(e, ip);
		rm_set_target(e, here(m)->ip);
		return;
	}
	rm_put_ip(m, pt_pgd, here(m)->ip);
	rm_set_target(rm_tell_async_disable(m, ip), here(m)->ip);
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

	rm_flush(m);
	rm_times(m);
	rm_put_ip(m, pt_fup, ip);
	if (!is_traced(m, to)) {
		rm_put_ip(m, pt_pgd, handler);
		rm_tell_all(m);
		rm_set_target(rm_tell_async_disable(m, ip), handler);
		come_back(m);
		return;
	}
	if (m->n_interrupted < FRAMES)
		m->interrupted[m->n_interrupted++] = m->at;
	rm_tell_all(m);
	e = rm_event(m, HWTD_EV_ASYNC);
	rm_set_ip(e, ip);
	rm_set_target(e, handler);
	m->at = to;
	rm_noise(m);
	if (below(m, 2) == 0) {
		rm_put_contexts(m, &handler);
		rm_put_mode(m, bits_at(m, to));
		rm_tell_mode(m, bits_at(m, to), handler);
	} else {
		rm_put_mode(m, bits_at(m, to));
		rm_tell_mode(m, bits_at(m, to), handler);
		rm_put_contexts(m, &handler);
	}
	rm_noise(m);
	rm_put_ip(m, pt_tip, handler);
}

static void
pause(struct machine *m)
{
	rm_flush(m);
	rm_times(m);
	rm_put_ip(m, pt_fup, here(m)->ip);
	rm_noise(m);
	pt_pgd(m->out, PT_IP_NONE, 0);
	rm_tell_all(m);
	(void)rm_tell_async_disable(m, here(m)->ip);
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
	e = rm_event(m, HWTD_EV_GAP);
	if (bits_at(m, m->at) == m->bits_told && below(m, 2) == 0) {
		rm_noise(m);
		rm_put_ip(m, pt_fup, here(m)->ip);
		rm_set_target(e, here(m)->ip);
		return;
	}
	m->on = false;
	rm_times(m);
	go_on(m);
}

/* The packets of PSB+ in any order. */
static void
sync_point(struct machine *m)
{
	const unsigned int bits = m->on ? bits_at(m, m->at) : 0;
	unsigned int left = 0x3f;

	rm_flush(m);
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
				rm_put_ip(m, pt_fup, here(m)->ip);
			break;
		}
	}
	pt_psbend(m->out);
	if (m->on)
		rm_tell_all(m);
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
		e = rm_event(m, HWTD_EV_MARKER);
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
	rm_execute(m);
	switch (i->kind) {
	case RANDOM_COND:
		to = below(m, 2) == 0 ? i->target : next;
		m->at = to;
		if (is_traced(m, to))
			rm_outcome(m, to == i->target && i->target != next);
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
		rm_flush(m);
		rm_tell_all(m);
		m->vmcs = (uint64_t)below(m, 50) << 12;
		pt_vmcs(m->out, m->vmcs);
		rm_tell_context(m, NULL);
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
	/* Whether something repeats itself does not repeat itself. */
	uint64_t other = seed + 7;

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
		rm_set_ip(rm_event(&m, HWTD_EV_ENABLE), here(&m)->ip);
		pt_cbr(&t->packets, m.ratio);
		rm_tell_ratio(&m, 0);
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
		if (has(&m, RANDOM_REPEATS) && m.at % 8 == 0 &&
		    random_below(&other, 2) == 0)
			m.random = seed + m.at * 31 + random_below(&other, 3);
		between(&m);
		step(&m);
	}
	rm_flush(&m);
	rm_put_ip(&m, pt_fup, here(&m)->ip);
	pt_pgd(&t->packets, PT_IP_NONE, 0);
	rm_tell_all(&m);
	rm_tell_async_disable(&m, here(&m)->ip);
}

void
random_trace_free(struct random_trace *t)
{
	pt_free(&t->packets);
	free(t->insns);
	free(t->events);
	memset(t, 0, sizeof(*t));
}
