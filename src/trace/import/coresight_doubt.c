/*
 * What about a configuration of a CoreSight source cannot be, or contradicts
 * itself: then the wrong registers were read, or those of another source.
 */
#include <hwtdecode/coresight.h>

#include <string.h>

#include "base/fail.h"

#define FIELD(name) offsetof(struct hwtd_coresight_config, name)
#define BIT(protocol) (1u << (protocol))
#define ETMV4_ETE (BIT(HWTD_CS_ETMV4) | BIT(HWTD_CS_ETE))
#define ETMV3_PTM (BIT(HWTD_CS_ETMV3) | BIT(HWTD_CS_PTM))

#define MAX_CONDITIONS 3

/* Bits of a register that shall have, or not have, a value. */
struct condition {
	size_t offset;
	uint32_t mask;
	uint32_t value;
	/* Of `mask`: it holds if they are another value. */
	bool other;
};

/*
 * If all conditions hold, what the text says of the register.
 *
 * Source: Arm ETM architecture specifications (IHI 0014, 0035, 0064), "Register
 * descriptions"; ETE, in the Arm ARM; STM (IHI 0054); Armv7-M ARM, "ITM_TCR".
 */
struct doubt {
	uint32_t protocols;
	const char *name;
	struct condition conditions[MAX_CONDITIONS];
	const char *text;
};

/* clang-format off */
#define IS(field, mask, value) { FIELD(field), (mask), (value), false }
#define IS_NOT(field, mask, value) { FIELD(field), (mask), (value), true }
/* A feature that is on, and a field that says that there is none. */
#define ON_WITHOUT(on_mask, id, id_mask) \
	{ IS_NOT(configr, on_mask, 0), IS(id, id_mask, 0), \
	    IS_NOT(id, UINT32_MAX, 0) }

