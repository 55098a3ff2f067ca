public import Errand

/// An entry: a head that describes the response, and the bytes of its body.
public struct CacheEntry: Sendable {
    /// The metadata; a few hundred bytes.
    public var head: CacheEntryHead
    /// The body: in memory, or a stream that can be read once.
    public var body: HTTPBody

    /// Makes an entry of a head and a body.
    public init(head: CacheEntryHead, body: HTTPBody) {
        self.head = head
        self.body = body
    }
}
