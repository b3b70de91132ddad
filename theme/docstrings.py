"""Prepare docstrings for the API page: doctests become code, names become links."""

import re

import annotated
import griffe

DOCTEST = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)
LEAD = re.compile(r"^(Differs from the paper|Source):", re.MULTILINE)
NAME = re.compile(r"(?<![`\[])`(\w+)`(?!`)")


class Docstrings(griffe.Extension):
    """Rewrite each docstring of a package once all its modules are loaded."""

    def on_package(self, *, pkg: griffe.Module, **_) -> None:
        """Collect the names that have a place on the page, then rewrite the docstrings."""
        modules = [module for module in pkg.modules.values() if not module.is_alias]
        paths = {
            name: member.path
            for module in modules
            for name, member in module.members.items()
            if not member.is_alias and member.has_docstring and not name.startswith("_")
        }
        # What the package exports wins over a namesake in another module.
        paths |= {name: m.target_path for name, m in pkg.members.items() if m.is_alias}
        for module in modules:
            self._rewrite(module, paths)

    def _rewrite(self, obj: griffe.Object, paths: dict[str, str]) -> None:
        if obj.docstring:
            text = prepare(obj.docstring.value, paths, obj.path)
            obj.docstring.value = text + annotated.link_from_reference(obj.path)
        for member in obj.members.values():
            if not member.is_alias:
                self._rewrite(member, paths)


def prepare(text: str, paths: dict[str, str], own: str) -> str:
    """Return a docstring as Markdown for the page; `own` is the path of what it describes."""

    def link(match: re.Match) -> str:
        path = paths.get(match[1])
        return match[0] if path in (None, own) else f"[{match[0]}][{path}]"

    text = NAME.sub(link, text)
    text = LEAD.sub(r"**\1:**", text)
    return DOCTEST.sub(lambda match: f"```pycon\n{match[0]}\n```", text)
