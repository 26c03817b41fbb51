/*
 * What each errno of hwt(4) becomes: a code, the errno, a cause and what to do.
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

static void
assert_told(int rc, const struct hwtd_error *err, int e, int want,
    const char *reason)
{
	assert_int_equal(rc, want);
	assert_int_equal(err->code, want);
	assert_int_equal(err->sys_errno, e);
	if (strstr(err->message, reason) == NULL)
		fail_msg("\"%s\" in \"%s\"", reason, err->message);
	assert_true(strlen(err->message) < sizeof(err->message) - 1);
	assert_null(strchr(err->message, '\n'));
}

static int
alloc_of(struct fake_system *f, const struct hwtdi_hwt_options *o,
    struct hwtd_error *err)
{
	struct hwtdi_hwt *hwt = NULL;
	const int rc = hwtdi_hwt_alloc(f->library, &f->table, o, &hwt, err);

	assert_null(hwt);
	return (rc);
}

static void
without_the_device_it_says_what_to_load(void **state)
{
	static const struct {
		int e, want;
		const char *reason;
	} c[] = {
		{ ENOENT, HWTD_E_UNSUPPORTED, "kldload hwt" },
		{ ENOENT, HWTD_E_UNSUPPORTED, "HWT_HOOKS" },
		{ ENOSYS, HWTD_E_UNSUPPORTED, "FreeBSD 15" },
		{ EACCES, HWTD_E_IO, "root:wheel 0660" },
		{ EPERM, HWTD_E_IO, "root:wheel 0660" },
		{ EMFILE, HWTD_E_IO, "cannot open /dev/hwt" },
	};
	struct fake_system *f = *state;
	const struct hwtdi_hwt_options
	    o = fake_thread_options(HWTDI_BACKEND_PT);

	for (size_t i = 0; i < N(c); i++) {
		struct hwtd_error err = { .size = sizeof(err) };

		f->device_rc = -c[i].e;
		assert_told(alloc_of(f, &o, &err), &err, c[i].e, c[i].want,
		    c[i].reason);
		/* No struct, or one of an older caller, is fine too. */
		assert_int_equal(alloc_of(f, &o, NULL), c[i].want);
		err.size = 8;
		err.sys_errno = -5;
		assert_int_equal(alloc_of(f, &o, &err), c[i].want);
		assert_int_equal(err.sys_errno, -5);
	}
	assert_int_equal(fake_asked(f, HWTDI_HWT_IOC_ALLOC), 0);
}

/* Source: hwt(4), and the order of checks of its ALLOC. */
static void
alloc_says_why_not(void **state)
{
	static const struct {
		enum hwtdi_backend backend;
		bool cpu;
		int e, want;
		const char *reason;
	} c[] = {
		{ HWTDI_BACKEND_SPE, true, EINVAL, HWTD_E_INVALID,
		    "PMBIDR.Align" },
		{ HWTDI_BACKEND_PT, false, EINVAL, HWTD_E_INVALID,
		    "1048576 bytes" },
		{ HWTDI_BACKEND_PT, false, ENODEV, HWTD_E_UNSUPPORTED,
		    "intel_pt" },
		{ HWTDI_BACKEND_SPE, true, ENODEV, HWTD_E_UNSUPPORTED,
		    "kldload spe" },
		{ HWTDI_BACKEND_CORESIGHT, true, ENODEV, HWTD_E_UNSUPPORTED,
		    "CheriBSD" },
		{ HWTDI_BACKEND_PT, false, ENXIO, HWTD_E_NOT_FOUND,
		    "no process 77" },
		{ HWTDI_BACKEND_PT, true, ENXIO, HWTD_E_UNSUPPORTED,
		    "CPU mode" },
		{ HWTDI_BACKEND_PT, false, EPERM, HWTD_E_IO, "process 77" },
		{ HWTDI_BACKEND_PT, false, EPERM, HWTD_E_IO, "also for root" },
		{ HWTDI_BACKEND_PT, false, EEXIST, HWTD_E_STATE,
		    "traced already" },
		{ HWTDI_BACKEND_PT, false, ENOMEM, HWTD_E_LIMIT,
		    "256 contexts" },
		{ HWTDI_BACKEND_SPE, false, ENOTSUP, HWTD_E_UNSUPPORTED,
		    "trace CPUs" },
		{ HWTDI_BACKEND_CORESIGHT, false, EINTR, HWTD_E_STATE,
		    "another context of coresight" },
#ifdef ERESTART
		{ HWTDI_BACKEND_CORESIGHT, true, ERESTART, HWTD_E_STATE,
		    "for ever" },
#endif
		{ HWTDI_BACKEND_PT, false, EINTR, HWTD_E_IO,
		    "end this process" },
		{ HWTDI_BACKEND_PT, false, EFAULT, HWTD_E_IO,
		    "cannot trace with pt" },
		{ HWTDI_BACKEND_PT, false, ENAMETOOLONG, HWTD_E_IO,
		    "cannot trace with pt" },
	};
	struct fake_system *f = *state;

	for (size_t i = 0; i < N(c); i++) {
		const struct hwtdi_hwt_options o = c[i].cpu
		    ? fake_cpu_options(c[i].backend)
		    : fake_thread_options(c[i].backend);
		struct hwtd_error err = { .size = sizeof(err) };

		print_message("case %s\n", c[i].reason);
		/* The number that was written before is no context. */
		f->rc[0] = -c[i].e;
		assert_told(alloc_of(f, &o, &err), &err, c[i].e, c[i].want,
		    c[i].reason);
		/* It may have had an effect, so it is asked once. */
		assert_int_equal(fake_asked(f, HWTDI_HWT_IOC_ALLOC), i + 1);
		assert_string_equal(fake_last_open(f)->path, "/dev/hwt");
	}
}

