"""Traces that are built in memory."""

from __future__ import annotations

import gc
import threading
from pathlib import Path
from typing import Any

import hwt
import pytest
from hwt.config import Clock, CoresightConfig, Image, PtConfig, SpeConfig
from hwt.facts import RECORD_TYPES, Record

# Intel SDM vol. 3C, "Trace Packets": PSB, MODE.Exec of 64-bit code, PSBEND.
PSB = bytes.fromhex("0282" * 8)
MODE_64 = bytes.fromhex("9901")
PSBEND = bytes.fromhex("0223")


def fup(ip: int) -> bytes:
    """FUP with all 8 bytes of the address (IPBytes 6)."""
    return b"\xdd" + ip.to_bytes(8, "little")


def tip(ip: int) -> bytes:
    """TIP likewise."""
    return b"\xcd" + ip.to_bytes(8, "little")


def pge(ip: int) -> bytes:
    """TIP.PGE likewise."""
    return b"\xd1" + ip.to_bytes(8, "little")


PGD = b"\x01"
TNT_TAKEN = b"\x06"
TNT_NOT = b"\x04"

# 0x1000 nop; 0x1001 je 0x1004; 0x1003 nop; 0x1004 jmp rax.
CODE = bytes.fromhex("90 7401 90 ffe0")


def blocks(trace: Any) -> list[tuple[int, int]]:
    return [
        (row.ip, row.insns)
        for row in trace.events(kinds="block", columns=["ip", "insns"])
    ]


def test_bytes_and_code_give_the_flow_that_was_written_by_hand() -> None:
    with hwt.Builder(origin="by hand") as builder:
        stream = builder.add_stream("intel-pt", cpu=2)
        builder.add_bytes(stream, PSB + MODE_64 + PSBEND + pge(0x1000))
        builder.add_bytes(stream, TNT_TAKEN + tip(0x1000) + TNT_NOT + PGD)
        builder.add_code(0x1000, CODE)
        trace = builder.seal()
    assert trace.gaps() == ()
    # Taken: nop, je; jmp.  Not taken: nop, je; nop, jmp.
    assert blocks(trace) == [
        (0x1000, 2),
        (0x1004, 1),
        (0x1000, 2),
        (0x1003, 2),
    ]
    assert trace.info.format == "memory"
    assert trace.info.origin == "by hand"
    assert trace.cpus == (2,)


def test_extents_do_not_join() -> None:
    with hwt.Builder() as builder:
        stream = builder.add_stream("intel-pt", PSB)
        builder.start_extent(stream, "after-loss")
        builder.add_bytes(stream, PSB + PSBEND)
        builder.start_extent(stream)
        builder.add_bytes(stream, b"\0")
        trace = builder.seal()
    assert [(e.start, e.end, e.why) for e in trace.streams[0].extents] == [
        (0, 16, "new"),
        (16, 34, "after-loss"),
        (34, 35, "new"),
    ]


def test_streams_of_all_technologies_keep_their_configuration() -> None:
    pt = PtConfig(cpu_family=6, cpu_model=0x8F, nom_freq=20)
    etm = CoresightConfig(
        "etmv4", arch="v8", trace_id=0x10, configr=0xC1, idr={0: 0x28000EA1}
    )
    spe = SpeConfig(cpu="neoverse-n1", owner="process", interval=4096)
    clock = Clock(counts_per=3, ns_per=1, base_count=9, base_ns=-5)
    with hwt.Builder() as builder:
        assert (
            builder.add_stream("intel-pt", b"\0", pt=pt, name="a\u00e9") == 0
        )
        assert builder.add_stream("coresight", coresight=etm, pid=5) == 1
        assert builder.add_stream("spe", spe=spe, clock=clock, tid=6) == 2
        trace = builder.seal()
    a, b, c = trace.streams
    assert (a.tech, a.pt, a.name) == ("intel-pt", pt, "a\u00e9")
    assert (b.tech, b.coresight, b.pid) == ("coresight", etm, 5)
    assert (c.tech, c.spe, c.clock, c.tid) == ("spe", spe, clock, 6)
    assert b.name == "stream 1"
    # 3 counts in 1 ns, from count 9 at -5 ns on.
    assert c.clock.ns(9 + 30) == 5
    assert c.clock.ns(9) == 0


