import ErrandEssentials

/// Finds the bytes of each element, whatever the pieces in which they come; what they mean is a decoder's business.
class ElementSplitter {
    /// The bytes of one element, valid until the next call, and its place.
    struct Found {
        let bytes: UnsafeRawBufferPointer
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
