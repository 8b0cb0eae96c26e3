"""Monitor new users: a join of two streams by person and window, then each person once.

State: persons, auctions and answers of windows that the watermark has not ended.
"""

from pyspark.sql import DataFrame
from pyspark.sql.functions import col, window

READS = {"person": ("id", "name", "dateTime"), "auction": ("seller", "dateTime")}


def answers(person: DataFrame, auction: DataFrame) -> DataFrame:
    """Persons who opened an auction in the ten seconds in which they registered."""
    registered = person.select("id", "name", window("dateTime", "10 seconds").alias("registered"))
    opened = auction.select("seller", window("dateTime", "10 seconds").alias("opened"))
    met = registered.join(opened, (col("id") == col("seller")) & (col("registered") == col("opened")))
    once = met.dropDuplicates(["id", "name", "registered"])
    return once.select("id", "name", col("registered.start").alias("starttime"))
