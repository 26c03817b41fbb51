/*
 * Records about programs in a perf.data, and what each of them becomes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/mapped_trace.h"
#include "support/perf_writer.h"

/* Who wrote: another thread, where that is possible, than the record is about. */
static const struct pw_who who = { 70, 71, 5000, 1, 3 };

#define FLAGS_ALWAYS HWTD_RECF_TIME

static struct pw
begin(void)
{
	struct pw w;

	pw_file(&w, false, PW_USUAL);
	return (w);
}

static struct hwtd_trace *
finish(struct pw *w)
{
	struct hwtd_trace *trace;

	pw_finish(w);
	trace = pw_open(w, NULL);
	pw_fini(w);
	return (trace);
}

/* The only record. */
static struct hwtd_record
only(const struct hwtd_trace *trace)
{
	pw_assert_no_damage(trace);
	assert_int_equal(pw_n_records(trace), 1);
	return (pw_record(trace, 0));
}

static void
assert_who(const struct hwtd_record *r, uint32_t type, uint32_t pid,
    uint32_t tid)
{
	assert_int_equal(r->type, type);
	assert_int_equal(r->pid, pid);
	assert_int_equal(r->tid, tid);
	assert_true((r->flags & HWTD_RECF_TIME) != 0);
	assert_int_equal(r->time_ns, 5000);
	assert_int_equal(r->stream, HWTD_NO_ID);
}

static void
mappings_are_those_of_files(void **state)
{
	struct pw w = begin();
	struct hwtd_trace *trace;
	struct hwtd_record r;

	(void)state;
	pw_mmap(&w, &who, PW_USER, 8, 0x401000, 0x2000, "/bin/eight-b");
	trace = finish(&w);
	r = only(trace);
	assert_who(&r, HWTD_REC_MMAP, 8, 8);
	assert_int_equal(r.cpu, 3);
	assert_int_equal(r.flags,
	    FLAGS_ALWAYS | HWTD_RECF_ADDR | HWTD_RECF_LEN |
		HWTD_RECF_FILE_OFF);
	assert_int_equal(r.addr, 0x401000);
	assert_int_equal(r.len, 0x2000);
	assert_int_equal(r.file_off, 0x1000);
	assert_string_equal(r.name, "/bin/eight-b");
	assert_int_equal(r.n_build_id, 0);
	hwtd_trace_close(trace);
}

static void
older_mappings_are_too(void **state)
{
	struct pw w = begin();
	struct hwtd_trace *trace;
	struct hwtd_record r;

	(void)state;
	pw_begin(&w, PW_MMAP, PW_USER);
	pw_put(&w, 8, 4);
	pw_put(&w, 9, 4);
	pw_put(&w, 0x401000, 8);
	pw_put(&w, 0x2000, 8);
	pw_put(&w, 0x3000, 8);
	pw_text(&w, "/bin/seven");
	pw_end(&w, &who);
	trace = finish(&w);
	r = only(trace);
	assert_who(&r, HWTD_REC_MMAP, 8, 9);
	assert_int_equal(r.file_off, 0x3000);
	assert_string_equal(r.name, "/bin/seven");
	hwtd_trace_close(trace);
}

static void
mapping_may_tell_a_build_id_of_any_size(void **state)
{
	(void)state;
	for (uint32_t n = 0; n <= 21; n++) {
		struct pw w = begin();
		struct hwtd_trace *trace;
		struct hwtd_record r;
		size_t at;

		at = pw_begin(&w, PW_MMAP2, PW_USER | PW_MMAP_BUILD_ID);
		pw_put(&w, 8, 4);
		pw_put(&w, 9, 4);
		pw_put(&w, 0x401000, 8);
		pw_put(&w, 0x2000, 8);
		pw_put(&w, 0, 8);
		pw_put(&w, n, 1);
		pw_put(&w, 0xffffff, 3);
		for (unsigned i = 0; i < 20; i++)
			pw_put(&w, i + 1, 1);
		pw_put(&w, 5, 8);
		pw_text(&w, "/bin/a");
		pw_end(&w, &who);
		trace = finish(&w);
		if (n > 20) {
			pw_assert_damage(trace, at, "MMAP2 at");
			pw_assert_damage(trace, at, "build_id_size");
			assert_int_equal(pw_n_records(trace), 0);
			hwtd_trace_close(trace);
			continue;
		}
		r = only(trace);
		assert_int_equal(r.n_build_id, n);
		for (unsigned i = 0; i < 20; i++)
			assert_int_equal(r.build_id[i], i < n ? i + 1 : 0);
		assert_string_equal(r.name, "/bin/a");
		hwtd_trace_close(trace);
	}
}

