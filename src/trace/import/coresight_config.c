/*
 * Configurations of CoreSight sources as text, and their registers by name.
 */
#include "trace/import/coresight_config.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/fail.h"
#include "trace/import/arm_core.h"
#include "trace/import/ini.h"

#define BIT(protocol) (1u << (protocol))
#define ETMV4_ETE (BIT(HWTD_CS_ETMV4) | BIT(HWTD_CS_ETE))
#define ETMV3_PTM (BIT(HWTD_CS_ETMV3) | BIT(HWTD_CS_PTM))

#define FIELD(name) offsetof(struct hwtd_coresight_config, name)

/*
 * Registers, and which protocols have them.
 *
 * Source: Arm ETM architecture specifications (IHI 0014, 0035, 0064), STM
 * (IHI 0054), Armv7-M ARM, "ITM".
 */
static const struct {
	const char *name;
	uint32_t protocols;
	size_t offset;
} registers[] = {
	{ "TRCCONFIGR", ETMV4_ETE, FIELD(configr) },
	{ "TRCDEVARCH", BIT(HWTD_CS_ETE), FIELD(devarch) },
	{ "TRCIDR0", ETMV4_ETE, FIELD(idr[0]) },
	{ "TRCIDR1", ETMV4_ETE, FIELD(idr[1]) },
	{ "TRCIDR2", ETMV4_ETE, FIELD(idr[2]) },
	{ "TRCIDR8", ETMV4_ETE, FIELD(idr[8]) },
	{ "TRCIDR9", ETMV4_ETE, FIELD(idr[9]) },
	{ "TRCIDR10", ETMV4_ETE, FIELD(idr[10]) },
	{ "TRCIDR11", ETMV4_ETE, FIELD(idr[11]) },
	{ "TRCIDR12", ETMV4_ETE, FIELD(idr[12]) },
	{ "TRCIDR13", ETMV4_ETE, FIELD(idr[13]) },
	{ "ETMCR", ETMV3_PTM, FIELD(etmcr) },
	{ "ETMIDR", ETMV3_PTM, FIELD(etmidr) },
	{ "ETMCCER", ETMV3_PTM, FIELD(etmccer) },
	{ "STMTCSR", BIT(HWTD_CS_STM), FIELD(stmtcsr) },
	{ "STMFEAT1R", BIT(HWTD_CS_STM), FIELD(stmfeat1r) },
	{ "STMFEAT3R", BIT(HWTD_CS_STM), FIELD(stmfeat3r) },
	{ "STMDEVID", BIT(HWTD_CS_STM), FIELD(stmdevid) },
	{ "STMHEMASTR", BIT(HWTD_CS_STM), FIELD(stmhemastr) },
	{ "ITMTCR", BIT(HWTD_CS_ITM), FIELD(itmtcr) },
	/* The same under the name that OpenCSD reads; it is written as above. */
	{ "CONTROL_REGISTER", 0, FIELD(itmtcr) },
	{ "TRCTRACEIDR", 0, FIELD(trace_id) },
	{ "ETMTRACEIDR", 0, FIELD(trace_id) },
};

#define N_REGISTERS (sizeof(registers) / sizeof(registers[0]))

/* Values that registers have where nothing else is said: of OpenCSD. */
#define DEFAULT_IDR1 0x4100f403u
#define DEFAULT_DEVARCH 0x47705a13u

/* Bits 22 to 16 of STMTCSR and ITMTCR. */
#define TCR_ID(value) ((value) >> 16 & 0x7f)

static const char *const protocols[] = { "unknown", "etmv3", "ptm", "etmv4",
	"ete", "stm", "itm" };
static const char *const arches[] = { "unknown", "v7", "v8", "v8.3" };
static const char *const profiles[] = { "unknown", "A", "R", "M" };
static const char *const id_rules[] = { "one", "others", "cpu+1" };
static const char *const framings[] = { "none", "memory", "tpiu", "dstream" };

#define NAME(list, i)                                                         \
	((i) < sizeof(list) / sizeof((list)[0]) ? (list)[i] : "unknown")

const char *
hwtd_cs_protocol_name(uint32_t protocol)
{
	return (NAME(protocols, protocol));
}

const char *
hwtd_arm_arch_name(uint32_t arch)
{
	return (NAME(arches, arch));
}

const char *
hwtd_arm_profile_name(uint32_t profile)
{
	return (NAME(profiles, profile));
}

const char *
hwtd_framing_name(uint32_t framing)
{
	return (NAME(framings, framing));
}

/* A register can have two names. */
static uint32_t
bit_of(size_t offset)
{
	uint32_t i = 0;

	while (registers[i].offset != offset)
		i++;
	return (BIT(i));
}

