"""Who learns what from a study, in plain words of two languages: what masks hide, and what totals reveal anyway."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from murmure.core.fixed import sum_up
from murmure.parties.study.costs import round_up
from murmure.parties.study.question_words import StudyLanguage
from murmure.parties.study.questions import by_party
from murmure.statistics.conditions.disclosure import MAX_HIDING_EPSILON, reader_epsilon
from murmure.statistics.conditions.minimum_cell import rarest_condition
from murmure.statistics.conditions.refusals import describe_problem
from murmure.statistics.exact.party_products import WithinPartyProducts

if TYPE_CHECKING:
    from murmure.parties.study.document import Study
    from murmure.parties.study.questions import StudyQuestion
    from murmure.plan.plan import Plan


def warn_public_rows(study: Study, say: StudyLanguage) -> list[str]:
    """The first warning: a study that may ask for more than its rows can hide."""
    if study.ratio <= 1:
        return []
    return [
        say(
            "WARNING: more sums than rows. This study allows up to {} exact sums for each row (here {} for at least {} "
            "rows): whoever reads the result can solve for single rows. Agree only if the rows are public.",
            "ATTENTION : plus de sommes que de lignes. Cette étude permet jusqu’à {} sommes exactes par ligne (ici {} "
            "pour au moins {} lignes) : qui lit le résultat peut retrouver des lignes une à une. N’acceptez que si les "
            "lignes sont publiques.",
        ).format(say.number(study.ratio), say.number(study.exact_sums), say.number(study.surely_rows))
    ]


def warn_rare_conditions(study: Study, say: StudyLanguage) -> list[str]:
    """The second warning: a condition that too few rows may fulfil, by name, with the reason."""
    problem = study.rare_condition()
    if problem is None:
        return []
    warning = say(
        "WARNING, question {}: {}. Software with the usual rule refuses this study. Agree only if a total over a "
        "single row may be known to everybody.",
        "ATTENTION, question {} : {}. Un logiciel qui suit la règle usuelle refuse cette étude. N’acceptez que si un "
        "total sur une seule ligne peut être connu de tous.",
    )
    return [warning.format(problem.question, describe_problem(problem, say, say.quote))]


def _conditions(study: Study, say: StudyLanguage) -> str:
    """How conditions were judged in advance, and what that does not prevent."""
    rarest = rarest_condition(study.conditions)
    limit = say(
        "This stops accidents, and not somebody who combines totals on purpose: only noise does.",
        "Cela évite les accidents, non qui combinerait des totaux à dessein : seul le bruit le fait.",
    )
    if rarest is None or rarest.share is None:
        return say(
            "No total is restricted to rows that fulfil a condition. What somebody learns who combines totals on "
            "purpose, only noise limits.",
            "Aucun total n’est restreint aux lignes qui remplissent une condition. Ce qu’apprend qui combine des "
            "totaux à dessein, seul le bruit le limite.",
        )
    judged = say(
        "Conditions were judged beforehand by the public values of columns, and not by rows: the rarest is {}, which "
        "about {} of {} rows fulfil if values are spread evenly.",
        "Les conditions ont été jugées d’avance d’après les valeurs publiques des colonnes, et non d’après les "
        "lignes : la plus rare est {}, que remplissent environ {} lignes sur {} si les valeurs sont réparties "
        "également.",
    )
    rows = say.number(Fraction(round(rarest.share * study.least_rows * 10), 10))
    return f"{judged.format(say.quote(rarest.text), rows, say.number(study.least_rows))} {limit}"


def describe_masking(study: Study, say: StudyLanguage) -> list[str]:
    """What leaves the organisation, who learns what, and under which assumptions."""
    leave = say(
        "From you {} numbers leave in all, and no row: the totals over your rows{}, each hidden behind random "
        "numbers that cancel out only once the totals of all who answer are added together.",
        "De chez vous, {} nombres partent en tout, et aucune ligne : les totaux sur vos lignes{}, chacun caché "
        "derrière des nombres aléatoires qui ne s’annulent que lorsque les totaux de tous les répondants sont "
        "additionnés.",
    )
    rows = say(" and how many rows you have", " et le nombre de vos lignes")
    counts = any(question.plan.curator is None for question in study.questions)
    numbers = say.number(sum(question.max_numbers for question in study.questions))
    if study.rounds_vary:
        numbers = say("up to {}", "jusqu’à {}").format(numbers)
    learn = say(
        "The asker and every organisation that answers learn the totals over all who answered{}, and who answered; {}.",
        "Le demandeur et chaque organisation qui répond apprennent les totaux sur l’ensemble des répondants{}, et qui "
        "a répondu ; {}.",
    )
    nobody = say(
        "nobody learns the totals of one organisation", "personne n’apprend les totaux d’une seule organisation"
    )
    apart = [question for question in study.questions if by_party(question.model) is not None]
    if apart:
        nobody = say(
            "what this tells about single organisations is said below",
            "ce que cela révèle de chaque organisation est dit plus bas",
        )
    all_rows = say(
        ", how many rows they have together (an exact sum too)",
        ", combien de lignes ils ont ensemble (une somme exacte aussi)",
    )
    out = [leave.format(numbers, rows if counts else ""), learn.format(all_rows if counts else "", nobody)]
    out += [_party_products(question, say) for question in apart]
    return [*out, *_trust(study, say), *(_other_studies(say) if study.exact_sums else [])]


def _party_products(question: StudyQuestion, say: StudyLanguage) -> str:
    """What products of each organisation's own totals reveal (statistics/exact/party_products.py)."""
    if by_party(question.model) is WithinPartyProducts:
        text = say(
            "Question {} adds up products in which each organisation has taken out its own means. Beside totals over "
            "all rows, of this study or of another, they narrow down how many rows the single organisations have and "
            "what their totals are, though not whose is whose; whoever knew those of all but two could work out both.",
            "La question {} additionne des produits dont chaque organisation a retranché ses propres moyennes. À côté "
            "de totaux sur toutes les lignes, de cette étude ou d’une autre, ils resserrent le nombre de lignes de "
            "chaque organisation et ses totaux, sans dire à qui ils appartiennent ; qui connaîtrait ceux de toutes "
            "sauf deux pourrait en déduire les deux derniers.",
        )
    else:
        text = say(
            "Question {} adds up products of each organisation’s own totals (its errors are by organisation). They "
            "narrow down what the totals of the single organisations are, though not whose is whose; whoever knew "
            "those of all but two could work out both.",
            "La question {} additionne des produits de totaux propres à chaque organisation (ses erreurs sont par "
            "organisation). Ils resserrent ce que valent les totaux de chaque organisation, sans dire à qui ils "
            "appartiennent ; qui connaîtrait ceux de toutes sauf deux pourrait en déduire les deux derniers.",
        )
    return text.format(question.number)


