"""What tests share: a test imports from here, and from no other test."""

from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
TESTS = REPOSITORY / "tests"
BIN = REPOSITORY / ".venv" / "bin"
