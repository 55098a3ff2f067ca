import ErrandSupport

extension String {
    /// The texts, one behind the other, in memory that is allocated once.
    init(_ first: String, _ second: String, _ third: String = "") {
        self.init()
        reserveCapacity(first.utf8.count + second.utf8.count + third.utf8.count)
        append(first)
        append(second)
        append(third)
    }

    /// Whether the text contains an ASCII character.
    func holds(_ character: Unicode.Scalar) -> Bool {
        withSpan { $0.firstIndex(of: UInt8(ascii: character)) != nil }
    }
}
