"""From one round of sums to the next: Newton, iterated least squares, partial likelihood."""
