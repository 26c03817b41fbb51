/*
 * Intel PT packets of a stretch of a stream.
 */
#include "decode/pt/pt_lexer.h"

#include <hwtdecode/trace.h>

#include "decode/pt/pt_errata.h"
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

void
hwtdi_pt_lexer_init(struct hwtdi_pt_lexer *lexer,
    const struct hwtd_pt_config *config)
{
	memset(lexer, 0, sizeof(*lexer));
	lexer->state.classes = hwtdi_pt_no_classes;
	if (hwtdi_pt_errata_of(config).skd007)
		lexer->state.skd007 = HWTDI_PT_CYC_MORE;
}

void
hwtdi_pt_lexer_restart(struct hwtdi_pt_lexer *lexer, bool synced)
{
	const struct hwtdi_pt_lex_state fresh = {
		.classes = synced ? hwtdi_pt_classes : hwtdi_pt_no_classes,
		.skd007 = lexer->state.skd007,
	};

	lexer->state = fresh;
	lexer->psb_end = 0;
}

/* The bytes of a stretch, with what adjoins. */
struct view {
	/* The segment goes up to `end`; bytes are there up to `seen`. */
	const uint8_t *end;
	const uint8_t *seen;
	/* The next PSB, if one seems to begin before or at `end`; else NULL. */
	const uint8_t *psb;
};

static size_t
min_size(size_t a, size_t b)
{
	return (a < b ? a : b);
}

/* What is left at `p` up to the next PSB, or of all bytes. */
static size_t
bytes_left(const uint8_t *p, const struct view *view)
{
	return ((size_t)((view->psb != NULL && view->psb > p ? view->psb
							     : view->seen) -
	    p));
}

/* Find the next PSB from `p` on, which is at `stream_off`. */
static inline void
look_ahead(struct hwtdi_pt_lexer *lexer, const uint8_t *p, uint64_t stream_off,
    struct view *view)
{
	const size_t n = (size_t)(view->end - p);

	if (lexer->psb_end != stream_off + n || stream_off > lexer->psb) {
		const size_t seen = (size_t)(view->seen - p);
		const size_t at = hwtdi_pt_next_psb(p, n, seen);

		lexer->psb = at < seen ? stream_off + at : UINT64_MAX;
		lexer->psb_end = stream_off + n;
	}
	view->psb = lexer->psb == UINT64_MAX
	    ? NULL
	    : p + (size_t)(lexer->psb - stream_off);
}

/* The packet at `p`, of which `n` bytes are there, and `run` of padding. */
static bool
lex_one(struct hwtdi_pt_lex_state *state, const uint8_t *p, size_t n,
    size_t run, struct hwtdi_pt_packet *out)
{
	uint8_t copy[2 * HWTDI_PT_PACKET_MAX] = { 0 };

	if (n >= HWTDI_PT_PACKET_MAX)
		return (hwtdi_pt_lex(state, p, p + run, out));
	memcpy(copy, p, n);
	return (hwtdi_pt_lex(state, copy, copy + min_size(run, n), out));
}

/* Bytes that are PSBs, of which the last one may be cut off. */
static bool
is_psbs(const uint8_t *p, size_t n)
{
	static const uint8_t psb[2] = { 0x02, 0x82 };

	for (size_t i = 0; i < n; i++)
		if (p[i] != psb[i & 1])
			return (false);
	return (true);
}

bool
hwtdi_pt_is_cut(const uint8_t *p, size_t n)
{
	if (p[0] != 0x02 || n >= HWTDI_PT_PACKET_MAX)
		return (false);
	if (n == 1)
		return (true);
	if (p[1] == 0xc3)
		return (n == 2);
	if (p[1] == 0xa3)
		return (n < 8);
	return (is_psbs(p, n));
}

