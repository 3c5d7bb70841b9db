"""From rows to a release: the driver, exact totals, masked sums, billing, and sanitised tables."""
