"""The sentences that the script of the answering page fills in: it gets them as templates, in the reader's language.

A field such as {n} is left in place, and the script puts the number there, written as the language writes numbers.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from murmure.show.language import Language, LanguageCode
from murmure.show.phrase import Phrase


def _slots(*names: str) -> dict[str, Any]:
    """Fields that say their own names: the sentence is a template again."""
    return {name: f"{{{name}}}" for name in names}


N, ODDS, LABELS = _slots("n"), _slots("odds"), _slots("labels")

PICTURE = {
    "lead": Phrase("Of 100 people who give the same answer as you, about"),
    "lead.label": Phrase("Of 100 people who answer {answer}, about", **_slots("answer")),
    "same": Phrase("{n} will send that answer", **N),
    "other": Phrase("{n} will send the other answer", **N),
    "others": Phrase("{n} will send one of the {count} other answers", **_slots("n", "count")),
    "near": Phrase("{n} will send a number near theirs", **N),
    "far": Phrase("{n} will send a number from anywhere else", **N),
    "near.about": Phrase("Near means: in a window of {share} of the scale.", **_slots("share")),
    "close": Phrase("{n} will send a number at most {distance} away", **_slots("n", "distance")),
    "further": Phrase("{n} will send a number further away", **N),
    "high": Phrase("{n} will send “high”", **N),
    "low": Phrase("{n} will send “low”", **N),
    "side": Phrase("{n} will send only “high” or “low”", **N),
    "marked": Phrase("{n} will mark their answer in the report", **N),
    "unmarked": Phrase("{n} will leave it unmarked", **N),
    "marked.about": Phrase(
        "A report marks any of the {count} answers. Each answer that is not theirs is marked by about {n} of 100.",
        **_slots("n", "count"),
    ),
    "kept.mark": Phrase("{n} will keep a mark at their answer", **N),
    "kept.none": Phrase("{n} will keep no mark there", **N),
    "kept.about": Phrase(
        "The device makes its marks once and keeps them: any of the {count} answers can get one, and each answer that "
        "is not theirs gets one from about {n} of 100. In each wave every mark is randomised again before it is sent.",
        **_slots("n", "count"),
    ),
    "group": Phrase("{n} will send the group that their answer is in", **N),
    "groups": Phrase("{n} will send another group", **N),
    "group.about": Phrase("A public formula, drawn anew for each person, sorts the answers into {n} groups.", **N),
    "set": Phrase("{n} will send a list with their answer on it", **N),
    "sets": Phrase("{n} will send a list without it", **N),
    "set.about": Phrase("A report is a list of {n} of the {count} answers.", **_slots("n", "count")),
    "fit": Phrase("{n} will send a report that fits their answer", **N),
    "fits": Phrase("{n} will send a report that does not", **N),
    "fit.about": Phrase("Half of all possible reports fit each answer."),
    "sampled": Phrase(
        "One of your {count} answers, drawn by lot, is randomised and sent. The rest stays here.", **_slots("count")
    ),
    "sampled.some": Phrase(
        "{n} of your {count} answers, drawn by lot, are randomised and sent. The rest stays here.",
        **_slots("n", "count"),
    ),
    "joint": Phrase("Each of your {count} answers is randomised separately, and all are sent.", **_slots("count")),
    "hidden": Phrase(
        "One of your {count} answers, drawn by lot, is randomised. Made-up answers are sent for the others, and the "
        "report does not say which one is real.",
        **_slots("count"),
    ),
    "rows": Phrase("Of 100 people whose answer to a question is randomised, about"),
    "rows.label": Phrase("If they answer {answer}:", **_slots("answer")),
    "drawing": Phrase("A picture of 100 people: {parts}", **_slots("parts")),
}

CONCLUSIONS = {
    "promise": Phrase(
        "What is sent is a hint, not your answer: it moves the odds between two answers by at most a factor of {odds}.",
        **ODDS,
    ),
    "promise.several": Phrase(
        "What is sent is a hint, not your answers: it moves the odds between any two ways of answering these questions "
        "by at most a factor of {odds}.",
        **ODDS,
    ),
    "odds": Phrase(
        "Whatever somebody believed before, this report changes the odds between two answers by at most a factor of "
        "{odds}.",
        **ODDS,
    ),
    "odds.several": Phrase(
        "Whatever somebody believed before, this report changes the odds between any two ways of answering these "
        "questions by at most a factor of {odds}.",
        **ODDS,
    ),
    "belief": Phrase(
        "Somebody who thought two answers equally likely and now reads the report can be at most {percent} sure of "
        "one of them. They cannot be certain, and you cannot prove your answer with it either.",
        **_slots("percent"),
    ),
    "total.soon": Phrase(
        "This browser has already made a report on a question asked here. Together with the new one, the factor is "
        "at most {odds}.",
        **ODDS,
    ),
    "total.first": Phrase("This browser knows of no other report on this question."),
    "total.first.several": Phrase("This browser knows of no other report on these questions."),
    "total": Phrase(
        "With the other reports on this question that this browser knows of: at most a factor of {odds}.",
        **ODDS,
    ),
    "total.several": Phrase(
        "With the other reports on these questions that this browser knows of: at most a factor of {odds}.",
        **ODDS,
    ),
    "total.waves": Phrase(
        "All waves together change the odds by at most a factor of {odds}, as long as your answer stays the same and "
        "this browser keeps its key.",
        **ODDS,
    ),
    "total.changed": Phrase(
        "All waves together change the odds by at most a factor of {odds}, since reports on several answers add up. "
        "They can also show that your answer has changed, and when: the factor does not cover that.",
        **ODDS,
    ),
    "numbers": Phrase(
        "In technical terms: epsilon = {epsilon} for this report, and {total} for all reports on the same question "
        "that this browser knows of. Both are computed from the integers that are used here, and rounded up.",
        **_slots("epsilon", "total"),
    ),
}

READINGS = {
    "nothing": Phrase("Nothing: this answer stays here"),
    "marks": Phrase("A mark at: {labels}", **LABELS),
    "marks.none": Phrase("No mark at all"),
    "grouped": Phrase("A group that holds: {labels}", **LABELS),
    "grouped.none": Phrase("A group that holds none of the answers"),
    "listed": Phrase("A list: {labels}", **LABELS),
    "fitting": Phrase("A report that fits: {labels}", **LABELS),
    "fitting.none": Phrase("A report that fits none of the answers"),
    "and.more": Phrase("and {n} more", **N),
    "position": Phrase("{answer}, on a scale from {low} to {high}", **_slots("answer", "low", "high")),
    "coin.kept": Phrase("The coin left your answer as it is. Nothing in the report shows it."),
    "coin.changed": Phrase("The coin changed your answer. Nothing in the report shows it."),
    "says.high": Phrase("“high”"),
    "says.low": Phrase("“low”"),
    "gone": Phrase("This page no longer knows. It knows only the report."),
    "gone.waves": Phrase("This page no longer shows it. The device keeps its number for the next waves."),
}

STATES = {
    "kept": Phrase("Kept on this device, not sent yet."),
    "kept.page": Phrase("Kept on this page only, not sent yet."),
    "sending": Phrase("Sending …"),
    "retry": Phrase("Not sent yet: the collector did not answer. Next try in {n} s.", **N),
    "busy": Phrase("Not sent yet: the collector cannot store reports at the moment. Next try in {n} s.", **N),
    "offline": Phrase(
        "Not sent yet: this device is offline. The report is kept here, and will be sent when the connection is back "
        "and this page is open."
    ),
    "stopped": Phrase(
        "Not sent: the collector could not be reached. The report is kept here. Come back to this page, or try again."
    ),
    "again": Phrase("Try again"),
    "received.now": Phrase("The collector has stored your report."),
    "received.before": Phrase("The collector already had this same report. It counts once."),
    "copied": Phrase("Copied"),
    "download.name": Phrase("receipt"),
}

REFUSALS = {
    "refused.spent": Phrase(
        "Not counted: another report has already been sent with this link, perhaps from another of your browsers. "
        "That one counts. If it was not you, ask the person who sent you the link for a new one."
    ),
    "refused.not-open": Phrase("Not counted: the survey is closed. The report has not been stored."),
    "refused.not-open.asked": Phrase(
        "The survey is closed. This report was sent before, and no answer came back: if it arrived in time it was "
        "counted, otherwise not."
    ),
    "refused.other-plan": Phrase(
        "Not counted: this report was made for a different plan from the one the collector now uses. Nothing was "
        "stored. Ask the person who sent you the link what happened, and do not answer again until it is explained."
    ),
    "refused.other-wave": Phrase(
        "Not counted: this wave of the survey is over. Reload the page to answer in the wave that is open."
    ),
    "refused.other-wave.asked": Phrase(
        "This wave of the survey is over. This report was sent before, and no answer came back: if it arrived in time "
        "it was counted, otherwise not. Reload the page to answer in the wave that is open."
    ),
    "refused.unknown-link": Phrase(
        "Not counted: the collector did not give out this link. Check that the address is complete, or ask for a new "
        "link."
    ),
    "refused.no-coins": Phrase(
        "Not counted: this report was drawn before the collector gave out the public coin for it. Nothing was stored."
    ),
    "refused": Phrase("Not counted: the collector refused the report ({reason}).", **_slots("reason")),
    "deleted": Phrase("The report was deleted from this device. It was not counted."),
    "deleted.asked": Phrase("The report was deleted from this device."),
}

PROBLEMS = {
    "link.plan": Phrase(
        "You cannot answer here: your link names a different plan from the one the collector serves. The survey may "
        "have been changed after the link was sent. Ask the person who sent it, and do not answer until it is "
        "explained."
    ),
    "page.plan": Phrase(
        "You cannot answer here: the collector serves a different plan from the one this page names. Reload the "
        "page; if that does not help, tell the person who sent you the link."
    ),
    "link.token": Phrase(
        "This survey needs a personal link, and this address is incomplete. Open the full link that you were sent."
    ),
    "link.used": Phrase(
        "This link has been used: a report was sent with it, perhaps from another browser of yours. That one counts, "
        "so nothing is asked here. If it was not you, ask the person who sent you the link for a new one."
    ),
    "link.unknown": Phrase(
        "The collector did not give out this link. Check that the address is complete, or ask for a new link."
    ),
    "plan.missing": Phrase(
        "The plan could not be loaded, so nothing can be randomised. Check the connection, then reload."
    ),
    "plan.refused": Phrase("This page cannot use the plan ({reason}). Nothing was drawn.", **_slots("reason")),
    "plan.dishonest": Phrase(
        "You cannot answer here: the plan’s numbers exceed the epsilon that it states, or cannot be checked here. "
        "Tell the person who sent you the link."
    ),
    "coins.unreachable": Phrase(
        "The collector could not be reached for the public coin. No part of your answer was sent, and nothing was "
        "drawn. Check the connection, and try again."
    ),
    "coins": Phrase(
        "The collector did not give out the public coin ({reason}). No part of your answer was sent, and nothing was "
        "drawn. Try again in a moment.",
        **_slots("reason"),
    ),
    "coins.not-open": Phrase("This survey is closed: it takes no more answers."),
    "coins.unknown-link": Phrase(
        "The collector did not give out this link. Check that the address is complete, or ask for a new link."
    ),
    "coins.waiting": Phrase("Asking the collector for the public coin. No part of your answer is sent …"),
    "changed": Phrase(
        "In an earlier wave this device reported on a different answer. A report on another answer tells more about "
        "you: all waves together then change the odds by up to a factor of {odds}, and they can also show that your "
        "answer has changed, which the factor does not cover. Nothing has been drawn yet.",
        **ODDS,
    ),
    "changed.go": Phrase("My answer has changed: randomise it"),
    "failed": Phrase("This page could not go on ({reason}). Reload it, and try again.", **_slots("reason")),
    "choose": Phrase("Choose an answer."),
    "number": Phrase("Enter a number from {low} to {high}, in steps of {step}.", **_slots("low", "high", "step")),
}


NUMBERS = {
    "near",
    "far",
    "near.about",
    "close",
    "further",
    "high",
    "low",
    "side",
    "position",
    "says.high",
    "says.low",
    "number",
}
SEVERAL = {"sampled", "sampled.some", "joint", "hidden", "rows", "rows.label", "nothing"}
WAVES = {
    "kept.mark",
    "kept.none",
    "kept.about",
    "gone.waves",
    "total.waves",
    "total.changed",
    "refused.other-wave",
    "refused.other-wave.asked",
    "changed",
    "changed.go",
}
ONE_WAVE = {  # several waves are answered by marks that the device keeps
    "same",
    "other",
    "others",
    "marked",
    "unmarked",
    "marked.about",
    "group",
    "groups",
    "group.about",
    "set",
    "sets",
    "set.about",
    "fit",
    "fits",
    "fit.about",
    "grouped",
    "grouped.none",
    "listed",
    "fitting",
    "fitting.none",
}
COINS = {"coins", "coins.unreachable", "coins.not-open", "coins.unknown-link", "coins.waiting", "refused.no-coins"}
PERSONAL = {"link.token", "link.used", "link.unknown"}


def answer_words(
    lang: LanguageCode, kinds: Set[str], *, several: bool, waves: bool, coins: bool, personal: bool
) -> dict[str, str]:
    """Every sentence that such a survey may need, by its key. personal: whether its links are one-time links."""
    say = Language(lang).say
    groups = (PICTURE, CONCLUSIONS, READINGS, STATES, REFUSALS, PROBLEMS)
    needed = (
        (NUMBERS, "number" in kinds),
        (SEVERAL, several),
        (WAVES, waves),
        (ONE_WAVE, not waves),
        (COINS, coins),
        (PERSONAL, personal),
    )
    unused = {key for keys, wanted in needed for key in keys if not wanted}
    words = {key: phrase for group in groups for key, phrase in group.items()}
    several_only = {key for key in words if key.endswith(".several") and not several}
    return {key: say(words[key]) for key in words if key not in unused | several_only} | {"language": lang}
