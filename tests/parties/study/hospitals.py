"""The columns of the table that the examples of murmure/parties/study/model_examples.py are about."""

from __future__ import annotations

COLUMNS = """
[columns.age]
type = "integers"
low = 18
high = 99

[columns.stay]
type = "integers"
low = 1
high = 60

[columns.days]
type = "integers"
low = 1
high = 40

[columns.falls]
type = "integers"
low = 0
high = 12

[columns.size]
type = "integers"
low = 1
high = 4

[columns.distance]
type = "integers"
low = 0
high = 20

[columns.share]
type = "decimals"
low = 0.01
high = 0.99
places = 2

[columns.treated]
type = "integers"
low = 0
high = 1

[columns.after]
type = "integers"
low = 0
high = 1

[columns.ward]
type = "categories"
values = ["A", "B", "C"]

[columns.smoker]
type = "categories"
values = ["no", "yes"]

[columns.ill]
type = "categories"
values = ["no", "yes"]

[columns.died]
type = "categories"
values = ["no", "yes"]
"""