static void
mappings_of_no_file_are_anonymous(void **state)
{
	static const char *const names[] = { "", "//anon", "[heap]", "[stack]",
		"[stack:1234]", "[anon:x]", "anon_inode:[perf_event]",
		"/dev/zero (deleted)", "/SYSV00000000 (deleted)",
		"/memfd:jit (deleted)", "/anon_hugepage (deleted)" };
	static const char *const files[] = { "[vdso]", "/devzero", "/bin/anon",
		"anon" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct pw w = begin();
		struct hwtd_trace *trace;

		pw_mmap(&w, &who, PW_USER, 8, 0x1000, 0x1000, names[i]);
		trace = finish(&w);
		assert_true((only(trace).flags & HWTD_RECF_ANONYMOUS) != 0);
		hwtd_trace_close(trace);
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct pw w = begin();
		struct hwtd_trace *trace;

		pw_mmap(&w, &who, PW_USER, 8, 0x1000, 0x1000, files[i]);
		trace = finish(&w);
		assert_true((only(trace).flags & HWTD_RECF_ANONYMOUS) == 0);
		hwtd_trace_close(trace);
	}
}

/* Protection is PROT_NONE: a kernel's mappings have none. */
static struct hwtd_record
kernel_record(struct hwtd_trace **trace, uint32_t misc, uint32_t pid,
    const char *name)
{
	struct pw w = begin();

	pw_begin(&w, PW_MMAP2, misc);
	pw_put(&w, pid, 4);
	pw_put(&w, 0, 4);
	pw_put(&w, 0xffffffff81000000, 8);
	pw_put(&w, 0x1000000, 8);
	pw_put(&w, 0xffffffff81000040, 8);
	for (size_t i = 0; i < 4; i++)
		pw_put(&w, 0, 8);
	pw_text(&w, name);
	pw_end(&w, &who);
	*trace = finish(&w);
	return (only(*trace));
}

static void
kernel_and_its_modules_need_no_protection(void **state)
{
	struct hwtd_trace *trace;
	struct hwtd_record r;

	(void)state;
	r = kernel_record(&trace, PW_KERNEL, HWTD_NO_ID,
	    "[kernel.kallsyms]_text");
	assert_who(&r, HWTD_REC_KERNEL, HWTD_NO_ID, HWTD_NO_ID);
	assert_int_equal(r.flags,
	    FLAGS_ALWAYS | HWTD_RECF_ADDR | HWTD_RECF_LEN | HWTD_RECF_VALUE |
		HWTD_RECF_KERNEL_SPACE);
	assert_true(r.addr == 0xffffffff81000000);
	assert_true(r.value == 0xffffffff81000040);
	hwtd_trace_close(trace);
	r = kernel_record(&trace, PW_KERNEL, HWTD_NO_ID,
	    "[kernel.kallsyms]_stext");
	assert_int_equal(r.type, HWTD_REC_KERNEL);
	assert_true((r.flags & HWTD_RECF_VALUE) == 0);
	assert_true((r.flags & HWTD_RECF_BASE) != 0);
	assert_true(r.base == 0xffffffff81000040);
	hwtd_trace_close(trace);
	r = kernel_record(&trace, PW_KERNEL, HWTD_NO_ID,
	    "/lib/modules/6.1.0/kernel/fs/a.ko.xz");
	assert_who(&r, HWTD_REC_MODULE_LOAD, HWTD_NO_ID, HWTD_NO_ID);
	assert_int_equal(r.flags,
	    FLAGS_ALWAYS | HWTD_RECF_ADDR | HWTD_RECF_LEN |
		HWTD_RECF_KERNEL_SPACE);
	assert_int_equal(r.len, 0x1000000);
	hwtd_trace_close(trace);
	/* Of a virtual machine, whose number is the process that runs it. */
	r = kernel_record(&trace, PW_GUEST_KERNEL, 1234,
	    "[guest.kernel.kallsyms.1234]_text");
	assert_who(&r, HWTD_REC_KERNEL, HWTD_NO_ID, HWTD_NO_ID);
	assert_true((r.flags & HWTD_RECF_VMID) != 0);
	assert_int_equal(r.vmid, 1234);
	hwtd_trace_close(trace);
}

