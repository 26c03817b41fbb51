/*
 * Devices of snapshots: cores, trace sources, and dumps of memory.
 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/regular_file.h"
#include "trace/import/arm_core.h"
#include "trace/import/coresight_config.h"
#include "trace/import/side_file.h"
#include "trace/import/snapshot_internal.h"

struct hwtdi_snapshot_device *
hwtdi_snapshot_device(const struct hwtdi_snapshot *s, const char *name)
{
	const uint64_t hash = hwtdi_hash(s->trace->library, name,
	    strlen(name));
	size_t tries = 0;
	uint32_t no;

	while (hwtdi_index_next(&s->names, hash, &tries, &no))
		if (strcmp(s->devices[no]->name, name) == 0)
			return (s->devices[no]);
	return (NULL);
}

/* Sources. */

static int
read_register(struct hwtdi_snapshot *s, struct hwtdi_snapshot_device *d,
    const struct hwtdi_ini_entry *entry, uint32_t *told)
{
	const struct hwtd_coresight_config before = d->config;
	uint64_t value = 0;
	const bool is_number = hwtdi_ini_number(entry->value,
	    strlen(entry->value), &value);

	switch (hwtdi_coresight_set(&d->config, told, entry->key,
	    strlen(entry->key), value)) {
	case HWTDI_CORESIGHT_OTHER:
		return (HWTD_OK);
	case HWTDI_CORESIGHT_LARGE:
		return (hwtdi_ini_fail(&d->ini, entry->line, s->err,
		    "%.40s: '%.40s' has more than 32 bits", entry->key,
		    entry->value));
	case HWTDI_CORESIGHT_AGAIN:
		if (is_number)
			hwtdi_snapshot_warn(s,
			    "%.60s: line %" PRIu32
			    ": %.40s again, with another value; this one "
			    "counts",
			    d->ini.name, entry->line, entry->key);
		break;
	default:
		break;
	}
	if (!is_number) {
		d->config = before;
		return (hwtdi_ini_fail(&d->ini, entry->line, s->err,
		    "%.40s: '%.40s' is no number", entry->key, entry->value));
	}
	return (HWTD_OK);
}

static int
read_registers(struct hwtdi_snapshot *s, struct hwtdi_snapshot_device *d)
{
	uint32_t told = 0;
	int rc = HWTD_OK;

	for (size_t i = 0; i < d->ini.n_sections; i++) {
		const struct hwtdi_ini_section *section = &d->ini.sections[i];

		if (strcmp(section->name, "regs") != 0)
			continue;
		for (size_t k = 0; rc == HWTD_OK && k < section->n; k++)
			rc = read_register(s, d,
			    &d->ini.entries[section->first + k], &told);
	}
	return (rc);
}

static int
read_source(struct hwtdi_snapshot *s, struct hwtdi_snapshot_device *d)
{
	int rc;

	d->config.size = sizeof(d->config);
	d->config.protocol = hwtdi_coresight_protocol(d->type,
	    strlen(d->type));
	if (d->config.protocol == HWTD_CS_UNKNOWN)
		hwtdi_snapshot_warn(s,
		    "%.60s: trace source of type '%.40s' is not known",
		    d->name, d->type);
	rc = read_registers(s, d);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_coresight_finish(&d->config);
	if (d->config.trace_id > HWTD_CS_LAST_ID) {
		hwtdi_snapshot_warn(s,
		    "%.60s: trace ID %#" PRIx32 " is none of a source",
		    d->name, d->config.trace_id);
		d->config.trace_id = 0;
	}
	return (HWTD_OK);
}

/* Dumps. */

/* Which spaces there are, and which of them a hypervisor has. */
static const struct {
	const char *name;
	bool is_el2;
} spaces[] = {
	{ "", false },
	{ "EL1S", false },
	{ "EL1N", false },
	{ "EL1R", false },
	{ "EL2", true },
	{ "EL2N", true },
	{ "EL2S", true },
	{ "EL2R", true },
	{ "EL3", false },
	{ "ROOT", false },
	{ "S", false },
	{ "N", false },
	{ "R", false },
	{ "ANY", false },
	/* Of older snapshots. */
	{ "H", true },
	{ "P", false },
	{ "NP", false },
	{ "SP", false },
};

static void
read_space(struct hwtdi_snapshot *s, const struct hwtdi_snapshot_device *d,
    const struct hwtdi_ini_entry *entry, struct hwtdi_snapshot_dump *dump)
{
	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
		if (!hwtdi_ini_same(entry->value, strlen(entry->value),
			spaces[i].name))
			continue;
		dump->is_el2 = spaces[i].is_el2;
		return;
	}
	hwtdi_snapshot_warn(s,
	    "%.60s: line %" PRIu32 ": space '%.30s' is not known; taken for "
	    "any",
	    d->ini.name, entry->line, entry->value);
}