def test_sinks_hand_their_bytes_to_their_sources() -> None:
    # CoreSight Architecture Specification, "Trace Formatter": an ID byte
    # (ID << 1 | 1), then data at odd places, and data at even places whose low
    # bit lies in byte 15.  ID 0x10, 14 bytes of data that are 0.
    frame = bytes([0x10 << 1 | 1]) + bytes(15)
    with hwt.Builder() as builder:
        sink = builder.add_stream("coresight", frame, framing="memory")
        source = builder.add_stream(
            "coresight",
            sink=sink,
            coresight=CoresightConfig("etmv4", trace_id=0x10),
        )
        with pytest.raises(hwt.HwtError):
            builder.add_bytes(source, b"x")
        trace = builder.seal()
    assert trace.streams[source].sink == sink
    assert trace.streams[source].n_bytes == 14
    frames = trace.streams[sink].frames
    assert frames.n_frames == 1
    assert frames.id_bytes == {0x10: 14}
    assert frames.overhead_bytes == 2
    assert trace.info.n_bytes == 16


def test_records_of_every_kind_are_read_back(tmp_path: Path) -> None:
    where = {"pid": 3, "tid": 4, "time_ns": 77}
    with hwt.Builder() as builder:
        stream = builder.add_stream("spe", bytes(100), cpu=1)
        image = builder.add_image("image", data=b"\x90" * 32)
        builder.exec("/bin/a", 0x1000, base=0x2000, **where)
        builder.mmap(0x1000, 32, image=image, file_off=0, **where)
        builder.mmap(
            0x9000, 16, name="lib", file_off=4, build_id=b"\1\2", **where
        )
        builder.munmap(0x1000, 32, **where)
        builder.protect(0x1000, 32, 5, **where)
        builder.kernel("kernel", 0xFFFF0000, value=9, kernel_space=True)
        builder.module_load("module", 0xFFFF8000)
        builder.module_unload(0xFFFF8000)
        builder.thread_create(tid=5, pid=3)
        builder.thread_name("worker", tid=5, pid=3)
        builder.thread_exit(tid=5, pid=3)
        builder.fork(pid=8, parent=3)
        builder.exit(pid=8)
        builder.switch(cpu=1, **where)
        builder.switch(cpu=1, pid=3, tid=4, out=True, to=11)
        builder.buffer(stream, 64, len=64, flags=2)
        builder.lost(12, stream=stream, stream_off=64)
        builder.code(0x7000, b"\xc3", name="jitted", pid=3, time_ns=80)
        builder.code(0x7100, image, len=8, pid=3)
        builder.clock(1000, 2000)
        builder.add_records([Record("unknown", name="what", value=99)])
        trace = builder.seal()
    records = [trace.record(i) for i in range(trace.info.n_records)]
    assert {r.type for r in records} == set(RECORD_TYPES)
    assert records[0] == Record(
        "exec", name="/bin/a", addr=0x1000, base=0x2000, **where
    )
    assert records[2].build_id == b"\1\2"
    assert records[5].kernel_space and not records[6].kernel_space
    assert (records[11].pid, records[11].value) == (8, 3)
    assert (records[14].switch_out, records[14].value) == (True, 11)
    assert not records[13].switch_out
    assert (records[15].stream_off, records[15].len) == (64, 64)
    assert records[17].jit and records[17].image == image + 1
    assert (records[17].len, records[17].file_off) == (1, 0)
    assert records[18].image == image
    assert records[20] == Record("unknown", name="what", value=99)
    # A saved trace has the same.
    trace.save(tmp_path / "all.hwt")
    with hwt.open(tmp_path / "all.hwt") as saved:
        assert [
            saved.record(i) for i in range(saved.info.n_records)
        ] == records


