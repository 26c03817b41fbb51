/*
 * Intel PT packets of a stretch of a stream.
 */
#include "decode/pt/pt_lexer.h"

#include <hwtdecode/trace.h>

#include "decode/pt/pt_sync.h"

/*
 * Behind unknown bytes a place is taken for the begin of packets if a PSB is
 * there, or if this many packets follow of which so many are long ones.
 */
#define GUESS_PACKETS 64
#define GUESS_LONG 4
#define LONG_BYTES 5

/* Bytes in which such a place is looked for before the next PSB is taken. */
#define GUESS_BYTES 4096

/* Source: Intel, "6th Generation Processor Family Specification Update". */
static bool
has_skd007(const struct hwtd_pt_config *config)
{
	return (config != NULL && config->cpu_family == 6 &&
	    (config->cpu_model == 0x4e || config->cpu_model == 0x5e ||
		config->cpu_model == 0x8e || config->cpu_model == 0x9e ||
		config->cpu_model == 0xa5 || config->cpu_model == 0xa6));
}

void
hwtdi_pt_lexer_init(struct hwtdi_pt_lexer *lexer,
    const struct hwtd_pt_config *config)
{
	memset(lexer, 0, sizeof(*lexer));
	lexer->state.classes = hwtdi_pt_no_classes;
	lexer->state.skd007 = has_skd007(config);
}

void
hwtdi_pt_lexer_restart(struct hwtdi_pt_lexer *lexer, bool synced)
{
	const struct hwtdi_pt_lex_state fresh = {
		.classes = synced ? hwtdi_pt_classes : hwtdi_pt_no_classes,
		.skd007 = lexer->state.skd007,
	};

	lexer->state = fresh;
}

/* The bytes of a stretch, with what adjoins. */
struct view {
	/* Packets begin before `end`; bytes are there up to `seen`. */
	const uint8_t *end;
	const uint8_t *seen;
};

static size_t
min_size(size_t a, size_t b)
{
	return (a < b ? a : b);
}

/* The packet at `p`, also with less than HWTDI_PT_PACKET_MAX bytes behind it. */
static bool
lex_one(struct hwtdi_pt_lex_state *state, const uint8_t *p,
    const struct view *view, struct hwtdi_pt_packet *out)
{
	const size_t n = (size_t)(view->seen - p);
	uint8_t copy[2 * HWTDI_PT_PACKET_MAX] = { 0 };

	if (n >= HWTDI_PT_PACKET_MAX)
		return (hwtdi_pt_lex(state, p, view->end, out));
	memcpy(copy, p, n);
	return (hwtdi_pt_lex(state, copy, copy + (view->end - p), out));
}

/* Bytes that are no packet, but with others behind them could be one. */
static bool
is_cut(const uint8_t *p, size_t n)
{
	static const uint8_t psb[2] = { 0x02, 0x82 };

	if (p[0] != 0x02 || n >= HWTDI_PT_PACKET_MAX)
		return (false);
	if (n == 1)
		return (true);
	if (p[1] == 0xc3)
		return (n == 2);
	if (p[1] == 0xa3)
		return (n < 8);
	for (size_t i = 0; i < n; i++)
		if (p[i] != psb[i & 1])
			return (false);
	return (true);
}

/* Packets follow from here on, as far as one can tell. */
static bool
is_plausible(const struct hwtdi_pt_lex_state *from, const uint8_t *p,
    const struct view *view)
{
	struct hwtdi_pt_lex_state state = *from;
	struct hwtdi_pt_packet packet;
	unsigned int n_long = 0;

	for (unsigned int i = 0; i < GUESS_PACKETS && p < view->end; i++) {
		if (!lex_one(&state, p, view, &packet) ||
		    packet.bytes > (size_t)(view->seen - p))
			return (false);
		if (packet.kind == HWTD_PK_PT_PSB)
			return (i == 0 || n_long > 0);
		if (packet.bytes >= LONG_BYTES &&
		    packet.kind != HWTD_PK_PT_PAD)
			n_long++;
		p += packet.bytes;
	}
	return (n_long >= GUESS_LONG);
}

