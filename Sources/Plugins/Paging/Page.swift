public import Errand

/// One page of a list.
public struct Page<Item: Sendable, Output: Sendable>: Sendable {
    /// The page's position in the list.
    public let position: PagePosition
    /// The page's items.
    public let items: [Item]
    /// The number of items in the whole list, or `nil` if the server doesn't report it.
    public let total: Int?
    /// The position of the next page, or `nil` on the last page.
    public let next: PagePosition?
    /// The response that contained the page.
    public let response: Response<Output>
    let isRepeated: Bool

    /// Whether this is the first page of the list.
    public var isFirst: Bool { position.isFirst }
    /// Whether this is the last page of the list.
    public var isLast: Bool { next == nil }
    /// The page's number; see ``PagePosition/number``.
    public var number: Int { position.number }
}
