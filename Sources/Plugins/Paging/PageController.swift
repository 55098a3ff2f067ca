public import Errand
import ErrandEssentials
import Synchronization

/// Loads the pages of a list for a screen: the first, the next, the previous, any; and holds the state that the screen
/// shows.
///
/// ```swift
/// let articles = PageController(GetArticles(), on: agent)
/// try await articles.next()                               // the first page, then the ones after it
/// show(articles.state.items)
/// for await state in articles.states { show(state.items, state.isLoading) }
/// ```
///
/// One page is loaded at a time: other calls are ignored meanwhile, except ``reload(options:)`` and
/// ``cachedThenFresh(_:)``, which start over. A page is
/// added once it has been loaded; a failure changes nothing, and the same call requests the same page again. Cancelling
/// the calling task cancels the loading, and so do ``cancel()`` and the end of the controller. Safe to use from any
/// thread.
public final class PageController<Item: Sendable, Output: Sendable>: Sendable {
    /// The state that a screen shows.
    public struct State: Sendable {
        /// The visible pages in their order: ``PageController/next()`` adds one, every other call replaces them by one.
        public internal(set) var pages: [Page<Item, Output>] = [] {
            didSet { pagesVersion &+= 1 }
        }
        /// Whether a page is being loaded.
        public internal(set) var isLoading = false
        /// The error of the last load, unless it was cancelled; nil once another one starts.
        public internal(set) var error: (any Error)? {
            didSet { if error != nil || oldValue != nil { errorVersion &+= 1 } }
        }
        /// The number of changes so far; errors cannot be compared, and pages should not be.
        private(set) var pagesVersion = 0
        private(set) var errorVersion = 0

        /// The items of all visible pages.
        public var items: [Item] { pages.flatMap(\.items) }
        /// The last visible page; nil before the first one was loaded.
        public var page: Page<Item, Output>? { pages.last }
        /// The number of items in the whole list; nil where the server does not say.
        public var total: Int? { page?.total }
        /// Whether the page is the first of the list; true before any was loaded.
        public var isFirst: Bool { page?.isFirst ?? true }
        /// Whether the page is the last of the list; false before any was loaded.
        public var isLast: Bool { page?.isLast ?? false }
    }

    /// Belongs to the state and is not shown. Its lock is taken within that of the broadcaster.
    private struct Guarded {
        /// The positions of the loaded pages, so that those that only their predecessors can name are found again.
        var visited: [PagePosition] = []
        /// The URL of the first page, where links lead on.
        var firstURL: URL?
        /// The number of items of the first page; 0 before it was loaded.
        var firstCount = 0
        var run: UInt64 = 0
        /// All visible pages belong to the user of the first one.
        var pin = UserPin()
        var task: Task<Page<Item, Output>, any Error>?
    }

    private let list: PageList<Item, Output>
    private let start: PagePosition
    private let agent: any Agent
    private let options: CallOptions
    private let broadcaster = StateBroadcaster(State())
    private let guarded = Mutex(Guarded())

    /// Makes a controller that has loaded nothing yet.
    ///
    /// - Parameters:
    ///   - list: the list.
    ///   - start: the position that ``next()`` begins with, such as one that was stored; the first page by default.
    ///   - agent: sends the requests.
    ///   - options: for every request.
    public init(
        _ list: PageList<Item, Output>, startingAt start: PagePosition? = nil, on agent: some Agent,
        options: CallOptions = CallOptions()
    ) {
        (self.list, self.start, self.agent, self.options) = (list, start ?? list.first, agent, options)
    }

    /// Makes a controller that has loaded nothing yet.
    ///
    /// - Parameters:
    ///   - request: a request for a page of the list.
    ///   - start: the position that ``next()`` begins with, such as one that was stored; the first page by default.
    ///   - agent: sends the requests.
    ///   - options: for every request.
    public convenience init<R: PagedRequest>(
        _ request: R, startingAt start: PagePosition? = nil, on agent: some Agent, options: CallOptions = CallOptions()
    ) where R.Item == Item, R.Output == Output {
        self.init(PageList(request), startingAt: start, on: agent, options: options)
    }

