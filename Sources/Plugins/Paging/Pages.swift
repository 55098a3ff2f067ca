public import Errand
import ErrandEssentials
import ErrandMessageSyntax
import Synchronization

/// A sequence of a list's pages, which loads them on demand: `for try await page in agent.pages(of: GetArticles())`.
///
/// The loop receives the first page even if it's empty, but it doesn't receive an empty last page. Leaving the loop or
/// cancelling its task cancels the current load. Each loop starts over.
///
/// If a page can't be loaded, the loop throws the page's error. If you call the iterator again, it requests the same
/// page again, so you don't lose or repeat items.
public struct Pages<Item: Sendable, Output: Sendable>: AsyncSequence, Sendable {
    /// A page of the list.
    public typealias Element = Page<Item, Output>

    let list: PageList<Item, Output>
    let agent: any Agent
    let options: CallOptions
    let start: PagePosition
    let isPrefetching: Bool

    /// Creates an iterator that starts with the first page, or with the page at which this sequence starts.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// An iterator that loads each page when you ask for it.
    public struct Iterator: AsyncIteratorProtocol {
        private let pages: Pages
        /// The options for every request. They make a request fail if its user isn't the user of the first page.
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

        /// Returns the next page, or `nil` after the last page. Throws the page request's errors and ``PagingError``.
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
            // The user may have changed since the page was prefetched.
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

/// The page that is loaded in advance. Releasing the iterator cancels its load.
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

/// A sequence of the items on all pages of a list: `for try await article in agent.items(of: GetArticles())`.
public struct PageItems<Item: Sendable, Output: Sendable>: AsyncSequence, Sendable {
    /// An item of the list.
    public typealias Element = Item

    let pages: Pages<Item, Output>

    /// Creates an iterator that starts with the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(pages: pages.makeAsyncIterator()) }

    /// An iterator that loads each page when you ask for its first item.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var pages: Pages<Item, Output>.Iterator
        private var items: [Item] = []
        private var index = 0

        fileprivate init(pages: Pages<Item, Output>.Iterator) { self.pages = pages }

        /// Returns the next item, or `nil` after the last item. Throws the page request's errors and ``PagingError``.
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
    /// Returns the pages of a list.
    ///
    /// - Parameters:
    ///   - start: The page to start with, such as the `next` of an earlier page. Defaults to `nil`, the first page.
    ///   - prefetching: Whether to load the next page while the loop processes the current page. Defaults to `false`.
    public func pages<R: PagedRequest>(
        of request: R, from start: PagePosition? = nil, prefetching: Bool = false, options: CallOptions = CallOptions()
    ) -> Pages<R.Item, R.Output> {
        pages(of: PageList(request), from: start, prefetching: prefetching, options: options)
    }

    /// Returns the pages of a list. The parameters are the same as for a ``PagedRequest``.
    public func pages<Item, Output>(
        of list: PageList<Item, Output>, from start: PagePosition? = nil, prefetching: Bool = false,
        options: CallOptions = CallOptions()
    ) -> Pages<Item, Output> {
        Pages(list: list, agent: self, options: options, start: start ?? list.first, isPrefetching: prefetching)
    }

    /// Returns the items of a request's list, page after page.
    public func items<R: PagedRequest>(
        of request: R, prefetching: Bool = false, options: CallOptions = CallOptions()
    ) -> PageItems<R.Item, R.Output> {
        PageItems(pages: pages(of: request, prefetching: prefetching, options: options))
    }

    /// Returns the items of a list, page after page.
    public func items<Item, Output>(
        of list: PageList<Item, Output>, prefetching: Bool = false, options: CallOptions = CallOptions()
    ) -> PageItems<Item, Output> {
        PageItems(pages: pages(of: list, prefetching: prefetching, options: options))
    }
}

/// Detects lists that never end because a page leads back to an earlier page.
///
/// The trail records each of the first 100,000 pages. After that, it records one page per power of two. This still
/// detects every cycle, but later.
struct PageTrail {
    private var seen: Set<Int> = []
    private var mark: Int?
    private var steps = 0

    private static let limit = 100_000

    init(_ start: PagePosition) { if let name = start.name { seen.insert(name) } }

    mutating func add<Item, Output>(_ page: Page<Item, Output>) throws(PagingError) {
        guard let next = page.next, let name = next.name else { return }
        // The position of the first page doesn't contain the page's URL, so the trail takes the URL from the response.
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
    /// A number that identifies the page. It's `nil` in the styles with numbers and offsets, because these lists end by
    /// themselves.
    fileprivate var name: Int? {
        if let url { return url.hashValue }
        return cursor?.hashValue
    }

    func hasSameName(as other: PagePosition) -> Bool {
        style == other.style && url == other.url && cursor == other.cursor && (url != nil || cursor != nil)
    }
}

extension URL {
    /// The URL without its fragment. Fragments aren't sent, so URLs with different fragments request the same page.
    var withoutFragment: URL {
        let text = absoluteString
        guard let mark = text.firstIndex(of: "#") else { return self }
        return URL(string: String(text[..<mark]), encodingInvalidCharacters: false) ?? self
    }

    /// The URL without its fragment, in the form that a resolved link has.
    var resolvedWithoutFragment: URL { (try? URLReference("").requestURL(against: self)) ?? withoutFragment }
}