static void
names_tell_execs_from_renames(void **state)
{
	struct pw w = begin();
	struct hwtd_trace *trace;
	struct hwtd_record r;

	(void)state;
	pw_comm(&w, &who, 0, 8, 9, "renamed");
	pw_comm(&w, &who, PW_COMM_EXEC, 8, 8, "program");
	trace = finish(&w);
	pw_assert_no_damage(trace);
	assert_int_equal(pw_n_records(trace), 3);
	r = pw_record(trace, 0);
	assert_who(&r, HWTD_REC_THREAD_NAME, 8, 9);
	assert_string_equal(r.name, "renamed");
	r = pw_record(trace, 1);
	assert_who(&r, HWTD_REC_EXEC, 8, 8);
	assert_null(r.name);
	r = pw_record(trace, 2);
	assert_who(&r, HWTD_REC_THREAD_NAME, 8, 8);
	assert_string_equal(r.name, "program");
	hwtd_trace_close(trace);
}

static void
forks_are_of_processes_or_threads(void **state)
{
	struct pw w = begin();
	struct pw_who start = who;
	struct hwtd_trace *trace;
	struct hwtd_record r;

	(void)state;
	start.time = 0;
	pw_task(&w, &who, PW_FORK, 9, 8, 9, 8);
	pw_task(&w, &who, PW_FORK, 9, 9, 10, 9);
	pw_task(&w, &start, PW_FORK, 11, 8, 11, 8);
	trace = finish(&w);
	pw_assert_no_damage(trace);
	r = pw_record(trace, 0);
	assert_who(&r, HWTD_REC_FORK, 9, 9);
	assert_int_equal(r.value, 8);
	assert_int_equal(r.cpu, HWTD_NO_ID);
	r = pw_record(trace, 1);
	assert_who(&r, HWTD_REC_THREAD_CREATE, 9, 10);
	/* perf's own: what that process has mapped is told by itself. */
	r = pw_record(trace, 2);
	assert_int_equal(r.type, HWTD_REC_THREAD_CREATE);
	assert_int_equal(r.pid, 11);
	hwtd_trace_close(trace);
}

static void
last_thread_to_end_ends_the_process(void **state)
{
	struct pw w = begin();
	struct pw_who at = who;
	struct hwtd_trace *trace;

	(void)state;
	at.time = 1000;
	pw_task(&w, &at, PW_EXIT, 8, 1, 9, 1);
	at.time = 1001;
	pw_task(&w, &at, PW_EXIT, 8, 1, 8, 1);
	/* Of another one the first thread ends first, and goes on. */
	pw_task(&w, &at, PW_EXIT, 20, 1, 20, 1);
	at.time = 1002;
	pw_task(&w, &at, PW_EXIT, 20, 1, 21, 1);
	/* Its number is used again. */
	at.time = 1003;
	pw_task(&w, &at, PW_FORK, 8, 1, 8, 1);
	at.time = 1004;
	pw_task(&w, &at, PW_EXIT, 8, 1, 8, 1);
	trace = finish(&w);
	pw_assert_no_damage(trace);
	assert_int_equal(pw_record(trace, 0).type, HWTD_REC_THREAD_EXIT);
	assert_int_equal(pw_record(trace, 1).type, HWTD_REC_EXIT);
	assert_int_equal(pw_record(trace, 2).type, HWTD_REC_THREAD_EXIT);
	assert_int_equal(pw_record(trace, 2).pid, 20);
	assert_int_equal(pw_record(trace, 3).type, HWTD_REC_THREAD_EXIT);
	assert_int_equal(pw_record(trace, 5).type, HWTD_REC_EXIT);
	hwtd_trace_close(trace);
}

