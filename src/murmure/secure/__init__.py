"""Between parties: sums of which nobody sees a part. Pure functions and machines of messages: no sockets, no clocks."""
