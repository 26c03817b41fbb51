#!/bin/sh
# Makes the traces that the Python package ships as examples.
#
#     bindings/python/example/make.sh BUILD
#
# BUILD is a build folder of this project with the library in it.  The rest that
# is needed: Linux on x86-64, gcc, and clang, lld and llvm-objdump for the Arm
# program.  Other versions of the compilers make other traces: tests that count
# what is in them have to be looked at again.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
lib=$(cd "$1/src" && pwd)
out=$(cd "$here/../src/hwt/_example" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

free='-ffreestanding -fno-stack-protector -fno-asynchronous-unwind-tables'
gcc -std=c11 -O1 -Wall -Wextra -I"$root/include" -o "$work/pack" \
    "$here/pack.c" -L"$lib" -lhwtdecode -Wl,-rpath,"$lib"

# Intel PT: the program runs here, one instruction after the other.
tool=$root/tests/tools/ptcapture
gcc -std=c11 -O2 -o "$work/ptcapture" "$tool/ptcapture.c" "$tool/tracee.c" \
    "$tool/pt_model.c" "$tool/pt_encode.c" "$tool/insn_class.c"
gcc -std=gnu11 -g -O1 -fno-pie -no-pie -static -nostdlib $free \
    -fcf-protection=none -fno-optimize-sibling-calls \
    -ffile-prefix-map="$out/orders"=/src/orders -Wl,--build-id \
    -Wl,-z,noseparate-code \
    -o "$work/orders" "$out/orders/orders.c" "$out/orders/table.c"
pt()
{
	name=$1
	shift
	"$work/ptcapture" -r -i -t -c -m 3 -p 2048 "$work/$name" \
	    "$work/orders" "$@" >/dev/null
	"$work/pack" pt "$out/$name.hwt" "$work/orders" 0x400000 \
	    "example: orders $*, single-stepped, encoded by ptcapture" \
	    "$work/$name/0.pt"
}
pt pt 1500
pt pt_before 300 express

# Arm SPE: what a CPU would sample is made up.
clang --target=aarch64-linux-gnu -march=armv8.2-a -std=c11 -g -O1 $free \
    -fno-unroll-loops -fno-vectorize -ffile-prefix-map="$out/queue"=/src/queue \
    -c -o "$work/queue.o" "$out/queue/queue.c"
ld.lld -static --build-id -z noseparate-code -e _start -o "$work/queue" \
    "$work/queue.o"
llvm-objdump-14 -d --mattr=+v8.2a "$work/queue" >"$work/queue.dis"
nm "$work/queue" | grep -v '[$]' >"$work/queue.sym"
python3 "$here/model_spe.py" "$work/queue.dis" "$work/queue.sym" \
    "$work/spe.0" "$work/spe.1"
"$work/pack" spe "$out/spe.hwt" "$work/queue" 0x210000 \
    "example: queue, samples made up by model_spe.py" \
    "$work/spe.0" "$work/spe.1"
ls -l "$out"