def test_code_made_at_run_time_is_there_from_its_record_on() -> None:
    with hwt.Builder() as builder:
        builder.code(0x7000, b"\x90\xc3", name="jitted", pid=3, time_ns=80)
        trace = builder.seal()
    assert trace.lookup(0x7000, pid=3, at=79) is None
    found = trace.lookup(0x7001, pid=3, at=80)
    assert found is not None and found.jit
    assert trace.read_code(found.section, 0x7000, 2) == b"\x90\xc3"
    assert trace.symbolize(0x7000, pid=3).name == "jitted"


def test_images_can_be_parts_of_files(tmp_path: Path) -> None:
    (tmp_path / "dump").write_bytes(bytes(range(100)))
    with hwt.Builder() as builder:
        builder.add_image(
            Image(tmp_path / "dump", address=0x5000, offset=10, length=20)
        )
        builder.add_image(tmp_path / "dump", address=0x8000)
        trace = builder.seal()
    assert trace.read_code(0, 0x5000, 99) == bytes(range(10, 30))
    assert trace.read_code(1, 0x8000, 200) == bytes(range(100))


def test_what_is_given_may_change_afterwards() -> None:
    data, code = bytearray(PSB + PSBEND), bytearray(CODE)
    with hwt.Builder() as builder:
        builder.add_stream("intel-pt", data, name="".join(["na", "me"]))
        builder.add_code(0x1000, code, name="".join(["co", "de"]))
        data[:] = bytes(len(data))
        code[:] = bytes(len(code))
        data.extend(b"more")
        gc.collect()
        trace = builder.seal()
    assert trace.read_bytes(0) == PSB + PSBEND
    assert trace.read_code(0, 0x1000, 6) == CODE
    assert (trace.streams[0].name, trace.images[0].path) == ("name", "code")


def test_shapes_of_bytes_are_taken() -> None:
    np = pytest.importorskip("numpy")
    with hwt.Builder() as builder:
        stream = builder.add_stream("intel-pt", memoryview(b"ab"))
        builder.add_bytes(stream, np.array([0x6463], np.uint16))
        builder.add_bytes(stream, b"")
        builder.add_bytes(stream, memoryview(b"e?f?")[:1])
        with pytest.raises(ValueError, match="do not adjoin"):
            builder.add_bytes(stream, memoryview(b"1234")[::2])
        trace = builder.seal()
    assert trace.read_bytes(0) == b"abcde"


def test_a_file_can_be_opened_and_added_to(pt: Path) -> None:
    with hwt.Builder.open(pt) as builder:
        stream = builder.add_stream("spe", bytes(64), cpu=4)
        trace = builder.seal()
    assert stream == 1
    assert [s.tech for s in trace.streams] == ["intel-pt", "spe"]
    assert trace.cpus == (4,)
    assert str(pt) in repr(trace)
    with pytest.raises(hwt.TraceIOError):
        hwt.Builder.open("/no/such/trace")
    with pytest.raises(TypeError):
        hwt.Builder.open(pt, nonsense=1)


# Misuse.


def test_a_sealed_builder_says_so() -> None:
    builder = hwt.Builder()
    assert not builder.closed
    trace = builder.seal()
    assert builder.closed and "sealed" in repr(builder)
    for call in (
        lambda: builder.add_stream("spe"),
        lambda: builder.add_bytes(0, b""),
        lambda: builder.start_extent(0),
        lambda: builder.add_code(0, b"x"),
        lambda: builder.exit(pid=1),
        builder.seal,
    ):
        with pytest.raises(hwt.StateError, match="sealed"):
            call()
    # Closing it does not close the trace.
    builder.close()
    assert trace.info.n_streams == 0
    trace.close()
    with pytest.raises(hwt.ClosedError):
        trace.info


