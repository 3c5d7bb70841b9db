# pyright: strict
# mypy: disallow-any-generics, disallow-subclassing-any, disallow-untyped-decorators
# mypy: warn-return-any, warn-unused-ignores
"""What users write, and which types they get: no type checker may complain (test_user_scripts.py). Nobody runs this."""

from decimal import Decimal
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import murmure as mu
from murmure import econometrics
from murmure.econometrics import Regression
from murmure.learn import KMeans, LinearRegression, LogisticRegression, NaiveBayes, search_cost

Floats = NDArray[np.float64]

smoker, age = mu.Categories(["no", "yes"]), mu.Integers(18, 99)
price = mu.Decimals("0.01", 200, places=2, absent=Decimal(0))
schema = mu.Schema({"smoker": smoker, "age": age, "pay": mu.Column(mu.Interval(0, 10_000), outside="drop")})
table = {"smoker": ["no", "yes"] * 50, "age": [30, 40] * 50, "pay": [1000.0, 2000.0] * 50}
rng = mu.Random.seeded(7)

# A mechanism, its certificate, its law.
mechanism = mu.GRR(smoker, epsilon=1.0)
certificate = mu.certify(mechanism)
assert_type(certificate, mu.Certificate)
assert_type(certificate.epsilon, float)
records = mu.SMP(schema, epsilon=1)
assert_type(mu.certify(records, relation="attribute").delta, float)
assert_type(mu.advise(smoker, epsilon=1.0, people=1000).best["mechanism"], Any)

# What a release holds follows from the question.
shares = mu.run(mu.Plan(mu.Histogram(smoker), person=mechanism), ["no", "yes"] * 50, rng=rng)
assert_type(shares, mu.Release[mu.Estimate])
assert_type(shares.estimate.mean, Floats)
assert_type(shares.estimate.cov, Floats)
assert_type(shares.estimate.interval(0.95, simultaneous=True), Floats)
assert_type(shares.guarantees["reader"], mu.Certificate)
assert_type(mu.run(mu.Plan(mu.Marginals(schema), person=records), table).estimate, mu.Estimates)
assert_type(mu.run(mu.Plan(mu.Marginals(schema), person=records), table).estimate["age"].mean, Floats)
noise = mu.DiscreteLaplace(epsilon=1.0)
assert_type(mu.run(mu.Plan(mu.Mean(schema["age"]), curator=noise), table).estimate, mu.Estimate)
assert_type(mu.run(mu.Plan(mu.Count(schema["age"]), curator=noise), table).estimate, mu.Estimate)
assert_type(mu.run(mu.Plan(mu.Quantile(age, q=[0.25, 0.75]), curator=noise), table).estimate, mu.Estimate)
assert_type(mu.run(mu.Plan(mu.Variance(price), curator=mu.Skellam(rho=0.1)), [1]).estimate, mu.Estimate)
older = mu.Where(mu.Count(schema["smoker"]), schema["age"], between=(65, 99))
assert_type(mu.run(mu.Plan(older, curator=noise), table).estimate, mu.Estimate)
by_smoker = mu.GroupBy(mu.Mean(schema["age"]), schema["smoker"])
assert_type(mu.run(mu.Plan(by_smoker, curator=noise), table).estimate, mu.Estimate | mu.Estimates)
between = mu.Plan(mu.Sum(age), parties=mu.PairwiseMasks(3))
assert_type(mu.run(between, [table, table, None]).estimate.interval(), Floats)


def write(release: mu.Release, plan: mu.Plan) -> str:  # without saying what it holds
    return release.to_json() + plan.to_json()


text = write(shares, mu.Plan.from_json(between.to_json(), at_most=1.0))

# Tables of randomised rows.
receipt = mu.sanitise(table, records, "sanitised.parquet", invalid="drop")
assert_type(receipt.rows, int)
assert_type(mu.estimate("sanitised.parquet").estimate, mu.Estimates)
assert_type(mu.estimate("sanitised.parquet", statistic=mu.Pair(schema, "smoker", "age")).estimate, mu.Estimate)

# Learners.
privacy = mu.Central(epsilon=1.0, delta=1e-6)
bayes = NaiveBayes(schema, target="smoker", privacy=privacy, rng=rng).fit(table)
assert_type(bayes, NaiveBayes)
assert_type(bayes.guarantees_["reader"].epsilon, float)
assert_type(bayes.spent_.rho, float)
assert_type(LinearRegression(schema, "pay", mu.Local(epsilon=2.0)).fit(table).coef_, Floats)
assert_type(LogisticRegression(schema, target="smoker", privacy=mu.Secure()).set_params(ridge=1.0).steps, int)
assert_type(KMeans(3, schema, mu.Clear()).fit(table).cluster_centers_, Floats)
for one in (mu.Clear(), mu.Central(epsilon=1.0), mu.Local(epsilon=1.0)):
    print(NaiveBayes(schema, "smoker", one).fit(table).classes_)
assert_type(search_cost(bayes, table, cv=5).epsilon, float)

# Econometrics.
fit = econometrics.ols("pay ~ age + smoker", table, schema=schema, privacy=privacy, rng=rng)
assert_type(fit, Regression)
assert_type(fit.params, Floats)
assert_type(fit.summary(), str)
assert_type(econometrics.logit("smoker ~ age", [table, table, table], schema=schema, privacy=mu.Secure()), Regression)
