"""Laws of noise on the integers, sampled without rounding."""
