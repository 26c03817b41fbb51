/*
 * Positions in a trace as users write them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options/position_option.h"

/* Digits at *text up to `max`; moves *text behind them. */
static bool
read_number(const char **text, uint64_t max, uint64_t *out)
{
	const bool is_hex = (*text)[0] == '0' &&
	    ((*text)[1] == 'x' || (*text)[1] == 'X');
	char *end;

	if ((*text)[0] < '0' || (*text)[0] > '9')
		return (false);
	errno = 0;
	*out = strtoull(*text, &end, is_hex ? 16 : 10);
	if (errno != 0 || *out > max || (is_hex && end < *text + 3))
		return (false);
	*text = end;
	return (true);
}

static bool
read_unit(const char *text, uint64_t *out)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "", 1 },
		{ "ns", 1 },
		{ "us", 1000 },
		{ "ms", 1000000 },
		{ "s", 1000000000 },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(text, units[i].name) != 0)
			continue;
		*out = units[i].ns;
		return (true);
	}
	return (false);
}

/* Whole units and a fraction, which must come to whole nanoseconds. */
static bool
read_time(const char *text, uint64_t *out)
{
	uint64_t whole, unit, part = 0, scale = 1;

	if (!read_number(&text, UINT64_MAX, &whole))
		return (false);
	if (text[0] == '.') {
		text++;
		if (text[0] < '0' || text[0] > '9')
			return (false);
		for (; text[0] >= '0' && text[0] <= '9'; text++) {
			if (scale == 1000000000)
				return (false);
			part = part * 10 + (uint64_t)(text[0] - '0');
			scale *= 10;
		}
	}
	if (!read_unit(text, &unit) || part * unit % scale != 0)
		return (false);
	part = part * unit / scale;
	if (whole > (UINT64_MAX - part) / unit)
		return (false);
	*out = whole * unit + part;
	return (true);
}

bool
parse_position(const char *text, struct hwtd_position *out)
{
	uint64_t stream;

	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	if (strcmp(text, "end") == 0)
		return (true);
	if (strcmp(text, "start") == 0) {
		out->flags = HWTD_POSITION_START;
		return (true);
	}
	if (strchr(text, ':') == NULL) {
		out->flags = HWTD_POSITION_TIME;
		return (read_time(text, &out->time_ns));
	}
	if (!read_number(&text, HWTD_NO_ID - 1, &stream) || text[0] != ':')
		return (false);
	text++;
	out->flags = HWTD_POSITION_OFFSET;
	out->stream = (uint32_t)stream;
	return (read_number(&text, UINT64_MAX, &out->stream_off) &&
	    text[0] == '\0');
}
