"""Traces: what they say of themselves, and what is wrong to ask."""

from __future__ import annotations

import array
import gc
import threading
from pathlib import Path
from typing import Any

import hwt
import pytest
from hwt.config import Buffer, Clock, Image, PtConfig, Search, SpeConfig

# Of bindings/python/example: what ptcapture printed when the example was made,
# and where nm and readelf say that the program has its parts.
PT_BYTES = 22746
PROCESS = 1001
TEXT_START = 0x400144


def test_the_example_says_how_it_was_made(trace_pt: Any, pt: Path) -> None:
    info = trace_pt.info
    assert info.format == "hwt"
    assert "orders 1500" in info.origin
    assert (info.n_streams, info.n_bytes, info.n_records) == (1, PT_BYTES, 3)
    assert (info.n_images, info.n_sections, info.n_damages) == (1, 1, 0)
    assert info.files == (str(pt),)
    with pytest.raises(AttributeError):
        info.n_bytes = 1


def test_streams_tell_how_they_were_recorded(trace_pt: Any) -> None:
    (stream,) = trace_pt.streams
    assert (stream.id, stream.tech, stream.n_bytes) == (
        0,
        "intel-pt",
        PT_BYTES,
    )
    assert (stream.cpu, stream.pid, stream.tid) == (None, PROCESS, PROCESS)
    # PT_* of tests/tools/ptcapture/pt_model.h.
    assert stream.pt == PtConfig(
        cpu_family=6,
        cpu_model=0x55,
        cpu_stepping=4,
        mtc_freq=3,
        nom_freq=30,
        cpuid_15h_eax=2,
        cpuid_15h_ebx=250,
    )
    assert stream.clock_derived
    # 30 times 100 MHz.
    assert stream.clock.ns(3_000_000_000) == 1_000_000_000
    (extent,) = stream.extents
    assert (extent.start, extent.end, extent.why) == (0, PT_BYTES, "new")
    assert (stream.framing, stream.sink, stream.frames) == ("none", None, None)
    assert stream.coresight is None and stream.spe is None


def test_streams_of_spe_tell_cpu_and_clock(trace_spe: Any) -> None:
    assert [s.cpu for s in trace_spe.streams] == [0, 1]
    assert trace_spe.cpus == (0, 1)
    for stream in trace_spe.streams:
        assert stream.tech == "spe"
        # 1500 records of 64 bytes.
        assert stream.n_bytes == 1500 * 64
        assert stream.spe.cpu == "neoverse-n1"
        assert (stream.spe.owner, stream.spe.interval) == ("process", 1024)
        assert stream.clock == Clock(counts_per=1, ns_per=40)
        assert not stream.clock_derived


def test_threads_and_processes_have_names(trace_pt: Any) -> None:
    (thread,) = trace_pt.threads
    assert (thread.pid, thread.tid, thread.name) == (
        PROCESS,
        PROCESS,
        "orders",
    )
    (process,) = trace_pt.processes
    assert (process.pid, process.name, process.n_execs) == (
        PROCESS,
        "orders",
        1,
    )
    assert process.parent is None and process.vmid is None
    assert trace_pt.cpus == ()


def test_records_have_none_where_nothing_is_known(trace_pt: Any) -> None:
    types = [trace_pt.record(i).type for i in range(3)]
    assert types == ["exec", "thread-name", "mmap"]
    mmap = trace_pt.record(2)
    assert (mmap.addr, mmap.len, mmap.file_off) == (0x400000, 0x1000, 0)
    assert (mmap.pid, mmap.image, mmap.name) == (PROCESS, 0, "orders")
    assert mmap.time_ns is None and mmap.stream is None and mmap.cpu is None
    with pytest.raises(hwt.NotFoundError):
        trace_pt.record(3)


