"""Sphinx's settings for the site; build.py runs Sphinx."""

import importlib.util
import pathlib
import re
import shutil
import sys

from docutils import nodes
from sphinx import addnodes
from sphinx.domains.c import CDomain
from sphinx.domains.cpp import CPPDomain
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import python_pages  # noqa: E402

python_pages.load_package()

project = "Tessera"
version = re.search(r'#define TESSERA_VERSION "(.*)"', (HERE.parents[1] / "include/tessera/version.hpp").read_text())[1]
release = version
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.githubpages", "sphinx_copybutton"]
root_doc = "index"
language = "en"
smartquotes = False
nitpicky = True
# Types of the standard library and of C, template parameters, and names of detail/ have no page.
nitpick_ignore_regex = [("(cpp|c):identifier", ".*"), ("py:.*", ".*")]
primary_domain = "cpp"
highlight_language = "text"

myst_heading_anchors = 6
myst_fence_as_directive = ["mermaid"]

# Where code has prompts, the copy button takes the lines after them, and not what was printed.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"undoc-members": True}
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"Tessera {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_use_index = True
pygments_style = "default"  # its colours have a contrast of 4.5 and more, as monokai's have
pygments_dark_style = "monokai"
html_theme_options = {"navigation_with_keys": True}


class SymbolsAlone:
    """A domain whose parameters the search does not find: a search for a name shows symbols and pages."""

    def get_objects(self):
        for name, shown, kind, page, anchor, priority in super().get_objects():
            hidden = kind in ("functionParam", "templateParam")
            yield name, shown, kind, page, anchor, -1 if hidden else priority


class SearchedC(SymbolsAlone, CDomain):
    """Symbols of C."""


class SearchedCpp(SymbolsAlone, CPPDomain):
    """Symbols of C++."""


class Mermaid(SphinxDirective):
    """A picture that Mermaid draws in the browser, from the text that GitHub draws too."""

    has_content = True

    def run(self):
        text = nodes.Text("\n".join(self.content)).astext().replace("&", "&amp;").replace("<", "&lt;")
        self.env.metadata[self.env.docname]["mermaid"] = "yes"
        return [nodes.raw("", f'<pre class="mermaid">{text}</pre>', format="html")]


def add_mermaid(app, pagename, templatename, context, doctree):
    """Loads Mermaid on the pages that have such a picture. The file is in the site, so that no network is needed."""
    if "mermaid" in app.env.metadata.get(pagename, {}):
        app.add_js_file("mermaid.js")
        app.add_js_file("mermaid_start.js")


def show_own_branch(app, pagename, templatename, context, doctree):
    """The side bar of a page lists the parts of the site, and the pages of its own part. All of them on each of some
    hundred pages would take most of the time, and most of the site."""
    tree = context.get("toctree")
    if tree:
        context["toctree"] = lambda **options: tree(**{**options, "collapse": True})


def open_reports(app, pagename, templatename, context, doctree):
    """Lets a browser open the reports of gemm_compare, which are whole pages, where Sphinx would have it save them."""
    if "body" in context:
        context["body"] = re.sub(r' download=""( href="[^"]+\.html")', r"\1", context["body"])


def copy_mermaid(app, exception):
    if exception is None:
        (package,) = importlib.util.find_spec("mmdc").submodule_search_locations
        shutil.copyfile(pathlib.Path(package, "assets/mermaid.js"), pathlib.Path(app.outdir, "_static/mermaid.js"))


def show_fields(app, what, name, object_, options, lines):
    lines[:] = python_pages.with_fields(lines)


def check_described(app, doctree, docname):
    """Every symbol on a page is described there, in Python too."""
    for symbol in doctree.findall(addnodes.desc):
        if not symbol[-1].astext():
            logging.getLogger(__name__).warning("%s is not described", symbol[0].astext(), location=symbol)


def setup(app):
    app.add_domain(SearchedC, override=True)
    app.add_domain(SearchedCpp, override=True)
    app.add_directive("mermaid", Mermaid)
    app.connect("doctree-resolved", check_described)
    app.connect("html-page-context", show_own_branch, priority=100)  # before the theme asks for the tree
    app.connect("html-page-context", add_mermaid)
    app.connect("html-page-context", open_reports)
    app.connect("build-finished", copy_mermaid)
    app.connect("autodoc-process-docstring", show_fields)
