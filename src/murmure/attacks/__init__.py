"""What somebody hostile can learn: audits of what is released."""
