"""The statements by capability: one class that reads, and one that also writes."""
