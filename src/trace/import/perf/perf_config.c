/*
 * How traces in a perf.data were recorded: PERF_RECORD_AUXTRACE_INFO and
 * PERF_RECORD_TIME_CONV.
 *
 * Source: Linux, tools/perf/util/intel-pt.h, cs-etm.h, arm-spe.h (numbers of the
 * words), tools/lib/perf/include/perf/event.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "trace/import/coresight_config.h"
#include "trace/import/perf/perf_file.h"

/* Words of Intel PT.  Older versions of perf wrote fewer. */
enum {
	PT_PMU_TYPE = 0,
	PT_TIME_SHIFT = 1,
	PT_TIME_MULT = 2,
	PT_TIME_ZERO = 3,
	PT_CAP_USER_TIME_ZERO = 4,
	PT_SNAPSHOT_MODE = 8,
	PT_MTC_FREQ_BITS = 11,
	PT_TSC_CTC_N = 12,
	PT_TSC_CTC_D = 13,
	PT_MAX_NONTURBO = 15,
	PT_WORDS = 16
};

/* Words of CoreSight: of all, and then of each CPU. */
#define CS_VERSION_MAX 2u
#define CS_MAGIC_ETMV3 UINT64_C(0x3030303030303030)
#define CS_MAGIC_ETMV4 UINT64_C(0x4040404040404040)
#define CS_MAGIC_ETE UINT64_C(0x5050505050505050)
#define CS_V0_ETMV3_WORDS 4u
#define CS_V0_ETMV4_WORDS 7u
#define CS_MAX_WORDS 64u

/* The timestamps are those of the generic timer's virtual count. */
#define CS_TS_VIRTUAL 1u

/* No trace ID is in use, or another than it says: records tell which. */
#define CS_TRACE_ID_UNUSED 0x80000000u

#define SPE_MAGIC UINT64_C(0x1010101010101010)

int
hwtdi_perf_time_conv(struct hwtdi_perf_file *f,
    const struct hwtdi_perf_record *record)
{
	struct hwtdi_perf_bytes b = record->body;
	struct hwtdi_perf_time t = { 0 };

	t.shift = hwtdi_perf_u64(&b);
	t.mult = hwtdi_perf_u64(&b);
	t.zero = hwtdi_perf_u64(&b);
	if (b.rest.bad)
		return (hwtdi_perf_bad_record(f, record, "size"));
	if (t.shift > 63)
		return (hwtdi_perf_bad_record(f, record, "time_shift"));
	/* What follows is newer. */
	t.cycles = hwtdi_perf_u64(&b);
	t.mask = hwtdi_perf_u64(&b);
	(void)hwtdi_perf_get(&b, 1);
	t.is_short = hwtdi_perf_get(&b, 1) != 0 && !b.rest.bad;
	f->time = t;
	f->has_time = t.mult != 0;
	return (HWTD_OK);
}

static void
read_pt(struct hwtdi_perf_file *f, struct hwtdi_perf_bytes *b)
{
	struct hwtdi_perf_aux *aux = &f->aux;
	struct hwtd_pt_config *pt = &aux->pt;
	uint64_t w[PT_WORDS] = { 0 };

	for (size_t i = 0; i < PT_WORDS && b->rest.left >= 8; i++)
		w[i] = hwtdi_perf_u64(b);
	aux->pmu_type = (uint32_t)w[PT_PMU_TYPE];
	aux->is_snapshot = w[PT_SNAPSHOT_MODE] != 0;
	aux->mtc_bits = w[PT_MTC_FREQ_BITS];
	if (w[PT_CAP_USER_TIME_ZERO] != 0 && w[PT_TIME_MULT] != 0 &&
	    w[PT_TIME_SHIFT] <= 63 && !f->has_time) {
		f->has_time = true;
		f->time.shift = w[PT_TIME_SHIFT];
		f->time.mult = w[PT_TIME_MULT];
		f->time.zero = w[PT_TIME_ZERO];
	}
	pt->size = sizeof(*pt);
	pt->cpuid_15h_eax = (uint32_t)w[PT_TSC_CTC_D];
	pt->cpuid_15h_ebx = (uint32_t)w[PT_TSC_CTC_N];
	if (w[PT_MAX_NONTURBO] <= UINT8_MAX)
		pt->nom_freq = (uint8_t)w[PT_MAX_NONTURBO];
}

