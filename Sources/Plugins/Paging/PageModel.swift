public import Errand
public import Observation

/// The observable state of a ``PageController``, for SwiftUI views and any other code that uses
/// `withObservationTracking`.
///
/// ```swift
/// @MainActor func screen() async throws {
///     let articles = PageModel(GetArticles(), on: agent)
///     try await articles.next()
///     show(articles.items)
/// }
/// ```
///
/// A view that reads only ``items`` isn't updated when ``isLoading`` changes. When a method of the model returns, the
/// model contains its result. If you use the controller directly, the model shows the changes in the next turn of the
/// main actor. The model keeps its controller alive.
@MainActor @Observable
public final class PageModel<Item: Sendable, Output: Sendable> {
    /// The visible pages, in order. See ``PageController/State/pages``.
    public private(set) var pages: [Page<Item, Output>] = []
    /// Whether a page is loading.
    public private(set) var isLoading = false
    /// The error of the last load, or `nil` if the load succeeded or was cancelled. See ``PageController/State/error``.
    public private(set) var error: (any Error)?

    /// The controller that loads the pages.
    @ObservationIgnored public let controller: PageController<Item, Output>
    @ObservationIgnored private var shown = PageController<Item, Output>.State()
    @ObservationIgnored private var following: Task<Void, Never>?

    /// Creates a model for a controller. You can still use the controller's own methods.
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

    /// Creates a model and its controller. See ``PageController`` for the parameters.
    public convenience init<R: PagedRequest>(
        _ request: R, startingAt start: PagePosition? = nil, on agent: some Agent, options: CallOptions = CallOptions()
    ) where R.Item == Item, R.Output == Output {
        self.init(PageController(request, startingAt: start, on: agent, options: options))
    }

    deinit { following?.cancel() }

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

    /// Loads the next page and adds it to the visible pages. See ``PageController/next()``.
    @discardableResult public func next() async throws -> Page<Item, Output>? {
        defer { update() }
        return try await controller.next()
    }

    /// Loads the previous page and shows only this page. See ``PageController/previous()``.
    @discardableResult public func previous() async throws -> Page<Item, Output>? {
        defer { update() }
        return try await controller.previous()
    }

    /// Loads the page with this number and shows only this page. See ``PageController/load(page:)``.
    @discardableResult public func load(page number: Int) async throws -> Page<Item, Output>? {
        defer { update() }
        return try await controller.load(page: number)
    }

    /// Loads the last visible page again. See ``PageController/refresh()``.
    @discardableResult public func refresh() async throws -> Page<Item, Output>? {
        defer { update() }
        return try await controller.refresh()
    }

    /// Starts over with the first page. See ``PageController/reload(options:)``.
    @discardableResult public func reload(options: CallOptions = CallOptions()) async throws -> Page<Item, Output>? {
        defer { update() }
        return try await controller.reload(options: options)
    }

    /// Starts over with the first page, and shows it from the cache until the fresh page arrives. See
    /// ``PageController/cachedThenFresh(_:)``.
    @discardableResult public func cachedThenFresh(_ cached: CallOptions) async throws -> Page<Item, Output>? {
        defer { update() }
        return try await controller.cachedThenFresh(cached)
    }

    /// Cancels the current load. See ``PageController/cancel()``.
    public func cancel() {
        controller.cancel()
        update()
    }

    /// Copies the controller's current state, which is never older than a state from its stream.
    private func update() {
        let old = shown
        shown = controller.state
        if shown.pagesVersion != old.pagesVersion { pages = shown.pages }
        if shown.isLoading != old.isLoading { isLoading = shown.isLoading }
        if shown.errorVersion != old.errorVersion { error = shown.error }
    }
}
