"""The report as one file for a browser: summary, tables, figures and every dialogue, without network access."""
