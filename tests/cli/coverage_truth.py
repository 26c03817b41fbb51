"""hwtdecode coverage: what ran is what gcov(1) counts; lcov(1) reads it.

The same sources are built twice: to be traced, and with counters.  Both run, and
their lines are compared.
"""

import json
import re
import subprocess
from pathlib import Path

from runner import Case
from traced_program import build, can_trace, capture, is_there

C = """\
enum kind { ADD, SUB, MUL, NEG, NOP };

static volatile int values[] = { 1, 5, 7, 2, 9, 4, -3, 8 };
static volatile int sink;

static inline int square(int x) {
	if (x < 0)
		return (-x * -x);
	return (x * x);
}

static int apply(enum kind kind, int a, int b) {
	switch (kind) {
	case ADD:
		return (a + b);
	case SUB:
		return (a - b);
	case MUL:
		return (a * b);
	case NEG:
		return (-a);
	default:
		return (a);
	}
}

static int never(int x) {
	sink = x;
	return (x + 1);
}

static int sum(const volatile int *v, int n) {
	int s = 0;

	for (int i = 0; i < n; i++) {
		if (v[i] > 3 && v[i] != 7)
			s += v[i];
		else
			s -= 1;
	}
	return (s);
}

static int fact(int n) {
	return (n < 2 ? 1 : n * fact(n - 1));
}

int run(int argc) {
	int total = 0;

	for (int i = 0; i < 8; i++)
		total += apply((enum kind)(i % 3), values[i], i);
	total += sum(values, 8);
	for (int i = 0; i < 5; i++) total += square(values[i]);
	if (argc > 100)
		total = never(total);
	else if (argc > 1)
		total += sink = 3;
	do
		total /= 2;
	while (total > 10);
	total += fact(values[5]);
	if (values[0] == 2 || values[1] == 5)
		goto out;
	sink = total = 0;
out:
	sink = total;
	return (total > 1000 ? 1 : 0);
}
"""

CC = """\
extern "C" int run(int argc);

static volatile int limit = 40;
static volatile int sink;

template <typename T> static T largest(const volatile T *v, int n) {
	T best = v[0];
	for (int i = 1; i < n; i++) {
		if (v[i] > best)
			best = v[i];
	}
	return (best);
}

struct shape {
	int side;
	explicit shape(int s) : side(s) { }
	int area() const { return (side * side); }
	int never() const { return (sink = side + 1); }
};

static inline int clamp(int x, int low, int high) {
	if (x < low)
		return (low);
	if (x > high)
		return (high);
	return (x);
}

namespace {
int twice(int x) {
	auto add = [](int a, int b) {
		return (a + b);
	};
	return (add(x, x));
}
}

int run(int argc) {
	static volatile int ints[] = { 3, 1, 4, 1, 5, 9, 2, 6 };
	static volatile short shorts[] = { 8, 7, 6, 5 };
	int total = largest(ints, 8);
	total += largest(shorts, 4);
	for (int i = 0; i < 4; i++) {
		shape s(i);
		total += s.area();
		total += clamp(total, 0, limit);
	}
	if (argc > 100)
		total = shape(total).never();
	do {
		total -= twice(total > 20 ? 5 : 3);
	} while (total > 7);
	sink = total;
	return (total > 100);
}
"""

MAIN = """\
#ifdef __cplusplus
extern "C"
#endif
int run(int argc);
int main(int argc, char **argv) { (void)argv; return (run(argc)); }
"""

# What only one of the two has: gcc counts labels of a switch, and has no code
# for the end of a function; LLVM's counts the end of a block.
ONLY_OURS = {"gcc": r"\}", "g++": r"\};?", "clang": "", "clang++": ""}
ONLY_THEIRS = {"gcc": r"(case .*|default|out):", "g++": "", "clang": "",
               "clang++": r"\}"}


