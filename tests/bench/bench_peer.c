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

/* Returns the cache that must outlive the decoder, or NULL. */
static struct pt_image_section_cache *
set_image(struct pt_image *image, const struct bench_peer *peer,
    struct memory *m)
{
	struct pt_image_section_cache *cache;

	if (peer->files == NULL) {
		check(pt_image_set_callback(image, read_memory, m));
		return (NULL);
	}
	cache = pt_iscache_alloc(NULL);
	if (cache == NULL)
		bench_die("libipt made no section cache");
	check(pt_iscache_set_limit(cache, (uint64_t)1 << 30));
	for (size_t i = 0; i < peer->at->n_images; i++) {
		const struct bench_image *from = &peer->at->images[i];
		int id = pt_iscache_add_file(cache, peer->files[i], 0,
		    from->length, from->address);

		check(id);
		check(pt_image_add_cached(image, cache, id, NULL));
	}
	return (cache);
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
			out->rows++;
			continue;
		}
		if ((status & pts_eos) != 0)
			return (-pte_eos);
		block.ninsn = 0;
		status = pt_blk_next(d, &block, sizeof(block));
		out->insns += block.ninsn;
		out->rows += block.ninsn != 0;
	}
	return (status);
}

void
bench_peer(const struct bench_peer *peer, struct bench_count *out)
{
	struct memory m = { .trace = peer->trace };
	struct pt_config config;
	struct pt_block_decoder *d;
	struct pt_image_section_cache *cache;
	int status;

	memset(out, 0, sizeof(*out));
	hwtdi_pt_config_libipt(&config, peer->pt);
	if (!peer->end_flags) {
		config.flags.variant.block.end_on_call = 0;
		config.flags.variant.block.end_on_jump = 0;
	}
	config.begin = peer->at->trace.at;
	config.end = config.begin + peer->at->trace.n;
	d = pt_blk_alloc_decoder(&config);
	if (d == NULL)
		bench_die("libipt made no block decoder");
	cache = set_image(pt_blk_get_image(d), peer, &m);
	for (;;) {
		status = pt_blk_sync_forward(d);
		if (status < 0)
			break;
		status = decode_blocks(d, status, out);
		if (pt_errcode(status) == pte_eos)
			break;
		out->errors++;
	}
	pt_blk_free_decoder(d);
	pt_iscache_free(cache);
}
