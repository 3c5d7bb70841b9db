"""The texts of the coordinator's page in both languages, and its additions to the style of all pages."""

from __future__ import annotations

from murmure.run.report.html_parts import WIDE

MORE_STYLE = """
nav a{padding:.2rem .8rem;border-radius:1rem;color:var(--soft);font-size:.9rem;text-decoration:none}
nav a[aria-current]{background:var(--card);color:var(--ink);box-shadow:inset 0 0 0 1px var(--line)}
.state{display:inline-block;margin:.9rem 0 0;padding:.25rem .8rem;border-radius:1rem;font-weight:600;
background:var(--card);box-shadow:inset 0 0 0 1px var(--line)}
.state.done{color:var(--accent)}.state.failed{background:var(--warn);color:var(--warn-ink);box-shadow:none}
.stages{list-style:none;padding:0;margin:.8rem 0}
.stages li{display:grid;grid-template-columns:18rem 1fr 5rem;gap:1rem;align-items:center;padding:.3rem 0;
border-top:1px solid var(--line)}
.stages li.later{color:var(--soft)}.stages li.now b{color:var(--accent)}
.stages svg rect{fill:var(--line)}.stages svg .came{fill:var(--bar)}.stages li.now svg .came{fill:var(--accent)}
.stages .num{text-align:right;font-variant-numeric:tabular-nums}
.roster td,.roster th{text-align:left;white-space:normal}
.roster code{font-size:.78rem;color:var(--soft);white-space:nowrap}
main>ul li,section>ul li{margin:.35rem 0}
.roster td:last-child{white-space:nowrap}.out{color:var(--truth)}.in{color:var(--accent)}
.exact td{overflow-wrap:anywhere;white-space:normal}.exact td:last-child{font-weight:650}
.murmure{overflow-x:auto}.murmure table{width:auto;white-space:nowrap}
.murmure td,.murmure th{text-align:right;font-variant-numeric:tabular-nums}.murmure .name{text-align:left}
@media (max-width:40rem){.exact{display:block;overflow-x:auto}.exact td{white-space:nowrap}
.stages li{grid-template-columns:1fr auto}.stages svg{grid-column:1/-1;grid-row:2}
.roster tr{display:block;border-top:1px solid var(--line);padding:.4rem 0}
.roster td,.roster th[scope=row]{display:block;border:0;padding:.1rem 0}.roster code{white-space:normal}}
"""
STAGES = {  # what the parties do in it
    "keys": ("join", "s’inscrivent"),
    "shares": ("share their secrets", "partagent leurs secrets"),
    "opened": ("open each other’s shares", "ouvrent les parts des autres"),
    "vectors": ("send masked sums", "envoient des sommes masquées"),
    "agree": ("sign the same lists", "signent les mêmes listes"),
    "reveal": ("unmask the total", "démasquent le total"),
}
STATES = {
    "gathering": ("Waiting for the parties", "En attente des participants"),
    "running": ("Running", "En cours"),
    "done": ("Done", "Terminée"),
    "failed": ("Ended without a result", "Arrêtée sans résultat"),
}
PARTY_STATES = {
    "answered": ("answered", "a répondu"),
    "awaited": ("awaited", "attendu"),
    "declined": ("declined", "a refusé"),
    "vanished": ("vanished", "disparu"),
    "unusable": ("left out: unusable messages", f"écarté{WIDE}: messages inutilisables"),
    "left out": ("not in it", "hors de la somme"),
    "done": ("in the sum", "dans la somme"),
}
REASONS = {
    "TooFewParties": (
        "Too few parties were left: nothing was summed, and nothing was learnt.",
        f"Trop peu de participants sont restés{WIDE}: rien n’a été additionné, et rien n’a été appris.",
    ),
    "CohortRefused": (
        "The difference to an earlier release would have told about too few parties: nothing was unmasked.",
        "La différence avec une publication antérieure en aurait trop dit sur trop peu de participants : rien n’a été "
        "démasqué.".replace(" :", f"{WIDE}:"),
    ),
    "ImpossibleTotal": (
        "The total is none that honest parties can have: it is not shown.",
        f"Le total n’est pas de ceux que des participants honnêtes peuvent avoir{WIDE}: il n’est pas montré.",
    ),
    "SharesDoNotFit": (
        "The shares that came back belong to no secret: somebody sent wrong ones.",
        f"Les parts revenues n’appartiennent à aucun secret{WIDE}: quelqu’un en a envoyé de fausses.",
    ),
}
OTHER_REASON = ("The coordinator ended it.", "Le coordinateur y a mis fin.")
