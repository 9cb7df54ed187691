"""The settings of Sphinx for the documentation site. `make docs` builds it."""

from pathlib import Path

from holdfast.version import __version__

project = "Holdfast"
author = "the Holdfast authors"
version = release = __version__
html_title = f"Holdfast {__version__}"
extensions = ["myst_parser"]
# Headings are named as on GitHub, so that links work in both places.
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]
suppress_warnings = [
    # A page may begin its sections at any level: the reference of Python starts at the third.
    "myst.header",
    # Blocks of output and of JSON with … are shown as they are.
    "misc.highlighting_failure",
]
highlight_language = "text"
html_theme = "furo"
html_show_copyright = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["search.js"]
html_favicon = str(
    Path(__file__).parents[2] / "src" / "holdfast" / "interfaces" / "ui" / "static" / "icon.svg"
)
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f6f5f", "color-brand-content": "#1f6f5f"},
    "dark_css_variables": {"color-brand-primary": "#7fd1bd", "color-brand-content": "#7fd1bd"},
}
