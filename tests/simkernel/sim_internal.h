/*
 * What the parts of the simulated kernel know of one another.
 */
#ifndef HWTDECODE_TESTS_SIM_INTERNAL_H
#define HWTDECODE_TESTS_SIM_INTERNAL_H

#include <pthread.h>

#include "capture/hwt_abi.h"
#include "simkernel.h"

#define SIM_PAGE 4096U
/* Descriptors and the like are far from those of the host. */
#define SIM_FIRST_FD 1000
#define SIM_FIRST_PID 100
#define SIM_FIRST_TID 100100U
#define SIM_NEVER UINT64_MAX
#define SIM_MAX_CPUS 64U

struct sim_vec {
	void *p;
	size_t n;
	size_t room;
};

#define SIM_AT(vec, type, i) (((type *)(vec)->p)[i])

/* What ended a wait; SIM_FOREVER: nothing ever would. */
enum sim_waited {
	SIM_CAME,
	SIM_TIMED_OUT,
	SIM_INTERRUPTED,
	SIM_FOREVER
};

struct sim_thread;
struct sim_process;
struct sim_context;
struct sim_kqueue;
struct sim_backend;

/* A buffer, with its node: hwt_thread or hwt_cpu of the kernel. */
struct sim_unit {
	struct sim_context *ctx;
	int id;
	/* NULL: of a CPU */
	struct sim_thread *thread;
	uint64_t bufsize;
	/* In the file behind the arena. */
	uint64_t file_off;
	bool gone;

	/* Where the hardware writes; what the kernel last saw of that. */
	uint64_t pos;
	uint64_t told;
	bool told_by_pmi;
	bool tracing;
	unsigned cpu;

	/* SPE: which half is written, bytes in it, which await service. */
	unsigned half;
	uint64_t half_n;
	bool full[2];
	bool disabled;
	bool partial;

	/* What was written. */
	uint32_t tid;
	struct sim_vec bytes;
	struct sim_vec fates;
	struct sim_vec writes;
	struct sim_vec slices;
	/* The write that was looked for last. */
	size_t found;
	/* Per byte of the buffer: 1 + index into bytes. */
	uint32_t *last;
	uint64_t last_room;
};

/* Bytes of a buffer from `offset` on were written during this call. */
struct sim_write {
	size_t offset;
	uint64_t epoch;
};

struct sim_record {
	uint32_t type;
	const char *path;
	uint64_t addr;
	uint64_t baseaddr;
	int64_t pgoff;
	uint64_t len;
	int id;
	int curpage;
	uint64_t offset;
};

struct sim_context {
	int ident;
	int mode;
	const struct sim_backend *backend;
	/* pid of the owner, and descriptor of its kqueue */
	pid_t owner;
	int kqueue_fd;
	struct sim_process *process;
	uint64_t bufsize;
	uint64_t cpus;
	bool running;
	bool dead;
	bool pause_on_mmap;
	uint8_t config[SIM_PAGE];
	size_t config_size;
	int config_version;
	struct sim_vec units;
	int next_id;
	/* Records, from `taken` on. */
	struct sim_vec records;
	size_t taken;
	/* A thread that failed holds it for ever. */
	bool leaked;
	bool was_started;
	/* Who waits for a record misses the next one. */
	bool loses_wakeup;
	/* SPE switched itself off. */
	bool aborted;
	/* PT: bits of a config stay on once they were. */
	uint64_t pt_bits;
};

