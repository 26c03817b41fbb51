/*
 * Fuzz harness of exports of profiles: the input is what functions, images and
 * threads are called, how they call each other, and what they weigh.
 */
#include <hwtdecode/flame.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile/profile_store.h"
#include "fuzz.h"
#include "profile_export_check.h"
#include "support/written_export.h"

#define MAX_INPUT 4096
#define MAX_NAME 65536
#define MAX_THINGS 64
#define MAX_NODES 150
/* Names that are repeated to be long; more would take too long. */
#define MAX_LONG 3

struct made {
	struct hwtd_profile *profile;
	uint32_t images[MAX_THINGS], functions[MAX_THINGS], nodes[MAX_NODES];
	size_t n_images, n_functions, n_nodes, n_long;
	uint32_t threads;
	uint32_t flags;
	bool failed;
};

static char name[MAX_NAME + 1];

/* Bytes up to a length, as a name; a bit makes it many times as long. */
static const char *
take_name(struct made *m, struct fuzz_in *in)
{
	const uint64_t how = fuzz_take(in, 1);
	size_t n = how & 31;

	if (how >= 0xf8)
		return (NULL);
	if (n > in->left)
		n = in->left;
	memcpy(name, in->at, n);
	in->at += n;
	in->left -= n;
	if ((how & 0x80) != 0 && n > 0 && m->n_long < MAX_LONG) {
		m->n_long++;
		while (n * 2 <= MAX_NAME) {
			memcpy(name + n, name, n);
			n *= 2;
		}
	}
	name[n] = '\0';
	return (name);
}

/* Small, any, or near 2^64. */
static uint64_t
take_value(struct fuzz_in *in)
{
	const uint64_t how = fuzz_take(in, 1);

	if (how < 0xe0)
		return (how);
	return (how < 0xf0 ? fuzz_take(in, 8) : UINT64_MAX - (how & 15));
}

static void
must(struct made *m, int rc)
{
	FUZZ_CHECK(rc == HWTD_OK, "%d", rc);
	m->failed = rc != HWTD_OK;
}

static uint32_t
pick(const uint32_t *from, size_t n, uint64_t which)
{
	return (n == 0 || which == 0xff ? HWTD_NO_ID : from[which % n]);
}

static void
add_image(struct made *m, struct fuzz_in *in)
{
	struct hwtd_profile_image image = { .size = sizeof(image) };

	image.flags = fuzz_take(in, 1) & HWTD_PROFILE_IMAGEF_ADDRESSES;
	image.n_build_id = (uint32_t)(fuzz_take(in, 1) % 21);
	for (uint32_t i = 0; i < image.n_build_id; i++)
		image.build_id[i] = (uint8_t)(i * 37);
	image.name = take_name(m, in);
	must(m,
	    hwtdi_profile_add_image(m->profile, &image,
		&m->images[m->n_images], NULL));
	m->n_images++;
}

static void
add_function(struct made *m, struct fuzz_in *in)
{
	struct hwtd_profile_function f = { .size = sizeof(f) };
	char file[32] = "";
	const char *text;

	f.flags = fuzz_take(in, 1) &
	    (HWTD_PROFILE_FUNCTIONF_OFFSET | HWTD_PROFILE_FUNCTIONF_ADDRESS |
		HWTD_PROFILE_FUNCTIONF_LINKED);
	f.image = pick(m->images, m->n_images, fuzz_take(in, 1));
	f.file_off = take_value(in);
	f.bytes = take_value(in);
	f.link_address = take_value(in);
	f.line = (uint32_t)take_value(in);
	text = take_name(m, in);
	if (text != NULL)
		(void)strncat(file, text, sizeof(file) - 1);
	f.file = file;
	f.name = take_name(m, in);
	must(m,
	    hwtdi_profile_add_function(m->profile, &f,
		&m->functions[m->n_functions], NULL));
	m->n_functions++;
}

static void
add_root(struct made *m, struct fuzz_in *in)
{
	struct hwtd_profile_thread t = { .size = sizeof(t) };
	const uint64_t how = fuzz_take(in, 1);
	uint32_t no = HWTD_NO_ID;

	t.pid = (how & 1) != 0 ? HWTD_NO_ID : (uint32_t)how;
	t.tid = (how & 2) != 0 ? HWTD_NO_ID : (uint32_t)how;
	t.stream = (how & 3) == 3 ? 7 : HWTD_NO_ID;
	t.name = take_name(m, in);
	if ((m->flags & HWTD_PROFILE_THREADS) != 0)
		must(m, hwtdi_profile_add_thread(m->profile, &t, &no, NULL));
	must(m,
	    hwtdi_profile_add_root(m->profile, no, &m->nodes[m->n_nodes],
		NULL));
	m->n_nodes++;
}

static void
add_node(struct made *m, struct fuzz_in *in)
{
	struct hwtd_profile_node node = { .thread = HWTD_NO_ID };
	const uint64_t how = fuzz_take(in, 1);

	node.function = pick(m->functions, m->n_functions, fuzz_take(in, 1));
	node.parent = (how & 0x80) != 0
	    ? m->nodes[m->n_nodes - 1]
	    : pick(m->nodes, m->n_nodes, how & 0x7f);
	node.type = (uint32_t)fuzz_take(in, 1) % HWTD_CALL_TYPES;
	if ((how & 0x40) != 0 && node.function == HWTD_NO_ID)
		node.flags = HWTD_PROFILE_NODEF_UNTRACED;
	node.self.calls = take_value(in);
	node.self.insns = take_value(in);
	node.self.ns = take_value(in);
	node.self.cycles = take_value(in);
	node.self.gap_ns = take_value(in);
	node.self.off_ns = take_value(in);
	must(m,
	    hwtdi_profile_add_node(m->profile, &node, &m->nodes[m->n_nodes],
		NULL));
	m->n_nodes++;
}