static void
nodes_say_why_not(void **state)
{
	static const struct {
		int e, want;
		const char *reason;
	} c[] = {
		{ ENOENT, HWTD_E_NOT_FOUND, "no /dev/hwt_3_9" },
		{ EACCES, HWTD_E_IO, "hwt_3_9: it is root:wheel 0660" },
		{ EPERM, HWTD_E_IO, "root:wheel 0660" },
		{ ENFILE, HWTD_E_IO, "cannot open /dev/hwt_3_9" },
	};
	struct fake_system *f = *state;
	const struct hwtdi_hwt_options
	    o = fake_thread_options(HWTDI_BACKEND_PT);
	const struct hwtdi_hwt_options
	    cpus = fake_cpu_options(HWTDI_BACKEND_PT);
	struct hwtdi_hwt *hwt = fake_alloc(f, &o);
	struct hwtd_error err = { .size = sizeof(err) };
	const void *buffer = NULL;
	int fd = -1;

	for (size_t i = 0; i < N(c); i++) {
		f->node_rc = -c[i].e;
		assert_told(hwtdi_hwt_open_node(hwt, 9, &fd, &err), &err,
		    c[i].e, c[i].want, c[i].reason);
		assert_int_equal(fd, -1);
	}
	f->mmap_rc = -ENXIO;
	assert_told(hwtdi_hwt_map_node(hwt, 1, &buffer, &err), &err, ENXIO,
	    HWTD_E_IO, "1048576 bytes");
	f->mmap_rc = -ENOMEM;
	assert_told(hwtdi_hwt_map_node(hwt, 1, &buffer, &err), &err, ENOMEM,
	    HWTD_E_NOMEM, "no room");
	f->mmap_rc = -EBADF;
	assert_told(hwtdi_hwt_map_node(hwt, 1, &buffer, &err), &err, EBADF,
	    HWTD_E_IO, "cannot map");
	assert_null(buffer);
	hwtdi_hwt_close(hwt);
	/* A context without its first node is none. */
	f->node_rc = -ENOENT;
	assert_told(alloc_of(f, &o, &err), &err, ENOENT, HWTD_E_NOT_FOUND,
	    "no such thread");
	assert_told(alloc_of(f, &cpus, &err), &err, ENOENT, HWTD_E_NOT_FOUND,
	    "no such CPU");
}

static int
call(struct hwtdi_hwt *hwt, size_t nr, struct hwtd_error *err)
{
	const struct hwtdi_hwt_spe_config config = fake_spe_config();
	struct hwtdi_hwt_position position;
	const uint8_t *entries = NULL;
	size_t n;

	switch (nr) {
	case 1:
		return (hwtdi_hwt_start(hwt, err));
	case 2:
		return (hwtdi_hwt_stop(hwt, err));
	case 3:
		return (hwtdi_hwt_records(hwt, 0, &entries, &n, err));
	case 4:
		return (hwtdi_hwt_position(hwt, hwt->fd, &position, err));
	case 5:
		return (hwtdi_hwt_set_config(hwt, true, &config,
		    sizeof(config), 1, err));
	case 6:
		return (hwtdi_hwt_wakeup(hwt, hwt->fd, err));
	default:
		return (hwtdi_hwt_serve(hwt, 0, 0, err));
	}
}

static const char *const names[] = { "HWT_IOC_ALLOC", "HWT_IOC_START",
	"HWT_IOC_STOP", "HWT_IOC_RECORD_GET", "HWT_IOC_BUFPTR_GET",
	"HWT_IOC_SET_CONFIG", "HWT_IOC_WAKEUP", "HWT_IOC_SVC_BUF" };

