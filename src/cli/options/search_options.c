/*
 * Where files of images are looked for: --root and the like; and the options
 * of the commands records and maps.
 */
#include <sys/stat.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/message.h"
#include "cli/options/position_option.h"
#include "cli/options/search_options.h"

static bool
append(struct folder_list *list, const char *path)
{
	const char **grown = realloc(list->paths,
	    (list->n + 1) * sizeof(*grown));

	if (grown == NULL) {
		say_error("out of memory");
		return (false);
	}
	list->paths = grown;
	list->paths[list->n++] = path;
	return (true);
}

static bool
add_folder(struct options *options, const struct option_entry *entry,
    struct folder_list *list, const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
		say_error("--%s: %s: %s", entry->name, path,
		    strerror(errno != 0 ? errno : ENOTDIR));
		say_hint("%s", entry->help);
		options->failure = EXIT_FAILED;
		return (false);
	}
	return (append(list, path));
}

bool
add_build_id_cache(struct options *options)
{
	static const char name[] = "/.debug";
	const char *home = getenv("HOME");
	struct stat st;
	size_t n;

	/* A folder of the current one is nobody's cache. */
	if (options->no_build_id_cache || home == NULL || home[0] != '/')
		return (true);
	n = strlen(home);
	options->build_id_cache = malloc(n + sizeof(name));
	if (options->build_id_cache == NULL) {
		say_error("out of memory");
		return (false);
	}
	memcpy(options->build_id_cache, home, n);
	memcpy(options->build_id_cache + n, name, sizeof(name));
	if (stat(options->build_id_cache, &st) != 0 || !S_ISDIR(st.st_mode))
		return (true);
	return (append(&options->build_id_dirs, options->build_id_cache));
}

static bool
take_types(struct options *options, const struct option_entry *entry,
    const char *value)
{
	for (const char *rest = value;;) {
		const size_t n = strcspn(rest, ",");
		uint32_t type = 0;

		for (; type < HWTD_REC_TYPES; type++) {
			const char *name = hwtd_record_type_name(type);

			if (strlen(name) == n && memcmp(name, rest, n) == 0)
				break;
		}
		if (type == HWTD_REC_TYPES) {
			say_error("--%s: there is no type '%.*s'", entry->name,
			    (int)(n < 64 ? n : 64), rest);
			say_hint("'hwtdecode help %s' lists the types",
			    options->command->name);
			return (false);
		}
		options->record_types |= 1u << type;
		if (rest[n] == '\0')
			return (true);
		rest += n + 1;
	}
}

bool
take_space_option(struct options *options, const struct option_entry *entry,
    const char *value, bool *known)
{
	*known = true;
	errno = 0;
	switch (entry->id) {
	case OPTION_ROOT:
		return (add_folder(options, entry, &options->roots, value));
	case OPTION_BUILD_ID_DIR:
		return (add_folder(options, entry, &options->build_id_dirs,
		    value));
	case OPTION_MODULE_DIR:
		return (add_folder(options, entry, &options->module_dirs,
		    value));
	case OPTION_NO_ORIGINAL_PATHS:
		options->no_original_paths = true;
		return (true);
	case OPTION_NO_BUILD_ID_CACHE:
		options->no_build_id_cache = true;
		return (true);
	case OPTION_TYPE:
		return (take_types(options, entry, value));
	case OPTION_AT:
		if (parse_position(value, &options->at))
			return (true);
		say_error("--at: '%s' is not a position", value);
		say_hint("start, end, a time such as 1.5s or 200ns, or "
			 "STREAM:OFFSET such as 0:0x1234");
		return (false);
	default:
		*known = false;
		return (true);
	}
}

struct hwtd_search
search_of(const struct options *options)
{
	const struct hwtd_search search = {
		.size = sizeof(search),
		.roots = options->roots.paths,
		.n_roots = options->roots.n,
		.build_id_dirs = options->build_id_dirs.paths,
		.n_build_id_dirs = options->build_id_dirs.n,
		.dirs = options->module_dirs.paths,
		.n_dirs = options->module_dirs.n,
		.flags = options->no_original_paths ? HWTD_SEARCH_NO_ORIGINAL
						    : 0,
	};

	return (search);
}

void
search_options_fini(struct options *options)
{
	free(options->roots.paths);
	free(options->build_id_dirs.paths);
	free(options->build_id_cache);
	free(options->module_dirs.paths);
}