/* Bytes up to a PSB that is at least `from` away, or to the end. */
static size_t
find_sync(struct hwtdi_pt_lexer *lexer, const uint8_t *p,
    const struct view *view, size_t from)
{
	const size_t n = (size_t)(view->end - p);
	const size_t look = min_size((size_t)(view->seen - p),
	    n + HWTDI_PT_PSB_BYTES - 1);
	size_t at = hwtdi_pt_find_psb(p, look, from);

	lexer->state.classes = at < n ? hwtdi_pt_classes : hwtdi_pt_no_classes;
	return (min_size(at, n));
}

/* Bytes from `p` on that are unknown, at least one. */
static size_t
count_unknown(struct hwtdi_pt_lexer *lexer, const uint8_t *p,
    const struct view *view)
{
	const size_t n = (size_t)(view->end - p);
	struct hwtdi_pt_lex_state state;
	size_t psb;

	/* Erratum SKZ84: the packet and one byte behind it. */
	if (n > 7 && p[0] == 0x02 && p[1] == 0x73)
		return (8);
	psb = find_sync(lexer, p, view, 1);
	state = lexer->state;
	state.classes = hwtdi_pt_classes;
	state.place = HWTD_PKF_GUESSED;
	state.ip_known = 0;
	for (size_t i = 1; i < psb && i < GUESS_BYTES; i++) {
		if (is_plausible(&state, p + i, view)) {
			lexer->state = state;
			return (i);
		}
	}
	return (psb);
}

/* What begins at `p`, packet or not. */
static void
name_bytes(struct hwtdi_pt_lexer *lexer, const uint8_t *p,
    const struct view *view, struct hwtdi_pt_packet *out)
{
	const size_t n = (size_t)(view->seen - p);
	size_t unsynced;

	if (lexer->state.classes == hwtdi_pt_no_classes) {
		unsynced = find_sync(lexer, p, view, 0);
		hwtdi_pt_put(out, HWTD_PK_UNSYNCED, (unsigned int)unsynced, 0,
		    0);
		if (unsynced > 0) {
			lexer->bytes_unknown += unsynced;
			return;
		}
	}
	if (lex_one(&lexer->state, p, view, out)) {
		if (out->bytes <= n)
			return;
		hwtdi_pt_put(out, HWTD_PK_TRUNCATED, (unsigned int)n, 0, 0);
	} else if (is_cut(p, n)) {
		hwtdi_pt_put(out, HWTD_PK_TRUNCATED, (unsigned int)n, 0, 0);
	} else {
		hwtdi_pt_put(out, HWTD_PK_UNKNOWN,
		    (unsigned int)count_unknown(lexer, p, view), 0, 0);
	}
	lexer->bytes_unknown += out->bytes;
}

/* Inside PSB+, and where packets were guessed: what a packet changes. */
static unsigned int
place_flags(struct hwtdi_pt_lex_state *state, unsigned int kind)
{
	unsigned int flags = state->place;

	switch (kind) {
	case HWTD_PK_PT_PSBEND:
	case HWTD_PK_PT_OVF:
		state->place &= HWTD_PKF_GUESSED;
		break;
	case HWTD_PK_PT_TNT_8:
	case HWTD_PK_PT_TNT_64:
	case HWTD_PK_PT_TIP:
	case HWTD_PK_PT_TIP_PGE:
	case HWTD_PK_PT_TIP_PGD:
		/* PSB+ is over, with or without PSBEND. */
		state->place &= HWTD_PKF_GUESSED;
		flags = state->place;
		break;
	default:
		if (kind < HWTD_PK_PT_PAD) {
			state->place &= HWTD_PKF_GUESSED;
			flags = 0;
		}
		break;
	}
	return (flags);
}

static void
fill(struct hwtd_packet *row, const struct hwtdi_pt_packet *packet,
    uint64_t stream_off)
{
	row->stream_off = stream_off;
	row->value = packet->value;
	row->ip = packet->ip;
	row->bytes = packet->bytes;
	row->count = packet->count;
	row->kind = packet->kind;
	row->flags = packet->flags;
}

