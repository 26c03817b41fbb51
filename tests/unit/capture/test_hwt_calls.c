/*
 * The calls of hwt(4): what is asked of a kernel, and what never is.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_system.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

static int
setup(void **state)
{
	struct fake_system *f = malloc(sizeof(*f));

	if (f == NULL)
		return (-1);
	fake_system_init(f);
	*state = f;
	return (0);
}

static int
teardown(void **state)
{
	fake_system_fini(*state);
	free(*state);
	return (0);
}

/* A refusal: its code, a word of the reason, one whole line. */
static void
assert_refused(int rc, const struct hwtd_error *err, int want,
    const char *reason)
{
	assert_int_equal(rc, want);
	assert_int_equal(err->code, want);
	if (strstr(err->message, reason) == NULL)
		fail_msg("\"%s\" in \"%s\"", reason, err->message);
	assert_true(strlen(err->message) < sizeof(err->message) - 1);
	assert_null(strchr(err->message, '\n'));
}

static void
names_of_backends_are_those_of_the_kernel(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	enum hwtdi_backend backend = HWTDI_BACKEND_PT;
	char name[300];

	(void)state;
	assert_int_equal(hwtdi_backend_find("coresight", &backend, NULL),
	    HWTD_OK);
	assert_int_equal(backend, HWTDI_BACKEND_CORESIGHT);
	assert_int_equal(hwtdi_backend_find("pt", &backend, NULL), HWTD_OK);
	assert_int_equal(backend, HWTDI_BACKEND_PT);
	assert_string_equal(hwtdi_backend_name(HWTDI_BACKEND_SPE), "spe");
	assert_refused(hwtdi_backend_find("PT", &backend, &err), &err,
	    HWTD_E_NOT_FOUND, "\"PT\"");
	memset(name, 'p', sizeof(name));
	name[256] = '\0';
	assert_refused(hwtdi_backend_find(name, &backend, &err), &err,
	    HWTD_E_INVALID, "256 bytes");
	name[255] = '\0';
	assert_refused(hwtdi_backend_find(name, &backend, &err), &err,
	    HWTD_E_NOT_FOUND, "ppp");
}

static void
alloc_of_a_process_asks_with_its_pid_and_opens_its_first_thread(void **state)
{
	struct fake_system *f = *state;
	const struct hwtdi_hwt_options
	    o = fake_thread_options(HWTDI_BACKEND_PT);
	struct hwtdi_hwt *hwt = fake_alloc(f, &o);
	struct hwtdi_hwt_alloc a;

	assert_string_equal(f->calls[0].path, "/dev/hwt");
	memcpy(&a, f->calls[1].arg, sizeof(a));
	assert_int_equal(f->calls[1].request, 0x80404200);
	assert_int_equal(a.mode, 1);
	assert_int_equal(a.pid, 77);
	assert_int_equal(a.bufsize, 1048576);
	assert_int_equal(a.cpu_map, 0);
	assert_int_equal(a.kqueue_fd, -1);
	assert_string_equal(f->calls[1].backend, "pt");
	assert_int_equal(f->calls[2].what, FAKE_CLOSE);
	assert_string_equal(f->calls[3].path, "/dev/hwt_3_0");
	assert_int_equal(f->n_calls, 4);
	assert_int_equal(hwt->ident, 3);
	assert_int_equal(hwt->state, HWTDI_HWT_STOPPED);
	hwtdi_hwt_close(hwt);
	hwtdi_hwt_close(NULL);
}

static void
alloc_of_cpus_asks_with_a_set_and_opens_the_lowest(void **state)
{
	static const uint32_t cpus[] = { 70, 3, 1023 };
	struct fake_system *f = *state;
	struct hwtdi_hwt_options o = fake_cpu_options(HWTDI_BACKEND_SPE);
	const struct fake_call *call;
	struct hwtdi_hwt_alloc a;

	o.cpus = cpus;
	o.n_cpus = 3;
	o.machine_cpus = 1024;
	hwtdi_hwt_close(fake_alloc(f, &o));
	call = fake_last(f, HWTDI_HWT_IOC_ALLOC);
	memcpy(&a, call->arg, sizeof(a));
	assert_int_equal(a.mode, 2);
	assert_int_equal(a.pid, 0);
	assert_int_equal(a.cpusetsize, 128);
	assert_int_equal(a.kqueue_fd, 5);
	for (size_t i = 0; i < 128; i++)
		assert_int_equal(call->blob[i],
		    i == 0	   ? 0x08
			: i == 8   ? 0x40
			: i == 127 ? 0x80
				   : 0);
	assert_string_equal(fake_last_open(f)->path, "/dev/hwt_3_3");
}

