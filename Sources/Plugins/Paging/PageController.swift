public import Errand
import ErrandEssentials
import ErrandSupport
import Synchronization

/// The pages of a list for a screen: the first, the next, the one before, any; and what the screen shows meanwhile.
///
/// ```swift
/// let articles = PageController(GetArticles(), on: agent)
/// try await articles.next()                               // the first page, then the ones after it
/// show(articles.state.items)
/// for await state in articles.states { show(state.items, state.isLoading) }
/// ```
///
/// One page is loaded at a time: whatever else is asked for meanwhile is ignored, but ``reload()``, which starts over. A
/// page counts once it has come; a failure leaves everything as it was, and the same call sends the same page again.
/// Cancelling the calling task cancels the loading, and so do ``cancel()`` and the end of the controller. Safe to use
/// from anywhere.
public final class PageController<Item: Sendable, Output: Sendable>: Sendable {
    /// What a screen shows.
    public struct State: Sendable {
        /// The pages that are shown, in their order: ``PageController/next()`` adds one, everything else begins with one.
        public internal(set) var pages: [Page<Item, Output>] = [] {
            didSet { pagesVersion &+= 1 }
        }
        /// Whether a page is being loaded.
        public internal(set) var isLoading = false
        /// What the last load threw, unless it was cancelled; nil once another one starts.
        public internal(set) var error: (any Error)? {
            didSet { if error != nil || oldValue != nil { errorVersion &+= 1 } }
        }
        /// How often these have changed; errors cannot be compared, and pages should not be.
        private(set) var pagesVersion = 0
        private(set) var errorVersion = 0

        /// The items of all pages that are shown.
        public var items: [Item] { pages.flatMap(\.items) }
        /// The last page that is shown; nil before the first one has come.
        public var page: Page<Item, Output>? { pages.last }
        /// How many items the whole list has; nil where the server does not say.
        public var total: Int? { page?.total }
        /// Whether the page is the first of the list; true before that has come.
        public var isFirst: Bool { page?.isFirst ?? true }
        /// Whether no page is after it; false before the first one has come.
        public var isLast: Bool { page?.isLast ?? false }
    }

    private struct Guarded {
        var state = State()
        /// Where the pages that have come are, so that those that only their predecessors can name are found again.
        var visited: [PagePosition] = []
        /// What the first page is called, where links lead on.
        var firstURL: URL?
        var run: UInt64 = 0
        var task: Task<Page<Item, Output>, any Error>?
        var listeners: [UInt64: AsyncStream<State>.Continuation] = [:]
        var lastListener: UInt64 = 0

        func notify() { for listener in listeners.values { listener.yield(state) } }
    }

    private let list: PageList<Item, Output>
    private let agent: any Agent
    private let options: CallOptions
    private let guarded: Mutex<Guarded>

    /// Makes a controller; nothing is loaded yet.
    public init(_ list: PageList<Item, Output>, on agent: some Agent, options: CallOptions = CallOptions()) {
        (self.list, self.agent, self.options) = (list, agent, options)
        guarded = Mutex(Guarded())
    }

    /// Makes a controller; nothing is loaded yet.
    public convenience init<R: PagedRequest>(
        _ request: R, on agent: some Agent, options: CallOptions = CallOptions()
    ) where R.Item == Item, R.Output == Output {
        self.init(PageList(request), on: agent, options: options)
    }

    deinit {
        guarded.withLock { guarded in
            guarded.task?.cancel()
            for listener in guarded.listeners.values { listener.finish() }
        }
    }

    /// What a screen shows at this moment.
    public var state: State { guarded.withLock { $0.state } }

    /// The state, now and after each change; the latest one for a reader that is slow. Ends with the controller.
    public var states: AsyncStream<State> {
        let (stream, continuation) = AsyncStream<State>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let id = guarded.withLock { guarded in
            guarded.lastListener += 1
            guarded.listeners[guarded.lastListener] = continuation
            continuation.yield(guarded.state)
            return guarded.lastListener
        }
        continuation.onTermination = { [weak self] _ in
            self?.guarded.withLock { $0.listeners[id] = nil }
        }
        return stream
    }

    /// Loads the page after those that are shown, the first one at the beginning, and adds it. Nil, and nothing is sent,
    /// while a page is being loaded and after the last one. Throws what the request throws, and ``PagingError``.
    @discardableResult
    public func next() async throws -> Page<Item, Output>? {
        try await load { guarded in
            guard let page = guarded.state.page else { return (self.list.first, .add) }
            return page.next.map { ($0, .add) }
        }
    }