def _other_studies(say: StudyLanguage) -> list[str]:
    """What a party compares with earlier exact totals, and what it cannot compare."""
    rows = say(
        "The number of rows comes with all exact totals: so your software holds who answers against all exact totals "
        "that you let go before, whatever they were of, and refuses where a difference would tell about few "
        "organisations (unless you told it to compare the same questions only).",
        "Le nombre de lignes accompagne tous les totaux exacts : votre logiciel compare donc les répondants à ceux de "
        "tous les totaux exacts que vous avez laissés partir, quel qu’en soit l’objet, et refuse si une différence "
        "renseignait sur peu d’organisations (sauf si vous lui avez dit de ne comparer que les mêmes questions).",
    )
    alone = say(
        "It knows only of studies in which you took part. What is said here is said of this study by itself: totals "
        "over other organisations, asked by others or by an asker who breaks the rules, may be combined with it.",
        "Il ne connaît que les études auxquelles vous avez participé. Ce qui est dit ici vaut pour cette étude seule : "
        "des totaux sur d’autres organisations, demandés par d’autres ou par un demandeur qui enfreint les règles, "
        "peuvent être combinés avec elle.",
    )
    return [rows, alone]


def _trust(study: Study, say: StudyLanguage) -> list[str]:
    sharing = study.sharing
    if sharing.colluders:
        colluders = say("one of the organisations", "l’une des organisations")
        if sharing.colluders > 1:
            colluders = say("up to {} of the organisations", "jusqu’à {} des organisations").format(sharing.colluders)
        together = say(
            "Even if the asker and {} put together all that they know, they learn only the totals over the others, who "
            "are at least {}, and what follows from these: where the others have few rows, single ones may. More of "
            "them together could work out the totals of fewer, and at worst yours.",
            "Même si le demandeur et {} mettent en commun tout ce qu’ils savent, ils n’apprennent que les totaux des "
            "autres, qui sont au moins {}, et ce qui en découle : si les autres ont peu de lignes, on peut en trouver "
            "une à une. À plus nombreux, ils pourraient isoler les totaux de moins d’organisations, au pire les "
            "vôtres.",
        ).format(colluders, say.number(sharing.honest))
    else:
        together = say(
            "This supposes that no organisation tells the asker what it knows: the study does not guard against it.",
            "Cela suppose qu’aucune organisation ne confie au demandeur ce qu’elle sait : l’étude n’en protège pas.",
        )
    lies = say(
        "This holds even if the asker breaks the rules and tells different organisations different things about who "
        "takes part: before anything is unmasked, {} of the {} organisations have signed the same lists.",
        "Cela vaut même si le demandeur enfreint les règles et dit des choses différentes aux organisations sur qui "
        "participe : avant que rien ne soit démasqué, {} des {} organisations ont signé les mêmes listes.",
    ).format(say.number(sharing.quorum), say.number(sharing.parties))
    known = say(
        "It counts only if the other organisations are who they say they are: compare their keys too. If the asker "
        "made some of them up, the total less what it added itself is that of fewer, and at worst yours.",
        "Cela ne vaut que si les autres organisations sont bien celles qu’elles disent : comparez aussi leurs clés. Si "
        "le demandeur en a inventé, le total moins ce qu’il a ajouté lui-même est celui de moins d’organisations, au "
        "pire le vôtre.",
    )
    totals = say(
        "What the totals come to, you are told by the asker; your software sees only that they are possible.",
        "C’est le demandeur qui vous communique les totaux ; votre logiciel vérifie seulement qu’ils sont possibles.",
    )
    if sharing.coordinator == "lying":
        totals += say(" So nothing further is asked by them.", " Aucune autre question n’en dépend donc.")
    else:
        totals += say(
            " The study trusts it in this: where a question follows from totals before it, false ones would choose it.",
            " L’étude lui fait confiance sur ce point : si une question dépend de totaux précédents, de faux totaux la "
            "choisiraient.",
        )
    out = [together, lies, known, totals]
    return out if sharing.complete else [*out, _ring(study, say)]