static void
put_wide(struct pw *w, const struct pw_who *by, bool is_out, uint32_t pid,
    uint32_t tid)
{
	pw_begin(w, PW_SWITCH_CPU_WIDE, is_out ? PW_SWITCH_OUT : 0);
	pw_put(w, pid, 4);
	pw_put(w, tid, 4);
	pw_end(w, by);
}

static void
switches_are_of_who_wrote_them(void **state)
{
	struct pw w = begin();
	struct pw_who next = { 80, 81, 5000, 1, 3 };
	struct hwtd_trace *trace;
	struct hwtd_record r;

	(void)state;
	/* Out, with who comes next, and in, with who was before. */
	put_wide(&w, &who, true, 80, 81);
	put_wide(&w, &next, false, 70, 71);
	pw_switch(&w, &who, false);
	pw_switch(&w, &who, true);
	trace = finish(&w);
	pw_assert_no_damage(trace);
	assert_int_equal(pw_n_records(trace), 4);
	r = pw_record(trace, 0);
	assert_who(&r, HWTD_REC_SWITCH, 70, 71);
	assert_true((r.flags & HWTD_RECF_SWITCH_OUT) != 0);
	assert_int_equal(r.cpu, 3);
	r = pw_record(trace, 1);
	assert_who(&r, HWTD_REC_SWITCH, 80, 81);
	assert_true((r.flags & HWTD_RECF_SWITCH_OUT) == 0);
	r = pw_record(trace, 2);
	assert_who(&r, HWTD_REC_SWITCH, 70, 71);
	assert_true((r.flags & HWTD_RECF_SWITCH_OUT) == 0);
	r = pw_record(trace, 3);
	assert_true((r.flags & HWTD_RECF_SWITCH_OUT) != 0);
	hwtd_trace_close(trace);
}

static void
switches_without_a_writer_tell_who_comes_next(void **state)
{
	struct hwtd_trace *trace;
	struct hwtd_record r;
	size_t at;
	struct pw w;

	(void)state;
	pw_file(&w, false, PW_TIME | PW_CPU);
	put_wide(&w, &who, true, 80, 81);
	put_wide(&w, &who, false, 70, 71);
	at = w.n;
	pw_switch(&w, &who, false);
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	assert_int_equal(pw_n_records(trace), 1);
	r = pw_record(trace, 0);
	assert_who(&r, HWTD_REC_SWITCH, 80, 81);
	assert_true((r.flags & HWTD_RECF_SWITCH_OUT) == 0);
	pw_assert_damage(trace, at, "SWITCH at");
	pw_assert_damage(trace, at, "its sample id has no thread");
	hwtd_trace_close(trace);
	pw_fini(&w);
}

static void
start_of_a_trace_tells_who_runs(void **state)
{
	struct pw w = begin();
	struct hwtd_trace *trace;
	struct hwtd_record r;

	(void)state;
	pw_begin(&w, PW_ITRACE_START, 0);
	pw_put(&w, 70, 4);
	pw_put(&w, 71, 4);
	pw_end(&w, &who);
	trace = finish(&w);
	r = only(trace);
	assert_who(&r, HWTD_REC_SWITCH, 70, 71);
	assert_int_equal(r.cpu, 3);
	hwtd_trace_close(trace);
}