static int
by_number(const void *a, const void *b)
{
	const struct hwtdi_perf_traced_cpu *x = a, *y = b;

	return (x->cpu < y->cpu ? -1 : x->cpu > y->cpu);
}

struct hwtdi_perf_traced_cpu *
hwtdi_perf_traced_cpu(const struct hwtdi_perf_file *f, uint32_t cpu)
{
	const struct hwtdi_perf_traced_cpu key = { .cpu = cpu };

	return (f->aux.n_cpus == 0 || cpu == HWTD_NO_ID
		? NULL
		: bsearch(&key, f->aux.cpus, f->aux.n_cpus,
		      sizeof(*f->aux.cpus), by_number));
}

static int
add_cpu(struct hwtdi_perf_file *f, const struct hwtdi_perf_traced_cpu *cpu)
{
	struct hwtdi_perf_aux *aux = &f->aux;
	int rc = hwtdi_array_grow(f->trace->library, &aux->cpus,
	    &aux->cap_cpus, aux->n_cpus + 1, sizeof(*aux->cpus), f->err);

	if (rc == HWTD_OK)
		aux->cpus[aux->n_cpus++] = *cpu;
	return (rc);
}

/* Registers of one CPU: how many words there are depends on the version. */
static bool
set_registers(struct hwtdi_perf_traced_cpu *cpu, uint64_t magic,
    const uint64_t *w, size_t n)
{
	struct hwtd_coresight_config *c = &cpu->coresight;
	const bool is_ete = magic == CS_MAGIC_ETE;
	const size_t ts_source = is_ete ? 8 : 7;

	c->size = sizeof(*c);
	c->profile = HWTD_ARM_PROFILE_A;
	if (magic == CS_MAGIC_ETMV3) {
		if (n < CS_V0_ETMV3_WORDS)
			return (false);
		c->etmcr = (uint32_t)w[0];
		c->trace_id = (uint32_t)w[1];
		c->etmccer = (uint32_t)w[2];
		c->etmidr = (uint32_t)w[3];
		/* ETMIDR[11:8]: 3 is PFT. */
		c->protocol = (c->etmidr & 0xf00) == 0x300 ? HWTD_CS_PTM
							   : HWTD_CS_ETMV3;
		c->arch = HWTD_ARM_ARCH_V7;
		return (true);
	}
	if (n < CS_V0_ETMV4_WORDS + (is_ete ? 1u : 0u))
		return (false);
	c->protocol = is_ete ? HWTD_CS_ETE : HWTD_CS_ETMV4;
	c->configr = (uint32_t)w[0];
	c->trace_id = (uint32_t)w[1];
	c->idr[0] = (uint32_t)w[2];
	c->idr[1] = (uint32_t)w[3];
	c->idr[2] = (uint32_t)w[4];
	c->idr[8] = (uint32_t)w[5];
	if (is_ete)
		c->devarch = (uint32_t)w[7];
	cpu->is_kernel_time = n > ts_source && w[ts_source] == CS_TS_VIRTUAL;
	return (true);
}