/* Each of them breaks a kernel or is refused by it. */
static void
options_that_no_kernel_bears_are_never_asked(void **state)
{
	static const uint32_t far[] = { 0, 4 }, twice[] = { 1, 1 },
			      beyond[] = { 1024 }, no_id[] = { 111 };
	struct fake_system *f = *state;
	struct {
		struct hwtdi_hwt_options o;
		int want;
		const char *reason;
	} c[24];
	size_t n = 0;

#define CASE(options, field, code, text)                                      \
	do {                                                                  \
		struct hwtdi_hwt_options *o = &c[n].o;                        \
		c[n].o = (options);                                           \
		field;                                                        \
		c[n].want = (code);                                           \
		c[n++].reason = (text);                                       \
	} while (0)
	const struct hwtdi_hwt_options
	    t = fake_thread_options(HWTDI_BACKEND_PT);
	const struct hwtdi_hwt_options
	    cpu = fake_cpu_options(HWTDI_BACKEND_PT);
	const struct hwtdi_hwt_options
	    spe = fake_cpu_options(HWTDI_BACKEND_SPE);
	const struct hwtdi_hwt_options
	    cs = fake_cpu_options(HWTDI_BACKEND_CORESIGHT);

	CASE(t, o->bufsize = 0, HWTD_E_INVALID, "buffers of 0 bytes");
	CASE(t, o->bufsize = 4097, HWTD_E_INVALID, "4097");
	CASE(cs, o->bufsize = (UINT64_C(32) << 30) + 4096, HWTD_E_INVALID,
	    "32 GiB");
	CASE(t, o->bufsize = 512 * 4096, HWTD_E_INVALID, "512 pages");
	CASE(t, o->page_size = 2048, HWTD_E_INVALID, "2048");
	CASE(t, o->page_size = 12288, HWTD_E_INVALID, "12288");
	CASE(spe, o->page_size = 16384;
	     o->bufsize = 4096, HWTD_E_INVALID, "16384");
	CASE(spe, o->bufsize = 3 * 4096, HWTD_E_INVALID, "3 pages");
	CASE(spe, o->bufsize = 4096, HWTD_E_INVALID, "1 pages");
	CASE(spe, o->kq = -1, HWTD_E_INVALID, "no kqueue");
	CASE(cpu, o->cpus = NULL, HWTD_E_INVALID, "no CPU to trace");
	CASE(cpu, o->n_cpus = 0, HWTD_E_INVALID, "no CPU to trace");
	CASE(cpu, o->cpus = far, HWTD_E_INVALID, "no CPU 4");
	CASE(cpu, o->cpus = twice, HWTD_E_INVALID, "CPU 1 is named twice");
	CASE(cpu, o->cpus = beyond; o->n_cpus = 1;
	     o->machine_cpus = 2000, HWTD_E_INVALID, "no CPU 1024");
	CASE(cpu, o->machine_cpus = 0, HWTD_E_INVALID, "has 0");
	CASE(cs, o->cpus = no_id; o->n_cpus = 1;
	     o->machine_cpus = 128, HWTD_E_UNSUPPORTED, "CPU 111");
	CASE(t, o->pid = 0, HWTD_E_INVALID, "no process can be 0");
	CASE(t, o->pid = -1, HWTD_E_INVALID, "-1");
	CASE(t, o->mode = (enum hwtdi_hwt_mode)3, HWTD_E_INVALID, "mode 3");
#undef CASE
	assert_true(n <= N(c));
	for (size_t i = 0; i < n; i++) {
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtdi_hwt *hwt = NULL;

		print_message("case %s\n", c[i].reason);
		assert_refused(hwtdi_hwt_alloc(f->library, &f->table, &c[i].o,
				   &hwt, &err),
		    &err, c[i].want, c[i].reason);
		assert_int_equal(err.sys_errno, 0);
		assert_null(hwt);
	}
	assert_int_equal(f->n_calls, 0);
}

static void
large_buffers_of_pt_need_a_kernel_or_a_caller_who_knows(void **state)
{
	struct fake_system *f = *state;
	struct hwtdi_hwt_options o = fake_thread_options(HWTDI_BACKEND_PT);
	struct hwtdi_hwt *hwt;

	o.bufsize = 511 * 4096;
	hwt = fake_alloc(f, &o);
	assert_false(hwt->small_buffer);
	hwtdi_hwt_close(hwt);
	o.bufsize = 255 * 4096;
	hwt = fake_alloc(f, &o);
	assert_true(hwt->small_buffer);
	hwtdi_hwt_close(hwt);
	o.bufsize = 1024 * 4096;
	o.allow_large = true;
	hwtdi_hwt_close(fake_alloc(f, &o));
	o.allow_large = false;
	o.kernel = HWTDI_KERNEL_5BSD;
	hwtdi_hwt_close(fake_alloc(f, &o));
	o = fake_thread_options(HWTDI_BACKEND_CORESIGHT);
	o.bufsize = UINT64_C(32) << 30;
	hwtdi_hwt_close(fake_alloc(f, &o));
}

