"""How long work keeps the other threads of its process from their turn."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def turns_of_others() -> Iterator[list[float]]:
    """Give what this process computed, in seconds, each time before another thread had its turn."""
    ended, held_up = threading.Event(), [0.0]

    def watch() -> None:
        before = time.process_time()
        while not ended.wait(0.01):
            now = time.process_time()
            held_up.append(now - before)
            before = now

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield held_up
    finally:
        ended.set()
        watching.join()
