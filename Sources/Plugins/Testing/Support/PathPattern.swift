/// An exact path, or one with a `*` wildcard at its start or end.
struct PathPattern: Sendable, CustomStringConvertible {
    let description: String
    private let fixed: String
    private let startsAnywhere: Bool
    private let endsAnywhere: Bool

    init(_ text: String) {
        startsAnywhere = text.hasPrefix("*")
        endsAnywhere = text.hasSuffix("*") && text.count > 1
        let fixed = String(text.dropFirst(startsAnywhere ? 1 : 0).dropLast(endsAnywhere ? 1 : 0))
        let isComplete = startsAnywhere || fixed.hasPrefix("/") || fixed.contains("://")
        self.fixed = isComplete ? fixed : "/" + fixed
        description = text
    }

    /// It includes a host.
    var isAbsolute: Bool { fixed.contains("://") }

    func matches(_ path: some StringProtocol) -> Bool {
        switch (startsAnywhere, endsAnywhere) {
        case (false, false): path == fixed
        case (false, true): path.hasPrefix(fixed)
        case (true, false): path.hasSuffix(fixed)
        case (true, true): fixed.isEmpty || path.contains(fixed)
        }
    }
}
