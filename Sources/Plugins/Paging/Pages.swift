public import Errand
import ErrandEssentials
import ErrandMessageSyntax
import Synchronization

/// The pages of a list, each loaded on demand; `for try await page in agent.pages(of: GetArticles())`.
///
/// The first page is delivered even if it is empty, an empty last page isn't. Where a page fails, the loop ends with its
/// error; the next call of the same iterator requests that page again, so that nothing is lost or repeated. Ending the
/// loop, and cancelling its task, cancels the current load. Each loop starts over.
public struct Pages<Item: Sendable, Output: Sendable>: AsyncSequence, Sendable {
    /// One page.
    public typealias Element = Page<Item, Output>

    let list: PageList<Item, Output>
    let agent: any Agent
    let options: CallOptions
    let start: PagePosition
    let isPrefetching: Bool

    /// Starts at the beginning.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Loads one page after the other.
    public struct Iterator: AsyncIteratorProtocol {
        private let pages: Pages
        /// With the pin of the loop: all of its pages belong to the user of the first one.
        private let options: CallOptions
        private let pin: UserPin
        private var position: PagePosition?
        private var trail: PageTrail
        private let ahead = PageAhead<Item, Output>()

        init(_ pages: Pages) {
            (self.pages, position, trail) = (pages, pages.start, PageTrail(pages.start))
            pin = pages.options.userPin ?? UserPin()
            options = pages.options.pinned(to: pin)
        }

        /// The next page, nil after the last one. Throws the error of its request, and ``PagingError``.
        public mutating func next() async throws -> Page<Item, Output>? {
            guard let position else { return nil }
            let page =
                if let task = ahead.take() {
                    try await withTaskCancellationHandler {
                        try await task.value
                    } onCancel: {
                        task.cancel()
                    }
                } else {
                    try await pages.load(position, options)
                }
            // It may have been loaded ahead.
            try pin.check()
            try trail.add(page)
            self.position = page.next
            if page.items.isEmpty, page.isLast, page.position != pages.start { return nil }
            if pages.isPrefetching, let next = page.next {
                ahead.put(Task { [pages, options] in try await pages.load(next, options) })
            }
            return page
        }
    }

    fileprivate func load(
        _ position: PagePosition, _ options: CallOptions
    ) async throws -> Page<Item, Output> {
        try await list.page(position, on: agent, options: options)
    }
}

/// The page that is loaded ahead; cancelled when nothing can request it any more.
private final class PageAhead<Item: Sendable, Output: Sendable>: Sendable {
    typealias Loading = Task<Page<Item, Output>, any Error>
    private let task = Mutex<Loading?>(nil)

    deinit { take()?.cancel() }

    func put(_ new: Loading) { task.withLock { $0 = new } }

    func take() -> Loading? {
        task.withLock { task in
            defer { task = nil }
            return task
        }
    }
}

/// The items of a list, page after page; `for try await article in agent.items(of: GetArticles())`.
public struct PageItems<Item: Sendable, Output: Sendable>: AsyncSequence, Sendable {
    /// One item.
    public typealias Element = Item

    let pages: Pages<Item, Output>

    /// Starts at the beginning.
    public func makeAsyncIterator() -> Iterator { Iterator(pages: pages.makeAsyncIterator()) }

    /// Loads a page when its first item is requested.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var pages: Pages<Item, Output>.Iterator
        private var items: [Item] = []
        private var index = 0

        fileprivate init(pages: Pages<Item, Output>.Iterator) { self.pages = pages }

        /// The next item, nil after the last one. Throws the error of the request for its page, and ``PagingError``.
        public mutating func next() async throws -> Item? {
            while index == items.count {
                guard let page = try await pages.next() else { return nil }
                (items, index) = (page.items, 0)
            }
            defer { index += 1 }
            return items[index]
        }
    }
}

extension Agent {
    /// The pages of a list.
    ///
    /// - Parameters:
    ///   - request: the request of a page.
    ///   - start: the page to begin with, such as the `next` of an earlier one; nil, the default, for the first.
    ///   - prefetching: whether the next page is loaded while the loop processes one; false by default.
    ///   - options: those of the call of each page.
    public func pages<R: PagedRequest>(
        of request: R, from start: PagePosition? = nil, prefetching: Bool = false, options: CallOptions = CallOptions()
    ) -> Pages<R.Item, R.Output> {
        pages(of: PageList(request), from: start, prefetching: prefetching, options: options)
    }

    /// The pages of a list.
    public func pages<Item, Output>(
        of list: PageList<Item, Output>, from start: PagePosition? = nil, prefetching: Bool = false,
        options: CallOptions = CallOptions()
    ) -> Pages<Item, Output> {
        Pages(list: list, agent: self, options: options, start: start ?? list.first, isPrefetching: prefetching)
    }

    /// The items of a list, page after page.
    public func items<R: PagedRequest>(
        of request: R, prefetching: Bool = false, options: CallOptions = CallOptions()
    ) -> PageItems<R.Item, R.Output> {
        PageItems(pages: pages(of: request, prefetching: prefetching, options: options))
    }

    /// The items of a list, page after page.
    public func items<Item, Output>(
        of list: PageList<Item, Output>, prefetching: Bool = false, options: CallOptions = CallOptions()
    ) -> PageItems<Item, Output> {
        PageItems(pages: pages(of: list, prefetching: prefetching, options: options))
    }
}

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