static void
ioctls_of_nodes_say_why_not(void **state)
{
	static const struct {
		int e, want;
		const char *reason;
	} common[] = {
		{ ENXIO, HWTD_E_STATE, "not its children" },
		{ EPERM, HWTD_E_IO, "of another process" },
		{ EFAULT, HWTD_E_IO, "memory of this process" },
		{ EIO, HWTD_E_IO, ": " },
	};
	static const struct {
		size_t nr;
		int e, want;
		const char *reason;
	} own[] = {
		{ 3, EFAULT, HWTD_E_IO, "1 entries, and they are lost" },
		{ 5, EFBIG, HWTD_E_INVALID, "12 bytes are too many" },
		{ 7, ENXIO, HWTD_E_STATE, "was stopped" },
		{ 7, ENOENT, HWTD_E_NOT_FOUND, "no thread 0" },
		{ 7, E2BIG, HWTD_E_UNSUPPORTED, "refuses half" },
		{ 7, EINVAL, HWTD_E_UNSUPPORTED, "refuses half" },
	};
	struct fake_system *f = *state;
	const struct hwtdi_hwt_options
	    o = fake_thread_options(HWTDI_BACKEND_SPE);
	struct hwtdi_hwt *hwt = fake_alloc(f, &o);
	struct hwtd_error err = { .size = sizeof(err) };

	for (size_t nr = 1; nr < 8; nr++)
		for (size_t i = 0; i < N(common); i++) {
			const bool run = nr == 2 || nr == 7;

			if ((nr == 3 && common[i].e == EFAULT) ||
			    (nr == 7 && common[i].e == ENXIO))
				continue;
			print_message("%s, errno %d\n", names[nr],
			    common[i].e);
			if (run)
				fake_start(hwt);
			f->rc[nr] = -common[i].e;
			assert_told(call(hwt, nr, &err), &err, common[i].e,
			    common[i].want, common[i].reason);
			assert_memory_equal(err.message, names[nr],
			    strlen(names[nr]));
			/* Nothing changed. */
			assert_int_equal(hwt->state,
			    run ? HWTDI_HWT_RUNNING : HWTDI_HWT_STOPPED);
			f->rc[nr] = 0;
			if (run)
				assert_int_equal(hwtdi_hwt_stop(hwt, NULL),
				    HWTD_OK);
		}
	fake_start(hwt);
	for (size_t i = 0; i < N(own); i++) {
		if (own[i].nr == 5 && hwt->state == HWTDI_HWT_RUNNING)
			assert_int_equal(hwtdi_hwt_stop(hwt, NULL), HWTD_OK);
		if (own[i].nr == 7 && hwt->state == HWTDI_HWT_STOPPED)
			fake_start(hwt);
		f->rc[own[i].nr] = -own[i].e;
		assert_told(call(hwt, own[i].nr, &err), &err, own[i].e,
		    own[i].want, own[i].reason);
		f->rc[own[i].nr] = 0;
	}
	hwtdi_hwt_close(hwt);
}

static void
coresight_says_where_its_sink_does_not_write(void **state)
{
	struct fake_system *f = *state;
	const struct hwtdi_hwt_options
	    o = fake_thread_options(HWTDI_BACKEND_CORESIGHT);
	struct hwtdi_hwt *hwt = fake_alloc(f, &o);
	struct hwtd_error err = { .size = sizeof(err) };

	f->rc[4] = -ENOENT;
	assert_told(call(hwt, 4, &err), &err, ENOENT, HWTD_E_NOT_FOUND,
	    "the sink does not write");
	hwtdi_hwt_close(hwt);
}

/* Those that change the state are asked once, the others again. */
static void
signals_are_borne_where_nothing_was_done(void **state)
{
	static const bool
	    again[8] = { [3] = true, [4] = true, [5] = true, [6] = true };
	struct fake_system *f = *state;
	const struct hwtdi_hwt_options
	    o = fake_thread_options(HWTDI_BACKEND_SPE);
	struct hwtdi_hwt *hwt;
	int fd = -1;

	f->open_signals = 5;
	hwt = fake_alloc(f, &o);
	for (size_t nr = 1; nr < 8; nr++) {
		struct hwtd_error err = { .size = sizeof(err) };
		const unsigned long request = 0x80004200UL | nr |
		    (nr == 1 || nr == 2 || nr == 6 ? 16UL : 32UL) << 16;
		const size_t before = fake_asked(f, request);

		print_message("%s\n", names[nr]);
		if (nr == 2 || nr == 7)
			fake_start(hwt);
		f->signals[nr] = 3;
		if (again[nr])
			assert_int_equal(call(hwt, nr, &err), HWTD_OK);
		else
			assert_told(call(hwt, nr, &err), &err, EINTR,
			    HWTD_E_IO, "was interrupted");
		assert_int_equal(fake_asked(f, request) - before,
		    again[nr] ? 4 : 1);
		f->signals[nr] = 0;
		if (nr == 2)
			assert_int_equal(hwtdi_hwt_stop(hwt, NULL), HWTD_OK);
	}
	/* And not for ever. */
	f->signals[3] = INT32_MAX;
	assert_int_equal(call(hwt, 3, NULL), HWTD_E_IO);
	f->open_signals = INT32_MAX;
	assert_int_equal(hwtdi_hwt_open_node(hwt, 1, &fd, NULL), HWTD_E_IO);
	hwtdi_hwt_close(hwt);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_the_device_it_says_what_to_load),
		TEST(alloc_says_why_not),
		TEST(nodes_say_why_not),
		TEST(ioctls_of_nodes_say_why_not),
		TEST(coresight_says_where_its_sink_does_not_write),
		TEST(signals_are_borne_where_nothing_was_done),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
