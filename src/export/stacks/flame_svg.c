/*
 * Flame graphs: a picture that any browser shows, with all that it needs in it.
 *
 * Source: W3C, "Scalable Vector Graphics (SVG) 1.1"; "Extensible Markup Language
 *         (XML) 1.0", "Characters".
 */
#include <string.h>

#include "base/fail.h"
#include "base/ratio.h"
#include "export/stacks/flame_boxes.h"
#include "export/stacks/flame_script.h"
#include "export/formats.h"
#include "export/stacks/line_text.h"
#include "export/plain_text.h"

#define STEP_BYTES 65536u

/* Pixels. */
#define WIDTH 1180u
#define MARGIN 10u
#define ROW 16u
#define HEAD 76u
#define FOOT 30u
/* Coordinates have so many digits behind the point: zooming enlarges them. */
#define DIGITS 4u
#define UNIT 10000u
/* Tenths of a pixel: of a character of 12 pixels; and the narrowest frame. */
#define CHARACTER 72u
#define MIN_WIDTH 3u
#define LEAST_CHARACTERS 3u

enum phase {
	PHASE_HEAD,
	PHASE_BOXES,
	PHASE_END
};

struct svg {
	struct hwtdi_flame_source source;
	struct hwtdi_flame_boxes boxes;
	enum phase phase;
	bool compared;
};

static int
open_svg(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct svg *svg = ex->state;
	const uint32_t min = ex->options.min_width != 0 ? ex->options.min_width
							: MIN_WIDTH;
	int rc;

	if (min > WIDTH * 10)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "frames of %u tenths of a pixel and more: the picture has "
		    "%u",
		    min, WIDTH * 10));
	rc = hwtdi_flame_source_open(ex, &svg->source, HWTD_FLAME_BY_THREAD,
	    err);
	if (rc != HWTD_OK)
		return (rc);
	svg->compared = (svg->source.info.flags & HWTD_FLAMEF_COMPARED) != 0;
	rc = hwtdi_flame_boxes_open(&svg->boxes, ex->ctx, &svg->source,
	    (uint64_t)min, (uint64_t)WIDTH * 10, err);
	if (rc != HWTD_OK)
		hwtdi_flame_source_close(ex, &svg->source);
	ex->info.merged += svg->boxes.narrow;
	return (rc);
}

/* Texts. */

/* Of the character at the front, or of what is none. */
static size_t
bytes_of(const char *text, size_t n)
{
	const size_t bytes = hwtdi_utf8_bytes(text, n);

	return (bytes != 0 ? bytes : 1);
}

/* Any bytes as text of XML; `max` characters, "" if there is no room for any. */
static void
put_text(struct hwtdi_sink *sink, const char *text, size_t max)
{
	const size_t n = strlen(text), taken = hwtdi_name_bytes(text, n);
	size_t count = 0, i;

	for (i = 0; i < taken && count < max; count++) {
		const size_t bytes = hwtdi_shown_bytes(text + i, taken - i);

		switch (bytes == 0 ? '\0' : text[i]) {
		case '\0':
			hwtdi_sink_put(sink, "\xef\xbf\xbd", 3);
			break;
		case '&':
			hwtdi_sink_text(sink, "&amp;");
			break;
		case '<':
			hwtdi_sink_text(sink, "&lt;");
			break;
		case '>':
			hwtdi_sink_text(sink, "&gt;");
			break;
		case '"':
			hwtdi_sink_text(sink, "&quot;");
			break;
		case '\'':
			hwtdi_sink_text(sink, "&#39;");
			break;
		default:
			hwtdi_sink_put(sink, text + i, bytes);
		}
		i += bytes != 0 ? bytes : bytes_of(text + i, taken - i);
	}
	if (i < n)
		hwtdi_sink_text(sink, max == SIZE_MAX ? "..." : "..");
}

/* Characters that put_text() would write, up to `max`. */
static size_t
count_text(const char *text, size_t max)
{
	const size_t n = strlen(text);
	size_t count = 0;

	for (size_t i = 0; i < n && count < max; count++)
		i += bytes_of(text + i, n - i);
	return (count);
}

/* 1234567 as "1,234,567". */
static void
put_number(struct hwtdi_sink *sink, uint64_t n)
{
	char text[32];
	size_t at = sizeof(text);

	for (unsigned int digits = 0; digits == 0 || n != 0; digits++) {
		if (digits != 0 && digits % 3 == 0)
			text[--at] = ',';
		text[--at] = (char)('0' + n % 10);
		n /= 10;
	}
	hwtdi_sink_put(sink, text + at, sizeof(text) - at);
}

