/*
 * The program of the example traces: it takes orders and prints what they cost.
 *
 *     orders N [express]
 *
 * No library, so that all of the code is here: a table that seldom grows, a
 * sort and a sum that call themselves, calls through pointers, system calls.
 */
#include "table.h"

#define SYS_WRITE 1
#define SYS_EXIT_GROUP 231
#define MAX_ITEMS 2048

static struct table table;
static struct item *sorted[MAX_ITEMS];
static uint32_t seed = 88172645;

static long
system_call(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return (result);
}

__attribute__((noinline)) static uint32_t
next_order(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return (seed);
}

__attribute__((noinline)) static uint32_t
normal_fee(uint32_t price)
{
	return (price / 16);
}

__attribute__((noinline)) static uint32_t
express_fee(uint32_t price)
{
	uint32_t fee = 500;

	for (uint32_t left = price; left > 1000; left -= 1000)
		fee += 25;
	return (fee);
}

__attribute__((noinline)) static uint32_t
price_of(uint32_t id, uint32_t (*fee)(uint32_t))
{
	uint32_t price = 100 + id * 37 % 5000;

	if (id % 8 == 0)
		price -= price / 10;
	return (price + fee(price));
}

__attribute__((noinline)) static struct item *
add_item(uint32_t id, uint32_t (*fee)(uint32_t))
{
	struct item *item = table_insert(&table, id);

	item->price = price_of(id, fee);
	return (item);
}

__attribute__((noinline)) static void
take_order(uint32_t order, uint32_t (*fee)(uint32_t))
{
	const uint32_t id = 1 + order % 400;
	struct item *item = table_find(&table, id);

	if (item == NULL)
		item = add_item(id, fee);
	item->sold += 1 + (order >> 28);
}

__attribute__((noinline)) static void
sort(struct item **items, size_t n)
{
	struct item *pivot, *t;
	size_t i = 0, k = n - 1;

	if (n < 2)
		return;
	pivot = items[n / 2];
	for (;;) {
		while (items[i]->sold > pivot->sold)
			i++;
		while (items[k]->sold < pivot->sold)
			k--;
		if (i >= k)
			break;
		t = items[i];
		items[i++] = items[k];
		items[k--] = t;
	}
	sort(items, i);
	sort(items + i, n - i);
}

/* Half and half, so that it calls itself as deep as the list is long in bits. */
__attribute__((noinline)) static uint64_t
total(struct item *const *items, size_t n)
{
	if (n == 1)
		return ((uint64_t)items[0]->price * items[0]->sold);
	return (total(items, n / 2) + total(items + n / 2, n - n / 2));
}

__attribute__((noinline)) static void
print(uint64_t value)
{
	char text[24];
	size_t at = sizeof(text);

	text[--at] = '\n';
	do
		text[--at] = (char)('0' + value % 10);
	while ((value /= 10) != 0);
	system_call(SYS_WRITE, 1, (long)(text + at),
	    (long)(sizeof(text) - at));
}

__attribute__((noinline)) static uint32_t
number(const char *text)
{
	uint32_t value = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		value = 10 * value + (uint32_t)(*text - '0');
	return (value);
}

__attribute__((noinline)) static void
report(void)
{
	size_t n = 0;

	for (size_t i = 0; i < table.room && n < MAX_ITEMS; i++)
		if (table.items[i].id != 0)
			sorted[n++] = &table.items[i];
	if (n == 0)
		return;
	sort(sorted, n);
	print(sorted[0]->id);
	print(total(sorted, n));
}

__attribute__((noinline)) static int
orders_main(int argc, char *argv[])
{
	const uint32_t n = argc > 1 ? number(argv[1]) : 0;
	uint32_t (*const fee)(uint32_t) = argc > 2 ? express_fee : normal_fee;

	table_init(&table);
	for (uint32_t i = 0; i < n; i++) {
		take_order(next_order(), fee);
		if (i % 100 == 99)
			print(i + 1);
	}
	report();
	return (0);
}

__attribute__((used)) static void
run(long *stack)
{
	system_call(SYS_EXIT_GROUP,
	    orders_main((int)stack[0], (char **)(stack + 1)), 0, 0);
}

__asm__(".globl _start\n"
	"_start:\n"
	"	xor	%ebp, %ebp\n"
	"	mov	%rsp, %rdi\n"
	"	and	$-16, %rsp\n"
	"	call	run\n"
	"	ud2\n");
