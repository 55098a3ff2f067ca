public import Errand

/// One page of a list.
public struct Page<Item: Sendable, Output: Sendable>: Sendable {
    /// Which one it is.
    public let position: PagePosition
    /// Its items.
    public let items: [Item]
    /// How many items the whole list has; nil where the server does not say.
    public let total: Int?
    /// The page after it; nil on the last one.
    public let next: PagePosition?
    /// The response that it was read from.
    public let response: Response<Output>

    /// Whether no page is before it.
    public var isFirst: Bool { position.isFirst }
    /// Whether no page is after it.
    public var isLast: Bool { next == nil }
    /// Its number; see ``PagePosition/number``.
    public var number: Int { position.number }
}