/* Tell a packet to the function that is there for it. */
HWTDI_PT_INLINE int
tell(const struct hwtd_packet_visitor *v, void *arg,
    const struct hwtdi_pt_packet *packet, uint64_t stream_off,
    struct hwtd_packet *row)
{
	switch (packet->kind) {
	case HWTD_PK_PT_TNT_8:
	case HWTD_PK_PT_TNT_64:
		if (v->tnt == NULL)
			break;
		return (v->tnt(arg, stream_off, packet->value, packet->count));
	case HWTD_PK_PT_TIP:
	case HWTD_PK_PT_TIP_PGE:
	case HWTD_PK_PT_TIP_PGD:
	case HWTD_PK_PT_FUP:
		if (v->ip == NULL)
			break;
		return (v->ip(arg, stream_off, packet->kind, packet->ip,
		    packet->flags & HWTD_PKF_IP));
	case HWTD_PK_PT_CYC:
		if (v->cyc == NULL)
			break;
		return (v->cyc(arg, stream_off, packet->value));
	default:
		break;
	}
	if (v->packet == NULL)
		return (0);
	fill(row, packet, stream_off);
	return (v->packet(arg, row));
}

/* Behind it less than a whole packet can be seen. */
static const uint8_t *
near_end(const struct hwtdi_pt_stretch *s)
{
	const size_t n = s->n + s->tail;

	if (n < HWTDI_PT_PACKET_MAX)
		return (s->bytes);
	return (s->bytes + min_size(s->n, n - (HWTDI_PT_PACKET_MAX - 1)));
}

/* The other packets, and what is none. */
static void
lex_other(struct hwtdi_pt_lexer *lexer, const uint8_t *p,
    const struct view *view, struct hwtdi_pt_packet *out)
{
	name_bytes(lexer, p, view, out);
	out->flags |= (uint16_t)place_flags(&lexer->state, out->kind);
}

/*
 * Name bytes: to rows until there are `max`, or to the visitor if `rows` is
 * NULL.  Packets are frequent ones, as far as is known, before `hot`.
 */
HWTDI_PT_INLINE int
lex_all(struct hwtdi_pt_lexer *lexer, const struct hwtdi_pt_stretch *s,
    struct hwtd_packet *rows, size_t max, size_t *n_out, size_t *used_out)
{
	const struct view view = { s->bytes + s->n,
		s->bytes + s->n + s->tail };
	const struct hwtd_packet_visitor *const visitor = s->visitor;
	const uint64_t base = s->stream_off - (uint64_t)(uintptr_t)s->bytes;
	const uint8_t *const hot_end = near_end(s);
	const uint8_t *const end = view.end;
	const uint8_t *hot = lexer->state.place == 0 ? hot_end : s->bytes;
	const uint8_t *p = s->bytes;
	struct hwtd_packet here = { .stream = s->stream };
	void *const arg = s->arg;
	size_t n = 0;
	int rc = 0;

	while (p < end && (rows != NULL ? n < max : rc == 0)) {
		struct hwtd_packet *const row = rows != NULL ? &rows[n]
							     : &here;
		const uint64_t off = base + (uint64_t)(uintptr_t)p;
		struct hwtdi_pt_packet packet, other;

		if (p >= hot ||
		    !hwtdi_pt_lex_hot(&lexer->state, p, end, &packet)) {
			lex_other(lexer, p, &view, &other);
			hot = lexer->state.place == 0 ? hot_end : s->bytes;
			packet = other;
		}
		p += packet.bytes;
		if (rows == NULL) {
			rc = tell(visitor, arg, &packet, off, row);
			continue;
		}
		fill(row, &packet, off);
		row->time_ns = 0;
		row->time_error_ns = 0;
		row->stream = s->stream;
		n += s->kinds >> packet.kind & 1;
	}
	*n_out = n;
	*used_out = (size_t)(p - s->bytes);
	lexer->bytes += *used_out;
	return (rc);
}

int
hwtdi_pt_lexer_visit(struct hwtdi_pt_lexer *lexer,
    const struct hwtdi_pt_stretch *stretch, size_t *used_out)
{
	size_t n;

	return (lex_all(lexer, stretch, NULL, 0, &n, used_out));
}

size_t
hwtdi_pt_lexer_rows(struct hwtdi_pt_lexer *lexer,
    const struct hwtdi_pt_stretch *stretch, struct hwtd_packet *rows,
    size_t max, size_t *used_out)
{
	size_t n;

	(void)lex_all(lexer, stretch, rows, max, &n, used_out);
	return (n);
}