enum hwtdi_coresight_set
hwtdi_coresight_set(struct hwtd_coresight_config *config, uint32_t *told_inout,
    const char *name, size_t n, uint64_t value)
{
	for (size_t i = 0; i < N_REGISTERS; i++) {
		const bool is_id = registers[i].offset == FIELD(trace_id);
		const uint32_t low = (uint32_t)value & (is_id ? 0x7f : ~0u);
		const uint32_t bit = bit_of(registers[i].offset);
		uint8_t *to = (uint8_t *)config + registers[i].offset;
		bool again;

		if (!hwtdi_ini_same(name, n, registers[i].name))
			continue;
		if (value > UINT32_MAX)
			return (HWTDI_CORESIGHT_LARGE);
		again = (*told_inout & bit) != 0 &&
		    memcmp(to, &low, sizeof(low)) != 0;
		*told_inout |= bit;
		memcpy(to, &low, sizeof(low));
		return (again ? HWTDI_CORESIGHT_AGAIN : HWTDI_CORESIGHT_SET);
	}
	return (HWTDI_CORESIGHT_OTHER);
}

void
hwtdi_coresight_finish(struct hwtd_coresight_config *c)
{
	if (c->protocol == HWTD_CS_STM && c->trace_id == 0)
		c->trace_id = TCR_ID(c->stmtcsr);
	if (c->protocol == HWTD_CS_ITM && c->trace_id == 0)
		c->trace_id = TCR_ID(c->itmtcr);
	if ((BIT(c->protocol) & ETMV4_ETE) != 0 && c->idr[1] == 0)
		c->idr[1] = DEFAULT_IDR1;
	if (c->protocol == HWTD_CS_ETE && c->devarch == 0)
		c->devarch = DEFAULT_DEVARCH;
}

uint32_t
hwtdi_coresight_protocol(const char *type, size_t n)
{
	static const struct {
		const char *name;
		uint32_t protocol;
	} types[] = {
		{ "ETM3", HWTD_CS_ETMV3 },
		{ "PFT1", HWTD_CS_PTM },
		{ "PTM1", HWTD_CS_PTM },
		{ "ETM4", HWTD_CS_ETMV4 },
		{ "ETE", HWTD_CS_ETE },
		{ "STM", HWTD_CS_STM },
		{ "ITM", HWTD_CS_ITM },
	};
	const char *point = memchr(type, '.', n);

	if (point != NULL)
		n = (size_t)(point - type);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (hwtdi_ini_same(type, n, types[i].name))
			return (types[i].protocol);
	return (HWTD_CS_UNKNOWN);
}

int
hwtd_coresight_register(const struct hwtd_coresight_config *config,
    size_t index, const char **name_out, uint32_t *value_out)
{
	struct hwtd_coresight_config c;
	int rc;

	if (config == NULL || name_out == NULL || value_out == NULL)
		return (HWTD_E_INVALID);
	rc = hwtdi_options_copy(&c, sizeof(c), config, NULL);
	if (rc != HWTD_OK)
		return (rc);
	if (c.protocol > HWTD_CS_ITM)
		return (HWTD_E_INVALID);
	for (size_t i = 0; i < N_REGISTERS; i++) {
		if ((registers[i].protocols & BIT(c.protocol)) == 0 ||
		    index-- > 0)
			continue;
		*name_out = registers[i].name;
		memcpy(value_out, (const uint8_t *)&c + registers[i].offset,
		    sizeof(*value_out));
		return (HWTD_OK);
	}
	return (HWTD_END);
}

/* A word of one of the lists above, from its second on; 0: it is none. */
static uint32_t
find_name(const char *const *list, uint32_t n_list, const char *at, size_t n)
{
	for (uint32_t i = 1; i < n_list; i++)
		if (hwtdi_ini_same(at, n, list[i]))
			return (i);
	return (0);
}

#define FIND(list, line)                                                      \
	find_name(list, sizeof(list) / sizeof((list)[0]), (line)->value,      \
	    (line)->n_value)

static int
refuse(const struct hwtdi_ini_line *line, const char *what,
    struct hwtd_error *err)
{
	return (hwtdi_fail(err, HWTD_E_CORRUPT,
	    "line %" PRIu32 ": %.*s: '%.*s' %s", line->line,
	    (int)(line->n_key < 40 ? line->n_key : 40), line->key,
	    (int)(line->n_value < 60 ? line->n_value : 60), line->value,
	    what));
}

/* A configuration while its lines are read. */
struct text {
	struct hwtd_coresight_config c;
	/* Registers that were told, and the rest of it as told; 0: not yet. */
	uint32_t told, protocol, arch, profile, ids;
	uint64_t id;
};

/* What is told twice has to be the same; no value is 0. */
static int
take_once(uint32_t *told, uint32_t value, const struct hwtdi_ini_line *line,
    struct hwtd_error *err)
{
	if (*told != 0 && *told != value)
		return (refuse(line, "is not what a line before says", err));
	*told = value;
	return (HWTD_OK);
}

static int
take_arch(struct text *t, const struct hwtdi_ini_line *line,
    struct hwtd_error *err)
{
	struct hwtd_coresight_config *c = &t->c;
	uint32_t arch = FIND(arches, line), profile = c->profile;

	if (arch == 0 &&
	    !hwtdi_arm_core_find(line->value, line->n_value, &arch, &profile))
		return (refuse(line,
		    "is no architecture; v7, v8, v8.3, or the name of a "
		    "processor",
		    err));
	c->arch = arch;
	c->profile = profile;
	return (take_once(&t->arch, arch, line, err));
}

