"""hwtdecode packets: the packets that the texts of the fixtures ask for."""

import sys
from pathlib import Path
from typing import Any

from runner import Case

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

from hwtasm.casefile import read_case  # noqa: E402
from hwtasm.source import Packet  # noqa: E402
from hwtasm.values import evaluate  # noqa: E402

# Where a text names things otherwise than JSON does.
NAMES = {"tnt": "tnt.8", "tnt64": "tnt.64"}
KEYS = {
    "ctc": "ctc",
    "fc": "fast_counter",
    "hints": "hints",
    "ext": "extensions",
    "last": "state",
    "deepest": "deepest_state",
    "wake": "wake",
    "icnt": "insns",
}
OWN_KEYS = {
    ("pwre", "state"): "state",
    ("pwre", "sub"): "sub_state",
    ("bbp", "type"): "block_type",
    ("bbp", "size"): "item_size",
    ("bip", "id"): "item",
    ("cfe", "type"): "event_type",
    ("cfe", "vector"): "vector",
    ("evd", "type"): "data_type",
    ("trig", "vector"): "triggers",
}
HEX_KEYS = {"cr3": "cr3", "value": "payload", "payload": "payload"}
FLAGS = {"nr": "non_root", "ip": "ip_follows", "hw": "by_hardware"}
FLAGS["mult"] = "multiple"
# Kinds of one number.
NUMBERS = {"tsc": "tsc", "mtc": "ctc", "cyc": "cycles", "cbr": "ratio"}
ADDRESSES = ("tip", "tip.pge", "tip.pgd", "fup")


def address(words: list[str], labels: dict[str, int]) -> dict[str, Any]:
    """What an IP packet asks for; `!` means another address than written."""
    fields: dict[str, Any] = {"ip_bytes": int(words[0])}
    if len(words) > 1 and words[-1] != "!":
        fields["ip"] = hex(evaluate(" ".join(words[1:]), labels))
    return fields


def fields_of(packet: Packet, labels: dict[str, int]) -> dict[str, Any]:
    """Kind and fields that the text of a packet asks for."""
    name, *words = packet.text.split()
    kind = NAMES.get(name, name)
    fields: dict[str, Any] = {"kind": kind}
    if kind in ADDRESSES:
        return {**fields, **address(words, labels)}
    if name in ("tnt", "tnt64"):
        letters = "".join(words).replace(".", "").lower()
        bits = letters.replace("t", "1").replace("n", "0")
        return {**fields, "tnt": bits, "count": len(bits)}
    if kind in NUMBERS:
        return {**fields, NUMBERS[kind]: int(words[0], 0)}
    if kind == "vmcs":
        return {**fields, "vmcs": hex(int(words[0], 0))}
    if kind == "mnt":
        return {**fields, "payload": hex(int(words[0], 0))}
    if kind == "ptw":
        return {
            **fields,
            "payload_size": int(words[0]),
            "payload": hex(int(words[1], 0)),
            "ip_follows": words[2:] == ["ip"],
        }
    if kind == "mode.exec":
        fields["cs_l"], fields["cs_d"] = words[0] == "64", words[0] == "32"
        return {**fields, "interrupts": words[1:] == ["if"]}
    if kind == "mode.tsx":
        fields["transaction"] = words[0] == "begin"
        return {**fields, "aborted": words[0] == "abort"}
    for word in words if kind != "pad" else []:
        key, equals, value = word.partition("=")
        if not equals:
            fields[FLAGS[key]] = True
        elif key in HEX_KEYS:
            fields[HEX_KEYS[key]] = hex(evaluate(value, labels))
        elif (kind, key) in OWN_KEYS:
            fields[OWN_KEYS[kind, key]] = evaluate(value, labels)
        elif key in KEYS:
            fields[KEYS[key]] = evaluate(value, labels)
    return fields


def test_packets_are_those_of_the_text(case: Case) -> None:
    kinds = set()
    compared = 0
    for path in sorted(case.fixtures.glob("pt-*/*/case.txt")):
        text = read_case(path.read_text())
        stream = text.parts[""].stream
        packets = stream.packets
        if not packets or packets[0].text.split()[0] != "psb":
            continue
        labels = stream.labels
        trace = path.parent / "trace.pt"
        run = case.run("packets", "--raw", "--format=jsonl", trace)
        rows = {row["offset"]: row for row in run.want(0).objects()}
        for packet in packets:
            # What follows is no packet, or has lost its end.
            if packet.text.startswith("raw"):
                break
            row = rows[packet.offset]
            want = fields_of(packet, labels)
            if want["kind"] != "pad":
                assert row["raw"] == packet.data.hex(), (path, packet, row)
            for key, value in want.items():
                assert row.get(key) == value, (path, packet, row)
            # A flag that was not asked for is not there.
            for key in FLAGS.values():
                assert not row.get(key) or want.get(key), (path, packet, row)
            kinds.add(want["kind"])
            compared += 1
    assert compared > 500
    assert {"bip", "bbp", "bep", "cfe", "evd", "trig", "pwrx"} <= kinds
