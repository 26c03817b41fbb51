"""hwtdecode check: every byte is accounted for, with advice."""

import base64
import time
import zlib

from runner import BRANCHES, MISSING, OVERFLOW, PSB, PSBEND, Case


def test_nothing_lost_is_exit_0(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    case.run("check", *code, trace).want(
        0,
        out_has=(
            "stream 0  intel-pt",
            "100.0000%",
            "every byte was decoded\n",
        ),
    )


def test_bytes_add_up_in_all_fixtures(case: Case) -> None:
    for family in ("pt-good", "pt-bad"):
        for folder in sorted((case.fixtures / family).iterdir()):
            trace = folder / "trace.pt"
            if trace.stat().st_size == 0:
                continue
            run = case.run(
                "check",
                "--tech=pt",
                "--gaps",
                "--format=jsonl",
                "--images",
                folder / "image.txt",
                trace,
            )
            assert run.code in (0, 3), (folder.name, run.err)
            lines = run.objects()
            streams = [line for line in lines if line["type"] == "stream"]
            total = lines[-1]
            gaps = [line for line in lines if line["type"] == "gap"]
            assert total["type"] == "total"
            assert total["complete"] == (run.code == 0)
            assert (
                total["bytes"]
                == trace.stat().st_size
                == sum(s["bytes"] for s in streams)
            )
            assert (
                total["decoded_bytes"] + total["gap_bytes"] == total["bytes"]
            )
            assert (
                sum(gap["end"] - gap["first"] for gap in gaps)
                == total["gap_bytes"]
            ), folder.name
            assert sum(
                reason["count"] for reason in total["gaps"].values()
            ) == len(gaps)
            assert (
                sum(reason["bytes"] for reason in total["gaps"].values())
                == total["gap_bytes"]
            )


def test_every_reason_gets_advice(case: Case) -> None:
    for folder in sorted((case.fixtures / "pt-bad").iterdir()):
        run = case.run(
            "check",
            "--tech=pt",
            "--format=jsonl",
            "--images",
            folder / "image.txt",
            folder / "trace.pt",
        )
        lines = run.objects()
        advised = {
            line["reason"] for line in lines if line["type"] == "advice"
        }
        assert advised == set(lines[-1]["gaps"]), folder.name


def test_missing_code_names_page_and_fix(case: Case) -> None:
    trace, _ = case.trace(BRANCHES)
    case.run("check", trace).want(
        3,
        out_has=(
            "missing code\n",
            "  0x0000000000100000-0x0000000000101000       1 gap ",
            "--image FILE@0x100000\n",
            "what to do\n  no-code: ",
        ),
    )
    lines = case.run("check", "--format=jsonl", trace).want(3).objects()
    pages = [line for line in lines if line["type"] == "missing_code"]
    assert [page["page"] for page in pages] == ["0x100000"]


def stop_in_each(pages: list[int]) -> bytes:
    """A trace that runs into missing code once in each page."""
    return b"".join(
        PSB
        + b"\x7d"
        + (page + 0x123).to_bytes(6, "little")
        + b"\x99\x01"
        + PSBEND
        + b"\x06"
        for page in pages
    )


def test_missing_code_is_told_by_page_and_by_place(case: Case) -> None:
    base = 0x7F0000000000
    pages = [base + n * 0x1000 for n in range(200)]
    trace = case.write("pages.pt", stop_in_each([*pages, base + 0x500000]))
    run = case.run("check", "--format=jsonl", trace).want(3)
    missing = [
        line for line in run.objects() if line["type"] == "missing_code"
    ]
    assert [line["page"] for line in missing] == [
        f"{page:#x}" for page in [*pages, base + 0x500000]
    ]
    assert all(int(line["lowest"], 16) % 0x1000 == 0x123 for line in missing)
    text = case.run("check", trace).want(3).out
    places = [line for line in text.splitlines() if "--image FILE@" in line]
    assert len(places) == 3, text
    assert places[0].split()[:2] == [
        "0x00007f0000000000-0x00007f00000c8000",
        "200",
    ]


def test_many_places_of_missing_code_are_cut(case: Case) -> None:
    pages = [0x400000 + n * 0x2000 for n in range(100)]
    trace = case.write("pages.pt", stop_in_each(pages))
    case.run("check", trace).want(
        3, out_has="and in 80 more places; --format jsonl lists them\n"
    )


def test_overflow_is_a_loss_although_no_byte_is(case: Case) -> None:
    trace, code = case.trace(OVERFLOW)
    case.run("check", *code, trace).want(
        3,
        out_has=(
            "0.0000%",
            "overflow",
            "1 gap, 0.0000% of the bytes gave nothing\n",
        ),
    )
    case.run("check", *code, "--max-loss=0.001", trace).want(0)


def test_max_loss_is_a_limit_in_percent(case: Case) -> None:
    trace, _ = case.trace(MISSING)
    total = case.run("check", "--format=jsonl", trace).want(3).objects()[-1]
    percent = total["loss_percent"]
    assert 1 < percent < 99
    case.run("check", f"--max-loss={percent + 0.01}", trace).want(0)
    case.run("check", f"--max-loss={percent - 0.01}", trace).want(3)


def test_gaps_are_listed_on_request(case: Case) -> None:
    trace, code = case.trace(OVERFLOW)
    assert not case.run("check", *code, trace).want(3).out.startswith("gaps\n")
    for word in ("--gaps", "-v"):
        case.run("check", *code, word, trace).want(
            3, out_has=("gaps\n  stream 0  0x", "overflow")
        )


def test_csv_is_stream_key_value(case: Case) -> None:
    trace, code = case.trace(OVERFLOW)
    rows = (
        case.run("check", *code, "--gaps", "--format=csv", trace)
        .want(3)
        .table()
    )
    values = {(row["stream"], row["key"]): row["value"] for row in rows}
    assert (
        values["0", "bytes"]
        == values["total", "bytes"]
        == str(trace.stat().st_size)
    )
    assert values["0", "gaps.overflow.count"] == "1"
    assert values["total", "complete"] == "0"
    assert values["0", "gap"].startswith("overflow 0x")


def test_strict(case: Case) -> None:
    trace, code = case.trace(OVERFLOW)
    case.run("check", *code, "--strict", trace).want(
        1, out="", err_has="hint: without --strict"
    )


def test_cpu_filter_selects_streams(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    words = ["check", *code, "--stream-cpu=1", "--format=jsonl", trace]
    assert (
        case.run(*words, "--cpu=1").want(0).objects()[-1]["bytes"]
        == trace.stat().st_size
    )
    run = case.run(*words, "--cpu=2").want(0, err_has="no stream is of these")
    assert run.objects()[-1]["bytes"] == 0


def test_decoding_twice_gives_the_same(case: Case) -> None:
    trace, code = case.long_trace(3000)
    first = case.run("check", *code, "--jobs=1", trace).want(0)
    assert first.out == case.run("check", *code, "--jobs=2", trace).out


def test_damage_of_no_stream_is_a_gap(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    case.run("import", *code, trace, "-o", "good.hwt").want(0)
    good = (case.folder / "good.hwt").read_bytes()
    case.write("longer.hwt", good + b"x" * 100)
    rows = case.run("events", "--kind=gap", "--format=jsonl", "longer.hwt")
    assert len(rows.want(0).objects()) == 1
    case.run("check", "longer.hwt").want(
        3, err="", out_has="\n1 gap, 0.0000% of the bytes gave nothing\n"
    )
    run = case.run("check", "--format=jsonl", "longer.hwt").want(3)
    total = run.objects()[-1]
    assert total["gaps"] == {"file-damaged": {"count": 1, "bytes": 0}}
    assert total["file_gap_bytes"] == 100
    case.run("check", "--stream=0", "longer.hwt").want(
        3,
        err_has="longer.hwt: the file is damaged\n",
        out_has="\nevery byte of these streams was decoded, but the file is "
        "damaged\n",
    )


def test_damage_of_the_file_before_is_told_by_a_copy(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    case.run("import", *code, trace, "-o", "good.hwt").want(0)
    good = (case.folder / "good.hwt").read_bytes()
    case.write("longer.hwt", good + b"x" * 100)
    case.run("import", "longer.hwt", "-o", "copy.hwt").want(0)
    case.run("import", "copy.hwt", "-o", "again.hwt").want(0)
    text = "bytes after the end chunk are not read"
    place = f"{len(good):#x}-{len(good) + 100:#x}"
    told = {
        "file_first": len(good),
        "file_end": len(good) + 100,
        "earlier_file": True,
        "text": text,
    }
    for name in ("copy.hwt", "again.hwt"):
        run = case.run("info", "--format=jsonl", name).want(0)
        rows = [row for row in run.objects() if row["type"] == "damage"]
        assert len(rows) == 1 and rows[0].items() >= told.items(), rows
        run = case.run("events", "--kind=gap", "--format=jsonl", name)
        rows = run.want(0).objects()
        assert len(rows) == 1 and rows[0].items() >= told.items(), rows
        case.run("info", name).want(
            0, out_has=f"bytes of an earlier file {place}  {text}\n"
        )
        case.run("events", "--kind=gap", name).want(
            0, out_has=f"bytes of an earlier file {place}: {text}\n"
        )
        case.run("check", name).want(
            3, err="", out_has=f"bytes of an earlier file {place}  {text}\n"
        )


# A .hwt file of 16 chunks of one byte, each of a stream that nothing else
# tells of: 4095, 8191, ... 65535.  Packed with zlib and base 85.
MANY_STREAMS = (
    "c-rgs2oK@qlHy`yKn2_1?%uYd{oLg4jPhiV+<zcozylPZ^r0!2Em#}abY+evZ&+5_{S&00"
    "8Kj?|fdOO=%pP?65}>r;*-Z^8IUinm-wPLs{&&8w0&ajjssT)B1}sD~V3T97_QI%`SqKC4"
    "Q4L^5GvE=L0l7DvYAe}(2_p=!M>T*2%>ZRaR0AT|&5bOtA5lXX;E!qmE1Cf*Xa>yMw12Iq"
    "R!$SbfOu2`*w74Eie`XA-UgRVk=+*%2IQj}z>a3XGc*JK^XvVQyL^2q!hm{I131tOP-j9l"
    ";Ff@_H(S@=CkO-jQ4QckGav)a01oBPISH55@(>2hM>T*8&486?1~4qs$m}b~cz`fqJ*olR"
    "Xa>AOGvNDMsf!i*QR@%}>_;_#2h9L&W>f>*SvyRYycSuAFyK6@0la7i<e(X_?oP?#8*|UZ"
    "A`G~XY5*Ua0c+6=P%klSefh^}CBlIBs0Q$(8SoCx0L?eYX1tx>*N8CSKdJ!&Xa?xBpc)_@"
    "e#+;8P1uSG08V%2C;"
)


def test_many_streams_take_no_time(case: Case) -> None:
    case.write("many.hwt", zlib.decompress(base64.b85decode(MANY_STREAMS)))
    started = time.monotonic()
    run = case.run("check", "--format=csv", "many.hwt").want(3)
    assert time.monotonic() - started < 20
    values = {(row["stream"], row["key"]): row["value"] for row in run.table()}
    for stream in range(0, 65536, 455):
        bytes_there = "1" if stream % 4096 == 4095 else "0"
        assert values[str(stream), "bytes"] == bytes_there, stream
        assert values[str(stream), "gap_bytes"] == bytes_there, stream
    assert values["total", "bytes"] == "16"
    assert values["total", "gaps.unsupported.count"] == "16"
