"""The last section of a report: shares that are not negative and sum to one."""

from __future__ import annotations

from murmure.core.estimates.estimate_blocks import no_figure
from murmure.run.postprocessing import project_simplex
from murmure.run.report.report_content import ReportContent
from murmure.show.document import Fold, Paragraph, Section, Table
from murmure.show.phrase import Phrase, Strong, commas


def consistent_section(content: ReportContent) -> tuple[Section, ...]:
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
        listed = commas(
            Phrase("{label} {share:.1%}", label=str(label), share=Strong(float(share)))
            for label, share in zip(shares.labels, shares.mean, strict=True)
        )
        rows.append((column.name or Phrase("answers"), listed))
    if not rows:
        return ()
    table = Table("", (Phrase("column"), Phrase("shares")), tuple(rows), words=True)
    text = Phrase(
        "The nearest shares that are not negative and sum to one, for whoever needs them so. They are biased, and no "
        "error bar belongs to them: quote the figures above."
    )
    return (Section(Phrase("4. Shares that add up"), (Paragraph(text), Fold(Phrase("Show them"), (table,)))),)
