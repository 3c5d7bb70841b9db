"""Noise in floats, and which true answers can have given a noisy one."""