/* Driver of a trace unit. */
struct sim_backend {
	const char *name;
	unsigned bit;
	/* Bytes that are not cut; 0: any may be. */
	size_t granule;
	/* Of ALLOC: 0 or -errno. */
	int (*init)(struct sim_kernel *k, struct sim_context *ctx);
	void (*deinit)(struct sim_kernel *k, struct sim_context *ctx);
	/* Of START: false if the kernel would panic.  NULL: it would not. */
	bool (*start_check)(struct sim_kernel *k, struct sim_context *ctx);
	/* Of START in CPU mode, for all CPUs. */
	void (*start)(struct sim_kernel *k, struct sim_context *ctx);
	/* NULL: the kernel calls through a null pointer. */
	int (*stop)(struct sim_kernel *k, struct sim_context *ctx);
	int (*svc_buf)(struct sim_kernel *k, struct sim_context *ctx,
	    const void *data, size_t size, int version);
	/* A thread comes to a CPU, or leaves it. */
	void (*enable)(struct sim_kernel *k, struct sim_unit *u, unsigned cpu);
	void (*disable)(struct sim_kernel *k, struct sim_unit *u);
	/* Of BUFPTR_GET: 0 or -errno. */
	int (*read)(struct sim_kernel *k, struct sim_unit *u, int *ident,
	    uint64_t *offset, uint64_t *data);
	void (*write)(struct sim_kernel *k, struct sim_unit *u,
	    const struct sim_step *step, const void *bytes, size_t n);
	/* How many bytes there are to the next interrupt. */
	size_t (*room)(const struct sim_unit *u);
	void (*error)(struct sim_kernel *k, struct sim_unit *u);
};

struct sim_thread {
	struct sim_process *process;
	unsigned number;
	uint32_t tid;
	bool ended;
	/* Sleeps on hwt-mmap; is about to. */
	bool asleep;
	bool falls_asleep;
	int cpu;
	uint64_t switches;
	struct sim_unit *unit;
	/* The next step of it, from this one on; when; bytes done of it. */
	size_t next;
	uint64_t due;
	size_t done;
};

enum sim_process_state {
	SIM_HELD,
	SIM_LIVES,
	/* Ended, not asked for. */
	SIM_ZOMBIE,
	SIM_GONE
};

struct sim_process {
	pid_t pid;
	/* 0: nobody's child */
	pid_t parent;
	enum sim_process_state state;
	int status;
	int signal;
	bool stopped;
	/* Of threads that ended. */
	uint64_t switches;
	struct sim_program *program;
	const char *path;
	char name[HWTDI_COMM_ROOM];
	struct hwtdi_credentials *credentials;
	/* The context that traces it; that of a process that was there before. */
	struct sim_context *ctx;
	struct sim_context *stale;
	struct sim_vec threads;
	struct sim_vec mappings;
	/* Of a process that the program under test forked: its pid there. */
	pid_t host_pid;
};

struct sim_program {
	struct sim_kernel *k;
	const char *path;
	struct sim_vec steps;
	unsigned n_threads;
};

struct sim_cpu {
	struct sim_thread *current;
	/* Of a context in CPU mode. */
	struct sim_unit *unit;
	/* A PMI whose software interrupt did not run yet. */
	struct sim_unit *pending;
	/* It is to wait for more of them. */
	bool held;
};

struct sim_knote {
	uint64_t ident;
	bool triggered;
	int64_t data;
};

struct sim_kqueue {
	struct sim_vec knotes;
};

enum sim_fd_kind {
	SIM_FD_FREE,
	SIM_FD_HWT,
	SIM_FD_NODE,
	SIM_FD_KQUEUE,
	SIM_FD_GATE
};

struct sim_fd {
	enum sim_fd_kind kind;
	struct sim_unit *unit;
	struct sim_kqueue *kq;
	struct sim_process *gated;
};

struct sim_user_mapping {
	uint8_t *address;
	size_t len;
};

/* A process that runs the program under test. */
struct sim_caller {
	pid_t host_pid;
	struct sim_process *process;
	struct sim_vec fds;
	struct sim_vec mappings;
	bool gone;
	/* It allocated something, or tried to. */
	bool owner;
	/* Waits until then; only while others run is that for real. */
	uint64_t wakes_at;
	/* It waits for something that is not of this kernel. */
	bool elsewhere;
	uint64_t n_calls;
};

struct sim_planned {
	enum sim_call call;
	uint64_t nth;
	int error;
};

