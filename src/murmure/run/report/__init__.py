"""What a report on a release says: what was asked, what the crowd says, what is guaranteed."""
