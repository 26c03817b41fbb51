/*
 * Single-steps a program with ptrace(2).  Linux on x86-64 only.
 */
#define _GNU_SOURCE
#include "tracee.h"

#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <err.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STILL_THERE SIZE_MAX

static void *
grow(void *array, size_t bytes)
{
	array = realloc(array, bytes);
	if (array == NULL)
		err(1, "%zu bytes", bytes);
	return (array);
}

static pid_t
start(char *const argv[])
{
	char *const environment[] = { NULL };
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid == 0) {
		/* The same addresses every time. */
		if (personality(ADDR_NO_RANDOMIZE) < 0 ||
		    ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
			err(126, "trace %s", argv[0]);
		execve(argv[0], argv, environment);
		err(127, "%s", argv[0]);
	}
	return (pid);
}

static void
read_memory(pid_t pid, struct code_range *range)
{
	char path[64];
	size_t size = (size_t)(range->end - range->start);
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	range->bytes = grow(NULL, size);
	file = fopen(path, "rb");
	if (file == NULL || fseeko(file, (off_t)range->start, SEEK_SET) != 0 ||
	    fread(range->bytes, 1, size, file) != size)
		err(1, "memory at %#" PRIx64, range->start);
	fclose(file);
}

/* Compare the executable mappings with what is known; `from` is now. */
static void
update_ranges(struct run *run, pid_t pid, size_t from)
{
	char path[64], line[512], perms[8];
	bool *seen;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "r");
	if (file == NULL)
		err(1, "%s", path);
	seen = calloc(run->n_ranges + 1, sizeof(*seen));
	if (seen == NULL)
		err(1, "ranges");
	const size_t known = run->n_ranges;
	while (fgets(line, sizeof(line), file) != NULL) {
		uint64_t start, end, off;
		char name[256] = "";
		size_t i;

		if (sscanf(line,
			"%" SCNx64 "-%" SCNx64 " %7s %" SCNx64
			" %*s %*s %255[^\n]",
			&start, &end, perms, &off, name) < 4 ||
		    perms[2] != 'x' || perms[0] != 'r')
			continue;
		for (i = 0; i < known; i++) {
			const struct code_range *r = &run->ranges[i];

			if (r->until == STILL_THERE && r->start == start &&
			    r->end == end)
				break;
		}
		if (i < known) {
			seen[i] = true;
			continue;
		}
		run->ranges = grow(run->ranges,
		    (run->n_ranges + 1) * sizeof(*run->ranges));
		run->ranges[run->n_ranges] = (struct code_range){
			.start = start,
			.end = end,
			.file_off = off,
			.from = from,
			.until = STILL_THERE
		};
		strcpy(run->ranges[run->n_ranges].path, name);
		read_memory(pid, &run->ranges[run->n_ranges++]);
	}
	for (size_t i = 0; i < known; i++)
		if (!seen[i] && run->ranges[i].until == STILL_THERE)
			run->ranges[i].until = from;
	free(seen);
	fclose(file);
}

static bool
changes_mappings(uint64_t number)
{
	return (number == SYS_mmap || number == SYS_munmap ||
	    number == SYS_mprotect || number == SYS_mremap);
}

bool
run_code(const struct run *run, size_t at, uint64_t ip, uint8_t code[INSN_MAX])
{
	memset(code, 0, INSN_MAX);
	/* The youngest mapping hides older ones. */
	for (size_t i = run->n_ranges; i-- > 0;) {
		struct code_range *r = &run->ranges[i];
		size_t n;

		if (ip < r->start || ip >= r->end || at < r->from ||
		    at >= r->until)
			continue;
		n = (size_t)(r->end - ip);
		memcpy(code, r->bytes + (ip - r->start),
		    n < INSN_MAX ? n : INSN_MAX);
		r->executed = true;
		return (true);
	}
	return (false);
}

static void
append(struct run *run, uint64_t ip)
{
	if (run->n == run->cap) {
		run->cap = run->cap == 0 ? 65536 : 2 * run->cap;
		run->ips = grow(run->ips, run->cap * sizeof(*run->ips));
	}
	run->ips[run->n++] = ip;
}

static bool
step(pid_t pid)
{
	int status;

	if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) != 0)
		err(1, "single step");
	if (waitpid(pid, &status, 0) != pid)
		err(1, "wait");
	if (WIFEXITED(status))
		return (false);
	if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
		errx(1, "the program got a signal; that is not modelled");
	return (true);
}

void
tracee_run(struct run *run, char *const argv[], size_t limit)
{
	struct user_regs_struct regs;
	pid_t pid = start(argv);
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		errx(1, "cannot run %s", argv[0]);
	update_ranges(run, pid, 0);
	for (;;) {
		uint8_t code[INSN_MAX];
		struct insn_class c;

		if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) != 0)
			err(1, "registers");
		if (!run_code(run, run->n, regs.rip, code))
			errx(1, "no code at %#llx", regs.rip);
		c = insn_classify(regs.rip, code);
		/* One iteration of a string instruction is no instruction. */
		if (!c.repeats || run->n == 0 ||
		    run->ips[run->n - 1] != regs.rip)
			append(run, regs.rip);
		if (c.kind == INSN_SYSCALL) {
			run->syscalls = grow(run->syscalls,
			    (run->n_syscalls + 1) * sizeof(*run->syscalls));
			run->syscalls[run->n_syscalls++] = (uint32_t)regs.rax;
		}
		if (run->n >= limit) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return;
		}
		if (!step(pid))
			return;
		if (c.kind == INSN_SYSCALL && changes_mappings(regs.rax))
			update_ranges(run, pid, run->n);
	}
}
