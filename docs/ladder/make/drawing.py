"""Pictures as SVG: shapes and words with classes, which have colours for light and for dark pages.

A picture has a ground of its own, so that it can be read where the page is dark and the system is not.
"""

import html

WIDTH = 400
STYLE = """<style>
.g{fill:#fff}.ink{fill:#1a1a24}.dim{fill:#63636e}.line{stroke:#1a1a24;fill:none}.pale{fill:#e9e9ee}.rule{stroke:#d0d0d8;fill:none}
.a{fill:#0072b2}.b{fill:#bd5200}.c{fill:#00875f}.hot{fill:#c2185b}.al{fill:#0072b2;fill-opacity:.22}.bl{fill:#bd5200;fill-opacity:.22}
.cl{fill:#00875f;fill-opacity:.22}.as{stroke:#0072b2;fill:none}.bs{stroke:#bd5200;fill:none}.cs{stroke:#00875f;fill:none}.hs{stroke:#c2185b;fill:none}.ds{stroke:#63636e;fill:none}.in{fill:#fff}
@media (prefers-color-scheme:dark){.g{fill:#16181d}.ink{fill:#e8e8ee}.dim{fill:#a3a3af}.line{stroke:#e8e8ee}.pale{fill:#2b2e37}
.rule{stroke:#41454f}.a{fill:#56b4e9}.b{fill:#ff9d45}.c{fill:#3fcf9e}.hot{fill:#ff6ba0}.al{fill:#56b4e9;fill-opacity:.25}
.bl{fill:#ff9d45;fill-opacity:.25}.cl{fill:#3fcf9e;fill-opacity:.25}.as{stroke:#56b4e9}.bs{stroke:#ff9d45}.cs{stroke:#3fcf9e}.hs{stroke:#ff6ba0}.ds{stroke:#a3a3af}.in{fill:#16181d}}
</style>"""


def short(number):
    return f"{number:.1f}".rstrip("0").rstrip(".")


class Picture:
    def __init__(self, title, width=WIDTH):
        self.title, self.width = title, width
        self.parts = []
        self.y = 0

    def rect(self, x, y, width, height, kind, rx=0):
        round_corner = f' rx="{rx}"' if rx else ""
        self.parts.append(f'<rect x="{short(x)}" y="{short(y)}" width="{short(max(width, 0))}" height="{short(height)}"{round_corner} class="{kind}"/>')

    def line(self, x, y, x2, y2, kind="rule", width=1, dash=None):
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<path d="M{short(x)} {short(y)}L{short(x2)} {short(y2)}" class="{kind}" stroke-width="{width}"{dashed}/>')

    def path(self, points, kind, width=1.5, dash=None):
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        places = "L".join(f"{short(x)} {short(y)}" for x, y in points)
        self.parts.append(f'<path d="M{places}" class="{kind}" stroke-width="{width}"{dashed}/>')

    def dot(self, x, y, radius, kind):
        self.parts.append(f'<circle cx="{short(x)}" cy="{short(y)}" r="{radius}" class="{kind}"/>')

    def text(self, x, y, words, size=12, anchor="start", kind="ink", bold=False):
        weight = ' font-weight="600"' if bold else ""
        where = f' text-anchor="{anchor}"' if anchor != "start" else ""
        self.parts.append(f'<text x="{short(x)}" y="{short(y)}" font-size="{size}"{where}{weight} class="{kind}">{html.escape(words, quote=False)}</text>')

    def lines(self, x, y, words, columns=62, size=12, kind="ink", bold=False):
        """Writes words line by line; returns where the next line begins."""
        row = ""
        for word in [*words.split(), None]:
            if word is None or len(row) + len(word) + 1 > columns:
                self.text(x, y, row, size, kind=kind, bold=bold)
                y += size + 4
                row = word or ""
            else:
                row = f"{row} {word}".strip()
        return y

    def svg(self, height):
        height = round(height)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {height}" width="{self.width}" height="{height}" '
                f'font-family="system-ui,sans-serif" role="img">\n<title>{html.escape(self.title, quote=False)}</title>\n{STYLE}\n'
                f'<rect width="{self.width}" height="{height}" rx="6" class="g"/>\n' + "\n".join(self.parts) + "\n</svg>\n")
