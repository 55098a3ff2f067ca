import Errand
import ErrandEssentials
import ErrandMessageSyntax

/// The pages that a walk through a list has visited so far, so that a circle ends.
///
/// Each of the first 100,000 pages is recorded; from then on one page in each power of two, which detects a circle as
/// well, only later.
struct PageTrail {
    private var seen: Set<Int> = []
    private var mark: Int?
    private var steps = 0

    private static let limit = 100_000

    /// - Parameter start: the first page of the walk.
    init(_ start: PagePosition) { if let name = start.name { seen.insert(name) } }

    /// Adds a page that was loaded and the position of the next one. Throws `repeatedPage` where that is an earlier
    /// one.
    mutating func add<Item, Output>(_ page: Page<Item, Output>) throws(PagingError) {
        guard let next = page.next, let name = next.name else { return }
        // Only the response of the first page tells its name.
        if next.url != nil, page.position.url == nil {
            seen.insert(page.response.http.url.resolvedWithoutFragment.hashValue)
        }
        if seen.contains(name) || mark == name { throw PagingError(code: .repeatedPage, page: page.position.number) }
        if seen.count < Self.limit {
            seen.insert(name)
            return
        }
        steps += 1
        if steps & (steps - 1) == 0 { mark = name }
    }
}

extension PagePosition {
    /// A number for the name that the page before has given; nil where pages are counted, since these end by
    /// themselves.
    fileprivate var name: Int? {
        if let url { return url.hashValue }
        return cursor?.hashValue
    }

    /// Whether the page before has named both alike.
    func hasSameName(as other: PagePosition) -> Bool {
        style == other.style && url == other.url && cursor == other.cursor && (url != nil || cursor != nil)
    }
}

extension URL {
    /// A fragment is not sent, so it does not distinguish pages.
    var withoutFragment: URL {
        let text = absoluteString
        guard let mark = text.firstIndex(of: "#") else { return self }
        return URL(string: String(text[..<mark]), encodingInvalidCharacters: false) ?? self
    }

    /// The same in the form that links have once they are resolved.
    var resolvedWithoutFragment: URL { (try? URLReference("").requestURL(against: self)) ?? withoutFragment }
}
