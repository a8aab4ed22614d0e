"""`python -m deep_research`: the command line."""

from deep_research.cli.main import main

if __name__ == "__main__":
    main()
