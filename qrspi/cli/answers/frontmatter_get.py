"""What `frontmatter get` says: the value of one field of one file."""

from __future__ import annotations

from qrspi.cli.session import Session
from qrspi.core.config.problems import written
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.yaml.nodes import Scalar, json_value
from qrspi.handlers.runs import frontmatter_field
from qrspi.render.terminal import one_line


class Request(NamedTuple):
    words: tuple[str, str]  # the file and the field


def show(session: Session, request: Request) -> None:
    node = frontmatter_field.read(*request.words)
    text = node.text if isinstance(node, Scalar) else written(node)
    document = {"schema": "qrspi/frontmatter-get/v1", "value": json_value(node)}
    session.answer(document, [one_line(text)])
