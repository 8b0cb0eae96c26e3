"""`python -m causeway` is the command line."""

from causeway.cli.main import main

if __name__ == "__main__":
    main()
