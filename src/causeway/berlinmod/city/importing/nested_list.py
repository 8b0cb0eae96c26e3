"""SECONDO's nested lists: atoms and lists in parentheses, each list with the line that it begins in."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from causeway.runtime.errors import UserError

__all__ = ["NestedList", "parse_nested_lists", "read_relation"]

_TOKEN: Final = re.compile(r"""\n|[()]|"(?:[^"\\]|\\.)*"|<text>.*?</text--->|[^\s()"]+|["]""", re.DOTALL)


class NestedList(list["NestedList | str"]):
    """A list, and the line of its opening parenthesis."""

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line


def parse_nested_lists(text: str, name: str) -> NestedList:
    """All lists of a text, as the members of one; `name` is the file's, for errors."""
    whole = NestedList(1)
    open_lists = [whole]
    line = 1
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token == "\n":
            line += 1
        elif token == "(":
            inner = NestedList(line)
            open_lists[-1].append(inner)
            open_lists.append(inner)
        elif token == ")":
            if len(open_lists) == 1:
                raise UserError(f"{name}, line {line}: a ) closes nothing; a nested list was expected")
            open_lists.pop()
        elif token == '"':
            raise UserError(f'{name}, line {line}: a text in " " does not end')
        else:
            open_lists[-1].append(token)
            line += token.count("\n")
    if len(open_lists) > 1:
        raise UserError(f"{name}, line {open_lists[-1].line}: the ( in this line is never closed")
    return whole


def read_relation(path: Path, attributes: tuple[str, ...]) -> list[tuple[NestedList, tuple[int, ...]]]:
    """The rows of the relation in a file, each with the places of these attributes in it.

    The file has to have `(OBJECT name () (rel (tuple ((Attribute type) …))) (rows))`.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as refused:
        raise UserError(f"{path} cannot be read: {refused.strerror}") from refused
    whole = parse_nested_lists(text, str(path))
    expected = "(OBJECT name () (rel (tuple (…))) (…))"
    if len(whole) != 1 or not isinstance(whole[0], NestedList):
        raise UserError(f"{path}, line 1: {expected} was expected, but there are {len(whole)} lists")
    members = whole[0]
    if len(members) != 5 or members[0] != "OBJECT":
        raise UserError(f"{path}, line {members.line}: {expected} was expected")
    declared = [name.lower() for name in _attribute_names(path, members[3])]
    missing = [name for name in attributes if name.lower() not in declared]
    if missing:
        raise UserError(
            f"{path}, line {members.line}: the relation has {', '.join(declared) or 'no attribute'}, "
            f"but not {', '.join(missing)}"
        )
    rows = members[4]
    if not isinstance(rows, NestedList):
        raise UserError(f"{path}: the rows of the relation were expected as a list, not {rows}")
    places = tuple(declared.index(name.lower()) for name in attributes)
    found = []
    for row in rows:
        if not isinstance(row, NestedList):
            raise UserError(f"{path}, line {rows.line}: among the rows is {row!r}; each has to be a list")
        found.append((row, places))
    return found


def _attribute_names(path: Path, type_list: NestedList | str) -> list[str]:
    """The names in `(rel (tuple ((Vmax real) (geoData line))))`."""
    shape = "(rel (tuple ((Attribute type) …)))"
    line = type_list.line if isinstance(type_list, NestedList) else 1
    refused = UserError(f"{path}, line {line}: the type {shape} was expected")
    if not isinstance(type_list, NestedList) or len(type_list) != 2 or type_list[0] not in ("rel", "trel"):
        raise refused
    inner = type_list[1]
    if not isinstance(inner, NestedList) or len(inner) != 2 or inner[0] not in ("tuple", "mtuple"):
        raise refused
    names = []
    for attribute in inner[1]:
        if not isinstance(attribute, NestedList) or not attribute or not isinstance(attribute[0], str):
            raise refused
        names.append(attribute[0])
    return names