def _ring(study: Study, say: StudyLanguage) -> str:
    """What a sparse graph assumes in addition (PairwiseMasks.assumption)."""
    return say(
        "Each organisation shares its random numbers with {} others, drawn by lot, and not with all: the chance of a "
        "draw that hides less than is said here is below one in a million million, provided that nobody tries out more "
        "than 2**64 draws, and that those who collude are not chosen by the draw.",
        "Chaque organisation partage ses nombres aléatoires avec {} autres, tirées au sort, et non avec toutes : la "
        "chance d’un tirage qui cache moins que ce qui est dit ici est inférieure à une sur un million de millions, "
        "pourvu que personne n’essaie plus de 2**64 tirages et que les complices ne soient pas choisis d’après le "
        "tirage.",
    ).format(say.number(study.sharing.degree))


def describe_noise(study: Study, say: StudyLanguage) -> list[str]:
    """What the totals themselves reveal about one row."""
    noisy = [question for question in study.questions if question.plan.curator is not None]
    exact = [str(question.number) for question in study.questions if question.plan.curator is None]
    weak = [str(question.number) for question in noisy if reader_epsilon(question.plan) > MAX_HIDING_EPSILON]
    out = []
    if exact:
        which = "" if not noisy else say(" of question {}", " de la question {}").format(say.listed(exact))
        out.append(
            say(
                "The totals{} are exact, without differential privacy: no noise hides what one row adds. Whoever knows "
                "all other rows can work out the last one, and a total over few rows, such as those that fulfil a rare "
                "condition, tells about these few.",
                "Les totaux{} sont exacts, sans confidentialité différentielle : aucun bruit ne cache ce qu’une ligne "
                "ajoute. Qui connaît toutes les autres lignes peut en déduire la dernière, et un total sur peu de "
                "lignes, par exemple celles qui remplissent une condition rare, renseigne sur ces quelques lignes.",
            ).format(which)
        )
    out += [_noise(question, say) for question in noisy]
    if weak:
        out.append(
            say(
                "The noise of question {} is too small to hide a row; its totals count as exact.",
                "Le bruit de la question {} est trop faible pour cacher une ligne ; ses totaux comptent comme exacts.",
            ).format(say.listed(weak))
        )
    if len(noisy) > len(weak):
        hides = [question for question in noisy if reader_epsilon(question.plan) <= MAX_HIDING_EPSILON]
        out += _combined([question.plan for question in hides for _ in range(question.rounds)], study, say)
    return [*out, _ratio(study, say), _conditions(study, say)] if study.exact_sums else out