def test_a_closed_builder_says_so() -> None:
    with hwt.Builder() as builder:
        pass
    builder.close()
    assert "closed" in repr(builder)
    for call in (
        lambda: builder.add_stream("spe"),
        lambda: builder.exit(pid=1),
        builder.seal,
    ):
        with pytest.raises(hwt.ClosedError):
            call()


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda b: b.add_stream("alpha"), ValueError, "alpha"),
        (lambda b: b.add_stream(1), TypeError, "tech"),
        (lambda b: b.add_stream("spe", "text"), TypeError, "data"),
        (lambda b: b.add_stream("spe", 5), TypeError, "data"),
        (lambda b: b.add_stream("spe", cpu=-1), ValueError, "cpu: -1"),
        (lambda b: b.add_stream("spe", pid=1 << 64), ValueError, "pid"),
        (lambda b: b.add_stream("spe", tid="a"), TypeError, "tid"),
        (lambda b: b.add_stream("spe", name="a\0b"), ValueError, "NUL"),
        (lambda b: b.add_stream("spe", name=5), TypeError, "name"),
        (lambda b: b.add_stream("spe", pt=5), TypeError, "pt"),
        (lambda b: b.add_stream("spe", clock=5), TypeError, "clock"),
        (lambda b: b.add_stream("spe", framing="x"), ValueError, "framing"),
        (lambda b: b.add_stream("spe", sink=7), hwt.HwtError, ""),
        (lambda b: b.add_bytes(9, b"x"), hwt.NotFoundError, ""),
        (lambda b: b.add_bytes(-1, b"x"), ValueError, "stream"),
        (lambda b: b.add_bytes(0, None), TypeError, "data"),
        (lambda b: b.start_extent(9), hwt.NotFoundError, ""),
        (lambda b: b.start_extent(0, "soon"), ValueError, "why"),
        (lambda b: b.add_image("/no/file"), hwt.TraceIOError, "/no/file"),
        (lambda b: b.add_image("a\0b", data=b""), ValueError, "NUL"),
        (lambda b: b.add_image(5, data=b""), TypeError, ""),
        (lambda b: b.add_image("x", data="text"), TypeError, "Image.data"),
        (lambda b: b.add_code(-1, b"x"), ValueError, "address"),
        (lambda b: b.add_code(1 << 64, b"x"), ValueError, "address"),
        (lambda b: b.add_code((1 << 64) - 1, b"xy"), hwt.InvalidError, ""),
        (lambda b: b.add_record("exec"), TypeError, "record"),
        (lambda b: b.add_record(None), TypeError, "record"),
        (lambda b: b.mmap(-1, 5), ValueError, "addr"),
        (lambda b: b.mmap(0, 1, image=44), hwt.NotFoundError, ""),
        (lambda b: b.mmap(0, 1, nonsense=1), TypeError, "nonsense"),
        (lambda b: b.exit(pid=-1), ValueError, "pid"),
        (lambda b: b.exit(pid=0xFFFFFFFF), ValueError, "stands for none"),
        (lambda b: b.thread_name("a\0b", tid=1), ValueError, "NUL"),
        (lambda b: b.thread_name(5, tid=1), TypeError, "name"),
        (lambda b: b.buffer(66, 0), hwt.NotFoundError, ""),
        (lambda b: b.switch(cpu=1, to=5), ValueError, "out"),
        (lambda b: b.lost(-1), ValueError, "value"),
        (lambda b: b.clock(1 << 64, 0), ValueError, "value"),
        (lambda b: b.code(0, "text"), TypeError, "data"),
        (lambda b: b.exec("x", build_id=bytes(33)), ValueError, "build_id"),
    ],
)
def test_what_is_wrong_says_so_and_changes_nothing(
    call: Any, kind: type, says: str
) -> None:
    with hwt.Builder() as builder:
        builder.add_stream("intel-pt", b"\0")
        with pytest.raises(kind, match=says or None):
            call(builder)
        trace = builder.seal()
    assert trace.info.n_streams == 1
    assert trace.info.n_records == 0
    assert trace.read_bytes(0) == b"\0"


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"origin": 5}, TypeError),
        ({"origin": "a\0"}, ValueError),
        ({"search": "x"}, TypeError),
        ({"max_memory": -1}, ValueError),
        ({"nonsense": 1}, TypeError),
    ],
)
def test_options_of_builders_are_checked(options: Any, kind: type) -> None:
    with pytest.raises(kind):
        hwt.Builder(**options)