static void
a_context_that_cannot_be_one_is_refused(void **state)
{
	static const int32_t idents[] = { -1, 256, INT32_MIN };
	struct fake_system *f = *state;
	const struct hwtdi_hwt_options
	    o = fake_thread_options(HWTDI_BACKEND_PT);
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_hwt *hwt = NULL;

	for (size_t i = 0; i < N(idents); i++) {
		f->ident = idents[i];
		assert_refused(hwtdi_hwt_alloc(f->library, &f->table, &o, &hwt,
				   &err),
		    &err, HWTD_E_UNSUPPORTED, "another hwt(4)");
	}
	f->ident = 3;
	f->deaf[0] = true;
	assert_refused(hwtdi_hwt_alloc(f->library, &f->table, &o, &hwt, &err),
	    &err, HWTD_E_UNSUPPORTED, "context -1");
	assert_null(hwt);
}

static void
nodes_are_those_of_threads_or_of_traced_cpus(void **state)
{
	struct fake_system *f = *state;
	struct hwtdi_hwt_options o = fake_thread_options(HWTDI_BACKEND_PT);
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_hwt *hwt = fake_alloc(f, &o);
	const void *buffer = NULL;
	int fd = -1;

	assert_int_equal(hwtdi_hwt_open_node(hwt, 17, &fd, NULL), HWTD_OK);
	assert_string_equal(fake_last_open(f)->path, "/dev/hwt_3_17");
	assert_int_equal(hwtdi_hwt_map_node(hwt, fd, &buffer, NULL), HWTD_OK);
	assert_ptr_equal(buffer, f->memory_mapped);
	assert_int_equal(f->calls[f->n_calls - 1].fd, fd);
	assert_int_equal(f->calls[f->n_calls - 1].number, 1048576);
	hwtdi_hwt_unmap_node(hwt, buffer);
	assert_int_equal(f->calls[f->n_calls - 1].number, 1048576);
	hwtdi_hwt_unmap_node(hwt, NULL);
	hwtdi_hwt_close_node(hwt, fd);
	assert_refused(hwtdi_hwt_open_node(hwt, 0x80000000u, &fd, &err), &err,
	    HWTD_E_NOT_FOUND, "2147483648");
	hwtdi_hwt_close(hwt);
	o = fake_cpu_options(HWTDI_BACKEND_PT);
	hwt = fake_alloc(f, &o);
	assert_int_equal(hwtdi_hwt_open_node(hwt, 2, &fd, NULL), HWTD_OK);
	hwtdi_hwt_close_node(hwt, fd);
	assert_refused(hwtdi_hwt_open_node(hwt, 1, &fd, &err), &err,
	    HWTD_E_NOT_FOUND, "CPU 1 is not traced");
	assert_refused(hwtdi_hwt_open_node(hwt, 5000, &fd, &err), &err,
	    HWTD_E_NOT_FOUND, "5000");
	hwtdi_hwt_close(hwt);
}

static void
pt_without_a_config_is_never_started(void **state)
{
	struct fake_system *f = *state;
	const struct hwtdi_hwt_options
	    o = fake_thread_options(HWTDI_BACKEND_PT);
	struct hwtdi_hwt *hwt = fake_alloc(f, &o);
	struct hwtd_error err = { .size = sizeof(err) };

	assert_refused(hwtdi_hwt_start(hwt, &err), &err, HWTD_E_STATE,
	    "no config");
	/* Pausing is no config. */
	assert_int_equal(hwtdi_hwt_set_config(hwt, true, NULL, 0, 0, NULL),
	    HWTD_OK);
	assert_refused(hwtdi_hwt_start(hwt, &err), &err, HWTD_E_STATE,
	    "no config");
	/* Nor is one that the kernel refused. */
	f->rc[5] = -EFBIG;
	{
		const struct hwtdi_hwt_pt_config c = fake_pt_config();

		assert_refused(hwtdi_hwt_set_config(hwt, false, &c, sizeof(c),
				   0, &err),
		    &err, HWTD_E_INVALID, "72 bytes");
		assert_int_equal(err.sys_errno, EFBIG);
	}
	assert_refused(hwtdi_hwt_start(hwt, &err), &err, HWTD_E_STATE,
	    "no config");
	assert_int_equal(fake_asked(f, HWTDI_HWT_IOC_START), 0);
	f->rc[5] = 0;
	fake_start(hwt);
	assert_int_equal(fake_asked(f, HWTDI_HWT_IOC_START), 1);
	assert_int_equal(hwt->state, HWTDI_HWT_RUNNING);
	hwtdi_hwt_close(hwt);
}

