"""Mutants of Python source: every small change that a test should notice, made on its syntax tree."""

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
}  # fmt: skip
_CALLS = {"any": "all", "all": "any", "min": "max", "max": "min"}
_MESSAGES = {"verdict_of", "gap_of", "ComputationError", "phrase"}
"""Calls whose keyword arguments fill the text of a message."""
_SMALL = 4
"""Below it a number counts something; from it on it is a size, which is halved and not moved by one."""
_EMPTY = {"str": "''", "bool": "False", "int": "0", "float": "0.0", "list": "[]", "tuple": "()", "set": "set()"}


@dataclass(frozen=True)
class Mutant:
    """One change: `before` became `after` in `function` ("" for module level) of a module at lines `first` to `last`."""

    module: str
    function: str
    before: str
    after: str
    number: int
    first: int
    last: int
    tree: ast.Module = field(repr=False, compare=False)
    change: "_Change" = field(repr=False, compare=False)

    @property
    def key(self) -> str:
        """The name by which the mutant is sampled and listed as equivalent: without line numbers."""
        repeated = f" #{self.number}" if self.number else ""
        return f"{self.module.rsplit('.', 1)[-1]}.{self.function or 'module'}: {self.before} -> {self.after}{repeated}"


class _Change(NamedTuple):
    """A replacement of `node` in the field `name` (at `index` of a list) of its parent; None removes a statement."""

    parent: ast.AST
    name: str
    index: int | None
    node: ast.AST
    new: ast.AST | None


def mutants_of(module: str, source: str) -> list[Mutant]:
    """Return all mutants of a module, in the order of its text."""
    tree = ast.parse(source)
    made: list[Mutant] = []
    seen: Counter[tuple[str, str, str]] = Counter()
    for change, function, statement in _changes(tree):
        before = _shown(change.node)
        after = "removed" if change.new is None else _shown(change.new)
        last = statement.body[0].lineno - 1 if isinstance(statement, (ast.If, ast.While, ast.For)) else None
        place = (function, before, after)
        first, end = statement.lineno, last or statement.end_lineno or statement.lineno
        made.append(Mutant(module, function, before, after, seen[place], first, max(first, end), tree, change))
        seen[place] += 1
    return made


