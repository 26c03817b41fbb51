/*
 * The simulated kernel: its memory, its texts, and accounts of what the hardware
 * wrote.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim_internal.h"

/* Address space of a kernel; only what is used of it is memory. */
#define ARENA ((size_t)512 << 20)

static void
die(const char *what)
{
	fprintf(stderr, "simulated kernel: %s: %s\n", what, strerror(errno));
	abort();
}

void *
sim_alloc(struct sim_kernel *k, size_t size)
{
	const size_t at = (k->used + 15) & ~(size_t)15;

	if (size > ARENA - at) {
		errno = ENOMEM;
		die("too much is simulated at once");
	}
	k->used = at + size;
	return ((uint8_t *)k + at);
}

void *
sim_push_many(struct sim_kernel *k, struct sim_vec *v, size_t size, size_t n)
{
	if (n > v->room - v->n) {
		size_t room = v->room == 0 ? 8 : 2 * v->room;
		void *p;

		while (n > room - v->n)
			room *= 2;
		p = sim_alloc(k, room * size);
		if (v->n != 0)
			memcpy(p, v->p, v->n * size);
		v->p = p;
		v->room = room;
	}
	v->n += n;
	return ((uint8_t *)v->p + (v->n - n) * size);
}

void *
sim_push(struct sim_kernel *k, struct sim_vec *v, size_t size)
{
	return (sim_push_many(k, v, size, 1));
}

static const char *
vtext(struct sim_kernel *k, const char *format, va_list ap)
{
	char text[512];
	char *out;

	vsnprintf(text, sizeof(text), format, ap);
	out = sim_alloc(k, strlen(text) + 1);
	strcpy(out, text);
	return (out);
}

const char *
sim_text(struct sim_kernel *k, const char *format, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, format);
	text = vtext(k, format, ap);
	va_end(ap);
	return (text);
}

#define SAY(k, vec, format)                                                   \
	do {                                                                  \
		va_list ap;                                                   \
		const char **slot = SIM_PUSH(k, vec, const char *);           \
		va_start(ap, format);                                         \
		*slot = vtext(k, format, ap);                                 \
		va_end(ap);                                                   \
	} while (0)

void
sim_panicked(struct sim_kernel *k, const char *format, ...)
{
	SAY(k, &k->panics, format);
}

void
sim_risked(struct sim_kernel *k, const char *format, ...)
{
	SAY(k, &k->risks, format);
}

void
sim_hung(struct sim_kernel *k, const char *format, ...)
{
	SAY(k, &k->hangs, format);
}

uint64_t
sim_random(uint64_t *state)
{
	/* splitmix64 of Steele, Lea and Flood. */
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (z ^ z >> 31);
}

bool
sim_chance(uint64_t *state, unsigned per_mille)
{
	return (per_mille != 0 && sim_random(state) % 1000 < per_mille);
}

void
sim_lock(struct sim_kernel *k)
{
	/* A process that was killed inside may have left it locked. */
	if (pthread_mutex_lock(&k->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&k->lock);
}

void
sim_unlock(struct sim_kernel *k)
{
	pthread_mutex_unlock(&k->lock);
}

struct sim_kernel *
sim_create(const struct sim_options *options)
{
	const int fd = memfd_create("simulated kernel", MFD_CLOEXEC);
	pthread_mutexattr_t attr;
	pthread_condattr_t cond;
	struct sim_kernel *k;

	if (fd == -1 || ftruncate(fd, (off_t)ARENA) != 0)
		die("no memory");
	k = mmap(NULL, ARENA, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (k == MAP_FAILED)
		die("no memory");
	k->used = sizeof(*k);
	k->memory_fd = fd;
	k->next_file_off = ARENA;
	if (options != NULL)
		k->o = *options;
	if (k->o.n_cpus == 0)
		k->o.n_cpus = 2;
	if (k->o.n_cpus > SIM_MAX_CPUS)
		k->o.n_cpus = SIM_MAX_CPUS;
	if (k->o.call_ns == 0)
		k->o.call_ns = 1000;
	if (k->o.spe_align == 0)
		k->o.spe_align = 64;
	if (k->o.backends == 0) {
		k->o.backends = k->o.arch == SIM_AMD64 ? SIM_PT : SIM_SPE;
		if (k->o.flavour == SIM_FORK && k->o.arch == SIM_ARM64)
			k->o.backends |= SIM_CORESIGHT;
	}
	k->random = k->o.seed;
	k->now = 1000000000;
	k->signal_at = SIM_NEVER;
	k->next_pid = SIM_FIRST_PID;
	k->next_tid = SIM_FIRST_TID;

	if (pthread_mutexattr_init(&attr) != 0 ||
	    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) != 0 ||
	    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) != 0 ||
	    pthread_mutex_init(&k->lock, &attr) != 0 ||
	    pthread_condattr_init(&cond) != 0 ||
	    pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED) != 0 ||
	    pthread_cond_init(&k->time_passed, &cond) != 0)
		die("no lock");
	pthread_mutexattr_destroy(&attr);
	pthread_condattr_destroy(&cond);

	sim_fill_table(k);
	sim_fill_machine(k);
	return (k);
}

void
sim_destroy(struct sim_kernel *k)
{
	if (k == NULL)
		return;
	/* What is mapped still: a test that wants to know asks before. */
	for (size_t i = 0; i < k->callers.n; i++) {
		struct sim_caller *c = SIM_AT(&k->callers, struct sim_caller *,
		    i);

		if (c->host_pid != getpid())
			continue;
		for (size_t m = 0; m < c->mappings.n; m++) {
			struct sim_user_mapping *map = &SIM_AT(&c->mappings,
			    struct sim_user_mapping, m);

			if (map->address != NULL)
				munmap(map->address, map->len + SIM_PAGE);
		}
	}
	close(k->memory_fd);
	munmap(k, ARENA);
}

