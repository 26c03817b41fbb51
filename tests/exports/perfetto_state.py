"""What a viewer makes of packets of Perfetto, checked at each step.

Names count from the packet that sends them up to the next that clears them;
tracks have to be described before they are used.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Slice:
    """A slice of a track."""

    what: str
    time: int
    name: str
    category: str
    notes: dict[str, Any]


@dataclass
class Tracks:
    """All tracks by number: descriptors, and events by time."""

    described: dict[int, dict[str, Any]] = field(default_factory=dict)
    events: dict[int, list[Slice]] = field(
        default_factory=lambda: defaultdict(list)
    )
    counters: dict[int, list[tuple[int, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    epochs: int = 0


KINDS = {
    "event_categories": "category",
    "event_names": "name",
    "debug_annotation_names": "note",
}


def read(packets: list[dict[str, Any]]) -> Tracks:
    tracks = Tracks()
    names: dict[str, dict[int, str]] = {}
    cleared = False
    clocks = 0
    in_epoch: set[int] = set()
    for packet in packets:
        flags = packet.get("sequence_flags", 0)
        assert packet["trusted_packet_sequence_id"] == 1
        if flags & 1:
            names = {kind: {} for kind in KINDS.values()}
            cleared = True
            in_epoch = set()
            tracks.epochs += 1
        for kind, known in KINDS.items():
            for entry in packet.get("interned_data", {}).get(kind, []):
                iid = int(entry["iid"])
                assert iid != 0
                assert iid not in names[known], "sent twice"
                names[known][iid] = entry["name"]
        if "clock_snapshot" in packet:
            clocks += 1
        if "track_descriptor" in packet:
            track = packet["track_descriptor"]
            uuid = int(track["uuid"])
            assert uuid != 0
            parent = int(track.get("parent_uuid", 0))
            assert parent == 0 or parent in in_epoch, track
            tracks.described[uuid] = track
            in_epoch.add(uuid)
        if "track_event" not in packet:
            continue
        assert cleared and clocks > 0
        assert flags & 2, "names need what was sent before"
        event = packet["track_event"]
        time = int(packet["timestamp"])
        uuid = int(event["track_uuid"])
        assert uuid in in_epoch, "not described in this epoch"
        if event["type"] == "TYPE_COUNTER":
            tracks.counters[uuid].append(
                (time, event["double_counter_value"])
            )
            continue
        notes = {}
        for note in event.get("debug_annotations", []):
            key = names["note"][int(note["name_iid"])]
            value = [v for k, v in note.items() if k != "name_iid"]
            notes[key] = value[0]
        begins = event["type"] == "TYPE_SLICE_BEGIN"
        name = event.get("name", "")
        if "name_iid" in event:
            name = names["name"][int(event["name_iid"])]
        if begins:
            iids = event["category_iids"]
            category = names["category"][int(iids[0])]
        else:
            category = ""
        tracks.events[uuid].append(
            Slice("B" if begins else "E", time, name, category, notes)
        )
    # Viewers sort by time, and leave what is equal in its order.
    for events in tracks.events.values():
        events.sort(key=lambda event: event.time)
    return tracks


def thread_of(tracks: Tracks, uuid: int) -> int:
    """The track of the thread that a track belongs to."""
    track = tracks.described[uuid]
    parent = int(track.get("parent_uuid", 0))
    if parent == 0 or "process" in tracks.described[parent]:
        return uuid
    return thread_of(tracks, parent)
