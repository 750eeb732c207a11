"""Columns of positions in Spark: each task computes the record batches that it receives.

    python spark.py
"""

import pyarrow as pa
from pyspark.sql import SparkSession

import lanefish

COLUMNS = ["fen", "legal_moves", "in_check"]


def compute(batches):
    """Record batches with a column `fen` become batches of the columns."""
    for batch in batches:
        # Spark already runs a task on each core.
        table = pa.table(lanefish.compute(batch, COLUMNS, threads=1))
        # Spark has no unsigned numbers.
        table = table.set_column(1, "legal_moves", table["legal_moves"].cast(pa.int32()))
        yield from table.to_batches()


def main():
    spark = SparkSession.builder.master("local[2]").appName("lanefish").getOrCreate()
    positions = [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",),
        ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",),
    ] * 5000
    frame = spark.createDataFrame(positions, "fen string").repartition(4)
    computed = frame.mapInArrow(compute, "fen string, legal_moves int, in_check boolean")
    total = computed.groupBy().sum("legal_moves").collect()[0][0]
    print(f"{computed.count()} positions, {total} legal moves")
    assert total == 5000 * (20 + 48)
    spark.stop()


if __name__ == "__main__":
    main()
