"""Checks a built site: every link, picture and script is a file of the site, and every anchor exists there."""

import html.parser
import pathlib
import urllib.parse


class Page(html.parser.HTMLParser):
    """The identifiers of a page, and what it refers to: links, and files without which it does not work."""

    def __init__(self, text):
        super().__init__()
        self.identifiers, self.links, self.parts = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.identifiers.update(found[key] for key in ("id", "name") if found.get(key))
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag in ("img", "script", "source", "iframe") and found.get("src"):
            self.parts.append(found["src"])
        if tag == "link" and found.get("rel") in ("stylesheet", "icon") and found.get("href"):
            self.parts.append(found["href"])


def check_links(site):
    """A line for each link that leads nowhere, and for each part of a page that is not in the site."""
    pages = {
        path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html") if "_downloads" not in path.parts
    }
    findings = []
    for path, page in pages.items():
        name = path.relative_to(site)
        findings += [f"{name}: {part} is not in the site" for part in page.parts if urllib.parse.urlsplit(part).netloc]
        for link in page.links + page.parts:
            address = urllib.parse.urlsplit(link)
            if address.scheme or address.netloc:
                continue
            target = pathlib.Path(path.parent, urllib.parse.unquote(address.path)).resolve() if address.path else path
            if not target.is_file():
                findings.append(f"{name}: the link {link} leads nowhere")
            elif (
                address.fragment
                and target in pages
                and urllib.parse.unquote(address.fragment) not in pages[target].identifiers
            ):
                findings.append(f"{name}: the link {link} names an anchor that is not there")
    return sorted(set(findings))
