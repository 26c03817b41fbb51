/*
 * Rows of packets for tests.
 */
#include "support/packet_rows.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void
pk_add(struct pk_rows *rows, const struct hwtd_packet *row)
{
	if (rows->n == rows->cap) {
		rows->cap = rows->cap == 0 ? 256 : rows->cap * 2;
		rows->at = realloc(rows->at, rows->cap * sizeof(*rows->at));
		assert_non_null(rows->at);
	}
	rows->at[rows->n++] = *row;
}

void
pk_free(struct pk_rows *rows)
{
	free(rows->at);
	memset(rows, 0, sizeof(*rows));
}

struct hwtd_packets *
pk_open(struct hwtd_trace *trace, const struct hwtd_packets_options *opts)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_packets *packets = NULL;

	if (hwtd_packets_open(trace, opts, &packets, &err) != HWTD_OK)
		fail_msg("%s", err.message);
	return (packets);
}

/* What the functions of the most frequent packets do not tell stays 0. */
static int
see_tnt(void *arg, uint64_t off, uint64_t outcomes, uint32_t n)
{
	struct hwtd_packet row = {
		.stream_off = off,
		.value = outcomes,
		.count = n,
		.kind = HWTD_PK_PT_TNT_8,
	};

	pk_add(arg, &row);
	return (0);
}

static int
see_ip(void *arg, uint64_t off, uint32_t kind, uint64_t ip, int known)
{
	struct hwtd_packet row = {
		.stream_off = off,
		.ip = ip,
		.kind = (uint16_t)kind,
		.flags = known != 0 ? HWTD_PKF_IP : 0,
	};

	pk_add(arg, &row);
	return (0);
}

static int
see_cyc(void *arg, uint64_t off, uint64_t cycles)
{
	struct hwtd_packet row = {
		.stream_off = off,
		.value = cycles,
		.kind = HWTD_PK_PT_CYC,
	};

	pk_add(arg, &row);
	return (0);
}

static int
see_payload(void *arg, uint64_t off, uint32_t kind, uint32_t header,
    uint64_t value)
{
	struct hwtd_packet row = {
		.stream_off = off,
		.value = value,
		.aux = header,
		.kind = (uint16_t)kind,
	};

	pk_add(arg, &row);
	return (0);
}

/* Where nothing else is told of a packet of SPE, it need not be. */
static bool
is_payload(const struct hwtd_packet *row)
{
	return (row->kind >= HWTD_PK_SPE_PAD &&
	    row->kind < HWTD_PK_SPE_UNKNOWN &&
	    row->kind != HWTD_PK_SPE_ALIGNMENT &&
	    row->kind != HWTD_PK_SPE_ADDRESS &&
	    row->kind != HWTD_PK_SPE_COUNTER);
}

static int
see_packet(void *arg, const struct hwtd_packet *packet)
{
	if (!is_payload(packet)) {
		pk_add(arg, packet);
		return (0);
	}
	return (see_payload(arg, packet->stream_off, packet->kind, packet->aux,
	    packet->kind == HWTD_PK_SPE_PAD ? packet->count : packet->value));
}

const struct hwtd_packet_visitor pk_visitor = {
	.size = sizeof(pk_visitor),
	.tnt = see_tnt,
	.ip = see_ip,
	.cyc = see_cyc,
	.packet = see_packet,
	.payload = see_payload,
};

/* What a visitor could not be told, as it would not be. */
static struct hwtd_packet
as_told(const struct hwtd_packet *row)
{
	struct hwtd_packet out = *row;

	if (is_payload(row))
		return ((struct hwtd_packet){
		    .stream_off = row->stream_off,
		    .value = row->kind == HWTD_PK_SPE_PAD ? row->count
							  : row->value,
		    .aux = row->aux,
		    .kind = row->kind,
		});
	switch (row->kind) {
	case HWTD_PK_PT_TNT_64:
		out.kind = HWTD_PK_PT_TNT_8;
		/* FALLTHROUGH */
	case HWTD_PK_PT_TNT_8:
	case HWTD_PK_PT_CYC:
		out.flags = 0;
		out.bytes = 0;
		break;
	case HWTD_PK_PT_TIP:
	case HWTD_PK_PT_TIP_PGE:
	case HWTD_PK_PT_TIP_PGD:
	case HWTD_PK_PT_FUP:
		out.flags &= HWTD_PKF_IP;
		out.bytes = 0;
		out.value = 0;
		out.count = 0;
		break;
	default:
		return (out);
	}
	out.stream = 0;
	return (out);
}

void
pk_assert_same(const struct hwtd_packet *a, size_t n_a,
    const struct hwtd_packet *b, size_t n_b)
{
	for (size_t i = 0; i < n_a && i < n_b; i++) {
		if (memcmp(&a[i], &b[i], sizeof(a[i])) == 0)
			continue;
		print_message("row %zu: @%" PRIu64 " %s %" PRIu32 " bytes %"
			      "#" PRIx64 " %#" PRIx32 " ip %#" PRIx64
			      " flags %#x\n",
		    i, a[i].stream_off, hwtd_packet_kind_name(a[i].kind),
		    a[i].bytes, a[i].value, a[i].count, a[i].ip, a[i].flags);
		fail_msg("and: @%" PRIu64 " %s %" PRIu32 " bytes %#" PRIx64
			 " %#" PRIx32 " ip %#" PRIx64 " flags %#x",
		    b[i].stream_off, hwtd_packet_kind_name(b[i].kind),
		    b[i].bytes, b[i].value, b[i].count, b[i].ip, b[i].flags);
	}
	assert_int_equal(n_a, n_b);
}

