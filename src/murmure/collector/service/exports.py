"""Reports of a survey as files: Parquet and CSV that `murmure estimate` reads, and JSON lines of the reports as sent.

Rows are in the order of their content, not of arrival, and carry no token: an export says what was reported, and not by
whom or when. Of a wave survey, one wave.
"""

from __future__ import annotations