def test_images_sections_and_maps_agree(trace_pt: Any) -> None:
    (image,) = trace_pt.images
    assert (image.path, image.state, image.found) == ("orders", "found", True)
    (section,) = trace_pt.sections
    assert (section.address, section.length) == (0x400000, 0x1000)
    (mapping,) = trace_pt.maps()
    assert (mapping.pid, mapping.address, mapping.end) == (
        PROCESS,
        0x400000,
        0x401000,
    )
    assert (mapping.image, mapping.section) == (image.id, section.id)
    assert trace_pt.maps(pid=PROCESS) == (mapping,)
    assert trace_pt.maps(pid=[PROCESS, PROCESS]) == (mapping, mapping)
    assert trace_pt.maps(at="start") == ()
    assert trace_pt.lookup(0x400FFF) == mapping
    assert trace_pt.lookup(0x401000) is None
    assert trace_pt.lookup(0x400000, pid=PROCESS, at="start") is None


def test_maps_follow_time() -> None:
    with hwt.Builder() as builder:
        first = builder.add_image("first", data=b"\x90" * 16)
        second = builder.add_image("second", data=b"\x90" * 16)
        where = {"pid": 7, "tid": 7}
        builder.mmap(0x1000, 16, image=first, file_off=0, time_ns=10, **where)
        builder.mmap(0x1000, 8, image=second, file_off=0, time_ns=20, **where)
        builder.munmap(0x1000, 16, time_ns=30, **where)
        trace = builder.seal()

    def paths(at: Any) -> list[tuple[int, int, str]]:
        return [(m.address, m.length, m.path) for m in trace.maps(7, at)]

    assert paths("start") == []
    assert paths(9) == []
    assert paths(10) == [(0x1000, 16, "first")]
    assert paths(25) == [(0x1000, 8, "second"), (0x1008, 8, "first")]
    assert paths("end") == paths(None) == paths(30) == []
    assert trace.lookup(0x1004, pid=7, at=25).path == "second"
    with pytest.raises(hwt.NotFoundError):
        trace.maps(7, (5, 0))
    for bad in ("middle", (1, 2, 3)):
        with pytest.raises(ValueError):
            trace.maps(7, bad)
    for bad in (-1, 1 << 64):
        with pytest.raises(ValueError):
            trace.maps(7, bad)
    with pytest.raises(TypeError):
        trace.maps(7, 1.5)


def test_processes_of_virtual_machines_have_maps_of_their_own() -> None:
    with hwt.Builder() as builder:
        host = builder.add_image("host", data=b"\x90" * 16)
        guest = builder.add_image("guest", data=b"\x90" * 16)
        builder.mmap(0x1000, 16, image=host, file_off=0, pid=7)
        builder.mmap(0x1000, 16, image=guest, file_off=0, pid=7, vmid=5)
        trace = builder.seal()
    assert [(p.pid, p.vmid) for p in trace.processes] in (
        [(7, None), (7, 5)],
        [(7, 5), (7, None)],
    )
    assert [m.path for m in trace.maps(7)] == ["host"]
    assert [m.path for m in trace.maps(7, vmid=5)] == ["guest"]
    assert sorted((m.path, m.vmid or 0) for m in trace.maps()) == [
        ("guest", 5),
        ("host", 0),
    ]
    assert [m.path for m in trace.maps(vmid=5)] == ["guest"]
    assert trace.maps(vmid=6) == ()


def test_bytes_of_a_stream_are_those_that_were_put_in() -> None:
    data = bytes(range(256)) * 3
    with hwt.Builder() as builder:
        builder.add_stream("intel-pt", data)
        trace = builder.seal()
    assert trace.read_bytes(0) == data
    assert trace.read_bytes(0, 700) == data[700:]
    assert trace.read_bytes(0, 255, 2) == b"\xff\0"
    assert trace.read_bytes(0, 767, 1 << 40) == b"\xff"
    assert trace.read_bytes(0, 768) == b""
    assert trace.read_bytes(0, 1 << 63, 1) == b""
    assert trace.read_bytes(0, 0, 0) == b""
    with pytest.raises(hwt.NotFoundError):
        trace.read_bytes(1)
    for bad in (-1, 1 << 64):
        with pytest.raises(ValueError):
            trace.read_bytes(0, bad)
        with pytest.raises(ValueError):
            trace.read_bytes(0, 0, bad)


