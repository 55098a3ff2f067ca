public import Errand

/// A request for one page of a list.
///
/// ```swift
/// struct GetArticles: PagedRequest {
///     typealias Output = Articles
///     var page = PagePosition.number(size: 20)
///     var path: String { "articles" }
///     var query: Parameters { page.query("page", size: "per_page") }
///
///     func items(in response: Response<Articles>) -> [Article] { response.value.articles }
///     func total(in response: Response<Articles>) -> Int? { response.value.total }
/// }
///
/// for try await article in agent.items(of: GetArticles()) { show(article) }
/// ```
///
/// If `Output` is an array, its elements are the items.
public protocol PagedRequest<Item>: Request {
    /// The type of the list's items.
    associatedtype Item: Sendable
    /// The page to request. Its initial value is the list's first page, with the style and the page size.
    var page: PagePosition { get set }
    /// Returns the items in a page's response.
    func items(in response: Response<Output>) throws -> [Item]
    /// Returns the number of items in the whole list. Returns `nil` or a negative number if the server doesn't report
    /// it. Defaults to `nil`.
    ///
    /// Without a total, a numbered or offset list ends with a page that is empty or shorter than an earlier page. A
    /// list with cursors or links ends with a page that doesn't name a next page.
    func total(in response: Response<Output>) throws -> Int?
    /// Returns the cursor of the next page, or `nil` on the last page. Used only in the style
    /// ``PagePosition/cursor(size:)``. Defaults to `nil`.
    func nextCursor(in response: Response<Output>) throws -> String?
}

extension PagedRequest {
    /// Returns `nil`.
    public func total(in response: Response<Output>) throws -> Int? { nil }
    /// Returns `nil`.
    public func nextCursor(in response: Response<Output>) throws -> String? { nil }
}

extension PagedRequest
where Output: RangeReplaceableCollection & ExpressibleByArrayLiteral, Output.Element: Sendable {
    /// Returns the array's elements.
    public func items(in response: Response<Output>) throws -> [Output.Element] { Array(response.value) }
}