/* Of one CPU.  *why: what is wrong, and what follows cannot be read. */
static int
read_traced_cpu(struct hwtdi_perf_file *f, struct hwtdi_perf_bytes *b,
    uint64_t version, const char **why)
{
	struct hwtdi_perf_traced_cpu cpu = { 0 };
	const uint64_t magic = hwtdi_perf_u64(b);
	uint64_t w[CS_MAX_WORDS] = { 0 };
	uint64_t n;

	cpu.cpu = (uint32_t)hwtdi_perf_u64(b);
	n = version > 0		      ? hwtdi_perf_u64(b)
	    : magic == CS_MAGIC_ETMV3 ? CS_V0_ETMV3_WORDS
				      : CS_V0_ETMV4_WORDS;
	if (b->rest.bad)
		*why = "it ends in the header";
	else if (magic != CS_MAGIC_ETMV3 && magic != CS_MAGIC_ETMV4 &&
	    magic != CS_MAGIC_ETE)
		*why = "its magic number is not known";
	else if (n > b->rest.left / 8)
		*why = "it ends before its registers do";
	if (*why != NULL)
		return (HWTD_OK);
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t word = hwtdi_perf_u64(b);

		if (i < CS_MAX_WORDS)
			w[i] = word;
	}
	if (!set_registers(&cpu, magic, w,
		(size_t)(n < CS_MAX_WORDS ? n : CS_MAX_WORDS))) {
		*why = "it has too few registers";
		return (HWTD_OK);
	}
	if ((cpu.coresight.trace_id & CS_TRACE_ID_UNUSED) != 0 ||
	    cpu.coresight.trace_id < HWTD_CS_FIRST_ID ||
	    cpu.coresight.trace_id > HWTD_CS_LAST_ID)
		cpu.coresight.trace_id = 0;
	return (add_cpu(f, &cpu));
}

static void
sort_cpus(struct hwtdi_perf_aux *aux)
{
	if (aux->n_cpus > 0)
		qsort(aux->cpus, aux->n_cpus, sizeof(*aux->cpus), by_number);
}

static int
bad_block(struct hwtdi_perf_file *f, const struct hwtdi_perf_record *record,
    uint64_t block, const char *why)
{
	char text[96];

	(void)snprintf(text, sizeof(text), "block %" PRIu64 " of a CPU: %s",
	    block, why);
	return (hwtdi_perf_bad_record(f, record, text));
}

static int
read_coresight(struct hwtdi_perf_file *f,
    const struct hwtdi_perf_record *record, struct hwtdi_perf_bytes *b)
{
	const uint64_t version = hwtdi_perf_u64(b);
	const uint64_t type_and_cpus = hwtdi_perf_u64(b);
	const uint64_t n_cpus = type_and_cpus & 0xffffffff;
	int rc = HWTD_OK;

	f->aux.pmu_type = (uint32_t)(type_and_cpus >> 32);
	f->aux.is_snapshot = hwtdi_perf_u64(b) != 0;
	if (b->rest.bad)
		return (hwtdi_perf_bad_record(f, record, "size"));
	if (version > CS_VERSION_MAX)
		return (hwtdi_perf_bad_record(f, record,
		    "the version of the CoreSight header is not known"));
	for (uint64_t i = 0; rc == HWTD_OK && i < n_cpus; i++) {
		const char *why = NULL;

		rc = read_traced_cpu(f, b, version, &why);
		if (why != NULL) {
			rc = bad_block(f, record, i, why);
			break;
		}
	}
	sort_cpus(&f->aux);
	return (rc);
}

/* Version 1 is two words; newer ones say which version they are. */
static int
read_spe(struct hwtdi_perf_file *f, const struct hwtdi_perf_record *record,
    struct hwtdi_perf_bytes *b)
{
	const size_t n_words = b->rest.left / 8;
	const uint64_t first = hwtdi_perf_u64(b);
	uint64_t header, n_cpus;
	int rc = HWTD_OK;

	if (n_words <= 2) {
		f->aux.pmu_type = (uint32_t)first;
		return (HWTD_OK);
	}
	header = hwtdi_perf_u64(b);
	f->aux.pmu_type = (uint32_t)hwtdi_perf_u64(b);
	n_cpus = hwtdi_perf_u64(b);
	/* Words of the header that are newer. */
	if (header < 4 || header - 4 > b->rest.left / 8)
		return (hwtdi_perf_bad_record(f, record, "header size"));
	(void)hwtdi_bytes_take(&b->rest, (size_t)(header - 4) * 8);
	for (uint64_t i = 0; rc == HWTD_OK && i < n_cpus; i++) {
		struct hwtdi_perf_traced_cpu cpu = { 0 };
		const uint64_t magic = hwtdi_perf_u64(b);
		uint64_t n;

		cpu.cpu = (uint32_t)hwtdi_perf_u64(b);
		n = hwtdi_perf_u64(b);
		if (b->rest.bad || magic != SPE_MAGIC || n < 1 ||
		    n > b->rest.left / 8) {
			rc = bad_block(f, record, i,
			    b->rest.bad ? "it ends in the header"
				: magic != SPE_MAGIC
				? "its magic number is not known"
				: "it ends before its parameters do");
			break;
		}
		cpu.midr = (uint32_t)hwtdi_perf_u64(b);
		(void)hwtdi_bytes_take(&b->rest, (size_t)(n - 1) * 8);
		rc = add_cpu(f, &cpu);
	}
	sort_cpus(&f->aux);
	return (rc);
}

