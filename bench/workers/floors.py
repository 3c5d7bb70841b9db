"""What bounds the rows of the bench from below on this machine: what a byte or an operation costs, and how many of them
a row needs at least.

Rates are those of other people's fastest code (OpenSSL, BLAS, Arrow, NumPy), on as many threads as Murmure may use.
Needs are counted from Murmure itself: the words that a report takes from the keystream, the bytes that it has.
"""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import outcomes
import pyarrow as pa
import pyarrow.parquet as pq
import trial
from clock import CLUSTERS, EPSILON, FITTED, MANY, SCALES, SIZES, SUMMED, WIDTH, K, best, categories, emit, records
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from ours import CATEGORICAL, bounded, categorical

import murmure as mu

THREADS = min(2, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
PIECE = 1 << 18  # bytes of keystream at a time: fits the second-level cache
CALLS = 64  # of each thread
NEAR, FAR = 1 << 20, 1 << 28  # bytes that are read: still in the cache, and from memory
SIDE = 512  # of the matrices that are multiplied
BLOCK = 8192  # numbers whose exponentials are taken at a time
DOUBLES, COLUMNS = 1 << 20, 8  # of a Parquet file
SIGNED = 200  # signatures, or agreed keys, of each thread
MESSAGE = bytes(200)
PEOPLE = 10_000
CACHED = 1 << 25  # bytes that may still be in the last cache when they are read again
STEPS = 2


def together(work):
    """`work` on every thread."""
    if THREADS == 1:
        return work
    pool = ThreadPoolExecutor(THREADS)
    return lambda: list(pool.map(lambda _: work(), range(THREADS)))


def rate(name, count, work, threads=THREADS):
    """Nanoseconds for one of `count`, which each thread does."""
    seconds = best(together(work) if threads > 1 else work)
    emit(f"rate.{name}", "floor", n=count * threads, seconds=seconds, per_item_ns=seconds / (count * threads) * 1e9)


def repeated(call, times=CALLS):
    def work():
        for _ in range(times):
            call()

    return work


def keystream():
    """A generator and a buffer for each call of `work`, so that threads share nothing."""

    def work():
        cipher = Cipher(algorithms.AES256(bytes(32)), modes.CTR(bytes(16))).encryptor()
        zeros, out = bytes(PIECE), bytearray(PIECE + 15)
        for _ in range(CALLS):
            cipher.update_into(zeros, out)

    rate("keystream", PIECE * CALLS, work)


def reading():
    near, far = np.ones(NEAR // 8), np.ones(FAR // 8)
    rate("cache", NEAR * CALLS, repeated(lambda: near @ near))
    rate("memory", FAR, lambda: far @ far)


def arithmetic():
    """Products of doubles in BLAS, which `script/bench` keeps to one thread; exponentials of arrays in the cache."""
    one, other = np.random.default_rng(7).normal(size=(2, SIDE, SIDE))
    rate("product", SIDE**3, lambda: one @ other)
    line = one.ravel()[:BLOCK].copy()

    def exponentials():
        out = np.empty(BLOCK)
        for _ in range(CALLS):
            np.exp(line, out)

    rate("exponential", BLOCK * CALLS, exponentials)


def decoding():
    """Doubles that are all different, read with Arrow's own threads."""
    with tempfile.TemporaryDirectory(prefix="murmure-bench-") as folder:
        file, rng = Path(folder) / "doubles.parquet", np.random.default_rng(7)
        table = pa.table({f"x{i}": rng.normal(size=DOUBLES) for i in range(COLUMNS)})
        pq.write_table(table, file, write_page_checksum=True, use_dictionary=False)
        rate("double", DOUBLES * COLUMNS, lambda: pq.read_table(file, use_threads=THREADS > 1), 1)


def keys():
    signer, mine = Ed25519PrivateKey.generate(), X25519PrivateKey.generate()
    signature, theirs = signer.sign(MESSAGE), X25519PrivateKey.generate().public_key()
    public = signer.public_key()
    rate("signature", SIGNED, repeated(lambda: public.verify(signature, MESSAGE), SIGNED))
    rate("agreement", SIGNED, repeated(lambda: mine.exchange(theirs), SIGNED))


def starting():
    for name, code in (("python", "pass"), ("numpy", "import numpy")):
        rate(name, 1, lambda code=code: subprocess.run([sys.executable, "-c", code], check=True), 1)


def need(task, **amounts):
    """At least so many of each, for one item of the row."""
    emit(f"need.{task}", "floor", needs=amounts)


def size_of(reports):
    """Bytes of all arrays in it."""
    if isinstance(reports, np.ndarray):
        return reports.nbytes
    parts = reports if isinstance(reports, list | tuple) else getattr(reports, "parts", ())
    return sum(map(size_of, parts.values() if isinstance(parts, dict) else parts))


def words_of(draw):
    """64-bit words that `draw` takes from the bulk of the keystream."""
    rng = mu.Random.seeded(7)
    reports = draw(rng)
    return rng._next[0], reports


def client_and_server(task, m, people, n, given):
    """A client makes keystream while it reads `given` bytes of a person and writes the report; a server reads that."""
    words, reports = words_of(lambda rng: m.report(people, rng))
    assert words and size_of(reports), f"{task}: nothing was counted"
    need(f"{task}.client", keystream=8 * words / n, cache=given + size_of(reports) / n)
    need(f"{task}.server", cache=size_of(reports) / n)


def needs_of_columns():
    for name in CATEGORICAL:
        client_and_server(name, categorical(name, K, EPSILON), categories(PEOPLE), PEOPLE, 8)
    client_and_server(f"olh.{MANY}", categorical("olh", MANY, EPSILON), categories(PEOPLE, MANY), PEOPLE, 8)
    for name in ("laplace", "staircase"):
        for epsilon in (1.0, 0.1):
            values = np.linspace(0, 1, PEOPLE)
            words, reports = words_of(lambda rng, v=values, e=epsilon, n=name: bounded(n, e).report(v, rng))
            need(f"{name}.{epsilon}", keystream=8 * words / PEOPLE, cache=8 + reports.nbytes / PEOPLE)


def needs_of_records():
    codes = records(PEOPLE)
    people = {f"column {i}": codes[:, i].copy() for i in range(len(SIZES))}
    schema = mu.Schema({name: mu.Categories(k) for name, k in zip(people, SIZES, strict=True)})
    for task, m in {
        "rsfd.grr": mu.RSFD(schema, EPSILON, oracle="GRR", calibrate="paper"),
        "rsfd.oue-z": mu.RSFD(schema, EPSILON, oracle="OUE-z", calibrate="paper"),
        "smp.grr": mu.SMP(schema, EPSILON, oracle="GRR"),
        "smp.adp": mu.ADP(schema, EPSILON, solution="smp"),
        "spl.grr": mu.SPL(schema, EPSILON, oracle="GRR"),
        "spl.oue": mu.SPL(schema, EPSILON, oracle="OUE"),
        "spl.adp": mu.ADP(schema, EPSILON, solution="spl"),
    }.items():
        client_and_server(task, m, people, PEOPLE, 8 * len(SIZES))


def iterated(columns):
    """Two steps, since fewer show no convergence: scores, products of all pairs of columns, one exponential."""
    d = columns + 1
    return {"product": STEPS * (d + d * (d + 1) / 2), "exponential": STEPS}


def needs_of_sums():
    """Rows are read once; a step of k-means takes a product for every centre and column, and there is one at least."""
    for n in FITTED:
        where = "memory" if n * 8 * WIDTH > CACHED else "cache"
        need(f"fit.bayes.{n}", **{where: 8 * WIDTH + 8})
        need(f"fit.regression.{n}", **{where: 8 * WIDTH + 8}, product=(WIDTH + 2) * (WIDTH + 3) / 2)
        need(f"fit.kmeans.{n}", **{where: 8 * WIDTH}, product=CLUSTERS * WIDTH)
    columns = outcomes.COLUMNS + 2  # the outcome and the constant are columns too
    for way in ("stated", "own"):
        need(f"ols.{way}", double=columns - 1, product=columns * (columns + 1) / 2)
        need(f"logit.{way}", **iterated(outcomes.FEW), double=outcomes.FEW + 1)
    for act in outcomes.ITERATED[1:]:
        need(f"{act}.stated", **iterated(outcomes.FEW), double=outcomes.FEW + 1)
    for ties in ("efron", "breslow"):
        need(f"cox.{ties}", **iterated(len(trial.COLUMNS)))
    need("cox.first", numpy=1)
    for scale in SCALES:
        for sampler in ("exact", "table"):
            need(f"noise.{sampler}.{scale}", keystream=8, cache=16)
    parties, _, gone = SUMMED
    stay = parties - gone
    # three of everybody, four of who stays: docs/decisions/0051
    need("secure.small", signature=3 * parties + 4 * stay, agreement=gone * stay)
    need("import", python=1)
    need("reach", numpy=1)
    need("help", python=1)


for measured in (keystream, reading, arithmetic, decoding, keys, starting):
    measured()
needs_of_columns()
needs_of_records()
needs_of_sums()
