"""What the models of a study must be: words can describe all of them, and their questions are not too large."""

from __future__ import annotations

from typing import Any

from murmure.catalogue import MODELS
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.parties.study.model_words import describe_model
from murmure.parties.study.plan_checks import MAX_PLANS, check_expressions, check_model_plan, check_visible
from murmure.parties.study.questions import StudyQuestion, first_statistic, texts_of, written_in
from murmure.show.language import NAMES, Language

MAX_MODELS = 100  # to look at a study is to make the first question of each of its models
MAX_MODEL_SUMS = 1 << 24  # of one model, in all rounds
MAX_FIRST_WORDS = 1 << 18  # of 64 bits, in the answers to the first questions of all models
NO_NOISE = Phrase("use noise = false for this model; or leave out [noise], for exact sums")


def answer_words(model: Any, first: Any = None) -> int:
    """About how long the answer to a model's first question is, in words of 64 bits."""
    first = first or first_statistic(model)
    return 0 if first is None else first.width * (2 + first.largest.bit_length() // 64)


def check_work(words: int) -> None:
    """Refuse more work than a look at a stranger's study should take: it makes the first questions of all models."""
    if words > MAX_FIRST_WORDS:
        raise InvalidParameter(
            "Study.models: their first questions take more than {max_first_words:_} words of 64 bits.",
            hint="fewer models or columns, or several studies",
            max_first_words=MAX_FIRST_WORDS,
        )


def check_models(models: Any, noises: Any, plans: int) -> None:
    """Refuse what can be refused before a question is made. plans: how many plans the study has."""
    from murmure.plan.privacy import Central

    if not isinstance(models, tuple) or len(models) > MAX_MODELS:
        raise InvalidParameter(
            "Study.models must be a tuple of at most {max_models} models, got {got}.",
            max_models=MAX_MODELS,
            got=shorten(models),
        )
    if not isinstance(noises, tuple) or len(noises) != len(models):
        raise InvalidParameter("Study.noises must be a noise or None for each model, got {got}.", got=shorten(noises))
    for number, (model, noise) in enumerate(zip(models, noises, strict=True), plans + 1):
        kind = type(model).__name__
        if kind not in MODELS:
            raise InvalidParameter(
                "Study: question {number} must be a model, got {got}.",
                hint="there are {models}",
                number=number,
                got=shorten(model),
                models=", ".join(MODELS),
            )
        if noise is not None and not isinstance(noise, Central):
            raise InvalidParameter(
                "Study.noises: that of question {number} must be a Central, got {got}.",
                hint="Central(epsilon=1.0)",
                number=number,
                got=shorten(noise),
            )
        if noise is not None and model.noise_refusal is not None:
            raise InvalidParameter(
                "Study: question {number}, {kind}, cannot be asked with noise: {noise_refusal}.",
                hint=NO_NOISE,
                number=number,
                kind=kind,
                noise_refusal=model.noise_refusal,
            )
        if not 0 < model.rounds <= MAX_PLANS:
            raise InvalidParameter(
                "Study: question {number}, {kind}, takes {rounds} rounds: {max_plans} at most.",
                number=number,
                kind=kind,
                rounds=model.rounds,
                max_plans=MAX_PLANS,
            )


def check_question(question: StudyQuestion) -> None:
    """Refuse a question that words cannot describe in full, or that is too large."""
    check_model_plan(question.number, question.plan)
    check_expressions(question.number, written_in(question.model))
    for text in texts_of(question.model):
        check_visible(question.number, text)
    if question.sums > MAX_MODEL_SUMS:
        raise InvalidParameter(
            "Study: question {number}, {kind}, may ask for {sums:_} sums, more than {max_model_sums:_}.",
            hint="fewer columns, or fewer rounds",
            number=question.number,
            kind=question.kind,
            sums=question.sums,
            max_model_sums=MAX_MODEL_SUMS,
        )
    _check_describable(question)
    other = [name for name in question.plan.step.columns or () if name not in question.domain.private]
    if other:
        raise InvalidParameter(
            "Study: question {number} reads {other!r}, which its model does not name.",
            number=question.number,
            other=other[0],
        )


def _check_describable(question: StudyQuestion) -> None:
    """Describe it once in both languages: a person who looks at the study must not be the first to see this fail.

    No predicate could replace this. Each model writes its own words, from fields that it does not check as strictly as
    they need, and the kind of error is part of the refusal.
    """
    try:
        sentence, details = describe_model(question)
        for code in NAMES:
            _ = [Language(code).say(text) for text in (sentence, *details)]
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        raise InvalidParameter(
            "Study: question {number}, {kind}, cannot be described in words ({error_kind}).",
            hint="numbers as text: 0.5, 1/3",
            number=question.number,
            kind=question.kind,
            error_kind=type(error).__name__,
        ) from None
