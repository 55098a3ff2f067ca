"""Evaluates the platform conditions of a Swift source for another platform.

Lines that the platform doesn't compile become empty, which keeps the line numbers of diagnostics correct.
"""
import re
import sys

# Exists on all platforms, on all of Apple's, and on all with a Linux kernel.
EVERYWHERE = {"Foundation", "Dispatch", "Observation", "Synchronization", "Testing"}
APPLE = {"Darwin", "CryptoKit", "Security", "SwiftUI", "os", "Network"}
LINUX = {"FoundationEssentials", "FoundationNetworking", "FoundationXML", "FoundationInternationalization"}
PLATFORMS = {
    "macOS": {"os": {"macOS", "OSX"}, "import": APPLE | {"AppKit"}, "environment": set()},
    "iOS": {"os": {"iOS"}, "import": APPLE | {"UIKit"}, "environment": set()},
    "watchOS": {"os": {"watchOS"}, "import": APPLE | {"UIKit"}, "environment": set()},
    "Musl": {"os": {"Linux"}, "import": LINUX | {"Musl"}, "environment": set()},
    "Android": {"os": {"Android"}, "import": LINUX | {"Android"}, "environment": set()},
}
# Missing on at least one platform.
SOMEWHERE = APPLE | LINUX | {"UIKit", "AppKit", "Glibc", "Musl", "Android", "WinSDK", "WASILibc"}

TOKEN = re.compile(r"\s*(&&|\|\||!|\(|\)|>=|<|,|[A-Za-z_][A-Za-z0-9_.]*|[0-9.]+)")


class Condition:
    def __init__(self, text, platform, place):
        self.tokens, self.platform, self.place = self.split(text, place), platform, place

    @staticmethod
    def split(text, place):
        text = re.sub(r"//.*$", "", text).strip()
        tokens, position = [], 0
        while position < len(text):
            match = TOKEN.match(text, position)
            if not match:
                sys.exit(f"{place}: cannot read the condition {text!r}")
            tokens.append(match.group(1))
            position = match.end()
        return tokens

    def evaluate(self):
        value = self.either()
        if self.tokens:
            sys.exit(f"{self.place}: cannot read the rest of a condition: {self.tokens}")
        return value

    def take(self, token):
        if self.tokens[:1] == [token]:
            self.tokens.pop(0)
            return True
        return False

    def either(self):
        value = self.both()
        while self.take("||"):
            value = self.both() or value
        return value

    def both(self):
        value = self.single()
        while self.take("&&"):
            value = self.single() and value
        return value

    def single(self):
        if self.take("!"):
            return not self.single()
        if self.take("("):
            value = self.either()
            self.take(")")
            return value
        name = self.tokens.pop(0)
        if not self.take("("):
            return {"true": True, "false": False, "DEBUG": True}.get(name, False)
        arguments = []
        while not self.take(")"):
            arguments.append(self.tokens.pop(0))
        return self.call(name, arguments)

    def call(self, name, arguments):
        argument = arguments[0]
        if name == "os":
            return argument in self.platform["os"]
        if name == "canImport":
            if argument.startswith("Errand") or argument.startswith("CErrand") or argument in EVERYWHERE:
                return True
            if argument in self.platform["import"]:
                return True
            if argument in SOMEWHERE:
                return False
            sys.exit(f"{self.place}: canImport({argument}): say in evaluate.py which platforms have it")
        if name in ("swift", "compiler"):
            return arguments[0] == ">="
        if name == "targetEnvironment":
            return argument in self.platform["environment"]
        if name in ("hasFeature", "hasAttribute"):
            return True
        if name == "arch":
            return argument == "arm64"
        sys.exit(f"{self.place}: unknown condition {name}")


def evaluated(text, platform, name):
    lines, stack, in_string = [], [], False
    for number, line in enumerate(text.split("\n"), 1):
        directive = None if in_string else re.match(r"\s*#(if|elseif|else|endif)\b(.*)", line)
        if line.count('"""') % 2 == 1:
            in_string = not in_string
        if not directive:
            # There are no selectors without Objective-C; the compiler still checks that the method matches its
            # protocol.
            line = re.sub(r"@objc(\([\w:]*\))? *", "", line)
            lines.append(line if all(active for active, _ in stack) else "")
            continue
        word, rest = directive.groups()
        place = f"{name}:{number}"
        if word == "if":
            value = Condition(rest, platform, place).evaluate()
            stack.append((value, value))
        elif word == "elseif":
            _, was_true = stack.pop()
            value = not was_true and Condition(rest, platform, place).evaluate()
            stack.append((value, was_true or value))
        elif word == "else":
            _, was_true = stack.pop()
            stack.append((not was_true, True))
        else:
            stack.pop()
        lines.append("")
    if stack:
        sys.exit(f"{name}: an #if without #endif")
    return "\n".join(lines)
