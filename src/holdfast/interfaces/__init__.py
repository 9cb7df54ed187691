"""The faces of Holdfast. They know the composition root, and not each other."""
