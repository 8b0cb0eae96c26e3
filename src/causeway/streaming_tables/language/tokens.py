"""The tokens of a SQL text, as Spark's own lexer cuts it. Joined together they give the text back."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

__all__ = [
    "Kind",
    "Token",
    "identifier_value",
    "quote_identifier",
    "quote_string",
    "significant",
    "string_value",
    "tokenize",
]


class Kind(Enum):
    """What a token is."""

    SPACE = "space"
    COMMENT = "comment"
    HINT = "hint"
    STRING = "string"
    QUOTED = "quoted name"
    NUMBER = "number"
    WORD = "word"
    SYMBOL = "symbol"
    UNCLOSED = "unclosed"
    """A string, quoted name or comment without its end: the rest of the text."""


class Token:
    """A token, with its place in the text."""

    __slots__ = ("_symbol", "_word", "end", "is_name", "kind", "start", "text")

    def __init__(self, kind: Kind, text: str, start: int) -> None:
        self.kind = kind
        self.text = text
        self.start = start
        self.end = start + len(text)
        self.is_name = kind is Kind.WORD or kind is Kind.QUOTED
        self._word = text.upper() if kind is Kind.WORD else ""
        self._symbol = text if kind is Kind.SYMBOL else ""

    def word(self) -> str:
        """A plain word in upper case, else nothing: a quoted name is never a keyword."""
        return self._word

    def symbol(self) -> str:
        """The symbol that this token is, else nothing."""
        return self._symbol


_TOKEN: Final = re.compile(
    r"""
    (?P<SPACE>\s+)
  | (?P<COMMENT>--(?:\\\n|[^\r\n])*)
  | (?P<STRING>[rR]'[^']*'|[rR]"[^"]*"
      |'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"
      |\$(?P<tag>[A-Za-z]*)\$.*?\$(?P=tag)\$)
  | (?P<QUOTED>`(?:[^`]|``)*`)
  | (?P<NUMBER>(?:\d+(?:\.\d*)?|(?<![\w)\]`])\.\d+)(?:[eE][+-]?\d+)?(?:BD|bd|[LSYFDlsyfd])?(?!\w))
  | (?P<WORD>[^\W\d_]+://[\w/\-.?=&\#%]+|\w+)
  | (?P<OPEN>/\*\+?|['"`])
  | (?P<SYMBOL><=>|<>|!=|<=|>=|==|\|\||\|>|->|=>|::|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_KINDS: Final = {kind.name: kind for kind in Kind}
_COMMENT_EDGE: Final = re.compile(r"/\*(?!\+)|\*/")
_TRIVIA: Final = frozenset({Kind.SPACE, Kind.COMMENT, Kind.HINT})
_ESCAPES: Final = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_ESCAPE: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-3][0-7]{2})|(.))", re.DOTALL)


def tokenize(text: str, start: int = 0, end: int | None = None) -> list[Token]:
    """All tokens of a text, or of a part of it, spaces and comments included. Any text can be cut."""
    tokens = []
    # What is not closed must not run on behind the part.
    part = text if end is None else text[:end]
    position = start
    while position < len(part):
        token = _token_at(part, position)
        tokens.append(token)
        position = token.end
    return tokens


def significant(tokens: list[Token]) -> list[Token]:
    """The tokens that carry meaning here: no spaces, no comments, no hints."""
    return [token for token in tokens if token.kind not in _TRIVIA]


def _token_at(text: str, position: int) -> Token:
    found = _TOKEN.match(text, position)
    assert found is not None and found.lastgroup is not None
    if (group := found.lastgroup) == "tag":
        group = "STRING"
    if group != "OPEN":
        return Token(_KINDS[group], found.group(), position)
    if found.group() == "/*":
        kind, end = Kind.COMMENT, _comment_end(text, position)
    elif found.group() == "/*+":
        kind, end = Kind.HINT, _hint_end(text, position + 3)
    else:
        end = None
    if end is None:
        return Token(Kind.UNCLOSED, text[position:], position)
    return Token(kind, text[position:end], position)


def _comment_end(text: str, position: int) -> int | None:
    depth = 0
    for edge in _COMMENT_EDGE.finditer(text, position):
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            return edge.end()
    return None


def _hint_end(text: str, position: int) -> int | None:
    """A hint holds tokens of its own: the end of a comment inside one of its strings does not end it."""
    while position < len(text):
        if text.startswith("*/", position):
            return position + 2
        token = _token_at(text, position)
        if token.kind is Kind.UNCLOSED:
            return None
        position = token.end
    return None


def identifier_value(token: Token) -> str:
    """The name that a plain or quoted identifier stands for."""
    return token.text[1:-1].replace("``", "`") if token.kind is Kind.QUOTED else token.text


def quote_identifier(name: str) -> str:
    """A name as a quoted identifier."""
    return "`" + name.replace("`", "``") + "`"


def quote_string(text: str) -> str:
    """A text as a string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def string_value(token: Token) -> str:
    """The characters that a string literal stands for, by Spark's rules of escaping."""
    text = token.text
    if text[0] == "$":
        tag = text[: text.index("$", 1) + 1]
        return text[len(tag) : -len(tag)]
    if text[0] in "rR":
        return text[2:-1]
    quote, body = text[0], text[1:-1]
    pieces = []
    position = 0
    # A doubled quote can stand right after an escape, so both are read from left to right in one pass.
    while position < len(body):
        if body[position] == "\\" and (found := _ESCAPE.match(body, position)):
            short, long, octal, single = found.groups()
            if single is not None:
                pieces.append(_ESCAPES.get(single, single))
            else:
                number = int(octal, 8) if octal else int(short or long, 16)
                pieces.append(chr(number) if number <= 0x10FFFF else "\ufffd")
            position = found.end()
        else:
            pieces.append(body[position])
            position += 2 if body[position] == quote else 1
    return "".join(pieces)
