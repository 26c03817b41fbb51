/*
 * Formats that are made of profiles, of one that was put together by hand; what is
 * expected was written by hand after the descriptions of the formats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/hand_profile.h"
#include "support/written_export.h"

static struct hand_profile h;
static struct written_export out;

static int
set_up(void **state)
{
	(void)state;
	hand_profile_init(&h, 0);
	return (0);
}

static int
tear_down(void **state)
{
	(void)state;
	written_export_fini(&out);
	hand_profile_fini(&h);
	return (0);
}

static const char *
write_as(uint32_t format, uint32_t value)
{
	written_export_fini(&out);
	assert_int_equal(written_export_make(&out, h.profile, NULL,
			     (struct hwtd_format_options){ .format = format,
				 .value = value,
				 .title = "t" }),
	    HWTD_END);
	return (out.text);
}

static const char *
write_flame(uint32_t format, struct hwtd_flame_options how, uint32_t flags,
    uint32_t min_width)
{
	struct hwtd_flame *flame = NULL;

	written_export_fini(&out);
	how.size = sizeof(how);
	assert_int_equal(hwtd_flame_open(h.profile, &how, &flame, NULL),
	    HWTD_OK);
	assert_int_equal(written_export_make(&out, NULL, flame,
			     (struct hwtd_format_options){ .format = format,
				 .flags = flags,
				 .min_width = min_width,
				 .title = "t" }),
	    HWTD_END);
	hwtd_flame_close(flame);
	return (out.text);
}

static unsigned int
count(const char *text, const char *part)
{
	unsigned int n = 0;

	for (text = strstr(text, part); text != NULL;
	     text = strstr(text + 1, part))
		n++;
	return (n);
}

/* Folded. */

static void
folded_has_a_line_for_each_stack(void **state)
{
	(void)state;
	hand_profile_fill(&h);
	assert_string_equal(write_as(HWTD_FORMAT_FOLDED, 0),
	    "main 100\n"
	    "main;f 230\n"
	    "main;f;[gap] 50\n"
	    "main;f;g 400\n"
	    "main;f;g;f 60\n"
	    "main;g 50\n");
	assert_int_equal(out.info.rows, 6);
	assert_string_equal(write_as(HWTD_FORMAT_FOLDED, HWTD_VALUE_INSNS),
	    "main 10\n"
	    "main;f 23\n"
	    "main;f;g 40\n"
	    "main;f;g;f 6\n"
	    "main;g 5\n");
}

static void
folded_of_a_comparison_has_two_numbers(void **state)
{
	struct hand_profile base;
	uint32_t root;

	(void)state;
	hand_profile_init(&base, 0);
	hand_profile_fill(&h);
	root = hand_root(&base, NULL, HWTD_NO_ID);
	(void)hand_node(&base, root,
	    hand_function(&base, hand_image(&base, "prog"), "main", 0),
	    HWTD_CALL_TYPE_CALL, 0, hand_sums(1, 42, 0));
	assert_string_equal(write_flame(HWTD_FORMAT_FOLDED,
				(struct hwtd_flame_options){
				    .base = base.profile,
				    .flags = HWTD_FLAME_BY_NAME },
				0, 0),
	    "main 84 10\n"
	    "main;f 0 23\n"
	    "main;f;g 0 40\n"
	    "main;f;g;f 0 6\n"
	    "main;g 0 5\n");
	hand_profile_fini(&base);
}

