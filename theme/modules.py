"""The site's section of annotated source: which module is in which group, and the first page."""

from annotated import META, PACKAGE, read_rows

# Every module of the package once; those of the first group in the order of the lessons.
GROUPS = {
    "The mathematics": (
        "squashing",
        "routing",
        "routing_gradient",
        "margin",
        "reconstruction",
        "layers",
        "config",
        "capsnet",
        "reference",
    ),
    "Mistakes": (
        "mistakes",
        "mistakes_squashing",
        "mistakes_routing",
        "mistakes_margin",
        "mistakes_reconstruction",
        "mistakes_capsnet",
        "mistakes_training",
    ),
    "Training and data": (
        "data",
        "augmentation",
        "training",
        "training_state",
        "history",
        "devices",
        "processes",
        "checkpoints",
        "evaluation",
        "intervals",
        "measures",
    ),
    "Imports and commands": (
        "__init__",
        "__main__",
        "cli",
        "options",
        "train_command",
        "evaluate_command",
        "predict_command",
        "predicting",
        "runs",
    ),
    "Drawing and recording": (
        "pictures",
        "plotting",
        "plotting_decades",
        "plotting_routing",
        "plotting_margin",
        "plotting_reconstruction",
        "plotting_capsnet",
        "plotting_training",
        "thumbnails",
        "widgets",
        "annotations",
        "source_rows",
        "records",
        "recipes",
    ),
}
MODULES = [module for group in GROUPS.values() for module in group]


def navigation(folder: str) -> list[str | dict[str, list[str]]]:
    """Return the section's pages for the navigation, all but the first group folded."""
    pages = {
        title: [f"{folder}{module}.md" for module in modules] for title, modules in GROUPS.items()
    }
    first, *others = pages
    return [f"{folder}index.md", *pages[first], *({title: pages[title]} for title in others)]


def overview() -> str:
    """Return the section's first page as Markdown: each module with what it is for."""
    page = [META + "# All modules", "A page for each module: its code, and beside it what it does."]
    for title, modules in GROUPS.items():
        entries = "\n".join(map(_entry, modules))
        page += [f"## {title}", f'<dl class="modules" markdown="1">\n{entries}\n</dl>']
    return "\n\n".join(page)


def _entry(module: str) -> str:
    purpose = read_rows(PACKAGE / f"{module}.py")[0].note.partition("\n\n")[0]
    link = f"[`{module}.py`]({module}.md)"
    return f'<dt markdown="1">{link}</dt>\n<dd markdown="1">{purpose}</dd>'
