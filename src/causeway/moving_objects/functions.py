"""The operators as functions of DataFrame columns, and `register`, which makes them functions of SQL.

An argument is a column or its name; any other value is a constant. Times are milliseconds since 1970
(numbers of any type) or timestamps. Where a function asks whether two places are the same, an optional
last argument is the tolerance in metres; it is 1 cm if it is left out.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from causeway.moving_objects import types
from causeway.moving_objects.spark import encodings, operators
from causeway.moving_objects.sql_expressions import SQL_FUNCTIONS

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

__all__ = [
    "as_meos",
    "as_mfjson",
    "at",
    "at_bool",
    "atinstant",
    "atperiods",
    "boxes",
    "circle",
    "concat",
    "create_instant",
    "deftime",
    "distance",
    "eq",
    "from_meos",
    "from_mfjson",
    "ge",
    "gt",
    "initial",
    "inside",
    "inst",
    "intersection",
    "isempty",
    "le",
    "length",
    "line_as_wkb",
    "line_distance",
    "line_from_wkb",
    "lt",
    "moving_point",
    "ne",
    "passes",
    "point_as_wkb",
    "point_from_wkb",
    "present",
    "region_as_wkb",
    "region_from_wkb",
    "register",
    "sometimes",
    "sql_names",
    "trajectory",
    "val",
]

_ARROW_FUNCTIONS: Final[dict[str, tuple[operators.ArrowFunction, str]]] = {
    "as_meos": (encodings.as_meos, "binary"),
    "as_mfjson": (encodings.as_mfjson, "string"),
    "at": (operators.at, types.MOVING_POINT),
    "at_bool": (operators.at_bool, types.MOVING_BOOL),
    "atinstant": (operators.atinstant, types.INSTANT_POINT),
    "atperiods": (operators.atperiods, types.MOVING_POINT),
    "boxes": (operators.boxes, types.BOXES),
    "circle": (operators.circle, types.REGION),
    "concat": (operators.concat, types.MOVING_POINT),
    "deftime": (operators.deftime, types.PERIODS),
    "distance": (operators.distance, types.MOVING_REAL),
    "from_meos": (encodings.from_meos, types.MOVING_POINT),
    "from_mfjson": (encodings.from_mfjson, types.MOVING_POINT),
    "initial": (operators.initial, types.INSTANT_POINT),
    "inside": (operators.inside, "boolean"),
    "intersection": (operators.intersection, types.MOVING_POINT),
    "isempty": (operators.isempty, "boolean"),
    "length": (operators.length, "double"),
    "line_distance": (operators.line_distance, "double"),
    "line_as_wkb": (encodings.line_as_wkb, "binary"),
    "line_from_wkb": (encodings.line_from_wkb, types.LINE),
    "moving_point": (operators.moving_point, types.MOVING_POINT),
    "passes": (operators.passes, "boolean"),
    "point_as_wkb": (encodings.point_as_wkb, "binary"),
    "point_from_wkb": (encodings.point_from_wkb, types.POINT),
    "present": (operators.present, "boolean"),
    "region_as_wkb": (encodings.region_as_wkb, "binary"),
    "region_from_wkb": (encodings.region_from_wkb, types.REGION),
    "sometimes": (operators.sometimes, "boolean"),
    "trajectory": (operators.trajectory, types.LINE),
    **{
        name: (operators.comparison(name), types.MOVING_BOOL) for name in ("lt", "le", "eq", "ne", "ge", "gt")
    },
}

_SQL_NAMES: Final = {"length": "mo_length", "concat": "mo_concat"}
"""Names in SQL of the functions whose own name Spark uses for something else."""


def sql_names() -> frozenset[str]:
    """The names that the functions have in SQL."""
    return frozenset(_SQL_NAMES.get(name, name) for name in _ARROW_FUNCTIONS) | frozenset(SQL_FUNCTIONS)


def register(spark: SparkSession, names: Collection[str] | None = None) -> None:
    """Make every function of this module, or those of `names`, a temporary function of `spark`.

    `length` and `concat` are `mo_length` and `mo_concat`, since Spark has functions of these names. There are
    three more for joins by an index (see `make_index`): `cells(low, high, size)`,
    `first_cell(low, other_low, size)` and `units_of(t, x, y, first, units, begin_closed, end_closed)`.
    """
    wanted = sql_names() if names is None else names
    for name in _ARROW_FUNCTIONS:
        if (known_as := _SQL_NAMES.get(name, name)) in wanted:
            spark.udf.register(known_as, _udf(name))
    for name, (parameters, result, expression) in SQL_FUNCTIONS.items():
        if name in wanted:
            made = f"TEMPORARY FUNCTION {name}({parameters}) RETURNS {result} RETURN {expression}"
            spark.sql(f"CREATE OR REPLACE {made}")


@cache
def _udf(name: str) -> Any:
    from pyspark.sql.pandas.functions import arrow_udf

    function, result = _ARROW_FUNCTIONS[name]
    return arrow_udf(function, result)  # type: ignore[call-overload]


def _call(name: str, *arguments: Any) -> Column:
    from pyspark.sql import functions as spark_functions

    columns = [
        spark_functions.col(one)
        if isinstance(one, str)
        else one
        if _is_column(one)
        else spark_functions.lit(one)
        for one in arguments
    ]
    called: Column = _udf(name)(*columns)
    return called


def _is_column(value: Any) -> bool:
    from pyspark.sql import Column

    return isinstance(value, Column)


def _column(value: Any) -> Column:
    from pyspark.sql import functions as spark_functions

    return spark_functions.col(value) if isinstance(value, str) else value


def val(instant_point: Any) -> Column:
    """The position of a position in time."""
    from pyspark.sql import functions as spark_functions

    point = _column(instant_point)
    position = spark_functions.struct(point.getField("x").alias("x"), point.getField("y").alias("y"))
    return spark_functions.when(point.isNotNull(), position)


def inst(instant_point: Any) -> Column:
    """The time of a position in time, in ms."""
    return _column(instant_point).getField("t")


def create_instant(text: Any) -> Column:
    """The time that a text names (`2007-05-28-09:30:00.000`, or with a space), as whole ms."""
    from pyspark.sql import functions as spark_functions

    column = _column(text)
    plain = spark_functions.to_timestamp_ntz(
        spark_functions.regexp_replace(column, "^([0-9]+-[0-9]+-[0-9]+)-", "$1 ")
    )
    in_utc = spark_functions.concat(plain.cast("string"), spark_functions.lit("Z"))
    return spark_functions.unix_millis(spark_functions.to_timestamp(in_utc))


def moving_point(rows: Any, *coordinates: Any) -> Column:
    """A moving point of positions, in any order: `moving_point(collect_list(struct(t, x, y)))`.

    Or of the rows of a streaming table, `moving_point(TRJ(*), 'pos', 'lane')`: x and y are columns of the
    rows, by name, or numbers. The time is the rows' last column: whole seconds, or a timestamp.
    """
    from pyspark.sql import functions as spark_functions

    return _call("moving_point", rows, *(spark_functions.lit(one) for one in coordinates))


def atinstant(trip: Any, instant: Any) -> Column:
    """Time and position at an instant; NULL if the movement is not defined then."""
    return _call("atinstant", trip, instant)


def initial(trip: Any) -> Column:
    """Time and position of the start; NULL for an empty movement."""
    return _call("initial", trip)


def present(trip: Any, when: Any) -> Column:
    """Whether the movement is defined at an instant, or at any time of a period or of periods."""
    return _call("present", trip, when)


def atperiods(trip: Any, periods: Any) -> Column:
    """The movement during a period or periods."""
    return _call("atperiods", trip, periods)


def at(trip: Any, place: Any, *tolerance: Any) -> Column:
    """The movement while it is at a point, or in a region."""
    return _call("at", trip, place, *tolerance)


def at_bool(value: Any, wanted: Any) -> Column:
    """The part of a moving bool that is true, or false; Table 5's `at` of a moving bool."""
    return _call("at_bool", value, wanted)