static void
names_do_not_break_lines_of_folded(void **state)
{
	static const struct {
		const char *name, *want;
	} cases[] = {
		{ "a;b", "a\\x3bb" },
		{ "a\nb\r\t\x7f", "a\\x0ab\\x0d\\x09\\x7f" },
		{ "back\\slash", "back\\x5cslash" },
		{ "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
		    "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80" },
		{ "bad\xc3(\xff", "bad\\xc3(\\xff" },
		/* A next line, a line separator, right-to-left, no character. */
		{ "\xc2\x85|\xe2\x80\xa8|\xe2\x80\xae|\xef\xbf\xbf",
		    "\\xc2\\x85|\\xe2\\x80\\xa8|\\xe2\\x80\\xae|"
		    "\\xef\\xbf\\xbf" },
		{ "operator new(unsigned long)",
		    "operator new(unsigned long)" },
		{ "f 12", "f\\x2012" },
		{ "f 1.5", "f\\x201.5" },
		{ "f 12a", "f 12a" },
		{ " x ", "\\x20x\\x20" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char want[256];
		uint32_t root;

		tear_down(NULL);
		set_up(NULL);
		root = hand_root(&h, NULL, HWTD_NO_ID);
		(void)hand_node(&h, root,
		    hand_function(&h, HWTD_NO_ID, cases[i].name, 0),
		    HWTD_CALL_TYPE_CALL, 0, hand_sums(1, 3, 0));
		(void)snprintf(want, sizeof(want), "%s 3\n", cases[i].want);
		assert_string_equal(write_as(HWTD_FORMAT_FOLDED, 0), want);
	}
}

/* Callgrind. */

/*
 * f weighs itself 200 + 30 + 60, and with all it called 740, once; main calls it
 * 3 times, and g once, when it is running already.  g: 450 itself, 510 in all.
 */
static void
callgrind_counts_what_runs_again_once(void **state)
{
	(void)state;
	hand_profile_fill(&h);
	assert_string_equal(write_as(HWTD_FORMAT_CALLGRIND, 0),
	    "# callgrind format\n"
	    "version: 1\n"
	    "creator: hwtdecode\n"
	    "cmd: t\n"
	    "desc: Trace: not seen: 1 gap of 77 bytes of trace, 50 ns\n"
	    "positions: instr line\n"
	    "event: Ns : Time (ns)\n"
	    "event: Ir : Instructions\n"
	    "event: GapNs : Time in gaps (ns)\n"
	    "events: Ns Ir GapNs\n"
	    "\n"
	    "ob=(1) /bin/prog\n"
	    "fl=(1) ???\n"
	    "fn=(1) main\n"
	    "0x1000 0 100 10 0\n"
	    "cob=(1)\n"
	    "cfi=(2) f.c\n"
	    "cfn=(2) f\n"
	    "calls=3 0x1100 7\n"
	    "0x1000 0 690 69 50\n"
	    "cob=(2) /lib/libg.so\n"
	    "cfi=(1)\n"
	    "cfn=(3) g\n"
	    "calls=1 0x2000 0\n"
	    "0x1000 0 50 5 0\n"
	    "\n"
	    "ob=(1)\n"
	    "fl=(2)\n"
	    "fn=(2)\n"
	    "0x1100 7 290 29 50\n"
	    "cob=(2)\n"
	    "cfi=(1)\n"
	    "cfn=(3)\n"
	    "calls=4 0x2000 0\n"
	    "0x1100 7 460 46 0\n"
	    "\n"
	    "ob=(2)\n"
	    "fl=(1)\n"
	    "fn=(3)\n"
	    "0x2000 0 450 45 0\n"
	    "cob=(1)\n"
	    "cfi=(2)\n"
	    "cfn=(2)\n"
	    "calls=1 0x1100 7\n"
	    "0x2000 0 0 0 0\n"
	    "\n"
	    "ob=(3) ???\n"
	    "fl=(1)\n"
	    "fn=(11) [all]\n"
	    "0x0 0 0 0 0\n"
	    "cob=(1)\n"
	    "cfi=(1)\n"
	    "cfn=(1)\n"
	    "calls=1 0x1000 0\n"
	    "0x0 0 840 84 50\n");
}

static void
callgrind_has_no_calls_of_zero(void **state)
{
	uint32_t at;

	(void)state;
	at = hand_node(&h, hand_root(&h, NULL, HWTD_NO_ID),
	    hand_function(&h, HWTD_NO_ID, "f\n", 0x10), HWTD_CALL_TYPE_CALL, 0,
	    hand_sums(0, 3, 0));
	(void)hand_node(&h, at, HWTD_NO_ID, HWTD_CALL_TYPE_SYSCALL,
	    HWTD_PROFILE_NODEF_UNTRACED, hand_sums(0, 4, 0));
	(void)write_as(HWTD_FORMAT_CALLGRIND, 0);
	assert_non_null(strstr(out.text, "fn=(1) f\\x0a\n0x10 0 3\n"));
	assert_non_null(strstr(out.text,
	    "cfn=(4) [syscall]\ncalls=1 0x0 0\n"
	    "0x10 0 4\n"));
	assert_null(strstr(out.text, "calls=0"));
}

/* speedscope. */

static void
speedscope_has_samples_with_weights(void **state)
{
	(void)state;
	hand_profile_fill(&h);
	assert_string_equal(write_as(HWTD_FORMAT_SPEEDSCOPE_SAMPLED, 0),
	    "{\"$schema\":"
	    "\"https://www.speedscope.app/file-format-schema.json\","
	    "\"exporter\":\"hwtdecode\",\"name\":\"t\",\"shared\":{\"frames\":"
	    "[\n{\"name\":\"all\"}\n"
	    ",{\"name\":\"main\",\"file\":\"/bin/prog\"}\n"
	    ",{\"name\":\"f\",\"file\":\"f.c\",\"line\":7}\n"
	    ",{\"name\":\"[gap]\"}\n"
	    ",{\"name\":\"g\",\"file\":\"/lib/libg.so\"}]},\"profiles\":["
	    "\n{\"type\":\"sampled\",\"name\":\"t\","
	    "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":890,"
	    "\"samples\":[\n[1]\n,[1,2]\n,[1,2,4]\n,[1,2,4,2]\n,[1,2,3]\n,[1,"
	    "4]],"
	    "\"weights\":[100,230,400,60,50,50]}]}\n");
}

static void
speedscope_has_a_profile_for_each_thread(void **state)
{
	struct hand_profile threads = h;
	uint32_t f;

	(void)state;
	hand_profile_init(&threads, HWTD_PROFILE_THREADS);
	f = hand_function(&threads, HWTD_NO_ID, "f", 1);
	(void)hand_node(&threads, hand_root(&threads, "w", 101), f,
	    HWTD_CALL_TYPE_CALL, 0, hand_sums(1, 5, 0));
	(void)hand_node(&threads, hand_root(&threads, "w", 102), f,
	    HWTD_CALL_TYPE_CALL, 0, hand_sums(1, 7, 0));
	assert_int_equal(written_export_make(&out, threads.profile, NULL,
			     (struct hwtd_format_options){
				 .format = HWTD_FORMAT_SPEEDSCOPE_SAMPLED }),
	    HWTD_END);
	assert_non_null(strstr(out.text,
	    "\"name\":\"w 100/102\",\"unit\":\"none\",\"startValue\":0,"
	    "\"endValue\":7,\"samples\":[\n["));
	assert_non_null(strstr(out.text,
	    "]],\"weights\":[7]}\n,{\"type\":\"sampled\","
	    "\"name\":\"w 100/101\""));
	assert_int_equal(out.info.rows, 2);
	hand_profile_fini(&threads);
}

/* Pictures. */

static void
pictures_tell_what_frames_weigh(void **state)
{
	(void)state;
	hand_profile_fill(&h);
	(void)write_as(HWTD_FORMAT_FLAME_SVG, 0);
	assert_int_equal(count(out.text, "<g class=\"hw-f\">"), 7);
	/* 740 of 890 of 1180 pixels, in the second row from below of 5. */
	assert_non_null(strstr(out.text,
	    "<title>f\n740 ns, 83.15 %\n/bin/prog</title>"
	    "<rect x=\"10\" y=\"108\" width=\"981.1235\" height=\"15\""));
	assert_non_null(strstr(out.text, "<title>[gap]\n50 ns, 5.62 %<"));
	assert_non_null(strstr(out.text,
	    "Not seen: 1 gap of 77 bytes of trace, 5.62 % of the time<"));
	(void)write_flame(HWTD_FORMAT_FLAME_SVG,
	    (struct hwtd_flame_options){ .value = HWTD_VALUE_INSNS },
	    HWTD_EXPORT_ICICLE, 0);
	assert_non_null(strstr(out.text,
	    "<title>main\n84 instructions, 100.00 %\n/bin/prog</title>"
	    "<rect x=\"10\" y=\"92\" width=\"1180\""));
	assert_non_null(strstr(out.text,
	    "Not seen: 1 gap of 77 bytes of trace<"));
}

static void
pictures_draw_narrow_frames_together(void **state)
{
	const uint32_t root = hand_root(&h, NULL, HWTD_NO_ID);

	(void)state;
	/* 1180 pixels; two of 1 pixel each, and one of 0.1. */
	(void)hand_node(&h, root, hand_function(&h, HWTD_NO_ID, "wide", 1),
	    HWTD_CALL_TYPE_CALL, 0, hand_sums(1, 11779, 0));
	(void)hand_node(&h, root, hand_function(&h, HWTD_NO_ID, "a", 2),
	    HWTD_CALL_TYPE_CALL, 0, hand_sums(1, 10, 0));
	(void)hand_node(&h, root, hand_function(&h, HWTD_NO_ID, "b", 3),
	    HWTD_CALL_TYPE_CALL, 0, hand_sums(1, 10, 0));
	(void)hand_node(&h, root, hand_function(&h, HWTD_NO_ID, "c", 4),
	    HWTD_CALL_TYPE_CALL, 0, hand_sums(1, 1, 0));
	(void)write_flame(HWTD_FORMAT_FLAME_SVG,
	    (struct hwtd_flame_options){ .flags = 0 }, 0, 10);
	assert_int_equal(count(out.text, "<g class=\"hw-f\">"), 4);
	assert_non_null(strstr(out.text, "1 frame is too narrow"));
	(void)write_flame(HWTD_FORMAT_FLAME_SVG,
	    (struct hwtd_flame_options){ .flags = 0 }, 0, 15);
	assert_int_equal(count(out.text, "<g class=\"hw-f\">"), 3);
	assert_non_null(strstr(out.text,
	    "<title>[narrow]\n21 instructions, 0.18 %\n3 frames</title>"
	    "<rect x=\"1187.9\" y=\"76\" width=\"2.1\""));
	assert_non_null(strstr(out.text, "3 frames are too narrow"));
}

static void
pictures_color_what_changed(void **state)
{
	struct hand_profile base;
	uint32_t root, at;

	(void)state;
	hand_profile_init(&base, 0);
	root = hand_root(&h, NULL, HWTD_NO_ID);
	(void)hand_node(&h, root, hand_function(&h, HWTD_NO_ID, "up", 1),
	    HWTD_CALL_TYPE_CALL, 0, hand_sums(1, 60, 0));
	(void)hand_node(&h, root, hand_function(&h, HWTD_NO_ID, "down", 2),
	    HWTD_CALL_TYPE_CALL, 0, hand_sums(1, 20, 0));
	(void)hand_node(&h, root, hand_function(&h, HWTD_NO_ID, "same", 3),
	    HWTD_CALL_TYPE_CALL, 0, hand_sums(1, 20, 0));
	at = hand_root(&base, NULL, HWTD_NO_ID);
	(void)hand_node(&base, at, hand_function(&base, HWTD_NO_ID, "up", 1),
	    HWTD_CALL_TYPE_CALL, 0, hand_sums(1, 40, 0));
	(void)hand_node(&base, at, hand_function(&base, HWTD_NO_ID, "down", 2),
	    HWTD_CALL_TYPE_CALL, 0, hand_sums(1, 60, 0));
	(void)hand_node(&base, at, hand_function(&base, HWTD_NO_ID, "same", 3),
	    HWTD_CALL_TYPE_CALL, 0, hand_sums(1, 40, 0));
	(void)hand_node(&base, at, hand_function(&base, HWTD_NO_ID, "gone", 4),
	    HWTD_CALL_TYPE_CALL, 0, hand_sums(1, 60, 0));
	/* 200 become 100: up 20 to 60, down 30 to 20, same 20, gone 30. */
	(void)write_flame(HWTD_FORMAT_FLAME_SVG,
	    (struct hwtd_flame_options){ .base = base.profile }, 0, 0);
	assert_non_null(strstr(out.text,
	    "<title>up\n60 instructions, 60.00 %; before: 20.00 %</title>"));
	assert_non_null(strstr(out.text, "fill=\"#ff3232\""));
	assert_non_null(strstr(out.text,
	    "<title>down\n20 instructions, 20.00 %; before: 30.00 %</title>"));
	/* A quarter of the greatest change: 235 - 185 / 4. */
	assert_non_null(strstr(out.text, "fill=\"#bdbdff\""));
	assert_non_null(strstr(out.text,
	    "<title>same\n20 instructions, 20.00 %; before: 20.00 %</title>"));
	assert_int_equal(count(out.text, "fill=\"#f2f2f2\""), 2);
	assert_null(strstr(out.text, ">gone"));
	assert_non_null(strstr(out.text,
	    "1 frames were there before only: 30.00 %"));
	hand_profile_fini(&base);
}

static void
pictures_have_no_markup_of_names(void **state)
{
	const uint32_t root = hand_root(&h, NULL, HWTD_NO_ID);

	(void)state;
	(void)hand_node(&h, root,
	    hand_function(&h,
		hand_image(&h, "/</title><script>alert(1)</script>"),
		"]]></script><script>alert(\"1\")&'\x01\xff\xe2\x80\xae", 1),
	    HWTD_CALL_TYPE_CALL, 0, hand_sums(1, 60, 0));
	(void)write_as(HWTD_FORMAT_FLAME_SVG, 0);
	assert_int_equal(count(out.text, "<script"), 1);
	assert_int_equal(count(out.text, "]]>"), 1);
	assert_non_null(strstr(out.text,
	    "<title>]]&gt;&lt;/script&gt;&lt;script&gt;alert(&quot;1&quot;)"
	    "&amp;&#39;\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\n60 instructions, "
	    "100.00 %\n/&lt;/title&gt;"));
	/* Nothing from elsewhere. */
	assert_null(strstr(out.text, "href"));
	assert_null(strstr(out.text, "innerHTML"));
	assert_int_equal(count(out.text, "http"),
	    count(out.text, "http://www.w3.org/"));
}

/* pprof. */

struct field {
	uint32_t no, wire;
	uint64_t v;
	const char *bytes;
	size_t n;
};

static uint64_t
take_varint(const char **at, const char *end)
{
	uint64_t v = 0;
	unsigned int shift = 0;

	for (;;) {
		const uint8_t c = (uint8_t) * *at;

		assert_true(*at < end && shift < 64);
		(*at)++;
		v |= (uint64_t)(c & 0x7f) << shift;
		shift += 7;
		if (c < 0x80)
			return (v);
	}
}

static bool
take_field(const char **at, const char *end, struct field *f)
{
	if (*at == end)
		return (false);
	f->v = take_varint(at, end);
	f->no = (uint32_t)(f->v >> 3);
	f->wire = f->v & 7;
	assert_true(f->wire == 0 || f->wire == 2);
	f->v = take_varint(at, end);
	if (f->wire == 2) {
		f->bytes = *at;
		f->n = (size_t)f->v;
		assert_true(f->n <= (size_t)(end - *at));
		*at += f->n;
	}
	return (true);
}

/* Fields of a message as "no=v no=[...] ", strings by number. */
static size_t
show(char *to, size_t room, const char *bytes, size_t n,
    const char *const *strings)
{
	const char *at = bytes;
	struct field f;
	size_t used = 0;

	(void)strings;
	while (take_field(&at, bytes + n, &f)) {
		if (f.wire == 0) {
			used += (size_t)snprintf(to + used, room - used,
			    "%u=%llu ", f.no, (unsigned long long)f.v);
			continue;
		}
		used += (size_t)snprintf(to + used, room - used, "%u=[", f.no);
		/* Packed: of locations and values of samples. */
		for (const char *p = f.bytes; p < f.bytes + f.n;)
			used += (size_t)snprintf(to + used, room - used,
			    "%llu ",
			    (unsigned long long)take_varint(&p,
				f.bytes + f.n));
		used += (size_t)snprintf(to + used, room - used, "] ");
	}
	return (used);
}

static void
pprof_has_stacks_with_all_that_they_weigh(void **state)
{
	static char samples[4096], locations[4096], functions[4096],
	    mappings[4096];
	const char *strings[64];
	size_t lengths[64], n_strings = 0, n, n_samples = 0, n_types = 0;
	size_t used = 0;
	const char *at;
	char *raw;
	struct field f;

	(void)state;
	hand_profile_fill(&h);
	(void)write_as(HWTD_FORMAT_PPROF, 0);
	raw = written_export_unpack(&out, &n);
	assert_non_null(raw);
	for (at = raw; take_field(&at, raw + n, &f);) {
		switch (f.no) {
		case 1:
			n_types++;
			break;
		case 2:
			used += show(samples + used, sizeof(samples) - used,
			    f.bytes, f.n, strings);
			used += (size_t)snprintf(samples + used,
			    sizeof(samples) - used, "\n");
			n_samples++;
			break;
		case 3:
			(void)strcat(mappings, "\n");
			(void)show(mappings + strlen(mappings), 512, f.bytes,
			    f.n, strings);
			break;
		case 4:
			(void)strcat(locations, "\n");
			(void)show(locations + strlen(locations), 512, f.bytes,
			    f.n, strings);
			break;
		case 5:
			(void)strcat(functions, "\n");
			(void)show(functions + strlen(functions), 512, f.bytes,
			    f.n, strings);
			break;
		case 6:
			strings[n_strings] = f.bytes;
			lengths[n_strings++] = f.n;
			break;
		case 13:
		case 14:
			break;
		default:
			fail_msg("field %u", f.no);
		}
	}
	assert_int_equal(n_types, 5);
	assert_int_equal(n_samples, 6);
	/* Functions: main 1, f 2, g 3; calls, insns, cycles, time, gaps. */
	assert_string_equal(samples,
	    "1=[1 ] 2=[1 10 0 100 0 ] \n"
	    "1=[2 1 ] 2=[2 20 0 200 50 ] \n"
	    "1=[3 2 1 ] 2=[4 40 0 400 0 ] \n"
	    "1=[2 3 2 1 ] 2=[1 6 0 60 0 ] \n"
	    "1=[2 1 ] 2=[1 3 0 30 0 ] \n"
	    "1=[3 1 ] 2=[1 5 0 50 0 ] \n");
	/* A line of f.c for f. */
	assert_string_equal(locations,
	    "\n1=1 2=1 3=4096 4=[8 1 ] "
	    "\n1=2 2=1 3=4352 4=[8 2 16 7 ] "
	    "\n1=3 2=2 3=8192 4=[8 3 ] ");
	/* Most of the time is in g, whose library comes first. */
	assert_non_null(strstr(mappings, "\n1=2 2=8192 3=12288 4=8192 "));
	assert_true(strstr(mappings, "\n1=2 ") < strstr(mappings, "\n1=1 "));
	assert_int_equal(lengths[0], 0);
	at = strstr(functions, "\n1=2 2=");
	assert_non_null(at);
	n = strtoul(at + 7, NULL, 10);
	assert_true(n < n_strings && lengths[n] == 1 && strings[n][0] == 'f');
	assert_non_null(strstr(at, " 5=7 "));
	free(raw);
}

/* Code without stacks: f is 5 times 2 instructions, and 7 times 2 of an inlined g. */
static void
fill_code(void)
{
	const struct hwtd_profile_function of_g = { .size = sizeof(of_g),
		.name = "g",
		.image = 0,
		.flags = HWTD_PROFILE_FUNCTIONF_INLINED };
	const struct hwtd_profile_function of_f = { .size = sizeof(of_f),
		.name = "f",
		.file = "f.c",
		.line = 1,
		.image = 0,
		.file_off = 0x1000,
		.link_address = 0x401000,
		.flags = HWTD_PROFILE_FUNCTIONF_OFFSET |
		    HWTD_PROFILE_FUNCTIONF_LINKED };
	const uint32_t image = hand_image(&h, "/bin/prog");
	uint32_t f = 0, g = 0;

	assert_int_equal(image, 0);
	assert_int_equal(hwtdi_profile_add_function(h.profile, &of_f, &f,
			     NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_profile_add_function(h.profile, &of_g, &g,
			     NULL),
	    HWTD_OK);
	hand_code(&h, image, 0x1000, 5, f, HWTD_NO_ID, "f.c", 2);
	hand_code(&h, image, 0x1010, 7, f, g, "g.h", 30);
	hand_code(&h, image, 0x1100, 1, HWTD_NO_ID, HWTD_NO_ID, NULL, 0);
}

static void
callgrind_of_code_has_lines_at_link_addresses(void **state)
{
	(void)state;
	fill_code();
	(void)write_as(HWTD_FORMAT_CALLGRIND, 0);
	assert_non_null(strstr(out.text,
	    "events: Ir\n"
	    "\n"
	    "ob=(1) /bin/prog\n"
	    "fl=(1) f.c\n"
	    "fn=(1) f\n"
	    "0x401000 2 10\n"
	    "\n"
	    "ob=(1)\n"
	    "fl=(1)\n"
	    "fn=(1)\n"
	    "fi=(2) g.h\n"
	    "0x401010 30 14\n"
	    "\n"
	    "ob=(1)\n"
	    "fl=(3) ???\n"
	    "fn=(3) [unknown]\n"
	    "0x401100 0 2\n"));
}

static void
pprof_of_code_has_what_was_inlined_first(void **state)
{
	static char locations[1024];
	size_t n;
	const char *at;
	char *raw;
	struct field f;

	(void)state;
	fill_code();
	(void)write_as(HWTD_FORMAT_PPROF, 0);
	raw = written_export_unpack(&out, &n);
	assert_non_null(raw);
	for (at = raw; take_field(&at, raw + n, &f);)
		if (f.no == 4) {
			(void)strcat(locations, "\n");
			(void)show(locations + strlen(locations), 256, f.bytes,
			    f.n, NULL);
		}
	/* Functions f 1, g 2, and 3 for none; lines 2, 30, and 0. */
	assert_string_equal(locations,
	    "\n1=11 2=1 3=4198400 4=[8 1 16 2 ] "
	    "\n1=12 2=1 3=4198416 4=[8 2 16 30 ] 4=[8 1 ] "
	    "\n1=13 2=1 3=4198656 4=[8 3 ] ");
	free(raw);
}

/* All. */

static const uint32_t formats[] = { HWTD_FORMAT_FOLDED, HWTD_FORMAT_PPROF,
	HWTD_FORMAT_CALLGRIND, HWTD_FORMAT_SPEEDSCOPE_SAMPLED,
	HWTD_FORMAT_FLAME_SVG };

#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

static void
an_empty_profile_makes_a_file(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_FORMATS; i++) {
		(void)write_as(formats[i], 0);
		assert_int_equal(out.info.format, formats[i]);
		if (formats[i] != HWTD_FORMAT_FOLDED)
			assert_true(out.n > 0);
	}
	/* Its only profile has nothing in it. */
	assert_non_null(strstr(write_as(HWTD_FORMAT_SPEEDSCOPE_SAMPLED, 0),
	    "\"samples\":[],\"weights\":[]}]}"));
}

static void
files_are_the_same_whenever_they_are_written(void **state)
{
	(void)state;
	hand_profile_fill(&h);
	for (size_t i = 0; i < N_FORMATS; i++) {
		char *first;
		size_t n;

		(void)write_as(formats[i], 0);
		n = out.n;
		first = malloc(n);
		assert_non_null(first);
		memcpy(first, out.text, n);
		(void)write_as(formats[i], 0);
		assert_int_equal(out.n, n);
		assert_memory_equal(out.text, first, n);
		free(first);
	}
}

static void
a_failed_write_and_refused_memory_are_told(void **state)
{
	struct hwtd_profile_info info = { .size = sizeof(info) };

	(void)state;
	hand_profile_fill(&h);
	assert_int_equal(hwtd_profile_info(h.profile, &info), HWTD_OK);
	for (size_t i = 0; i < N_FORMATS; i++) {
		const struct hwtd_format_options how = {
			.format = formats[i]
		};
		const int64_t held = h.memory.blocks;
		uint64_t n = 0;
		int rc;

		written_export_fini(&out);
		out.fail_after = 10;
		assert_int_equal(written_export_make(&out, h.profile, NULL,
				     how),
		    HWTD_E_IO);
		assert_int_equal(h.memory.blocks, held);
		do {
			written_export_fini(&out);
			failing_allocator_arm(&h.memory, ++n, false);
			rc = written_export_make(&out, h.profile, NULL, how);
			assert_int_equal(h.memory.blocks, held);
			if (rc != HWTD_END)
				assert_int_equal(rc, HWTD_E_NOMEM);
		} while (rc != HWTD_END);
		failing_allocator_arm(&h.memory, 0, false);
		assert_true(n > 5);
	}
}

static void
what_makes_no_sense_is_refused(void **state)
{
	static const struct {
		uint32_t format, value, min_width;
	} cases[] = {
		{ HWTD_FORMAT_PERFETTO, 0, 0 },
		{ HWTD_FORMAT_FOLDED, 77, 0 },
		{ HWTD_FORMAT_CALLGRIND, HWTD_VALUE_CALLS, 0 },
		{ HWTD_FORMAT_FLAME_SVG, 0, 1000000 },
	};
	struct hwtd_flame *flame = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(written_export_make(&out, h.profile, NULL,
				     (struct hwtd_format_options){
					 .format = cases[i].format,
					 .value = cases[i].value,
					 .min_width = cases[i].min_width }),
		    HWTD_E_INVALID);
	assert_int_equal(hwtd_flame_open(h.profile, NULL, &flame, NULL),
	    HWTD_OK);
	for (size_t i = 1; i < 3; i++)
		assert_int_equal(written_export_make(&out, NULL, flame,
				     (struct hwtd_format_options){
					 .format = formats[i] }),
		    HWTD_E_INVALID);
	hwtd_flame_close(flame);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(folded_has_a_line_for_each_stack),
		TEST(folded_of_a_comparison_has_two_numbers),
		TEST(names_do_not_break_lines_of_folded),
		TEST(callgrind_counts_what_runs_again_once),
		TEST(callgrind_has_no_calls_of_zero),
		TEST(speedscope_has_samples_with_weights),
		TEST(speedscope_has_a_profile_for_each_thread),
		TEST(pictures_tell_what_frames_weigh),
		TEST(pictures_draw_narrow_frames_together),
		TEST(pictures_color_what_changed),
		TEST(pictures_have_no_markup_of_names),
		TEST(pprof_has_stacks_with_all_that_they_weigh),
		TEST(callgrind_of_code_has_lines_at_link_addresses),
		TEST(pprof_of_code_has_what_was_inlined_first),
		TEST(an_empty_profile_makes_a_file),
		TEST(files_are_the_same_whenever_they_are_written),
		TEST(a_failed_write_and_refused_memory_are_told),
		TEST(what_makes_no_sense_is_refused),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