/* Packets follow from here on up to `end`, as far as one can tell. */
static bool
is_plausible(const struct hwtdi_pt_lex_state *from, const uint8_t *p,
    const struct view *view)
{
	const size_t most = GUESS_PACKETS * HWTDI_PT_PACKET_MAX;
	struct hwtdi_pt_lex_state state = *from;
	struct hwtdi_pt_packet packet;
	unsigned int n_long = 0;

	for (unsigned int i = 0; i < GUESS_PACKETS; i++) {
		const size_t n = bytes_left(p, view);

		if (p == view->psb)
			return (n_long > 0);
		if (p >= view->end && view->psb == NULL)
			break;
		if (!lex_one(&state, p, n, min_size(n, most), &packet) ||
		    packet.bytes > n)
			return (false);
		if (packet.bytes >= LONG_BYTES &&
		    packet.kind != HWTD_PK_PT_PAD)
			n_long++;
		p += packet.bytes;
	}
	return (n_long >= GUESS_LONG);
}

/* Bytes from `p` on up to a PSB, or to the end. */
static size_t
skip_to_psb(struct hwtdi_pt_lexer *lexer, const uint8_t *p,
    const struct view *view)
{
	lexer->state.classes = view->psb != NULL ? hwtdi_pt_classes
						 : hwtdi_pt_no_classes;
	lexer->state.place = 0;
	return ((size_t)((view->psb != NULL ? view->psb : view->end) - p));
}

/* Bytes from `p` on that are unknown, at least one. */
static size_t
count_unknown(struct hwtdi_pt_lexer *lexer, const uint8_t *p,
    const struct view *view)
{
	struct hwtdi_pt_lex_state state = lexer->state;
	size_t n;

	/* Erratum SKZ84: the packet and one byte behind it. */
	if (bytes_left(p, view) >= 8 && p[0] == 0x02 && p[1] == 0x73) {
		lexer->state.place |= HWTD_PKF_GUESSED;
		return (8);
	}
	n = skip_to_psb(lexer, p, view);
	state.classes = hwtdi_pt_classes;
	state.place = HWTD_PKF_GUESSED;
	state.ip_known = 0;
	for (size_t i = 1; i < n && i < GUESS_BYTES; i++) {
		if (is_plausible(&state, p + i, view)) {
			lexer->state = state;
			return (i);
		}
		/* Padding is one packet, wherever in it one begins. */
		while (p[i] == 0 && i + 1 < n && p[i + 1] == 0)
			i++;
	}
	return (n);
}

/* A PSB at `p`: the next one, or one of several, the last of them cut off. */
static bool
is_psb_at(const uint8_t *p, const struct view *view)
{
	const size_t n = (size_t)(view->seen - p);

	return (p == view->psb || (n >= HWTDI_PT_PSB_BYTES && is_psbs(p, n)));
}

/*
 * Bytes that a packet at `p` can have.  What looks like PSBs up to the end may
 * begin with bytes of the packet.
 */
static size_t
room_for(const uint8_t *p, const struct view *view)
{
	const size_t n = (size_t)(view->seen - p);

	if (view->psb == NULL || is_psb_at(p, view) ||
	    is_psbs(view->psb, (size_t)(view->seen - view->psb)))
		return (n);
	return ((size_t)(view->psb - p));
}

/* What begins at `p`, packet or not. */
static __attribute__((noinline)) void
name_bytes(struct hwtdi_pt_lexer *lexer, const uint8_t *p,
    const struct view *view, struct hwtdi_pt_packet *out)
{
	const size_t left = (size_t)(view->end - p);
	struct hwtdi_pt_lex_state before;
	size_t n;

	out->bytes = 0;
	before = lexer->state;
	if (before.classes == hwtdi_pt_no_classes && !is_psb_at(p, view)) {
		hwtdi_pt_put(out, HWTD_PK_UNSYNCED,
		    (unsigned int)skip_to_psb(lexer, p, view), 0, 0);
		lexer->bytes_unknown += out->bytes;
		return;
	}
	if (is_psb_at(p, view))
		lexer->state.classes = hwtdi_pt_classes;
	n = room_for(p, view);
	if (lex_one(&lexer->state, p, n, min_size(n, left), out) &&
	    out->bytes <= n)
		return;
	/* Then its end is missing, or it is none. */
	if (out->bytes > n || hwtdi_pt_is_cut(p, n)) {
		hwtdi_pt_put(out, HWTD_PK_TRUNCATED, (unsigned int)n, 0, 0);
		lexer->state = before;
	} else {
		lexer->state = before;
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
		if (kind < HWTD_PK_PT_PAD)
			flags = 0;
		break;
	}
	return (flags);
}