def _ratio(study: Study, say: StudyLanguage) -> str:
    """Exact sums against rows."""
    if study.ratio > 1:
        return say(
            "Counted by how much they can tell, there are {} exact sums for at least {} rows in all: no limit that "
            "could hide a row is kept.",
            "Comptées selon ce qu’elles peuvent révéler, il y a {} sommes exactes pour au moins {} lignes en tout : "
            "aucune limite qui cacherait une ligne n’est tenue.",
        ).format(*map(say.number, (study.exact_sums, study.surely_rows)))
    allowed = math.floor(study.ratio * study.surely_rows)
    return say(
        "Counted by how much they can tell, there are {} exact sums for at least {} rows in all; at most {} are "
        "allowed, since with about as many sums as rows single rows could be worked out.",
        "Comptées selon ce qu’elles peuvent révéler, il y a {} sommes exactes pour au moins {} lignes en tout ; {} au "
        "plus sont permises, car avec presque autant de sommes que de lignes on pourrait retrouver des lignes.",
    ).format(*map(say.number, (study.exact_sums, study.surely_rows, allowed)))


def _noise(question: StudyQuestion, say: StudyLanguage) -> str:
    plan = question.plan
    read = plan.guarantees()["reader"]
    budget = f"epsilon = {say.number(round_up(read.epsilon))}"
    if read.delta:
        budget += f", delta = {read.delta:g}".replace(".", say(".", ","))
    if question.rounds > 1:
        budget += say(" in each round", " à chaque tour")
    return say(
        "Question {}: every organisation adds its share of random noise ({}) to its totals before they leave, so that "
        "the totals are blurred and nobody knows by how much ({}).",
        "Question {} : chaque organisation ajoute à ses totaux sa part de bruit aléatoire ({}) avant leur départ, si "
        "bien que les totaux sont brouillés et que personne ne sait de combien ({}).",
    ).format(question.number, type(plan.curator).__name__, budget)


def _combined(plans: list[Plan], study: Study, say: StudyLanguage) -> list[str]:
    certificates = [plan.guarantees()["reader"] for plan in plans]
    epsilon, delta = (sum_up(getattr(c, name) for c in certificates) for name in ("epsilon", "delta"))
    first = plans[0]  # all questions of a study protect the same (plan_checks.check_noise)
    if epsilon > MAX_HIDING_EPSILON:
        return [
            say(
                "At epsilon = {} in all the noise is too small to hide a row from somebody who knows all others: these "
                "totals count as exact.",
                "À epsilon = {} en tout, le bruit est trop faible pour cacher une ligne à qui connaît toutes les "
                "autres : ces totaux comptent comme exacts.",
            ).format(say.number(round_up(epsilon)))
        ]
    if first.unit == "row":
        who = say("one row", "une ligne")
        more = say(
            "A person with several rows is protected less, the less the more rows they have.",
            "Une personne qui a plusieurs lignes est moins protégée, d’autant moins qu’elle en a plus.",
        )
    else:
        who = say("one person (up to {} rows)", "une personne (jusqu’à {} lignes)").format(
            say.number(first.rows_per_person)
        )
        more = say(
            "This supposes that nobody has more rows, and that all rows of a person lie at one organisation.",
            "Cela suppose que personne n’a plus de lignes, et que toutes celles d’une personne sont dans la même "
            "organisation.",
        )
    honest = say(
        "It supposes that at least {} organisations answer to the end and add their share of the noise honestly.",
        "Elle suppose qu’au moins {} organisations répondent jusqu’au bout et ajoutent honnêtement leur part de bruit.",
    )
    out = [_odds(epsilon, delta, first.relation, who, say), more, honest.format(say.number(study.sharing.honest))]
    if study.exact_sums:
        out.append(
            say(
                "None of this holds for the exact totals: what they tell, they tell.",
                "Rien de cela ne vaut pour les totaux exacts : ce qu’ils disent, ils le disent.",
            )
        )
    return out


def _odds(epsilon: float, delta: float, relation: str, who: str, say: StudyLanguage) -> str:
    """How often the best guess between two possibilities is right, at most: (e^eps + delta) / (1 + e^eps)."""
    percent = 100 * (1 + delta * math.exp(-epsilon)) / (1 + math.exp(-epsilon))
    if relation == "add/remove":
        guess = say("whether it is in the data at all", "si elle figure seulement dans les données")
    else:
        guess = say("which of two contents it has", "lequel de deux contenus est le sien")
    return say(
        "This is differential privacy for {}: from all noisy totals together, even somebody who knows all other rows, "
        "and for whom it was as likely as not, cannot guess {} and be right more often than {} times in 100.",
        "C’est la confidentialité différentielle pour {} : de tous les totaux bruités ensemble, même qui connaît "
        "toutes les autres lignes, et pour qui les chances étaient égales, ne peut deviner {} en tombant juste plus de "
        "{} fois sur 100.",
    ).format(who, guess, say.number(Fraction(math.ceil(10 * percent - 1e-6), 10)))
