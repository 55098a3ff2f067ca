import Errand
import ErrandEssentials

/// What a page contains, for the comparison with the page after it: a server that doesn't know the parameter for the page
/// sends the same items again and again, and so do many servers beyond the last page.
struct PageContent: Sendable {
    /// Of the identities of the items, or of their values; nil if these don't tell one page from another.
    private let items: Int?
    /// Of the bytes of the body; nil if they are not in memory, or the items don't tell one page from another.
    private let body: Int?
    private let count: Int

    init<Item>(_ items: [Item], _ response: HTTPResponse) {
        count = items.count
        var values: [AnyHashable?] = items.map(Self.identity)
        if values.contains(where: { $0 == nil }) { values = items.map(Self.value) }
        let known = values.compactMap { $0 }
        // A list of readings may well have two pages of zeros.
        let areEqual = count > 1 && known.count == count && known.allSatisfy { $0 == known[0] }
        self.items = known.isEmpty || areEqual ? nil : values.hashValue
        body = areEqual ? nil : response.body.data.map { Array($0).hashValue }
    }

    /// Whether the content tells one page from another.
    var isTelling: Bool { items != nil || body != nil }

    /// Whether a page shows the same items as another one.
    func isSame(as other: PageContent) -> Bool {
        guard count > 0, count == other.count else { return false }
        return items != nil && items == other.items || body != nil && body == other.body
    }

    // MARK: Items

    /// What the item's type calls its identity. That of an object, unless its class says otherwise, is its address.
    private static func identity(_ item: Any) -> AnyHashable? {
        func id(_ item: some Identifiable) -> AnyHashable { AnyHashable(item.id) }
        let found = (item as? any Identifiable).map { id($0) }
        return found?.base is ObjectIdentifier ? nil : found
    }

    private static let maximumDepth = 4

    /// The item itself if it's hashable, otherwise the values of its properties as far as they are.
    private static func value(_ item: Any) -> AnyHashable? { value(item, depth: 0) }

    private static func value(_ item: Any, depth: Int) -> AnyHashable? {
        if let item = item as? any Hashable { return item is ObjectIdentifier ? nil : AnyHashable(item) }
        guard depth < maximumDepth else { return nil }
        let values = Mirror(reflecting: item).children.prefix(64).compactMap { value($0.value, depth: depth + 1) }
        return values.isEmpty ? nil : AnyHashable(values)
    }
}

/// What the pages before have shown, which a position carries along. It doesn't distinguish positions.
struct PageHistory: Sendable, Hashable {
    /// The number of items of the largest page.
    var largest = 0
    /// The content of the page before; nil where a page is named by the one before, or was jumped to.
    var content: PageContent?
    /// How many pages in a row have brought nothing that is known to be new.
    var idlePages = 0

    /// How many there may be.
    static let maximumIdlePages = 1_000

    static func == (a: Self, b: Self) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}