static void
while_it_runs_it_is_neither_started_nor_configured(void **state)
{
	struct fake_system *f = *state;
	const struct hwtdi_hwt_options
	    o = fake_thread_options(HWTDI_BACKEND_PT);
	const struct hwtdi_hwt_pt_config c = fake_pt_config();
	struct hwtdi_hwt *hwt = fake_alloc(f, &o);
	struct hwtd_error err = { .size = sizeof(err) };
	size_t n;

	fake_start(hwt);
	n = f->n_calls;
	assert_refused(hwtdi_hwt_start(hwt, &err), &err, HWTD_E_STATE,
	    "runs already");
	assert_refused(hwtdi_hwt_set_config(hwt, false, &c, sizeof(c), 0,
			   &err),
	    &err, HWTD_E_STATE, "while it runs");
	assert_int_equal(f->n_calls, n);
	hwtdi_hwt_close(hwt);
}

static void
stop_and_serve_are_never_asked_of_backends_without(void **state)
{
	static const enum hwtdi_backend without[] = { HWTDI_BACKEND_PT,
		HWTDI_BACKEND_CORESIGHT };
	struct fake_system *f = *state;

	for (size_t i = 0; i < N(without); i++) {
		struct hwtdi_hwt_options o = fake_thread_options(without[i]);
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtdi_hwt *hwt = fake_alloc(f, &o);

		fake_start(hwt);
		assert_false(hwtdi_hwt_can_stop(hwt));
		assert_refused(hwtdi_hwt_stop(hwt, &err), &err,
		    HWTD_E_UNSUPPORTED, "panic");
		assert_refused(hwtdi_hwt_serve(hwt, 0, 0, &err), &err,
		    HWTD_E_UNSUPPORTED, "panic");
		hwtdi_hwt_close(hwt);
		/* That of 5BSD is known of pt alone. */
		o.kernel = HWTDI_KERNEL_5BSD;
		hwt = fake_alloc(f, &o);
		assert_int_equal(hwtdi_hwt_can_stop(hwt), i == 0);
		hwtdi_hwt_close(hwt);
	}
	assert_int_equal(fake_asked(f, HWTDI_HWT_IOC_STOP), 0);
	assert_int_equal(fake_asked(f, HWTDI_HWT_IOC_SVC_BUF), 0);
}

static void
stop_is_asked_where_it_works_and_once(void **state)
{
	struct fake_system *f = *state;
	const struct hwtdi_hwt_options o = fake_cpu_options(HWTDI_BACKEND_SPE);
	struct hwtdi_hwt *hwt = fake_alloc(f, &o);
	struct hwtd_error err = { .size = sizeof(err) };

	assert_refused(hwtdi_hwt_stop(hwt, &err), &err, HWTD_E_STATE,
	    "does not run");
	fake_start(hwt);
	assert_int_equal(hwtdi_hwt_stop(hwt, NULL), HWTD_OK);
	assert_int_equal(fake_last(f, HWTDI_HWT_IOC_STOP)->request,
	    0x80104202);
	assert_refused(hwtdi_hwt_stop(hwt, &err), &err, HWTD_E_STATE,
	    "does not run");
	assert_int_equal(fake_asked(f, HWTDI_HWT_IOC_STOP), 1);
	/* And on again. */
	fake_start(hwt);
	assert_int_equal(fake_asked(f, HWTDI_HWT_IOC_START), 2);
	hwtdi_hwt_close(hwt);
}

