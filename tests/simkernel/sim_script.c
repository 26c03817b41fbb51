/*
 * Simulated kernels out of text files.
 */
#include "sim_script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WORDS 24

struct script {
	const char *path;
	unsigned line;
	struct sim_options options;
	struct sim_kernel *kernel;
	/* Where steps go, and the process that is started with them. */
	struct sim_program *program;
	const char *process;
	unsigned n_threads;
	/* Of the process that was started last. */
	pid_t pid;
	char *words[MOST_WORDS];
	size_t n_words;
};

static void die(const struct script *s, const char *what, const char *word)
    __attribute__((noreturn));

static void
die(const struct script *s, const char *what, const char *word)
{
	fprintf(stderr, "%s:%u: %s: %s\n", s->path, s->line, what, word);
	exit(99);
}

/* What a kernel borrows, until the process ends. */
static struct kept {
	struct kept *next;
} * all_kept;

static void *
allocate(const struct script *s, size_t n, const char *what)
{
	struct kept *k = malloc(sizeof(*k) + n);

	if (k == NULL)
		die(s, "no memory for", what);
	k->next = all_kept;
	all_kept = k;
	return (k + 1);
}

static char *
keep(const struct script *s, const char *text)
{
	const size_t n = strlen(text) + 1;

	return (memcpy(allocate(s, n, text), text, n));
}

static uint64_t
number(const struct script *s, const char *text)
{
	char *end;
	const uint64_t n = strtoull(text, &end, 0);

	if (end == text || *end != '\0')
		die(s, "no number", text);
	return (n);
}

static int
errno_of(const struct script *s, const char *name)
{
	static const struct {
		const char *name;
		int e;
	} names[] = {
		{ "EACCES", EACCES },
		{ "EAGAIN", EAGAIN },
		{ "EBUSY", EBUSY },
		{ "EEXIST", EEXIST },
		{ "EFAULT", EFAULT },
		{ "EINTR", EINTR },
		{ "EINVAL", EINVAL },
		{ "EMFILE", EMFILE },
		{ "ENODEV", ENODEV },
		{ "ENOENT", ENOENT },
		{ "ENOMEM", ENOMEM },
		{ "ENOSYS", ENOSYS },
		{ "ENXIO", ENXIO },
		{ "EOPNOTSUPP", EOPNOTSUPP },
		{ "EPERM", EPERM },
		{ "ESRCH", ESRCH },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i].name, name) == 0)
			return (names[i].e);
	die(s, "no errno", name);
}

/* "key=value": the value if it is this key. */
static const char *
value_of(const char *word, const char *key)
{
	const size_t n = strlen(key);

	return (strncmp(word, key, n) == 0 && word[n] == '=' ? word + n + 1
							     : NULL);
}

static void
read_machine(struct script *s)
{
	struct sim_options *o = &s->options;

	for (size_t i = 1; i < s->n_words; i++) {
		const char *w = s->words[i];
		const char *v;

		if (strcmp(w, "arch=arm64") == 0)
			o->arch = SIM_ARM64;
		else if (strcmp(w, "flavour=5bsd") == 0)
			o->flavour = SIM_5BSD;
		else if (strcmp(w, "flavour=fork") == 0)
			o->flavour = SIM_FORK;
		else if (strcmp(w, "positions=lost") == 0)
			o->positions = SIM_INDEX_LOST;
		else if (strcmp(w, "positions=saturated") == 0)
			o->positions = SIM_SATURATED;
		else if ((v = value_of(w, "cpus")) != NULL)
			o->n_cpus = (unsigned)number(s, v);
		else if ((v = value_of(w, "seed")) != NULL)
			o->seed = number(s, v);
		else if ((v = value_of(w, "device")) != NULL)
			o->device_error = errno_of(s, v);
		else if ((v = value_of(w, "node")) != NULL)
			o->node_error = errno_of(s, v);
		else if ((v = value_of(w, "backends")) != NULL)
			o->backends = (strstr(v, "pt") != NULL ? SIM_PT : 0) |
			    (strstr(v, "spe") != NULL ? SIM_SPE : 0) |
			    (strstr(v, "coresight") != NULL ? SIM_CORESIGHT
							    : 0) |
			    (strcmp(v, "none") == 0 ? SIM_NO_BACKEND : 0);
		else
			die(s, "a machine has no", w);
	}
}