static void
fill(struct hwtd_packet *row, const struct hwtdi_pt_packet *packet,
    uint64_t stream_off, uint32_t stream)
{
	row->stream_off = stream_off;
	row->value = packet->value;
	row->ip = packet->ip;
	row->time_ns = 0;
	row->time_error_ns = 0;
	row->stream = stream;
	row->bytes = packet->bytes;
	row->count = packet->count;
	row->kind = packet->kind;
	row->flags = packet->flags;
	row->sink_off = 0;
	row->stamp = 0;
	row->code = 0;
	row->aux = 0;
}

/* All packets are wanted, and all functions are there. */
static bool
wants_all(const struct hwtdi_pt_stretch *s)
{
	const struct hwtd_packet_visitor *const v = s->visitor;

	return (s->kinds == UINT64_MAX && s->skim == NULL && v->tnt != NULL &&
	    v->ip != NULL && v->cyc != NULL);
}

/*
 * Tell a packet of a class to the function that is there for it; if `choose`
 * is not set, wants_all().
 */
HWTDI_PT_INLINE int
tell(const struct hwtdi_pt_stretch *s, const struct hwtd_packet_visitor *v,
    bool choose, enum hwtdi_pt_class class,
    const struct hwtdi_pt_packet *packet, uint64_t stream_off)
{
	struct hwtd_packet row;

	if (choose && (s->kinds >> packet->kind & 1) == 0)
		return (0);
	if (class == HWTDI_PT_TNT && (!choose || v->tnt != NULL))
		return (v->tnt(s->arg, stream_off, packet->value,
		    packet->count));
	if (class == HWTDI_PT_IP && (!choose || v->ip != NULL))
		return (v->ip(s->arg, stream_off, packet->kind, packet->ip,
		    packet->flags & HWTD_PKF_IP));
	if (class == HWTDI_PT_CYC && (!choose || v->cyc != NULL))
		return (v->cyc(s->arg, stream_off, packet->value));
	if (v->packet == NULL)
		return (0);
	fill(&row, packet, stream_off, s->stream);
	return (v->packet(s->arg, &row));
}

enum hwtdi_pt_class
hwtdi_pt_class_of(unsigned int kind)
{
	switch (kind) {
	case HWTD_PK_PT_TNT_8:
	case HWTD_PK_PT_TNT_64:
		return (HWTDI_PT_TNT);
	case HWTD_PK_PT_TIP:
	case HWTD_PK_PT_TIP_PGE:
	case HWTD_PK_PT_TIP_PGD:
	case HWTD_PK_PT_FUP:
		return (HWTDI_PT_IP);
	case HWTD_PK_PT_CYC:
		return (HWTDI_PT_CYC);
	default:
		return (HWTDI_PT_BAD);
	}
}

/*
 * A packet, or what is none.  Nothing can cut off what begins before `safe`.
 */
static void
lex_other(struct hwtdi_pt_lexer *lexer, const uint8_t *p, const uint8_t *safe,
    const struct view *view, struct hwtdi_pt_packet *out)
{
	if (p >= safe || !hwtdi_pt_lex(&lexer->state, p, view->end, out))
		name_bytes(lexer, p, view, out);
	out->flags |= (uint16_t)place_flags(&lexer->state, out->kind);
}

