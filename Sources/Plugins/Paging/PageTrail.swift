import Errand
import ErrandEssentials

/// The pages that a walk through a list has named so far, so that one in a circle ends.
///
/// Of the first 100,000 pages each is known; from then on one page in each power of two, which a circle meets as well,
/// if later.
struct PageTrail {
    private var seen: Set<Int> = []
    private var mark: Int?
    private var steps = 0

    private static let limit = 100_000

    /// - Parameter start: the first page of the walk.
    init(_ start: PagePosition) { if let name = start.name { seen.insert(name) } }

    /// Takes in a page that has come, and which one is the next. Throws `repeatedPage` where that is one of those before.
    mutating func add<Item, Output>(_ page: Page<Item, Output>) throws(PagingError) {
        guard let next = page.next, let name = next.name else { return }
        // What the first page is called only its response tells.
        if next.url != nil, page.position.url == nil { seen.insert(page.response.http.url.withoutFragment.hashValue) }
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
    /// A number for what the page before has named it by; nil where pages are counted, which end by themselves.
    fileprivate var name: Int? {
        if let url { return url.hashValue }
        return cursor?.hashValue
    }

    /// Whether the page before has named both by the same.
    func hasSameName(as other: PagePosition) -> Bool {
        style == other.style && url == other.url && cursor == other.cursor && (url != nil || cursor != nil)
    }
}

extension URL {
    /// A fragment is not sent, so it tells no pages apart.
    var withoutFragment: URL {
        let text = absoluteString
        return text.firstIndex(of: "#").flatMap { URL(string: String(text[..<$0])) } ?? self
    }
}