static const struct doubt doubts[] = {
	{ ETMV4_ETE, "TRCIDR0", { IS(idr[0], UINT32_MAX, 0) },
	    "is 0: not read, or the trace unit was not powered" },
	{ BIT(HWTD_CS_ETMV4), "TRCIDR1", { IS_NOT(idr[1], 0xf00, 0x400) },
	    "names another architecture than ETMv4 (bits 11 to 8)" },
	{ BIT(HWTD_CS_ETE), "TRCDEVARCH", { IS_NOT(devarch, 0xffff, 0x5a13) },
	    "names another architecture than ETE (bits 15 to 0)" },
	{ ETMV4_ETE, "TRCIDR2", { IS_NOT(idr[2], 0x1f, 4),
	    IS_NOT(idr[2], 0x1f, 8) },
	    "addresses have neither 4 nor 8 bytes (bits 4 to 0)" },
	{ ETMV4_ETE, "TRCCONFIGR", ON_WITHOUT(1u << 3, idr[0], 1u << 5),
	    "branch broadcast is on, which TRCIDR0 does not have" },
	{ ETMV4_ETE, "TRCCONFIGR", ON_WITHOUT(1u << 4, idr[0], 1u << 7),
	    "cycle counts are on, which TRCIDR0 does not have" },
	{ ETMV4_ETE, "TRCCONFIGR", ON_WITHOUT(1u << 6, idr[2], 0x1fu << 5),
	    "context IDs are on, which TRCIDR2 does not have" },
	{ ETMV4_ETE, "TRCCONFIGR", ON_WITHOUT(1u << 7, idr[2], 0x1fu << 10),
	    "virtual context IDs are on, which TRCIDR2 does not have" },
	{ ETMV4_ETE, "TRCCONFIGR", ON_WITHOUT(7u << 8, idr[0], 1u << 6),
	    "conditional tracing is on, which TRCIDR0 does not have" },
	{ ETMV4_ETE, "TRCCONFIGR", ON_WITHOUT(1u << 11, idr[0], 0x1fu << 24),
	    "timestamps are on, which TRCIDR0 does not have" },
	{ ETMV4_ETE, "TRCCONFIGR", ON_WITHOUT(1u << 12, idr[0], 1u << 9),
	    "the return stack is on, which TRCIDR0 does not have" },
	{ ETMV4_ETE, "TRCCONFIGR", ON_WITHOUT(3u << 13, idr[0], 3u << 15),
	    "Q elements are on, which TRCIDR0 does not have" },
	{ BIT(HWTD_CS_ETMV4), "TRCCONFIGR",
	    ON_WITHOUT(3u << 16, idr[0], 3u << 3),
	    "data tracing is on, which TRCIDR0 does not have" },
	{ BIT(HWTD_CS_ETE), "TRCCONFIGR", { IS_NOT(configr, 3u << 16, 0) },
	    "data tracing is on, which no ETE has" },
	{ ETMV3_PTM, "ETMIDR", { IS(etmidr, UINT32_MAX, 0) },
	    "is 0: not read, or the trace unit was not powered" },
	{ BIT(HWTD_CS_ETMV3), "ETMIDR", { IS_NOT(etmidr, 0xf00, 0x200),
	    IS_NOT(etmidr, UINT32_MAX, 0) },
	    "names another architecture than ETMv3 (bits 11 to 8)" },
	{ BIT(HWTD_CS_PTM), "ETMIDR", { IS_NOT(etmidr, 0xf00, 0x300),
	    IS_NOT(etmidr, UINT32_MAX, 0) },
	    "names another architecture than PFT (bits 11 to 8)" },
	{ ETMV3_PTM, "ETMCR", { IS_NOT(etmcr, 1, 0) },
	    "the trace unit is powered down (bit 0)" },
	{ ETMV3_PTM, "ETMCR", { IS_NOT(etmcr, 1u << 28, 0),
	    IS(etmccer, 1u << 22, 0) },
	    "timestamps are on, which ETMCCER does not have" },
	{ BIT(HWTD_CS_PTM), "ETMCR", { IS_NOT(etmcr, 1u << 29, 0),
	    IS(etmccer, 1u << 23, 0) },
	    "the return stack is on, which ETMCCER does not have" },
	{ BIT(HWTD_CS_STM), "STMFEAT1R", { IS_NOT(stmfeat1r, 0xf, 1),
	    IS_NOT(stmfeat1r, UINT32_MAX, 0) },
	    "the protocol is not STPv2 (bits 3 to 0)" },
	{ BIT(HWTD_CS_STM), "STMTCSR", { IS(stmtcsr, 1, 0),
	    IS_NOT(stmtcsr, UINT32_MAX, 0) },
	    "the STM is not enabled (bit 0)" },
	{ BIT(HWTD_CS_ITM), "ITMTCR", { IS(itmtcr, 1, 0),
	    IS_NOT(itmtcr, UINT32_MAX, 0) },
	    "the ITM is not enabled (bit 0)" },
};
/* clang-format on */

static bool
holds(const struct hwtd_coresight_config *config, const struct doubt *doubt)
{
	if ((doubt->protocols & BIT(config->protocol)) == 0)
		return (false);
	for (size_t i = 0; i < MAX_CONDITIONS; i++) {
		const struct condition *c = &doubt->conditions[i];
		uint32_t value;

		memcpy(&value, (const uint8_t *)config + c->offset,
		    sizeof(value));
		if (((value & c->mask) != c->value) != c->other)
			return (false);
	}
	return (true);
}

int
hwtd_coresight_doubt(const struct hwtd_coresight_config *config, size_t index,
    const char **name_out, const char **text_out)
{
	struct hwtd_coresight_config c;
	int rc;

	if (config == NULL || name_out == NULL || text_out == NULL)
		return (HWTD_E_INVALID);
	rc = hwtdi_options_copy(&c, sizeof(c), config, NULL);
	if (rc != HWTD_OK)
		return (rc);
	if (c.protocol > HWTD_CS_ITM)
		return (HWTD_E_INVALID);
	for (size_t i = 0; i < sizeof(doubts) / sizeof(doubts[0]); i++) {
		const struct doubt *d = &doubts[i];

		if (!holds(&c, d) || index-- > 0)
			continue;
		*name_out = d->name;
		*text_out = d->text;
		return (HWTD_OK);
	}
	return (HWTD_END);
}
