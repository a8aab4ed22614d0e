"""Chat models by name, over real wires; facts about model families as data; limits shared by the process."""