def test_bytes_of_a_saved_trace_are_read_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bytes(i * i & 0xFF for i in range(10_000))
    with hwt.Builder() as builder:
        builder.add_stream("intel-pt", data)
        builder.seal().save(tmp_path / "x.hwt", chunk_bytes=4096)
    monkeypatch.setattr("hwt.trace._READ", 999)
    with hwt.open(tmp_path / "x.hwt") as trace:
        assert trace.read_bytes(0) == data
        assert trace.read_bytes(0, 1, 9_998) == data[1:-1]


def test_code_is_read_by_section(trace_pt: Any) -> None:
    # objdump -d of the program: xor %ebp,%ebp; mov %rsp,%rdi.
    code = bytes.fromhex("31ed4889e7")
    assert trace_pt.read_code(0, TEXT_START, 5) == code
    assert len(trace_pt.read_code(0, 0x400FF0, 1 << 40)) <= 16
    assert trace_pt.read_code(0, 0x400000, 4) == b"\x7fELF"
    with pytest.raises(hwt.NotFoundError):
        trace_pt.read_code(1, TEXT_START, 1)
    with pytest.raises(hwt.NotFoundError):
        trace_pt.read_code(0, 0x900000, 1)


def test_contexts_say_who_executes(trace_pt: Any) -> None:
    with pytest.raises(hwt.NotFoundError):
        trace_pt.exec_context(0)
    # Ids are given while rows are decoded.
    row = next(iter(trace_pt.events(kinds="block")))
    found = trace_pt.exec_context(row.context)
    assert (found.id, found.pid, found.tid) == (0, PROCESS, PROCESS)
    assert found.cpu is None and found.contextidr is None
    with pytest.raises(hwt.NotFoundError):
        trace_pt.exec_context(0xFFFFFF00)
    with pytest.raises(ValueError):
        trace_pt.exec_context(1 << 32)


# Life.


def test_a_closed_trace_says_so(pt: Path) -> None:
    trace = hwt.open(pt)
    assert not trace.closed
    trace.info  # So that it is kept.
    trace.close()
    trace.close()
    assert trace.closed
    assert "closed" in repr(trace)
    for ask in (
        lambda: trace.info,
        lambda: trace.streams,
        lambda: trace.cpus,
        lambda: trace.threads,
        lambda: trace.processes,
        lambda: trace.images,
        lambda: trace.sections,
        lambda: trace.damage,
        lambda: trace.clock,
        lambda: trace.record(0),
        lambda: trace.exec_context(0),
        lambda: trace.read_bytes(0),
        lambda: trace.read_code(0, 0, 1),
        lambda: trace.maps(),
        lambda: trace.lookup(0),
        lambda: trace.symbolize(0),
        lambda: trace.gaps(),
        lambda: trace.save("x"),
        lambda: trace.__enter__(),
    ):
        with pytest.raises(hwt.ClosedError, match="trace is closed"):
            ask()


def test_values_outlive_the_trace(pt: Path) -> None:
    with hwt.open(pt) as trace:
        values = (trace.streams, trace.threads, trace.images, trace.maps())
        symbol = trace.symbolize(TEXT_START)
    del trace
    gc.collect()
    assert values[0][0].pt.cpu_model == 0x55
    assert values[1][0].name == "orders"
    assert values[3][0].path == "orders"
    assert symbol.name == "_start"


def test_many_traces_can_be_open(pt: Path) -> None:
    traces = [hwt.open(pt) for _ in range(50)]
    assert {t.info.n_bytes for t in traces} == {PT_BYTES}
    del traces
    gc.collect()


def test_threads_that_ask_while_one_closes_never_crash(pt: Path) -> None:
    for _ in range(10):
        trace = hwt.open(pt)
        begin = threading.Barrier(5)
        wrong = []

        def ask(t: Any = trace, b: Any = begin, w: Any = wrong) -> None:
            b.wait()
            try:
                for _ in range(50):
                    t.record(0)
                    t.maps()
                    t.symbolize([TEXT_START, 0x400531])
                    t.read_bytes(0, 0, 16)
                    t.gaps(jobs=1)
            except hwt.ClosedError:
                pass
            except BaseException as err:
                w.append(err)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        begin.wait()
        trace.close()
        for thread in threads:
            thread.join()
        assert not wrong