static void
events_of_spe_are_registered_before_it_starts(void **state)
{
	struct fake_system *f = *state;
	const struct hwtdi_hwt_options o = fake_cpu_options(HWTDI_BACKEND_SPE);
	struct hwtdi_hwt *hwt = fake_alloc(f, &o);
	struct hwtd_error err = { .size = sizeof(err) };

	f->kevent_rc = -EBADF;
	assert_refused(hwtdi_hwt_start(hwt, &err), &err, HWTD_E_IO,
	    "event 138");
	assert_int_equal(err.sys_errno, EBADF);
	assert_int_equal(fake_asked(f, HWTDI_HWT_IOC_START), 0);
	f->kevent_rc = 0;
	fake_start(hwt);
	assert_int_equal(f->calls[f->n_calls - 3].what, FAKE_KEVENT_ADD);
	assert_int_equal(f->calls[f->n_calls - 3].fd, 5);
	assert_int_equal(f->calls[f->n_calls - 3].number, 138);
	assert_int_equal(f->calls[f->n_calls - 2].number, 139);
	assert_int_equal(f->calls[f->n_calls - 1].request, 0x80104201);
	hwtdi_hwt_close(hwt);
}

static void
a_position_of_a_cpu_is_not_asked_before_it_starts(void **state)
{
	static const enum hwtdi_backend backends[] = { HWTDI_BACKEND_PT,
		HWTDI_BACKEND_CORESIGHT };
	struct fake_system *f = *state;
	struct hwtdi_hwt_position p;

	for (size_t i = 0; i < N(backends); i++) {
		const struct hwtdi_hwt_options
		    o = fake_cpu_options(backends[i]);
		struct hwtdi_hwt *hwt = fake_alloc(f, &o);
		struct hwtd_error err = { .size = sizeof(err) };

		assert_refused(hwtdi_hwt_position(hwt, hwt->fd, &p, &err),
		    &err, HWTD_E_STATE, "panic");
		assert_int_equal(fake_asked(f, HWTDI_HWT_IOC_BUFPTR_GET), i);
		fake_start(hwt);
		assert_int_equal(hwtdi_hwt_position(hwt, hwt->fd, &p, NULL),
		    HWTD_OK);
		hwtdi_hwt_close(hwt);
	}
	{
		/* What an earlier context left is taken out so. */
		const struct hwtdi_hwt_options
		    o = fake_cpu_options(HWTDI_BACKEND_SPE);
		struct hwtdi_hwt *hwt = fake_alloc(f, &o);

		f->rc[4] = -ENOENT;
		assert_int_equal(hwtdi_hwt_position(hwt, hwt->fd, &p, NULL),
		    HWTD_AGAIN);
		hwtdi_hwt_close(hwt);
	}
}

static void
positions_outside_of_the_buffer_are_doubtful(void **state)
{
	/* The buffer has 256 pages. */
	static const struct {
		enum hwtdi_backend backend;
		bool cpu;
		int32_t ident;
		uint64_t offset;
		bool doubtful;
		uint64_t at;
	} c[] = {
		{ HWTDI_BACKEND_PT, false, 0, 0, false, 0 },
		{ HWTDI_BACKEND_PT, false, 2, 0x123, false, 0x2123 },
		{ HWTDI_BACKEND_PT, false, 255, 4095, false, 0xfffff },
		{ HWTDI_BACKEND_PT, false, 256, 0, false, 0x100000 },
		{ HWTDI_BACKEND_PT, false, 256, 1, true, 0 },
		{ HWTDI_BACKEND_PT, false, -1, 0, true, 0 },
		{ HWTDI_BACKEND_PT, false, 0, 4096, true, 0 },
		{ HWTDI_BACKEND_PT, false, INT32_MAX, 4095, true, 0 },
		{ HWTDI_BACKEND_PT, false, 0, UINT64_MAX, true, 0 },
		{ HWTDI_BACKEND_CORESIGHT, false, 1, 16, false, 0x1010 },
		{ HWTDI_BACKEND_SPE, false, 9, 128 * 4096, false, 0 },
		{ HWTDI_BACKEND_SPE, false, 9, 128 * 4096 + 1, true, 0 },
		{ HWTDI_BACKEND_SPE, false, -2, 64, true, 0 },
		{ HWTDI_BACKEND_SPE, true, 2, 64, false, 0 },
		{ HWTDI_BACKEND_SPE, true, 1, 64, true, 0 },
		{ HWTDI_BACKEND_SPE, true, 99999, 64, true, 0 },
	};
	struct fake_system *f = *state;

	for (size_t i = 0; i < N(c); i++) {
		const struct hwtdi_hwt_options o = c[i].cpu
		    ? fake_cpu_options(c[i].backend)
		    : fake_thread_options(c[i].backend);
		struct hwtdi_hwt *hwt = fake_alloc(f, &o);
		struct hwtdi_hwt_position p;

		print_message("case %zu\n", i);
		f->ptr_ident = c[i].ident;
		f->ptr_offset = c[i].offset;
		f->has_data = c[i].backend == HWTDI_BACKEND_SPE;
		f->ptr_data = 7;
		assert_int_equal(hwtdi_hwt_position(hwt, 21, &p, NULL),
		    HWTD_OK);
		assert_int_equal(fake_last(f, HWTDI_HWT_IOC_BUFPTR_GET)->fd,
		    21);
		assert_int_equal(p.ident, c[i].ident);
		assert_true(p.offset == c[i].offset);
		assert_int_equal(p.data, f->has_data ? 7 : 0);
		assert_int_equal(p.doubtful, c[i].doubtful);
		assert_int_equal(p.at, c[i].at);
		hwtdi_hwt_close(hwt);
	}
}

