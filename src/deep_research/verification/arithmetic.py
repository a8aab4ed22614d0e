"""Stand-in until the real one is merged."""


def evaluate(expression):
    return None


def agrees(quote, value):
    return True