static void
make(struct made *m, struct hwtd_context *ctx, struct fuzz_in *in,
    size_t until)
{
	struct hwtd_profile_options how = { .size = sizeof(how) };
	struct hwtd_profile_seen seen = { .added = 1 };

	how.flags = fuzz_take(in, 1) & HWTD_PROFILE_THREADS;
	m->flags = how.flags;
	must(m, hwtd_profile_create(ctx, &how, &m->profile, NULL));
	add_root(m, in);
	while (in->left > until && !m->failed) {
		const uint64_t what = fuzz_take(in, 1) % 8;

		if (what == 0 && m->n_images < MAX_THINGS)
			add_image(m, in);
		else if (what <= 2 && m->n_functions < MAX_THINGS)
			add_function(m, in);
		else if (what == 3 && m->n_nodes < MAX_NODES)
			add_root(m, in);
		else if (m->n_nodes < MAX_NODES)
			add_node(m, in);
		else
			break;
	}
	seen.gaps[1] = take_value(in);
	seen.gap_bytes = take_value(in);
	hwtdi_profile_add_seen(m->profile, HWTD_PROFILE_CALLS, &seen);
}

static void
check_profile(struct hwtd_profile *profile, uint32_t value)
{
	static const uint32_t formats[] = { HWTD_FORMAT_PPROF,
		HWTD_FORMAT_CALLGRIND, HWTD_FORMAT_FOLDED,
		HWTD_FORMAT_SPEEDSCOPE_SAMPLED, HWTD_FORMAT_FLAME_SVG };

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct written_export out = { .n = 0 };
		int rc;

		if (formats[i] == HWTD_FORMAT_CALLGRIND &&
		    value == HWTD_VALUE_CALLS)
			continue;
		rc = written_export_make(&out, profile, NULL,
		    (struct hwtd_format_options){ .format = formats[i],
			.value = value,
			.title = name });
		FUZZ_CHECK(rc == HWTD_END, "format %u: %d", formats[i], rc);
		if (formats[i] == HWTD_FORMAT_PPROF)
			check_pprof(&out);
		else if (formats[i] == HWTD_FORMAT_CALLGRIND)
			check_callgrind(out.text, out.n);
		else if (formats[i] == HWTD_FORMAT_FLAME_SVG)
			check_svg(out.text, out.n);
		else if (formats[i] == HWTD_FORMAT_SPEEDSCOPE_SAMPLED)
			check_json(out.text, out.n);
		written_export_fini(&out);
	}
}

static void
check_flame(struct hwtd_profile *profile, const struct hwtd_flame_options *how,
    uint32_t min_width)
{
	static const uint32_t formats[] = { HWTD_FORMAT_FOLDED,
		HWTD_FORMAT_SPEEDSCOPE_SAMPLED, HWTD_FORMAT_FLAME_SVG };
	struct hwtd_flame *flame = NULL;
	const int rc = hwtd_flame_open(profile, how, &flame, NULL);

	FUZZ_CHECK(rc == HWTD_OK, "%d", rc);
	check_flame_adds_up(flame);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct written_export out = { .n = 0 };

		FUZZ_CHECK(written_export_make(&out, NULL, flame,
			       (struct hwtd_format_options){
				   .format = formats[i],
				   .min_width = min_width }) == HWTD_END,
		    "format %u", formats[i]);
		if (formats[i] == HWTD_FORMAT_FOLDED)
			check_folded(out.text != NULL ? out.text : "", out.n,
			    flame);
		else if (formats[i] == HWTD_FORMAT_FLAME_SVG)
			check_svg(out.text, out.n);
		else
			check_json(out.text, out.n);
		written_export_fini(&out);
	}
	hwtd_flame_close(flame);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct hwtd_flame_options how = { .size = sizeof(how) };
	struct fuzz_in in = { .at = data, .left = size };
	struct made now = { .n_nodes = 0 }, before = { .n_nodes = 0 };
	struct hwtd_context *ctx = NULL;
	uint32_t min_width;

	if (size > MAX_INPUT)
		return (0);
	FUZZ_CHECK(hwtd_context_create(&o, &ctx, NULL) == HWTD_OK,
	    "no context");
	how.flags = (uint32_t)fuzz_take(&in, 1) & 31;
	how.value = (uint32_t)fuzz_take(&in, 1) % 5;
	how.max_depth = (uint32_t)fuzz_take(&in, 1);
	how.min_ppm = (uint32_t)(fuzz_take(&in, 2) * 15);
	min_width = (uint32_t)fuzz_take(&in, 1);
	make(&now, ctx, &in, in.left / 4);
	make(&before, ctx, &in, 0);
	check_profile(now.profile, how.value);
	check_flame(now.profile, &how, min_width);
	how.base = before.profile;
	check_flame(now.profile, &how, min_width);
	hwtd_profile_destroy(now.profile);
	hwtd_profile_destroy(before.profile);
	hwtd_context_destroy(ctx);
	return (0);
}