def passes(trip: Any, place: Any, *tolerance: Any) -> Column:
    """Whether the movement is ever at a point, or in a region."""
    return _call("passes", trip, place, *tolerance)


def deftime(value: Any) -> Column:
    """When a moving point, real or bool is defined."""
    return _call("deftime", value)


def trajectory(trip: Any) -> Column:
    """The line that a movement leaves in the plane."""
    return _call("trajectory", trip)


def length(value: Any) -> Column:
    """Metres driven in a movement, or metres of a line."""
    return _call("length", value)


def distance(trip: Any, other: Any) -> Column:
    """The distance of two movements, or of a movement and a point, in time."""
    return _call("distance", trip, other)


def line_distance(one: Any, other: Any) -> Column:
    """The smallest distance of two lines, or of a line and a point; Table 5's `distance` of lines."""
    return _call("line_distance", one, other)


def intersection(trip: Any, other: Any, *tolerance: Any) -> Column:
    """The first movement while both are at the same place."""
    return _call("intersection", trip, other, *tolerance)


def inside(point: Any, region: Any) -> Column:
    """Whether a point is in a region or on its border."""
    return _call("inside", point, region)


def sometimes(value: Any) -> Column:
    """Whether a moving bool is ever true."""
    return _call("sometimes", value)


def isempty(value: Any) -> Column:
    """Whether a moving value, periods, a line or a region is NULL or has nothing in it."""
    return _call("isempty", value)


