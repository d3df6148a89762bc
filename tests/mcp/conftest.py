from tests.cli.conftest import process

__all__ = ["process"]
