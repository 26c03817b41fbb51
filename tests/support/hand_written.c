/*
 * .hwt files put together byte by byte from hwtdecode-trace(5).
 */
#include "support/hand_written.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include <cmocka.h>

#include "support/temp_dir.h"

void
hand_bytes(struct hand *file, const void *bytes, size_t n)
{
	if (file->n + n > file->cap) {
		file->cap = 2 * (file->n + n);
		file->bytes = realloc(file->bytes, file->cap);
		assert_non_null(file->bytes);
	}
	if (n != 0)
		memcpy(file->bytes + file->n, bytes, n);
	file->n += n;
}

static void
set_number(uint8_t *at, uint64_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

void
hand_number(struct hand *file, uint64_t value, size_t n)
{
	uint8_t bytes[8];

	set_number(bytes, value, n);
	hand_bytes(file, bytes, n);
}

void
hand_init(struct hand *file, uint16_t major, uint16_t minor)
{
	static const uint8_t magic[8] = { 0x8b, 0x48, 0x57, 0x54, 0x0d, 0x0a,
		0x1a, 0x0a };

	memset(file, 0, sizeof(*file));
	hand_bytes(file, magic, sizeof(magic));
	hand_number(file, major, 2);
	hand_number(file, minor, 2);
	hand_number(file, 0, 4);
	hand_number(file, 0, 8);
	hand_number(file, XXH3_64bits(file->bytes, 24), 8);
}

void
hand_free(struct hand *file)
{
	free(file->bytes);
	memset(file, 0, sizeof(*file));
}

void
hand_resum(struct hand *file, size_t header_off)
{
	set_number(file->bytes + header_off + 56,
	    XXH3_64bits(file->bytes + header_off, 56), 8);
}

void
hand_resum_payload(struct hand *file, size_t header_off)
{
	const uint8_t *h = file->bytes + header_off;
	size_t n = 0;

	for (size_t i = 0; i < 4; i++)
		n |= (size_t)h[16 + i] << (8 * i);
	set_number(file->bytes + header_off + 48,
	    XXH3_64bits(h + HAND_HEADER, n), 8);
	hand_resum(file, header_off);
}

void
hand_chunk(struct hand *file, const struct hand_chunk *c, const void *payload,
    size_t n, size_t raw_n)
{
	static const uint8_t magic[4] = { 0x8b, 0x68, 0x77, 0x63 };
	const size_t at = file->n;

	if (file->n_chunks < sizeof(file->at) / sizeof(file->at[0]))
		file->at[file->n_chunks++] = at;
	hand_bytes(file, magic, sizeof(magic));
	hand_number(file, c->type, 2);
	hand_number(file, c->flags, 2);
	hand_number(file, c->id, 4);
	hand_number(file, raw_n + (uint64_t)c->raw_lie, 4);
	hand_number(file, n + (uint64_t)c->stored_lie, 4);
	hand_number(file, c->detail, 4);
	hand_number(file, file->sequence + (uint64_t)c->sequence_lie, 8);
	hand_number(file, c->position, 8);
	hand_number(file, at + (uint64_t)c->place_lie, 8);
	hand_number(file, XXH3_64bits(payload, n), 8);
	hand_number(file, 0, 8);
	hand_resum(file, at);
	hand_bytes(file, payload, n);
	file->sequence++;
}

void
hand_data(struct hand *file, uint32_t stream, uint64_t position,
    const void *bytes, size_t n)
{
	const struct hand_chunk c = {
		.type = HAND_DATA,
		.id = stream,
		.position = position,
	};

	hand_chunk(file, &c, bytes, n, n);
}

void
hand_stream(struct hand *file, uint32_t stream, uint32_t cpu, const char *name)
{
	const struct hand_chunk c = { .type = HAND_STREAM, .id = stream };
	struct hand p = { 0 };

	hand_number(&p, 1, 2);
	hand_number(&p, 0, 2);
	hand_number(&p, 24, 4);
	hand_number(&p, 1, 4);
	hand_number(&p, cpu, 4);
	hand_number(&p, 0xffffffff, 4);
	hand_number(&p, 0xffffffff, 4);
	hand_number(&p, 0, 4);
	hand_number(&p, 0, 4);
	hand_number(&p, 2, 2);
	hand_number(&p, 0, 2);
	hand_number(&p, strlen(name), 4);
	hand_bytes(&p, name, strlen(name));
	hand_chunk(file, &c, p.bytes, p.n, p.n);
	hand_free(&p);
}

void
hand_finish(struct hand *file)
{
	struct hand_chunk c = { .type = HAND_INDEX, .id = 0xffffffff };
	const size_t first = file->n;
	const size_t n_chunks = file->n_chunks;
	struct hand p = { 0 };

	for (size_t i = 0; i < n_chunks; i++) {
		const uint8_t *h = file->bytes + file->at[i];

		hand_number(&p, file->at[i], 8);
		hand_bytes(&p, h + 32, 8);
		hand_bytes(&p, h + 8, 4);
		hand_bytes(&p, h + 12, 4);
		hand_bytes(&p, h + 16, 4);
		hand_bytes(&p, h + 20, 4);
		hand_bytes(&p, h + 4, 2);
		hand_bytes(&p, h + 6, 2);
		hand_number(&p, 0, 4);
	}
	hand_chunk(file, &c, p.bytes, p.n, p.n);
	p.n = 0;
	c.type = HAND_END;
	hand_number(&p, first, 8);
	hand_number(&p, 1, 8);
	hand_number(&p, n_chunks, 8);
	hand_number(&p, 0, 8);
	hand_chunk(file, &c, p.bytes, p.n, p.n);
	hand_free(&p);
}

void
hand_save(const struct hand *file, const char *path)
{
	write_file(path, file->bytes, file->n);
}
