"""The collector over HTTP: the app, its routes and limits, and the process that serves it."""
