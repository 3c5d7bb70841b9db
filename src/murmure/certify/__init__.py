"""Readers of laws: the largest loss, the certificate, and in checks/ the generic checks."""