def test_repr_is_one_line_and_decodes_nothing(pt: Path) -> None:
    with hwt.open(pt) as trace:
        assert repr(trace) == (
            f"<hwt.Trace {str(pt)!r}: 1 stream of intel-pt, "
            "22,746 bytes, 3 records>"
        )


# Opening.


def test_what_cannot_be_opened_says_why(tmp_path: Path) -> None:
    with pytest.raises(hwt.TraceIOError) as found:
        hwt.open(tmp_path / "nothing")
    assert found.value.errno == 2
    assert "nothing" in str(found.value)
    (tmp_path / "text").write_text("what is this?\n" * 100)
    with pytest.raises(hwt.UnrecognizedError):
        hwt.open(tmp_path / "text")
    (tmp_path / "cut.hwt").write_bytes(b"HWTD")
    with pytest.raises(hwt.HwtError):
        hwt.open(tmp_path / "cut.hwt")


@pytest.mark.parametrize(
    ("options", "kind", "says"),
    [
        ({"tech": "alpha"}, ValueError, "tech: 'alpha' is not one of"),
        ({"tech": 1}, TypeError, "tech"),
        ({"cpu": -1}, ValueError, "cpu: -1"),
        ({"cpu": 1 << 32}, ValueError, "cpu"),
        ({"cpu": 0xFFFFFFFF}, ValueError, "stands for none"),
        ({"pid": "one"}, TypeError, "pid: an integer is wanted, not str"),
        ({"tid": 1 << 64}, ValueError, "tid"),
        ({"thread": 1.5}, TypeError, "thread"),
        ({"pt": SpeConfig()}, TypeError, "pt: PtConfig is wanted"),
        ({"spe": PtConfig()}, TypeError, "spe: SpeConfig is wanted"),
        ({"clock": 5}, TypeError, "clock: Clock is wanted"),
        ({"coresight": [1]}, TypeError, "coresight"),
        ({"images": ["x"]}, TypeError, "images: Image is wanted, not str"),
        ({"search": "x"}, TypeError, "search: Search is wanted, not str"),
        ({"buffers": [0]}, TypeError, "buffers"),
        ({"perf_records": ["x"]}, TypeError, "perf_records"),
        ({"framing": "other"}, ValueError, "framing"),
        ({"max_memory": -1}, ValueError, "max_memory"),
        ({"map_file": "a\0b"}, ValueError, "NUL"),
        ({"root": "a\0b"}, ValueError, "NUL"),
        ({"root": "a", "search": Search()}, ValueError, "exclude"),
        ({"nonsense": 1}, TypeError, "nonsense"),
    ],
)
def test_options_that_cannot_be_name_themselves(
    pt: Path, options: Any, kind: type, says: str
) -> None:
    with pytest.raises(kind, match=says):
        hwt.open(pt, **options)


@pytest.mark.parametrize("bad", [None, 5, b"", "a\0b", ["x"]])
def test_paths_that_are_none_raise(bad: Any) -> None:
    with pytest.raises((TypeError, ValueError, hwt.HwtError)):
        hwt.open(bad)


def test_raw_bytes_take_what_options_say(pt: Path, tmp_path: Path) -> None:
    with hwt.open(pt) as trace:
        raw = trace.read_bytes(0)
        code = trace.read_code(0, 0x400000, 0x1000)
        config = trace.streams[0].pt
    (tmp_path / "0.pt").write_bytes(raw)
    with hwt.open(
        tmp_path / "0.pt",
        tech="pt",
        cpu=3,
        pid=5,
        tid=6,
        pt=config,
        images=[Image("code", code, address=0x400000)],
    ) as trace:
        (stream,) = trace.streams
        assert (stream.cpu, stream.pid, stream.tid) == (3, 5, 6)
        assert stream.pt == config
        assert trace.cpus == (3,)
        assert [(t.pid, t.tid) for t in trace.threads] == [(5, 6)]
        assert trace.lookup(0x400000).everywhere
        assert len(trace.gaps()) == 0
    with hwt.open(tmp_path / "0.pt", tech="pt", pt=config) as trace:
        gaps = trace.gaps()
        assert {gap.reason for gap in gaps} == {"no-code"}
        # _start is the first that executed.
        assert gaps[0].address == TEXT_START
        assert "hwt.open" in gaps[0].advice
        assert gaps[0].explanation.startswith("No image holds the address.")


