"""`murmure new study`: a regression between three hospitals, played on one machine."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace

from murmure.cli.starters.invented_people import patients, patients_schema
from murmure.cli.starters.starter import Starter, Step
from murmure.show.language import language
from murmure.show.phrase import Code, Phrase

ROWS, SEED = (120, 80, 200), 24
STUDY = "study.toml"
ADDRESS = "http://127.0.0.1:8460"  # where `murmure study run` serves unless told otherwise


def study(names: SimpleNamespace) -> Starter:
    rng, say = Random(SEED), language().say
    rows = {hospital: names.hospital_file.format(hospital=hospital) for hospital in names.hospitals}
    folder = f"{names.office}/{names.study_folder}"
    return Starter(
        title=Phrase("A study between three hospitals"),
        about=Phrase(
            "Three hospitals want one regression over all their patients, and none may show a row to the others, or to "
            "the office that does the arithmetic. You play all four on one machine, in a terminal with a Unix shell; "
            "in a real study each has its own."
        ),
        extras=("service", "tables", "formulas"),
        files={
            STUDY: study_text(names),
            **{file: patients(names, count, rng) for count, file in zip(ROWS, rows.values(), strict=True)},
        },
        contents={
            STUDY: Phrase("what is asked, of which columns, between which public bounds."),
            **{
                file: Phrase("{rows:,} invented patients, which only this hospital sees.", rows=count)
                for count, file in zip(ROWS, rows.values(), strict=True)
            },
        },
        steps=(
            Step(
                Phrase("Everybody makes a key"),
                Phrase(
                    "Each hospital and the office get a folder with a key that never leaves it, and a card to hand to "
                    "the others."
                ),
                "\n".join(
                    [
                        *(
                            f'murmure party init {hospital} --name "{say(Phrase("Hospital {name}", name=hospital))}"'
                            for hospital in names.hospitals
                        ),
                        f'murmure study init {names.office} --name "{say(Phrase("Statistics office"))}"',
                    ]
                ),
            ),
            Step(
                Phrase("The office writes the study"),
                Phrase(
                    "The study is signed, and says in plain words what is asked and who learns what. From now on "
                    "nobody can change it."
                ),
                f"murmure study new {names.office} {STUDY} "
                + " ".join(f"{hospital}/card.json" for hospital in names.hospitals),
            ),
            Step(
                Phrase("The office serves it, and the hospitals join"),
                Phrase(
                    "The office waits in the background. Each hospital approves this very study, by its digest, and "
                    "sends a masked sum of its own rows. To read and decide yourself, open a terminal for each "
                    "hospital, and leave {option} out.",
                    option=Code("--approve"),
                ),
                "\n".join(
                    [
                        f"murmure study run {folder} --wait 60 > office.log 2>&1 &",
                        f'digest=$(murmure study show {folder} --json | sed -n \'s/^  "digest": "\\(.*\\)".*/\\1/p\')',
                        *(
                            f"murmure party join {ADDRESS} --home {hospital} --rows {file} --minimum-parties 3 "
                            f'--approve "$digest" > {hospital}.log 2>&1 &'
                            for hospital, file in rows.items()
                        ),
                        "wait",
                    ]
                ),
            ),
            Step(
                Phrase("What came out"),
                Phrase(
                    "The regression over the rows of all three, to the last digit, and the page {report}, in English "
                    "and French. If something stopped, the .log files say why; the same commands go on from there.",
                    report=Code(names.report_file),
                ),
                f"murmure study result {folder} --html {names.report_file}",
            ),
        ),
        next_steps=(
            Phrase("{command} lists what a study may ask for.", command=Code("murmure study models")),
            Phrase(
                "With three hospitals, two that share all they know can work out the sums of the third. Left alone, "
                "Murmure wants five; {option} lowers that.",
                option=Code("--minimum-parties 3"),
            ),
            Phrase("The tutorial {page} explains each step.", page=Code("tutorial-between-organisations")),
        ),
    )


def study_text(names: SimpleNamespace) -> str:
    say = language().say
    return (
        f'name = "{say(Phrase("Length of stay"))}"\n'
        f'purpose = "{say(Phrase("How long patients stay, and how that depends on their age."))}"\n'
        "minimum_parties = 3\n"
        "least_rows = 30\n\n"
        f"{patients_schema(names).to_toml()}\n"
        "[[models]]\n"
        'model = "ols"\n'
        f'formula = "{names.stay} ~ {names.age}"\n'
    )
