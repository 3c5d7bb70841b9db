"""What every learner shares: a constructor that stores, `fit` that returns self, and scikit-learn's conventions.

A learner is a generator of plans. `_steps` yields plans and receives what their statistics made of the sums. It
works the same whether the sums are exact or noisy, and whether they come from one table or from many parties.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import os
import sys
from collections.abc import Generator, Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from murmure.central.base.gate import Gate
from murmure.certify.accounting import sequential
from murmure.core.blocks import Cost
from murmure.core.domain import Categories, Domain
from murmure.core.errors import InvalidParameter, MurmureError, shorten
from murmure.core.fixed import float_up
from murmure.core.notices import rehearsed
from murmure.core.random import random_or_secure
from murmure.core.schema import Schema
from murmure.core.types import Certificate
from murmure.engines.sources.data_file import described
from murmure.learn.folds import warn_of_folds
from murmure.learn.training_table import (
    TrainingTable,
    array_of,
    columns_by_name,
    named_columns,
    rows_of_parties,
    training_table,
)
from murmure.learn.upstream import warn_of_upstream
from murmure.plan.codec import LEFT_OUT
from murmure.plan.plan import Plan
from murmure.plan.privacy import (
    AnyPrivacy,
    Central,
    Clear,
    Local,
    Privacy,
    Secure,
    check_privacy,
    guarantees_of,
    noise_in,
    rules_of,
)
from murmure.run.billing import LedgerRequest
from murmure.run.driver import drive
from murmure.show.document import Document, Shown, Table
from murmure.show.language import LanguageCode

EXECUTION_PARAMETERS = ("engine", "ledger", "rng")  # where it runs and who pays: these decide nothing that is asked
PRIVACY_PREFIX = "privacy__"
SumPrivacy = Clear | Central | Secure  # what learns from sums of rows that nobody randomised


def _full_text(value: Any) -> str:
    """A parameter in full: the repr of a NumPy array leaves the middle out."""
    return repr(value.tolist() if hasattr(value, "tolist") else value)


def _privacy_params(privacy: Any) -> dict[str, Any]:
    """The fields of privacy under scikit-learn's names. It is frozen: a learner changes a field by replacing it all."""
    known = fields(privacy) if isinstance(privacy, Privacy) else ()
    return {PRIVACY_PREFIX + field.name: getattr(privacy, field.name) for field in known}


class NotFitted(MurmureError, ValueError, AttributeError):
    """Raised by a learner that was not fitted yet."""