struct sim_value {
	const char *name;
	const void *value;
	size_t size;
};

struct sim_leaf {
	uint32_t leaf;
	uint32_t subleaf;
	uint32_t out[4];
};

/* An entry of the queue of SPE, which is one for all. */
struct sim_spe_entry {
	int ident;
	uint64_t offset;
	uint64_t data;
};

struct sim_kernel {
	pthread_mutex_t lock;
	pthread_cond_t time_passed;
	struct hwtdi_system system;
	struct sim_options o;
	int memory_fd;
	size_t used;
	uint64_t next_file_off;
	uint64_t file_size;
	uint64_t random;

	uint64_t now;
	uint64_t epoch;
	uint64_t signal_at;

	struct sim_vec callers;
	struct sim_vec processes;
	struct sim_vec programs;
	struct sim_vec values;
	struct sim_vec leaves;
	struct sim_vec modules;
	pid_t next_pid;
	uint32_t next_tid;

	struct sim_cpu cpus[SIM_MAX_CPUS];
	struct sim_context *contexts[HWTDI_HWT_MAX_CONTEXTS];
	/* Until when nodes of the last user of an ident may be there. */
	uint64_t nodes_until[HWTDI_HWT_MAX_CONTEXTS];
	struct sim_vec units;

	/* SPE: the queue, from `spe_taken` on. */
	struct sim_vec spe_queue;
	size_t spe_taken;
	/* CoreSight: the context that has it, and what is on the way. */
	struct sim_context *cs_ctx;
	struct sim_vec fifo;
	struct sim_context *pt_cpu_ctx;

	uint64_t calls[SIM_N_CALLS];
	struct sim_vec planned;
	unsigned per_mille;
	uint64_t fault_random;
	unsigned drop_buffers;
	unsigned fail_threads;

	struct sim_vec panics;
	struct sim_vec risks;
	struct sim_vec hangs;
	struct sim_totals totals;
};

/* sim_kernel.c: memory, texts, accounts. */
void *sim_alloc(struct sim_kernel *k, size_t size);
/* A new last element, all 0. */
void *sim_push(struct sim_kernel *k, struct sim_vec *v, size_t size);
/* The same for `n` of them; returns the first. */
void *sim_push_many(struct sim_kernel *k, struct sim_vec *v, size_t size,
    size_t n);