def test_a_map_file_says_what_lay_where(pt: Path, tmp_path: Path) -> None:
    with hwt.open(pt) as trace:
        (tmp_path / "0.pt").write_bytes(trace.read_bytes(0))
        (tmp_path / "root").mkdir()
        # All of its one page with code.
        (tmp_path / "root/prog").write_bytes(
            trace.read_code(0, 0x400000, 0x1000)
        )
    (tmp_path / "maps").write_text(
        "pid 77\nmmap /prog addr=0x400000 len=0x1000 off=0\n"
    )
    with hwt.open(
        tmp_path / "0.pt",
        tech="pt",
        map_file=tmp_path / "maps",
        root=tmp_path / "root",
    ) as trace:
        assert [p.pid for p in trace.processes] == [77]
        assert trace.images[0].found
        assert trace.gaps() == ()
    (tmp_path / "maps").write_text("what\n")
    with pytest.raises(hwt.CorruptTraceError):
        hwt.open(tmp_path / "0.pt", tech="pt", map_file=tmp_path / "maps")


def test_images_that_are_missing_say_why(tmp_path: Path) -> None:
    with hwt.Builder() as builder:
        builder.mmap(
            0x1000, 0x1000, name="/no/such/program", file_off=0, pid=1
        )
        trace = builder.seal()
    (image,) = trace.images
    assert (image.path, image.state) == ("/no/such/program", "missing")
    assert not image.found
    assert image.why


def test_memory_is_limited(spe: Path) -> None:
    with pytest.raises((hwt.LimitError, MemoryError)):
        hwt.open(spe, max_memory=1000)


def test_only_sideband_can_be_read(pt: Path) -> None:
    with hwt.open(pt, sideband_only=True) as trace:
        assert trace.info.n_records == 3


# Saving.


def test_a_saved_trace_is_the_same(pt: Path, tmp_path: Path) -> None:
    for options in (
        {},
        {"level": 19},
        {"compress": False},
        {"chunk_bytes": 4096},
    ):
        with hwt.open(pt) as trace:
            trace.save(tmp_path / "copy.hwt", **options)
            with hwt.open(tmp_path / "copy.hwt") as copy:
                assert copy.read_bytes(0) == trace.read_bytes(0)
                assert copy.maps() == trace.maps()
                assert copy.symbolize(0x400531) == trace.symbolize(0x400531)
                assert copy.streams == trace.streams


def test_code_of_files_is_saved_if_it_is_wanted(
    pt: Path, tmp_path: Path
) -> None:
    program = tmp_path / "program"
    with hwt.open(pt) as trace:
        program.write_bytes(trace.read_code(0, 0x400000, 0x1000))
        raw = trace.read_bytes(0)
    with hwt.Builder() as builder:
        builder.add_stream("intel-pt", raw, pid=1, tid=1)
        builder.mmap(0x400000, 0x1000, name=str(program), file_off=0, pid=1)
        trace = builder.seal()
    assert trace.images[0].found and trace.gaps() == ()
    trace.save(tmp_path / "with.hwt")
    trace.save(tmp_path / "without.hwt", images=False)
    program.unlink()
    with hwt.open(tmp_path / "with.hwt") as trace:
        assert trace.images[0].found and trace.gaps() == ()
    with hwt.open(tmp_path / "without.hwt") as trace:
        assert trace.images[0].state == "missing"
        assert {gap.reason for gap in trace.gaps()} == {"no-code"}


def test_what_cannot_be_saved_says_why(trace_pt: Any, tmp_path: Path) -> None:
    with pytest.raises(hwt.TraceIOError) as found:
        trace_pt.save(tmp_path / "no" / "folder.hwt")
    assert found.value.errno == 2
    assert str(tmp_path) in str(found.value)
    with pytest.raises(ValueError, match="level"):
        trace_pt.save(tmp_path / "x", level=-2)
    with pytest.raises(hwt.InvalidError):
        trace_pt.save(tmp_path / "x", level=1000)
    with pytest.raises(ValueError, match="NUL"):
        trace_pt.save("a\0b")
    assert list(tmp_path.iterdir()) == []


