"""What an attacker can learn: audits of what is released."""
