"""What `frontmatter get` says: the value of one field of one file."""

from __future__ import annotations

from qrspi.cli.session import Session
from qrspi.core.config.problems import written
from qrspi.core.yaml.nodes import Scalar, json_value
from qrspi.handlers.runs import frontmatter_field
from qrspi.render.terminal import one_line


def show(session: Session, words: tuple[str, str]) -> None:
    """`words` are the file and the field."""
    node = frontmatter_field.read(*words)
    text = node.text if isinstance(node, Scalar) else written(node)
    document = {"schema": "qrspi/frontmatter-get/v1", "value": json_value(node)}
    session.answer(document, [one_line(text)])
