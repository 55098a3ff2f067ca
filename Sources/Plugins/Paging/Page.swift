public import Errand

/// One page of a list.
public struct Page<Item: Sendable, Output: Sendable>: Sendable {
    /// The position of the page in the list.
    public let position: PagePosition
    /// The items of the page.
    public let items: [Item]
    /// The number of items in the whole list; nil where the server does not say.
    public let total: Int?
    /// The position of the next page; nil on the last one.
    public let next: PagePosition?
    /// The response that the page was read from.
    public let response: Response<Output>
    /// Whether the page shows the same items as the page before.
    let isRepeated: Bool

    /// Whether the page is the first of the list.
    public var isFirst: Bool { position.isFirst }
    /// Whether the page is the last of the list.
    public var isLast: Bool { next == nil }
    /// The number of the page; see ``PagePosition/number``.
    public var number: Int { position.number }
}