def test_memory_is_limited() -> None:
    with hwt.Builder(max_memory=100_000) as builder:
        stream = builder.add_stream("intel-pt")
        with pytest.raises((hwt.LimitError, MemoryError)):
            builder.add_bytes(stream, bytes(1_000_000))
        builder.add_bytes(stream, bytes(10))
        assert builder.seal().read_bytes(0) == bytes(10)


def test_threads_that_build_one_trace_take_turns() -> None:
    builder = hwt.Builder()
    stream = builder.add_stream("intel-pt")

    def work(i: int) -> None:
        for _ in range(200):
            builder.add_bytes(stream, bytes([i]) * 8)
            builder.thread_name(f"t{i}", pid=1, tid=i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    trace = builder.seal()
    data = trace.read_bytes(0)
    assert len(data) == 8 * 200 * 8
    # Pieces were not torn.
    assert all(len(set(data[i : i + 8])) == 1 for i in range(0, len(data), 8))
    assert len(trace.threads) == 8


def test_configurations_check_their_values() -> None:
    for make in (
        lambda: PtConfig(mtc_freq=-1),
        lambda: PtConfig(cpuid_15h_eax=1 << 32),
        lambda: PtConfig(filters=[hwt.config.PtFilter("off", 0, 0)] * 5),
        lambda: hwt.config.PtFilter("x", 0, 0),
        lambda: CoresightConfig("etm9"),
        lambda: CoresightConfig("etmv4", idr=[0] * 15),
        lambda: CoresightConfig("etmv4", idr={-1: 0}),
        lambda: CoresightConfig("etmv4", trace_id=1 << 32),
        lambda: SpeConfig(cpu="pentium"),
        lambda: SpeConfig(cpu="neoverse-n1", midr=1),
        lambda: Clock(base_ns=-(1 << 64)),
        lambda: Clock().ns(0),
        lambda: Image("a\0b"),
        lambda: Image("a", address=-1),
        lambda: Record("dance"),
        lambda: Record("exec", addr=1 << 64),
    ):
        with pytest.raises(ValueError):
            make()
    for make in (
        lambda: PtConfig(filters=[1]),
        lambda: PtConfig(cpu_family="6"),
        lambda: PtConfig(cpu_family=6.0),
        lambda: Image(None),
        lambda: SpeConfig(cpu=5),
        lambda: hwt.config.Search(roots=[5]),
    ):
        with pytest.raises(TypeError):
            make()


def test_clocks_of_short_counters_begin_again() -> None:
    # 8 bits: after 0xff comes 0x00.
    clock = Clock(
        counts_per=1, ns_per=10, base_count=250, wrap_base=250, wrap_mask=0xFF
    )
    assert [clock.ns(n) for n in (250, 255, 0, 4)] == [0, 50, 60, 100]


def test_configurations_of_coresight_are_read_from_text() -> None:
    found = CoresightConfig.parse(
        "protocol=etmv4\ntrace_id=0x12 ; one\nTRCCONFIGR=0xc1\nTRCIDR1=5\n"
    )
    assert (found.protocol, found.trace_id) == ("etmv4", 0x12)
    assert (found.configr, found.idr[1]) == (0xC1, 5)
    with pytest.raises(hwt.CorruptTraceError):
        CoresightConfig.parse("nothing here")
    assert isinstance(found.doubts(), tuple)
