"""A study in plain sentences: somebody at each party reads these, and says yes or no.

They use no word that only specialists know; whatever a document can hold, what is printed has one meaning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.parties.study.model_words import describe_model
from murmure.parties.study.plan_checks import expressions_of
from murmure.parties.study.protection import describe_masking, describe_noise, warn_public_rows, warn_rare_conditions
from murmure.parties.study.question_words import LanguageCode, StudyLanguage, describe_statistic
from murmure.parties.study.visible_text import is_visible

if TYPE_CHECKING:
    from murmure.parties.study.document import Study

SIGNS = (
    ("**", "** raises to a power", "** élève à une puissance"),
    ("*", "* multiplies", "* multiplie"),
    ("==", "== means “is equal to”", "== signifie « est égal à »"),
    ("!=", "!= means “is not equal to”", "!= signifie « est différent de »"),
    ("<=", "<= means “at most”", "<= signifie « au plus »"),
    (">=", ">= means “at least”", ">= signifie « au moins »"),
    (" and ", "“and”: both conditions hold", "« and » : les deux conditions sont remplies"),
    (" or ", "“or”: one of the conditions holds", "« or » : l’une des conditions est remplie"),
    ("not ", "“not”: the condition does not hold", "« not » : la condition n’est pas remplie"),
    ("min(", "min( ) takes the smallest", "min( ) prend le plus petit"),
    ("max(", "max( ) takes the largest", "max( ) prend le plus grand"),
    ("abs(", "abs( ) drops the minus sign", "abs( ) ôte le signe moins"),
)


def describe_study(study: Study, language: LanguageCode = "en") -> list[str]:
    if language not in ("en", "fr"):
        raise InvalidParameter('Study.in_words speaks "en" and "fr", got {got}.', got=shorten(language))
    say = StudyLanguage(language)
    out = [
        *warn_public_rows(study, say),
        *warn_rare_conditions(study, say),
        *_who(study, say),
        *_what(study, say),
        *describe_masking(study, say),
        *describe_noise(study, say),
        *_terms(study, say),
    ]
    return ["".join(c if is_visible(c) else "?" for c in line) for line in out]


def _who(study: Study, say: StudyLanguage) -> list[str]:
    names = say.listed([say.quote(card.name) for card in study.roster])
    asks = say(
        "{} (here: the asker) asks {} organisations for totals over their rows: {}.",
        "{} (ici : le demandeur) demande à {} organisations des totaux sur leurs lignes : {}.",
    )
    key = say(
        "The asker’s key is {}; compare it with them by telephone before you trust it.",
        "La clé du demandeur est {} ; comparez-la avec lui au téléphone avant de lui faire confiance.",
    )
    purpose = say("Its purpose, in the asker’s words: {}", "Son but, selon le demandeur : {}")
    return [
        asks.format(say.quote(study.coordinator.name), say.number(len(study.roster)), names),
        key.format(study.coordinator.fingerprint),
        say("The study is called {}.", "L’étude s’appelle {}.").format(say.quote(study.name)),
        purpose.format(say.quote(study.purpose)),
    ]


def columns_read(study: Study) -> dict[tuple[str, Any], None]:
    """Every column that a question reads, with what it may hold (None: it only tells people apart)."""
    out: dict[tuple[str, Any], None] = {}
    for question in study.questions:
        domain = question.domain
        if isinstance(domain, Schema):
            out |= {(name, domain[name]): None for name in domain.private}
        else:
            out[domain.column or "", domain] = None
        if question.plan.unit != "row":
            out[question.plan.unit, None] = None
    return out


def _what(study: Study, say: StudyLanguage) -> list[str]:
    apart = say("only to tell people apart", "seulement pour distinguer les personnes")
    columns = [
        f"{say.quote(name)} ({apart if domain is None else say.domain(domain)})" for name, domain in columns_read(study)
    ]
    read = say(
        "Of your table these columns are read, on your own machine, and no others: {}.",
        "De votre table, ces colonnes sont lues, sur votre propre machine, et aucune autre : {}.",
    )
    outside = say(
        "If a row holds anything else in one of them, nothing is sent, and you are told which row it is.",
        "Si une ligne y porte autre chose, rien n’est envoyé, et l’on vous dit de quelle ligne il s’agit.",
    )
    out = [read.format("; ".join(columns) if say.language == "en" else " ; ".join(columns)), outside]
    formulas = " "
    for question in study.questions:
        statistic = question.plan.statistic
        sentence, lines = (
            describe_statistic(statistic, say) if question.model is None else describe_model(question, say)
        )
        question_in_words = say("Question {} of {}: {}", "Question {} sur {} : {}")
        out.append(question_in_words.format(question.number, len(study.questions), sentence))
        out += [f"  - {line}" for line in lines]
        formulas += " " + " ".join(expressions_of(statistic))
    signs = [
        say(english, french)
        for sign, english, french in SIGNS
        if sign in (formulas if sign != "*" else formulas.replace("**", ""))
    ]
    if signs:
        joined = "; ".join(signs) if say.language == "en" else " ; ".join(signs)
        out.append(say("In these formulas {}.", "Dans ces formules, {}.").format(joined))
    return out


def _terms(study: Study, say: StudyLanguage) -> list[str]:
    sharing = study.sharing
    out = [
        say(
            "Nothing is released unless at least {} of the {} organisations answer to the end; your own software sees "
            "to it.",
            "Rien n’est publié à moins qu’au moins {} des {} organisations ne répondent jusqu’au bout ; votre propre "
            "logiciel y veille.",
        ).format(say.number(sharing.minimum), say.number(sharing.parties)),
        say(
            "Each organisation brings at least {} rows, and at most {}.",
            "Chaque organisation apporte au moins {} lignes, et au plus {}.",
        ).format(say.number(study.least_rows), say.number(sharing.rows)),
    ]
    if study.rounds > 1:
        out.append(
            say(
                "The organisations that answer the first question answer all of them; if one is missing later, the "
                "study ends.",
                "Les organisations qui répondent à la première question répondent à toutes ; si l’une manque ensuite, "
                "l’étude s’arrête.",
            )
        )
    out.append(
        say(
            "You may refuse: then nothing of your table leaves, and the others learn only that you do not take part.",
            "Vous pouvez refuser : rien de votre table ne part alors, et les autres apprennent seulement que vous ne "
            "participez pas.",
        )
    )
    out.append(
        say(
            "Once your totals have been added to those of the others, they cannot be taken out again.",
            "Une fois vos totaux ajoutés à ceux des autres, on ne peut plus les en retirer.",
        )
    )
    return out