class Learner(Shown):
    """The base of learners. Their parameters are those of their constructor, and nothing happens before `fit`."""

    kind: ClassVar[str] = "classifier"  # scikit-learn's words: classifier, regressor, clusterer
    target: Any  # a parameter of every kind but clusterers
    _counts_people: ClassVar[bool] = False  # whether noisy numbers of people are among what it learned
    schema: Any
    privacy: Any
    engine: Any
    ledger: Any
    rng: Any
    schema_: Schema  # these are there after `fit`
    n_features_in_: int
    feature_names_in_: NDArray[Any]  # where the rows came with names
    guarantees_: Mapping[str, Certificate]  # by observer
    spent_: Cost
    seeded_: bool  # whether its noise was seeded: an experiment
    plans_: tuple[str, ...]  # the digests of what was asked; not under Local
    answers_: Any  # what left the gate, with noise
    parties_: int  # under Secure: how many there were, and how many stayed
    present_: int

    # -- learning ---------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, gate: Gate | None = None) -> Self:
        """Learn from a table with the target, a table and y, or an array and y. The schema describes X as it comes.

        In a pipeline that is what the steps before deliver.
        Under Secure: from a list of tables, one for each party, each with the target in it; None for a party that
        vanishes. What is learned is what the tables in one would have taught.
        gate: for audits, which watch every answer that leaves; by default a fresh one.
        """
        privacy, rows = self.check(X, y)
        # What an earlier fit learned goes first: a failed fit must not leave a model of other data behind.
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
            self.feature_names_in_ = np.array(rows.features, object)
        for name, value in learned.items():
            setattr(self, name, value)
        if isinstance(privacy, Secure):
            self.parties_, self.present_ = len(rows.frame), sum(table is not None for table in rows.frame)
        drawn = isinstance(privacy, Local) or noise_in(privacy) is not None
        self.seeded_ = gate.rng.is_seeded and drawn
        return self

    def check(self, X: Any, y: Any = None) -> tuple[AnyPrivacy, TrainingTable]:
        """Refuse what `fit` would refuse before a row is read: parameters, schema, columns. It costs nothing.

        A SchemaWarning says where the schema may describe another table: X without names, a pipeline's earlier steps.
        """
        privacy = check_privacy(self, self.privacy)
        rows = self._rows_to_learn(X, y, privacy)
        if isinstance(privacy, Secure):
            privacy = privacy.for_parties(len(rows.frame))
            _ = privacy.sharing  # too few of them are refused now
        unit = privacy.unit
        if unit != "row" and rows.schema is not None and unit in rows.schema.private:
            raise InvalidParameter(
                "{kind}: the unit is column {unit!r}, which is also in the schema to learn from.",
                hint="the column that identifies people is only read to count rows: leave it out of the schema",
                kind=type(self).__name__,
                unit=unit,
            )
        self._check(rows)
        return privacy, rows

    def _rows_to_learn(self, X: Any, y: Any, privacy: Privacy) -> TrainingTable:
        schema, X = self.schema, described(X, self.schema)
        if schema is not None and not isinstance(schema, Schema):
            raise InvalidParameter(
                "{kind}.schema must be a Schema, got {got}.", kind=type(self).__name__, got=shorten(schema)
            )
        if not isinstance(privacy, Clear):
            if schema is None:
                raise InvalidParameter(
                    "{kind}.schema is missing: under {privacy_kind} bounds and classes are "
                    "public constants, never read off the data.",
                    hint="schema=mu.Schema({{...}}), or Schema.load(path)",
                    kind=type(self).__name__,
                    privacy_kind=type(privacy).__name__,
                )
            schema.refuse_drafted()
        target = self._target
        if schema is not None and target is not None and target not in schema.private:
            raise InvalidParameter(
                "{kind}.target is {target}; the schema has {private}.",
                kind=type(self).__name__,
                target=shorten(self._target),
                private=list(schema.private),
            )
        if isinstance(privacy, Secure):
            assert schema is not None
            return rows_of_parties(type(self).__name__, X, y, schema, target)
        warn_of_upstream(self, X, schema, target, charged=not isinstance(privacy, Clear))
        if not isinstance(privacy, Clear):
            warn_of_folds(self)
        return training_table(type(self).__name__, X, y, schema, target, self.kind == "classifier")

    charge_: Any = None  # what a ledger charged for the fit

    @property
    def _target(self) -> str | None:
        """The column to predict; arrays in the clear need no name for theirs."""
        if self.kind == "clusterer":
            return None
        return "y" if self.target is None else self.target

    def _check(self, rows: TrainingTable) -> None:
        """Refuse, before any row is read, what is public and does not fit."""

    def _learn(self, rows: TrainingTable, privacy: SumPrivacy, gate: Gate) -> dict[str, Any]:
        fit = LedgerRequest(
            self._digest(rows.schema, privacy), f"{type(self).__name__} of {len(rows.features)} columns", sequential([])
        )
        noise, ledger = noise_in(privacy), None
        if noise is not None:
            fit, ledger = replace(fit, cost=noise.cost, relation=noise.relation, unit=noise.unit), self.ledger
        driven = drive(
            lambda: self._steps(rows.schema, privacy), rows.frame, self.engine, fit, ledger, gate, rules_of(privacy)
        )
        plans = () if isinstance(privacy, Clear) else driven.plans
        spent = Cost(math.inf, math.inf) if noise is None else sequential([plan.bound.cost for plan in plans])
        return {
            "guarantees_": self._guarantees(plans, privacy),
            "spent_": spent,
            "answers_": driven.answers,
            **({} if driven.charge is None else {"charge_": driven.charge}),
            "plans_": tuple(plan.digest for plan in plans),
            **driven.result,
        }

    def _steps(self, schema: Schema, privacy: SumPrivacy) -> Generator[Plan, Any, dict[str, Any]]:
        raise NotImplementedError

    def _learn_locally(self, rows: TrainingTable, privacy: Local, gate: Gate) -> dict[str, Any]:
        raise InvalidParameter(
            "{kind} does not learn from randomised rows.", hint="privacy=mu.Central(epsilon)", kind=type(self).__name__
        )

    def _fit_randomised(
        self, rows: TrainingTable, privacy: Local, gate: Gate
    ) -> tuple[Self, Mapping[str, Certificate]]:
        """The same learner, fitted in the clear to randomised rows as they are; and what each observer learns."""
        from murmure.learn.local_rows import sanitised_rows

        table, guarantees = sanitised_rows(rows.schema, rows.frame, privacy, gate.rng)
        changed = {"schema": rows.schema, "privacy": Clear(), "ledger": None, "rng": gate.rng}
        return type(self)(**{**self.get_params(deep=False), **changed}).fit(table), guarantees

    def _guarantees(self, plans: Sequence[Plan], privacy: SumPrivacy) -> Mapping[str, Certificate]:
        """The certificate of all answers together: costs add up."""
        if isinstance(privacy, Clear) or not plans:
            nothing = Certificate(
                math.inf, 0.0, "replace", "record", ("nothing is protected",), "nothing is randomised"
            )
            return {"curator": nothing, "reader": nothing}
        found = guarantees_of(plans, privacy)
        return rehearsed(found) if isinstance(privacy, Secure) else found  # learners run where all tables are

    def _digest(self, schema: Schema, privacy: Privacy) -> str:
        """Names all that decides which questions are asked; of how many parties, where there are some."""
        given = {**self.get_params(deep=False), "privacy": privacy}
        parameters = {n: _full_text(v) for n, v in given.items() if n not in (*EXECUTION_PARAMETERS, "schema")}
        # Ledgers hold this digest, so its keys stay as they are. "missing" is new in 0.6: what was paid for before that
        # answers other questions.
        content = {"learner": type(self).__name__, "said": parameters, "schema": schema.to_dict(), "missing": LEFT_OUT}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

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
                    "{kind}: The feature names should match those that were passed during fit: missing {wrong}.",
                    kind=type(self).__name__,
                    wrong=shorten(wrong, 120),
                )
            columns = columns_by_name(X)
            return {name: columns[name] for name in features}
        if isinstance(X, str | os.PathLike):
            from murmure.engines.sources.tables import open_table

            table = open_table(described(X, self.schema_), features, self.schema_.lenient_kinds, lenient=True)
            import pyarrow as pa

            whole = pa.Table.from_batches(list(table.batches()), schema=table.schema)
            return {name: whole.column(name) for name in features}
        array = array_of(X, type(self).__name__)
        if array.shape[1] != len(features):
            raise InvalidParameter(
                "X has {shape} features, but {kind} is expecting {feature_count} features as input.",
                shape=array.shape[1],
                kind=type(self).__name__,
                feature_count=len(features),
            )
        return {name: array[:, j] for j, name in enumerate(features)}

    def _require_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            # scikit-learn's own class too, if somebody imported it: its tools look for that one.
            known = sys.modules.get("sklearn.exceptions")
            kind = NotFitted if known is None else type("NotFitted", (NotFitted, known.NotFittedError), {})
            raise kind(
                "This {kind} instance is not fitted yet.", hint="call fit(table) first", kind=type(self).__name__
            )

    def _summary_tables(self) -> list[Table]:
        """What was learned, as the summary shows it."""
        return []

    def _post_processing(self) -> str:
        """What was done to the sums after the noise, in words; empty where nothing was."""
        done: str = getattr(self, "post_", "")
        return done

    def _why_no_errors(self) -> str | None:
        """Why there are no standard errors; None: there are some, or the learner never has any."""
        return None

    def document(self) -> Document:
        """What was learned and what it cost; before `fit`, the parameters alone."""
        from murmure.learn.learner_summary import learner_document

        return learner_document(self)

    def summary(self, lang: LanguageCode | None = None) -> str:
        """What was learned and what it cost, as text; in a notebook, as tables."""
        self._require_fitted()
        return super().summary(lang)

    def __str__(self) -> str:
        return repr(self)  # as scikit-learn's are: its parameters

    # -- scikit-learn's conventions -------------------------------------------------------------------

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments, as they are now; deep: those of privacy too, as `privacy__epsilon`."""
        current = {name: getattr(self, name) for name in self._names()}
        return {**current, **_privacy_params(self.privacy)} if deep else current

    def set_params(self, **params: Any) -> Self:
        """Change some of the constructor's arguments; `privacy__epsilon=2.0` replaces privacy by one that has it."""
        current = self.get_params(deep=False)
        current |= {name: value for name, value in params.items() if name in current}  # a new privacy before its fields
        nested = {name: value for name, value in params.items() if name not in current}
        known = _privacy_params(current["privacy"])
        for name in nested:
            if name not in known:
                raise InvalidParameter(
                    "Invalid parameter {name!r} for estimator {kind}. Valid parameters are: {current}.",
                    name=name,
                    kind=type(self).__name__,
                    current=[*current, *known],
                )
        if nested:
            changes = {name.removeprefix(PRIVACY_PREFIX): value for name, value in nested.items()}
            current["privacy"] = replace(current["privacy"], **changes)
        for name, value in current.items():
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
        changed = {n: v for n, v in self.get_params(deep=False).items() if v is not defaults[n] and v != defaults[n]}
        shown = {n: shorten(v, 60) for n, v in changed.items()}
        if isinstance(self.privacy, Secure):  # in short, and with the number of parties once it is known
            from murmure.learn.learner_summary import privacy_text

            shown["privacy"] = privacy_text(self)
        return f"{type(self).__name__}({', '.join(f'{n}={v}' for n, v in shown.items())})"


class Classifier(Learner):
    """A learner of the classes that the schema lists for the target."""

    def predict(self, X: Any) -> NDArray[Any]:
        raise NotImplementedError

    def score(self, X: Any, y: Any = None) -> float:
        """The share of rows whose class is predicted; y may be a column of the table."""
        self._require_fitted()
        truth = X[self._target] if y is None else y
        return float(np.mean(self.predict(X) == np.asarray(truth)))


def labels_of(classes: Domain) -> NDArray[Any]:
    """The labels of a target as Python has them; classes without names are numbered."""
    assert isinstance(classes, Categories)
    return np.array(range(classes.size) if isinstance(classes.values, int) else classes.values)
