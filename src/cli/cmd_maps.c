/*
 * hwtdecode maps: what is mapped where in each process at a moment.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/output/color.h"
#include "cli/print/image_report.h"
#include "cli/input/input.h"
#include "cli/output/json_line.h"
#include "cli/output/message.h"

struct listing {
	const struct input *input;
	const struct options *options;
	struct output *out;
	bool color;
	bool any;
};

static const struct {
	uint32_t bit;
	const char *name;
} flag_names[] = {
	{ HWTD_MAPPINGF_KERNEL, "kernel" },
	{ HWTD_MAPPINGF_EVERYWHERE, "everywhere" },
	{ HWTD_MAPPINGF_ANONYMOUS, "anonymous" },
	{ HWTD_MAPPINGF_JIT, "jit" },
	{ HWTD_MAPPINGF_UNKNOWN, "unknown" },
};

#define N_FLAG_NAMES (sizeof(flag_names) / sizeof(flag_names[0]))

/* The image of a mapping; false: it has none. */
static bool
image_of(const struct listing *l, const struct hwtd_mapping *m,
    struct hwtd_image_info *info)
{
	*info = (struct hwtd_image_info){ .size = sizeof(*info) };
	return (m->image != HWTD_NO_ID &&
	    hwtd_trace_image(l->input->trace, m->image, info) == HWTD_OK);
}

static void
write_text(struct listing *l, const struct hwtd_mapping *m)
{
	struct output *out = l->out;
	struct hwtd_image_info info;

	output_format(out, "  0x%016" PRIx64 "-0x%016" PRIx64, m->address,
	    m->address + (m->length - 1));
	if (m->section != HWTD_NO_ID)
		output_format(out,
		    "  section %-5" PRIu32 " offset 0x%-8" PRIx64, m->section,
		    m->file_off);
	for (size_t i = 0; i < N_FLAG_NAMES; i++)
		if ((m->flags & flag_names[i].bit) != 0)
			output_format(out, "  %s", flag_names[i].name);
	if (m->path[0] != '\0') {
		output_text(out, "  ");
		output_escaped(out, m->path);
	}
	if (image_of(l, m, &info) && info.state != HWTD_IMAGE_FOUND) {
		output_format(out, "  (%s)", image_state_name(info.state));
	} else if (info.text[0] != '\0') {
		output_text(out, "  (");
		output_escaped(out, image_why(&info));
		output_char(out, ')');
	}
	output_char(out, '\n');
}

static void
write_json(struct listing *l, uint32_t vmid, const struct hwtd_mapping *m)
{
	struct output *out = l->out;
	struct hwtd_image_info info;

	json_begin(out, "mapping");
	if (vmid != HWTD_NO_ID)
		json_u64(out, "vmid", vmid);
	if (m->pid != HWTD_NO_ID)
		json_u64(out, "pid", m->pid);
	json_hex(out, "address", m->address);
	/* 2^64 bytes have no number. */
	if (m->length != 0)
		json_u64(out, "length", m->length);
	if (m->section != HWTD_NO_ID) {
		json_u64(out, "section", m->section);
		json_u64(out, "file_offset", m->file_off);
	}
	if (image_of(l, m, &info)) {
		json_u64(out, "image", m->image);
		json_name(out, "state", image_state_name(info.state));
		if (info.text[0] != '\0')
			json_string(out, "text", image_why(&info));
	}
	if (m->path[0] != '\0')
		json_string(out, "path", m->path);
	for (size_t i = 0; i < N_FLAG_NAMES; i++)
		if ((m->flags & flag_names[i].bit) != 0)
			json_bool(out, flag_names[i].name, true);
	json_end(out);
}

