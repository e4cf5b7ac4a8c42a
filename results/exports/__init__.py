"""Runs as files of other tools: tables, data set folders, Inspect's logs, OpenTelemetry's spans."""
