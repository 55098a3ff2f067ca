public import Errand
import ErrandEssentials
import ErrandHTTPFields
import Synchronization

/// A list that a server delivers in pages. It describes how to request a page, and how to read a page's items. Create a
/// list from a ``PagedRequest``, or from a closure if you don't want to declare a request type:
///
/// ```swift
/// let users = PageList(.number(size: 50)) { page in
///     Call<[User]>(.get, "users", query: page.query("page", size: "per_page"))
/// }
/// for try await user in agent.items(of: users) { show(user) }
/// ```
public struct PageList<Item: Sendable, Output: Sendable>: Sendable {
    /// The position of the list's first page.
    public let first: PagePosition
    private let send: @Sendable (PagePosition, any Agent, CallOptions) async throws -> Page<Item, Output>

    /// Creates a list from a request. The list starts with the first page, and uses the request's style and page size.
    public init<R: PagedRequest>(_ request: R) where R.Item == Item, R.Output == Output {
        first = request.page.first
        send = { position, agent, options in
            var request = request
            request.page = position
            let (response, source) = try await Self.response(to: request, at: position, agent: agent, options: options)
            return try Self.page(
                position, response: response, source: source, items: request.items(in: response),
                total: request.total(in: response),
                cursor: request.nextCursor(in: response))
        }
    }

    /// Creates a list from a closure that returns the request for a page.
    ///
    /// - Parameters:
    ///   - first: The first page, with the style and the page size.
    ///   - items: Returns the items of a response.
    ///   - total: Returns the number of items in the whole list, or `nil` if the server doesn't report it. Returns
    ///     `nil` by default.
    ///   - cursor: Returns the next page's cursor in the style ``PagePosition/cursor(size:)``. Returns `nil` by
    ///     default.
    public init<R: Request>(
        _ first: PagePosition, items: @escaping @Sendable (Response<Output>) throws -> [Item],
        total: @escaping @Sendable (Response<Output>) throws -> Int? = { _ in nil },
        cursor: @escaping @Sendable (Response<Output>) throws -> String? = { _ in nil },
        request: @escaping @Sendable (PagePosition) throws -> R
    ) where R.Output == Output {
        self.first = first.first
        send = { position, agent, options in
            let (response, source) = try await Self.response(
                to: try request(position), at: position, agent: agent, options: options)
            return try Self.page(
                position, response: response, source: source, items: items(response), total: total(response),
                cursor: cursor(response))
        }
    }

    /// Creates a list from a closure that returns the request for a page. The request's output is an array of items.
    public init<R: Request>(
        _ first: PagePosition, total: @escaping @Sendable (Response<Output>) throws -> Int? = { _ in nil },
        request: @escaping @Sendable (PagePosition) throws -> R
    ) where R.Output == Output, Output == [Item] {
        self.init(first, items: { $0.value }, total: total, request: request)
    }

    /// Loads one page. Throws the request's errors and ``PagingError``.
    ///
    /// If a numbered or offset page repeats the items of the page before it, this method also requests the page after
    /// it:
    ///
    /// - If that page has other items, the method returns that page. New items had shifted the list by a page.
    /// - Otherwise the server repeats its last page or ignores page numbers. The method returns an empty last page, or
    ///   throws `repeatedPage` if the total is higher than the number of items so far.
    public func page(
        _ position: PagePosition, on agent: any Agent, options: CallOptions = CallOptions()
    ) async throws -> Page<Item, Output> {
        let page = try await send(position, agent, options)
        guard page.isRepeated else { return page }
        var total = page.total
        if let next = page.next {
            let after = try await send(next, agent, options)
            if !after.isRepeated { return after }
            total = after.total ?? total
        }
        if let total, position.offset < total { throw PagingError(code: .repeatedPage, page: page.number) }
        return Page(
            position: position, items: [], total: total, next: nil, response: page.response, isRepeated: true)
    }

    /// Requests a page. In the link style, `source` is the URL of the first page. If a link leads to another origin,
    /// this origin doesn't get the request's own secrets.
    private static func response<R: Request>(
        to request: R, at position: PagePosition, agent: any Agent, options: CallOptions
    ) async throws -> (Response<Output>, source: URL?) where R.Output == Output {
        guard position.style == .link else { return (try await agent.send(request, options: options), nil) }
        var options = options
        if let source = position.source {
            options.tags[LinkSource.self] = source
            return (try await agent.send(request, options: options), source)
        }
        let watch = SourceWatch()
        options.accessories.append(watch)
        return (try await agent.send(request, options: options), watch.url)
    }

    private static func page(
        _ position: PagePosition, response: Response<Output>, source: URL?, items: [Item], total: Int?,
        cursor: String?
    ) throws -> Page<Item, Output> {
        var next = position
        next.index &+= 1
        next.offset = position.end(with: items.count)
        next.history.largest = max(position.history.largest, items.count)
        next.source = source
        let isNamed = try name(&next, after: position, count: items.count, total: total, cursor: cursor, response.http)
        var (isRepeated, isIdle) = (false, items.isEmpty)
        if position.isCounted, isNamed || position.history.content != nil {
            let content = PageContent(items, response.http)
            isRepeated = position.history.content?.isSame(as: content) == true
            isIdle = total == nil && !content.isTelling
            next.history.content = content
        }
        next.history.idlePages = isIdle ? position.history.idlePages + 1 : 0
        if isNamed, next.history.idlePages > PageHistory.maximumIdlePages {
            throw PagingError(code: .endlessList, page: position.number)
        }
        return Page(
            position: position, items: items, total: total, next: isNamed ? next : nil, response: response,
            isRepeated: isRepeated)
    }

    /// Finds the position of the next page. Returns `false` if this page was the last page.
    private static func name(
        _ next: inout PagePosition, after position: PagePosition, count: Int, total: Int?, cursor: String?,
        _ http: HTTPResponse
    ) throws -> Bool {
        switch position.style {
        case .number, .offset:
            // An empty page ends the list even if the total is greater, because otherwise the list might never end.
            if count == 0 { return false }
            // Without a total, the list ends with a page that has fewer items than an earlier page. It isn't compared
            // with the requested size, because the server may limit that size.
            guard let total, total >= 0 else { return count >= position.history.largest }
            return next.offset < total
        case .cursor:
            guard let cursor, !cursor.isEmpty else { return false }
            if cursor == position.cursor { throw PagingError(code: .repeatedPage, page: position.number) }
            next.cursor = cursor
        case .link:
            let links = LinkValue.parse(http.headers)
            guard let link = links.first(where: { $0.relations.contains("next") && $0.anchor == nil }) else {
                return false
            }
            guard let url = link.url(relativeTo: http.url)?.withoutFragment else {
                throw PagingError(code: .invalidLink, page: position.number)
            }
            if url == position.url || url == http.url.resolvedWithoutFragment {
                throw PagingError(code: .repeatedPage, page: position.number)
            }
            next.url = url
        }
        return true
    }
}

/// Records a request's URL before redirects. If the request isn't sent, this is the URL with which it was built.
final class SourceWatch: Accessory {
    private let state = Mutex<URL?>(nil)

    var url: URL? { state.withLock { $0 } }

    func observesNotes(of kind: ActivityKind) -> Bool { false }

    private func see(_ request: HTTPRequest) {
        let url = request.url
        state.withLock { $0 = url }
    }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .built(let request): see(request)
        case .sending(let request, let position) where position.hop == 1: see(request)
        default: break
        }
    }
}