static void
a_kernel_that_does_nothing_and_says_done_is_found_out(void **state)
{
	struct fake_system *f = *state;
	const struct hwtdi_hwt_options
	    o = fake_thread_options(HWTDI_BACKEND_PT);
	struct hwtdi_hwt *hwt = fake_alloc(f, &o);
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_hwt_position p;
	const uint8_t *entries;
	size_t n;

	f->deaf[3] = f->deaf[4] = true;
	assert_refused(hwtdi_hwt_position(hwt, hwt->fd, &p, &err), &err,
	    HWTD_E_UNSUPPORTED, "HWT_IOC_BUFPTR_GET");
	assert_refused(hwtdi_hwt_records(hwt, 0, &entries, &n, &err), &err,
	    HWTD_E_UNSUPPORTED, "HWT_IOC_RECORD_GET");
	assert_int_equal(n, 0);
	hwtdi_hwt_close(hwt);
}

/* Entries whose last bytes are zeros, numbered by their first word. */
static uint8_t *
make_entries(size_t n, size_t stride)
{
	uint8_t *entries = calloc(n, stride);

	assert_non_null(entries);
	for (size_t i = 0; i < n; i++)
		memcpy(entries + i * stride, &i, sizeof(i));
	return (entries);
}

static void
the_first_entry_tells_how_long_entries_are(void **state)
{
	static const size_t strides[] = { 1056, 1072 };
	struct fake_system *f = *state;

	for (size_t i = 0; i < N(strides); i++) {
		const struct hwtdi_hwt_options
		    o = fake_thread_options(HWTDI_BACKEND_PT);
		struct hwtdi_hwt *hwt = fake_alloc(f, &o);
		uint8_t *made = make_entries(1500, strides[i]);
		const uint8_t *entries = NULL;
		struct hwtdi_hwt_record_get get;
		size_t n, seen = 0;

		/* None: nothing is known. */
		f->stride = strides[i];
		assert_int_equal(hwtdi_hwt_records(hwt, 0, &entries, &n, NULL),
		    HWTD_OK);
		assert_int_equal(n, 0);
		assert_int_equal(hwt->stride, 0);
		f->entries = made;
		f->n_entries = 1500;
		while (hwtdi_hwt_records(hwt, 0, &entries, &n, NULL) ==
			HWTD_OK &&
		    n > 0) {
			assert_int_equal(hwt->stride, strides[i]);
			assert_int_equal(n,
			    seen == 0	    ? 1
				: seen == 1 ? 1024
					    : 475);
			assert_memory_equal(entries, made + seen * strides[i],
			    n * strides[i]);
			seen += n;
		}
		assert_int_equal(seen, 1500);
		memcpy(&get, fake_last(f, HWTDI_HWT_IOC_RECORD_GET)->arg,
		    sizeof(get));
		assert_int_equal(get.wait, 0);
		/* As many as are asked for, but no more than the kernel gives. */
		f->entries = made;
		f->n_entries = 1500;
		assert_int_equal(hwtdi_hwt_records(hwt, 5, &entries, &n, NULL),
		    HWTD_OK);
		assert_int_equal(n, 5);
		assert_int_equal(hwtdi_hwt_records(hwt, 9999, &entries, &n,
				     NULL),
		    HWTD_OK);
		assert_int_equal(n, 1024);
		f->n_entries = 0;
		free(made);
		hwtdi_hwt_close(hwt);
	}
}

