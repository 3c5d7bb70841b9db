"""What a party's rule about conditions says on the wire: nothing; and a no is one message, whoever said it."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.parties.party.test_runner import AGE, LAX, World, check_invitation, ended, release_first

import murmure as mu
from murmure.cli import main, party_join
from murmure.core.errors import RareCondition
from murmure.parties.http.address import Address
from murmure.parties.http.client import Client
from murmure.parties.party.folder import PartyFolder
from murmure.parties.party.history import earlier_disclosures
from murmure.parties.party.invitation import Invitation, decline
from murmure.parties.party.policy import Policy
from murmure.parties.study.document import Study
from murmure.secure.errors import CohortRefused
from murmure.secure.messages import Kind, parse_message
from murmure.secure.party import Party
from murmure.show.language import Language

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
SCHEMA = mu.Schema({"age": mu.Integers(0, 99), "x": mu.Integers(0, 50)})


def asking(world: World, *texts: str, name: str = "Ages", rows: int = 120) -> Study:
    plan = mu.Plan(mu.Sums(SCHEMA, texts), parties=world.masks)
    roster = tuple(home.card for home in world.homes)
    return Study(name, "to know", world.identity.card("Office"), roster, (plan,), rows)


def terms_of(world: World, study: Study, policy: Policy = LAX, url: str = "http://127.0.0.1:1") -> Invitation:
    return Invitation(world.homes[0], study, study.signed(world.identity), url, policy)


def test_a_rule_refuses_before_anything_is_read_or_sent(tmp_path: Path) -> None:
    """No row, no message: whoever waits cannot tell it from a person who has not answered yet."""
    world = World(tmp_path, parties=3)
    world.study = asking(world, "x * (age == 97)")
    with world.hub() as url:
        for policy in (LAX, Policy(3, minimum_cell=2)):
            with pytest.raises(RareCondition, match="age == 97"):
                check_invitation(terms_of(world, world.study, policy, url))
        assert world.came() == {}
    assert [one["decision"] for one in world.homes[0].store.decisions()] == ["refused"] * 2
    check_invitation(terms_of(world, world.study, Policy(3, minimum_cell=1)))
    check_invitation(terms_of(world, world.study, Policy(3, rows_are_public=True)))


def test_a_study_approved_before_is_compared(tmp_path: Path) -> None:
    """Two studies, each of them broad, whose difference is one age; said before, and refused by the rule."""
    world = World(tmp_path, parties=3)
    first, second = asking(world, "x * (age <= 40)", name="First"), asking(world, "x * (age <= 41)", name="Second")
    check_invitation(terms_of(world, first))
    check_invitation(terms_of(world, second))
    release_first(world, first, [0, 1, 2])
    with pytest.raises(RareCondition, match=r"“age <= 41” and “age <= 40” of an earlier study differ in about 1.2 of"):
        check_invitation(terms_of(world, second))
    check_invitation(terms_of(world, second, Policy(3, minimum_cell=1)))
    check_invitation(terms_of(world, asking(world, "x * (age <= 40)", name="Third")))
    for language, mark in (("en", "of an earlier study"), ("fr", "d’une étude précédente")):
        say = Language(language).say  # type: ignore[arg-type]
        assert any(mark in say(line) for line in earlier_disclosures(world.homes[0].store, second))


def test_a_no_is_the_same_bytes_whether_a_rule_or_a_person_said_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person by `decline`, a rule in the middle of a round: one kind, an empty body, the same bytes to the last."""
    world = World(tmp_path / "w", parties=4, dropouts=1)
    shutil.copytree(world.homes[0].folder, tmp_path / "twin")  # the same party, asked the same
    earlier = world.asks([mu.Plan(AGE, parties=mu.PairwiseMasks(4, dropouts=0, rows=999))], "Earlier")
    release_first(world, earlier, [0, 1, 2, 3])
    with world.hub(late=0.5) as url:
        others = [world.child(i, url) for i in (1, 2)]
        with pytest.raises(CohortRefused):
            world.join(0, url)
        came = [(kind, sender, raw) for (kind, sender, _), some in world.came().items() for raw in some]
        for pid, pipe in others:
            os.kill(pid, signal.SIGKILL)
            ended(pid, pipe)
    by_rule = [raw for kind, sender, raw in came if (kind, sender) == ("REFUSE", 0)]
    by_person: list[bytes] = []
    with Client(Address.of("http://127.0.0.1:9"), patience=0.0) as client:
        monkeypatch.setattr(client, "send", by_person.append)
        terms = Invitation(PartyFolder(tmp_path / "twin"), world.study, b"", client.address.url, LAX)
        decline(terms, client, "a reason of my own, which stays here")

    assert by_rule == by_person and len(by_rule) == 1
    assert parse_message(by_rule[0]).kind is Kind.REFUSE and parse_message(by_rule[0]).body == b""


def test_a_no_depends_on_nothing_but_the_round_and_the_party(tmp_path: Path) -> None:
    """Not on the secret of the session, and so on nothing that a party knows."""
    world = World(tmp_path, parties=3)
    session = world.study.session(1, range(3))
    said = {Party(session, world.homes[0].identity, 0, bytes([k]) * 32).refuse() for k in range(5)}

    assert len(said) == 1


ROWS = {
    "one row behind it": [(97, 5)] + [(30 + k % 5, k % 50) for k in range(130)],
    "none": [(30 + k % 5, k % 50) for k in range(131)],
    "half": [(97 - k % 2 * 60, k % 50) for k in range(131)],
}


@pytest.mark.parametrize("held", ROWS)
def test_own_rows_warn_before_the_first_round_and_decide_nothing(
    tmp_path: Path, held: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the rows are: the rule takes the study, the person is asked, and only the warning differs."""
    world = World(tmp_path, parties=3)
    world.study = asking(world, "x", "x * (age >= 60)")
    (tmp_path / "rows.csv").write_text("age,x\n" + "".join(f"{a},{x}\n" for a, x in ROWS[held]))
    monkeypatch.setattr(party_join, "_has_terminal", lambda: True)
    with world.hub() as url:
        signed = world.study.signed(world.identity)
        monkeypatch.setattr(Client, "study", lambda self: signed)
        call: list[Any] = ["party", "join", url, "--home", world.homes[0].folder, "--rows", tmp_path / "rows.csv"]
        ran = CliRunner().invoke(main, [*map(str, call), "--minimum-parties", "3"], input="later\n")
        looked = CliRunner().invoke(main, [*map(str, ["party", "look", *call[2:]])])
        assert world.came() == {}
    assert ran.exit_code == 1 and "Take part?" in ran.output, ran.output
    few = held != "half"
    for output in (ran.output, looked.output):
        assert ("WARNING, seen by you alone: of your 131 rows" in output) == few, output
        assert ("your software does not act on them" in " ".join(output.split())) == few
