/*
 * The peer of the Intel PT benchmark: a bare libipt block loop.
 */
#include "bench_peer.h"

#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/pt/pt_config.h"
#include "trace/trace_model.h"

/* What the read-memory callback needs: the trace and the last span. */
struct memory {
	struct hwtd_trace *trace;
	struct hwtdi_span span;
};

struct bench_peer {
	struct memory memory;
	struct pt_block_decoder *decoder;
	/* Outlives the decoder; may be NULL. */
	struct pt_image_section_cache *cache;
	/* Offset of the first sync point. */
	bool has_sync;
	uint64_t sync;
};

static int
read_memory(uint8_t *buf, size_t n, const struct pt_asid *asid, uint64_t ip,
    void *arg)
{
	struct memory *m = arg;
	size_t have = 0;

	(void)asid;
	while (have < n) {
		uint64_t at = ip + have;
		uint64_t left;
		size_t take;

		if (at - m->span.address >= m->span.length &&
		    hwtdi_trace_find_code(m->trace,
			&(struct hwtdi_code_place){ 0 }, at,
			&m->span) != HWTD_OK) {
			m->span.length = 0;
			break;
		}
		left = m->span.length - (at - m->span.address);
		take = n - have < left ? n - have : (size_t)left;
		memcpy(buf + have, m->span.bytes + (at - m->span.address),
		    take);
		have += take;
	}
	return (have == 0 ? -pte_nomap : (int)have);
}

char **
bench_peer_files(const struct bench_case *c)
{
	static const char pattern[] = P_tmpdir "/bench_pt.XXXXXX";
	char **files = calloc(c->n_images + 1, sizeof(*files));

	for (size_t i = 0; files != NULL && i < c->n_images; i++) {
		const struct bench_image *from = &c->images[i];
		int fd;

		files[i] = malloc(sizeof(pattern));
		if (files[i] == NULL)
			bench_die("out of memory");
		memcpy(files[i], pattern, sizeof(pattern));
		fd = mkstemp(files[i]);
		if (fd < 0 ||
		    write(fd, from->file.at + from->offset, from->length) !=
			(ssize_t)from->length)
			bench_die("%s: cannot write", files[i]);
		(void)close(fd);
	}
	return (files);
}

void
bench_peer_files_free(const struct bench_case *c, char **files)
{
	for (size_t i = 0; files != NULL && i < c->n_images; i++) {
		(void)unlink(files[i]);
		free(files[i]);
	}
	free(files);
}

static void
check(int rc)
{
	if (rc < 0)
		bench_die("libipt: %s", pt_errstr(pt_errcode(rc)));
}

static void
set_image(struct bench_peer *peer, const struct bench_peer_args *args)
{
	struct pt_image *image = pt_blk_get_image(peer->decoder);

	if (args->files == NULL) {
		peer->memory.trace = args->trace;
		check(pt_image_set_callback(image, read_memory,
		    &peer->memory));
		return;
	}
	peer->cache = pt_iscache_alloc(NULL);
	if (peer->cache == NULL)
		bench_die("libipt made no section cache");
	check(pt_iscache_set_limit(peer->cache, (uint64_t)1 << 30));
	for (size_t i = 0; i < args->at->n_images; i++) {
		const struct bench_image *from = &args->at->images[i];
		int id = pt_iscache_add_file(peer->cache, args->files[i], 0,
		    from->length, from->address);

		check(id);
		check(pt_image_add_cached(image, peer->cache, id, NULL));
	}
}

bool
bench_peer_can_end(const struct hwtd_pt_config *pt)
{
	struct pt_config config;

	hwtdi_pt_config_libipt(&config, pt);
	return (config.flags.variant.block.end_on_call != 0);
}

struct bench_peer *
bench_peer_open(const struct bench_peer_args *args)
{
	struct bench_peer *peer = calloc(1, sizeof(*peer));
	struct pt_config config;

	hwtdi_pt_config_libipt(&config, args->pt);
	config.flags.variant.block.end_on_call = args->end_flags;
	config.flags.variant.block.end_on_jump = args->end_flags;
	config.begin = args->at->trace.at;
	config.end = config.begin + args->at->trace.n;
	if (peer != NULL)
		peer->decoder = pt_blk_alloc_decoder(&config);
	if (peer == NULL || peer->decoder == NULL)
		bench_die("libipt made no block decoder");
	set_image(peer, args);
	if (pt_blk_sync_forward(peer->decoder) >= 0) {
		check(pt_blk_get_sync_offset(peer->decoder, &peer->sync));
		peer->has_sync = true;
	}
	return (peer);
}

void
bench_peer_close(struct bench_peer *peer)
{
	if (peer == NULL)
		return;
	pt_blk_free_decoder(peer->decoder);
	pt_iscache_free(peer->cache);
	free(peer);
}

/* From one synchronisation point to an error or the end. */
static int
decode_blocks(struct pt_block_decoder *d, int status, struct bench_count *out)
{
	struct pt_block block;
	struct pt_event event;

	while (status >= 0) {
		if ((status & pts_event_pending) != 0) {
			status = pt_blk_event(d, &event, sizeof(event));
			out->items++;
			continue;
		}
		if ((status & pts_eos) != 0)
			return (-pte_eos);
		block.ninsn = 0;
		status = pt_blk_next(d, &block, sizeof(block));
		out->insns += block.ninsn;
		out->items += block.ninsn != 0;
	}
	return (status);
}

static void
decode(struct bench_peer *peer, struct bench_count *out)
{
	struct pt_block_decoder *d = peer->decoder;
	int status;

	memset(out, 0, sizeof(*out));
	if (!peer->has_sync)
		return;
	status = pt_blk_sync_set(d, peer->sync);
	while (status >= 0) {
		status = decode_blocks(d, status, out);
		if (pt_errcode(status) == pte_eos)
			break;
		out->errors++;
		status = pt_blk_sync_forward(d);
	}
}

void
bench_peer_learn(struct bench_peer *peer)
{
	struct bench_count count;

	decode(peer, &count);
}

BENCH_NOINLINE void
bench_peer_warm(struct bench_peer *peer, struct bench_count *out)
{
	struct bench_count count;

	/* No tail call: callgrind would not see the end. */
	decode(peer, &count);
	*out = count;
}

BENCH_NOINLINE void
bench_peer_cold(const struct bench_peer_args *args, struct bench_count *out)
{
	struct bench_peer *peer = bench_peer_open(args);

	decode(peer, out);
	bench_peer_close(peer);
}
