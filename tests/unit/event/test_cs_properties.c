/*
 * What holds of every CoreSight trace, whatever is in it: fixtures always, and of
 * the corpus that HWTDECODE_CORPUS names what is small.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <unistd.h>

#include "decode/coresight/cs_decoder.h"
#include "decode/coresight/cs_lexer.h"
#include "support/cs_case.h"
#include "support/packet_rows.h"
#include "support/temp_dir.h"
#include "trace/sink/framer.h"

#define PATH_CHARS 1200

/* Of the corpus: bytes of a trace. */
#define SMALL_BYTES ((uint64_t)40 << 10)

/* The byte of a fixture that is not right. */
static size_t damaged;

/* Bytes that decoders and framers are given at once; 0: as many as there are. */
static size_t most;

int __real_hwtdi_cs_tree_feed(struct hwtdi_cs_tree *tree, uint64_t off,
    const uint8_t *bytes, size_t n, struct hwtd_error *err);
int __wrap_hwtdi_cs_tree_feed(struct hwtdi_cs_tree *tree, uint64_t off,
    const uint8_t *bytes, size_t n, struct hwtd_error *err);
void __real_hwtdi_itm_feed(struct hwtdi_itm *itm, uint64_t off,
    const uint8_t *bytes, size_t n);
void __wrap_hwtdi_itm_feed(struct hwtdi_itm *itm, uint64_t off,
    const uint8_t *bytes, size_t n);
size_t __real_hwtdi_framer_next(struct hwtdi_framer *framer,
    const uint8_t *bytes, size_t n, struct hwtdi_frame *out);
size_t __wrap_hwtdi_framer_next(struct hwtdi_framer *framer,
    const uint8_t *bytes, size_t n, struct hwtdi_frame *out);

static size_t
piece_of(size_t n)
{
	return (most != 0 && most < n ? most : n);
}

int
__wrap_hwtdi_cs_tree_feed(struct hwtdi_cs_tree *tree, uint64_t off,
    const uint8_t *bytes, size_t n, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	while (n > 0 && rc == HWTD_OK) {
		const size_t piece = piece_of(n);

		rc = __real_hwtdi_cs_tree_feed(tree, off, bytes, piece, err);
		off += piece;
		bytes += piece;
		n -= piece;
	}
	return (rc);
}

void
__wrap_hwtdi_itm_feed(struct hwtdi_itm *itm, uint64_t off,
    const uint8_t *bytes, size_t n)
{
	while (n > 0) {
		const size_t piece = piece_of(n);

		__real_hwtdi_itm_feed(itm, off, bytes, piece);
		off += piece;
		bytes += piece;
		n -= piece;
	}
}

size_t
__wrap_hwtdi_framer_next(struct hwtdi_framer *framer, const uint8_t *bytes,
    size_t n, struct hwtdi_frame *out)
{
	return (__real_hwtdi_framer_next(framer, bytes, piece_of(n), out));
}

/* A fixture, or a folder of the corpus of which `first` bytes are taken off. */
struct input {
	const char *folder;
	bool fixture;
	struct cs_case c;
};

static void
input_load(const char *folder, bool fixture, struct input *out)
{
	print_message("%s\n", folder);
	out->folder = folder;
	out->fixture = fixture;
	if (fixture)
		cs_case_load(folder, &out->c);
}

static void
input_free(struct input *in)
{
	if (in->fixture)
		cs_case_free(&in->c);
}

static bool
names_buffer(const char *ini, size_t n, const char *name)
{
	const size_t length = strlen(name);

	for (size_t i = 0; i + 5 + length <= n; i++)
		if (memcmp(ini + i, "file=", 5) == 0 &&
		    memcmp(ini + i + 5, name, length) == 0)
			return (true);
	return (false);
}

/* The folder again, without the first bytes of its trace buffers. */
static void
cut_folder(const char *folder, size_t first, struct temp_dir *out)
{
	char from[PATH_CHARS + 300], to[300];
	struct dirent *entry;
	size_t n_ini, n;
	uint8_t *ini, *bytes;
	DIR *dir = opendir(folder);

	assert_non_null(dir);
	temp_dir_create(out);
	(void)snprintf(from, sizeof(from), "%s/trace.ini", folder);
	ini = read_file(from, &n_ini);
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(from, sizeof(from), "%s/%s", folder,
		    entry->d_name);
		(void)temp_dir_file(out, entry->d_name, to);
		if (!names_buffer((const char *)ini, n_ini, entry->d_name)) {
			assert_int_equal(symlink(from, to), 0);
			continue;
		}
		bytes = read_file(from, &n);
		write_file(to, bytes + (first < n ? first : n),
		    first < n ? n - first : 0);
		free(bytes);
	}
	(void)closedir(dir);
	free(ini);
}

