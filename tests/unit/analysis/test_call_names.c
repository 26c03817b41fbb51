/*
 * Names of calls in a trace of a program with symbols, which are as its source has
 * them.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/memory_trace.h"
#include "support/pt_packets.h"
#include "support/temp_dir.h"

/* The functions lie one behind the other, without bytes between. */
static const char source[] = ".globl _start\n"
			     ".type _start,@function\n"
			     "_start: call first\n"
			     "back: jmp _start\n"
			     ".size _start,.-_start\n"
			     ".type first,@function\n"
			     "first: nop\n"
			     ".byte 0xe9,0,0,0,0\n"
			     ".size first,.-first\n"
			     ".type second,@function\n"
			     "second: nop\n"
			     "ret\n"
			     ".size second,.-second\n"
			     ".type handler,@function\n"
			     "handler: nop\n"
			     "jmp handler\n"
			     ".size handler,.-handler\n";

struct built {
	struct temp_dir dir;
	char path[300];
	uint64_t start, back, second, handler;
};

static void
build(struct built *b)
{
	char name[300], command[900], line[300], symbol[100];
	uint64_t address;
	FILE *nm;

	memset(b, 0, sizeof(*b));
	temp_dir_create(&b->dir);
	temp_dir_file(&b->dir, "program", b->path);
	write_file(temp_dir_file(&b->dir, "program.s", name), source,
	    sizeof(source) - 1);
	(void)snprintf(command, sizeof(command),
	    "cd '%s' && %s -nostdlib -static -no-pie -Wl,-Ttext=0x401000"
	    " -o program program.s",
	    b->dir.path, HWTDECODE_TEST_CC);
	assert_int_equal(system(command), 0);
	(void)snprintf(command, sizeof(command), "nm '%s'", b->path);
	nm = popen(command, "r");
	assert_non_null(nm);
	while (fgets(line, sizeof(line), nm) != NULL) {
		if (sscanf(line, "%" SCNx64 " %*c %99s", &address, symbol) !=
		    2)
			continue;
		if (strcmp(symbol, "_start") == 0)
			b->start = address;
		else if (strcmp(symbol, "back") == 0)
			b->back = address;
		else if (strcmp(symbol, "second") == 0)
			b->second = address;
		else if (strcmp(symbol, "handler") == 0)
			b->handler = address;
	}
	assert_int_equal(pclose(nm), 0);
	assert_int_equal(b->start, 0x401000);
	assert_true(b->back != 0 && b->second != 0 && b->handler != 0);
}

/* "+name:type" where a call begins, "-name:end" where it ends. */
static void
tell(struct hwtd_calls *calls, char *text, size_t room)
{
	struct hwtd_call row;
	struct hwtd_call_batch batch = { .size = sizeof(batch),
		.calls = &row,
		.stride = sizeof(row),
		.cap = 1 };
	size_t n = 0;
	int rc;

	text[0] = '\0';
	while ((rc = hwtd_calls_read(calls, &batch, NULL)) == HWTD_OK) {
		struct hwtd_call_function f = { .size = sizeof(f) };
		const bool enter = row.kind == HWTD_CALL_ENTER;

		if (batch.n == 0)
			continue;
		(void)hwtd_calls_function(calls, row.function, &f);
		n += (size_t)snprintf(text + n, room - n, "%s%c%s:%s",
		    n != 0 ? " " : "", enter ? '+' : '-',
		    f.name != NULL ? f.name : "?",
		    enter ? hwtd_call_type_name(row.type)
			  : hwtd_call_end_name(row.end));
		assert_true(n < room);
	}
	assert_int_equal(rc, HWTD_END);
}

static void
begin(struct pt_packets *p, uint64_t ip)
{
	pt_psb(p);
	pt_fup(p, PT_IP_48, ip);
	pt_mode_exec(p, 64);
	pt_psbend(p);
}

/* What is called by `p`, told as of tell(). */
static void
check(const struct built *b, struct pt_packets *p, const char *want)
{
	const struct hwtd_image_desc image = { .size = sizeof(image),
		.path = b->path,
		.flags = HWTD_IMAGEF_ADDRESS,
		.address = 0x400000 };
	const struct hwtd_stream_desc desc = { .cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID };
	const struct hwtd_calls_options opts = { .size = sizeof(opts),
		.flags = HWTD_CALLS_ENTERS };
	struct hwtd_trace *trace = mt_create();
	struct hwtd_calls *calls;
	char text[1000];

	assert_int_equal(hwtd_trace_add_image(trace, &image, NULL, NULL),
	    HWTD_OK);
	(void)mt_stream(trace, p, &desc);
	pt_free(p);
	mt_seal(trace);
	assert_int_equal(hwtd_calls_open(trace, &opts, &calls, NULL), HWTD_OK);
	hwtd_trace_close(trace);
	tell(calls, text, sizeof(text));
	hwtd_calls_close(calls);
	assert_string_equal(text, want);
}

static void
a_jump_to_the_next_instruction_may_be_a_tail_call(void **state)
{
	struct pt_packets p = { 0 };
	struct built b;

	(void)state;
	build(&b);
	begin(&p, b.start);
	pt_tip(&p, PT_IP_48, b.back);
	pt_fup(&p, PT_IP_48, b.back);
	pt_pgd(&p, PT_IP_NONE, 0);
	check(&b, &p,
	    "+_start:found +first:call -first:tail +second:tail "
	    "-second:return +?:interrupt -?:open -_start:open");
	temp_dir_remove(&b.dir);
}

static void
what_is_found_running_and_what_interrupts_have_names(void **state)
{
	struct pt_packets p = { 0 };
	struct built b;

	(void)state;
	build(&b);
	begin(&p, b.start);
	pt_tip(&p, PT_IP_48, b.back);
	/* Tracing goes on in a handler of a signal. */
	pt_fup(&p, PT_IP_48, b.back);
	pt_pgd(&p, PT_IP_NONE, 0);
	pt_pge(&p, PT_IP_48, b.second);
	/* An interrupt there, and its handler. */
	pt_fup(&p, PT_IP_48, b.second + 1);
	pt_tip(&p, PT_IP_48, b.handler);
	pt_fup(&p, PT_IP_48, b.handler + 1);
	pt_pgd(&p, PT_IP_NONE, 0);
	check(&b, &p,
	    "+_start:found +first:call -first:tail +second:tail "
	    "-second:return +?:interrupt -?:far-return +second:signal "
	    "+handler:interrupt +?:interrupt -?:open -handler:open "
	    "-second:open -_start:open");
	temp_dir_remove(&b.dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
		cmocka_unit_test(
		    a_jump_to_the_next_instruction_may_be_a_tail_call),
		cmocka_unit_test(
		    what_is_found_running_and_what_interrupts_have_names),
#endif
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
