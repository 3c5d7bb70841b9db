"""What engines share: a batch of work, progress bars, a Java for Spark."""
