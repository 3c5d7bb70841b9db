"""The rows of the table: what is measured, and what is wanted of it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Ratio:
    """The peer's time over Murmure's: at least `base` with NumPy alone, `fast` with compiled kernels."""

    task: str
    label: str
    base: float | None = None
    fast: float | None = None


@dataclass(frozen=True)
class Budget:
    """A cost of Murmure's own: at most `most` (None: no limit is set, the row only hides nothing)."""

    task: str
    label: str
    most: float | None = None
    unit: str = "s"


@dataclass(frozen=True)
class Streamed:
    """A large file: sanitised and estimated, by all of these acts together; timed against Arrow's copy of the file."""

    task: str  # the mechanism
    label: str
    acts: tuple[str, ...] = ("once",)
    times: float | None = 1.2  # all acts / copy, at most
    growth: float | None = 1.25  # time a row, against the smallest file, at most
    megabytes: float | None = 2000  # peak of any of the processes, at most


@dataclass(frozen=True)
class Fit:
    """scikit-learn's time for a whole fit, which protects nobody, over Murmure's: at least `wanted`."""

    task: str
    label: str
    wanted: float


@dataclass(frozen=True)
class Masked:
    """A secure sum in one process: at most so many seconds at the coordinator, and at the slowest party."""

    task: str
    label: str
    server: float | None = None
    client: float | None = None
    ratio: float | None = None  # Flower's time at the server over Murmure's, at least


@dataclass(frozen=True)
class Wire:
    """A study over HTTP: at most so many seconds from the last joining to the result, and times the bytes needed."""

    task: str
    label: str
    seconds: float = 3
    times: float = 2  # of 8 bytes a word and 200 a neighbour


@dataclass(frozen=True)
class Regressed:
    """A regression of a Parquet table: statsmodels' time on rows in memory over Murmure's, reading counted."""

    task: str  # the peer's; ours has how bounds are known in it: ols.stated
    way: str
    label: str
    ratio: float | None = 1.0  # at least
    difference: float = 1e-9  # of any coefficient or standard error, relative, at most
    megabytes: float = 1000  # peak of the process, at most
    growth: float = 1.5  # of that peak, against the smallest table, whose four batches are not all held at once yet


@dataclass(frozen=True)
class Between:
    """What masked sums between ten parties in one process add to the same ten tables in the clear, in seconds."""

    label: str = "least squares, 20 columns, ten parties"
    most: float = 1.0


@dataclass(frozen=True)
class Added:
    """What Spark adds to the CPU time of the same work in memory, on one core and once started: at most `most`."""

    way: str
    label: str
    most: float | None = 0.3


@dataclass(frozen=True)
class Growth:
    """How a cost grows: the exponent that arithmetic reckons, beside the one that is fitted. Nothing is wanted."""

    task: str
    label: str
    reckoned: str


SIDES = "client", "server"
COLUMN = [
    Ratio("grr.client", "GRR client", 50, 150),
    Ratio("grr.server", "GRR server", 50, 150),
    Ratio("sue.client", "SUE client", 10, 40),
    Ratio("sue.server", "SUE server", 4, 40),
    Ratio("oue.client", "OUE client", 10, 40),
    Ratio("oue.server", "OUE server", 4, 40),
    Ratio("olh.client", "OLH client", None, 300),
    Ratio("olh.server", "OLH decode (server)", 250, 2000),
    Ratio("olh.1024.client", "OLH client, k = 1,024", None, 225),  # a report takes four words, not three
    Ratio("olh.1024.server", "OLH decode (server), k = 1,024", 6000, 15000),
    Ratio("subset.client", "subset selection client", None, 15),
    Ratio("subset.server", "subset selection server", None, 500),
    Ratio("hadamard.client", "Hadamard client", None, 300),
    Ratio("hadamard.server", "Hadamard server", None, 300),
    Ratio("laplace.1.0", "bounded Laplace, 768 x 8", 150, 400),
    Ratio("laplace.0.1", "bounded Laplace, 768 x 8, eps = 0.1", 150),
    Ratio("staircase.1.0", "bounded staircase, 768 x 8", 150, 400),
    Ratio("staircase.0.1", "bounded staircase, 768 x 8, eps = 0.1", 150),
]