    deinit { guarded.withLock { $0.task }?.cancel() }

    /// The current state.
    public var state: State { broadcaster.state }

    /// The state, now and after each change; a slow reader gets the latest one. Ends with the controller.
    public var states: AsyncStream<State> { broadcaster.states }

    /// Loads the page after the visible ones, at the beginning the one to start at, and adds it. Returns nil and sends
    /// nothing while a page is being loaded and after the last one. Throws the error of the request, and
    /// ``PagingError``.
    @discardableResult
    public func next() async throws -> Page<Item, Output>? {
        try await load { state, _ in
            guard let page = state.page else { return (self.start, .add) }
            return page.next.map { ($0, .add) }
        }
    }

    /// Loads the page before the last visible one, and shows it alone. Returns nil and sends nothing while a page is
    /// being loaded and on the first one.
    @discardableResult
    public func previous() async throws -> Page<Item, Output>? {
        try await load { state, guarded in
            guard let index = state.page?.position.index, index > 0 else { return nil }
            return try (self.position(index - 1, guarded), .show)
        }
    }

    /// Loads the page with a number, counted as its style counts, and shows it alone. Returns nil and sends nothing
    /// while a page is being loaded. Throws `unreachablePage` for a number below the first, and, where pages are named
    /// by cursors or links, for a page that was not shown yet.
    @discardableResult
    public func load(page number: Int) async throws -> Page<Item, Output>? {
        try await load { _, guarded in
            let (index, isTooLarge) = number.subtractingReportingOverflow(self.list.first.number)
            if isTooLarge { throw PagingError(code: .unreachablePage, page: number) }
            return try (self.position(index, guarded), .show)
        }
    }

    /// Loads the last visible page again, and replaces it. Returns nil and sends nothing while a page is being loaded
    /// and before the first one.
    @discardableResult
    public func refresh() async throws -> Page<Item, Output>? {
        try await load { state, _ in state.page.map { ($0.position.withoutContent, .replace) } }
    }

    /// Starts over: cancels the current load, loads the first page, and shows it alone once it was loaded. The
    /// cancelled call returns nil.
    ///
    /// ```swift
    /// let articles = PageController(GetArticles(), on: agent)
    /// try await articles.reload(options: .cache(.reload))     // pull to refresh, past the cache
    /// ```
    ///
    /// - Parameter options: for this page, added to the controller's own; none by default.
    @discardableResult
    public func reload(options: CallOptions = CallOptions()) async throws -> Page<Item, Output>? {
        cancel()
        return try await load(options) { _, _ in (self.list.first, .start) }
    }

    /// Starts over as ``reload(options:)`` does, and until the first page comes shows what `cached` finds of it. Where
    /// that is nothing, or fails, what was shown before stays. Returns the fresh page; if it fails, the stored one stays.
    ///
    /// ```swift
    /// let articles = PageController(GetArticles(), on: agent)
    /// try await articles.cachedThenFresh(.cache(.cacheOnlyIncludingStale))
    /// ```
    ///
    /// - Parameter cached: for the request that looks into the cache, added to the controller's own options.
    @discardableResult
    public func cachedThenFresh(_ cached: CallOptions) async throws -> Page<Item, Output>? {
        cancel()
        return try await load(preview: cached) { _, _ in (self.list.first, .start) }
    }

    /// Cancels the current load; the call that awaits it returns nil.
    public func cancel() {
        let task = broadcaster.update { state -> Task<Page<Item, Output>, any Error>? in
            guard state.isLoading else { return nil }
            state.isLoading = false
            return guarded.withLock { guarded in
                guarded.run += 1
                defer { guarded.task = nil }
                return guarded.task
            }
        }
        task?.cancel()
    }

    private enum Placement { case add, replace, show, start }

    /// The position of the page with this many before it. Throws `unreachablePage` where it is not known.
    private func position(_ index: Int, _ guarded: borrowing Guarded) throws -> PagePosition {
        if index >= 0, index < guarded.visited.count { return guarded.visited[index].withoutContent }
        if index >= 0, let position = list.first.at(index: index, largest: guarded.firstCount) { return position }
        throw PagingError(code: .unreachablePage, page: list.first.number &+ index)
    }