static void
write_csv(struct listing *l, uint32_t vmid, const struct hwtd_mapping *m)
{
	struct output *out = l->out;
	struct hwtd_image_info info;
	const bool has_image = image_of(l, m, &info);
	bool any = false;

	if (m->pid != HWTD_NO_ID)
		output_u64(out, m->pid);
	output_char(out, ',');
	output_hex(out, m->address);
	output_char(out, ',');
	if (m->length != 0)
		output_u64(out, m->length);
	output_char(out, ',');
	if (m->section != HWTD_NO_ID)
		output_u64(out, m->section);
	output_char(out, ',');
	if (m->section != HWTD_NO_ID)
		output_u64(out, m->file_off);
	output_char(out, ',');
	for (size_t i = 0; i < N_FLAG_NAMES; i++) {
		if ((m->flags & flag_names[i].bit) == 0)
			continue;
		output_format(out, "%s%s", any ? " " : "", flag_names[i].name);
		any = true;
	}
	output_char(out, ',');
	if (has_image)
		output_u64(out, m->image);
	output_char(out, ',');
	output_text(out, has_image ? image_state_name(info.state) : "");
	output_char(out, ',');
	output_csv_string(out, m->path);
	output_char(out, ',');
	if (vmid != HWTD_NO_ID)
		output_u64(out, vmid);
	output_char(out, '\n');
}

/* A space that is listed: a process, or a kernel. */
struct space {
	/* NULL: a kernel. */
	const struct hwtd_process *process;
	/* HWTD_NO_ID: the host. */
	uint32_t vmid;
};

static void
write_json_title(struct output *out, const struct space *space)
{
	const struct hwtd_process *p = space->process;

	if (p == NULL && space->vmid == HWTD_NO_ID)
		return;
	json_begin(out, p != NULL ? "process" : "machine");
	if (space->vmid != HWTD_NO_ID)
		json_u64(out, "vmid", space->vmid);
	if (p != NULL) {
		json_u64(out, "pid", p->pid);
		if (p->parent != HWTD_NO_ID)
			json_u64(out, "parent", p->parent);
		if (p->name[0] != '\0')
			json_string(out, "name", p->name);
		json_u64(out, "execs", p->n_execs);
	}
	json_end(out);
}

static void
write_title(struct listing *l, const struct space *space)
{
	const struct hwtd_process *p = space->process;
	struct output *out = l->out;

	if (l->options->format == FORMAT_JSONL)
		write_json_title(out, space);
	if (l->options->format != FORMAT_TEXT)
		return;
	if (l->any)
		output_char(out, '\n');
	l->any = true;
	output_text(out, l->color ? COLOR_TITLE : "");
	if (p != NULL)
		output_format(out, "process %" PRIu32, p->pid);
	else
		output_text(out,
		    space->vmid == HWTD_NO_ID ? "kernel and all processes"
					      : "kernel");
	if (space->vmid != HWTD_NO_ID)
		output_format(out, " of virtual machine %" PRIu32,
		    space->vmid);
	output_text(out, l->color ? COLOR_OFF : "");
	if (p != NULL && p->name[0] != '\0') {
		output_text(out, "  ");
		output_escaped(out, p->name);
	}
	if (p != NULL && p->parent != HWTD_NO_ID)
		output_format(out, "  parent %" PRIu32, p->parent);
	output_char(out, '\n');
}

static int
list_space(struct listing *l, const struct space *space)
{
	const struct hwtd_exec_context who = { .size = sizeof(who),
		.pid = space->process != NULL ? space->process->pid
					      : HWTD_NO_ID,
		.flags = space->vmid != HWTD_NO_ID ? HWTD_CTXF_VMID : 0,
		.vmid = space->vmid };
	/* What holds for all is listed once, with the kernel of the host. */
	const bool all = space->process == NULL && space->vmid == HWTD_NO_ID;
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_mapping m = { .size = sizeof(m) };
	struct hwtd_maps *maps;
	int rc;

	rc = hwtd_maps_open_context(l->input->trace, &who,
	    all ? 0 : HWTD_MAPS_OWN, &l->options->at, &maps, &err);
	if (rc != HWTD_OK)
		return (say_library_error(l->input->name, &err));
	write_title(l, space);
	while (hwtd_maps_read(maps, &m) == HWTD_OK &&
	    !output_stopped(l->out)) {
		if (l->options->format == FORMAT_JSONL)
			write_json(l, space->vmid, &m);
		else if (l->options->format == FORMAT_CSV)
			write_csv(l, space->vmid, &m);
		else
			write_text(l, &m);
	}
	hwtd_maps_close(maps);
	return (EXIT_DONE);
}

