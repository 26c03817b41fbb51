/*
 * How raw CoreSight bytes were recorded: --etm-config and --framing.
 */
#include "cli/options/coresight_options.h"

#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/message.h"
#include "cli/options/option_values.h"

/* Bytes of a text; with one more the library refuses it. */
#define MAX_TEXT ((size_t)1 << 20)

/* A regular file, or NULL after a message. */
static char *
read_text(const char *path, size_t *n_out)
{
	char *text = malloc(MAX_TEXT + 1);
	struct stat st;
	FILE *file;

	if (text == NULL) {
		say_error("out of memory");
		return (NULL);
	}
	errno = 0;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		say_error("%s: not a regular file", path);
		free(text);
		return (NULL);
	}
	file = fopen(path, "rb");
	if (file == NULL) {
		say_error("%s: %s", path, strerror(errno));
		say_hint("check the name of the configuration");
		free(text);
		return (NULL);
	}
	*n_out = fread(text, 1, MAX_TEXT + 1, file);
	if (ferror(file)) {
		say_error("%s: %s", path, strerror(errno));
		free(text);
		text = NULL;
	}
	fclose(file);
	return (text);
}

static bool
take_config(struct options *options, const char *path)
{
	struct hwtd_coresight_config config = { .size = sizeof(config) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_coresight_config *grown;
	size_t n = 0;
	char *text = read_text(path, &n);
	int rc;

	options->failure = EXIT_FAILED;
	if (text == NULL)
		return (false);
	rc = hwtd_coresight_parse(text, n, &config, &err);
	free(text);
	if (rc != HWTD_OK) {
		say_library_message(path, &err);
		say_hint("lines of key=value: protocol, arch, profile, "
			 "trace_id, and registers, for instance "
			 "TRCCONFIGR=0x1");
		return (false);
	}
	grown = realloc(options->coresight,
	    (options->n_coresight + 1) * sizeof(*grown));
	if (grown == NULL) {
		say_error("out of memory");
		return (false);
	}
	options->coresight = grown;
	options->coresight[options->n_coresight++] = config;
	options->config_files[options->n_config_files++] = path;
	options->failure = EXIT_BAD_USAGE;
	return (true);
}

bool
take_coresight_option(struct options *options,
    const struct option_entry *entry, const char *value, bool *known)
{
	size_t index = 0;

	*known = true;
	switch (entry->id) {
	case OPTION_ETM_CONFIG:
		return (take_config(options, value));
	case OPTION_FRAMING:
		/* The choices are in the order of hwtd_framing. */
		(void)parse_choice(value, entry->choices, &index);
		options->framing = (uint32_t)index;
		options->has_framing = true;
		return (true);
	default:
		*known = false;
		return (true);
	}
}

bool
check_coresight_options(const struct options *options)
{
	const bool framed = options->framing != HWTD_FRAMING_NONE;

	if (!framed && options->n_coresight > 1) {
		say_error("--etm-config: %zu sources of bytes without frames",
		    options->n_coresight);
		say_hint("what a trace sink wrote has frames: --framing "
			 "memory, tpiu or dstream");
		return (false);
	}
	for (size_t i = 0; framed && i < options->n_coresight; i++) {
		const uint32_t id = options->coresight[i].trace_id;

		if (options->coresight[i].ids != HWTD_CS_IDS_ONE)
			continue;
		if (id == 0) {
			say_error("%s: tells no trace ID, and frames have "
				  "bytes of many sources",
			    options->config_files[i]);
			say_hint("add a line such as trace_id=0x10, or "
				 "trace_id=others");
			return (false);
		}
		for (size_t k = 0; k < i; k++) {
			if (options->coresight[k].trace_id != id)
				continue;
			say_error("%s: has the trace ID 0x%x of %s",
			    options->config_files[i], id,
			    options->config_files[k]);
			return (false);
		}
	}
	return (true);
}

void
coresight_options_fini(struct options *options)
{
	free(options->coresight);
	free(options->config_files);
}