# Gaps.


def test_the_examples_decode_without_loss(
    trace_pt: Any, trace_spe: Any
) -> None:
    assert trace_pt.gaps() == ()
    assert trace_spe.gaps() == ()
    with hwt.open(hwt.example("pt_before")) as before:
        assert before.gaps() == ()


def cases(family: str) -> list[Path]:
    folder = Path(__file__).parents[3] / "fixtures" / family
    return sorted(p.parents[1] for p in folder.glob("*/expected/gaps.txt"))


@pytest.mark.parametrize(
    "case", cases("pt-bad") + cases("spe-bad"), ids=lambda path: path.name
)
def test_gaps_are_those_that_cases_expect_by_hand(case: Path) -> None:
    import json

    params = json.loads((case / "case.json").read_text()).get("params", {})
    # Notes on another decoder are not for this one.
    assert set(params) <= {"image", "libipt", "buffers"}
    buffers = [Buffer(off) for off in [0, *params.get("buffers", [])]]
    images = []
    if (case / "image.txt").exists():
        for line in (case / "image.txt").read_text().splitlines():
            name, offset, length, address = line.split()
            images.append(
                Image(
                    case / name,
                    address=int(address, 16),
                    offset=int(offset, 16),
                    length=int(length, 16),
                )
            )
    (raw,) = case.glob("trace.*")
    wanted = []
    for line in (case / "expected/gaps.txt").read_text().splitlines():
        reason, first, end = line.split()
        wanted.append((reason, int(first, 16), int(end, 16)))
    with hwt.open(
        raw, tech=raw.suffix[1:], images=images, buffers=buffers
    ) as trace:
        found = [(g.reason, g.first, g.end) for g in trace.gaps()]
    assert len(found) == len(wanted)
    for gap, (reason, first, end) in zip(found, wanted):
        if reason == "overflow":
            # No byte is missing where hardware lost data: it is a place.
            assert gap[0] == reason
            assert first <= gap[1] <= gap[2] <= end
        else:
            assert gap == (reason, first, end)


def test_gaps_take_filters_and_progress(trace_pt: Any) -> None:
    steps = []
    assert trace_pt.gaps(progress=lambda *at: steps.append(at), jobs=1) == ()
    assert trace_pt.gaps(stream=0, time=(0, 1)) == ()
    with pytest.raises(TypeError, match="kinds"):
        trace_pt.gaps(kinds="block")
    with pytest.raises((TypeError, ValueError)):
        trace_pt.gaps(nonsense=1)


def test_bytes_that_are_no_packets_are_a_gap() -> None:
    with hwt.Builder() as builder:
        # Between two PSB+ two bytes that no packet begins with.
        psb = bytes.fromhex("0282" * 8 + "0223")
        stream = builder.add_stream(
            "intel-pt", psb + b"\x02\xff\x02\xff" + psb
        )
        builder.add_bytes(stream, b"")
        trace = builder.seal()
    gaps = trace.gaps()
    assert [gap.reason for gap in gaps] == ["bad-packet"]
    assert gaps[0].stream == 0
    # It begins behind the first PSB+ and ends at the second at the latest.
    assert 18 <= gaps[0].first < gaps[0].end <= 22
    assert gaps[0].n_bytes == gaps[0].end - gaps[0].first
    assert gaps[0].meaning and gaps[0].advice


def test_damage_of_a_file_is_told(pt: Path, tmp_path: Path) -> None:
    data = bytearray(pt.read_bytes())
    data[2000:2016] = bytes(16)
    (tmp_path / "bad.hwt").write_bytes(data)
    with hwt.open(tmp_path / "bad.hwt") as trace:
        damage, *_ = trace.damage
        assert damage.file_bytes > 0
        assert damage.file_off <= 2000 < damage.file_off + damage.file_bytes
        assert damage.text
        assert trace.info.n_damages == len(trace.damage)


