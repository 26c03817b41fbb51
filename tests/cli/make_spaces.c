/*
 * Makes what the cases of records, maps and archive read: run.hwt, a trace of
 * two processes with records, alone.hwt, one of a process whose stream does
 * not name it, and the files that the records name, below root/.  Also
 * memory.hwt, of memory that changes, and guest.hwt, of a virtual machine.
 * With a number: only many.hwt, of so many
 * processes and as many kernel modules.
 */
#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/mapped_trace.h"

#define PROGRAM 0x555500000000u
#define LIBRARY 0x7f0000000000u
#define GONE 0x7f1000000000u
#define OTHER 0x7f2000000000u
#define KERNEL 0xffffffff80200000u

/* jmp *%rax, and the same after three instructions. */
static const uint8_t jump[] = { 0xff, 0xe0 };
static const uint8_t straight[] = { 0x90, 0x90, 0x90, 0xff, 0xe0 };

static void
start(struct pt_packets *p, uint64_t tsc)
{
	pt_psb(p);
	pt_tsc(p, tsc);
	pt_fup(p, PT_IP_64, PROGRAM + 0x1000);
	pt_mode_exec(p, 64);
	pt_psbend(p);
}

static void
add_stream(struct hwtd_trace *trace, uint32_t pid)
{
	const struct hwtd_stream_desc d = { .cpu = 2,
		.pid = pid,
		.tid = pid,
		.clock = { .counts_per = 1, .ns_per = 1 } };
	struct pt_packets p = { 0 };

	start(&p, 1000);
	pt_tip(&p, PT_IP_64, LIBRARY + 0x1000);
	pt_tip(&p, PT_IP_64, PROGRAM + 0x1000);
	pt_tip(&p, PT_IP_64, GONE + 0x1234);
	for (int i = 0; i < 20; i++)
		pt_tip(&p, PT_IP_64, GONE + 0x1234);
	start(&p, 2000);
	pt_tip(&p, PT_IP_64, OTHER + 0x1000);
	pt_tip(&p, PT_IP_64, PROGRAM + 0x1000);
	(void)mt_stream(trace, &p, &d);
	pt_free(&p);
}

static void
add_mapping(struct hwtd_trace *trace, uint64_t time_ns, uint64_t base,
    const char *name, uint8_t build_id)
{
	struct hwtd_record r = mr_record(HWTD_REC_MMAP, 5, base + 0x1000,
	    0x1000);

	r.flags |= HWTD_RECF_FILE_OFF;
	r.file_off = 0x1000;
	r.name = name;
	if (build_id != 0) {
		r.n_build_id = 20;
		memset(r.build_id, build_id, 20);
	}
	mr_time(&r, time_ns);
	mr_add(trace, &r);
}

static void
add_program(struct hwtd_trace *trace)
{
	struct hwtd_record r = mr_record(HWTD_REC_EXEC, 5, PROGRAM, 0);

	r.name = "/bin/program";
	r.tid = 5;
	mr_time(&r, 100);
	mr_add(trace, &r);
	add_mapping(trace, 200, LIBRARY, "/lib/library.so", 0xcd);
	add_mapping(trace, 300, GONE, "/lib/gone.so", 0);
	add_mapping(trace, 400, OTHER, "/lib/other.so", 0xbb);
}

static void
add_more_records(struct hwtd_trace *trace)
{
	struct hwtd_record r = mr_record(HWTD_REC_FORK, 6, 0, 0);

	r.flags = HWTD_RECF_VALUE;
	r.value = 5;
	mr_time(&r, 500);
	mr_add(trace, &r);
	r = mr_record(HWTD_REC_MUNMAP, 6, LIBRARY + 0x1000, 0x1000);
	mr_time(&r, 600);
	mr_add(trace, &r);
	r = mr_record(HWTD_REC_MMAP, HWTD_NO_ID, KERNEL, 0x1000);
	r.flags |= HWTD_RECF_KERNEL_SPACE | HWTD_RECF_ANONYMOUS;
	mr_time(&r, 0);
	mr_add(trace, &r);
	r = mr_record(HWTD_REC_THREAD_NAME, 5, 0, 0);
	r.flags = 0;
	r.tid = 7;
	r.name = "worker\033[31m,\"";
	mr_add(trace, &r);
	r = mr_record(HWTD_REC_SWITCH, 5, 0, 0);
	r.flags = HWTD_RECF_SWITCH_OUT;
	r.cpu = 2;
	r.tid = 5;
	mr_time(&r, 700);
	mr_add(trace, &r);
	mr_buffer(trace, 0, 10);
}