/* A number that may be missing. */
static int
number(struct hwtdi_snapshot *s, const struct hwtdi_snapshot_device *d,
    const struct hwtdi_ini_section *section, const char *key, uint64_t *out,
    bool *there_out)
{
	const struct hwtdi_ini_entry *entry;
	int rc;

	rc = hwtdi_ini_entry(&d->ini, section, key, &entry, s->err);
	*there_out = entry != NULL;
	if (rc == HWTD_OK && entry != NULL &&
	    !hwtdi_ini_number(entry->value, strlen(entry->value), out))
		rc = hwtdi_ini_fail(&d->ini, entry->line, s->err,
		    "%.40s: '%.40s' is no number", key, entry->value);
	return (rc);
}

/* How long a dump is whose length is not told. */
static void
find_length(struct hwtdi_snapshot *s, struct hwtdi_snapshot_dump *dump)
{
	struct hwtd_error why = { .size = sizeof(why) };
	uint64_t size = 0;
	int fd;

	if (hwtdi_regular_file_open(dump->path, &fd, &size, &why) != HWTD_OK) {
		hwtdi_snapshot_warn(s, "memory dump %.80s: %.80s", dump->path,
		    why.message);
		return;
	}
	(void)close(fd);
	if (size <= dump->offset) {
		hwtdi_snapshot_warn(s,
		    "memory dump %.80s: has %" PRIu64
		    " bytes, nothing from %" PRIu64 " on",
		    dump->path, size, dump->offset);
		return;
	}
	dump->length = size - dump->offset;
	dump->has_length = true;
}

static int
read_dump(struct hwtdi_snapshot *s, const struct hwtdi_snapshot_device *d,
    const struct hwtdi_ini_section *section, struct hwtdi_snapshot_dump *dump)
{
	const struct hwtdi_ini_entry *entry = NULL;
	bool there = false;
	int rc;

	rc = number(s, d, section, "address", &dump->address, &there);
	if (rc == HWTD_OK && !there)
		return (hwtdi_ini_fail(&d->ini, section->line, s->err,
		    "[%.40s] has no address", section->name));
	if (rc == HWTD_OK)
		rc = number(s, d, section, "offset", &dump->offset, &there);
	if (rc == HWTD_OK)
		rc = number(s, d, section, "length", &dump->length, &there);
	dump->has_length = dump->length != 0;
	if (rc == HWTD_OK)
		rc = hwtdi_ini_entry(&d->ini, section, "space", &entry,
		    s->err);
	if (rc == HWTD_OK && entry != NULL)
		read_space(s, d, entry, dump);
	if (rc == HWTD_OK)
		rc = hwtdi_ini_entry(&d->ini, section, "file", &entry, s->err);
	if (rc != HWTD_OK)
		return (rc);
	if (entry == NULL || entry->value[0] == '\0')
		return (hwtdi_ini_fail(&d->ini, section->line, s->err,
		    "[%.40s] names no file", section->name));
	rc = hwtdi_side_path(s->trace->library, s->trace->file.path,
	    entry->value, &dump->path, s->err);
	if (rc != HWTD_OK)
		return (rc);
	if (!dump->has_length)
		find_length(s, dump);
	if (dump->has_length && dump->length - 1 > UINT64_MAX - dump->address)
		return (hwtdi_ini_fail(&d->ini, section->line, s->err,
		    "[%.30s] goes past the end of the address space",
		    section->name));
	return (HWTD_OK);
}

static bool
same_dump(const struct hwtdi_snapshot_dump *a,
    const struct hwtdi_snapshot_dump *b)
{
	return (a->address == b->address && a->length == b->length &&
	    a->offset == b->offset && a->is_el2 == b->is_el2 &&
	    strcmp(a->path, b->path) == 0);
}

