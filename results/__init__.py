"""Reads journals: metrics, statistics, tables, figures, reports and exports."""
