/*
 * The system calls of a capture, as a table: on FreeBSD its kernel stands behind
 * it, elsewhere nobody does, and in tests a simulated kernel.
 *
 * All calls take `state` first, and return 0 or more, or -errno with the numbers
 * of the machine that this is compiled for.  Nothing else of src/capture talks
 * to the system, except for the file that is written.
 */
#ifndef HWTDI_SYSTEM_H
#define HWTDI_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What of kevent(2) is used: EVFILT_USER only. */
struct hwtdi_kevent {
	uint64_t ident;
	/* What NOTE_TRIGGER came with. */
	int64_t data;
};

/* A program to start. */
struct hwtdi_spawn {
	/* Looked for in PATH if it has no slash. */
	const char *path;
	/* Ends with NULL, as of execvp(3). */
	const char *const *argv;
};

/* How a process ended, or that it did not yet. */
struct hwtdi_exit {
	bool ended;
	/* Exit status, and signal; of a process that is no child: both 0. */
	int status;
	int signal;
	/*
	 * Of a child: times that its threads were switched out, all together, but
	 * for the last time of each.
	 */
	bool switches_known;
	uint64_t switches;
};

struct hwtdi_credentials {
	uint32_t euid;
	uint32_t ruid;
	uint32_t svuid;
	uint32_t rgid;
	uint32_t svgid;
	/* Effective and supplementary groups. */
	uint32_t n_groups;
	uint32_t groups[1024];
};

#define HWTDI_WMESG_ROOM 9
#define HWTDI_COMM_ROOM 20

/* A thread of a process, in the order in which the kernel has them. */
struct hwtdi_thread {
	uint32_t tid;
	/* What it sleeps on; "hwt-mmap": a mapping that is to be looked at. */
	char wmesg[HWTDI_WMESG_ROOM];
	char name[HWTDI_COMM_ROOM];
	/* Times that it was switched out, and whether a CPU runs it now. */
	uint64_t switches;
	bool running;
};

#define HWTDI_PROT_READ 0x1
#define HWTDI_PROT_WRITE 0x2
#define HWTDI_PROT_EXEC 0x4

/* A piece of the address space of a process. */
struct hwtdi_vm_entry {
	uint64_t start;
	uint64_t end;
	uint64_t file_off;
	/* HWTDI_PROT_* bits */
	uint32_t prot;
	/* "": of no file */
	char path[1024];
};

/* A file of the kernel: itself, or a module. */
struct hwtdi_module {
	uint64_t addr;
	uint64_t len;
	char name[256];
	/* "": not known */
	char path[1024];
};

struct hwtdi_system {
	void *state;

	/* For reading; closed on exec. */
	int (*open)(void *state, const char *path);
	int (*close)(void *state, int fd);
	int (*ioctl)(void *state, int fd, unsigned long request, void *arg);
	/* Shared, to be read, from 0 on. */
	int (*mmap)(void *state, int fd, size_t length, const void **out);
	int (*munmap)(void *state, const void *address, size_t length);

	int (*kqueue)(void *state);
	/* Register an EVFILT_USER event with EV_ADD | EV_CLEAR. */
	int (*kevent_add)(void *state, int kq, uint64_t ident);
	/* Wait at most `ns` (0: not at all); returns how many came. */
	int (*kevent_wait)(void *state, int kq, struct hwtdi_kevent *events,
	    int room, uint64_t ns);

	/*
	 * Fork a child that waits until `gate` is released and then runs the
	 * program.  A child that cannot run it ends with status 127.
	 */
	int (*spawn)(void *state, const struct hwtdi_spawn *what, pid_t *pid,
	    int *gate);
	/* Let it run, or (with run false) end without having run. */
	int (*release)(void *state, int gate, bool run);
	/* Never waits.  ESRCH: no such process. */
	int (*ended)(void *state, pid_t pid, struct hwtdi_exit *out);
	int (*kill)(void *state, pid_t pid, int sig);
	/* fork(2), for the process that owns a capture: 0 in the child. */
	int (*fork)(void *state);

	/* sysctlbyname(3).  *size: room, then the size of the value. */
	int (*sysctl)(void *state, const char *name, void *out, size_t *size);
	/*
	 * Lists: each call writes what there is to out[0..room) and tells in
	 * *n how many there are, which may be more.
	 */
	int (*threads)(void *state, pid_t pid, struct hwtdi_thread *out,
	    size_t room, size_t *n);
	int (*mappings)(void *state, pid_t pid, struct hwtdi_vm_entry *out,
	    size_t room, size_t *n);
	int (*modules)(void *state, struct hwtdi_module *out, size_t room,
	    size_t *n);
	/* pid 0: the caller. */
	int (*credentials)(void *state, pid_t pid,
	    struct hwtdi_credentials *out);
	/* x86 only, else -ENOTSUP; out: eax, ebx, ecx, edx. */
	int (*cpuid)(void *state, uint32_t leaf, uint32_t subleaf,
	    uint32_t out[4]);

	/*
	 * The counter that hardware takes its times from, in the same moment as
	 * now(), and how often it counts in a second (0: not known).
	 */
	int (*counter)(void *state, uint64_t *count, uint64_t *frequency);

	/* ns of CLOCK_MONOTONIC, and of CLOCK_REALTIME. */
	uint64_t (*now)(void *state);
	uint64_t (*real_time)(void *state);
	void (*sleep)(void *state, uint64_t ns);
};

/*
 * The kernel that this runs on.  Where it has no hwt(4) every call fails with
 * ENOSYS.
 */
const struct hwtdi_system *hwtdi_system_host(void);

#endif /* HWTDI_SYSTEM_H */
