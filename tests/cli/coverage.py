"""hwtdecode coverage: options, formats, and what was not seen."""

from runner import BRANCHES, MISSING, OVERFLOW, Case


def test_code_without_a_file_is_told_by_place(case: Case) -> None:
    trace, options = case.trace(BRANCHES)
    total = case.run("coverage", "--format=jsonl", *options, trace).want(
        0).objects()[-1]
    assert total["type"] == "coverage-summary"
    assert total["traces"] == 1 and total["gap_bytes"] == 0
    assert total["lines"] == total["functions"] == total["branches"] == 0
    # Two branches, of each of which one way was gone.
    assert (total["bare_branches_hit"], total["bare_branches"]) == (2, 4)
    assert total["bare_bytes"] == total["code_bytes"] > 0
    rows = case.run("coverage", "--by=branch", "--format=csv", *options,
                    trace).want(0).table()
    assert len(rows) == 2 and all(row["file"] == "" for row in rows)
    assert sorted((row["taken"], row["not_taken"]) for row in rows) == [
        ("0", "1"), ("1", "0")]


def test_files_are_added(case: Case) -> None:
    trace, options = case.trace(BRANCHES)
    once = case.run("coverage", "--by=edge", "--format=csv", *options,
                    trace).want(0).table()
    twice = case.run("coverage", "--by=edge", "--format=csv", *options, trace,
                     trace).want(0).table()
    assert [int(row["count"]) for row in twice] == [
        2 * int(row["count"]) for row in once]
    assert any(row["count"] != "0" for row in once)


def test_what_was_lost_is_said(case: Case) -> None:
    trace, options = case.trace(OVERFLOW)
    run = case.run("coverage", *options, trace).want(0)
    assert "not seen: 1 gap of " in run.out and "  overflow: 1, " in run.out
    total = case.run("coverage", "--format=jsonl", *options, trace).want(
        0).objects()[-1]
    assert total["gaps"]["overflow"]["n"] == 1
    case.run("coverage", "--max-loss=0", *options, trace).want(
        3, out_has="not seen", err_has="--max-loss is 0%")
    trace, options = case.trace(MISSING)
    total = case.run("coverage", "--format=jsonl", *options, trace).want(
        0).objects()[-1]
    assert total["gap_bytes"] > 0 and "no-code" in total["gaps"]
    # Gaps are as dense as the rest.
    seen = total["bytes"] - total["gap_bytes"]
    assert total["lost_insns"] == total["insns"] * total["gap_bytes"] // seen
    case.run("coverage", "--strict", *options, trace).want(
        1, err_has="without --strict decoding goes on")


def test_all_tables_have_the_formats(case: Case) -> None:
    trace, options = case.trace(BRANCHES)
    for by in ("file", "function", "line", "branch", "edge", "image",
               "range"):
        run = case.run("coverage", f"--by={by}", *options, trace).want(0)
        assert run.out.splitlines()[-1].startswith("no lines: ")
        plain = case.run("coverage", f"--by={by}", "--no-header", *options,
                         trace).want(0).out
        assert run.out.splitlines()[1:] == plain.splitlines()
        table = case.run("coverage", f"--by={by}", "--format=csv", *options,
                         trace).want(0)
        rows = case.run("coverage", f"--by={by}", "--format=jsonl", *options,
                        trace).want(0).objects()
        assert len(table.table()) == len(rows) - 1
        assert all(row["type"] == f"coverage-{by}" for row in rows[:-1])
        for cells, row in zip(table.table(), rows):
            for name, value in row.items():
                if name not in ("schema", "type"):
                    want = (str(int(value)) if isinstance(value, bool)
                            else str(value))
                    assert cells[name] == want, (by, name)
    case.run("coverage", "--format=lcov", *options, trace).want(0, out="")


def test_jobs_change_nothing(case: Case) -> None:
    trace, options = case.trace(BRANCHES)
    one = case.run("coverage", "--jobs=1", "--by=edge", *options, trace)
    assert case.run("coverage", "--jobs=4", "--by=edge", *options,
                    trace).want(0).out == one.out


def test_options_are_checked(case: Case) -> None:
    trace, options = case.trace(BRANCHES)
    for option, message in (
            ("--fail-under=101", "--fail-under: '101' is not PERCENT"),
            ("--fail-under=5,lines", "'5,lines' is not PERCENT[,line"),
            ("--fail-under=", "is not PERCENT"),
            ("--map=a", "--map: 'a' is not OLD=NEW"),
            ("--map==a", "is not OLD=NEW"),
            ("--strip-prefix=", "--strip-prefix"),
            ("--source=", "--source"),
            ("--lcov=-", "--lcov needs the name of a file"),
            ("--by=x", "--by"), ("--format=x", "--format")):
        case.run("coverage", option, *options, trace).want(
            2, err_has=message)
    case.run("coverage").want(2, err_has="FILE")
    # One of several is enough.
    case.run("coverage", *options, trace, "none.pt").want(
        1, out="", err_has="none.pt: No such file")


def test_no_input_is_replaced(case: Case) -> None:
    trace, options = case.trace(BRANCHES)
    copy = case.write("copy.pt", trace.read_bytes())
    case.run("coverage", "--tech=pt", *options, "--lcov=copy.pt", copy).want(
        2, err_has="copy.pt: is both input and output")
    case.run("coverage", "--tech=pt", *options, "--lcov=x", "-o", "x",
             copy).want(2, err_has="x: is the file of both --lcov and -o")
    assert copy.read_bytes() == trace.read_bytes()
    case.run("coverage", "--tech=pt", *options, "--lcov=no/x", copy).want(
        1, err_has="no/x")


def test_a_full_disk_is_a_failure(case: Case) -> None:
    trace, options = case.trace(BRANCHES)
    args = " ".join(str(word) for word in (*options, trace))
    run = case.shell(f'"$T" coverage {args} >/dev/full')
    assert run.code == 1 and "No space left" in run.err


def test_tables_without_a_place_for_it_warn_of_loss(case: Case) -> None:
    trace, options = case.trace(OVERFLOW)
    what = f"warning: {trace}: 0 of 42 bytes (0.00%) in 1 gap gave nothing"
    for how in ("csv", "lcov"):
        case.run("coverage", f"--format={how}", *options, trace).want(
            0, err_has=what)
    case.run("coverage", "--no-header", *options, trace).want(
        0, err="", out_has="not seen: 1 gap of ")
