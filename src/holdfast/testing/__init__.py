"""What a test of Holdfast, or of a new backend for it, can stand on."""
