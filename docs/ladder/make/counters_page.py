"""The section of a rung's page that has its counters."""

import re

import beside_ncu
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
    lens_beside_ncu(page)


def lens_beside_ncu(page):
    """Whether the lens counts what ncu does, and why not."""
    rung = page.rung
    products = [product for kernel in rung.kernels for product in beside_ncu.products(kernel)]
    if not products:
        return
    page.add("### The lens beside Nsight Compute")
    rows = [(kernel, *row) for kernel in rung.kernels for row in beside_ncu.differences(kernel)[0]]
    files = [link(f"`{file}`", rung.page, f"docs/results/{file}") for file in (beside_ncu.NCU, beside_ncu.LENS)]
    but = beside_ncu.entries()[rung.kernels[0]]
    machine = article(beside_ncu.measured_by_ncu()["machine"].partition(",")[0])
    page.add(wrapped(f"{machine[0].upper()}{machine[1:]} counted {len(products)} products ({files[0]}), and the lens the same ones "
                     f"({files[1]}): {products_text(products)}. Requests and sectors of global memory and requests and wavefronts of shared memory, of loads "
                     f"and of stores, are equal in each{', but for what follows' if but else ''}."))
    if "joined" in but:
        page.add(wrapped(joined_text(but["joined"], products)))
    for kernel in rung.kernels:
        for access, ratios in beside_ncu.repeats(kernel).items():
            page.add(wrapped(f"Of {kernel}'s {access}s ncu counts up to {100 * (max(ratios) - 1):.2g} % more wavefronts, and another number in each launch of the same "
                             "product. The addresses are the same each time; what varies is what else the multiprocessor does in these cycles."))
    for entry in but.get("differs", ()):
        page.add(wrapped(page.named(entry["why"])))
        shown = [[f"{product.words}", name, f"{lens}", " to ".join(f"{count}" for count in sorted({min(counts), max(counts)}))]
                 for _, product, name, lens, counts in rows if name in entry["of"]]
        page.add(table(["product", "counter", "lens", "ncu"], shown, (2, 3)))


def products_text(products):
    """"f32 at n = 250 and 256, …" of different products."""
    kinds = {}
    for product in products:
        kinds.setdefault((product.dtype, product.transposes), []).append(product.n)
    return ", ".join(f"{dtype} {'with both operands transposed' if transposes else 'without transposes'} at n = {' and '.join(sorted(set(sizes)))}"
                     for (dtype, transposes), sizes in kinds.items())


def joined_text(array, products):
    example = products[0]
    requests, waves = beside_ncu.JOINED
    return (f"nvcc reads neighbours of {'the array in shared memory' if ' ' in array else f'`{array}`'} by one load of 16 bytes, of which the source has one "
            f"each: four elements of f32, two of f64. The lens counts the source's loads. In {example.kernel} ({example.words}) these are "
            f"{example.source[requests]} requests and {example.source[waves]} wavefronts of all loads of shared memory; so joined they are "
            f"{example.lens[requests]} and {example.lens[waves]}, which are compared here.")


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
