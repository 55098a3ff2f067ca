import ErrandEssentials

/// Finds the bytes of each element, at any split into chunks; a decoder interprets them.
class ElementSplitter {
    /// The bytes of one element, and its position.
    struct Found {
        let bytes: Data
        let byte: Int64
        let element: Int
    }

    /// Adds bytes, once `next` has returned nil.
    func push(_ chunk: Data) {}
    /// No more bytes come.
    func finish() {}
    /// The next complete element; nil if more bytes are needed, and at the end.
    func next() throws -> Found? { nil }
}