static void
check_stats(const struct hwtd_packets *packets, struct hwtd_packets_stats *s)
{
	s->size = sizeof(*s);
	assert_int_equal(hwtd_packets_stats(packets, s), HWTD_OK);
	assert_int_equal(s->bytes_named + s->bytes_unknown, s->bytes);
}

/* Rows of all kinds: one behind the other, and as many bytes as counted. */
static void
check_rows(const struct pk_rows *rows, const struct hwtd_packets_stats *stats)
{
	uint64_t known = 0, unknown = 0, lost = 0, end = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct hwtd_packet *r = &rows->at[i];
		uint64_t n = r->bytes;

		if (r->kind == HWTD_PK_LOST) {
			n = r->value;
			lost += n;
		} else if (r->kind < HWTD_PK_PT_PAD) {
			unknown += n;
		} else {
			known += n;
		}
		assert_true(n > 0);
		if (i > 0)
			assert_int_equal(r->stream_off, end);
		end = r->stream_off + n;
	}
	assert_int_equal(known, stats->bytes_named);
	assert_int_equal(unknown, stats->bytes_unknown);
	assert_int_equal(lost, stats->bytes_lost);
}

static void
check_visitor(struct hwtd_trace *trace,
    const struct hwtd_packets_options *opts, const struct pk_rows *rows,
    const struct hwtd_packets_stats *stats)
{
	struct hwtd_packets *packets = pk_open(trace, opts);
	struct hwtd_packets_stats s;
	struct pk_rows seen = { NULL, 0, 0 }, want = { NULL, 0, 0 };

	assert_int_equal(hwtd_packets_visit(packets, &pk_visitor, &seen, NULL),
	    HWTD_END);
	check_stats(packets, &s);
	assert_memory_equal(&s, stats, sizeof(s));
	for (size_t i = 0; i < rows->n; i++) {
		const struct hwtd_packet row = as_told(&rows->at[i]);

		pk_add(&want, &row);
	}
	pk_assert_same(seen.at, seen.n, want.at, want.n);
	hwtd_packets_close(packets);
	pk_free(&seen);
	pk_free(&want);
}

void
pk_rows(struct hwtd_trace *trace, const struct hwtd_packets_options *opts,
    struct pk_rows *out)
{
	struct hwtd_packet_batch batch = { .size = sizeof(batch) };
	struct hwtd_packets *packets = pk_open(trace, opts);
	struct hwtd_packets_stats stats;
	int rc;

	memset(out, 0, sizeof(*out));
	while ((rc = hwtd_packets_read(packets, &batch, NULL)) == HWTD_OK) {
		assert_true(batch.n > 0);
		assert_int_equal(batch.stride, sizeof(struct hwtd_packet));
		for (size_t i = 0; i < batch.n; i++)
			pk_add(out, &batch.packets[i]);
	}
	assert_int_equal(rc, HWTD_END);
	check_stats(packets, &stats);
	hwtd_packets_close(packets);
	if (opts != NULL && (opts->kinds != 0 || opts->kinds_from_64 != 0))
		return;
	check_rows(out, &stats);
	check_visitor(trace, opts, out, &stats);
}

/* Append to a text that grows. */
static void __attribute__((format(printf, 3, 4)))
add(char **text, size_t *n, const char *fmt, ...)
{
	char part[256];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(part, sizeof(part), fmt, ap);
	va_end(ap);
	assert_true(len >= 0 && len < (int)sizeof(part));
	*text = realloc(*text, *n + (size_t)len + 1);
	assert_non_null(*text);
	memcpy(*text + *n, part, (size_t)len + 1);
	*n += (size_t)len;
}

void
pk_assert_text(struct hwtd_trace *trace,
    const struct hwtd_packets_options *opts, const char *want)
{
	struct pk_rows rows;
	char *text = NULL, fields[128];
	size_t n = 0;

	pk_rows(trace, opts, &rows);
	add(&text, &n, "%s", "");
	for (size_t i = 0; i < rows.n; i++) {
		const struct hwtd_packet *r = &rows.at[i];

		assert_true(hwtd_packet_text(r, fields, sizeof(fields)) <
		    sizeof(fields));
		add(&text, &n, "%" PRIu64 " %s%s%s", r->stream_off,
		    hwtd_packet_kind_name(r->kind), *fields != '\0' ? " " : "",
		    fields);
		if ((r->flags & HWTD_PKF_IP) != 0)
			add(&text, &n, " @%" PRIx64, r->ip);
		add(&text, &n, "%s%s%s\n",
		    (r->flags & HWTD_PKF_STATUS) != 0 ? " status" : "",
		    (r->flags & HWTD_PKF_GUESSED) != 0 ? " guessed" : "",
		    (r->flags & HWTD_PKF_RESERVED) != 0 ? " reserved" : "");
	}
	assert_string_equal(text, want);
	free(text);
	pk_free(&rows);
}

void
pk_assert(const struct pt_packets *p, const struct hwtd_packets_options *opts,
    const char *want)
{
	struct hwtd_trace *trace = mt_create();

	(void)mt_stream(trace, p, NULL);
	pk_assert_text(mt_seal(trace), opts, want);
	hwtd_trace_close(trace);
}