/* Of a process, and 5 bytes of the kernel. */
static void
add_memory(struct hwtd_trace *trace)
{
	static const uint8_t bytes[0x40];
	struct hwtd_record r;

	mr_mmap_at(trace, 0, 5, LIBRARY, 0x40,
	    mr_image(trace, "[vdso]", bytes, sizeof(bytes)));
	mr_mmap_at(trace, 200, 5, LIBRARY, 0x40,
	    mr_image(trace, "[vdso] 2", bytes, sizeof(bytes)));
	r = mr_record(HWTD_REC_MMAP, HWTD_NO_ID, KERNEL, 0x40);
	r.flags |= HWTD_RECF_KERNEL_SPACE;
	r.image = mr_image(trace, "kernel", bytes, sizeof(bytes));
	mr_time(&r, 0);
	mr_add(trace, &r);
	r = mr_record(HWTD_REC_CODE, HWTD_NO_ID, KERNEL + 0x10, 5);
	r.flags |= HWTD_RECF_KERNEL_SPACE;
	r.image = mr_image(trace, "poke", bytes, 5);
	mr_time(&r, 100);
	mr_add(trace, &r);
}

/* Each process has one mapping. */
static void
add_many(struct hwtd_trace *trace, unsigned int n)
{
	char name[64];
	struct hwtd_record r;

	for (unsigned int i = 0; i < n; i++) {
		(void)snprintf(name, sizeof(name), "/boot/kernel/m%u.ko", i);
		r = mr_record(HWTD_REC_MMAP, HWTD_NO_ID, KERNEL + 0x2000 * i,
		    0x1000);
		r.flags |= HWTD_RECF_KERNEL_SPACE | HWTD_RECF_FILE_OFF;
		r.name = name;
		mr_add(trace, &r);
		r = mr_record(HWTD_REC_MMAP, i + 1, PROGRAM, 0x1000);
		r.flags |= HWTD_RECF_FILE_OFF;
		r.name = "/bin/program";
		mr_add(trace, &r);
	}
}

/* A host and machine 1 with a process of the same number each. */
static void
add_guest(struct hwtd_trace *trace)
{
	static const struct {
		const char *name;
		uint32_t pid;
		uint32_t flags;
		uint64_t addr;
	} maps[] = {
		{ "kernel", HWTD_NO_ID, HWTD_RECF_KERNEL_SPACE, KERNEL },
		{ "guest", HWTD_NO_ID, HWTD_RECF_KERNEL_SPACE | HWTD_RECF_VMID,
		    KERNEL },
		{ "program", 5, 0, PROGRAM },
		{ "its program", 5, HWTD_RECF_VMID, LIBRARY },
		{ "monitor", HWTD_NO_ID, HWTD_RECF_HYPERVISOR_SPACE, OTHER },
	};

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		struct hwtd_record r = mr_record(HWTD_REC_MMAP, maps[i].pid,
		    maps[i].addr, 0x1000);

		r.flags |= maps[i].flags;
		r.vmid = 1;
		r.image = mr_image(trace, maps[i].name, jump, sizeof(jump));
		mr_add(trace, &r);
	}
}

static void
save(struct hwtd_trace *trace, const char *path)
{
	struct hwtd_error err = { .size = sizeof(err) };

	(void)mt_seal(trace);
	if (hwtd_trace_save(trace, path, NULL, &err) != HWTD_OK) {
		fprintf(stderr, "%s\n", err.message);
		exit(1);
	}
	hwtd_trace_close(trace);
}

int
main(int argc, char *argv[])
{
	static const struct {
		const char *name;
		struct small_elf elf;
	} files[] = {
		{ "root/bin/program", { .code = jump, .n_code = 2 } },
		{ "root/lib/library.so",
		    { .code = straight, .n_code = 5, .build_id = 0xcd } },
		{ "root/lib/other.so",
		    { .code = straight, .n_code = 5, .build_id = 0xaa } },
	};
	struct hwtd_trace *trace = mr_create("/nonexistent");

	if (argc > 2)
		return (2);
	if (argc == 2) {
		add_many(trace, (unsigned int)strtoul(argv[1], NULL, 10));
		save(trace, "many.hwt");
		return (0);
	}
	(void)mkdir("root", 0777);
	(void)mkdir("root/bin", 0777);
	(void)mkdir("root/lib", 0777);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		small_elf_write(&files[i].elf, files[i].name);
	add_stream(trace, 5);
	add_program(trace);
	add_more_records(trace);
	save(trace, "run.hwt");
	trace = mr_create("/nonexistent");
	add_stream(trace, HWTD_NO_ID);
	add_program(trace);
	save(trace, "alone.hwt");
	trace = mr_create("/nonexistent");
	add_memory(trace);
	save(trace, "memory.hwt");
	trace = mr_create("/nonexistent");
	add_guest(trace);
	save(trace, "guest.hwt");
	return (0);
}