static void
losses_are_counted(void **state)
{
	struct pw w = begin();
	struct hwtd_trace *trace;
	struct hwtd_record r;

	(void)state;
	pw_begin(&w, PW_LOST, 0);
	pw_put(&w, 1, 8);
	pw_put(&w, 12345, 8);
	pw_end(&w, &who);
	pw_begin(&w, PW_LOST_SAMPLES, 0);
	pw_put(&w, 678, 8);
	pw_end(&w, &who);
	trace = finish(&w);
	pw_assert_no_damage(trace);
	r = pw_record(trace, 0);
	assert_who(&r, HWTD_REC_LOST, 70, 71);
	assert_int_equal(r.value, 12345);
	assert_int_equal(pw_record(trace, 1).type, HWTD_REC_LOST);
	assert_int_equal(pw_record(trace, 1).value, 678);
	hwtd_trace_close(trace);
}

static void
code_that_the_kernel_made_comes_and_goes(void **state)
{
	struct pw w = begin();
	struct hwtd_trace *trace;
	struct hwtd_record r;

	(void)state;
	for (uint32_t gone = 0; gone < 2; gone++) {
		pw_begin(&w, PW_KSYMBOL, PW_KERNEL);
		pw_put(&w, 0xffffffffc0001000, 8);
		pw_put(&w, 0x80, 4);
		pw_put(&w, 1, 2);
		pw_put(&w, gone, 2);
		pw_text(&w, "bpf_prog_1");
		pw_end(&w, &who);
	}
	trace = finish(&w);
	pw_assert_no_damage(trace);
	r = pw_record(trace, 0);
	assert_who(&r, HWTD_REC_MMAP, HWTD_NO_ID, HWTD_NO_ID);
	assert_true((r.flags & HWTD_RECF_KERNEL_SPACE) != 0);
	assert_true((r.flags & HWTD_RECF_JIT) != 0);
	assert_true(r.addr == 0xffffffffc0001000);
	assert_int_equal(r.len, 0x80);
	assert_string_equal(r.name, "bpf_prog_1");
	r = pw_record(trace, 1);
	assert_who(&r, HWTD_REC_MUNMAP, HWTD_NO_ID, HWTD_NO_ID);
	assert_true(r.addr == 0xffffffffc0001000);
	hwtd_trace_close(trace);
}

static void
put_poke(struct pw *w, uint64_t time, uint64_t addr, const char *old,
    const char *new)
{
	struct pw_who by = who;

	by.time = time;
	pw_begin(w, PW_TEXT_POKE, PW_KERNEL);
	pw_put(w, addr, 8);
	pw_put(w, strlen(old), 2);
	pw_put(w, strlen(new), 2);
	pw_bytes(w, old, strlen(old));
	pw_bytes(w, new, strlen(new));
	while ((w->n - w->record) % 8 != 0)
		pw_put(w, 0, 1);
	pw_end(w, &by);
}

static void
assert_code(const struct hwtd_trace *trace, uint64_t time, uint64_t address,
    const char *want)
{
	const struct hwtd_position at = mr_at_time(time);
	struct hwtd_mapping m = { .size = sizeof(m) };
	char got[16] = "";
	size_t n = 0;

	if (hwtd_space_lookup(trace, HWTD_NO_ID, &at, address, &m) == HWTD_OK)
		(void)hwtd_trace_read_code(trace, m.section, address, got,
		    strlen(want), &n);
	assert_string_equal(got, want);
}