RECORDS = [
    Ratio("rsfd.grr.client", "RS+FD[GRR] client", 150, 500),
    Ratio("rsfd.grr.server", "RS+FD[GRR] server"),
    Ratio("rsfd.oue-z.client", "RS+FD[OUE-z] client", None, 150),
    Ratio("rsfd.oue-z.server", "RS+FD[OUE-z] server"),
    Ratio("smp.grr.client", "SMP[GRR] client", 50, 50),
    Ratio("smp.grr.server", "SMP[GRR] server"),
    Ratio("smp.adp.client", "SMP[ADP] client", 50, 50),
    Ratio("smp.adp.server", "SMP[ADP] server"),
    Ratio("spl.grr.client", "SPL[GRR] client", 50, 50),
    Ratio("spl.grr.server", "SPL[GRR] server"),
    Ratio("spl.oue.client", "SPL[OUE] client", 50, 50),
    Ratio("spl.oue.server", "SPL[OUE] server"),
    Ratio("spl.adp.client", "SPL[ADP] client", 50, 50),
    Ratio("spl.adp.server", "SPL[ADP] server"),
]

NOISE = [
    Ratio("noise.exact.1", "discrete Laplace, exact, scale 1", None, 80),
    Ratio("noise.exact.100", "discrete Laplace, exact, scale 100", None, 80),
    Ratio("noise.table.1", "discrete Laplace, from tables, scale 1", None, 500),
    Ratio("noise.table.100", "discrete Laplace, from tables, scale 100", None, 500),
]

FITS = [
    Fit("fit.bayes.100000", "naive Bayes, two classes, 100,000 rows", 3),
    Fit("fit.regression.100000", "linear regression, 100,000 rows", 3),
    Fit("fit.kmeans.100000", "k-means, eight clusters, 100,000 rows", 3),
    Fit("fit.bayes.1000000", "naive Bayes, two classes, 1,000,000 rows", 10),
    Fit("fit.regression.1000000", "linear regression, 1,000,000 rows", 10),
    Fit("fit.kmeans.1000000", "k-means, eight clusters, 1,000,000 rows", 10),
]

SECURE = [
    Masked("secure.small", "30 parties, 1,000 entries, everybody with everybody", ratio=200),
    Masked("secure.long", "100 parties, 100,000 entries, everybody with everybody", server=10),
    Masked("secure.many", "1,000 parties, 1,000 entries, a sparse graph", server=10, client=0.5),
]

WIRE = [
    Wire("wire.all", "30 parties, all products of 21 columns: 231 sums"),
    # As many seconds, and the five that the coordinator is told to wait for those who do not answer.
    Wire("wire.products", "the same; three killed, for whom it waits five seconds", 3 + 5),
]

REGRESSED = [
    Regressed("ols", "stated", "least squares, 20 columns, bounds stated", 8),
    Regressed("ols", "own", "least squares, 20 columns, bounds read off the table first", 8),
    Regressed("logit", "stated", "logistic, 10 columns, bounds stated", 3),
    Regressed("logit", "own", "logistic, 10 columns, bounds read off the table first", None),
    Regressed("probit", "stated", "probit, 10 columns, bounds stated", 1.5),
    Regressed("poisson", "stated", "Poisson, 10 columns, bounds stated", 1.5),
    Regressed("gamma", "stated", "gamma, 10 columns, bounds stated", 1.5),
    Regressed("nb2", "stated", "negative binomial, 10 columns, bounds stated", 1.5),
]

COX = [
    Ratio("cox.efron", "Efron's ties", 1, 1),
    Ratio("cox.breslow", "Breslow's ties", 1, 1),
    Ratio("cox.first", "Efron's ties, the first fit of a process, imports and reading counted", 1, 1),
]

