"""What every mechanism at the person is built on: randomisers, records, columns of reports."""