static void
code_that_the_kernel_changes_is_old_and_then_new(void **state)
{
	struct pw w = begin();
	struct hwtd_trace *trace;

	(void)state;
	put_poke(&w, 2000, 0xffffffff81000000, "ABCDE", "FGHIJ");
	put_poke(&w, 3000, 0xffffffff81000000, "FGHIJ", "ABCDE");
	/* Where nothing was before. */
	put_poke(&w, 2500, 0xffffffff82000000, "", "xyz");
	trace = finish(&w);
	pw_assert_no_damage(trace);
	assert_code(trace, 1, 0xffffffff81000000, "ABCDE");
	assert_code(trace, 1999, 0xffffffff81000000, "ABCDE");
	assert_code(trace, 2000, 0xffffffff81000000, "FGHIJ");
	assert_code(trace, 2999, 0xffffffff81000000, "FGHIJ");
	assert_code(trace, 3000, 0xffffffff81000000, "ABCDE");
	assert_code(trace, 2499, 0xffffffff82000000, "");
	assert_code(trace, 2500, 0xffffffff82000000, "xyz");
	hwtd_trace_close(trace);
}

static void
poke_beyond_its_record_is_damage(void **state)
{
	/* Of 5 + 5 bytes, and 2 that fill them up. */
	static const uint64_t sizes[] = { 8, 65535, 4 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct pw w = begin();
		struct hwtd_trace *trace;
		size_t at = w.n;

		put_poke(&w, 2000, 0xffffffff81000000, "ABCDE", "FGHIJ");
		pw_set(&w, at + 18, sizes[i], 2);
		/* Less, and too much that fills it up. */
		if (sizes[i] == 4)
			pw_set(&w, at + 16, 0, 2);
		trace = finish(&w);
		pw_assert_damage(trace, at, "TEXT_POKE at");
		pw_assert_damage(trace, at, "old_len, new_len");
		hwtd_trace_close(trace);
	}
}

static void
nothing_lies_behind_the_last_address(void **state)
{
	struct pw w = begin();
	struct hwtd_damage d = { .size = sizeof(d) };
	struct hwtd_trace *trace;
	size_t n = 0;

	(void)state;
	/* Up to it all is well. */
	pw_mmap(&w, &who, PW_USER, 8, 0xfffffffffffff000, 0x1000, "/bin/a");
	put_poke(&w, 5000, UINT64_MAX - 4, "ABCDE", "FGHIJ");
	pw_mmap(&w, &who, PW_USER, 8, 0xfffffffffffff000, 0x1001, "/bin/a");
	put_poke(&w, 5000, UINT64_MAX - 3, "", "FGHIJ");
	put_poke(&w, 5000, UINT64_MAX - 3, "ABCDE", "");
	pw_begin(&w, PW_KSYMBOL, PW_KERNEL);
	pw_put(&w, UINT64_MAX - 6, 8);
	pw_put(&w, 8, 4);
	pw_put(&w, 1, 4);
	pw_text(&w, "bpf_prog_1");
	pw_end(&w, &who);
	trace = finish(&w);
	while (hwtd_trace_damage(trace, n, &d) == HWTD_OK)
		n++;
	assert_int_equal(n, 4);
	assert_non_null(strstr(d.text, "KSYMBOL at"));
	/* The mapping, and what was there and is. */
	assert_int_equal(pw_n_records(trace), 3);
	hwtd_trace_close(trace);
}

static void
what_decoding_does_not_need_is_told_in_words(void **state)
{
	struct pw w = begin();
	struct hwtd_trace *trace;
	struct hwtd_record r;

	(void)state;
	pw_begin(&w, PW_CGROUP, 0);
	pw_put(&w, 42, 8);
	pw_text(&w, "/user.slice");
	pw_end(&w, &who);
	pw_begin(&w, PW_NAMESPACES, 0);
	pw_put(&w, 8, 4);
	pw_put(&w, 9, 4);
	pw_put(&w, 2, 8);
	for (uint64_t i = 0; i < 4; i++)
		pw_put(&w, 100 + i, 8);
	pw_end(&w, &who);
	pw_begin(&w, PW_BPF_EVENT, 0);
	pw_put(&w, 1, 2);
	pw_put(&w, 0, 2);
	pw_put(&w, 7, 4);
	pw_bytes(&w, "\x01\x02\x03\x04\x05\x06\x07\x08", 8);
	pw_end(&w, &who);
	trace = finish(&w);
	pw_assert_no_damage(trace);
	r = pw_record(trace, 0);
	assert_who(&r, HWTD_REC_UNKNOWN, 70, 71);
	assert_int_equal(r.value, PW_CGROUP);
	assert_string_equal(r.name, "cgroup 42 /user.slice");
	r = pw_record(trace, 1);
	assert_who(&r, HWTD_REC_UNKNOWN, 8, 9);
	assert_string_equal(r.name, "namespaces net=100:101 uts=102:103");
	r = pw_record(trace, 2);
	assert_who(&r, HWTD_REC_UNKNOWN, 70, 71);
	assert_string_equal(r.name,
	    "bpf program 7 load, tag 0102030405060708");
	hwtd_trace_close(trace);
}

