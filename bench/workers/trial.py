"""The trial of breast cancer (GBSG2) that lifelines distributes: 686 rows, six columns, and days until recurrence."""

COLUMNS = ("age", "tsize", "pnodes", "progrec", "estrec", "horTh")
TIME, EVENT = "time", "cens"
FILE, FIGURES = "gbsg2.csv", "gbsg2.json"  # in the folder of a run: the rows, and lifelines' figures
