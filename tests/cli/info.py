"""hwtdecode info: what it shows, in each format, without decoding."""

from runner import BRANCHES, Case


def test_text_shows_streams_and_sections(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    size = trace.stat().st_size
    case.run("info", *code, trace).want(
        0,
        out_has=(
            f"file       {trace}\n",
            "format     raw\n",
            "streams    1\n",
            f"bytes      {size}\n",
            "damage     none known\n",
            "stream 0  intel-pt",
            "clock      none",
            f"extent     0x0-{size:#x}  new\n",
            "0x0000000000100000-",
            "code.bin\n",
        ),
    )


def test_jsonl_has_the_documented_keys(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    words = [
        "--pt-cpu=6/94/3",
        "--pt-nom-freq=30",
        "--pt-mtc-freq=3",
        "--pt-cpuid-15h=2/250",
    ]
    words += ["--pt-filter=0x100000-0x1fffff", "--clock=3/1@10=20"]
    words += ["--stream-cpu=2", "--stream-pid=30", "--stream-tid=31"]
    lines = (
        case.run("info", *words, *code, "--format=jsonl", trace)
        .want(0)
        .objects()
    )
    assert [line["type"] for line in lines] == [
        "trace",
        "stream",
        "section",
        "image",
    ]
    size = trace.stat().st_size
    assert lines[0] == {
        "schema": 1,
        "type": "trace",
        "file": str(trace),
        "format": "raw",
        "streams": 1,
        "bytes": size,
        "images": 1,
        "sections": 1,
        "records": 0,
        "damages": 0,
        **({"origin": lines[0]["origin"]} if "origin" in lines[0] else {}),
    }
    stream = dict(lines[1])
    stream.pop("name", None)
    assert stream == {
        "schema": 1,
        "type": "stream",
        "stream": 0,
        "tech": "intel-pt",
        "cpu": 2,
        "pid": 30,
        "tid": 31,
        "bytes": size,
        "clock_counts": 3,
        "clock_ns": 1,
        "clock_base_count": 10,
        "clock_base_ns": 20,
        "clock_derived": False,
        "cpu_family": 6,
        "cpu_model": 94,
        "cpu_stepping": 3,
        "mtc_freq": 3,
        "nom_freq": 30,
        "cpuid_15h_eax": 2,
        "cpuid_15h_ebx": 250,
        "filters": [
            {"mode": "trace", "start": "0x100000", "last": "0x1fffff"}
        ],
        "extents": [{"start": 0, "end": size, "why": "new"}],
    }
    assert lines[2]["address"] == "0x100000"
    assert lines[2]["path"].endswith("code.bin")
    assert set(lines[2]) == {
        "schema",
        "type",
        "section",
        "image",
        "generation",
        "address",
        "length",
        "file_offset",
        "path",
    }


def test_unknown_is_an_absent_key(case: Case) -> None:
    trace, _ = case.trace(BRANCHES)
    stream = case.run("info", "--format=jsonl", trace).want(0).objects()[1]
    assert not {"cpu", "pid", "tid", "clock_counts", "cpu_family"} & set(
        stream
    )


def test_csv_has_a_row_per_stream(case: Case) -> None:
    trace, _ = case.trace(BRANCHES)
    rows = (
        case.run("info", "--stream-cpu=2", "--format=csv", trace)
        .want(0)
        .table()
    )
    assert len(rows) == 1
    assert (
        rows[0]["stream"],
        rows[0]["tech"],
        rows[0]["cpu"],
        rows[0]["pid"],
    ) == ("0", "intel-pt", "2", "")
    assert rows[0]["bytes"] == str(trace.stat().st_size)


def test_missing_code_does_not_matter(case: Case) -> None:
    trace, _ = case.trace(BRANCHES)
    case.run("info", "--max-loss=0", trace).want(0)


def test_time_span_decodes(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    case.run("info", "--time-span", *code, trace).want(
        0, out_has="time       not known: "
    )
    case.run("info", "--time-span", "--max-loss=0", trace).want(
        3, err_has="--max-loss is 0%"
    )


def test_pt_stop_filter_is_shown(case: Case) -> None:
    trace, _ = case.trace(BRANCHES)
    case.run("info", "--pt-stop=0x10-0x20", trace).want(
        0, out_has="filter     stop 0x10-0x20\n"
    )