static struct hwtd_trace *
open_folder(const char *folder)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace *trace;
	struct hwtd_context *ctx;

	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	if (hwtd_trace_open(ctx, folder, NULL, &trace, &err) != HWTD_OK)
		fail_msg("%s", err.message);
	hwtd_context_destroy(ctx);
	return (trace);
}

static struct hwtd_trace *
input_trace(const struct input *in, size_t first)
{
	struct hwtd_trace *trace;
	struct temp_dir dir;

	if (in->fixture)
		return (cs_case_trace(&in->c, first));
	if (first == 0)
		return (open_folder(in->folder));
	cut_folder(in->folder, first, &dir);
	trace = open_folder(dir.path);
	temp_dir_remove(&dir);
	return (trace);
}

static uint32_t
n_streams(const struct hwtd_trace *trace)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };

	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	return (info.n_streams);
}

static struct hwtd_stream_desc
stream_at(const struct hwtd_trace *trace, uint32_t id)
{
	struct hwtd_stream_desc info = { .size = sizeof(info) };

	assert_int_equal(hwtd_trace_stream(trace, id, &info), HWTD_OK);
	return (info);
}

static bool
is_source(const struct hwtd_trace *trace, uint32_t id)
{
	return (stream_at(trace, id).framing == HWTD_FRAMING_NONE);
}

static void
rows_of(struct hwtd_trace *trace, uint32_t stream, struct mt_rows *out)
{
	const struct hwtd_events_options opts = { .size = sizeof(opts),
		.kinds = (UINT32_C(1) << HWTD_EV_SAMPLE) - 2,
		.streams = &stream,
		.n_streams = 1 };

	memset(out, 0, sizeof(*out));
	mt_rows(trace, &opts, out);
}

/* Pieces of any size give the same rows. */

/* But for how far the library had read. */
static void
assert_alike(struct mt_rows *a, struct mt_rows *b)
{
	for (size_t i = 0; i < a->n; i++)
		a->at[i].row.stream_off = 0;
	for (size_t i = 0; i < b->n; i++)
		b->at[i].row.stream_off = 0;
	mt_assert_same(a, 0, b);
}

static void
check_pieces(const struct input *in)
{
	static const size_t few[] = { 1, 3, 16, 61 };
	const size_t n = in->fixture ? 64 : sizeof(few) / sizeof(few[0]);
	struct hwtd_trace *whole = input_trace(in, 0);

	for (size_t i = 0; i < n; i++) {
		struct hwtd_trace *cut;

		most = in->fixture ? i + 1 : few[i];
		cut = input_trace(in, 0);
		most = 0;
		for (uint32_t s = 0; s < n_streams(whole); s++) {
			struct mt_rows a, b;

			rows_of(whole, s, &a);
			most = in->fixture ? i + 1 : few[i];
			rows_of(cut, s, &b);
			most = 0;
			assert_alike(&a, &b);
			mt_rows_free(&a);
			mt_rows_free(&b);
		}
		hwtd_trace_close(cut);
	}
	hwtd_trace_close(whole);
}

/* Every byte is something. */

static void
check_sink(const struct hwtd_trace *trace, uint32_t id)
{
	struct hwtd_sink_info info = { .size = sizeof(info) };
	uint64_t sum;

	assert_int_equal(hwtd_trace_sink(trace, id, &info), HWTD_OK);
	sum = info.overhead_bytes + info.sync_bytes + info.footer_bytes +
	    info.lost_bytes + info.untold_bytes;
	for (size_t i = 0; i < HWTD_CS_TRACE_IDS; i++)
		sum += info.id_bytes[i];
	assert_int_equal(sum, stream_at(trace, id).n_bytes);
	for (uint32_t s = 0; s < n_streams(trace); s++) {
		const struct hwtd_stream_desc source = stream_at(trace, s);

		if (source.sink_plus_1 == id + 1)
			assert_int_equal(source.n_bytes,
			    info.id_bytes[source.coresight->trace_id]);
	}
}

static bool
in_a_gap(const struct mt_rows *rows, uint64_t off)
{
	for (size_t i = 0; i < rows->n; i++)
		if (rows->at[i].row.kind == HWTD_EV_GAP &&
		    off >= rows->at[i].detail.gap.first &&
		    off < rows->at[i].detail.gap.end)
			return (true);
	return (false);
}

