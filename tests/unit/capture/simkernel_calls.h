/*
 * Short forms of the calls that tests of the simulated kernel make.
 */
#ifndef HWTDECODE_TESTS_SIMKERNEL_CALLS_H
#define HWTDECODE_TESTS_SIMKERNEL_CALLS_H

#include "capture/hwt_abi.h"
#include "simkernel/simkernel.h"

#define PAGE 4096U

/* A config of PT that branches of user space are traced with. */
extern const struct hwtdi_hwt_pt_config simkernel_pt_config;
extern const struct hwtdi_hwt_spe_config simkernel_spe_config;

struct simkernel_position {
	int ident;
	uint64_t offset;
	uint64_t data;
};

/* All of them return what the call does, by the table. */
int simkernel_open(struct sim_kernel *k, const char *path);
/* The node of a buffer. */
int simkernel_node(struct sim_kernel *k, int ident, int id);
int simkernel_ioctl(struct sim_kernel *k, int fd, unsigned long request,
    void *arg);
/* On a descriptor of /dev/hwt that is opened for it. */
int simkernel_alloc(struct sim_kernel *k, struct hwtdi_hwt_alloc *alloc);
int simkernel_alloc_thread(struct sim_kernel *k, const char *backend,
    pid_t pid, uint64_t bufsize, int *ident);
int simkernel_alloc_cpus(struct sim_kernel *k, const char *backend,
    uint64_t cpus, uint64_t bufsize, int kq, int *ident);
int simkernel_plain(struct sim_kernel *k, int fd, unsigned long request);
int simkernel_config(struct sim_kernel *k, int fd, const void *config,
    size_t size, int version, bool pause);
int simkernel_position(struct sim_kernel *k, int fd,
    struct simkernel_position *out);
int simkernel_svc_buf(struct sim_kernel *k, int fd, uint32_t ident,
    unsigned half);
/* Entries of FreeBSD; returns how many came, or -errno. */
int simkernel_records(struct sim_kernel *k, int fd,
    struct hwtdi_hwt_entry *out, int room, bool wait);
/* A program of one step each. */
pid_t simkernel_run(struct sim_kernel *k, const struct sim_step *steps,
    size_t n, unsigned n_threads);

#define STEPS(s) (s), sizeof(s) / sizeof((s)[0])

#endif /* HWTDECODE_TESTS_SIMKERNEL_CALLS_H */