#define SIM_PUSH(k, v, type) ((type *)sim_push(k, v, sizeof(type)))
const char *sim_text(struct sim_kernel *k, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sim_panicked(struct sim_kernel *k, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sim_risked(struct sim_kernel *k, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sim_hung(struct sim_kernel *k, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
uint64_t sim_random(uint64_t *state);
/* Whether something happens that happens `per_mille` times. */
bool sim_chance(uint64_t *state, unsigned per_mille);
void sim_lock(struct sim_kernel *k);
void sim_unlock(struct sim_kernel *k);
/* Bytes get to buffers this way, and to the accounts. */
void sim_unit_write(struct sim_kernel *k, struct sim_unit *u, uint64_t at,
    const void *bytes, size_t n);
void sim_unit_drop(struct sim_kernel *k, struct sim_unit *u, const void *bytes,
    size_t n);
void sim_unit_slice(struct sim_kernel *k, struct sim_unit *u, uint64_t at);

/* sim_faults.c */
/* 0, or an errno that the call is to fail with. */
int sim_fault(struct sim_kernel *k, enum sim_call call);

/* sim_process.c: processes, scripts, time. */
struct sim_process *sim_new_process(struct sim_kernel *k, pid_t parent,
    const char *name);
struct sim_thread *sim_new_thread(struct sim_kernel *k, struct sim_process *p,
    unsigned number);
void sim_set_program(struct sim_kernel *k, struct sim_process *p,
    struct sim_program *program);
struct sim_process *sim_find_process(struct sim_kernel *k, pid_t pid);
struct sim_program *sim_find_program(struct sim_kernel *k, const char *path);
void sim_end_process(struct sim_kernel *k, struct sim_process *p, int status,
    int sig);
void sim_deliver(struct sim_kernel *k, struct sim_process *p, int sig);
void sim_switch_out(struct sim_kernel *k, struct sim_thread *t);
void sim_wake(struct sim_kernel *k, struct sim_thread *t);
/* When the next step is done; SIM_NEVER: none is. */
uint64_t sim_next_due(struct sim_kernel *k);
void sim_until(struct sim_kernel *k, uint64_t when);
/* Scripts may go on, out of turn. */
void sim_some_steps(struct sim_kernel *k);
void sim_add_map(struct sim_kernel *k, struct sim_process *p, uint64_t start,
    uint64_t len, uint64_t off, uint32_t prot, const char *path);

/* sim_caller.c: the processes under test. */
struct sim_caller *sim_caller(struct sim_kernel *k);
struct sim_caller *sim_new_caller(struct sim_kernel *k,
    struct sim_process *process, pid_t host_pid);
void sim_caller_ended(struct sim_kernel *k, struct sim_caller *c);
/* Look which of the processes under test are no more. */
void sim_look_after_callers(struct sim_kernel *k);
/* Wait, in virtual time, for what `done` says. */
enum sim_waited sim_wait(struct sim_kernel *k, uint64_t until,
    bool (*done)(struct sim_kernel *k, void *arg), void *arg);

/* sim_context.c: ioctls. */
int sim_ioctl(struct sim_kernel *k, struct sim_fd *fd, unsigned long request,
    void *arg, int fault);
struct sim_unit *sim_new_unit(struct sim_kernel *k, struct sim_context *ctx,
    struct sim_thread *t, int id);
void sim_free_context(struct sim_kernel *k, struct sim_context *ctx);
const struct sim_backend *sim_find_backend(const struct sim_kernel *k,
    const char *name);
/* Of a thread that is created; of one that goes to a CPU, or leaves it. */
void sim_hook_thread_create(struct sim_kernel *k, struct sim_thread *t);
void sim_hook_switch_in(struct sim_kernel *k, struct sim_thread *t,
    unsigned cpu);
void sim_hook_switch_out(struct sim_kernel *k, struct sim_thread *t);
void sim_hook_thread_exit(struct sim_kernel *k, struct sim_thread *t);

/* sim_records.c */
void sim_record(struct sim_kernel *k, struct sim_context *ctx,
    const struct sim_record *record);
int sim_record_get(struct sim_kernel *k, struct sim_context *ctx,
    struct hwtdi_hwt_record_get *get);
/* A hook of a mapping or an executable; the thread may go to sleep. */
void sim_hook_mapping(struct sim_kernel *k, struct sim_thread *t,
    const struct sim_record *record);

/* sim_pt.c, sim_spe.c, sim_coresight.c */
extern const struct sim_backend sim_backend_pt;
/* The same with STOP, as 5BSD has it. */
extern const struct sim_backend sim_backend_pt_5bsd;
extern const struct sim_backend sim_backend_spe;
extern const struct sim_backend sim_backend_coresight;
/* Software interrupts that wait on a CPU. */
void sim_pt_swi(struct sim_kernel *k, unsigned cpu);

/* sim_kqueue.c */
int sim_kqueue_add(struct sim_kernel *k, struct sim_kqueue *kq,
    uint64_t ident);
/* False: there is no such knote. */
bool sim_kqueue_post(struct sim_kqueue *kq, uint64_t ident, int64_t data);
int sim_kqueue_take(struct sim_kqueue *kq, struct hwtdi_kevent *events,
    int room);

/* sim_system.c */
void sim_fill_table(struct sim_kernel *k);
/* sim_machine.c */
void sim_fill_machine(struct sim_kernel *k);
int sim_get_sysctl(struct sim_kernel *k, const char *name, void *out,
    size_t *size);

#endif /* HWTDECODE_TESTS_SIM_INTERNAL_H */