/* Gaps are in order, and do not overlap. */
static void
check_gaps(const struct mt_rows *rows, uint64_t n)
{
	uint64_t end = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct hwtd_gap *gap = &rows->at[i].detail.gap;

		if (rows->at[i].row.kind != HWTD_EV_GAP)
			continue;
		assert_true(gap->first >= end);
		assert_true(gap->first <= gap->end && gap->end <= n);
		end = gap->end;
	}
}

/* The bytes of a source, and what was found in them. */
struct stream {
	uint32_t protocol;
	uint8_t *bytes;
	size_t n;
	struct mt_rows rows;
};

/*
 * A byte of a synchronisation: of those that are longer than need be, or begin in
 * the middle of a byte, OpenCSD does not tell where.
 */
static bool
in_a_sync(const struct stream *s, size_t off)
{
	const size_t from = off < HWTDI_CS_SYNC_BYTES
	    ? 0
	    : off - HWTDI_CS_SYNC_BYTES;

	return (hwtdi_cs_find_sync(s->protocol, s->bytes, s->n, from) <= off);
}

/* What is no packet is in a gap. */
static void
check_packet(const struct stream *s, const struct hwtd_packet *p)
{
	if (p->kind != HWTD_PK_UNSYNCED && p->kind != HWTD_PK_TRUNCATED &&
	    p->kind != HWTD_PK_UNKNOWN)
		return;
	for (uint64_t off = p->stream_off; off < p->stream_off + p->bytes;
	     off++)
		if (!in_a_gap(&s->rows, off) && !in_a_sync(s, (size_t)off))
			fail_msg(
			    "%zx damaged: stream %u: byte %llx, %s, is in "
			    "no gap",
			    damaged, (unsigned int)p->stream,
			    (unsigned long long)off,
			    hwtd_packet_kind_name(p->kind));
}

static void
stream_load(struct hwtd_trace *trace, uint32_t id, struct stream *out)
{
	const struct hwtd_stream_desc desc = stream_at(trace, id);
	size_t n;

	out->protocol = desc.coresight->protocol;
	out->n = (size_t)desc.n_bytes;
	out->bytes = malloc(out->n + 1);
	for (size_t at = 0; at < out->n; at += n) {
		assert_int_equal(hwtd_trace_read_bytes(trace, id, at,
				     out->bytes + at, out->n - at, &n, NULL),
		    HWTD_OK);
		assert_true(n > 0);
	}
	rows_of(trace, id, &out->rows);
}

/* Packets and what is none are all bytes, in order. */
static void
check_bytes(struct hwtd_trace *trace, uint32_t id)
{
	struct hwtd_packet_batch batch = { .size = sizeof(batch) };
	const struct hwtd_packets_options opts = { .size = sizeof(opts),
		.stream = id };
	struct hwtd_packets *reader = pk_open(trace, &opts);
	struct stream s;
	uint64_t at = 0;

	stream_load(trace, id, &s);
	check_gaps(&s.rows, s.n);
	while (hwtd_packets_read(reader, &batch, NULL) == HWTD_OK)
		for (size_t i = 0; i < batch.n; i++) {
			const struct hwtd_packet *p = &batch.packets[i];

			if (p->kind == HWTD_PK_LOST)
				continue;
			assert_int_equal(p->stream_off, at);
			at += p->bytes;
			check_packet(&s, p);
		}
	assert_int_equal(at, s.n);
	hwtd_packets_close(reader);
	mt_rows_free(&s.rows);
	free(s.bytes);
}

static void
check_accounts(const struct input *in)
{
	struct hwtd_trace *trace = input_trace(in, 0);

	for (uint32_t s = 0; s < n_streams(trace); s++)
		if (is_source(trace, s))
			check_bytes(trace, s);
		else
			check_sink(trace, s);
	hwtd_trace_close(trace);
}

/* Up to 1.4.0 OpenCSD writes anywhere if speculation of ETMv4 makes no sense. */
static bool
is_safe(const struct input *in)
{
	if (hwtdi_cs_library_version() > 0x10400)
		return (true);
	for (size_t i = 0; i < in->c.n_sources; i++)
		if (in->c.sources[i].protocol == HWTD_CS_ETMV4 ||
		    in->c.sources[i].protocol == HWTD_CS_ETE)
			return (false);
	return (true);
}

/* Each byte of a fixture is another one, one at a time. */
static void
check_damage(struct input *in)
{
	for (size_t i = 0; i < in->c.n; i++) {
		const uint8_t byte = in->c.bytes[i];

		in->c.bytes[i] = (uint8_t)(byte ^ (i * 0x3b + 0xa5));
		damaged = i;
		check_accounts(in);
		in->c.bytes[i] = byte;
	}
}

/* Execution goes where its branches go. */

