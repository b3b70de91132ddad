"""What the site does beside its plugins: check lessons, place outputs, map links, add assets."""

import os
import posixpath
import re
from pathlib import Path
from urllib.parse import unquote

import annotated
import formulas
import notebooks
import symbols
from markdown.extensions.toc import slugify
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

THEME = Path(__file__).resolve().parent
END_OF_LESSON = "<!-- end of lesson -->"
FONTS = (
    "source-serif-4/files/source-serif-4-latin-wght-normal.woff2",
    "source-serif-4/files/source-serif-4-latin-wght-italic.woff2",
    "jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2",
)
LINK = re.compile(r"\]\(([\w./-]*/[\w.-]+|[\w-]+\.ipynb|)(#[^)\s]+)?\)")
CELL = re.compile(r"<!-- cell ([\w-]+) -->")
CODE = re.compile(r'<div data-code="([\w-]+)"></div>')
OUTPUT = re.compile(r'<div data-output="([\w-]+) (\d+)"></div>')
DRAWING = re.compile(
    r'<p><img alt="([^"]*)"(?: data-widget="(\w+)")? src="([^":]+\.svg)"[^>]*></p>'
)
PLAIN = re.compile(r'<span class="[nw]">([^<]*)</span>')  # names and spaces: of the text's colour
LISTING = re.compile(r'<div class="(?:[\w-]+ )*highlight"')


def on_config(config):
    """Put lessons, in the order of their numbers, and source pages into the navigation."""
    root = Path(config.config_file_path).parent
    for entry in config.nav:
        if "Lessons" in entry:
            found = sorted((root / entry["Lessons"]).glob("*.ipynb"))
            entry["Lessons"] = [path.relative_to(root).as_posix() for path in found]
        if folder := entry.get("Annotated source"):
            entry["Annotated source"] = [f"{folder}{module}.md" for module in annotated.MODULES]


def on_files(files, config):
    """Check the lessons, write the source pages, and add styles, fonts and the script."""
    formulas.find_node()
    lessons = Path(config.config_file_path).parent / "lessons"
    notebooks.check_lessons(lessons)
    taught = notebooks.annotated_in(lessons)
    for module in annotated.MODULES:
        page = annotated.module_page(module, taught)
        files.append(File.generated(config, f"source/{module}.md", content=page))
    # Only woff2: every browser that shows the page reads it.
    css = (formulas.KATEX / "katex.min.css").read_text(encoding="utf-8")
    css = re.sub(r',url\([^)]*\.(?:woff|ttf)\) format\("\w+"\)', "", css)
    files.append(File.generated(config, "assets/katex/katex.css", content=css))
    katex_fonts = (formulas.KATEX / "fonts").glob("*.woff2")
    assets = {f"katex/fonts/{font.name}": font for font in katex_fonts}
    assets |= {f"fonts/{posixpath.basename(f)}": fontsource(f) for f in FONTS}
    own = ("tutorial.css", "symbols.js", "scrolling.js", "icon.svg")
    assets |= {name: THEME / name for name in own}
    assets |= {f"widgets/{path.name}": path for path in (THEME / "widgets").iterdir()}
    for name, source in assets.items():
        files.append(File.generated(config, f"assets/{name}", abs_src_path=str(source)))


def on_page_markdown(markdown, page, config, files):
    """Put a lesson's cells in place, and turn the repository's links into the site's."""
    if page.file.generated_by:
        return markdown  # its links are the site's own
    if not is_lesson(page.file):
        return map_links(markdown, page.file).replace(symbols.TABLE, symbols.table())
    cells = cells_of(page.file)

    def source(match):
        cell = cells[match[1]]
        text = notebooks.markdown_of(cell)
        return map_links(text, page.file) if cell["cell_type"] == "markdown" else text

    # The plugin appends a style block.
    return CELL.sub(source, markdown.split(END_OF_LESSON)[0])


def on_page_content(html, page, config, files):
    """Put code, outputs, drawings and download links into a page."""
    if is_lesson(page.file):
        path = Path(page.file.abs_src_path)
        cells = cells_of(page.file)

        def output(match):
            cell = cells[match[1]]
            shown = notebooks.show_output(cell["outputs"][int(match[2])], cell, path.name)
            return f'<section class="lesson-output" data-search-exclude>{shown}</section>'

        html = CODE.sub(lambda match: notebooks.show_code(cells[match[1]]), html)
        html = OUTPUT.sub(output, html)
        html = html.replace("</h1>", "</h1>\n" + downloads(path), 1)
    html = annotated.place_listings(html, page.file.src_uri)

    def drawing(match):
        source = Path(config.docs_dir, posixpath.dirname(page.url), match[3])
        return notebooks.show_svg(source.read_text(encoding="utf-8"), match[1], match[2])

    html = DRAWING.sub(drawing, html)
    # Search leads to sections: listings would swamp it.
    return LISTING.sub(r"\g<0> data-search-exclude", html)


def on_env(env, config, files):
    """Mark symbols and render the formulas of all pages, before search reads the pages."""
    pages = {file.src_uri: file.page for file in files.documentation_pages() if file.page}
    contents = {
        path: symbols.mark_page(page.content, path, "../" * page.url.count("/"))
        for path, page in pages.items()
        if page.content
    }
    for path, content in formulas.render(contents).items():
        pages[path].content = PLAIN.sub(r"\1", content)


def is_lesson(file) -> bool:
    """Return whether a page is a lesson."""
    return file.src_uri.endswith(".ipynb")


def cells_of(file) -> dict[str, dict]:
    """Return a lesson's cells by their id."""
    return {cell["id"]: cell for cell in notebooks.read_cells(Path(file.abs_src_path))}


def map_links(markdown: str, file) -> str:
    """Turn links that work in the repository, and in Jupyter, into those that work on the site."""
    here = file.src_uri if is_lesson(file) else f"docs/{file.src_uri}"

    def to_site(match):
        path, fragment = match[1], match[2] or ""
        target = posixpath.normpath(posixpath.join(posixpath.dirname(here), path)) if path else here
        if target.endswith(".ipynb"):
            # Jupyter's anchors are the headings' words, the site's are slugs.
            fragment = fragment and "#" + slugify(unquote(fragment[1:]), "-")
        elif target.startswith("capsnet_tutorial/"):
            module = Path(target).stem
            target, fragment = f"docs/source/{module}.md", ""
            if module not in annotated.MODULES:
                target, fragment = "docs/api.md", f"#capsnet_tutorial.{module}"
        if not path:
            return f"]({fragment})"
        folder = posixpath.dirname(file.src_uri) or "."
        return f"]({posixpath.relpath(target.removeprefix('docs/'), folder)}{fragment})"

    return LINK.sub(to_site, markdown)


def fontsource(name: str) -> Path:
    """Return the path of a font that npm installed.

    Raises:
        PluginError: if it isn't there.
    """
    path = THEME / "node_modules/@fontsource-variable" / name
    if not path.is_file():
        raise PluginError(f"The font {os.path.basename(name)} isn't installed: {formulas.INSTALL}.")
    return path


def downloads(path: Path) -> str:
    """Return the links to a lesson's notebook and script."""
    return (
        '<p class="lesson-files" data-search-exclude>Run it yourself: '
        f'<a href="{path.name}" download>notebook</a> or '
        f'<a href="{path.stem}.py" download>script</a></p>'
    )