/* Map a dump; it holds from the start.  Takes over its path on success. */
static int
add_dump(struct hwtdi_snapshot *s, struct hwtdi_snapshot_dump *dump)
{
	struct hwtd_context *ctx = s->trace->library;
	const uint64_t hash = hwtdi_hash_more(hwtdi_hash(ctx, dump->path,
						  strlen(dump->path)),
	    &dump->address, sizeof(dump->address));
	struct hwtd_record r = {
		.size = sizeof(r),
		.type = HWTD_REC_MMAP,
		.flags = HWTD_RECF_TIME | HWTD_RECF_ADDR | HWTD_RECF_FILE_OFF,
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.stream = HWTD_NO_ID,
		.image = HWTD_NO_ID,
		.addr = dump->address,
		.len = dump->length,
		.file_off = dump->offset,
		.name = dump->path,
	};
	size_t tries = 0;
	uint32_t no;
	int rc;

	/* Cores that share their memory have the same dumps. */
	while (hwtdi_index_next(&s->dump_index, hash, &tries, &no)) {
		if (!same_dump(&s->dumps[no], dump))
			continue;
		hwtdi_strfree(ctx, dump->path);
		return (HWTD_OK);
	}
	if (dump->has_length)
		r.flags |= HWTD_RECF_LEN;
	if (dump->is_el2)
		r.flags |= HWTD_RECF_HYPERVISOR_SPACE;
	rc = hwtdi_index_reserve(&s->dump_index, ctx, s->err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ctx, &s->dumps, &s->cap_dumps,
		    s->n_dumps + 1, sizeof(*s->dumps), s->err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_add_record(s->trace, &r, s->err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_index_put(&s->dump_index, hash, (uint32_t)s->n_dumps);
	s->dumps[s->n_dumps++] = *dump;
	return (HWTD_OK);
}

static int
read_dumps(struct hwtdi_snapshot *s, const struct hwtdi_snapshot_device *d)
{
	int rc = HWTD_OK;

	for (size_t i = 0; rc == HWTD_OK && i < d->ini.n_sections; i++) {
		const struct hwtdi_ini_section *section = &d->ini.sections[i];
		struct hwtdi_snapshot_dump dump = { 0 };

		if (strncmp(section->name, "dump", 4) != 0)
			continue;
		rc = read_dump(s, d, section, &dump);
		if (rc == HWTD_OK)
			rc = add_dump(s, &dump);
		if (rc != HWTD_OK)
			hwtdi_strfree(s->trace->library, dump.path);
	}
	return (rc);
}

/* Devices. */

static int
read_text(struct hwtdi_snapshot *s, const struct hwtdi_snapshot_device *d,
    const struct hwtdi_ini_section *section, const char *key, const char **out)
{
	const struct hwtdi_ini_entry *entry;
	int rc;

	rc = hwtdi_ini_entry(&d->ini, section, key, &entry, s->err);
	*out = entry != NULL ? entry->value : "";
	return (rc);
}

static int
read_device(struct hwtdi_snapshot *s, struct hwtdi_snapshot_device *d)
{
	const struct hwtdi_ini_section *section;
	const char *class = "";
	int rc;

	d->cpu = HWTD_NO_ID;
	rc = hwtdi_ini_section(&d->ini, "device", &section, s->err);
	if (rc == HWTD_OK && section == NULL)
		return (hwtdi_fail(s->err, HWTD_E_CORRUPT,
		    "%.80s: has no [device]", d->ini.name));
	if (rc == HWTD_OK)
		rc = read_text(s, d, section, "name", &d->name);
	if (rc == HWTD_OK)
		rc = read_text(s, d, section, "class", &class);
	if (rc == HWTD_OK)
		rc = read_text(s, d, section, "type", &d->type);
	if (rc != HWTD_OK)
		return (rc);
	if (d->name[0] == '\0' || strlen(d->name) > HWTDI_TEXT_MAX)
		return (hwtdi_ini_fail(&d->ini, section->line, s->err,
		    "device without a name, or with one that is too long"));
	if (hwtdi_snapshot_device(s, d->name) != NULL)
		return (hwtdi_ini_fail(&d->ini, section->line, s->err,
		    "there is a device '%.60s' already", d->name));
	d->is_core = strcmp(class, "core") == 0;
	d->is_source = strcmp(class, "trace_source") == 0;
	if (d->is_core)
		d->cpu = s->n_cores++;
	rc = d->is_source ? read_source(s, d) : HWTD_OK;
	return (rc == HWTD_OK ? read_dumps(s, d) : rc);
}

/* Takes over the device on success. */
static int
put_device(struct hwtdi_snapshot *s, struct hwtdi_snapshot_device *d)
{
	struct hwtd_context *ctx = s->trace->library;
	int rc;

	rc = read_device(s, d);
	if (rc == HWTD_OK)
		rc = hwtdi_index_reserve(&s->names, ctx, s->err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ctx, &s->devices, &s->cap_devices,
		    s->n_devices + 1, sizeof(*s->devices), s->err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_index_put(&s->names, hwtdi_hash(ctx, d->name, strlen(d->name)),
	    (uint32_t)s->n_devices);
	s->devices[s->n_devices++] = d;
	return (HWTD_OK);
}

int
hwtdi_snapshot_add_device(struct hwtdi_snapshot *s,
    const struct hwtdi_ini_entry *listed)
{
	struct hwtd_context *ctx = s->trace->library;
	struct hwtd_error why = { .size = sizeof(why) };
	struct hwtdi_snapshot_device *d;
	int rc;

	if (s->n_devices >= HWTDI_SNAPSHOT_MAX_DEVICES)
		return (hwtdi_fail(s->err, HWTD_E_LIMIT,
		    "%s: line %" PRIu32 ": more than %u devices", s->ini.name,
		    listed->line, HWTDI_SNAPSHOT_MAX_DEVICES));
	d = hwtdi_zalloc(ctx, sizeof(*d));
	if (d == NULL)
		return (hwtdi_fail_nomem(s->err, sizeof(*d)));
	rc = hwtdi_snapshot_read_ini(s, listed->value, &d->ini, &why);
	if (rc == HWTD_OK)
		rc = put_device(s, d);
	else if (rc != HWTD_E_IO)
		rc = hwtdi_fail_pass(s->err, &why);
	if (rc == HWTD_OK)
		return (rc);
	if (rc == HWTD_E_IO && d->ini.text == NULL)
		rc = hwtdi_snapshot_miss(s, HWTD_NO_ID, listed->key, &why);
	hwtdi_ini_file_fini(&d->ini, ctx);
	hwtdi_free(ctx, d, sizeof(*d));
	return (rc);
}