def gcov(folder: Path, source: Path, compiler: str, *options: str) -> str:
    """The text of gcov(1) about a build with counters that ran."""
    (folder / f"main{source.suffix}").write_text(MAIN)
    subprocess.run([compiler, "-O0", "-g", "--coverage", "-o", "counted",
                    source.name, f"main{source.suffix}"], cwd=folder,
                   check=True)
    subprocess.run(["./counted"], cwd=folder, check=False)
    data = [path.name for path in folder.glob("*.gcno")
            if "main" not in path.name]
    tool = ["llvm-cov", "gcov"] if compiler.startswith("clang") else ["gcov"]
    subprocess.run([*tool, *options, *data], cwd=folder, check=True,
                   capture_output=True)
    return (folder / f"{source.name}.gcov").read_text()


def gcov_lines(text: str) -> dict[int, int]:
    found: dict[int, int] = {}
    for line in text.splitlines():
        words = line.split(":", 2)
        if len(words) == 3 and words[1].strip().isdigit():
            count, number = words[0].strip().rstrip("*"), int(words[1])
            # What follows again is of single instances.
            if count != "-" and number != 0 and number not in found:
                found[number] = 0 if count in ("#####", "=====") else int(count)
    return found


def gcov_branches(text: str) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    line = 0
    for row in text.splitlines():
        words = row.split(":", 2)
        if len(words) == 3 and words[1].strip().isdigit():
            line = int(words[1])
        branch = re.match(r"branch +\d+ (?:taken (\d+)|never)", row)
        if branch is not None:
            found.setdefault(line, []).append(int(branch[1] or 0))
    return found


def our_lines(case: Case, source: Path, *args: str | Path) -> dict[int, int]:
    run = case.run("coverage", *args, "--by=line", "--format=csv",
                   f"--source={source}").want(0)
    return {int(row["line"]): int(row["count"]) for row in run.table()}


def compare(compiler: str, text: str, ours: dict[int, int],
            theirs: dict[int, int]) -> None:
    lines = [""] + [line.strip() for line in text.splitlines()]
    for number in sorted({*ours, *theirs}):
        what = (compiler, number, lines[number], ours.get(number),
                theirs.get(number))
        if number not in theirs:
            assert re.match(ONLY_OURS[compiler] + "$", lines[number]), what
        elif number not in ours:
            assert re.match(ONLY_THEIRS[compiler] + "$", lines[number]), what
        else:
            assert ours[number] == theirs[number], what
    common = {*ours} & {*theirs}
    # Most lines are told by both, and some of them never ran.
    assert len(common) > 25 and any(ours[number] == 0 for number in common)


def each_compiler(case: Case, *compilers: str):
    """(compiler, its folder, its source) of those that are there."""
    if not can_trace():
        return
    for compiler in compilers:
        if not is_there(compiler):
            continue
        folder = case.folder / compiler
        folder.mkdir()
        plus = compiler.endswith("++")
        source = folder / ("source.cc" if plus else "source.c")
        source.write_text(CC if plus else C)
        yield compiler, folder, source


def test_lines_are_counted_as_gcov_does(case: Case) -> None:
    for compiler, folder, source in each_compiler(
            case, "gcc", "clang", "g++", "clang++"):
        theirs = gcov_lines(gcov(folder, source, compiler))
        for pie in (False, True):
            program = build(folder, source, compiler, "-O0", pie=pie)
            args = capture(program, folder / f"out{pie:d}")
            compare(compiler, source.read_text(),
                    our_lines(case, source, *args), theirs)


# What is under a condition writes to memory, or compilers do it in any case, and
# choose what of it is used: then it runs, and so does its line.
def test_optimized_code_runs_no_line_that_did_not(case: Case) -> None:
    for compiler, folder, source in each_compiler(
            case, "gcc", "clang", "g++", "clang++"):
        theirs = gcov_lines(gcov(folder, source, compiler))
        program = build(folder, source, compiler, "-O2",
                        pie=compiler.endswith("++"))
        args = capture(program, folder / "out")
        ours = our_lines(case, source, *args)
        hit = {line for line, count in ours.items() if count > 0}
        wrong = [line for line in hit if theirs.get(line) == 0]
        assert not wrong, (compiler, wrong)
        assert len(hit) >= 12, (compiler, hit)
        # never() and what calls it is a line that is left.
        assert compiler.startswith("clang") or 0 in ours.values()


