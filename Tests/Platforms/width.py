"""Finds constants of `Int` and `UInt` that need more than 32 bits, the size of these types on watchOS devices.

This machine's toolchain has only a 64-bit standard library, so the compiler's errors for 32 bits are derived from its syntax
tree, in which every literal has its type. Finds literals and constant expressions that overflow, which wouldn't compile, and
shifts by 32 bits or more, which would compile and become 0. Doesn't find values computed at run time.
"""
import re

NODE = re.compile(r"^( *)\((?:[a-z_]+=)?([a-z_]+)\b(.*)")
TYPE = re.compile(r' type="(?:Swift\.)?(U?Int)"')
VALUE = re.compile(r'( negative)? value="(\d+)"')
PLACE = re.compile(r" location=(\S+)")
OPERATOR = re.compile(r'decl="[^"]*?\.([^."\s\w]+)(?: \[with|")')
ASSIGNED = re.compile(r' type="\(inout (U?Int), ')
LIMITS = {"Int": (-(1 << 31), (1 << 31) - 1), "UInt": (0, (1 << 32) - 1)}
SHIFTS = {"<<", ">>", "&<<", "&>>"}
COMPUTE = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "|": lambda a, b: a | b,
    "/": lambda a, b: a // b if b else None, "<<": lambda a, b: a << b if 0 <= b < 1024 else None,
}
# Nodes that wrap an operator.
OPERATOR_PARTS = {"dot_syntax_call_expr", "function_conversion_expr"}
# Nodes with the value of their only expression.
TRANSPARENT = {"paren_expr", "argument"}


class Node:
    def __init__(self, indent, kind, text):
        self.indent, self.kind, self.text = indent, kind, text
        self.children, self.operator, self.value = [], None, None

    def close(self, report):
        """Computes the value. The children must have theirs already."""
        typed = TYPE.search(self.text)
        if self.kind == "integer_literal_expr":
            value = VALUE.search(self.text)
            self.value = value and int(value[2]) * (-1 if value[1] else 1)
        elif self.kind == "declref_expr":
            operator = OPERATOR.search(self.text)
            self.operator = operator and operator[1]
        elif self.kind in OPERATOR_PARTS:
            self.operator = next((c.operator for c in self.children if c.operator), None)
        elif self.kind in TRANSPARENT and len(self.children) == 1:
            self.value = self.children[0].value
        elif self.kind == "binary_expr":
            # An assignment has no value; its operator has the type.
            assigned = None if typed else ASSIGNED.search(" ".join(c.text for c in self.children))
            if typed or assigned:
                self.compute((typed or assigned)[1], report)
        if typed and self.value is not None:
            low, high = LIMITS[typed[1]]
            if not low <= self.value <= high:
                report(self, f"{self.value} does not fit into {typed[1]} of 32 bits")
                self.value = None

    def compute(self, name, report):
        operator = next((c.operator for c in self.children if c.operator), None)
        values = [a.value for c in self.children if c.kind == "argument_list" for a in c.children]
        if len(values) != 2:
            return
        if operator and operator.rstrip("=") in SHIFTS and values[1] is not None and values[1] >= 32:
            report(self, f"a shift of {name} by {values[1]} loses all of 32 bits")
        elif None not in values and operator in COMPUTE:
            self.value = COMPUTE[operator](*values)


def findings(lines):
    """Returns the problems in a dump of the tree, as `file:line:column: problem`."""
    found, stack = {}, []

    def report(node, text):
        place = PLACE.search(node.text)
        if place:
            found[place[1]] = f"{place[1]}: {text}"

    def close(indent):
        while stack and stack[-1].indent >= indent:
            node = stack.pop()
            node.close(report)
            if stack:
                stack[-1].children.append(node)

    for line in lines:
        match = NODE.match(line)
        if not match:
            if stack:
                stack[-1].text += " " + line.strip()
            continue
        indent = len(match[1])
        close(indent)
        stack.append(Node(indent, match[2], match[3]))
    close(0)
    return sorted(found.values())