static void
read_bytes(const struct script *s, const char *path, struct sim_step *step)
{
	FILE *f = fopen(path, "rb");
	uint8_t *bytes;
	long n;

	if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (n = ftell(f)) <= 0)
		die(s, "no bytes in", path);
	rewind(f);
	bytes = allocate(s, (size_t)n, path);
	if (fread(bytes, 1, (size_t)n, f) != (size_t)n)
		die(s, "cannot read", path);
	fclose(f);
	step->bytes = bytes;
	step->n = (size_t)n;
}

static enum sim_op
op_of(const struct script *s, const char *name)
{
	static const char *const names[SIM_N_OPS] = {
		[SIM_IDLE] = "idle",
		[SIM_EXEC] = "exec",
		[SIM_MMAP] = "mmap",
		[SIM_MUNMAP] = "munmap",
		[SIM_THREAD_CREATE] = "thread",
		[SIM_THREAD_EXIT] = "thread_exit",
		[SIM_TRACE] = "trace",
		[SIM_SWITCH_IN] = "switch_in",
		[SIM_SWITCH_OUT] = "switch_out",
		[SIM_PT_ERROR] = "pt_error",
		[SIM_SPE_ERROR] = "spe_error",
		[SIM_KLDLOAD] = "kldload",
		[SIM_FORK_CHILD] = "fork",
		[SIM_CAUGHT] = "caught",
		[SIM_EXIT] = "exit",
	};

	for (size_t i = 0; i < SIM_N_OPS; i++)
		if (strcmp(names[i], name) == 0)
			return ((enum sim_op)i);
	die(s, "no step", name);
}

static void
set_key(struct script *s, struct sim_step *step, const char *w)
{
	const struct {
		const char *key;
		uint64_t *to;
	} wide[] = {
		{ "ns", &step->ns },
		{ "addr", &step->addr },
		{ "base", &step->base },
		{ "len", &step->len },
		{ "off", &step->off },
		{ "piece_ns", &step->piece_ns },
	};
	const char *v;

	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
		v = value_of(w, wide[i].key);
		if (v != NULL) {
			*wide[i].to = number(s, v);
			return;
		}
	}
	if ((v = value_of(w, "thread")) != NULL)
		step->thread = (unsigned)number(s, v);
	else if ((v = value_of(w, "cpu")) != NULL)
		step->cpu = (unsigned)number(s, v);
	else if ((v = value_of(w, "number")) != NULL)
		step->number = (unsigned)number(s, v);
	else if ((v = value_of(w, "piece")) != NULL)
		step->piece = (size_t)number(s, v);
	else if ((v = value_of(w, "status")) != NULL)
		step->status = (int)number(s, v);
	else if ((v = value_of(w, "signal")) != NULL)
		step->signal = (int)number(s, v);
	else if ((v = value_of(w, "path")) != NULL)
		step->path = keep(s, v);
	else if ((v = value_of(w, "interp")) != NULL)
		step->interp = keep(s, v);
	else if ((v = value_of(w, "file")) != NULL)
		read_bytes(s, v, step);
	else if (strcmp(w, "stay") == 0)
		step->flags |= SIM_STAY;
	else if (strcmp(w, "one_pmi") == 0)
		step->flags |= SIM_ONE_PMI;
	else if (strcmp(w, "no_path") == 0)
		step->flags |= SIM_NO_PATH;
	else if (strcmp(w, "partial") == 0)
		step->flags |= SIM_PARTIAL;
	else if (strcmp(w, "at_once") == 0)
		step->flags |= SIM_AT_ONCE;
	else
		die(s, "a step has no", w);
}

/* The steps of a process are complete. */
static void
start_process(struct script *s)
{
	if (s->process != NULL)
		s->pid = sim_start(s->kernel, s->program, s->process,
		    s->n_threads);
	s->process = NULL;
}

static const char *
word(const struct script *s, size_t i)
{
	if (i >= s->n_words)
		die(s, "a word is missing behind", s->words[s->n_words - 1]);
	return (s->words[i]);
}

static void
read_cpuid(const struct script *s)
{
	uint32_t n[6];

	for (size_t i = 0; i < 6; i++)
		n[i] = (uint32_t)number(s, word(s, i + 1));
	sim_set_cpuid(s->kernel, n[0], n[1], &n[2]);
}