/* Time 0: what perf tells of what was there before. */

static void
mapping_at_time_0_holds_from_the_start(void **state)
{
	struct pw w = begin();
	struct pw_who start = who;
	struct hwtd_position at;
	struct hwtd_trace *trace;

	(void)state;
	start.time = 0;
	/* Whatever comes before it in the file. */
	pw_mmap(&w, &who, PW_USER, 8, 0x800000, 0x1000, "/bin/late");
	pw_mmap(&w, &start, PW_USER, 8, 0x400000, 0x1000, "/bin/early");
	trace = finish(&w);
	at = mr_at_time(1);
	mr_assert(trace, 8, &at, 0x400000, "/bin/early", 0x1000);
	mr_assert(trace, 8, &at, 0x800000, NULL, 0);
	at = mr_at_time(UINT64_MAX - 1);
	mr_assert(trace, 8, &at, 0x400000, "/bin/early", 0x1000);
	mr_assert(trace, 8, &at, 0x800000, "/bin/late", 0x1000);
	hwtd_trace_close(trace);
}

static void
child_of_time_0_keeps_what_it_has_mapped(void **state)
{
	struct pw w = begin();
	struct pw_who start = who;
	struct hwtd_position at;
	struct hwtd_trace *trace;

	(void)state;
	start.time = 0;
	pw_mmap(&w, &start, PW_USER, 8, 0x400000, 0x1000, "/bin/parent");
	/* In the order in which perf writes them, and another. */
	pw_mmap(&w, &start, PW_USER, 9, 0x400000, 0x1000, "/bin/child");
	pw_task(&w, &start, PW_FORK, 9, 8, 9, 8);
	pw_comm(&w, &start, 0, 9, 9, "child");
	/* A true one later has all that its parent has. */
	pw_task(&w, &who, PW_FORK, 10, 9, 10, 9);
	trace = finish(&w);
	at = mr_at_time(6000);
	mr_assert(trace, 8, &at, 0x400000, "/bin/parent", 0x1000);
	mr_assert(trace, 9, &at, 0x400000, "/bin/child", 0x1000);
	mr_assert(trace, 10, &at, 0x400000, "/bin/child", 0x1000);
	hwtd_trace_close(trace);
}

static void
anonymous_mapping_does_not_hide_jitted_code(void **state)
{
	struct pw w = begin();
	struct pw_who at_time = who;
	struct hwtd_position at;
	struct hwtd_trace *trace;

	(void)state;
	at_time.time = 1000;
	pw_mmap(&w, &at_time, PW_USER, 8, 0x401000, 0x1000,
	    "/tmp/jitted-8-1.so");
	at_time.time = 2000;
	pw_mmap(&w, &at_time, PW_USER, 8, 0x400000, 0x4000, "//anon");
	trace = finish(&w);
	assert_true((pw_record(trace, 0).flags & HWTD_RECF_JIT) != 0);
	at = mr_at_time(3000);
	mr_assert(trace, 8, &at, 0x401000, "/tmp/jitted-8-1.so", 0x1000);
	hwtd_trace_close(trace);
}

/* A sample_type that is not that of the records: nothing of it is believed. */