/* The target of a direct branch of A64, or 0. */
static uint64_t
direct_target(uint64_t ip, uint32_t insn)
{
	int64_t words;

	if ((insn & 0x7c000000) == 0x14000000)
		words = (int64_t)(int32_t)(insn << 6) >> 6;
	else if ((insn & 0xff000000) == 0x54000000 ||
	    (insn & 0x7e000000) == 0x34000000)
		words = (int64_t)(int32_t)(insn << 8) >> 13;
	else if ((insn & 0x7e000000) == 0x36000000)
		words = (int64_t)(int32_t)(insn << 13) >> 18;
	else
		return (0);
	return (ip + (uint64_t)(4 * words));
}

static size_t
check_step(const struct hwtd_trace *trace, const struct hwtd_event *now,
    const struct hwtd_event *next)
{
	const uint64_t last = now->ip + now->bytes - 4;
	uint8_t b[4];
	uint64_t target;
	size_t n;

	if (now->branch == HWTD_BRANCH_NO_PATH ||
	    (now->flags & HWTD_EVF_ISA_MASK) >> HWTD_EVF_ISA_SHIFT !=
		HWTD_ISA_A64)
		return (0);
	assert_int_equal(now->bytes, 4 * now->insns);
	if (next->kind != HWTD_EV_BLOCK ||
	    hwtd_trace_read_code(trace, now->section, last, b, sizeof(b),
		&n) != HWTD_OK ||
	    n != sizeof(b))
		return (0);
	if ((now->flags & HWTD_EVF_TAKEN) == 0) {
		assert_int_equal(next->ip, last + 4);
		return (1);
	}
	target = direct_target(last,
	    b[0] | b[1] << 8 | b[2] << 16 | (uint32_t)b[3] << 24);
	if (target == 0)
		return (0);
	assert_int_equal(next->ip, target);
	return (1);
}

/* Where branches are some that OpenCSD knows only from 1.5.1, 1.6 or 1.8 on. */
static bool
has_newer_branches(const char *folder)
{
	static const char *const names[] = { "/pauth_lr", "/feat_cmpbr",
		"/texit-poe2", "/armv8_1m_branches" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(folder, names[i]) != NULL)
			return (true);
	return (false);
}

static size_t
check_flow(const struct input *in)
{
	struct hwtd_trace *trace;
	size_t steps = 0;

	if (in->fixture ? in->c.wrong : has_newer_branches(in->folder))
		return (0);
	trace = input_trace(in, 0);
	for (uint32_t s = 0; s < n_streams(trace); s++) {
		struct mt_rows rows;

		rows_of(trace, s, &rows);
		for (size_t i = 0; i + 1 < rows.n; i++)
			if (rows.at[i].row.kind == HWTD_EV_BLOCK)
				steps += check_step(trace, &rows.at[i].row,
				    &rows.at[i + 1].row);
		mt_rows_free(&rows);
	}
	hwtd_trace_close(trace);
	return (steps);
}

/* Whatever is missing in front, all is as before from a synchronisation on. */

static bool
is_kept(const struct mt_row *row)
{
	return (row->row.kind == HWTD_EV_BLOCK ||
	    row->row.kind == HWTD_EV_MARKER);
}

static bool
is_same(const struct mt_row *a, const struct mt_row *b)
{
	if (a->row.kind != b->row.kind)
		return (false);
	if (a->row.kind == HWTD_EV_MARKER)
		return (a->detail.marker.payload == b->detail.marker.payload &&
		    a->detail.marker.source == b->detail.marker.source);
	return (a->row.ip == b->row.ip && a->row.target == b->row.target &&
	    a->row.insns == b->row.insns && a->row.branch == b->row.branch);
}

/* Go back to one that is compared; false: there is none. */
static bool
go_back(const struct mt_rows *rows, size_t *at)
{
	while (*at > 0 && !is_kept(&rows->at[*at - 1]))
		--*at;
	return (*at > 0);
}

static size_t
check_suffix(const struct mt_rows *all, const struct mt_rows *part)
{
	size_t i = all->n, k = part->n, n = 0;

	while (go_back(part, &k)) {
		assert_true(go_back(all, &i));
		if (!is_same(&all->at[i - 1], &part->at[k - 1])) {
			/* The first may begin in the middle of the other. */
			k--;
			if (go_back(part, &k))
				fail_msg("rows %zu and %zu differ", i - 1, k);
			break;
		}
		i--;
		k--;
		n++;
	}
	return (n);
}