static void
read_fault(struct script *s)
{
	for (int call = 0; call < SIM_N_CALLS; call++) {
		if (strcmp(sim_call_name((enum sim_call)call), word(s, 1)) !=
		    0)
			continue;
		sim_fail(s->kernel, (enum sim_call)call, number(s, word(s, 2)),
		    errno_of(s, word(s, 3)));
		return;
	}
	die(s, "no call", word(s, 1));
}

static void
read_process(struct script *s, const char *what)
{
	struct hwtdi_vm_entry map = { .prot = HWTDI_PROT_READ |
		    HWTDI_PROT_EXEC };
	struct hwtdi_credentials *who;

	start_process(s);
	if (strcmp(what, "map") == 0) {
		map.start = number(s, word(s, 1));
		map.end = number(s, word(s, 2));
		map.file_off = number(s, word(s, 3));
		(void)snprintf(map.path, sizeof(map.path), "%s", word(s, 4));
		sim_add_mapping(s->kernel, s->pid, &map);
		return;
	}
	who = calloc(1, sizeof(*who));
	if (who == NULL)
		die(s, "no memory for", what);
	who->euid = who->ruid = who->svuid = (uint32_t)number(s, word(s, 1));
	who->n_groups = 1;
	sim_set_credentials(s->kernel, s->pid, who);
	free(who);
}

static void
read_line(struct script *s)
{
	const char *what = s->words[0];
	struct sim_step step = { 0 };

	if (strcmp(what, "machine") == 0) {
		read_machine(s);
		return;
	}
	/* All else is of a kernel, so the machine comes first. */
	if (s->kernel == NULL)
		s->kernel = sim_create(&s->options);
	if (strcmp(what, "sysctl") == 0) {
		sim_set_sysctl_text(s->kernel, keep(s, word(s, 1)),
		    s->n_words > 2 ? keep(s, s->words[2]) : NULL);
	} else if (strcmp(what, "cpuid") == 0) {
		read_cpuid(s);
	} else if (strcmp(what, "module") == 0) {
		sim_add_module(s->kernel, word(s, 1), word(s, 2),
		    number(s, word(s, 3)), number(s, word(s, 4)));
	} else if (strcmp(what, "program") == 0) {
		start_process(s);
		s->program = sim_program(s->kernel, keep(s, word(s, 1)));
	} else if (strcmp(what, "process") == 0) {
		start_process(s);
		s->process = keep(s, word(s, 1));
		s->n_threads = (unsigned)number(s, word(s, 2));
		s->program = sim_program(s->kernel, NULL);
	} else if (strcmp(what, "user") == 0 || strcmp(what, "map") == 0) {
		read_process(s, what);
	} else if (strcmp(what, "fail") == 0) {
		read_fault(s);
	} else if (strcmp(what, "drop_buffers") == 0) {
		sim_drop_buffers(s->kernel, (unsigned)number(s, word(s, 1)));
	} else if (strcmp(what, "fail_threads") == 0) {
		sim_fail_threads(s->kernel, (unsigned)number(s, word(s, 1)));
	} else if (strcmp(what, "step") == 0 && s->program != NULL) {
		step.op = op_of(s, word(s, 1));
		for (size_t i = 2; i < s->n_words; i++)
			set_key(s, &step, s->words[i]);
		sim_add(s->program, &step);
	} else {
		die(s, "no such line", what);
	}
}

struct sim_kernel *
sim_script_read(const char *path)
{
	struct script s = { .path = path };
	char line[4096];
	FILE *f = fopen(path, "r");

	if (f == NULL)
		die(&s, strerror(errno), path);
	while (fgets(line, sizeof(line), f) != NULL) {
		char *rest = line;
		char *w;

		s.line++;
		s.n_words = 0;
		while (s.n_words < MOST_WORDS &&
		    (w = strtok_r(rest, " \t\n", &rest)) != NULL)
			s.words[s.n_words++] = w;
		if (s.n_words > 0 && s.words[0][0] != '#')
			read_line(&s);
	}
	fclose(f);
	if (s.kernel == NULL)
		s.kernel = sim_create(&s.options);
	start_process(&s);
	return (s.kernel);
}
