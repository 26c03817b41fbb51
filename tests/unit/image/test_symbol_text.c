/*
 * Names of functions as people write them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "image/symbol_text.h"

static const struct {
	const char *mangled;
	/* NULL: it stays as it is. */
	const char *want;
} names[] = {
	/* Of no language. */
	{ "main", NULL },
	{ "_start", NULL },
	{ "", NULL },
	{ "_Z", NULL },
	{ "_R", NULL },
	/* C++, by c++filt of binutils. */
	{ "_Z3foov", "foo()" },
	{ "_ZN1A1fEi", "A::f(int)" },
	{ "_ZN1A1fEi@@V_1", "A::f(int)@@V_1" },
	{ "_ZNSt6vectorIiSaIiEE9push_backERKi",
	    "std::vector<int, std::allocator<int> >::push_back(int const&)" },
	{ "_Z3foov.part.0", "foo() [clone .part.0]" },
	{ "_ZN12_GLOBAL__N_11gEv", "(anonymous namespace)::g()" },
	{ "_ZZ1fvENKUlvE_clEv", "f()::{lambda()#1}::operator()() const" },
	{ "_ZTV1A", "vtable for A" },
	{ "_Z3", NULL },
	/* Rust as it was, by rustfilt. */
	{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
	    "core::fmt::Write::write_fmt" },
	{ "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$"
	  "Test$GT$$GT$3bar17h930b740aa94f1d3aE",
	    "<Test + 'static as foo::Bar<Test>>::bar" },
	{ "_ZN4main4main17he714a2e23ed7db23E.llvm.1234", "main::main" },
	{ "_ZN4main4main17he714a2e23ed7db23E.cold", "main::main.cold" },
	/* "v0": examples of RFC 2603 and of rustc's own tests. */
	{ "_RNvCs1234_7mycrate3foo", "mycrate::foo" },
	{ "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar" },
	{ "_RNvMs_Cs4Cv8Wi1oAIB_7mycrateNtB4_3Foo3bar",
	    "<mycrate::Foo>::bar" },
	{ "_RNvC6_123foo3bar", "123foo::bar" },
	{ "_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_",
	    "cc::spawn::{closure#0}::{closure#0}" },
	{ "_RNvMNtCs1_4core3fooNtB2_3Bar3baz", "<core::foo::Bar>::baz" },
	{ "_RNvXCs1_7mycrateNtB2_3FooNtCs2_4core5Clone5clone",
	    "<mycrate::Foo as core::Clone>::clone" },
	{ "_RINvCs1_1a3fooxjE", "a::foo::<i64, usize>" },
	{ "_RINvCs1_1a3fooReQhE", "a::foo::<&str, &mut u8>" },
	{ "_RINvCs1_1a3fooTmEE", "a::foo::<(u32,)>" },
	{ "_RINvCs1_1a3fooAhj10_E", "a::foo::<[u8; 16]>" },
	{ "_RINvCs1_1a3fooFUKCPhEuE",
	    "a::foo::<unsafe extern \"C\" fn(*const u8)>" },
	{ "_RINvCs1_1a3fooFG_RL0_hEhE", "a::foo::<for<'a> fn(&'a u8) -> u8>" },
	{ "_RINvCs1_1a3fooDNtB2_3Barp4ItemhEL_E",
	    "a::foo::<dyn a::Bar<Item = u8>>" },
	{ "_RINvCs1_1a3fooKb1_E", "a::foo::<true>" },
	{ "_RINvCs1_1a3fooKan5_E", "a::foo::<-5>" },
	{ "_RINvCs1_1a3fooKc76_E", "a::foo::<'v'>" },
	{ "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
	    "utf8_idents::საჭმელად_გემრიელი_სადილი" },
	{ "_RNvCs1_7mycrate3foo.llvm.99", "mycrate::foo" },
	{ "_RNvCs1_7mycrate3foo.cold", "mycrate::foo.cold" },
	/* It goes on behind its end, refers to itself, has no end. */
	{ "_RNvCs1_7mycrate3foo!", NULL },
	{ "_RNvB_3foo", NULL },
	{ "_RINvCs1_1a3foo", NULL },
	{ "_RNvCs1_99mycrate3foo", NULL },
};

static void
names_have_the_text_that_their_compilers_mean(void **state)
{
	char out[HWTDI_SYMBOL_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bool told;

		print_message("%s\n", names[i].mangled);
		told = hwtdi_symbol_text(names[i].mangled, out, sizeof(out));
		if (names[i].want == NULL) {
			assert_false(told);
		} else {
			assert_true(told);
			assert_string_equal(out, names[i].want);
		}
	}
}

static void
no_byte_is_written_where_there_is_no_room(void **state)
{
	char out[64];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (size_t cap = 1; cap < sizeof(out); cap++) {
			bool told;

			memset(out, '#', sizeof(out));
			told = hwtdi_symbol_text(names[i].mangled, out, cap);
			assert_int_equal(out[cap], '#');
			assert_int_equal(told,
			    names[i].want != NULL &&
				strlen(names[i].want) < cap);
		}
	}
}

/* "S3_": what came so many components before. */
static void
add_reference(char *name, unsigned int no)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char text[4] = { 'S', '_', 0, 0 };

	if (no > 0) {
		text[1] = digits[no - 1];
		text[2] = '_';
	}
	strcat(name, text);
}

static void
short_names_of_long_texts_stay_as_they_are(void **state)
{
	char out[HWTDI_SYMBOL_TEXT_MAX], name[1024] = "_Z1f1AIiE";

	(void)state;
	/* Each has the one before twice: 2^30 bytes. */
	for (unsigned int k = 0; k < 30; k++) {
		strcat(name, "S_I");
		add_reference(name, k + 1);
		add_reference(name, k + 1);
		strcat(name, "E");
	}
	assert_false(hwtdi_symbol_text(name, out, sizeof(out)));
	strcpy(name, "_RINvCs1_1a1f");
	for (unsigned int k = 0; k < 30; k++)
		strcat(name, k == 0 ? "ThhE" : "TB9_B9_E");
	strcat(name, "E");
	(void)hwtdi_symbol_text(name, out, sizeof(out));
	/* Nothing but pointers; 3,000 levels. */
	memset(name, 0, sizeof(name));
	strcpy(name, "_Z1f");
	memset(name + 4, 'P', 1000);
	strcat(name, "i");
	assert_false(hwtdi_symbol_text(name, out, sizeof(out)));
	memset(name, 0, sizeof(name));
	strcpy(name, "_RINvCs1_1a1f");
	memset(name + 13, 'P', 900);
	strcat(name, "hE");
	assert_false(hwtdi_symbol_text(name, out, sizeof(out)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    names_have_the_text_that_their_compilers_mean),
		cmocka_unit_test(no_byte_is_written_where_there_is_no_room),
		cmocka_unit_test(short_names_of_long_texts_stay_as_they_are),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
