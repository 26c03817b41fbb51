/*
 * CoreSight sources of a raw stream, as options say: "protocol=etmv4",
 * "TRCCONFIGR=0x1851", ... for each of them.
 */
#include "flow.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct word {
	const char *name;
	uint32_t value;
};

static const struct word protocols[] = { { "etmv3", HWTD_CS_ETMV3 },
	{ "ptm", HWTD_CS_PTM }, { "etmv4", HWTD_CS_ETMV4 },
	{ "ete", HWTD_CS_ETE }, { "stm", HWTD_CS_STM }, { "itm", HWTD_CS_ITM },
	{ NULL, 0 } };

static const struct word archs[] = { { "v7", HWTD_ARM_ARCH_V7 },
	{ "v8", HWTD_ARM_ARCH_V8 }, { "v8.3", HWTD_ARM_ARCH_V8_3 },
	{ NULL, 0 } };

static const struct word profiles[] = { { "a", HWTD_ARM_PROFILE_A },
	{ "r", HWTD_ARM_PROFILE_R }, { "m", HWTD_ARM_PROFILE_M },
	{ NULL, 0 } };

static const struct word framings[] = { { "none", HWTD_FRAMING_NONE },
	{ "memory", HWTD_FRAMING_MEMORY }, { "tpiu", HWTD_FRAMING_TPIU },
	{ "dstream", HWTD_FRAMING_DSTREAM }, { NULL, 0 } };

static uint32_t
value_of(const struct word *words, const char *text)
{
	for (; words->name != NULL; words++)
		if (strcmp(words->name, text) == 0)
			return (words->value);
	flow_die("--coresight: cannot read '%s'", text);
}

static uint32_t
register_of(const char *text)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno != 0 || end == text || *end != '\0' || value > UINT32_MAX)
		flow_die("--coresight: cannot read '%s'", text);
	return ((uint32_t)value);
}

/* The register of that name, or NULL. */
static uint32_t *
find_register(struct hwtd_coresight_config *c, const char *name)
{
	const struct {
		const char *name;
		uint32_t *at;
	} registers[] = {
		{ "TRCTRACEIDR", &c->trace_id },
		{ "TRCCONFIGR", &c->configr },
		{ "TRCDEVARCH", &c->devarch },
		{ "ETMTRACEIDR", &c->trace_id },
		{ "ETMCR", &c->etmcr },
		{ "ETMIDR", &c->etmidr },
		{ "ETMCCER", &c->etmccer },
		{ "STMTCSR", &c->stmtcsr },
	};
	char *end;
	unsigned long i;

	for (size_t k = 0; k < sizeof(registers) / sizeof(registers[0]); k++)
		if (strcmp(name, registers[k].name) == 0)
			return (registers[k].at);
	if (strncmp(name, "TRCIDR", 6) != 0 ||
	    !isdigit((unsigned char)name[6]))
		return (NULL);
	i = strtoul(name + 6, &end, 10);
	return (*end == '\0' && i < HWTD_CS_IDRS ? &c->idr[i] : NULL);
}

void
flow_coresight_set(struct flow_coresight *coresight, char *text)
{
	char *value = strchr(text, '=');
	struct hwtd_coresight_config *c;
	uint32_t *at;

	if (value == NULL)
		flow_die("--coresight: cannot read '%s'", text);
	*value++ = '\0';
	if (strcmp(text, "framing") == 0) {
		coresight->framing = value_of(framings, value);
		return;
	}
	/* What was said of a source holds for those that follow. */
	if (strcmp(text, "protocol") == 0 || coresight->n_sources == 0 ||
	    (strcmp(text, "TRCTRACEIDR") == 0 &&
		coresight->sources[coresight->n_sources - 1].trace_id != 0)) {
		const size_t n = coresight->n_sources;

		if (n == FLOW_CORESIGHT_SOURCES)
			flow_die("--coresight: too many sources");
		c = &coresight->sources[n];
		if (n > 0)
			*c = c[-1];
		c->size = sizeof(*c);
		c->trace_id = 0;
		coresight->n_sources = n + 1;
	}
	c = &coresight->sources[coresight->n_sources - 1];
	if (strcmp(text, "protocol") == 0) {
		c->protocol = value_of(protocols, value);
		return;
	}
	if (strcmp(text, "arch") == 0) {
		c->arch = value_of(archs, value);
		return;
	}
	if (strcmp(text, "profile") == 0) {
		c->profile = value_of(profiles, value);
		return;
	}
	at = find_register(c, text);
	if (at == NULL)
		flow_die("--coresight: there is no '%s'", text);
	*at = register_of(value);
}

uint32_t
flow_coresight_add(struct hwtd_trace *trace,
    const struct flow_coresight *coresight,
    const struct hwtd_stream_desc *like)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_stream_desc desc = *like;
	uint32_t first = 0, id;

	desc.tech = HWTD_TECH_CORESIGHT;
	desc.pt = NULL;
	if (coresight->framing != HWTD_FRAMING_NONE) {
		desc.framing = coresight->framing;
		if (hwtd_trace_add_stream(trace, &desc, &first, &err) !=
		    HWTD_OK)
			flow_die("sink: %s", err.message);
		desc.framing = HWTD_FRAMING_NONE;
		desc.sink_plus_1 = first + 1;
	} else if (coresight->n_sources != 1)
		flow_die("--coresight: several sources need frames");
	for (size_t i = 0; i < coresight->n_sources; i++) {
		desc.coresight = &coresight->sources[i];
		if (hwtd_trace_add_stream(trace, &desc, &id, &err) != HWTD_OK)
			flow_die("stream: %s", err.message);
	}
	return (first);
}
