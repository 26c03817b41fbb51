/*
 * Records of Linux perf beside raw bytes: --perf-records.
 */
#include "cli/options/perf_options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output/message.h"
#include "cli/options/option_values.h"

/* What follows the file: "name=number", or a word alone.  False: neither. */
static bool
take_part(struct hwtd_perf_records *records, const char *part)
{
	static const char type[] = "sample-type=", cpu[] = "cpu=";
	uint64_t number;

	if (strncmp(part, type, sizeof(type) - 1) == 0)
		return (parse_number_in(part + sizeof(type) - 1, 0, UINT64_MAX,
		    &records->sample_type));
	if (strncmp(part, cpu, sizeof(cpu) - 1) == 0) {
		if (!parse_number_in(part + sizeof(cpu) - 1, 0, HWTD_NO_ID - 2,
			&number))
			return (false);
		records->cpu_plus_1 = (uint32_t)number + 1;
		return (true);
	}
	if (strcmp(part, "big-endian") != 0)
		return (false);
	records->big_endian = 1;
	return (true);
}

static bool
take_records(struct options *options, const struct option_entry *entry,
    const char *value)
{
	struct hwtd_perf_records records = { .size = sizeof(records) };
	struct hwtd_perf_records *grown;
	char *path = strdup(value), *comma;

	grown = path == NULL
	    ? NULL
	    : realloc(options->perf_records,
		  (options->n_perf_records + 1) * sizeof(*grown));
	if (grown == NULL) {
		free(path);
		say_error("out of memory");
		return (false);
	}
	options->perf_records = grown;
	/* A name may have a comma too; what is behind the last ones is known. */
	while ((comma = strrchr(path, ',')) != NULL &&
	    take_part(&records, comma + 1))
		*comma = '\0';
	if (comma != NULL && strchr(comma + 1, '=') != NULL &&
	    access(path, R_OK) != 0) {
		say_error("--%s: '%.60s' is not understood", entry->name,
		    comma + 1);
		say_hint("behind the file: sample-type=NUMBER, cpu=NUMBER, "
			 "big-endian");
		free(path);
		return (false);
	}
	records.path = path;
	grown[options->n_perf_records++] = records;
	return (true);
}

bool
take_perf_option(struct options *options, const struct option_entry *entry,
    const char *value, bool *known)
{
	*known = entry->id == OPTION_PERF_RECORDS;
	return (!*known || take_records(options, entry, value));
}

void
perf_options_fini(struct options *options)
{
	union {
		const char *in;
		char *out;
	} path;

	for (size_t i = 0; i < options->n_perf_records; i++) {
		path.in = options->perf_records[i].path;
		free(path.out);
	}
	free(options->perf_records);
	options->perf_records = NULL;
	options->n_perf_records = 0;
}
