public import Errand
public import Observation

/// Publishes the state of a ``PageController`` to SwiftUI views, and to any code that uses `withObservationTracking`.
///
/// ```swift
/// @MainActor func screen() async throws {
///     let articles = PageModel(GetArticles(), on: agent)
///     try await articles.next()
///     show(articles.items)
/// }
/// ```
///
/// A view that reads only ``items`` isn't notified when ``isLoading`` changes. When a call returns, the model already
/// has its result. Changes made directly through the controller appear on the main actor's next turn. The model keeps
/// its controller alive.
@MainActor @Observable
public final class PageModel<Item: Sendable, Output: Sendable> {
    /// The visible pages, in order.
    public private(set) var pages: [Page<Item, Output>] = []
    /// Whether a page is loading.
    public private(set) var isLoading = false
    /// See ``PageController/State/error``.
    public private(set) var error: (any Error)?

    /// The controller that loads the pages.
    @ObservationIgnored public let controller: PageController<Item, Output>
    @ObservationIgnored private var shown = PageController<Item, Output>.State()
    @ObservationIgnored private var following: Task<Void, Never>?

    /// Creates a model for a controller. You can still use the controller directly.
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

    /// Creates a model with its own controller. Takes the parameters of a ``PageController``.
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
    /// See ``PageController/State/total``.
    public var total: Int? { page?.total }
    /// See ``PageController/State/isFirst``.
    public var isFirst: Bool { page?.isFirst ?? true }
    /// See ``PageController/State/isLast``.
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

    /// Copies the controller's state, which is never older than a state from the stream.
    private func update() {
        let old = shown
        shown = controller.state
        if shown.pagesVersion != old.pagesVersion { pages = shown.pages }
        if shown.isLoading != old.isLoading { isLoading = shown.isLoading }
        if shown.errorVersion != old.errorVersion { error = shown.error }
    }
}
