"""`holdfast doctor`: what capture and memory depend on, looked at and mended.

Start with `examine`, which lists the checks and applies their fixes. To add a check: write a
generator that takes the `DoctorContext` and yields what it finds wrong, and add it to `CHECKS`. It
must not change anything; what can be repaired gets a `fix` that does it and returns a sentence, and
a `question` if that deletes something or takes long.
"""