/* Where that is; `p`: nowhere. */
static const uint8_t *
safe_until(const uint8_t *p, const uint8_t *until, const struct view *view)
{
	const size_t n = bytes_left(p, view);

	if (view->psb == p || n < HWTDI_PT_PACKET_MAX)
		return (p);
	return (p +
	    min_size((size_t)(until - p), n - (HWTDI_PT_PACKET_MAX - 1)));
}

/*
 * Name bytes: to rows until there are `max`, or to the visitor if `rows` is
 * NULL; unless it wants_all(), with `choose`.
 */
HWTDI_PT_INLINE int
lex_all(struct hwtdi_pt_lexer *lexer, const struct hwtdi_pt_stretch *s,
    bool choose, struct hwtd_packet *rows, size_t max, size_t *n_out,
    size_t *used_out)
{
	const uint64_t base = s->stream_off - (uint64_t)(uintptr_t)s->bytes;
	const uint8_t *const until = s->bytes + s->n - s->beyond;
	struct view view = { s->bytes + s->n, s->bytes + s->n + s->tail,
		NULL };
	const struct hwtd_packet_visitor *const visitor = s->visitor;
	const uint8_t *const end = view.end;
	const uint8_t *p = s->bytes;
	size_t n = 0;
	int rc = 0;

	while (p < until && n < max && rc == 0) {
		uint64_t off = base + (uint64_t)(uintptr_t)p;
		const uint8_t *classes = lexer->state.classes, *safe, *hot;
		struct hwtdi_pt_packet packet, other;
		enum hwtdi_pt_class class;

		look_ahead(lexer, p, off, &view);
		safe = safe_until(p, until, &view);
		hot = lexer->state.place == 0 ? safe : p;
		while (p < hot && n < max) {
			if (choose && s->skim != NULL &&
			    classes == hwtdi_pt_classes) {
				p = s->skim(s->arg, p, hot);
				if (p >= hot)
					break;
			}
			class = hwtdi_pt_lex_hot(&lexer->state, classes, p,
			    end, &packet);
			if (class == HWTDI_PT_BAD) {
				/* No PSB: that would be before `safe`. */
				if (!hwtdi_pt_lex_cold(&lexer->state, p,
					&other))
					break;
				classes = lexer->state.classes;
				class = hwtdi_pt_class_of(other.kind);
				packet = other;
			}
			off = base + (uint64_t)(uintptr_t)p;
			p += packet.bytes;
			if (rows == NULL) {
				rc = tell(s, visitor, choose, class, &packet,
				    off);
				if (rc != 0)
					break;
			} else {
				fill(&rows[n], &packet, off, s->stream);
				n += s->kinds >> packet.kind & 1;
			}
		}
		/* PSB+, guesses, what can be cut off, and no packets. */
		while (p < until && n < max && rc == 0) {
			off = base + (uint64_t)(uintptr_t)p;
			lex_other(lexer, p, safe, &view, &other);
			p += other.bytes;
			if (rows == NULL) {
				rc = tell(s, visitor, choose,
				    hwtdi_pt_class_of(other.kind), &other,
				    off);
			} else {
				fill(&rows[n], &other, off, s->stream);
				n += s->kinds >> other.kind & 1;
			}
			if (p >= safe || lexer->state.place == 0)
				break;
		}
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

	if (!wants_all(stretch))
		return (lex_all(lexer, stretch, true, NULL, 1, &n, used_out));
	return (lex_all(lexer, stretch, false, NULL, 1, &n, used_out));
}

size_t
hwtdi_pt_lexer_rows(struct hwtdi_pt_lexer *lexer,
    const struct hwtdi_pt_stretch *stretch, struct hwtd_packet *rows,
    size_t max, size_t *used_out)
{
	size_t n;

	(void)lex_all(lexer, stretch, false, rows, max, &n, used_out);
	return (n);
}
