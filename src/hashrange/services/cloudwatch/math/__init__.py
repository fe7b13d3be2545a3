"""Metric math: expressions over time series. Pure: text and series in, series out."""
