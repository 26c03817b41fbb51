/*
 * hwtdecode version: the versions of the tool and of all libraries below it,
 * and what decodes which technology.
 */
#include <Zydis/Zydis.h>
#include <capstone/capstone.h>
#include <stdio.h>
#include <string.h>

#include "cli/input/input.h"
#include "cli/output/message.h"
#include "cli/options/options.h"
#include "cli/output/output.h"

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)

static const char tool_version[] = STRING(HWTD_VERSION_MAJOR) "." STRING(
    HWTD_VERSION_MINOR) "." STRING(HWTD_VERSION_PATCH);

static void
write_line(struct output *out, const char *name, const char *version,
    const char *built_with)
{
	output_format(out, "%-12s %s", name, version);
	if (built_with != NULL && strcmp(built_with, version) != 0)
		output_format(out, " (built with %s)", built_with);
	output_char(out, '\n');
}

/* The disassemblers are the tool's own. */
static void
write_disassembler(struct output *out, const char *name,
    const unsigned int running[3], const unsigned int header[3])
{
	char text[2][32];

	(void)snprintf(text[0], sizeof(text[0]), "%u.%u.%u", running[0],
	    running[1], running[2]);
	(void)snprintf(text[1], sizeof(text[1]), "%u.%u.%u", header[0],
	    header[1], header[2]);
	write_line(out, name, text[0], text[1]);
}

#define ZYDIS_NUMBERS(v)                                                      \
	{                                                                     \
		(unsigned int)ZYDIS_VERSION_MAJOR(v),                         \
		    (unsigned int)ZYDIS_VERSION_MINOR(v),                     \
		    (unsigned int)ZYDIS_VERSION_PATCH(v)                      \
	}

static void
write_disassemblers(struct output *out)
{
	const uint64_t zydis_version = ZydisGetVersion();
	const unsigned int zydis[] = ZYDIS_NUMBERS(zydis_version);
	const unsigned int zydis_header[] = ZYDIS_NUMBERS(ZYDIS_VERSION);
	const unsigned int header[] = { CS_VERSION_MAJOR, CS_VERSION_MINOR,
		CS_VERSION_EXTRA };
	/* The third number cannot be asked for. */
	unsigned int running[] = { 0, 0, CS_VERSION_EXTRA };
	int major = 0;
	int minor = 0;

	(void)cs_version(&major, &minor);
	running[0] = (unsigned int)major;
	running[1] = (unsigned int)minor;
	write_disassembler(out, "Zydis", zydis, zydis_header);
	write_disassembler(out, "Capstone", running, header);
}

int
cmd_version(const struct options *options)
{
	struct hwtd_component component;
	struct hwtd_engine engine = { .size = sizeof(engine) };
	struct output out;

	(void)options;
	if (!output_open(&out, NULL))
		return (EXIT_FAILED);
	write_line(&out, "hwtdecode", tool_version, NULL);
	write_line(&out, "libhwtdecode", hwtd_version(), tool_version);
	for (size_t i = 0; hwtd_version_component(i, &component) == HWTD_OK;
	     i++)
		write_line(&out, component.name, component.version,
		    component.built_with);
	write_disassemblers(&out);
	for (size_t i = 0; hwtd_engine(i, &engine) == HWTD_OK; i++)
		output_format(&out, "%-12s %s, for %s%s\n", "engine",
		    engine.name, tech_name(engine.tech),
		    engine.is_default != 0 ? " (default)" : "");
	return (output_close(&out, true) ? EXIT_DONE : EXIT_FAILED);
}
