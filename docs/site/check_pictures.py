"""Checks that a browser draws each Mermaid picture of a built site: a mistake in one shows only there."""

import re
import shutil
import subprocess
import tempfile

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def browser_command():
    """How a browser is started without a window, to print a page whose address follows; None where there is none."""
    browser = next(filter(shutil.which, BROWSERS), None)
    return browser and [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]


def check_pictures(site):
    """A line for each page whose pictures are not all drawn. Without a browser nothing is known, and a line says so."""
    pages = [page for page in site.rglob("*.html") if '<pre class="mermaid">' in page.read_text(encoding="utf-8")]
    command = browser_command()
    if command is None:
        browsers = " or ".join(BROWSERS)
        print(f"{len(pages)} pages with Mermaid pictures, and the layout of all, were not looked at: there is no {browsers}")
        return []
    findings = []
    for page in pages:
        wanted = page.read_text(encoding="utf-8").count('<pre class="mermaid">')
        with tempfile.TemporaryDirectory() as profile:
            options = [f"--user-data-dir={profile}", "--virtual-time-budget=20000", page.as_uri()]
            shown = subprocess.run(
                [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False
            ).stdout
        drawn = len(re.findall(r'<pre class="mermaid"[^>]*><svg[^>]* aria-roledescription="(?!error)', shown))
        if drawn != wanted:
            findings.append(
                f"{page.relative_to(site)}: {drawn} of {wanted} Mermaid pictures are drawn; the other has a mistake"
            )
    return findings
