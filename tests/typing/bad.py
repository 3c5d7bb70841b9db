# pyright: strict
# mypy: disallow-any-generics, disallow-subclassing-any, disallow-untyped-decorators
# mypy: warn-return-any, warn-unused-ignores
"""Slips of users: every type checker must complain at the lines marked WRONG, and at no other. Nobody runs this."""

import murmure as mu
from murmure import econometrics, learn
from murmure.learn import KMeans, LogisticRegression, NaiveBayes

question = mu.Categories(["no", "yes"])
schema = mu.Schema({"smoker": question, "age": mu.Integers(18, 99)})
release = mu.run(mu.Plan(mu.Histogram(question), person=mu.GRR(question, epsilon=1.0)), ["no", "yes"])

print(mu.Categorie(["no", "yes"]))  # WRONG
print(mu.GRR(question, epsillon=1))  # WRONG
print(mu.GRR(question, epsilon="a lot"))  # WRONG
print(mu.OUE(question))  # WRONG
print(mu.GRR("smoker", epsilon=1.0))  # WRONG
print(mu.SMP(question, epsilon=1.0))  # WRONG
print(mu.Mean(question))  # WRONG
print(mu.Integers("18", 99))  # WRONG
print(mu.Schema({"age": 99}))  # WRONG
print(mu.Schema({"age": mu.Integers(18, 99)}, outside="ignore"))  # WRONG
print(mu.DiscreteLaplace(epsilon=None))  # WRONG
print(mu.Plan(question))  # WRONG
print(mu.Plan(mu.Histogram(question), persn=None))  # WRONG
print(mu.Plan(mu.Histogram(question), relation="add"))  # WRONG
print(mu.Where(mu.Count(question), question, is_in="north"))  # WRONG
print(mu.run(mu.Histogram(question), ["no"]))  # WRONG
print(mu.run(mu.Plan(mu.Histogram(question)), ["no"], rng=7))  # WRONG
print(release.estimates)  # WRONG
print(release.estimate.means)  # WRONG
print(release.estimate.interval(level="95 %"))  # WRONG
print(release.estimate["no"])  # WRONG
print(mu.run(mu.Plan(mu.Marginals(schema)), {}).estimate.mean)  # WRONG
print(mu.certify(mu.GRR(question, 1.0), relation="person"))  # WRONG
print(mu.certify(mu.GRR(question, 1.0)).epsilom)  # WRONG
print(mu.sanitise("people.csv", mu.SMP(schema, 1.0), "out.parquet").row)  # WRONG
print(mu.Central(epsilon="1"))  # WRONG
print(mu.Central(1.0, 1e-6, "swap"))  # WRONG
print(mu.Secure(collluders=2))  # WRONG
print(learn.NaiveBays())  # WRONG
print(NaiveBayes(schema, targt="smoker"))  # WRONG
print(NaiveBayes(schema, target="smoker", privacy=1.0))  # WRONG
print(NaiveBayes("schema.toml", target="smoker"))  # WRONG
print(KMeans("three"))  # WRONG
print(KMeans(3, split="thirds"))  # WRONG
print(LogisticRegression(schema, "smoker").fit({}).coef)  # WRONG
print(econometrics.olss("age ~ smoker", {}))  # WRONG
print(econometrics.ols("age ~ smoker"))  # WRONG
print(econometrics.ols("age ~ smoker", {}, errors="robust").params)  # WRONG
print(econometrics.ols("age ~ smoker", {}).parameters_)  # WRONG
