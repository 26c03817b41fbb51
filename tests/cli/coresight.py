"""CoreSight fixtures through the tool: rows, text of code, saved, in jobs."""

import json
from pathlib import Path

from runner import Case

PROTOCOLS = {"ETMV4I": "etmv4", "ETE": "ete", "STM": "stm", "ITM": "itm"}
ARCHS = {"ARCH_V7": "v7", "ARCH_V8": "v8", "ARCH_AA64": "v8.3"}


def open_words(case: Case, folder: Path) -> list[str]:
    """Return the options that open a fixture with its code, and its file."""
    cs = json.loads((folder / "case.json").read_text())["params"]["coresight"]
    words = ["--tech=coresight", f"--framing={cs['framing']}"]
    for number, source in enumerate(cs["sources"]):
        name = f"config-{number}.txt"
        said = [
            f"protocol={PROTOCOLS[source['protocol']]}",
            f"arch={ARCHS[source['arch_ver']]}",
            f"profile={source['core_profile']}",
            *(f"{k}={v}" for k, v in source["regs"].items()),
        ]
        case.write(name, "\n".join(said))
        words.append(f"--etm-config={name}")
    image = folder / "image.txt"
    for line in image.read_text().splitlines() if image.exists() else []:
        name, offset, size, address = line.split()
        begin, n = int(offset, 16), int(size, 16)
        code = (folder / name).read_bytes()[begin : begin + n]
        case.write(f"{address}.bin", code)
        words.append(f"--image={address}.bin@0x{address}")
    names = [folder / "sink.bin", *sorted(folder.glob("trace.*"))]
    return [*words, str(next(path for path in names if path.exists()))]


def fixture(case: Case, name: str) -> list[str]:
    return open_words(case, case.fixtures / name)


def test_text_of_instructions(case: Case) -> None:
    words = fixture(case, "cs-good/branch-of-an-it-block-may-not-be-executed")
    rows = case.run("insns", "--disasm", "--format=jsonl", *words).want(0)
    text = [
        (int(row["ip"], 16), row["text"])
        for row in rows.objects()
        if row["kind"] == "insn"
    ]
    assert text == [
        (0x8000, "it ne"),
        (0x8002, "bxne r1"),
        (0x8004, "nop"),
        (0x8006, "it eq"),
        (0x8008, "bxeq r1"),
        (0x9000, "ite eq"),
        (0x9002, "nopeq"),
        (0x9004, "bxne r1"),
    ], text


def test_text_of_both_sets_of_32_bit_code(case: Case) -> None:
    words = fixture(case, "cs-good/a32-and-t32-code-call-each-other")
    rows = case.run("insns", "--disasm", "--format=jsonl", *words).want(0)
    sets = {
        row["isa"]: row["text"].split()[0]
        for row in rows.objects()
        if row["kind"] == "insn"
    }
    assert set(sets) == {"a32", "t32"}, sets
    assert "(bad)" not in rows.out


def test_saved_traces_have_the_same_rows(case: Case) -> None:
    folders = sorted((case.fixtures / "cs-good").glob("*/case.json"))
    # All kinds of sources are among a third of them.
    for folder in (path.parent for path in folders[::3]):
        words = open_words(case, folder)
        rows = case.run("events", "--format=jsonl", *words).want(0).out
        (case.folder / "x.hwt").unlink(missing_ok=True)
        case.run("import", "--embed", *words, "-o", "x.hwt").want(0)
        saved = case.run("events", "--format=jsonl", "x.hwt").want(0)
        assert saved.out == rows, folder.name
        jobs = case.run("events", "--format=jsonl", "--jobs=3", *words)
        assert jobs.want(0).out == rows, folder.name


def test_a_wrong_register_is_one_line_of_check(case: Case) -> None:
    name = "cs-good/cancelled-branches-were-never-executed"
    words = fixture(case, name)
    config = (case.folder / "config-0.txt").read_text()
    trace = Path(words.pop()).read_bytes()
    case.write("many.etm", trace * 500)
    case.run("check", *words, "many.etm").want(0)
    # The unit held back four branches, and is said to hold back none.
    assert "TRCIDR8=0x4" in config, config
    case.write("config-0.txt", config.replace("TRCIDR8=0x4", "TRCIDR8=0"))
    text = case.run("check", *words, "many.etm").want(3).out
    told = [line for line in text.splitlines() if "gap bad-packet" in line]
    assert len(told) == 1 and "500 gaps" in told[0], text
    assert len(text.splitlines()) < 25, text
    assert "TRCIDR8" in text, text


def test_turned_memory_is_told(case: Case) -> None:
    name = "cs-good/turned-memory-begins-with-its-oldest-frame"
    words = fixture(case, name)
    rows = case.run("info", "--format=jsonl", *words).want(0).objects()
    sink = next(row for row in rows if "framing" in row)
    assert 0 < sink["turned_offset"] < 240
    assert sink["turned_offset"] % 16 == 0
    text = case.run("info", *words).want(0).out
    assert f"oldest at 0x{sink['turned_offset']:x}" in text