/* Time with the unit that makes it readable, else a number of things. */
static void
put_amount(struct hwtdi_sink *sink, uint32_t value, uint64_t n)
{
	static const struct {
		uint64_t least;
		const char *unit;
		unsigned int digits;
	} units[] = {
		{ UINT64_C(1000000000), " s", 9 },
		{ 1000000, " ms", 6 },
		{ 1000, " us", 3 },
		{ 0, " ns", 0 },
	};
	size_t i = 0;

	if (value != HWTD_VALUE_TIME) {
		put_number(sink, n);
		hwtdi_sink_text(sink,
		    value == HWTD_VALUE_INSNS	     ? " instructions"
			: value == HWTD_VALUE_CYCLES ? " cycles"
						     : " calls");
		return;
	}
	while (n < units[i].least)
		i++;
	if (units[i].digits == 0)
		hwtdi_sink_u64(sink, n);
	else
		hwtdi_sink_decimal(sink, n / (units[i].least / 1000), 3);
	hwtdi_sink_text(sink, units[i].unit);
}

/* Of a hundred, with two decimals. */
static uint64_t
hundredths(uint64_t part, uint64_t whole)
{
	if (whole == 0)
		return (0);
	return ((uint64_t)(((hwtdi_uint128)part * 10000 + whole / 2) / whole));
}

static void
put_share(struct hwtdi_sink *sink, uint64_t part, uint64_t whole)
{
	const uint64_t share = hundredths(part, whole);

	hwtdi_sink_format(sink, "%llu.%02llu %%",
	    (unsigned long long)(share / 100),
	    (unsigned long long)(share % 100));
}

/* What stands around the frames. */

static void
put_line(struct hwtdi_sink *sink, const char *class, unsigned int x,
    unsigned int y, const char *more)
{
	hwtdi_sink_format(sink, "<text class=\"hw-%s\" x=\"%u\" y=\"%u\"%s>",
	    class, x, y, more);
}

static void
put_what(struct hwtd_export *ex, const struct svg *svg)
{
	struct hwtdi_sink *sink = &ex->sink;
	const struct hwtd_flame_info *info = &svg->source.info;

	put_line(sink, "sub", MARGIN, 44, "");
	put_amount(sink, info->value, info->total);
	if (svg->compared) {
		hwtdi_sink_text(sink, "; before: ");
		put_amount(sink, info->value, info->base_total);
		hwtdi_sink_text(sink, ".  Red: more than before, blue: less");
	}
	if (svg->boxes.gone_frames != 0) {
		hwtdi_sink_text(sink, ".  ");
		put_number(sink, svg->boxes.gone_frames);
		hwtdi_sink_text(sink, " frames were there before only: ");
		put_share(sink, svg->boxes.gone,
		    svg->compared ? svg->boxes.base_total : 0);
	}
	hwtdi_sink_text(sink, "</text>\n");
}

static void
put_unseen(struct hwtd_export *ex, const struct svg *svg)
{
	struct hwtdi_sink *sink = &ex->sink;
	const struct hwtd_flame_info *info = &svg->source.info;

	put_line(sink, "sub", MARGIN, 60, "");
	if (info->gaps == 0) {
		hwtdi_sink_text(sink, "No gaps");
	} else {
		hwtdi_sink_text(sink, "Not seen: ");
		put_number(sink, info->gaps);
		hwtdi_sink_text(sink, info->gaps == 1 ? " gap" : " gaps");
		hwtdi_sink_text(sink, " of ");
		put_number(sink, info->gap_bytes);
		hwtdi_sink_text(sink, " bytes of trace");
	}
	if (info->value == HWTD_VALUE_TIME && info->gap != 0) {
		hwtdi_sink_text(sink, ", ");
		put_share(sink, info->gap, info->total);
		hwtdi_sink_text(sink, " of the time");
	}
	if (info->base_gaps != 0) {
		hwtdi_sink_text(sink, "; before: ");
		put_number(sink, info->base_gaps);
		hwtdi_sink_text(sink, " of ");
		put_number(sink, info->base_gap_bytes);
		hwtdi_sink_text(sink, " bytes");
	}
	if (svg->boxes.narrow != 0) {
		hwtdi_sink_text(sink, ".  ");
		put_number(sink, svg->boxes.narrow);
		hwtdi_sink_text(sink,
		    svg->boxes.narrow == 1 ? " frame is" : " frames are");
		hwtdi_sink_text(sink, " too narrow to be drawn one by one");
	}
	if (info->smaller + info->deeper != 0) {
		hwtdi_sink_text(sink, ".  ");
		put_number(sink, info->smaller + info->deeper);
		hwtdi_sink_text(sink, " are summed up");
	}
	if ((info->flags & HWTD_FLAMEF_SATURATED) != 0)
		hwtdi_sink_text(sink, ".  Sums are beyond 64 bits");
	hwtdi_sink_text(sink, "</text>\n");
}