def test_branches_are_counted_as_gcov_does(case: Case) -> None:
    for compiler, folder, source in each_compiler(case, "gcc", "g++"):
        theirs = gcov_branches(gcov(folder, source, compiler, "-b", "-c"))
        program = build(folder, source, compiler, "-O0")
        args = capture(program, folder / "out")
        run = case.run("coverage", *args, "--by=branch", "--format=csv",
                       f"--source={source}").want(0)
        ours: dict[int, list[int]] = {}
        for row in run.table():
            ours.setdefault(int(row["line"]), []).extend(
                (int(row["taken"]), int(row["not_taken"])))
        text = source.read_text().splitlines()
        n = 0
        for line, counts in ours.items():
            # A switch is compares here, and a branch with many ways there.
            if "switch" in text[line - 1]:
                continue
            assert sorted(counts) == sorted(theirs[line]), (
                line, text[line - 1], counts, theirs[line])
            n += 1
        assert n >= 5, ours


def test_functions_are_counted_as_gcov_does(case: Case) -> None:
    for compiler, folder, source in each_compiler(case, "gcc", "g++"):
        gcov(folder, source, compiler)
        data, = (path.name for path in folder.glob("*.gcno")
                 if "main" not in path.name)
        text = subprocess.run(
            ["gcov", "--json-format", "--stdout", data], cwd=folder,
            capture_output=True, text=True, check=True).stdout
        theirs = {f["name"]: (f["start_line"], f["execution_count"])
                  for f in json.loads(text)["files"][0]["functions"]}
        program = build(folder, source, compiler, "-O0")
        args = capture(program, folder / "out")
        run = case.run("coverage", *args, "--by=function", "--format=csv",
                       f"--source={source}").want(0)
        ours = {row["linkage_name"] or row["function"]:
                (int(row["line"]), int(row["count"])) for row in run.table()}
        # Debug information has no linkage names of what is local in C++.
        assert sorted(ours.values()) == sorted(theirs.values()), (ours, theirs)
        assert compiler == "g++" or ours == theirs, (ours, theirs)
        assert 0 in (count for _, count in ours.values())


# The begin of big() is inlined, and the rest of it called from there.
PARTS = """\
static volatile int v[8] = { 1, 5, 7, 2, 9, 4, -3, 8 };
static volatile int sink;
static int big(int x) {
	if (x < 3)
		return (0);
	for (int i = 0; i < x; i++) {
		sink += v[i & 7];
		if (v[i & 7] > 4)
			sink = sink * 3 + v[(i + 1) & 7];
		for (int k = 0; k < v[1]; k++)
			sink ^= k * v[k & 7];
	}
	sink = v[0] * v[1] + v[2] * v[3] + v[4] / (v[5] + 100);
	return (sink);
}
int run(int argc) {
	int t = 0;
	for (int i = 0; i < 8; i++)
		t += big(v[i]);
	t += big(v[0]) + big(v[3]);
	sink = t;
	if (big(argc) > 3)
		t = big(v[1]);
	return (t > 0);
}
"""


def test_parts_of_a_function_are_no_functions(case: Case) -> None:
    for _, folder, source in each_compiler(case, "gcc"):
        source.write_text(PARTS)
        program = build(folder, source, "gcc", "-O2")
        names = subprocess.run(["nm", program], capture_output=True,
                               text=True, check=True).stdout
        args = capture(program, folder / "out")
        rows = case.run("coverage", *args, "--by=function", "--format=csv",
                        f"--source={source}").want(0).table()
        count, = (row["count"] for row in rows if row["function"] == "big")
        # Eleven calls; another compiler may lay it out otherwise.
        assert count == "11", (count, names)


def test_runs_at_other_addresses_are_added(case: Case) -> None:
    for _, folder, source in each_compiler(case, "gcc"):
        program = build(folder, source, "gcc", "-O0", pie=True)
        runs = [capture(program, folder / f"out{n}", *["x"] * n)
                for n in range(3)]
        lines = [our_lines(case, source, *args) for args in runs]
        # One file for all: what lay where is in it.
        saved = []
        for n, args in enumerate(runs):
            path = case.folder / f"{n}.hwt"
            case.run("import", *args, "-o", path).want(0)
            saved.append(path)
        both = our_lines(case, source, *saved)
        assert both == {line: sum(one[line] for one in lines)
                        for line in lines[0]}
        assert any(lines[0][n] != lines[1][n] for n in both)
        # In any order.
        assert our_lines(case, source, *reversed(saved)) == both
        image, = case.run("coverage", *saved, "--by=image",
                          "--format=csv").want(0).table()
        assert image["image"].endswith("/program")