static size_t
check_cut(const struct input *in, struct hwtd_trace *whole, size_t first)
{
	struct hwtd_trace *cut = input_trace(in, first);
	size_t n = 0;

	for (uint32_t s = 0; s < n_streams(whole); s++) {
		struct mt_rows a, b;

		if (!is_source(whole, s))
			continue;
		rows_of(whole, s, &a);
		rows_of(cut, s, &b);
		n += check_suffix(&a, &b);
		mt_rows_free(&a);
		mt_rows_free(&b);
	}
	hwtd_trace_close(cut);
	return (n);
}

static size_t
check_cuts(const struct input *in)
{
	struct hwtd_trace *whole = input_trace(in, 0);
	const struct hwtd_stream_desc info = stream_at(whole, 0);
	/* Frames in memory have no mark to find them by. */
	const size_t unit = info.framing == HWTD_FRAMING_MEMORY
	    ? HWTDI_FRAME_BYTES
	    : 1;
	const size_t step = in->fixture
	    ? unit
	    : (size_t)(info.n_bytes / 5 / unit + 1) * unit;
	size_t n = 0;

	for (size_t first = step; first < info.n_bytes; first += step)
		n += check_cut(in, whole, first);
	hwtd_trace_close(whole);
	return (n);
}

/* All cases. */

struct sums {
	size_t cases, steps, rows;
};

static uint64_t
n_bytes(const char *folder)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_trace *trace = open_folder(folder);

	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	hwtd_trace_close(trace);
	return (info.n_bytes);
}

static void
check_group(const char *root, const char *group, bool fixtures,
    void (*check)(struct input *in, struct sums *sums), struct sums *sums)
{
	char path[PATH_CHARS], ini[PATH_CHARS + 20];
	struct dirent *entry;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "%s/%s", root, group);
	dir = opendir(path);
	if (dir == NULL && !fixtures)
		return;
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		struct input in;

		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s/%s", root, group,
		    entry->d_name);
		(void)snprintf(ini, sizeof(ini), "%s/snapshot.ini", path);
		if (!fixtures &&
		    (access(ini, R_OK) != 0 || n_bytes(path) > SMALL_BYTES))
			continue;
		input_load(path, fixtures, &in);
		check(&in, sums);
		sums->cases++;
		input_free(&in);
	}
	(void)closedir(dir);
}

static void
check_all(void (*check)(struct input *in, struct sums *sums))
{
	const char *corpus = getenv("HWTDECODE_CORPUS");
	struct sums sums = { 0 };

	check_group(TEST_FIXTURES, "cs-good", true, check, &sums);
	check_group(TEST_FIXTURES, "cs-bad", true, check, &sums);
	assert_true(sums.cases > 60);
	if (corpus != NULL && corpus[0] != '\0') {
		check_group(corpus, "coresight-etm", false, check, &sums);
		check_group(corpus, "coresight-ete", false, check, &sums);
	}
	print_message("%zu cases, %zu steps, %zu rows behind cuts\n",
	    sums.cases, sums.steps, sums.rows);
}

static void
do_pieces(struct input *in, struct sums *sums)
{
	(void)sums;
	check_pieces(in);
}

static void
do_accounts(struct input *in, struct sums *sums)
{
	(void)sums;
	check_accounts(in);
}

static void
do_damage(struct input *in, struct sums *sums)
{
	(void)sums;
	if (in->fixture && is_safe(in))
		check_damage(in);
}

static void
do_flow(struct input *in, struct sums *sums)
{
	sums->steps += check_flow(in);
}

static void
do_cuts(struct input *in, struct sums *sums)
{
	/* What is in front there is not the oldest. */
	if (strstr(in->folder, "/turned-") != NULL)
		return;
	sums->rows += check_cuts(in);
}

static void
pieces_of_any_size_give_the_same_rows(void **state)
{
	(void)state;
	check_all(do_pieces);
}

static void
every_byte_is_a_packet_or_in_a_gap(void **state)
{
	(void)state;
	check_all(do_accounts);
}

static void
damage_is_a_packet_or_in_a_gap(void **state)
{
	(void)state;
	check_all(do_damage);
}

static void
execution_goes_where_its_branches_go(void **state)
{
	(void)state;
	check_all(do_flow);
}

static void
what_is_missing_in_front_ends_at_a_synchronisation(void **state)
{
	(void)state;
	check_all(do_cuts);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_of_any_size_give_the_same_rows),
		cmocka_unit_test(every_byte_is_a_packet_or_in_a_gap),
		cmocka_unit_test(damage_is_a_packet_or_in_a_gap),
		cmocka_unit_test(execution_goes_where_its_branches_go),
		cmocka_unit_test(
		    what_is_missing_in_front_ends_at_a_synchronisation),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