static void
entries_of_another_size_are_refused_by_it(void **state)
{
	static const struct {
		size_t stride;
		const char *reason;
	} c[] = {
		{ 1055, "1055 bytes;" },
		{ 1064, "1064 bytes;" },
		{ 1088, "1088 bytes;" },
		{ 8, "8 bytes;" },
		{ 16384, "16384 bytes or more;" },
	};
	struct fake_system *f = *state;

	for (size_t i = 0; i < N(c); i++) {
		const struct hwtdi_hwt_options
		    o = fake_thread_options(HWTDI_BACKEND_PT);
		struct hwtdi_hwt *hwt = fake_alloc(f, &o);
		struct hwtd_error err = { .size = sizeof(err) };
		uint8_t *made = make_entries(1, c[i].stride);
		const uint8_t *entries = NULL;
		size_t n;

		f->entries = made;
		f->stride = c[i].stride;
		f->n_entries = 1;
		assert_refused(hwtdi_hwt_records(hwt, 0, &entries, &n, &err),
		    &err, HWTD_E_UNSUPPORTED, c[i].reason);
		assert_int_equal(n, 0);
		assert_int_equal(hwt->stride, 0);
		free(made);
		hwtdi_hwt_close(hwt);
	}
}

static void
numbers_of_entries_that_cannot_be_are_refused(void **state)
{
	static const int32_t lies[] = { -1, INT32_MIN, 6, INT32_MAX };
	struct fake_system *f = *state;
	const struct hwtdi_hwt_options
	    o = fake_thread_options(HWTDI_BACKEND_PT);
	struct hwtdi_hwt *hwt = fake_alloc(f, &o);
	struct hwtd_error err = { .size = sizeof(err) };
	uint8_t *made = make_entries(2, 1056);
	const uint8_t *entries = NULL;
	size_t n;

	f->lie = true;
	f->stride = 1056;
	f->entries = made;
	/* Of the first: more than one, and none where there is one. */
	f->n_entries = 1;
	f->lie_n = 2;
	assert_refused(hwtdi_hwt_records(hwt, 0, &entries, &n, &err), &err,
	    HWTD_E_CORRUPT, "2 entries");
	f->entries = made;
	f->n_entries = 1;
	f->lie_n = 0;
	assert_refused(hwtdi_hwt_records(hwt, 0, &entries, &n, &err), &err,
	    HWTD_E_CORRUPT, "1056 bytes");
	f->lie = false;
	f->entries = made;
	f->n_entries = 1;
	assert_int_equal(hwtdi_hwt_records(hwt, 0, &entries, &n, NULL),
	    HWTD_OK);
	f->lie = true;
	for (size_t i = 0; i < N(lies); i++) {
		f->lie_n = lies[i];
		assert_refused(hwtdi_hwt_records(hwt, 5, &entries, &n, &err),
		    &err, HWTD_E_CORRUPT, "in room for 5");
		assert_int_equal(n, 0);
	}
	free(made);
	hwtdi_hwt_close(hwt);
}

static void
wakeup_is_for_threads(void **state)
{
	struct fake_system *f = *state;
	struct hwtdi_hwt_options o = fake_cpu_options(HWTDI_BACKEND_PT);
	struct hwtdi_hwt *hwt = fake_alloc(f, &o);
	struct hwtd_error err = { .size = sizeof(err) };

	assert_refused(hwtdi_hwt_wakeup(hwt, hwt->fd, &err), &err,
	    HWTD_E_INVALID, "traces CPUs");
	assert_int_equal(fake_asked(f, HWTDI_HWT_IOC_WAKEUP), 0);
	hwtdi_hwt_close(hwt);
	o = fake_thread_options(HWTDI_BACKEND_PT);
	hwt = fake_alloc(f, &o);
	assert_int_equal(hwtdi_hwt_wakeup(hwt, 33, NULL), HWTD_OK);
	assert_int_equal(fake_last(f, HWTDI_HWT_IOC_WAKEUP)->fd, 33);
	hwtdi_hwt_close(hwt);
}

