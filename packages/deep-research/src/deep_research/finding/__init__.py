"""The reasoner without a model: finds places and shows them whole; it claims nothing."""
