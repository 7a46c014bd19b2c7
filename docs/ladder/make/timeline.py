"""A picture of a block's time, from docs/results/*-timeline-*.json where such a file is there.

The document: {"schema": "tessera.timeline/1", "kernel", "machine": {"device", "date"}, "events": [{"warp", "phase",
"start_ns", "end_ns"}]}; a phase is load, wait, multiply or store.
"""

import measured
from drawing import Picture

KINDS = {"load": "b", "wait": "pale", "multiply": "a", "store": "c"}


def of(kernel):
    found = [document for _, document in measured.documents("tessera.timeline") if document["kernel"] == kernel]
    return found[-1] if found else None


def picture(document):
    events = document["events"]
    warps = sorted({event["warp"] for event in events})
    first, last = min(event["start_ns"] for event in events), max(event["end_ns"] for event in events)
    width, left, step = 760, 60, 18
    drawn = Picture(f"{document['kernel']}: a block's warps over time", width)
    drawn.text(14, 24, f"{document['kernel']}: a block on {document['machine']['device']}", 14, bold=True)
    for at, (phase, kind) in enumerate(KINDS.items()):
        drawn.rect(14 + at * 90, 36, 12, 10, kind)
        drawn.text(30 + at * 90, 45, phase, 12)
    x_of = lambda ns: left + (ns - first) / max(1, last - first) * (width - left - 20)
    for at, warp in enumerate(warps):
        y = 60 + at * step
        drawn.text(14, y + 11, f"warp {warp}", 11)
        for event in events:
            if event["warp"] == warp:
                drawn.rect(x_of(event["start_ns"]), y, max(0.5, x_of(event["end_ns"]) - x_of(event["start_ns"])), step - 4, KINDS[event["phase"]])
    bottom = 60 + step * len(warps)
    drawn.text(left, bottom + 14, "0", 11, kind="dim")
    drawn.text(width - 20, bottom + 14, f"{(last - first) / 1000:.3g} µs", 11, "end", "dim")
    return drawn.svg(bottom + 24)
