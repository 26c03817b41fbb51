/*
 * hwtdecode version: the versions of the tool and of all libraries below it,
 * and what decodes which technology.
 */
#include <Zydis/Zydis.h>
#include <stdio.h>
#include <string.h>

#include "cli/input.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/output.h"

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

/* The disassembler is the tool's own. */
static void
write_zydis(struct output *out)
{
	const uint64_t versions[] = { ZydisGetVersion(), ZYDIS_VERSION };
	char text[2][32];

	for (size_t i = 0; i < 2; i++)
		(void)snprintf(text[i], sizeof(text[i]), "%u.%u.%u",
		    (unsigned int)ZYDIS_VERSION_MAJOR(versions[i]),
		    (unsigned int)ZYDIS_VERSION_MINOR(versions[i]),
		    (unsigned int)ZYDIS_VERSION_PATCH(versions[i]));
	write_line(out, "Zydis", text[0], text[1]);
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
	write_zydis(&out);
	for (size_t i = 0; hwtd_engine(i, &engine) == HWTD_OK; i++)
		output_format(&out, "%-12s %s, for %s%s\n", "engine",
		    engine.name, tech_name(engine.tech),
		    engine.is_default != 0 ? " (default)" : "");
	return (output_close(&out, true) ? EXIT_DONE : EXIT_FAILED);
}
