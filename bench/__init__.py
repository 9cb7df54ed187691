"""Measurements: ratios against a control in the same run, never absolute promises."""
