/*
 * Exports that are written to the end, into memory.
 */
#include "support/written_export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static int
take(void *arg, const void *bytes, size_t n)
{
	struct written_export *out = arg;

	if (out->fail_after != 0 && out->n + n > out->fail_after)
		return (ENOSPC);
	if (out->n + n + 1 > out->cap) {
		out->cap = (out->n + n + 1) * 2;
		out->text = realloc(out->text, out->cap);
		if (out->text == NULL)
			return (ENOMEM);
	}
	memcpy(out->text + out->n, bytes, n);
	out->n += n;
	out->text[out->n] = '\0';
	return (0);
}

int
written_export_make(struct written_export *out, struct hwtd_profile *profile,
    struct hwtd_flame *flame, struct hwtd_format_options how)
{
	struct hwtd_export *export = NULL;
	int rc;

	how.size = sizeof(how);
	how.write = take;
	how.write_arg = out;
	rc = flame != NULL
	    ? hwtd_export_open_flame(flame, &how, &export, NULL)
	    : hwtd_export_open_profile(profile, &how, &export, NULL);
	while (rc == HWTD_OK)
		rc = hwtd_export_write(export, NULL);
	out->info.size = sizeof(out->info);
	(void)hwtd_export_info(export, &out->info);
	hwtd_export_close(export);
	return (rc);
}

void
written_export_fini(struct written_export *out)
{
	free(out->text);
	memset(out, 0, sizeof(*out));
}

char *
written_export_unpack(const struct written_export *out, size_t *n_out)
{
	z_stream z;
	size_t cap = 1 << 16;
	char *to = malloc(cap);
	int rc;

	memset(&z, 0, sizeof(z));
	if (to == NULL || inflateInit2(&z, 15 + 16) != Z_OK) {
		free(to);
		return (NULL);
	}
	z.next_in = (unsigned char *)out->text;
	z.avail_in = (unsigned int)out->n;
	do {
		if (z.total_out + 1 >= cap) {
			char *grown = realloc(to, cap *= 2);

			if (grown == NULL)
				break;
			to = grown;
		}
		z.next_out = (unsigned char *)to + z.total_out;
		z.avail_out = (unsigned int)(cap - 1 - z.total_out);
		rc = inflate(&z, Z_NO_FLUSH);
	} while (rc == Z_OK);
	*n_out = z.total_out;
	to[z.total_out] = '\0';
	(void)inflateEnd(&z);
	if (rc == Z_STREAM_END && z.avail_in == 0)
		return (to);
	free(to);
	return (NULL);
}
