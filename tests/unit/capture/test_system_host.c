/*
 * The system calls of a capture on the machine that this runs on.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/hwt_abi.h"
#include "capture/system.h"

static void
every_call_is_there(void **state)
{
	const struct hwtdi_system *s = hwtdi_system_host();

	(void)state;
	assert_non_null(s);
	assert_true(s->open && s->close && s->ioctl && s->mmap && s->munmap);
	assert_true(s->kqueue && s->kevent_add && s->kevent_wait);
	assert_true(s->spawn && s->release && s->ended && s->kill && s->fork);
	assert_true(s->sysctl && s->threads && s->mappings && s->modules);
	assert_true(s->credentials && s->cpuid && s->counter);
	assert_true(s->now && s->real_time && s->sleep);
}

#ifndef __FreeBSD__

static void
without_hwt_every_call_fails(void **state)
{
	static const char name[] = "true";
	static const char *const argv[] = { name, NULL };
	const struct hwtdi_spawn what = { .path = name, .argv = argv };
	const struct hwtdi_system *s = hwtdi_system_host();
	struct hwtdi_credentials credentials;
	struct hwtdi_kevent event;
	struct hwtdi_exit how;
	const void *at;
	uint32_t regs[4];
	char text[16];
	size_t n = sizeof(text);
	pid_t pid = getpid();
	int gate;

	(void)state;
	assert_int_equal(s->open(s->state, HWTDI_HWT_DEVICE), -ENOSYS);
	assert_int_equal(s->close(s->state, STDIN_FILENO), -ENOSYS);
	assert_int_equal(s->ioctl(s->state, 0, HWTDI_HWT_IOC_START, text),
	    -ENOSYS);
	assert_int_equal(s->mmap(s->state, 0, 1, &at), -ENOSYS);
	assert_int_equal(s->munmap(s->state, text, 1), -ENOSYS);
	assert_int_equal(s->kqueue(s->state), -ENOSYS);
	assert_int_equal(s->kevent_add(s->state, 0, 1), -ENOSYS);
	assert_int_equal(s->kevent_wait(s->state, 0, &event, 1, 0), -ENOSYS);
	assert_int_equal(s->spawn(s->state, &what, &pid, &gate), -ENOSYS);
	assert_int_equal(s->release(s->state, 0, false), -ENOSYS);
	assert_int_equal(s->ended(s->state, pid, &how), -ENOSYS);
	assert_int_equal(s->fork(s->state), -ENOSYS);
	assert_int_equal(s->sysctl(s->state, "kern.osreldate", text, &n),
	    -ENOSYS);
	assert_int_equal(s->threads(s->state, pid, NULL, 0, &n), -ENOSYS);
	assert_int_equal(s->mappings(s->state, pid, NULL, 0, &n), -ENOSYS);
	assert_int_equal(s->modules(s->state, NULL, 0, &n), -ENOSYS);
	assert_int_equal(s->credentials(s->state, 0, &credentials), -ENOSYS);
	assert_int_equal(s->cpuid(s->state, 0, 0, regs), -ENOSYS);
}

/* This test would not be there afterwards. */
static void
without_hwt_nobody_is_killed(void **state)
{
	const struct hwtdi_system *s = hwtdi_system_host();

	(void)state;
	assert_int_equal(s->kill(s->state, getpid(), SIGKILL), -ENOSYS);
}

#endif /* !__FreeBSD__ */

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_is_there),
#ifndef __FreeBSD__
		cmocka_unit_test(without_hwt_every_call_fails),
		cmocka_unit_test(without_hwt_nobody_is_killed),
#endif
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
