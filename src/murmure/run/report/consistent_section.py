"""The last section of a report: shares that are not negative and sum to one."""

from __future__ import annotations

import html

from murmure.core.show import no_figure
from murmure.run.postprocessing import project_simplex
from murmure.run.report.html_parts import WIDE, Language
from murmure.run.report.report_content import ReportContent


def consistent_section(content: ReportContent, w: Language) -> str:
    """The nearest shares that are not negative and sum to one: they have no error bars."""
    rows = []
    for column in content.columns:
        estimate = column.estimate
        if no_figure(estimate) or estimate.unit != "share" or len(estimate.mean) < 2 or not content.mechanism:
            continue
        # Shares of noisy counts sum to one already: only negative ones need a projection.
        if content.curated and not (estimate.mean < 0).any():
            continue
        shares = project_simplex(estimate)
        listed = ", ".join(
            f"{html.escape(label)}{WIDE}<b>{w.percent(float(share))}</b>"
            for label, share in zip(shares.labels, shares.mean, strict=True)
        )
        name = html.escape(content.column_title(column.name, w)) or w("answers", "réponses")
        rows.append(f'<tr><th scope="row">{name}</th><td>{listed}</td></tr>')
    if not rows:
        return ""
    head = f'<th scope="col">{w("column", "colonne")}</th><th scope="col">{w("shares", "parts")}</th>'
    return f"""<h2>{w("4. Shares that add up", "4. Des parts qui font un tout")}</h2>
<p>{
        w(
            "The nearest shares that are not negative and sum to one, for whoever needs them so. They are biased, and "
            "no error bar belongs to them: quote the figures above.",
            f"Les parts les plus proches qui ne sont pas négatives et dont la somme est un, pour qui en a besoin. "
            f"Elles sont biaisées et sans barre d’erreur{WIDE}: citez les chiffres ci-dessus.",
        )
    }</p>
<details><summary>{w("Show them", "Les montrer")}</summary>
<table class="held"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></details>"""
