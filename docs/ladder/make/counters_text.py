"""The counters of a rung as a table: gemm_compare's resources, Nsight Compute's metrics, and the counts of the lens."""

import measured
from words import amount, table, three

LOADS = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
WAVES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
SHARED = "smsp__inst_executed_op_shared_{}.sum"
STALL = ("smsp__average_warps_issue_stalled_", "_per_issue_active.ratio")
STALL_WORDS = {
    "long_scoreboard": "waits for global or local memory", "short_scoreboard": "waits for shared memory",
    "barrier": "waits at the block's barrier", "math_pipe_throttle": "the arithmetic units are busy",
    "mio_throttle": "the queue to shared memory is full", "lg_throttle": "the queue to global memory is full",
    "not_selected": "another warp was chosen", "selected": "issues", "wait": "waits a fixed number of cycles",
    "dispatch_stall": "the dispatcher holds back", "no_instruction": "waits for instructions", "tex_throttle": "the texture queue is full",
    "membar": "waits for a memory barrier", "sleeping": "sleeps", "drain": "stores drain at the end", "imc_miss": "misses in the constant cache",
    "branch_resolving": "waits for a branch", "gmma": "waits for matrix units", "misc": "others", "warpgroup_arrive": "waits for a warpgroup",
}


def stalls(metrics):
    """The three largest stalls: (words, warps an issue)."""
    found = []
    for name, value in metrics.items():
        if name.startswith(STALL[0]) and name.endswith(STALL[1]) and value is not None:
            reason = name[len(STALL[0]) : -len(STALL[1])]
            if reason not in ("selected", "not_selected") and "not_issued" not in reason:
                found.append((reason, value))
    found.sort(key=lambda entry: -entry[1])
    return [(STALL_WORDS.get(reason, reason), value) for reason, value in found[:3]]


def ratio(metrics, top, bottom):
    high, low = metrics.get(top), metrics.get(bottom)
    return high / low if high is not None and low else None


def resource_rows(row):
    """Rows of what gemm_compare asks the driver for."""
    known = {key.partition("/")[2]: value for key, value in row.items() if key.startswith("resources/")}
    known.update(row.get("resources") or {})
    rows = []
    if known.get("registers"):
        rows.append(["registers a thread", f"{known['registers']}"])
        local = known.get("local_memory")
        rows.append(["local memory a thread", f"{local} bytes" if local else "none"])
        shared = (known.get("static_shared") or 0) + (known.get("dynamic_shared") or 0)
        rows.append(["shared memory a block", f"{shared} bytes" if shared else "none"])
    if known.get("blocks"):
        rows.append(["blocks a multiprocessor", f"{known['blocks']}"])
    if known.get("occupancy_percent") or known.get("occupancy"):
        rows.append(["occupancy (warps that fit)", f"{three(known.get('occupancy_percent') or known['occupancy'])} %"])
    return rows


def ncu_rows(metrics):
    rows = []
    add = lambda words, value, unit="": value is not None and rows.append([words, three(value) + unit])
    if not metrics:
        return rows
    if metrics.get("launch__registers_per_thread"):
        rows.append(["registers a thread", f"{metrics['launch__registers_per_thread']:.0f}"])
    add("occupancy, reached", metrics.get("sm__warps_active.avg.pct_of_peak_sustained_active"), " %")
    add("cycles that issue an instruction", metrics.get("smsp__issue_active.avg.pct_of_peak_sustained_active"), " %")
    for words, op in (("load", "ld"), ("store", "st")):
        add(f"sectors a request, global {words}", ratio(metrics, LOADS.format("sectors", op), LOADS.format("requests", op)))
    for words, op in (("load", "ld"), ("store", "st")):
        waves = ratio(metrics, WAVES.format(op), SHARED.format(op))
        if waves is not None and not 0.995 <= waves <= 32:  # what a request cannot take, as where matrix units have loads of their own
            rows.append([f"wavefronts a request, shared {words}", "– (ncu's two counts do not fit together)"])
        else:
            add(f"wavefronts a request, shared {words}", waves)
        conflicts = metrics.get(CONFLICTS.format(op))
        if conflicts is not None and metrics.get(SHARED.format(op)):
            rows.append([f"bank conflicts, shared {words}", amount(conflicts, "").strip()])
    add("hits in L1", metrics.get("l1tex__t_sector_hit_rate.pct"), " %")
    add("hits in L2", metrics.get("lts__t_sector_hit_rate.pct"), " %")
    moved = (metrics.get("dram__bytes_read.sum") or 0) + (metrics.get("dram__bytes_write.sum") or 0)
    if moved:
        rows.append(["bytes that memory moved", amount(moved, "B")])
    for at, (words, value) in enumerate(stalls(metrics), 1):
        rows.append([f"stall {at}, warps an issue", f"{three(value)}: {words}"])
    return rows


def side_by_side(columns):
    """One table of several lists of (words, value); stalls, whose words differ, are cells of their own."""
    names = list(dict.fromkeys(name for _, rows in columns for name, _ in rows))
    cells = [dict(rows) for _, rows in columns]
    return table(["", *(head for head, _ in columns)], [[name, *(of.get(name, "–") for of in cells)] for name in names])


def lens_rows(document):
    """A row for each kind of access of the kernels, in the order of their launches."""
    rows = []
    several = len(document["launches"]) > 1
    for launch in document["launches"]:
        for line in launch["lines"]:
            unit = "sectors" if line["access"].startswith("global") else "wavefronts"
            moved = 32 * line.get("sectors", 0) + 128 * line.get("wavefronts", 0)
            used = line["bytes_asked"] / moved if moved else None
            text = line["code"].replace("`", "'").rstrip(" {")
            code = f"`{text if len(text) <= 56 else text[:55].rstrip() + '…'}`"
            share = "–" if used is None else "broadcast" if used >= 1.005 else "all" if used >= 0.995 else f"{100 * used:.0f} %"
            rows.append([*([launch["name"]] if several else []), line["access"], line.get("array", "").replace("_", "\\_"), code, f"{line['requests']}",
                         f"{three(line[unit] / line['requests'])} {unit}", share])
    head = [*(["kernel"] if several else []), "access", "of", "by", "requests", "a request", "bytes used"]
    return head, rows


def counted_bytes(kernel, run):
    """(size, bytes that memory moved) of a product of the run's machine, where ncu counted one that the run has."""
    row = measured.counters().get((kernel, run.dtype))
    if not row or not row["device"].startswith(run.device["device"]) or not run.at(row["n"], kernel):
        return None
    metrics = row["metrics"]
    moved = (metrics.get("dram__bytes_read.sum") or 0) + (metrics.get("dram__bytes_write.sum") or 0)
    return (row["n"], moved) if moved else None
