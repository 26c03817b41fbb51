/*
 * Mappings as records: lines "map ADDRESS LENGTH OFFSET POSITION PATH" and
 * "unmap ADDRESS LENGTH POSITION", numbers in hex, in the order of what
 * happened; POSITION is a byte of the stream.
 */
#include "flow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 8192

static void
read_line(struct hwtd_record *r, const char *line, const char *path)
{
	const uint32_t placed = HWTD_RECF_ADDR | HWTD_RECF_LEN |
	    HWTD_RECF_STREAM_OFF;
	int name = 0;

	if (sscanf(line,
		"map %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %n",
		&r->addr, &r->len, &r->file_off, &r->stream_off, &name) == 4 &&
	    name > 0 && line[name] != '\0') {
		r->type = HWTD_REC_MMAP;
		r->flags = placed | HWTD_RECF_FILE_OFF;
		r->name = line + name;
		return;
	}
	if (sscanf(line, "unmap %" SCNx64 " %" SCNx64 " %" SCNx64, &r->addr,
		&r->len, &r->stream_off) != 3)
		flow_die("%s: cannot read '%s'", path, line);
	r->type = HWTD_REC_MUNMAP;
	r->flags = placed;
}

void
flow_add_maps(struct hwtd_trace *trace, uint32_t stream, uint32_t pid,
    const char *path)
{
	struct hwtd_error err = { .size = sizeof(err) };
	FILE *file = fopen(path, "r");
	char line[LINE_BYTES];

	if (file == NULL)
		flow_die("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), file) != NULL) {
		struct hwtd_record r = {
			.size = sizeof(r),
			.cpu = HWTD_NO_ID,
			.pid = pid,
			.tid = HWTD_NO_ID,
			.stream = stream,
			.image = HWTD_NO_ID,
		};

		line[strcspn(line, "\n")] = '\0';
		read_line(&r, line, path);
		if (hwtd_trace_add_record(trace, &r, &err) != HWTD_OK)
			flow_die("%s: %s", path, err.message);
	}
	if (ferror(file))
		flow_die("%s: read error", path);
	fclose(file);
}
