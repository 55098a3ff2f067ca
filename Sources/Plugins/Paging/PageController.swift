public import Errand
import ErrandEssentials
import ErrandStates
import Synchronization

/// A controller that loads the pages of a list in any order, and holds the state that a screen shows.
///
/// ```swift
/// let articles = PageController(GetArticles(), on: agent)
/// try await articles.next()                               // the first page; later calls add the following pages
/// show(articles.state.items)
/// for await state in articles.states { show(state.items, state.isLoading) }
/// ```
///
/// The controller loads one page at a time. While a page is loading, it ignores further calls. The exceptions are
/// ``reload(options:)`` and ``cachedThenFresh(_:)``, which cancel the load and start over. After a failure the pages
/// stay visible, and you can call the same method again to retry.
///
/// To cancel a load, cancel the calling task, call ``cancel()``, or release the controller. You can use the controller
/// from any thread.
public final class PageController<Item: Sendable, Output: Sendable>: Sendable {
    /// The state of a controller, for display.
    public struct State: Sendable {
        /// The visible pages, in order. ``PageController/next()`` adds a page, and ``PageController/refresh()``
        /// replaces the last page. All other methods replace all visible pages with a single page.
        public internal(set) var pages: [Page<Item, Output>] = [] {
            didSet { pagesVersion &+= 1 }
        }
        /// Whether a page is loading.
        public internal(set) var isLoading = false
        /// The error of the last load. It's `nil` if the load succeeded or was cancelled. The next load resets it.
        public internal(set) var error: (any Error)? {
            didSet { if error != nil || oldValue != nil { errorVersion &+= 1 } }
        }
        /// A number that changes when pages or errors change. It's compared instead of them, because errors can't be
        /// compared, and comparing pages is expensive.
        private(set) var pagesVersion = 0
        private(set) var errorVersion = 0

        /// The items of all visible pages.
        public var items: [Item] { pages.flatMap(\.items) }
        /// The last visible page, or `nil` before the first load.
        public var page: Page<Item, Output>? { pages.last }
        /// The number of items in the whole list, or `nil` if the server doesn't report it.
        public var total: Int? { page?.total }
        /// Whether the last visible page is the list's first page. It's `true` before the first load.
        public var isFirst: Bool { page?.isFirst ?? true }
        /// Whether the last visible page is the list's last page. It's `false` before the first load.
        public var isLast: Bool { page?.isLast ?? false }
    }

    /// The controller's state that isn't shown. If you need both locks, take the broadcaster's lock first.
    private struct Guarded {
        /// The positions of the pages that were visited. They are needed to go back, because only the previous page
        /// contains the cursor or link of a page.
        var visited: [PagePosition] = []
        /// The index of the first visited page. It's above 0 if the controller started at a stored position.
        var start = 0
        var firstURL: URL?
        /// The number of items on the first page, or 0 before it has loaded.
        var firstCount = 0
        var run: UInt64 = 0
        /// Makes a request fail if its user isn't the user of the first page.
        var pin = UserPin()
        var task: Task<Page<Item, Output>, any Error>?
    }

    private let list: PageList<Item, Output>
    private let start: PagePosition
    private let agent: any Agent
    private let options: CallOptions
    private let broadcaster = StateBroadcaster(State())
    private let guarded: Mutex<Guarded>

    /// Creates a controller without loading a page.
    ///
    /// - Parameters:
    ///   - start: The position that ``next()`` starts with, such as a stored position. Defaults to the first page.
    ///   - options: The options for every request.
    public init(
        _ list: PageList<Item, Output>, startingAt start: PagePosition? = nil, on agent: some Agent,
        options: CallOptions = CallOptions()
    ) {
        (self.list, self.start, self.agent, self.options) = (list, start ?? list.first, agent, options)
        guarded = Mutex(Guarded(start: self.start.index))
    }

    /// Creates a controller for a request's list, without loading a page.
    ///
    /// - Parameters:
    ///   - start: The position that ``next()`` starts with, such as a stored position. Defaults to the first page.
    ///   - options: The options for every request.
    public convenience init<R: PagedRequest>(
        _ request: R, startingAt start: PagePosition? = nil, on agent: some Agent, options: CallOptions = CallOptions()
    ) where R.Item == Item, R.Output == Output {
        self.init(PageList(request), startingAt: start, on: agent, options: options)
    }

    deinit { guarded.withLock { $0.task }?.cancel() }

    /// The current state.
    public var state: State { broadcaster.state }

    /// A sequence of the current state and every later state. A slow reader gets only the latest state. The sequence
    /// ends when the controller is released.
    public var states: AsyncStream<State> { broadcaster.states }

    /// Loads the page after the visible pages and adds it to them. The first call loads the start page.
    ///
    /// While a page is loading, and after the last page, returns `nil` without sending a request. Throws the request's
    /// errors and ``PagingError``.
    @discardableResult
    public func next() async throws -> Page<Item, Output>? {
        try await load { state, _ in
            guard let page = state.page else { return (self.start, .add) }
            return page.next.map { ($0, .add) }
        }
    }

    /// Loads the page before the last visible page, and shows only the loaded page. While a page is loading, and on the
    /// first page, returns `nil` without sending a request.
    @discardableResult
    public func previous() async throws -> Page<Item, Output>? {
        try await load { state, guarded in
            guard let index = state.page?.position.index, index > 0 else { return nil }
            return try (self.position(index - 1, guarded), .show)
        }
    }

