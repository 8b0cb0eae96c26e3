"""Moving objects for every Spark user: plain structs of arrays, and the operators of BerlinMOD's Table 5.

`import causeway.moving_objects as mo`, then `mo.register(spark)` for SQL, or `mo.passes("Trip", "Pos")` on a
DataFrame. `docs/moving-objects.md` has the meaning of each function and an example of each.
"""

from causeway.moving_objects import functions
from causeway.moving_objects.functions import *  # noqa: F403
from causeway.moving_objects.index import Grid, Index, make_index, open_index, with_boxes, with_cells

__all__ = ["Grid", "Index", "make_index", "open_index", "with_boxes", "with_cells"]
__all__ += functions.__all__
