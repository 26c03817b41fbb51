/* Packets of Intel PT and their times. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "support/packet_clock.h"

void
pc_begin(struct packet_clock *w)
{
	struct hwtd_error err = { .size = sizeof(err) };

	memset(w, 0, sizeof(*w));
	assert_int_equal(hwtd_context_create(NULL, &w->library, &err),
	    HWTD_OK);
	w->config.size = sizeof(w->config);
	/* No erratum; one tick of the crystal clock is 8 counts. */
	w->config.cpu_family = 6;
	w->config.cpu_model = 0x97;
	w->config.cpuid_15h_eax = 2;
	w->config.cpuid_15h_ebx = 16;
}

void
pc_start(struct packet_clock *w)
{
	const struct hwtdi_pt_stretch s = { .bytes = w->p.bytes, .n = w->p.n };

	hwtdi_pt_time_init(&w->time, w->library, &w->config, w->near);
	hwtdi_pt_time_start(&w->time, &s, false);
}

void
pc_end(struct packet_clock *w)
{
	hwtdi_pt_time_fini(&w->time);
	pt_free(&w->p);
	hwtd_context_destroy(w->library);
}

size_t
pc_put_psb(struct packet_clock *w, uint64_t tsc)
{
	size_t off;

	pt_psb(&w->p);
	off = w->p.n;
	pt_tsc(&w->p, tsc);
	return (off);
}

size_t
pc_put_mtc(struct packet_clock *w, unsigned int value)
{
	pt_mtc(&w->p, value & 0xff);
	return (w->p.n - 2);
}

size_t
pc_put_cyc(struct packet_clock *w, uint64_t cycles)
{
	const size_t off = w->p.n;

	pt_cyc(&w->p, cycles);
	return (off);
}

size_t
pc_put_tnt(struct packet_clock *w)
{
	pt_tnt(&w->p, "T");
	return (w->p.n - 1);
}

struct hwtdi_pt_moment
pc_at(struct packet_clock *w, size_t off)
{
	struct hwtdi_pt_moment m = { .count = PC_NO_TIME };
	int rc = hwtdi_pt_time_at(&w->time, off, &m);

	assert_true(rc == HWTD_OK || rc == HWTD_E_NOT_FOUND);
	return (m);
}