    /// Loads the page with this number and shows only this page. Numbers start with the first number of the list's
    /// style.
    ///
    /// While a page is loading, returns `nil` without sending a request. Throws `unreachablePage` for a number before
    /// the first page. In lists with cursors or links, you can only load the first page, and the pages from the start
    /// page to the last visible page.
    @discardableResult
    public func load(page number: Int) async throws -> Page<Item, Output>? {
        try await load { _, guarded in
            let (index, isTooLarge) = number.subtractingReportingOverflow(self.list.first.number)
            if isTooLarge { throw PagingError(code: .unreachablePage, page: number) }
            return try (self.position(index, guarded), .show)
        }
    }

    /// Loads the last visible page again and replaces it. While a page is loading, and before the first page, returns
    /// `nil` without sending a request.
    @discardableResult
    public func refresh() async throws -> Page<Item, Output>? {
        try await load { state, _ in state.page.map { ($0.position.withoutContent, .replace) } }
    }

    /// Cancels the current load and loads the first page. The visible pages stay until the first page has loaded. The
    /// cancelled call returns `nil`.
    ///
    /// ```swift
    /// let articles = PageController(GetArticles(), on: agent)
    /// try await articles.reload(options: .cache(.reload))     // pull to refresh, bypassing the cache
    /// ```
    ///
    /// - Parameter options: Further options for this page, in addition to the controller's options.
    @discardableResult
    public func reload(options: CallOptions = CallOptions()) async throws -> Page<Item, Output>? {
        cancel()
        return try await load(options) { _, _ in (self.list.first, .start) }
    }

    /// Starts over like ``reload(options:)``, but shows the first page from the cache until the fresh page arrives.
    /// Returns the fresh page.
    ///
    /// If the cached page can't be loaded, the visible pages stay until the fresh page arrives. If the fresh page can't
    /// be loaded, the cached page stays.
    ///
    /// ```swift
    /// let articles = PageController(GetArticles(), on: agent)
    /// try await articles.cachedThenFresh(.cache(.cacheOnlyIncludingStale))
    /// ```
    ///
    /// - Parameter cached: The options for the cached page, in addition to the controller's options.
    @discardableResult
    public func cachedThenFresh(_ cached: CallOptions) async throws -> Page<Item, Output>? {
        cancel()
        return try await load(preview: cached) { _, _ in (self.list.first, .start) }
    }

    /// Cancels the current load. The cancelled call returns `nil`.
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

    private func position(_ index: Int, _ guarded: borrowing Guarded) throws -> PagePosition {
        let place = index &- guarded.start
        if index >= 0, guarded.visited.indices.contains(place) { return guarded.visited[place].withoutContent }
        if index >= 0, let position = list.first.at(index: index, largest: guarded.firstCount) { return position }
        throw PagingError(code: .unreachablePage, page: list.first.number &+ index)
    }

    /// Loads the page that `choose` returns, and shows it. If `preview` is set, first requests the page with these
    /// options, and shows the result until the actual page arrives. Returns `nil` if `choose` returns nil, or if
    /// another call has started over.
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
                // Another call has started over, so this call's result isn't shown.
                guard guarded.run == run else { return nil }
                (state.isLoading, guarded.task) = (false, nil)
                let end = result.flatMap { page in Result { try Self.checked(page, guarded) } }
                switch end {
                case .success(let page):
                    guarded.pin = pin
                    Self.place(page, at: placement, in: &state, guarded: &guarded)
                case .failure(let error): if !error.isCancellation { state.error = error }
                }
                return end
            }
        }
        return try end?.get()
    }

    private func show(_ page: Page<Item, Output>, of run: UInt64, _ pin: UserPin) {
        broadcaster.update { state in
            guarded.withLock { guarded in
                guard guarded.run == run, !Task.isCancelled else { return }
                guarded.pin = pin
                Self.place(page, at: .start, in: &state, guarded: &guarded)
            }
        }
    }

    private typealias Begun = (
        run: UInt64, placement: Placement, pin: UserPin, task: Task<Page<Item, Output>, any Error>
    )

    /// Returns the page. Throws `repeatedPage` if the page names itself or an earlier page as the next page.
    private static func checked(
        _ page: Page<Item, Output>, _ guarded: borrowing Guarded
    ) throws -> Page<Item, Output> {
        guard let next = page.next else { return page }
        let before = guarded.visited.prefix(max(0, page.position.index - guarded.start))
        let isFirst = !page.isFirst && next.url != nil && next.url == guarded.firstURL
        if isFirst || before.contains(where: next.hasSameName) {
            throw PagingError(code: .repeatedPage, page: page.number)
        }
        return page
    }

    private static func place(
        _ page: Page<Item, Output>, at placement: Placement, in state: inout State, guarded: inout Guarded
    ) {
        switch placement {
        case .add:
            // An empty page after other pages isn't shown, because it only means that the page before it was the last
            // page.
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
        // This page comes before the stored position, so it was requested by its number. The positions of pages that
        // were visited after it are dropped.
        if index < guarded.start { (guarded.visited, guarded.start) = ([], 0) }
        let place = index - guarded.start
        guarded.visited.removeSubrange(min(place, guarded.visited.count)...)
        if place == guarded.visited.count { guarded.visited.append(page.position) }
    }
}

extension Page {
    fileprivate func ending(with empty: Page) -> Page {
        Page(
            position: position, items: items, total: empty.total ?? total, next: nil, response: response,
            isRepeated: isRepeated)
    }
}
