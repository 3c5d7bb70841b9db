"""A large table of made-up people, eight columns: written once to Parquet by a seeded generator; copied by Arrow."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

TEXT = {"region": 13, "work": 9, "schooling": 16, "household": 6}
WHOLE = {"age": (18, 99), "children": (0, 9), "hours": (0, 80)}
INCOME, CELLS = 200_000.0, 32
BATCH, GROUP = 1 << 18, 1 << 20  # rows read at a time, and rows of a row group, as Murmure has them


def labels(name):
    return [f"{name} {i}" for i in range(TEXT[name])]


def batches(n):
    rng = np.random.default_rng(7)
    for start in range(0, n, BATCH):
        rows = min(BATCH, n - start)
        columns = {}
        for name, k in TEXT.items():
            codes = np.minimum(rng.geometric(2 / k, rows) - 1, k - 1).astype(np.int8)
            columns[name] = pa.DictionaryArray.from_arrays(pa.array(codes), labels(name))
        for name, (low, high) in WHOLE.items():
            columns[name] = pa.array((rng.binomial(high - low, 0.4, rows) + low).astype(np.int16))
        columns["income"] = pa.array(np.minimum(rng.gamma(2.0, 15_000, rows), INCOME).round(2))
        yield pa.record_batch(columns)


def groups(batches):
    held = []
    for batch in batches:
        held.append(batch)
        if sum(map(len, held)) >= GROUP:
            yield pa.Table.from_batches(held).unify_dictionaries()
            held = []
    if held:
        yield pa.Table.from_batches(held).unify_dictionaries()


def write(path, schema, batches):
    """With Arrow's defaults and Murmure's checksums, and like there in a thread while the next batches are made."""
    with (
        pq.ParquetWriter(path, schema, compression="snappy", write_page_checksum=True) as writer,
        ThreadPoolExecutor(1) as pool,
    ):
        last = pool.submit(lambda: None)
        for group in groups(batches):
            last.result()
            last = pool.submit(writer.write_table, group, GROUP)
        last.result()


def make(path, n):
    write(path, next(batches(1)).schema, batches(n))


def duplicate(source, target):
    with pq.ParquetFile(source) as file:
        write(target, file.schema_arrow, file.iter_batches(BATCH))
