"""Which model a tier stands for: the model_routing block and default_tier."""

from qrspi.core.config.fields import Faults, Fields, is_empty, string
from qrspi.core.config.problems import FILE, invalid, lacking, listed, missing, setting, unknown_key
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.yaml.nodes import Node, Scalar

TIERS = ("extra-low", "low", "medium", "high", "extra-high")


class Model(NamedTuple):
    vendor: str
    model: str


USUAL: dict[str, Model | None] = {
    "extra-low": None,
    "low": Model("claude", "claude-haiku-4.5"),
    "medium": Model("claude", "claude-sonnet-4.6"),
    "high": Model("claude", "claude-opus-4.7"),
    "extra-high": Model("claude", "claude-opus-4.7-high"),
}
USUAL_TIER = "medium"

_BLOCK_EXPECTED = f"a block with the rows {listed(TIERS, 'and')}"
_ROW_EXPECTED = "none or {vendor: …, model: …}"
# A name is filled into the arguments of a program that the user has allowed. With other characters
# it could be an option there, or a command where the program is a shell.
_BEGINNING = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@")
_NAME = _BEGINNING | frozenset("._:/+[]-")
_NAME_EXPECTED = "letters, digits and @ . _ : / + [ ] -, with a letter, a digit or @ first"


def flow(row: Model | None) -> str:
    return f"{{vendor: {row.vendor}, model: {row.model}}}" if row else "none"


def _block_ways() -> tuple[str, ...]:
    rows = ", ".join(f"{tier}: {flow(row)}" for tier, row in USUAL.items())
    usual = f"{{{rows}, default_tier: {USUAL_TIER}}}"
    return (
        f"Use the usual table: qrspi config set model_routing '{usual}'",
        f"Write the block into {FILE} by hand, then check it: qrspi config validate",
    )


def model_routing(fields: Fields, faults: Faults) -> dict[str, Model | None] | None:
    if is_empty(fields, "model_routing"):
        faults.append(missing("model_routing", _BLOCK_EXPECTED, *_block_ways()))
        return None
    block = fields["model_routing"]
    if not isinstance(block, dict):
        faults.append(invalid("model_routing", block, _BLOCK_EXPECTED, *_block_ways()))
        return None
    before = len(faults)
    table = {tier: _row(block, tier, faults) for tier in TIERS}
    unknown_keys(block, "model_routing", (*TIERS, "default_tier"), faults)
    return table if len(faults) == before else None


def _row(block: dict[str, Node], tier: str, faults: Faults) -> Model | None:
    field = f"model_routing.{tier}"
    if tier not in block:
        faults.append(lacking(field, _ROW_EXPECTED))
        return None
    row = block[tier]
    if isinstance(row, Scalar) and row.text == "none":
        return None
    return model(row, field, faults, _ROW_EXPECTED)


def model(
    node: Node, field: str, faults: Faults, expected: str = "{vendor: …, model: …}"
) -> Model | None:
    if not isinstance(node, dict):
        faults.append(invalid(field, node, expected))
        return None
    vendor = required_string(node, field, "vendor", faults)
    name = required_string(node, field, "model", faults)
    if name and not is_model_name(name):
        faults.append(invalid(f"{field}.model", node["model"], _NAME_EXPECTED))
    unknown_keys(node, field, Model._fields, faults)
    return Model(vendor, name) if vendor and name else None


def is_model_name(name: str) -> bool:
    return name[:1] in _BEGINNING and _NAME.issuperset(name)


def required_string(block: dict[str, Node], field: str, key: str, faults: Faults) -> str | None:
    dotted = f"{field}.{key}"
    if key in block:
        return string(block[key], dotted, faults)
    faults.append(lacking(dotted, "a non-empty text on one line"))
    return None


def unknown_keys(
    block: dict[str, Node], field: str, known: tuple[str, ...], faults: Faults
) -> None:
    faults.extend(unknown_key(field, key, known) for key in block if key not in known)


def default_tier(fields: Fields, faults: Faults) -> str | None:
    """Inside model_routing or beside it; in both places only when they agree."""
    block = fields.get("model_routing")
    inner = _tier(block, "model_routing.default_tier", faults) if isinstance(block, dict) else None
    outer = _tier(fields, "default_tier", faults)
    if inner and outer and inner != outer and isinstance(block, dict):
        expected = f"{outer}, as in the default_tier outside the block, or only one of the two"
        faults.append(invalid("model_routing.default_tier", block["default_tier"], expected))
        return None
    return inner or outer


def _tier(fields: Fields, field: str, faults: Faults) -> str | None:
    node = fields.get("default_tier")
    if node is None or (isinstance(node, Scalar) and node.text in TIERS):
        return node.text if isinstance(node, Scalar) else None
    faults.append(invalid(field, node, listed(TIERS), *(setting(field, tier) for tier in TIERS)))
    return None