def lcov_summary(path: Path) -> dict[str, tuple[int, int]]:
    text = subprocess.run(
        ["lcov", "--summary", path, "--rc", "lcov_branch_coverage=1"],
        capture_output=True, text=True, check=True)
    return {what: (int(hit), int(total)) for what, hit, total in re.findall(
        r"(\w+)\.*: [\d.]+% \((\d+) of (\d+)", text.stdout + text.stderr)}


def our_summary(case: Case, *args: str | Path) -> dict[str, tuple[int, int]]:
    total = case.run("coverage", *args, "--format=jsonl").want(0).objects()[-1]
    return {what: (total[f"{what}_hit"], total[what])
            for what in ("lines", "functions", "branches")}


def test_lcov_reads_the_same_numbers(case: Case) -> None:
    if not is_there("lcov"):
        return
    for compiler, folder, source in each_compiler(case, "gcc", "clang++"):
        for flag in ("-O0", "-O2"):
            program = build(folder, source, compiler, flag)
            args = capture(program, folder / f"out{flag}")
            info = folder / f"a{flag}.info"
            case.run("coverage", *args, "--lcov", info).want(0)
            assert lcov_summary(info) == our_summary(case, *args)
            # The same, however it is asked for.
            text = info.read_text()
            case.run("coverage", *args, "--format=lcov").want(0, out=text)
            case.run("export", *args, "--to=lcov").want(0, out=text)
            done = subprocess.run(
                ["genhtml", "--branch-coverage", "-o", folder / f"h{flag}",
                 info], capture_output=True, text=True, check=True)
            rates = dict(re.findall(r"(\w+)\.*: ([\d.]+)%",
                                    done.stdout))
            for what, (hit, total) in our_summary(case, *args).items():
                assert abs(float(rates[what]) - 100 * hit / total) < 0.051
            assert not re.search(r"(?i)warn|error", done.stderr), done.stderr


def test_lcov_reads_files_of_any_name(case: Case) -> None:
    if not is_there("lcov") or not can_trace() or not is_there("gcc"):
        return
    # Of the debug information: what is compiled is another file.
    names = ["a,b.c", "a b.c", "SF:x", "end_of_record", "<b>&amp;", "\\303",
             "%s%n", "a\\nDA:1,5"]
    text = "".join(f'#line 1 "{name}"\nint f{n}(int x) {{ return (x); }}\n'
                   for n, name in enumerate(names))
    text += '#line 100 "last"\nint run(int x) { return (f0(x) + f7(x)); }\n'
    source = case.write("hostile.c", text)
    program = build(case.folder, source, "gcc", "-O0")
    args = capture(program, case.folder / "out")
    case.run("coverage", *args, "--lcov=a.info").want(0)
    ours = our_summary(case, *args)
    del ours["branches"]
    got = lcov_summary(case.folder / "a.info")
    assert {key: got[key] for key in ours} == ours
    assert ours["functions"] == (3, len(names) + 1)
    lines = (case.folder / "a.info").read_text().splitlines()
    assert sum(line.startswith("SF:") for line in lines) == len(names) + 1
    assert lines.count("end_of_record") == len(names) + 1