def concat(one: Any, *other: Any) -> Column:
    """Two movements, or all movements of an array, as one; they must not overlap in time."""
    return _call("concat", one, *other)


def circle(centre: Any, radius: Any, corners: Any) -> Column:
    """A regular polygon around a point; `radius` is the distance of its corners."""
    return _call("circle", centre, radius, corners)


def lt(value: Any, limit: Any) -> Column:
    """When a moving real is below a number, and when it is not."""
    return _call("lt", value, limit)


def le(value: Any, limit: Any) -> Column:
    """When a moving real is at most a number, and when it is not."""
    return _call("le", value, limit)


def eq(value: Any, limit: Any) -> Column:
    """When a moving real is a number, and when it is not."""
    return _call("eq", value, limit)


def ne(value: Any, limit: Any) -> Column:
    """When a moving real is not a number, and when it is."""
    return _call("ne", value, limit)


def ge(value: Any, limit: Any) -> Column:
    """When a moving real is at least a number, and when it is not."""
    return _call("ge", value, limit)


def gt(value: Any, limit: Any) -> Column:
    """When a moving real is above a number, and when it is not."""
    return _call("gt", value, limit)


def boxes(trip: Any, units: Any = 64, longest: Any = 300_000) -> Column:
    """Boxes of at most `units` units; a unit of more than `longest` ms has a box of its own."""
    return _call("boxes", trip, units, longest)


def point_as_wkb(value: Any) -> Column:
    """A point as well-known binary."""
    return _call("point_as_wkb", value)


def line_as_wkb(value: Any) -> Column:
    """A line as well-known binary: LineString, or MultiLineString if it has several parts."""
    return _call("line_as_wkb", value)


def region_as_wkb(value: Any) -> Column:
    """A region as well-known binary: Polygon with its holes, or MultiPolygon."""
    return _call("region_as_wkb", value)


def point_from_wkb(value: Any) -> Column:
    """A point of well-known binary."""
    return _call("point_from_wkb", value)


def line_from_wkb(value: Any) -> Column:
    """A line of well-known binary: LineString or MultiLineString."""
    return _call("line_from_wkb", value)


def region_from_wkb(value: Any) -> Column:
    """A region of well-known binary: Polygon or MultiPolygon."""
    return _call("region_from_wkb", value)


def as_meos(trip: Any) -> Column:
    """A moving point as MEOS well-known binary; NULL if it is empty."""
    return _call("as_meos", trip)


def from_meos(value: Any) -> Column:
    """A moving point of MEOS well-known binary."""
    return _call("from_meos", value)


def as_mfjson(trip: Any) -> Column:
    """A moving point as MF-JSON (OGC 19-045r3); NULL if it is empty."""
    return _call("as_mfjson", trip)


def from_mfjson(value: Any) -> Column:
    """A moving point of MF-JSON: MovingPoint, a collection of them, or MEOS's `sequences`."""
    return _call("from_mfjson", value)