static int
take_register(struct text *t, const struct hwtdi_ini_line *line,
    struct hwtd_error *err)
{
	struct hwtd_coresight_config *c = &t->c;
	uint64_t value = 0;
	const bool is_number = hwtdi_ini_number(line->value, line->n_value,
	    &value);

	if (hwtdi_ini_same(line->key, line->n_key, "trace_id")) {
		c->ids = FIND(id_rules, line);
		if (c->ids != HWTD_CS_IDS_ONE)
			return (take_once(&t->ids, c->ids << 8, line, err));
		if (!is_number || value == 0 || value > HWTD_CS_LAST_ID)
			return (refuse(line,
			    "is no trace ID; 1 to 0x6f, others, or cpu+1",
			    err));
		t->id = value;
		return (take_once(&t->ids, (uint32_t)value, line, err));
	}
	switch (hwtdi_coresight_set(c, &t->told, line->key, line->n_key,
	    value)) {
	case HWTDI_CORESIGHT_SET:
		return (is_number ? HWTD_OK
				  : refuse(line, "is no number", err));
	case HWTDI_CORESIGHT_AGAIN:
		return (refuse(line,
		    is_number ? "is not what a line before says"
			      : "is no number",
		    err));
	case HWTDI_CORESIGHT_LARGE:
		return (refuse(line, "has more than 32 bits", err));
	default:
		break;
	}
	/* A source has many more, which a decoder has no use for. */
	if (line->n_key > 3 &&
	    (hwtdi_ini_same(line->key, 3, "TRC") ||
		hwtdi_ini_same(line->key, 3, "ETM") ||
		hwtdi_ini_same(line->key, 3, "STM") ||
		hwtdi_ini_same(line->key, 3, "ITM")))
		return (HWTD_OK);
	return (hwtdi_fail(err, HWTD_E_CORRUPT,
	    "line %" PRIu32 ": %.*s is no register of a trace source, nor "
	    "protocol, arch, profile or trace_id",
	    line->line, (int)(line->n_key < 60 ? line->n_key : 60),
	    line->key));
}

static int
take_line(struct text *t, const struct hwtdi_ini_line *line,
    struct hwtd_error *err)
{
	struct hwtd_coresight_config *c = &t->c;

	/* So that a device of a snapshot can be given. */
	if (line->is_section ||
	    hwtdi_ini_same(line->key, line->n_key, "name") ||
	    hwtdi_ini_same(line->key, line->n_key, "class") ||
	    hwtdi_ini_same(line->key, line->n_key, "location"))
		return (HWTD_OK);
	if (hwtdi_ini_same(line->key, line->n_key, "protocol") ||
	    hwtdi_ini_same(line->key, line->n_key, "type")) {
		c->protocol = FIND(protocols, line);
		if (c->protocol == HWTD_CS_UNKNOWN)
			c->protocol = hwtdi_coresight_protocol(line->value,
			    line->n_value);
		return (c->protocol != HWTD_CS_UNKNOWN
			? take_once(&t->protocol, c->protocol, line, err)
			: refuse(line,
			      "is no protocol; etmv3, ptm, etmv4, ete, stm, "
			      "itm",
			      err));
	}
	if (hwtdi_ini_same(line->key, line->n_key, "profile")) {
		c->profile = FIND(profiles, line);
		return (c->profile != 0
			? take_once(&t->profile, c->profile, line, err)
			: refuse(line, "is no profile; A, R, M", err));
	}
	if (hwtdi_ini_same(line->key, line->n_key, "arch"))
		return (take_arch(t, line, err));
	return (take_register(t, line, err));
}

int
hwtd_coresight_parse(const char *text, size_t n,
    struct hwtd_coresight_config *out, struct hwtd_error *err)
{
	struct text t = { .c.size = sizeof(t.c) };
	struct hwtd_coresight_config *c = &t.c;
	struct hwtdi_ini ini = { .at = text, .left = n };
	struct hwtdi_ini_line line;
	int rc;

	if ((text == NULL && n != 0) || out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL"));
	if (n > HWTDI_INI_MAX_TEXT)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "%zu bytes; at most %" PRIu64, n, HWTDI_INI_MAX_TEXT));
	do {
		rc = hwtdi_ini_next(&ini, &line, err);
		if (rc == HWTD_OK)
			rc = take_line(&t, &line, err);
	} while (rc == HWTD_OK);
	if (rc != HWTD_END)
		return (rc);
	if (c->protocol == HWTD_CS_UNKNOWN)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "does not say which protocol; for instance "
		    "protocol=etmv4"));
	hwtdi_coresight_finish(c);
	if (t.id != 0 || c->ids != HWTD_CS_IDS_ONE)
		c->trace_id = (uint32_t)t.id;
	if (c->trace_id > HWTD_CS_LAST_ID)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "trace ID %#" PRIx32 " of a source; at most 0x6f",
		    c->trace_id));
	rc = hwtdi_result_copy(out, c, sizeof(*c));
	return (rc == HWTD_OK ? rc
			      : hwtdi_fail(err, rc,
				    "the size of the configuration is not "
				    "set"));
}
