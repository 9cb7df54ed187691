"""The words of Holdfast as frozen dataclasses; standard library only, no behaviour of its own."""
