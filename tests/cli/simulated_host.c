/*
 * The system of a tool that is run on a simulated kernel, which the file that
 * HWTDECODE_SIM_SCRIPT names describes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "simkernel/sim_script.h"

/* A test that sees this exit status has found a mistake of the capture code. */
#define STATUS_PANIC 98

static struct sim_kernel *kernel;

/* The process that reads the file lives on without the kernel. */
static int
fork_aside(void *state)
{
	const int pid = sim_system(kernel)->fork(state);

	if (pid <= 0)
		return (pid);
	sim_step_aside(kernel);
	return (sim_host_pid(kernel, pid));
}

static void
look_for_panics(void)
{
	for (size_t i = 0; i < sim_panics(kernel); i++)
		fprintf(stderr, "simulated panic: %s\n", sim_panic(kernel, i));
	for (size_t i = 0; i < sim_hangs(kernel); i++)
		fprintf(stderr, "simulated hang: %s\n", sim_hang(kernel, i));
	if (sim_panics(kernel) > 0 || sim_hangs(kernel) > 0)
		_exit(STATUS_PANIC);
}

const struct hwtdi_system *
hwtdi_system_host(void)
{
	static struct hwtdi_system host;
	const char *path = getenv("HWTDECODE_SIM_SCRIPT");

	if (kernel != NULL)
		return (&host);
	if (path == NULL) {
		fprintf(stderr, "HWTDECODE_SIM_SCRIPT names no file\n");
		exit(STATUS_PANIC);
	}
	kernel = sim_script_read(path);
	host = *sim_system(kernel);
	host.fork = fork_aside;
	(void)atexit(look_for_panics);
	return (&host);
}
