public import Errand
public import Observation

/// The state of a ``PageController`` for views that observe it: SwiftUI's, or any code by `withObservationTracking`.
///
/// ```swift
/// @MainActor func screen() async throws {
///     let articles = PageModel(GetArticles(), on: agent)
///     try await articles.next()
///     show(articles.items)
/// }
/// ```
///
/// A view that reads ``items`` is notified when these change, and not when ``isLoading`` does. When a call returns, the
/// model has its result; changes that are made through the controller appear at the main actor's next turn. The model
/// keeps its controller, and only its views keep the model.
@MainActor @Observable
public final class PageModel<Item: Sendable, Output: Sendable> {
    /// The visible pages, in order.
    public private(set) var pages: [Page<Item, Output>] = []
    /// Whether a page is being loaded.
    public private(set) var isLoading = false
    /// The error of the last load, unless it was cancelled; nil once another one starts.
    public private(set) var error: (any Error)?

    /// The controller that loads the pages.
    @ObservationIgnored public let controller: PageController<Item, Output>
    @ObservationIgnored private var shown = PageController<Item, Output>.State()
    @ObservationIgnored private var following: Task<Void, Never>?

    /// Makes a model of a controller, which may be used directly as well.
    public init(_ controller: PageController<Item, Output>) {
        self.controller = controller
        let states = controller.states
        update()
        following = Task { [weak self] in
            for await _ in states {
                guard let self else { return }
                update()
            }
        }
    }

    /// Makes a model with a controller of its own that has loaded nothing yet.
    ///
    /// - Parameters:
    ///   - request: a request for a page of the list.
    ///   - start: the position that ``next()`` begins with, such as one that was stored; the first page by default.
    ///   - agent: sends the requests.
    ///   - options: for every request.
    public convenience init<R: PagedRequest>(
        _ request: R, startingAt start: PagePosition? = nil, on agent: some Agent, options: CallOptions = CallOptions()
    ) where R.Item == Item, R.Output == Output {
        self.init(PageController(request, startingAt: start, on: agent, options: options))
    }

    deinit { following?.cancel() }

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

    /// See ``PageController/next()``.
    @discardableResult public func next() async throws -> Page<Item, Output>? {
        defer { update() }
        return try await controller.next()
    }

    /// See ``PageController/previous()``.
    @discardableResult public func previous() async throws -> Page<Item, Output>? {
        defer { update() }
        return try await controller.previous()
    }

    /// See ``PageController/load(page:)``.
    @discardableResult public func load(page number: Int) async throws -> Page<Item, Output>? {
        defer { update() }
        return try await controller.load(page: number)
    }

    /// See ``PageController/refresh()``.
    @discardableResult public func refresh() async throws -> Page<Item, Output>? {
        defer { update() }
        return try await controller.refresh()
    }

    /// See ``PageController/reload(options:)``.
    @discardableResult public func reload(options: CallOptions = CallOptions()) async throws -> Page<Item, Output>? {
        defer { update() }
        return try await controller.reload(options: options)
    }

    /// See ``PageController/cachedThenFresh(_:)``.
    @discardableResult public func cachedThenFresh(_ cached: CallOptions) async throws -> Page<Item, Output>? {
        defer { update() }
        return try await controller.cachedThenFresh(cached)
    }

    /// See ``PageController/cancel()``.
    public func cancel() {
        controller.cancel()
        update()
    }

    /// Takes over the state of the controller, which is never older than one that a stream has delivered.
    private func update() {
        let old = shown
        shown = controller.state
        if shown.pagesVersion != old.pagesVersion { pages = shown.pages }
        if shown.isLoading != old.isLoading { isLoading = shown.isLoading }
        if shown.errorVersion != old.errorVersion { error = shown.error }
    }
}
