"""Columns of positions in Ray: each task computes the table that it receives.

    python ray_data.py
"""

import pyarrow as pa
import ray

import lanefish


def compute(table):
    """A table with a column `fen` gets more columns."""
    # Ray already runs a task on each core.
    computed = pa.table(lanefish.compute(table, ["legal_moves", "in_check"], threads=1))
    for name in computed.column_names:
        table = table.append_column(name, computed[name])
    return table


def main():
    ray.init(num_cpus=2, include_dashboard=False)
    positions = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    ] * 5000
    data = ray.data.from_arrow(pa.table({"fen": positions})).repartition(4)
    computed = data.map_batches(compute, batch_format="pyarrow").materialize()
    total = computed.sum("legal_moves")
    print(f"{computed.count()} positions, {total} legal moves")
    assert total == 5000 * (20 + 48)
    ray.shutdown()


if __name__ == "__main__":
    main()