int
hwtdi_perf_auxtrace_info(struct hwtdi_perf_file *f,
    const struct hwtdi_perf_record *record)
{
	static const char *const others[] = {
		[PERF_AUXTRACE_INTEL_BTS] = "Intel BTS",
		[PERF_AUXTRACE_S390_CPUMSF] = "s390 sampling",
		[PERF_AUXTRACE_HISI_PTT] = "HiSilicon PTT",
	};
	struct hwtdi_perf_bytes b = record->body;
	uint32_t kind;

	kind = hwtdi_perf_u32(&b);
	(void)hwtdi_perf_u32(&b);
	if (b.rest.bad)
		return (hwtdi_perf_bad_record(f, record, "size"));
	/* What lies in the file is of one kind. */
	if (f->aux.kind != 0)
		return (hwtdi_perf_bad_record(f, record,
		    "there was one before it"));
	f->aux.kind = kind;
	switch (kind) {
	case PERF_AUXTRACE_INTEL_PT:
		read_pt(f, &b);
		return (HWTD_OK);
	case PERF_AUXTRACE_CS_ETM:
		return (read_coresight(f, record, &b));
	case PERF_AUXTRACE_ARM_SPE:
		return (read_spe(f, record, &b));
	default:
		return (hwtdi_trace_note_damage(f->trace, record->off, 0,
		    HWTD_NO_ID, 0, 0, f->err,
		    "traces of %s (%" PRIu32 ") are not decoded",
		    kind < sizeof(others) / sizeof(others[0]) &&
			    others[kind] != NULL
			? others[kind]
			: "an unknown kind",
		    kind));
	}
}

int
hwtdi_perf_auxtrace(struct hwtdi_perf_file *f,
    const struct hwtdi_perf_record *record)
{
	struct hwtdi_perf_aux *aux = &f->aux;
	struct hwtdi_perf_bytes b = record->body;
	struct hwtdi_perf_buffer buffer = {
		.data_off = record->data_off,
		.n_data = record->n_data,
		.no = (uint32_t)aux->n_buffers,
	};
	int rc;

	buffer.n_told = hwtdi_perf_u64(&b);
	buffer.aux_off = hwtdi_perf_u64(&b);
	(void)hwtdi_perf_u64(&b);
	buffer.idx = hwtdi_perf_u32(&b);
	buffer.tid = hwtdi_perf_u32(&b);
	buffer.cpu = hwtdi_perf_u32(&b);
	if (b.rest.bad)
		return (hwtdi_perf_bad_record(f, record, "size"));
	if (record->unpacked)
		return (hwtdi_perf_bad_record(f, record,
		    "its bytes do not follow where it is compressed"));
	if (buffer.n_told >= HWTDI_PERF_MAX_BYTES ||
	    buffer.n_told > UINT64_MAX - buffer.aux_off)
		return (hwtdi_perf_bad_record(f, record, "size, offset"));
	if (aux->n_buffers >= UINT32_MAX - 1)
		return (hwtdi_fail(f->err, HWTD_E_LIMIT, "%zu buffers",
		    aux->n_buffers));
	rc = hwtdi_array_grow(f->trace->library, &aux->buffers,
	    &aux->cap_buffers, aux->n_buffers + 1, sizeof(*aux->buffers),
	    f->err);
	if (rc == HWTD_OK)
		aux->buffers[aux->n_buffers++] = buffer;
	return (rc);
}

bool
hwtdi_perf_clock(const struct hwtdi_perf_file *f, struct hwtd_clock *out)
{
	memset(out, 0, sizeof(*out));
	return (f->has_time && hwtdi_perf_time_clock(&f->time, out));
}