static void
halves_are_served_while_spe_runs(void **state)
{
	struct fake_system *f = *state;
	struct hwtdi_hwt_options o = fake_cpu_options(HWTDI_BACKEND_SPE);
	struct hwtdi_hwt *hwt = fake_alloc(f, &o);
	static const uint8_t want[8] = { 2, 0, 0, 0, 1, 0, 0, 0 };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_hwt_svc_buf svc;

	assert_refused(hwtdi_hwt_serve(hwt, 2, 1, &err), &err, HWTD_E_STATE,
	    "does not run");
	fake_start(hwt);
	assert_refused(hwtdi_hwt_serve(hwt, 2, 2, &err), &err, HWTD_E_INVALID,
	    "half 2");
	assert_refused(hwtdi_hwt_serve(hwt, 1, 0, &err), &err,
	    HWTD_E_NOT_FOUND, "CPU 1");
	assert_int_equal(fake_asked(f, HWTDI_HWT_IOC_SVC_BUF), 0);
	assert_int_equal(hwtdi_hwt_serve(hwt, 2, 1, NULL), HWTD_OK);
	memcpy(&svc, fake_last(f, HWTDI_HWT_IOC_SVC_BUF)->arg, sizeof(svc));
	assert_int_equal(svc.data_size, 8);
	assert_int_equal(svc.data_version, 1);
	assert_memory_equal(fake_last(f, HWTDI_HWT_IOC_SVC_BUF)->blob, want,
	    8);
	assert_int_equal(hwtdi_hwt_stop(hwt, NULL), HWTD_OK);
	assert_refused(hwtdi_hwt_serve(hwt, 2, 1, &err), &err, HWTD_E_STATE,
	    "does not run");
	hwtdi_hwt_close(hwt);
	/* The kernel takes the index for a CPU: there are 4. */
	o = fake_thread_options(HWTDI_BACKEND_SPE);
	hwt = fake_alloc(f, &o);
	fake_start(hwt);
	assert_int_equal(hwtdi_hwt_serve(hwt, 3, 0, NULL), HWTD_OK);
	assert_refused(hwtdi_hwt_serve(hwt, 4, 0, &err), &err,
	    HWTD_E_UNSUPPORTED, "thread 4");
	assert_int_equal(fake_asked(f, HWTDI_HWT_IOC_SVC_BUF), 2);
	hwtdi_hwt_close(hwt);
}

static void
each_allocation_may_fail(void **state)
{
	struct fake_system *f = *state;
	const struct hwtdi_hwt_options
	    o = fake_thread_options(HWTDI_BACKEND_PT);
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_hwt *hwt = NULL;
	uint8_t *made = make_entries(3, 1056);
	const uint8_t *entries = NULL;
	size_t n;

	failing_allocator_arm(&f->memory, 1, false);
	assert_refused(hwtdi_hwt_alloc(f->library, &f->table, &o, &hwt, &err),
	    &err, HWTD_E_NOMEM, "no memory");
	assert_int_equal(f->n_calls, 0);
	failing_allocator_arm(&f->memory, 0, false);
	hwt = fake_alloc(f, &o);
	f->entries = made;
	f->n_entries = 3;
	f->stride = 1056;
	/* Nothing is taken from the kernel then: it would be lost. */
	failing_allocator_arm(&f->memory, 1, false);
	assert_refused(hwtdi_hwt_records(hwt, 0, &entries, &n, &err), &err,
	    HWTD_E_NOMEM, "no memory");
	assert_int_equal(fake_asked(f, HWTDI_HWT_IOC_RECORD_GET), 0);
	assert_int_equal(hwtdi_hwt_records(hwt, 0, &entries, &n, NULL),
	    HWTD_OK);
	assert_int_equal(n, 1);
	failing_allocator_arm(&f->memory, 1, false);
	assert_refused(hwtdi_hwt_records(hwt, 0, &entries, &n, &err), &err,
	    HWTD_E_NOMEM, "no memory");
	assert_int_equal(fake_asked(f, HWTDI_HWT_IOC_RECORD_GET), 1);
	assert_int_equal(hwtdi_hwt_records(hwt, 0, &entries, &n, NULL),
	    HWTD_OK);
	assert_int_equal(n, 2);
	free(made);
	hwtdi_hwt_close(hwt);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(names_of_backends_are_those_of_the_kernel),
		TEST(
		    alloc_of_a_process_asks_with_its_pid_and_opens_its_first_thread),
		TEST(alloc_of_cpus_asks_with_a_set_and_opens_the_lowest),
		TEST(options_that_no_kernel_bears_are_never_asked),
		TEST(large_buffers_of_pt_need_a_kernel_or_a_caller_who_knows),
		TEST(a_context_that_cannot_be_one_is_refused),
		TEST(nodes_are_those_of_threads_or_of_traced_cpus),
		TEST(pt_without_a_config_is_never_started),
		TEST(while_it_runs_it_is_neither_started_nor_configured),
		TEST(stop_and_serve_are_never_asked_of_backends_without),
		TEST(stop_is_asked_where_it_works_and_once),
		TEST(events_of_spe_are_registered_before_it_starts),
		TEST(a_position_of_a_cpu_is_not_asked_before_it_starts),
		TEST(positions_outside_of_the_buffer_are_doubtful),
		TEST(a_kernel_that_does_nothing_and_says_done_is_found_out),
		TEST(the_first_entry_tells_how_long_entries_are),
		TEST(entries_of_another_size_are_refused_by_it),
		TEST(numbers_of_entries_that_cannot_be_are_refused),
		TEST(wakeup_is_for_threads),
		TEST(halves_are_served_while_spe_runs),
		TEST(each_allocation_may_fail),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