def _shown(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 90 else f"{text[:60]} … {text[-25:]}"


def apply(mutant: Mutant) -> ast.Module:
    """Put the change into the tree of its module and return the tree, which stays changed."""
    parent, name, index, node, new = mutant.change
    new = ast.Pass() if new is None else new
    ast.copy_location(new, node)
    ast.fix_missing_locations(new)
    if index is None:
        setattr(parent, name, new)
    else:
        getattr(parent, name)[index] = new
    return mutant.tree


def _changes(tree: ast.Module) -> Iterator[tuple[_Change, str, Any]]:
    """Yield each change with the function it is in and the innermost statement around it."""

    def walk(node: ast.AST, function: str, statement: Any, scope: str) -> Iterator[tuple[_Change, str, Any]]:
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_comment", "type_params"):
                continue
            for index, child in enumerate(value if isinstance(value, list) else [value]):
                if not isinstance(child, ast.AST) or _is_without_effect(node, child):
                    continue
                inner = child if isinstance(child, ast.stmt) else statement
                place = index if isinstance(value, list) else None
                if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) and not function:
                    qualified = f"{scope}{child.name}"
                    for at, part in enumerate(child.body):
                        if _is_docstring(child, part):
                            continue
                        yield from _made(child, "body", at, part, qualified, part, child)
                        yield from walk(part, qualified, part, scope)
                    # Default values are made when the module is loaded.
                    yield from walk(child.args, "", child, scope)
                    continue
                yield from _made(node, name, place, child, function, inner, enclosing.get(function))
                yield from walk(child, function, inner, f"{child.name}." if isinstance(child, ast.ClassDef) else scope)

    classes = [(f"{c.name}.", c.body) for c in tree.body if isinstance(c, ast.ClassDef)]
    enclosing: dict[str, ast.AST] = {
        f"{scope}{node.name}": node
        for scope, body in [("", tree.body), *classes]
        for node in body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    yield from walk(tree, "", None, "")


def _is_without_effect(parent: ast.AST, child: ast.AST) -> bool:
    """Tell whether changes of a node are no faults: of a text for readers, or of a check that a programmer makes."""
    if _is_docstring(parent, child) or isinstance(child, ast.JoinedStr):
        return True
    if not isinstance(parent, ast.Call) or not isinstance(child, ast.keyword):
        return False
    called = parent.func.id if isinstance(parent.func, ast.Name) else ""
    return child.arg == "strict" or (called in _MESSAGES and child.arg != "score")


def _is_docstring(parent: ast.AST, child: ast.AST) -> bool:
    """Tell whether a statement is a string alone: a docstring, or the text below a constant."""
    value = child.value if isinstance(child, ast.Expr) else None
    return hasattr(parent, "body") and isinstance(value, ast.Constant) and isinstance(value.value, str)


def _made(
    parent: ast.AST, name: str, index: int | None, node: ast.AST, function: str, statement: Any, outer: ast.AST | None
) -> Iterator[tuple[_Change, str, Any]]:
    for new in _replacements(node, function, outer):
        yield _Change(parent, name, index, node, new), function, statement


def _replacements(node: ast.AST, function: str, outer: ast.AST | None) -> Iterator[ast.AST | None]:
    """Yield what may stand in the place of a node; None where it is removed."""
    if isinstance(node, ast.Constant):
        yield from _constants(node.value, function)
    elif function and type(node) in _OPERATORS:
        yield from _OPERATORS[type(node)](node, outer)


def _comparisons(node: ast.Compare, _outer: ast.AST | None) -> Iterator[ast.AST]:
    for i, op in enumerate(node.ops):
        yield ast.Compare(node.left, [*node.ops[:i], _COMPARISONS[type(op)](), *node.ops[i + 1 :]], node.comparators)


def _conjunctions(node: ast.BoolOp, _outer: ast.AST | None) -> Iterator[ast.AST]:
    """Yield the other operator, and the expression without each of its operands."""
    yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    for i in range(len(node.values)):
        rest = [*node.values[:i], *node.values[i + 1 :]]
        yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def _negations(node: ast.UnaryOp, _outer: ast.AST | None) -> Iterator[ast.AST]:
    if isinstance(node.op, (ast.Not, ast.USub)):
        yield node.operand


def _arithmetic(node: ast.BinOp, _outer: ast.AST | None) -> Iterator[ast.AST]:
    if type(node.op) in _ARITHMETIC:
        yield ast.BinOp(node.left, _ARITHMETIC[type(node.op)](), node.right)


def _additions(node: ast.AugAssign, _outer: ast.AST | None) -> Iterator[ast.AST | None]:
    yield None
    if type(node.op) in _ARITHMETIC:
        yield ast.AugAssign(node.target, _ARITHMETIC[type(node.op)](), node.value)


def _calls(node: ast.Call, _outer: ast.AST | None) -> Iterator[ast.AST]:
    if isinstance(node.func, ast.Name) and node.func.id in _CALLS:
        yield ast.Call(ast.Name(_CALLS[node.func.id], ast.Load()), node.args, node.keywords)


def _filters(node: ast.comprehension, _outer: ast.AST | None) -> Iterator[ast.AST]:
    for i in range(len(node.ifs)):
        yield ast.comprehension(node.target, node.iter, [*node.ifs[:i], *node.ifs[i + 1 :]], node.is_async)


def _alternatives(node: ast.IfExp, _outer: ast.AST | None) -> Iterator[ast.AST]:
    yield node.body
    yield node.orelse


def _returns(node: ast.Return, outer: ast.AST | None) -> Iterator[ast.AST]:
    """Yield an empty value of the function's type, where no other mutant changes what is returned."""
    if node.value is None or isinstance(node.value, (ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.IfExp)):
        return
    returns = getattr(outer, "returns", None)
    kind = ast.unparse(returns).split("[")[0] if returns else ""
    empty = _EMPTY.get(kind, "None")
    if ast.unparse(node.value) != empty:
        yield ast.Return(ast.parse(empty, mode="eval").body)


def _removal(_node: ast.AST, _outer: ast.AST | None) -> Iterator[None]:
    yield None


def _calls_alone(node: ast.Expr, _outer: ast.AST | None) -> Iterator[None]:
    if isinstance(node.value, ast.Call):
        yield None


def _assignments(node: ast.Assign, outer: ast.AST | None) -> Iterator[None]:
    if _is_rebinding(node, outer):
        yield None


def _constants(value: object, function: str) -> Iterator[ast.AST]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int) and abs(value) < _SMALL:
        yield ast.Constant(value + 1)
    elif isinstance(value, int):
        yield from (ast.Constant(other) for other in ([value // 2] if function else [value * 2, value // 2]))
    elif isinstance(value, float):
        yield from (ast.Constant(other) for other in (value * 2, value / 2) if other != value)
    elif isinstance(value, str) and function:
        yield ast.Constant("" if value else "XX")


def _conditions(node: ast.If | ast.While, _outer: ast.AST | None) -> Iterator[ast.AST]:
    """Yield the statement with its condition turned round, and without it where it only guards what follows."""
    if not isinstance(node.test, (ast.Compare, ast.BoolOp, ast.UnaryOp)):
        yield type(node)(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    guards = isinstance(node.body[-1], (ast.Return, ast.Continue, ast.Raise, ast.Break)) and not node.orelse
    if isinstance(node, ast.If) and guards:
        yield ast.If(ast.Constant(False), node.body, [])


def _is_rebinding(node: ast.Assign, outer: ast.AST | None) -> bool:
    """Tell whether an assignment changes a name that has a value before: then it may be left out."""
    if not isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    bound = {a.arg for a in [*outer.args.args, *outer.args.kwonlyargs]}
    for other in ast.walk(outer):
        if isinstance(other, ast.Name) and isinstance(other.ctx, ast.Store) and other.lineno < node.lineno:
            bound.add(other.id)
    names = {
        n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    return bool(names) and names <= bound


_OPERATORS: dict[type[ast.AST], Callable[[Any, ast.AST | None], Iterator[ast.AST | None]]] = {
    ast.Compare: _comparisons,
    ast.BoolOp: _conjunctions,
    ast.UnaryOp: _negations,
    ast.BinOp: _arithmetic,
    ast.AugAssign: _additions,
    ast.Call: _calls,
    ast.comprehension: _filters,
    ast.IfExp: _alternatives,
    ast.If: _conditions,
    ast.While: _conditions,
    ast.Return: _returns,
    ast.Continue: _removal,
    ast.Break: _removal,
    ast.Expr: _calls_alone,
    ast.Assign: _assignments,
}
