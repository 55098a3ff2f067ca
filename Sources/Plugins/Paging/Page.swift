public import Errand
import ErrandEssentials

/// A page of a list, with its items and its position.
public struct Page<Item: Sendable, Output: Sendable>: Sendable {
    /// The page's position in the list.
    public let position: PagePosition
    /// The items on the page.
    public let items: [Item]
    /// The number of items in the whole list, or `nil` if the server doesn't report it.
    public let total: Int?
    /// The position of the next page, or `nil` on the last page.
    public let next: PagePosition?
    /// The response that contains the page.
    public let response: Response<Output>
    let isRepeated: Bool

    /// Whether this is the first page of the list.
    public var isFirst: Bool { position.isFirst }
    /// Whether this is the last page of the list.
    public var isLast: Bool { next == nil }
    /// The page's number; see ``PagePosition/number``.
    public var number: Int { position.number }
}

/// A fingerprint of a page's content. It's compared with the next page's, because many servers repeat the same items
/// after the last page, or if they don't know the page parameter.
struct PageContent: Sendable {
    /// A hash of the items. It's `nil` if the items' identities or values can't distinguish pages.
    private let items: Int?
    /// A hash of the body. It's `nil` if the body isn't in memory or all items are equal.
    private let body: Int?
    private let count: Int

    init<Item>(_ items: [Item], _ response: HTTPResponse) {
        count = items.count
        var values: [AnyHashable?] = items.map(Self.identity)
        if values.contains(where: { $0 == nil }) { values = items.map(Self.value) }
        let known = values.compactMap { $0 }
        // If all items are equal, as on a page of sensor readings that contains only zeros, the next page may be equal
        // too.
        let areEqual = count > 1 && known.count == count && known.allSatisfy { $0 == known[0] }
        self.items = known.isEmpty || areEqual ? nil : values.hashValue
        body = areEqual ? nil : response.body.data.map { Array($0).hashValue }
    }

    var isTelling: Bool { items != nil || body != nil }

    func isSame(as other: PageContent) -> Bool {
        guard count > 0, count == other.count else { return false }
        return items != nil && items == other.items || body != nil && body == other.body
    }

    // MARK: Items

    /// Returns an item's identity. Ignores the default `id` of objects, which is only their address.
    private static func identity(_ item: Any) -> AnyHashable? {
        func id(_ item: some Identifiable) -> AnyHashable { AnyHashable(item.id) }
        let found = (item as? any Identifiable).map { id($0) }
        return found?.base is ObjectIdentifier ? nil : found
    }

    private static let maximumDepth = 4

    /// Returns an item's value. If the item isn't hashable, uses the values of its hashable properties.
    private static func value(_ item: Any) -> AnyHashable? { value(item, depth: 0) }

    private static func value(_ item: Any, depth: Int) -> AnyHashable? {
        if let item = item as? any Hashable { return item is ObjectIdentifier ? nil : AnyHashable(item) }
        guard depth < maximumDepth else { return nil }
        let values = Mirror(reflecting: item).children.prefix(64).compactMap { value($0.value, depth: depth + 1) }
        return values.isEmpty ? nil : AnyHashable(values)
    }
}

/// Facts about the pages before a position. They don't affect whether positions are equal.
struct PageHistory: Sendable, Hashable {
    var largest = 0
    /// The content of the previous page. It's `nil` for cursors and links, and after a jump to a page.
    var content: PageContent?
    /// The number of consecutive pages without new items, as far as is known.
    var idlePages = 0

    static let maximumIdlePages = 1_000

    static func == (a: Self, b: Self) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}
