"""The reasoner without a model: finds and shows whole places; claims nothing."""