    /// - Parameters:
    ///   - more: options for this page.
    ///   - preview: options for a request before, whose page is shown until this one comes; nil for none.
    private func load(
        _ more: CallOptions = CallOptions(), preview: CallOptions? = nil,
        _ choose: (borrowing State, borrowing Guarded) throws -> (PagePosition, Placement)?
    ) async throws -> Page<Item, Output>? {
        let begun = try broadcaster.update { state throws(any Error) -> Begun? in
            try guarded.withLock { guarded throws(any Error) -> Begun? in
                guard !state.isLoading, let (position, placement) = try choose(state, guarded) else { return nil }
                guarded.run += 1
                (state.isLoading, state.error) = (true, nil)
                let startsOver = placement == .start || state.pages.isEmpty
                let pin = startsOver ? self.options.userPin ?? UserPin() : guarded.pin
                let run = guarded.run
                let options = self.options.merging(more).pinned(to: pin)
                let before = preview.map { self.options.merging($0).pinned(to: pin) }
                let task = Task { [list, agent, weak self] in
                    if let before, let page = try? await list.page(position, on: agent, options: before) {
                        self?.show(page, of: run, pin)
                    }
                    return try await list.page(position, on: agent, options: options)
                }
                guarded.task = task
                return (run, placement, pin, task)
            }
        }
        guard let (run, placement, pin, task) = begun else { return nil }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        let end = broadcaster.update { state in
            guarded.withLock { guarded -> Result<Page<Item, Output>, any Error>? in
                // Another call has taken over; the result of this one is dropped.
                guard guarded.run == run else { return nil }
                (state.isLoading, guarded.task) = (false, nil)
                let end = result.flatMap { page in Result { try Self.checked(page, guarded) } }
                switch end {
                case .success(let page):
                    guarded.pin = pin
                    Self.place(page, placement, &state, &guarded)
                case .failure(let error): if !error.isCancellation { state.error = error }
                }
                return end
            }
        }
        return try end?.get()
    }

    /// Shows a page alone while the load with a number goes on.
    private func show(_ page: Page<Item, Output>, of run: UInt64, _ pin: UserPin) {
        broadcaster.update { state in
            guarded.withLock { guarded in
                guard guarded.run == run, !Task.isCancelled else { return }
                guarded.pin = pin
                Self.place(page, .start, &state, &guarded)
            }
        }
    }

    private typealias Begun = (
        run: UInt64, placement: Placement, pin: UserPin, task: Task<Page<Item, Output>, any Error>
    )

    /// Throws `repeatedPage` where a page names itself or an earlier one as the next.
    private static func checked(
        _ page: Page<Item, Output>, _ guarded: borrowing Guarded
    ) throws -> Page<Item, Output> {
        guard let next = page.next else { return page }
        let before = guarded.visited.prefix(page.position.index)
        let isFirst = !page.isFirst && next.url != nil && next.url == guarded.firstURL
        if isFirst || before.contains(where: next.hasSameName) {
            throw PagingError(code: .repeatedPage, page: page.number)
        }
        return page
    }

    private static func place(
        _ page: Page<Item, Output>, _ placement: Placement, _ state: inout State, _ guarded: inout Guarded
    ) {
        switch placement {
        case .add:
            // An empty page after others shows nothing: the one before was the last.
            if page.items.isEmpty, let last = state.pages.last, page.isLast {
                state.pages[state.pages.count - 1] = last.ending(with: page)
                return
            }
            state.pages.append(page)
        case .replace: state.pages[state.pages.count - 1] = page
        case .show, .start: state.pages = [page]
        }
        let index = page.position.index
        if index == 0 {
            guarded.firstURL = page.response.http.url.withoutFragment
            guarded.firstCount = page.items.count
        }
        guarded.visited.removeSubrange(min(index, guarded.visited.count)...)
        if index == guarded.visited.count { guarded.visited.append(page.position) }
    }
}

extension Page {
    /// The same page as the last of its list.
    fileprivate func ending(with empty: Page) -> Page {
        Page(
            position: position, items: items, total: empty.total ?? total, next: nil, response: response,
            isRepeated: isRepeated)
    }
}
