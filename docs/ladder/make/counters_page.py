"""The section of a rung's page that has its counters."""

import re

import counters_text
import measured
from words import link, table, three, wrapped


def counters(page):
    """What the driver, Nsight Compute and the lens say of a rung."""
    rung = page.rung
    page.add("## Counters")
    resources, counted, from_files = [], [], {}
    copies = "repack(" in rung.text  # the driver speaks of the kernel that copies
    for run, n, kernel, row in page.measured_rows():
        rows = counters_text.resource_rows(row)
        if rows and not copies:
            resources.append((f"{kernel}, {run.title}", rows))
    for kernel in rung.kernels:
        for dtype in ("f32", "f64", "f16", "bf16"):
            row = measured.counters().get((kernel, dtype))
            if row:
                size = f"n = {row['n']}" if row["m"] == row["k"] or rung.ladder == "reduce" else f"{row['m']}×{row['n']}×{row['k']}"
                counted.append((f"{kernel}, {dtype}, {size}", counters_text.ncu_rows(row["metrics"])))
                from_files[row["file"]] = row["device"]
    if resources:
        page.add("As the driver says:")
        page.add(counters_text.side_by_side(resources))
    if counted:
        files = ", ".join(f"{article(device)} ({link(f'`{file}`', rung.page, f'docs/results/{file}')})" for file, device in from_files.items())
        page.add(wrapped(f"Counted by Nsight Compute on {files}:"))
        page.add(counters_text.side_by_side(counted))
    seen = [kernel for kernel in rung.kernels if kernel in measured.lens()]
    for kernel in seen:
        document = measured.lens()[kernel]
        page.add(wrapped(f"{kernel}, {document['shape']} in {document['dtype']}, counted by the lens without a GPU:"))
        head, rows = counters_text.lens_rows(document)
        page.add(table(head, rows, range(len(head) - 3, len(head))))
    if not resources and not counted and not seen:
        page.add("Not measured yet.")


def cache_misses(page):
    """What Cachegrind counted of the rung, of the one before and of the default kernel."""
    known = measured.cache_misses()
    own = [kernel for kernel in page.rung.kernels if kernel in known]
    if not own:
        return
    before = [kernel for kernel in (page.rung.before.kernels if page.rung.before else ()) if kernel in known]
    rows = []
    for kernel, words in [*((kernel, "") for kernel in own), *((kernel, " (before)") for kernel in before[:1]), ("simd", " (the default)")]:
        row = known.get(kernel)
        if row:
            rows.append([kernel + words, *(three(row[name] / row["products"] * factor) for name, factor in (("loads", 1), ("l1_misses", 1000), ("l2_misses", 1000)))])
    page.add("## Counters")
    page.add(table(["kernel", "load instructions a multiply-add", "misses of L1, for 1000", "misses of L2, for 1000"], rows, (1, 2, 3)))
    row = known[own[0]]
    page.add(wrapped(f"Counted by Cachegrind, which simulates an L1 of 32 KiB and an L2 of 1 MiB, at n = {row['n']} in f32 with one thread and AVX2 "
                     f"({link('file', page.rung.page, 'docs/results/' + row['file'])}). Packing is in it. One load of a vector counts as one."))


def article(device):
    name = re.sub(r"^NVIDIA (\w+).*", r"\1", device)
    return f"an {name}" if name[0] in "AEFHILMNORSX" else f"a {name}"