BETWEEN = Between()

TWO_STEPS = ("sanitise", "estimate")
STREAMED = [
    Streamed("smp", "SMP, in one run"),
    Streamed("smp", "SMP, then estimated from the file", TWO_STEPS, None, None, None),
    Streamed("rsfd", "RS+FD[GRR], in one run"),
    Streamed("rsfd", "RS+FD[GRR], then estimated from the file", TWO_STEPS, None, None, None),
]

SPARK = [
    Added("files", "RS+FD[GRR] of Parquet files that the workers read", 0.3),
    Added("scan", "RS+FD[GRR] of a DataFrame that is a plain scan of them", 0.3),
    Added("filtered", "RS+FD[GRR] of a DataFrame that is a scan of them, filtered", 0.5),
    Added("jvm", "RS+FD[GRR] of a DataFrame that only Spark can filter: rows pass through the JVM", None),
    Added("joined", "RS+FD[GRR] of a DataFrame that is joined with a table of thirteen rows", None),
]

BUDGETS = [
    Budget("first.laplace.warm", "bounded Laplace, first call (tables built)"),
    Budget("first.staircase.warm", "bounded staircase, first call (tables built)"),
    Budget("first.cold", "first report and tally of all six categorical protocols, kernels compiled"),
    Budget("first.warm", "the same, kernels from the cache on disk"),
    Budget("import", "`import murmure`, whole process", 0.3),
    # Names load on first use, so the line above alone would flatter.
    Budget("reach", "the same, and GRR, Histogram, Plan, run and certify reached", 0.3),
    Budget("help", "`murmure --help`, whole process", 0.3),
    Budget("memory", "10,000,000 people through GRR (`mu.run`), peak memory", 500, "MB"),
    Budget("certify.grr", "build and certify GRR, k = 100,000", 1),
    Budget("certify.sue", "build and certify SUE, k = 100,000", 1),
    Budget("certify.oue", "build and certify OUE, k = 100,000", 1),
    Budget("certify.olh", "build and certify OLH, k = 100,000", 1),
    Budget("certify.subset", "build and certify subset selection, k = 100,000", 1),
    Budget("certify.hadamard", "build and certify Hadamard response, k = 100,000"),
    Budget("certify.laplace", "build and certify bounded Laplace, 1024 cells", 5),
]

PROTOCOLS = {
    "grr": "GRR",
    "sue": "SUE",
    "oue": "OUE",
    "olh": "OLH",
    "subset": "subset selection",
    "hadamard": "Hadamard response",
}
IN_VALUES = {"grr": "0", "olh": "0", "hadamard": "0"}  # of a client whose report is a few words; of others, k bits
GROWTH = [
    *(Growth(f"n.{name}.{side}", f"{label} {side}", "1") for name, label in PROTOCOLS.items() for side in SIDES),
    *(
        Growth(f"k.{name}.{side}", f"{label} {side}", IN_VALUES.get(name, "1") if side == "client" else "1")
        for name, label in PROTOCOLS.items()
        for side in SIDES
    ),
    *(Growth(f"k.certify.{name}", f"{label}, build and certify", "at most 1") for name, label in PROTOCOLS.items()),
    *(
        Growth(f"d.{name}.{side}", f"{label} {side}", "1")
        for name, label in (("rsfd", "RS+FD[GRR]"), ("spl", "SPL[GRR]"))
        for side in SIDES
    ),
    Growth("n.fit.bayes", "naive Bayes", "1"),
    Growth("n.fit.regression", "linear regression", "1"),
    Growth("n.fit.kmeans", "k-means", "1"),
    Growth("n.ols", "least squares, 20 columns, from Parquet", "1"),
    Growth("n.logit", "logistic regression, 10 columns, from Parquet", "1"),
    Growth("m.secure.server", "secure sum, coordinator", "2 to 30 parties, then 1"),
    Growth("m.secure.client", "secure sum, slowest party", "1 to 30 parties, then 0"),
]