static const struct {
	const char *name;
	/* What records end with, and are said to end with. */
	uint64_t is, said;
	/* Of a mapping, a name and a switch. */
	const char *why[3];
} wrong[] = {
	{ "a field less", PW_USUAL, PW_TID | PW_TIME | PW_CPU,
	    { "MMAP2 at", "COMM at", "SWITCH at" } },
	{ "a field more", PW_TID | PW_TIME | PW_CPU, PW_USUAL,
	    { "MMAP2 at", "COMM at", "SWITCH at" } },
	{ "nothing", PW_USUAL, 0, { "MMAP2 at", "COMM at", "SWITCH at" } },
	{ "all, and there is nothing", 0, PW_USUAL,
	    { "MMAP2 at", "COMM at", "sample_type 0x10086" } },
};

static void
wrong_sample_type_is_told_with_record_and_field(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		for (int k = 0; k < 3; k++) {
			struct hwtd_trace *trace;
			struct pw w;
			size_t at;

			print_message("case %s\n", wrong[i].name);
			pw_file(&w, false, wrong[i].said);
			w.sample_type = wrong[i].is;
			at = w.n;
			if (k == 0)
				pw_mmap(&w, &who, PW_USER, 8, 0x401000, 0x1000,
				    "/bin/a");
			else if (k == 1)
				pw_comm(&w, &who, 0, 8, 8, "a");
			else
				pw_switch(&w, &who, false);
			trace = finish(&w);
			pw_assert_damage(trace, at, wrong[i].why[k]);
			assert_int_equal(pw_n_records(trace), 0);
			hwtd_trace_close(trace);
		}
}

static void
records_that_are_cut_are_damage_and_no_more(void **state)
{
	(void)state;
	/* Each record of each size that is less, and one that is good. */
	for (uint32_t type = 1; type < 22; type++)
		for (size_t n = 0; n < 64; n += 8) {
			struct pw w = begin();
			struct hwtd_trace *trace;
			const char *name;

			pw_begin(&w, type, PW_MMAP_BUILD_ID);
			for (size_t k = 0; k < n; k++)
				pw_put(&w, 0xfe, 1);
			pw_end(&w, NULL);
			pw_comm(&w, &who, 0, 8, 8, "good");
			trace = finish(&w);
			name = pw_record(trace, pw_n_records(trace) - 1).name;
			assert_string_equal(name, "good");
			hwtd_trace_close(trace);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mappings_are_those_of_files),
		cmocka_unit_test(older_mappings_are_too),
		cmocka_unit_test(mapping_may_tell_a_build_id_of_any_size),
		cmocka_unit_test(mappings_of_no_file_are_anonymous),
		cmocka_unit_test(kernel_and_its_modules_need_no_protection),
		cmocka_unit_test(names_tell_execs_from_renames),
		cmocka_unit_test(forks_are_of_processes_or_threads),
		cmocka_unit_test(last_thread_to_end_ends_the_process),
		cmocka_unit_test(switches_are_of_who_wrote_them),
		cmocka_unit_test(
		    switches_without_a_writer_tell_who_comes_next),
		cmocka_unit_test(start_of_a_trace_tells_who_runs),
		cmocka_unit_test(losses_are_counted),
		cmocka_unit_test(code_that_the_kernel_made_comes_and_goes),
		cmocka_unit_test(
		    code_that_the_kernel_changes_is_old_and_then_new),
		cmocka_unit_test(poke_beyond_its_record_is_damage),
		cmocka_unit_test(nothing_lies_behind_the_last_address),
		cmocka_unit_test(what_decoding_does_not_need_is_told_in_words),
		cmocka_unit_test(mapping_at_time_0_holds_from_the_start),
		cmocka_unit_test(child_of_time_0_keeps_what_it_has_mapped),
		cmocka_unit_test(anonymous_mapping_does_not_hide_jitted_code),
		cmocka_unit_test(
		    wrong_sample_type_is_told_with_record_and_field),
		cmocka_unit_test(records_that_are_cut_are_damage_and_no_more),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