    /// Loads the page before the one that is shown last, and shows it alone. Nil, and nothing is sent, while a page is being
    /// loaded and on the first one.
    @discardableResult
    public func previous() async throws -> Page<Item, Output>? {
        try await load { guarded in
            guard let index = guarded.state.page?.position.index, index > 0 else { return nil }
            return try (self.position(index - 1, guarded), .show)
        }
    }

    /// Loads the page of a number, counted as the style counts, and shows it alone. Nil, and nothing is sent, while a page is
    /// being loaded. Throws `unreachablePage` for one below the first, and where pages are named by cursors or links for one
    /// that has not been shown yet.
    @discardableResult
    public func load(page number: Int) async throws -> Page<Item, Output>? {
        try await load { guarded in
            let (index, isTooLarge) = number.subtractingReportingOverflow(self.list.first.number)
            if isTooLarge { throw PagingError(code: .unreachablePage, page: number) }
            return try (self.position(index, guarded), .show)
        }
    }

    /// Loads the page that is shown last again, and puts it in its place. Nil, and nothing is sent, while a page is being
    /// loaded and before the first one.
    @discardableResult
    public func refresh() async throws -> Page<Item, Output>? {
        try await load { guarded in guarded.state.page.map { ($0.position, .replace) } }
    }

    /// Starts over: cancels what is being loaded, loads the first page, and shows it alone once it has come. A call that it
    /// has cancelled returns nil.
    @discardableResult
    public func reload() async throws -> Page<Item, Output>? {
        cancel()
        return try await load { _ in (self.list.first, .show) }
    }

    /// Cancels what is being loaded; the call that waits for it returns nil.
    public func cancel() {
        let task = guarded.withLock { guarded in
            defer { guarded.task = nil }
            guard guarded.state.isLoading else { return guarded.task }
            guarded.run += 1
            guarded.state.isLoading = false
            guarded.notify()
            return guarded.task
        }
        task?.cancel()
    }

    private enum Placement { case add, replace, show }

    /// Where the page is that has so many before it. Throws `unreachablePage` where that is not known.
    private func position(_ index: Int, _ guarded: borrowing Guarded) throws -> PagePosition {
        if index >= 0, index < guarded.visited.count { return guarded.visited[index] }
        if index >= 0, let position = list.first.at(index: index) { return position }
        throw PagingError(code: .unreachablePage, page: list.first.number &+ index)
    }

    private func load(
        _ choose: (borrowing Guarded) throws -> (PagePosition, Placement)?
    ) async throws -> Page<Item, Output>? {
        let begun = try guarded.withLock { guarded -> (UInt64, Placement, Task<Page<Item, Output>, any Error>)? in
            guard !guarded.state.isLoading, let (position, placement) = try choose(guarded) else { return nil }
            guarded.run += 1
            (guarded.state.isLoading, guarded.state.error) = (true, nil)
            let task = Task { [list, agent, options] in try await list.page(position, on: agent, options: options) }
            guarded.task = task
            guarded.notify()
            return (guarded.run, placement, task)
        }
        guard let (run, placement, task) = begun else { return nil }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        let end = guarded.withLock { guarded -> Result<Page<Item, Output>, any Error>? in
            // Another call has taken over; what came of this one is dropped.
            guard guarded.run == run else { return nil }
            (guarded.state.isLoading, guarded.task) = (false, nil)
            let end = result.flatMap { page in Result { try Self.checked(page, guarded) } }
            switch end {
            case .success(let page): place(page, placement, &guarded)
            case .failure(let error): if !error.isCancellation { guarded.state.error = error }
            }
            guarded.notify()
            return end
        }
        return try end?.get()
    }

    /// Throws `repeatedPage` where a page names one of those before it as the next.
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

    private func place(_ page: Page<Item, Output>, _ placement: Placement, _ guarded: inout Guarded) {
        switch placement {
        case .add:
            // An empty page after others has nothing to show: the one before was the last.
            if page.items.isEmpty, let last = guarded.state.pages.last, page.isLast {
                guarded.state.pages[guarded.state.pages.count - 1] = last.ending(with: page)
                return
            }
            guarded.state.pages.append(page)
        case .replace: guarded.state.pages[guarded.state.pages.count - 1] = page
        case .show: guarded.state.pages = [page]
        }
        let index = page.position.index
        if index == 0 { guarded.firstURL = page.response.http.url.withoutFragment }
        guarded.visited.removeSubrange(min(index, guarded.visited.count)...)
        if index == guarded.visited.count { guarded.visited.append(page.position) }
    }
}

extension Page {
    /// The same as the last one of its list.
    fileprivate func ending(with empty: Page) -> Page {
        Page(position: position, items: items, total: empty.total ?? total, next: nil, response: response)
    }
}
