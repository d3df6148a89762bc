"""A command's answer as a tool's result: its document, and what it prints as a short text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from mcp.types import CallToolResult, TextContent

from qrspi.cli.in_process import Answer
from qrspi.core.model import Problem
from qrspi.render import problems
from qrspi.render.terminal import visible

ERROR = "qrspi/error/v1"
_LONGEST = 1000  # a line may repeat what it was given, and a model pays for every word


def result(answer: Answer) -> CallToolResult:
    document = encodable(answer.document)
    if document["schema"] == ERROR:
        return _refused(_error_lines(document))
    text = "\n".join((*answer.notes, *answer.lines)).strip()
    return CallToolResult(content=[_text(text)], structured_content=document)


def refusal(problem: Problem, more: Iterable[Problem] = ()) -> CallToolResult:
    return _refused(_error_lines(problems.error_document(problem, more)))


def _refused(lines: Iterable[str]) -> CallToolResult:
    """No structured content: a client would check it against the schema of the good answer."""
    cut = (visible(line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…") for line in lines)
    return CallToolResult(content=[_text("\n".join(cut))], is_error=True)


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=encodable(text))


def _error_lines(document: dict[str, Any]) -> Iterator[str]:
    message = document["message"]
    yield f"{document['code']}: {message}"
    for one in document.get("violations", ()):
        yield f"- {one['code']}: {one['message']}"
    for way in document["options"] or filter(None, [document["hint"]]):
        if way not in message:
            yield f"way out: {way}"


def encodable(value: Any) -> Any:
    """Names of files may contain bytes that are no text, which JSON cannot carry."""
    if isinstance(value, dict):
        return {encodable(key): encodable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [encodable(item) for item in value]
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    return value


def misuse(tool: str, what: str, expected: Iterable[str]) -> CallToolResult:
    takes = ", ".join(expected) or "nothing"
    text = f"{tool} cannot be called like this: {what}"
    return refusal(Problem("usage", text, expected=takes, hint=f"call {tool} with: {takes}"))
