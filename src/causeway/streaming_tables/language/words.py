"""Words of Spark SQL that tell where a clause, a relation or an expression begins."""

from __future__ import annotations

from typing import Final

__all__ = ["BEFORE_OPERAND", "FOLLOWED_BY_BY", "NO_ALIAS", "QUERY_STARTS", "SET_OPERATIONS"]

QUERY_STARTS: Final = frozenset({"SELECT", "WITH", "FROM", "VALUES", "TABLE"})
SET_OPERATIONS: Final = frozenset({"UNION", "INTERSECT", "EXCEPT", "MINUS", "SETMINUS"})
FOLLOWED_BY_BY: Final = frozenset({"GROUP", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE"})
_JOINS: Final = frozenset({"ANTI", "ASOF", "CROSS", "FULL", "INNER", "JOIN", "LATERAL", "LEFT", "NATURAL"})
_JOIN_ENDS: Final = frozenset({"ON", "RIGHT", "SEMI", "USING"})
_CLAUSES: Final = frozenset(
    {"WHERE", "HAVING", "LIMIT", "OFFSET", "TABLESAMPLE", "SELECT", "FROM", "QUALIFY"}
)
_OTHER_STARTS: Final = frozenset({"INSERT", "MAP", "REDUCE", "SET", "WHEN"})
NO_ALIAS: Final = _JOINS | _JOIN_ENDS | _CLAUSES | _OTHER_STARTS | SET_OPERATIONS | FOLLOWED_BY_BY
"""What follows a relation and is not its alias."""

_LOGIC: Final = frozenset({"AND", "OR", "NOT", "CASE", "WHEN", "THEN", "ELSE", "IN", "BETWEEN", "DIV"})
_PATTERNS: Final = frozenset({"LIKE", "RLIKE", "ILIKE", "REGEXP", "ESCAPE"})
_BEFORE_LIST: Final = frozenset(
    {"SELECT", "DISTINCT", "ALL", "BY", "VALUES", "SET", "USING", "AS", "INTERVAL"}
)
_BEFORE_CONDITION: Final = frozenset({"WHERE", "ON", "HAVING", "QUALIFY", "LIMIT", "OFFSET"})
BEFORE_OPERAND: Final = (
    _LOGIC
    | _PATTERNS
    | _BEFORE_LIST
    | _BEFORE_CONDITION
    | frozenset({"FROM", "JOIN", "UNION", "EXCEPT", "INTERSECT"})
)
"""After these an expression or relation begins; all other words can be the end of one."""
