"""Measuring recall: against a set of questions, or against a person's own history."""