def test_without_debug_information_functions_are_symbols(case: Case) -> None:
    for _, folder, source in each_compiler(case, "gcc"):
        program = build(folder, source, "gcc", "-O0")
        whole = case.run("coverage", *capture(program, folder / "out"),
                         "--by=branch", "--format=csv",
                         f"--source={source}").want(0).table()
        subprocess.run(["strip", "-g", program], check=True)
        args = capture(program, folder / "out")
        rows = case.run("coverage", *args, "--by=function",
                        "--format=csv").want(0).table()
        hit = {row["function"]: (row["hit"], row["count"]) for row in rows}
        assert hit["never"] == ("0", "0") and hit["apply"] == ("1", "8")
        assert hit["fact"] == ("1", "4") and hit["begin"][0] == "1"
        assert all(row["file"] == "" for row in rows)
        # Branches are the same, by place.
        bare = case.run("coverage", *args, "--by=branch",
                        "--format=csv").want(0).table()
        keys = ("file_off", "reached", "taken", "not_taken")
        assert {tuple(row[key] for key in keys) for row in whole} == {
            tuple(row[key] for key in keys) for row in bare}
        total = case.run("coverage", *args, "--format=jsonl").want(
            0).objects()[-1]
        assert total["lines"] == 0 and total["images_without_lines"] == 1
        assert total["bare_functions_hit"] == total["bare_functions"] - 1
        case.run("coverage", *args, "--fail-under=1").want(
            1, err_has="there are no lines with a source file")
        # Nothing but the code: branches that ran are known.
        subprocess.run(["strip", program], check=True)
        args = capture(program, folder / "out")
        total = case.run("coverage", *args, "--format=jsonl").want(
            0).objects()[-1]
        assert total["bare_functions"] == 0
        assert 0 < total["bare_branches"] <= 2 * len(whole)


def test_what_is_told_is_chosen(case: Case) -> None:
    for _, folder, source in each_compiler(case, "gcc"):
        program = build(folder, source, "gcc", "-O0")
        args = capture(program, folder / "out")

        def files(*more: str) -> list[str]:
            run = case.run("coverage", *args, "--format=csv", *more).want(0)
            return [row["file"] for row in run.table()]

        assert files() == [str(source)]
        assert files("--only-image=program") == [str(source)]
        assert files("--only-image=other") == []
        assert files(f"--strip-prefix={folder}/") == ["source.c"]
        assert files(f"--map={folder}=x", "--source=x/") == ["x/source.c"]
        assert files(f"--map={folder}=x", f"--source={folder}") == []
        assert files("--exclude=*/source.?") == []
        assert files("--exclude=source.c") == [str(source)]
        total = case.run("coverage", *args, "--format=jsonl",
                         "--exclude=*").want(0).objects()[-1]
        # What was left out is neither counted nor said to be without a line.
        assert total["lines"] == total["functions"] == total["branches"] == 0
        whole = case.run("coverage", *args, "--format=jsonl").want(
            0).objects()[-1]
        assert total["bare_bytes"] == whole["bare_bytes"]


def test_too_little_is_a_failure(case: Case) -> None:
    for _, folder, source in each_compiler(case, "gcc"):
        program = build(folder, source, "gcc", "-O0")
        args = capture(program, folder / "out")
        hit, total = our_summary(case, *args)["functions"]
        assert (hit, total) == (5, 6)
        case.run("coverage", *args, "--fail-under=83.3,function").want(0)
        case.run("coverage", *args, "--fail-under=83.4,function",
                 "--fail-under=100,branch").want(1, err_has=(
                     "83.3% of the functions were reached, 5 of 6; "
                     "--fail-under is 83.4%",
                     "of the branches were reached"))
        # The table is there all the same.
        case.run("coverage", *args, "--fail-under=100").want(
            1, out_has="source.c", err_has="% of the lines were reached")


def test_what_was_not_reached_is_listed(case: Case) -> None:
    for _, folder, source in each_compiler(case, "gcc"):
        program = build(folder, source, "gcc", "-O0")
        args = capture(program, folder / "out")
        text = source.read_text().splitlines()
        rows = case.run("coverage", *args, "--by=range",
                        "--format=csv").want(0).table()
        ranges = [(int(row["first"]), int(row["last"])) for row in rows]
        # As gcov lists them, and the ends of functions.
        never = next(n for n, line in enumerate(text, 1)
                     if line.startswith("static int never"))
        assert (never, never + 3) in ranges
        missing = sorted(line for line, count in
                         our_lines(case, source, *args).items() if count == 0)
        assert [line for first, last in ranges
                for line in missing if first <= line <= last] == missing
        run = case.run("coverage", *args, "--uncovered").want(0)
        assert f" {never}-{never + 3}" in run.out
        run = case.run("coverage", *args, "--uncovered", "--by=function",
                       "--format=csv").want(0)
        assert [row["function"] for row in run.table()] == ["never"]
