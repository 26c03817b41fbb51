/*
 * Queues of EVFILT_USER events.
 */
#include "sim_internal.h"

int
sim_kqueue_add(struct sim_kernel *k, struct sim_kqueue *kq, uint64_t ident)
{
	struct sim_knote *note;

	for (size_t i = 0; i < kq->knotes.n; i++)
		if (SIM_AT(&kq->knotes, struct sim_knote, i).ident == ident)
			return (0);
	note = SIM_PUSH(k, &kq->knotes, struct sim_knote);
	note->ident = ident;
	return (0);
}

bool
sim_kqueue_post(struct sim_kqueue *kq, uint64_t ident, int64_t data)
{
	for (size_t i = 0; i < kq->knotes.n; i++) {
		struct sim_knote *note = &SIM_AT(&kq->knotes, struct sim_knote,
		    i);

		if (note->ident == ident) {
			/* Several are one. */
			note->triggered = true;
			note->data = data;
			return (true);
		}
	}
	return (false);
}

int
sim_kqueue_take(struct sim_kqueue *kq, struct hwtdi_kevent *events, int room)
{
	int n = 0;

	for (size_t i = 0; i < kq->knotes.n && n < room; i++) {
		struct sim_knote *note = &SIM_AT(&kq->knotes, struct sim_knote,
		    i);

		if (!note->triggered)
			continue;
		events[n].ident = note->ident;
		events[n].data = note->data;
		n++;
		note->triggered = false;
	}
	return (n);
}
