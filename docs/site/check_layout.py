"""Checks in a browser that the pages of a built site fit a narrow window: tables, code and wide pictures scroll, each in a box of
its own, the page does not, and every picture is there."""

import base64
import json
import pathlib
import re
import subprocess
import tempfile

from check_pictures import browser_command

WIDTH = 400  # of a phone, in pixels
#: A page that lays the others out in a frame, one after the other, and lists what is wrong.
MEASURE = """<!doctype html><meta charset="utf-8"><body><script>
const pages = %s, width = %d, found = [];
const frame = document.createElement("iframe");
frame.style = `width:${width}px;height:900px;border:0`;
document.body.append(frame);
const load = page => new Promise(done => { frame.onload = done; frame.src = page; });
(async () => {
  for (const page of pages) {
    await load(page);
    const shown = frame.contentDocument, wide = shown.documentElement.scrollWidth;
    if (wide > width) found.push([page, `is ${wide} pixels wide in a window of ${width}`]);
    for (const image of shown.images) {
      image.loading = "eager";
      await image.decode().catch(() => found.push([page, `does not show ${image.getAttribute("src")}`]));
    }
  }
  document.body.innerHTML = `<pre id="found">${btoa(unescape(encodeURIComponent(JSON.stringify(found))))}</pre>`;
})();
</script>"""


def check_layout(site):
    """A line for each page that does not fit. Without a browser nothing is known; check_pictures() says so."""
    command = browser_command()
    if command is None:
        return []
    pages = sorted(str(page.relative_to(site)) for page in site.rglob("*.html") if "_downloads" not in page.parts)
    with tempfile.TemporaryDirectory() as profile, tempfile.NamedTemporaryFile("w", suffix=".html", dir=site) as page:
        page.write(MEASURE % (json.dumps(pages), WIDTH))
        page.flush()
        options = ["--allow-file-access-from-files", f"--user-data-dir={profile}", "--virtual-time-budget=10000000"]
        shown = subprocess.run(
            [*command, *options, pathlib.Path(page.name).as_uri()],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
        ).stdout
    measured = re.search(r'<pre id="found">(.*?)</pre>', shown, re.S)
    if not measured:
        return ["the browser did not lay the pages out; docs/site/check_layout.py has its command"]
    return sorted({f"{page}: {words}" for page, words in json.loads(base64.b64decode(measured[1]))})
