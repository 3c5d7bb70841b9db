"""What every learner shares: a constructor that stores, `fit` that returns self, and scikit-learn's manners without it.

A learner is a generator of plans. `_steps` yields plans and hears what their statistics made of the sums; whether the
sums are exact or noisy it cannot tell, and need not.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import sys
from collections.abc import Generator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, Self

from murmure.central.gate import Gate
from murmure.certify.accounting import sequential
from murmure.core.blocks import Cost
from murmure.core.errors import InvalidParameter, MurmureError, shorten
from murmure.core.fixed import float_up
from murmure.core.random import random_or_secure
from murmure.core.schema import Schema
from murmure.core.types import Certificate
from murmure.learn.privacy import Central, Clear, Local, Privacy, check_privacy
from murmure.learn.rows import Rows, array_of, columns_of, named_columns, rows_of
from murmure.plan import Plan
from murmure.run import Fit, Heard, drive

HOW = ("engine", "ledger", "rng")  # where it runs and who pays: these decide nothing that is asked


def _said(value: Any) -> str:
    """A parameter in full: NumPy's own text leaves the middle out."""
    return repr(value.tolist() if hasattr(value, "tolist") else value)


class NotFitted(MurmureError, ValueError, AttributeError):
    """Asked before it learned anything."""


class Learner:
    """The base of learners. Their parameters are those of their constructor, and nothing happens before `fit`."""

    kind: ClassVar[str] = "classifier"  # as scikit-learn says it: classifier, regressor, clusterer
    schema: Any
    privacy: Any
    engine: Any
    ledger: Any
    rng: Any

    # -- learning ---------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, gate: Gate | None = None) -> Self:
        """Learn from a table that holds the target, from a table and y, or from an array and y.

        gate: for audits, which watch every answer that leaves; by default a fresh one.
        """
        privacy, rows = self.check(X, y)
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("__")]:
            delattr(self, name)
        gate = gate or Gate(random_or_secure(self.rng, type(self).__name__))
        if isinstance(privacy, Local):
            learned = self._learn_locally(rows, privacy, gate)
            epsilon = learned["guarantees_"]["reader"].epsilon
            learned["spent_"] = Cost(epsilon, float_up(Fraction(epsilon) ** 2 / 2))  # by every person, once
        else:
            learned = self._learn(rows, privacy, gate)
        self.schema_, self.n_features_in_ = rows.schema, len(rows.features)
        if rows.named:
            import numpy as np

            self.feature_names_in_ = np.array(rows.features, object)
        for name, value in learned.items():
            setattr(self, name, value)
        self.seeded_ = gate.rng.is_seeded and not isinstance(privacy, Clear)
        return self

    def check(self, X: Any, y: Any = None) -> tuple[Privacy, Rows]:
        """Refuse what `fit` would refuse before a row is read: parameters, schema, columns. It costs nothing."""
        privacy = check_privacy(self, self.privacy)
        rows = self._rows_to_learn(X, y, privacy)
        self._check(rows)
        return privacy, rows

    def _rows_to_learn(self, X: Any, y: Any, privacy: Privacy) -> Rows:
        schema = self.schema
        if schema is not None and not isinstance(schema, Schema):
            raise InvalidParameter(f"{type(self).__name__}.schema must be a Schema, got {shorten(schema)}.")
        if not isinstance(privacy, Clear):
            if schema is None:
                raise InvalidParameter(
                    f"{type(self).__name__}.schema is missing: under {type(privacy).__name__} bounds and classes are "
                    "public constants, never read off the data.",
                    hint="schema=mu.Schema({...}), or Schema.load(path)",
                )
            schema.refuse_drafted()
        target = self._target
        if schema is not None and target is not None and target not in schema.private:
            raise InvalidParameter(
                f"{type(self).__name__}.target is {shorten(self._target)}; the schema has {list(schema.private)}."
            )
        return rows_of(type(self).__name__, X, y, schema, target, self.kind == "classifier")

    @property
    def _target(self) -> str | None:
        """The column to predict; arrays in the clear need no name for theirs."""
        if not hasattr(self, "target"):
            return None
        return "y" if self.target is None else self.target

    def _check(self, rows: Rows) -> None:
        """Refuse, before any row is read, what is public and does not fit."""

    def _learn(self, rows: Rows, privacy: Clear | Central, gate: Gate) -> dict[str, Any]:
        fit = Fit(self._digest(rows.schema), f"{type(self).__name__} of {len(rows.features)} columns", sequential([]))
        ledger = None
        if isinstance(privacy, Central):
            fit, ledger = replace(fit, cost=privacy.cost, relation=privacy.relation), self.ledger
        heard = drive(lambda: self._steps(rows.schema, privacy), rows.frame, self.engine, fit, ledger, gate)
        spent = sequential([plan.bound.cost for plan in heard.plans])
        return {
            "guarantees_": self._guarantees(heard, privacy),
            "spent_": spent if isinstance(privacy, Central) else Cost(math.inf, math.inf),
            "answers_": heard.answers,
            "plans_": tuple(plan.digest for plan in heard.plans),
            **heard.result,
        }

    def _steps(self, schema: Schema, privacy: Clear | Central) -> Generator[Plan, Any, dict[str, Any]]:
        raise NotImplementedError

    def _learn_locally(self, rows: Rows, privacy: Local, gate: Gate) -> dict[str, Any]:
        raise InvalidParameter(
            f"{type(self).__name__} does not learn from randomised rows.", hint="privacy=mu.Central(epsilon)"
        )

    def _guarantees(self, heard: Heard[Any], privacy: Clear | Central) -> Mapping[str, Certificate]:
        """The certificate of all answers together: costs add up."""
        if isinstance(privacy, Clear) or not heard.plans:
            nothing = Certificate(
                math.inf, 0.0, "replace", "record", ("nothing is protected",), "nothing is randomised"
            )
            return {"curator": nothing, "reader": nothing}
        first = heard.plans[0].guarantees()
        spent = sequential([plan.bound.cost for plan in heard.plans])
        parts, method = len(heard.plans), heard.plans[0].bound.method
        if parts > 1:
            method += f"; {parts} answers add up"
        if privacy.pure:
            epsilon = spent.epsilon
        else:
            from murmure.core.concentrated import epsilon_of

            method += f"; rho = {spent.rho:.6g} in all (zero-concentrated)"
            epsilon = epsilon_of(spent.rho, privacy.delta)
            if spent.rho <= privacy.rho:  # rho is rounded down and epsilon up: there and back would add a last bit
                epsilon = min(epsilon, privacy.epsilon)
        reader = replace(
            first["reader"], epsilon=epsilon, delta=privacy.delta, method=method, asked=privacy.epsilon, witness=None
        )
        return {"curator": first["curator"], "reader": reader}

    def _digest(self, schema: Schema) -> str:
        """Names all that decides which questions are asked."""
        said = {n: _said(v) for n, v in self.get_params(deep=False).items() if n not in (*HOW, "schema")}
        held = {"learner": type(self).__name__, "said": said, "schema": schema.to_dict()}
        return hashlib.sha256(json.dumps(held, sort_keys=True).encode()).hexdigest()

    # -- what it has learned ----------------------------------------------------------------------

    def _columns(self, X: Any) -> dict[str, Any]:
        """The feature columns of rows to predict, in the order of the schema."""
        self._require_fitted()
        names = named_columns(X)
        features = [name for name in self.schema_.private if name != self._target]
        if names is not None:
            wrong = [name for name in features if name not in names]
            if wrong:
                raise InvalidParameter(
                    f"{type(self).__name__}: The feature names should match those that were passed during fit: "
                    f"missing {shorten(wrong, 120)}."
                )
            held = columns_of(X)
            return {name: held[name] for name in features}
        if isinstance(X, str):
            from murmure.engines.tables import open_table

            table = open_table(X, features, self.schema_.kinds, lenient=True)
            import pyarrow as pa

            whole = pa.Table.from_batches(list(table.batches()), schema=table.schema)
            return {name: whole.column(name) for name in features}
        array = array_of(X, type(self).__name__)
        if array.shape[1] != len(features):
            raise InvalidParameter(
                f"X has {array.shape[1]} features, but {type(self).__name__} is expecting {len(features)} features as "
                "input."
            )
        return {name: array[:, j] for j, name in enumerate(features)}

    def _require_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            known = sys.modules.get("sklearn.exceptions")
            kind = NotFitted if known is None else type("NotFitted", (NotFitted, known.NotFittedError), {})
            raise kind(f"This {type(self).__name__} instance is not fitted yet.", hint="call fit(table) first")

    def summary(self) -> str:
        """What was learned and what it cost, as text."""
        from murmure.learn.show import summary

        return summary(self)

    def _repr_html_(self) -> str:
        from murmure.learn.show import learner_html

        return learner_html(self)

    # -- scikit-learn's manners -------------------------------------------------------------------

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments, as they are now."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Self:
        """Change some of the constructor's arguments."""
        for name, value in params.items():
            if name not in self._names():
                raise InvalidParameter(
                    f"Invalid parameter {name!r} for estimator {type(self).__name__}. Valid parameters are: "
                    f"{self._names()}."
                )
            setattr(self, name, value)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "schema_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

        return Tags(
            estimator_type=self.kind,
            target_tags=TargetTags(required=self.kind != "clusterer"),
            classifier_tags=ClassifierTags(poor_score=True) if self.kind == "classifier" else None,
            regressor_tags=RegressorTags(poor_score=True) if self.kind == "regressor" else None,
            transformer_tags=None,
            input_tags=InputTags(),
            non_deterministic=True,
        )

    def __repr__(self) -> str:
        defaults = {name: p.default for name, p in inspect.signature(type(self).__init__).parameters.items()}
        said = {n: v for n, v in self.get_params(deep=False).items() if v is not defaults[n] and v != defaults[n]}
        return f"{type(self).__name__}({', '.join(f'{n}={shorten(v, 60)}' for n, v in said.items())})"
