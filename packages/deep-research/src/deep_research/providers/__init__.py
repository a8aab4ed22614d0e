"""Chat models by name, over real wires; model families as data; shared limits."""
