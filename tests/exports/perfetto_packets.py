"""Print the packets of a file of Perfetto as JSON lines.

Parsed by the classes of its own package; fields that these do not know are an
error.
"""

import gzip
import json
import sys

from google.protobuf import unknown_fields
from google.protobuf.json_format import MessageToDict
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb


def check_known(message) -> None:
    unknown = unknown_fields.UnknownFieldSet(message)
    if len(unknown) != 0:
        raise SystemExit(f"unknown fields in {message.DESCRIPTOR.name}")
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        repeated = hasattr(value, "append") or hasattr(value, "add")
        for item in value if repeated else [value]:
            check_known(item)


def main() -> None:
    data = open(sys.argv[1], "rb").read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    trace = pb.Trace()
    trace.ParseFromString(data)
    for packet in trace.packet:
        check_known(packet)
        print(
            json.dumps(
                MessageToDict(packet, preserving_proto_field_name=True)
            )
        )


main()
