/*
 * What exception numbers of CoreSight protocols mean.
 */
#include "decode/coresight/cs_decoder.h"

/* ETMv4 and ETE, profiles A and R. */
static uint32_t
of_application(uint32_t number)
{
	switch (number) {
	case 0x0:
		return (HWTD_ASYNC_STARTUP);
	case 0x2:
		return (HWTD_ASYNC_SYSTEM_CALL);
	case 0xe:
	case 0xf:
		return (HWTD_ASYNC_INTERRUPT);
	default:
		return (HWTD_ASYNC_EXCEPTION);
	}
}

/* Profile M: numbers of the processor's own table. */
static uint32_t
of_microcontroller(uint32_t number)
{
	switch (number) {
	case 1:
		return (HWTD_ASYNC_STARTUP);
	case 11:
		return (HWTD_ASYNC_SYSTEM_CALL);
	case 2:
	case 14:
	case 15:
		return (HWTD_ASYNC_INTERRUPT);
	case 24:
	case 25:
	case 26:
		return (HWTD_ASYNC_EXCEPTION);
	default:
		return (number >= 16 ? HWTD_ASYNC_INTERRUPT
				     : HWTD_ASYNC_EXCEPTION);
	}
}

/* ETMv3 and PFT. */
static uint32_t
of_older(uint32_t number)
{
	switch (number) {
	case 0x8:
		return (HWTD_ASYNC_STARTUP);
	case 0x2:
	case 0x3:
	case 0xa:
		return (HWTD_ASYNC_SYSTEM_CALL);
	case 0xe:
	case 0xf:
		return (HWTD_ASYNC_INTERRUPT);
	default:
		return (HWTD_ASYNC_EXCEPTION);
	}
}

uint32_t
hwtdi_cs_exception_type(const struct hwtd_coresight_config *config,
    uint32_t number)
{
	if (config->profile == HWTD_ARM_PROFILE_M)
		return (of_microcontroller(number));
	if (config->protocol == HWTD_CS_ETMV3 ||
	    config->protocol == HWTD_CS_PTM)
		return (of_older(number));
	return (of_application(number));
}