static bool
is_wanted(const struct options *options, uint32_t pid)
{
	if (options->pids.n == 0)
		return (true);
	for (size_t i = 0; i < options->pids.n; i++)
		if (options->pids.ids[i] == pid)
			return (true);
	return (false);
}

static int
list(struct listing *l)
{
	struct hwtd_process p = { .size = sizeof(p) };
	struct space space = { NULL, HWTD_NO_ID };
	int code;

	if (l->options->format == FORMAT_CSV && !l->options->no_header)
		output_text(l->out,
		    "pid,address,length,section,file_offset,flags,image,"
		    "state,path,vmid\n");
	code = list_space(l, &space);
	for (size_t i = 0; code == EXIT_DONE &&
	     hwtd_trace_machine(l->input->trace, i, &space.vmid) == HWTD_OK;
	     i++)
		code = list_space(l, &space);
	space.process = &p;
	for (size_t i = 0; code == EXIT_DONE &&
	     hwtd_trace_process(l->input->trace, i, &p) == HWTD_OK;
	     i++) {
		space.vmid = p.vmid;
		if (is_wanted(l->options, p.pid))
			code = list_space(l, &space);
	}
	return (code);
}

/* Files that are so damaged that there is no line to say it in. */
static void
say_unmapped(const struct input *input)
{
	struct hwtd_image_info info = { .size = sizeof(info) };
	bool *shown = images_shown(input);

	for (uint32_t i = 0; shown != NULL && i < input->info.n_images; i++)
		if (!shown[i] &&
		    hwtd_trace_image(input->trace, i, &info) == HWTD_OK &&
		    info.state == HWTD_IMAGE_FOUND && info.text[0] != '\0')
			say_warning("%s: nothing of %s is mapped: %s",
			    input->name, info.path, image_why(&info));
	free(shown);
}

/* Exit code after a message when --pid names what is not there. */
static int
check_pids(const struct input *input, const struct options *options)
{
	for (size_t i = 0; i < options->pids.n; i++) {
		struct hwtd_process p = { .size = sizeof(p) };
		bool found = false;

		for (size_t k = 0; !found &&
		     hwtd_trace_process(input->trace, k, &p) == HWTD_OK;
		     k++)
			found = p.pid == options->pids.ids[i];
		if (found)
			continue;
		say_error("%s: no record names process %" PRIu32, input->name,
		    options->pids.ids[i]);
		say_hint("without --pid all processes are listed");
		return (EXIT_BAD_USAGE);
	}
	if ((options->at.flags & HWTD_POSITION_OFFSET) != 0 &&
	    options->at.stream >= input->info.n_streams) {
		say_error("%s: there is no stream %" PRIu32, input->name,
		    options->at.stream);
		say_hint("'hwtdecode info' lists the streams");
		return (EXIT_BAD_USAGE);
	}
	return (EXIT_DONE);
}

int
cmd_maps(const struct options *options)
{
	struct input input;
	struct output out;
	struct listing l = { .input = &input,
		.options = options,
		.out = &out };
	int code = input_open(&input, options);

	if (code != EXIT_DONE)
		return (code);
	code = check_pids(&input, options);
	if (code == EXIT_DONE && !output_open(&out, options->output))
		code = EXIT_FAILED;
	else if (code == EXIT_DONE) {
		l.color = color_wanted(options, &out);
		code = list(&l);
		if (code == EXIT_DONE)
			say_unmapped(&input);
		if (!output_close(&out, code == EXIT_DONE))
			code = EXIT_FAILED;
	}
	input_close(&input);
	return (code);
}
