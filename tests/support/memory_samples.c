/*
 * Samples by hand.
 */
#include "support/memory_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "support/elf_writer.h"
#include "support/memory_trace.h"
#include "trace/trace_model.h"

#define NAMES "\0alpha\0beta"
#define BASE UINT64_C(0x400000)

static void
write_program(struct elf_writer *w)
{
	size_t at;

	elf_writer_init(w, true, false, 2, 183);
	at = elf_writer_put(w, NULL, 0x200 - w->n_bytes, 1);
	(void)elf_writer_segment(w,
	    &(struct elf_writer_segment){ .type = 1,
		.flags = 5,
		.off = 0,
		.vaddr = BASE,
		.file_bytes = 0x200,
		.memory_bytes = 0x200,
		.align = 0x1000 });
	(void)elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".text",
		.type = 1,
		.flags = 6,
		.off = 0x100,
		.size = 0x100 });
	at = elf_writer_put(w, NAMES, sizeof(NAMES), 1);
	(void)elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".strtab",
		.type = 3,
		.off = at,
		.size = sizeof(NAMES) });
	at = elf_writer_put(w, NULL, 0, 8);
	(void)elf_writer_put_symbol(w, 0, 0, 0, 0);
	elf_writer_poke(w,
	    elf_writer_put_symbol(w, 1, 0x12, 1, BASE + 0x100) + 16, 0x40, 8);
	elf_writer_poke(w,
	    elf_writer_put_symbol(w, 7, 0x12, 1, BASE + 0x140) + 16, 0x20, 8);
	(void)elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".symtab",
		.type = 2,
		.off = at,
		.size = w->n_bytes - at,
		.link = 2,
		.entry_bytes = 24 });
	elf_writer_finish(w);
}

void
ms_add_program(struct hwtd_trace *trace)
{
	struct hwtd_image_desc image = {
		.size = sizeof(image),
		.path = "dir/prog",
		.flags = HWTD_IMAGEF_ADDRESS,
		.address = BASE,
	};
	struct elf_writer w;

	write_program(&w);
	image.bytes = w.bytes;
	image.n_bytes = w.n_bytes;
	assert_int_equal(hwtd_trace_add_image(trace, &image, NULL, NULL),
	    HWTD_OK);
	elf_writer_free(&w);
}

static struct hwtd_trace *
fill(struct hwtd_trace *trace)
{
	const struct hwtd_stream_desc desc = {
		.size = sizeof(desc),
		.tech = HWTD_TECH_SPE,
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
	};
	uint32_t id;

	ms_add_program(trace);
	assert_int_equal(hwtd_trace_add_stream(trace, &desc, &id, NULL),
	    HWTD_OK);
	return (mt_seal(trace));
}

struct hwtd_trace *
ms_trace(void)
{
	return (fill(mt_create()));
}

struct hwtd_trace *
ms_trace_in(struct hwtd_context *ctx)
{
	return (fill(mt_create_in(ctx)));
}

struct hwtd_event
ms_row(struct hwtd_trace *trace, uint32_t pid, uint32_t tid, uint32_t cpu)
{
	const struct hwtd_exec_context who = {
		.size = sizeof(who),
		.pid = pid,
		.tid = tid,
		.cpu = cpu,
	};
	struct hwtd_event row;

	memset(&row, 0, sizeof(row));
	row.kind = HWTD_EV_SAMPLE;
	assert_int_equal(hwtdi_trace_intern_context(trace, &who, &row.context,
			     NULL),
	    HWTD_OK);
	return (row);
}

struct hwtd_sample
ms_access(uint64_t pc, bool store, uint64_t va, uint32_t source,
    uint64_t events)
{
	struct hwtd_sample s;

	memset(&s, 0, sizeof(s));
	s.present = HWTD_SAMPLE_PC | HWTD_SAMPLE_OP | HWTD_SAMPLE_VA |
	    HWTD_SAMPLE_EVENTS;
	s.pc = pc;
	s.va = va;
	s.op_class = HWTD_OP_CLASS_MEMORY;
	s.op = HWTD_OP_MEM_GENERAL;
	s.op_flags = store ? HWTD_OPF_STORE : 0;
	s.events = events | MS_RETIRED;
	if (source != MS_NO_SOURCE) {
		s.present |= HWTD_SAMPLE_SOURCE;
		s.source = source;
	}
	return (s);
}

struct hwtd_sample
ms_branch(uint64_t pc, bool taken, uint64_t target, uint64_t events)
{
	struct hwtd_sample s;

	memset(&s, 0, sizeof(s));
	s.present = HWTD_SAMPLE_PC | HWTD_SAMPLE_OP | HWTD_SAMPLE_TARGET |
	    HWTD_SAMPLE_EVENTS;
	s.pc = pc;
	s.target = target;
	s.op_class = HWTD_OP_CLASS_BRANCH;
	s.op = HWTD_OP_BRANCH;
	s.events = events | MS_RETIRED | (taken ? 0 : MS_NOT_TAKEN);
	return (s);
}

void
ms_latency(struct hwtd_sample *s, uint16_t total, uint16_t issue)
{
	s->present |= HWTD_SAMPLE_LAT_TOTAL | HWTD_SAMPLE_LAT_ISSUE;
	s->lat_total = total;
	s->lat_issue = issue;
	if (total == 0xfff)
		s->flags |= HWTD_SAMPLEF_TOTAL_SATURATED;
	if (issue == 0xfff)
		s->flags |= HWTD_SAMPLEF_ISSUE_SATURATED;
}

struct hwtd_memory *
ms_open(struct hwtd_trace *trace, uint32_t tables)
{
	const struct hwtd_memory_options o = {
		.size = sizeof(o),
		.tables = tables,
		.flags = HWTD_MEMORY_KEEP_ACCESSES,
		.midr = MS_N1,
		.interval = 1000,
	};
	struct hwtd_memory *memory;

	assert_int_equal(hwtd_memory_open(trace, &o, &memory, NULL), HWTD_OK);
	return (memory);
}

void
ms_add(struct hwtd_memory *memory, const struct hwtd_event *row,
    const struct hwtd_sample *sample)
{
	assert_int_equal(hwtd_memory_add(memory, row, sample, NULL), HWTD_OK);
}

struct hwtd_memory_row
ms_sorted(struct hwtd_memory *memory, uint32_t table, uint32_t sort,
    uint64_t i)
{
	struct hwtd_memory_row row;
	size_t n;

	assert_int_equal(hwtd_memory_sort(memory, table, sort, NULL), HWTD_OK);
	assert_int_equal(hwtd_memory_read(memory, table, i, &row, sizeof(row),
			     1, &n),
	    HWTD_OK);
	assert_int_equal(n, 1);
	return (row);
}
