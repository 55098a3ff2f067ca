public import Errand

/// A stored response: a head with metadata and a body.
public struct CacheEntry: Sendable {
    /// The metadata, a few hundred bytes.
    public var head: CacheEntryHead
    /// The body, in memory or as a stream that can be read once.
    public var body: HTTPBody

    /// Creates an entry.
    public init(head: CacheEntryHead, body: HTTPBody) {
        self.head = head
        self.body = body
    }
}