def test_every_reason_has_an_explanation() -> None:
    from hwt._native import lib, text
    from hwt.gaps import EXPLANATIONS

    names = [
        text(lib.hwtd_gap_reason_name(i)) for i in range(lib.HWTD_GAP_REASONS)
    ]
    assert sorted(names) == sorted(EXPLANATIONS)


# Listings.


def test_listings_show_themselves_and_are_bounded(trace_pt: Any) -> None:
    shown = repr(trace_pt.threads).splitlines()
    assert shown[0].split() == ["tid", "pid", "name"]
    assert shown[1].split() == ["1001", "1001", "orders"]
    with hwt.Builder() as builder:
        for i in range(100):
            builder.thread_name("a\nb\x1b" * 40, pid=1, tid=i)
        trace = builder.seal()
    shown = repr(trace.threads).splitlines()
    assert len(shown) == 22
    assert shown[-1] == "... 80 more"
    assert all(len(line) < 120 and line.isprintable() for line in shown)
    assert repr(trace.damage) == "()"


def test_names_need_not_be_utf_8(tmp_path: Path) -> None:
    with hwt.Builder() as builder:
        # What os.fsdecode makes of bytes that are no UTF-8.
        builder.thread_name("caf\udce9", pid=1, tid=1)
        trace = builder.seal()
    assert trace.threads[0].name == "caf\\xe9"


def test_threads_of_many_records_are_found() -> None:
    with hwt.Builder() as builder:
        # More owners than are remembered at a time, in turns.
        for _ in range(2):
            for tid in range(5000):
                builder.switch(cpu=tid % 3, pid=tid // 10, tid=tid)
        builder.thread_name("last", pid=1, tid=10)
        trace = builder.seal()
    assert len(trace.threads) == 5000
    assert trace.cpus == (0, 1, 2)
    assert [t.name for t in trace.threads if t.name] == ["last"]
    assert [t.tid for t in trace.threads] == list(range(5000))


def test_array_types_of_ids_are_taken(trace_pt: Any) -> None:
    assert trace_pt.maps(pid=array.array("I", [PROCESS]))[0].pid == PROCESS


def test_examples_are_named() -> None:
    for name in ("pt", "pt_before", "spe"):
        assert hwt.example(name).stat().st_size < 200_000
    assert hwt.example() == hwt.example("pt")
    for bad in ("", "../pt", "PT", "orders"):
        with pytest.raises(ValueError, match="there are pt, pt_before, spe"):
            hwt.example(bad)


def test_listings_are_tables_when_they_are_wanted() -> None:
    pytest.importorskip("hwt._table")
    pytest.importorskip("numpy")
    with hwt.Builder() as builder:
        builder.thread_name("<b>one</b>", pid=1, tid=11)
        builder.thread_create(tid=12, pid=1)
        builder.add_stream("intel-pt", tid=13)
        trace = builder.seal()
    table = trace.threads.to_table()
    assert len(table) == 3
    assert table.column("tid").to_list() == [13, 11, 12]
    assert table.column("pid").to_list() == [None, 1, 1]
    assert table.column("name").to_list() == ["", "<b>one</b>", ""]
    html = trace.threads._repr_html_()
    assert "&lt;b&gt;one&lt;/b&gt;" in html and "<b>one" not in html
    assert "intel-pt" in trace._repr_html_()
    assert len(trace.damage.to_table()) == 0


def test_what_is_closed_gives_its_memory_back(pt: Path) -> None:
    from hwt._native import context, ffi, lib

    def held() -> int:
        gc.collect()
        now = ffi.new("uint64_t *")
        lib.hwtd_context_memory(context().c, now, ffi.NULL)
        return int(now[0])

    before = held()
    for _ in range(5):
        with hwt.open(pt) as trace:
            trace.symbolize([TEXT_START])
            trace.maps()
            trace.gaps()
            assert held() > before
        del trace
        builder = hwt.Builder()
        builder.add_stream("spe", bytes(100_000))
        builder.close()
        with pytest.raises(hwt.NotFoundError):
            hwt.Builder().add_bytes(0, b"x")
    assert held() == before
