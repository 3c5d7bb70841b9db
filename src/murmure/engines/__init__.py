"""Where the sum runs. An engine adds integers and nothing else."""