static void
put_head(struct hwtd_export *ex, const struct svg *svg)
{
	struct hwtdi_sink *sink = &ex->sink;
	const char *title = ex->options.title[0] != '\0' ? ex->options.title
							 : "Flame graph";
	const unsigned int height = HEAD + svg->boxes.rows * ROW + FOOT;
	const bool icicle = (ex->options.flags & HWTD_EXPORT_ICICLE) != 0;

	hwtdi_sink_text(sink, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	hwtdi_sink_format(sink,
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" "
	    "width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" ",
	    WIDTH + 2 * MARGIN, height, WIDTH + 2 * MARGIN, height);
	hwtdi_sink_format(sink,
	    "font-family=\"monospace\" font-size=\"12\" data-width=\"%u\" "
	    "data-em=\"7.2\" data-icicle=\"%d\">\n<title>",
	    WIDTH, icicle);
	put_text(sink, title, SIZE_MAX);
	hwtdi_sink_text(sink, "</title>\n");
	hwtdi_flame_style(sink);
	hwtdi_sink_format(sink,
	    "<rect width=\"%u\" height=\"%u\" fill=\"#fffdf5\"/>\n",
	    WIDTH + 2 * MARGIN, height);
	put_line(sink, "title", MARGIN, 24, " font-size=\"16\"");
	put_text(sink, title, 100);
	hwtdi_sink_text(sink, "</text>\n");
	put_what(ex, svg);
	put_unseen(ex, svg);
	put_line(sink, "b hw-reset", WIDTH - 180, 24,
	    " visibility=\"hidden\"");
	hwtdi_sink_text(sink, "reset zoom</text>\n");
	put_line(sink, "b hw-find", WIDTH - 35, 24, " visibility=\"hidden\"");
	hwtdi_sink_text(sink, "search</text>\n");
	put_line(sink, "hits", WIDTH + MARGIN, height - 10,
	    " text-anchor=\"end\"");
	hwtdi_sink_text(sink, "</text>\n");
	put_line(sink, "details", MARGIN, height - 10, "");
	hwtdi_sink_text(sink, "</text>\n<g>\n");
}

/* Frames. */

/* The same for a name in all pictures. */
static uint32_t
name_hash(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name != '\0'; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619u;
	return (hash ^ hash >> 15);
}

static uint32_t
color_of(const struct hwtd_flame_frame *frame)
{
	const uint32_t hash = name_hash(frame->name);

	switch (frame->kind) {
	case HWTD_FLAME_FUNCTION:
		return ((205 + hash % 50) << 16 |
		    (80 + (hash >> 8) % 140) << 8 | (hash >> 16) % 55);
	case HWTD_FLAME_UNKNOWN:
		return (0xd2c9a0);
	case HWTD_FLAME_UNTRACED:
		return (0x9fd0c0);
	case HWTD_FLAME_GAP:
		return (0x8a8a8a);
	case HWTD_FLAME_OFF:
		return (0xb9c7d6);
	case HWTD_FLAME_THREAD:
		return (0xa9c9ea);
	case HWTD_FLAME_ALL:
		return (0xe6e6e6);
	default:
		return (0xd9d9d9);
	}
}

/* White: no change; red or blue: the most there is. */
static uint32_t
change_color(const struct svg *svg, const struct hwtdi_flame_box *box)
{
	const bool more = box->value > box->base;
	const uint64_t change = more ? box->value - box->base
				     : box->base - box->value;
	const uint64_t most = svg->boxes.most_change;
	uint32_t other;

	if (most == 0 || change == 0)
		return (0xf2f2f2);
	other = 235 -
	    (uint32_t)((hwtdi_uint128)(change < most ? change : most) * 185 /
		most);
	return (more ? 0xff0000 | other << 8 | other
		     : other << 16 | other << 8 | 0xff);
}

static void
put_tip(struct hwtd_export *ex, const struct svg *svg,
    const struct hwtdi_flame_box *box, const struct hwtd_flame_frame *frame)
{
	struct hwtdi_sink *sink = &ex->sink;
	const struct hwtd_flame_info *info = &svg->source.info;

	put_text(sink, frame->name, SIZE_MAX);
	hwtdi_sink_char(sink, '\n');
	put_amount(sink, info->value, box->value);
	hwtdi_sink_text(sink, ", ");
	put_share(sink, box->value, info->total);
	if (svg->compared) {
		hwtdi_sink_text(sink, "; before: ");
		if ((info->flags & HWTD_FLAMEF_SCALED) == 0) {
			put_amount(sink, info->value, box->base);
			hwtdi_sink_text(sink, ", ");
		}
		put_share(sink, box->base, svg->boxes.base_total);
	}
	if (box->frames != 0) {
		hwtdi_sink_char(sink, '\n');
		put_number(sink, box->frames);
		hwtdi_sink_text(sink, box->frames == 1 ? " frame" : " frames");
	}
	if (frame->image != NULL) {
		hwtdi_sink_char(sink, '\n');
		put_text(sink, frame->image, SIZE_MAX);
	}
}

static uint64_t
place(const struct svg *svg, uint64_t off)
{
	const uint64_t total = svg->boxes.total;

	/* A sum that had no room may be less than its parts. */
	if (total == 0 || off >= total)
		return (off == 0 ? 0 : (uint64_t)WIDTH * UNIT);
	return ((uint64_t)((hwtdi_uint128)off * WIDTH * UNIT / total));
}

static void
put_box(struct hwtd_export *ex, const struct svg *svg,
    const struct hwtdi_flame_box *box)
{
	struct hwtdi_sink *sink = &ex->sink;
	const bool icicle = (ex->options.flags & HWTD_EXPORT_ICICLE) != 0;
	const uint32_t row = icicle ? box->depth
				    : svg->boxes.rows - 1 - box->depth;
	const uint64_t x = place(svg, box->off), y = HEAD + row * ROW;
	const uint64_t end = box->off > UINT64_MAX - box->value
	    ? UINT64_MAX
	    : box->off + box->value;
	uint64_t width = place(svg, end) - x;
	struct hwtd_flame_frame frame = { .kind = HWTD_FLAME_SMALLER,
		.name = "[narrow]" };
	size_t room;

	if (box->depth == 0)
		width = (uint64_t)WIDTH * UNIT;
	if (box->frame != HWTD_NO_ID)
		hwtdi_flame_source_frame(&svg->source, box->frame, &frame);
	hwtdi_sink_text(sink, "<g class=\"hw-f\"><title>");
	put_tip(ex, svg, box, &frame);
	hwtdi_sink_text(sink, "</title><rect x=\"");
	hwtdi_sink_decimal(sink, x + MARGIN * UNIT, DIGITS);
	hwtdi_sink_format(sink, "\" y=\"%llu\" width=\"",
	    (unsigned long long)y);
	hwtdi_sink_decimal(sink, width, DIGITS);
	hwtdi_sink_format(sink, "\" height=\"%u\" fill=\"#%06x\"/>", ROW - 1,
	    (unsigned int)(svg->compared ? change_color(svg, box)
					 : color_of(&frame)));
	room = width < 6 * UNIT
	    ? 0
	    : (size_t)((width - 6 * UNIT) / (CHARACTER * (UNIT / 10)));
	if (room >= LEAST_CHARACTERS) {
		hwtdi_sink_text(sink, "<text x=\"");
		hwtdi_sink_decimal(sink, x + (MARGIN + 3) * UNIT, DIGITS);
		hwtdi_sink_format(sink, "\" y=\"%llu\">",
		    (unsigned long long)y + 12);
		put_text(sink, frame.name,
		    count_text(frame.name, room + 1) > room ? room - 2 : room);
		hwtdi_sink_text(sink, "</text>");
	}
	hwtdi_sink_text(sink, "</g>\n");
	ex->info.rows++;
}

static int
step_svg(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct svg *svg = ex->state;
	const uint64_t begin = ex->sink.put;
	struct hwtdi_flame_box box;

	(void)err;
	if (svg->phase == PHASE_HEAD) {
		put_head(ex, svg);
		svg->phase = PHASE_BOXES;
	}
	while (ex->sink.put - begin < STEP_BYTES) {
		if (!hwtdi_flame_boxes_next(&svg->boxes, &box)) {
			hwtdi_sink_text(&ex->sink, "</g>\n");
			hwtdi_flame_script(&ex->sink);
			hwtdi_sink_text(&ex->sink, "</svg>\n");
			return (HWTD_END);
		}
		put_box(ex, svg, &box);
	}
	return (HWTD_OK);
}

static void
close_svg(struct hwtd_export *ex)
{
	struct svg *svg = ex->state;

	hwtdi_flame_boxes_close(&svg->boxes);
	hwtdi_flame_source_close(ex, &svg->source);
}

const struct hwtdi_exporter_ops hwtdi_flame_svg_ops = {
	.format = HWTD_FORMAT_FLAME_SVG,
	.source = HWTD_SOURCE_PROFILE,
	.name = "flame-svg",
	.suffixes = ".svg",
	.viewer = "a browser",
	.viewer_bytes = UINT64_C(50000000),
	.state_bytes = sizeof(struct svg),
	.open = open_svg,
	.step = step_svg,
	.close = close_svg,
};