const struct hwtdi_system *
sim_system(struct sim_kernel *k)
{
	return (&k->system);
}

/* A slice begins, unless the last one is empty and can be used. */
void
sim_unit_slice(struct sim_kernel *k, struct sim_unit *u, uint64_t at)
{
	struct sim_slice *s = NULL;

	if (u->slices.n != 0)
		s = &SIM_AT(&u->slices, struct sim_slice, u->slices.n - 1);
	if (s == NULL || s->n != 0)
		s = SIM_PUSH(k, &u->slices, struct sim_slice);
	s->offset = u->bytes.n;
	s->n = 0;
	s->cpu = u->cpu;
	s->at = at;
	s->ns = k->now;
}

/* Bytes get to the log; returns where. */
static size_t
account(struct sim_kernel *k, struct sim_unit *u, const void *bytes, size_t n,
    uint8_t fate)
{
	const size_t at = u->bytes.n;
	struct sim_write *w = SIM_PUSH(k, &u->writes, struct sim_write);

	w->offset = at;
	w->epoch = k->epoch;
	memcpy(sim_push_many(k, &u->bytes, 1, n), bytes, n);
	memset(sim_push_many(k, &u->fates, 1, n), fate, n);
	return (at);
}

/* The write that a byte of the log belongs to. */
static size_t
find_write(const struct sim_unit *u, size_t at)
{
	size_t low = 0, high = u->writes.n;

	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (SIM_AT(&u->writes, struct sim_write, middle).offset <= at)
			low = middle;
		else
			high = middle;
	}
	return (low);
}

static void
overwritten(struct sim_kernel *k, struct sim_unit *u, size_t at)
{
	const struct sim_write *w = &SIM_AT(&u->writes, struct sim_write,
	    u->found);

	/* Bytes lie as they were written, so the next is near. */
	if (at < w->offset ||
	    (u->found + 1 < u->writes.n && at >= w[1].offset)) {
		u->found = find_write(u, at);
		w = &SIM_AT(&u->writes, struct sim_write, u->found);
	}
	/* Who reads does so between calls. */
	SIM_AT(&u->fates, uint8_t,
	    at) = w->epoch == k->epoch ? SIM_UNREADABLE : SIM_OVERWRITTEN;
}

static void
grow_slice(struct sim_kernel *k, struct sim_unit *u, uint64_t at, size_t n)
{
	if (u->slices.n == 0)
		sim_unit_slice(k, u, at);
	SIM_AT(&u->slices, struct sim_slice, u->slices.n - 1).n += n;
}

void
sim_unit_write(struct sim_kernel *k, struct sim_unit *u, uint64_t at,
    const void *bytes, size_t n)
{
	size_t log;

	if (at > u->bufsize || n > u->bufsize - at) {
		sim_panicked(k, "trace written beyond a buffer");
		return;
	}
	if (n == 0)
		return;
	if (pwrite(k->memory_fd, bytes, n, (off_t)(u->file_off + at)) !=
	    (ssize_t)n)
		die("a buffer cannot be written");

	if (at + n > u->last_room) {
		uint64_t room = u->last_room == 0 ? SIM_PAGE : u->last_room;
		uint32_t *last;

		while (room < at + n)
			room *= 2;
		last = sim_alloc(k, room * sizeof(*last));
		if (u->last_room != 0)
			memcpy(last, u->last, u->last_room * sizeof(*last));
		u->last = last;
		u->last_room = room;
	}
	grow_slice(k, u, at, n);
	log = account(k, u, bytes, n, SIM_THERE);
	for (size_t i = 0; i < n; i++) {
		uint32_t *last = &u->last[at + i];

		if (*last != 0)
			overwritten(k, u, *last - 1);
		*last = (uint32_t)(log + i + 1);
	}
}

void
sim_unit_drop(struct sim_kernel *k, struct sim_unit *u, const void *bytes,
    size_t n)
{
	grow_slice(k, u, u->pos, n);
	account(k, u, bytes, n, SIM_DROPPED);
}

size_t
sim_buffers(const struct sim_kernel *k)
{
	return (k->units.n);
}

void
sim_buffer(const struct sim_kernel *k, size_t i, struct sim_buffer *out)
{
	const struct sim_unit *u = SIM_AT(&k->units, struct sim_unit *, i);

	*out = (struct sim_buffer){ .ident = u->ctx->ident,
		.id = u->id,
		.tid = u->tid,
		.bufsize = u->bufsize,
		.bytes = u->bytes.p,
		.fates = u->fates.p,
		.n = u->bytes.n,
		.slices = u->slices.p,
		.n_slices = u->slices.n };
}

#define TEXTS(count, get, vec)                                                \
	size_t count(const struct sim_kernel *k)                              \
	{                                                                     \
		return (k->vec.n);                                            \
	}                                                                     \
	const char *get(const struct sim_kernel *k, size_t i)                 \
	{                                                                     \
		return (SIM_AT(&k->vec, const char *, i));                    \
	}

TEXTS(sim_panics, sim_panic, panics)
TEXTS(sim_risks, sim_risk, risks)
TEXTS(sim_hangs, sim_hang, hangs)

void
sim_totals(const struct sim_kernel *k, struct sim_totals *out)
{
	*out = k->totals;
}
