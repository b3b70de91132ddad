"""What the site does beside its plugins: check lessons, place outputs, map links, add assets."""

import posixpath
import re
from pathlib import Path

import annotated
import assets
import formulas
import links
import modules
import notebooks
import symbols
from mkdocs.structure.files import File

SIDEBARS = re.compile(r'<div class="md-sidebar.*?(?=<div class="md-content")', re.DOTALL)
END_OF_LESSON = "<!-- end of lesson -->"
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
            entry["Annotated source"] = modules.navigation(folder)


def on_files(files, config):
    """Check the lessons, write the source pages, and add styles, fonts and the script."""
    formulas.find_node()
    lessons = Path(config.config_file_path).parent / "lessons"
    notebooks.check_lessons(lessons)
    taught = notebooks.annotated_in(lessons)
    pages = {module: annotated.module_page(module, taught) for module in modules.MODULES}
    for name, page in {"index": modules.overview(), **pages}.items():
        files.append(File.generated(config, f"source/{name}.md", content=page))
    for file in assets.of_site(config):
        files.append(file)


def on_page_markdown(markdown, page, config, files):
    """Put a lesson's cells in place, and turn the repository's links into the site's."""
    if page.file.generated_by:
        return markdown  # its links are the site's own
    if not links.is_lesson(page.file):
        return links.map_links(markdown, page.file).replace(symbols.TABLE, symbols.table())
    cells = cells_of(page.file)

    def source(match):
        cell = cells[match[1]]
        text = notebooks.markdown_of(cell)
        return links.map_links(text, page.file) if cell["cell_type"] == "markdown" else text

    # The plugin appends a style block.
    return CELL.sub(source, markdown.split(END_OF_LESSON)[0])


def on_page_content(html, page, config, files):
    """Put code, outputs, drawings and download links into a page."""
    if links.is_lesson(page.file):
        path = Path(page.file.abs_src_path)
        cells = cells_of(page.file)

        def output(match):
            cell = cells[match[1]]
            shown = notebooks.show_output(cell["outputs"][int(match[2])], cell)
            return f'<section class="lesson-output" data-search-exclude>{shown}</section>'

        html = CODE.sub(lambda match: notebooks.show_code(cells[match[1]]), html)
        html = OUTPUT.sub(output, html)
        html = html.replace("</h1>", "</h1>\n" + links.downloads(path), 1)
    else:
        html = html.replace("</h1>", "</h1>\n" + links.contents(page.toc), 1)
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


def on_post_page(output, page, config):
    """Leave out the white space between the navigation's tags, which weighs more than its words."""
    return SIDEBARS.sub(lambda match: re.sub(r">\s+<", "><", match[0]), output)


def cells_of(file) -> dict[str, dict]:
    """Return a lesson's cells by their id."""
    return {cell["id"]: cell for cell in notebooks.read_cells(Path(file.abs_src_path))}
