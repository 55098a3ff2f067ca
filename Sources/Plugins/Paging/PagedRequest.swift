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
    /// The page to request. Set its initial value to the first page, with the style and size.
    var page: PagePosition { get set }
    /// Returns the items that a page's response contains.
    func items(in response: Response<Output>) throws -> [Item]
    /// Returns the number of items in the whole list. Defaults to `nil`; return `nil` or a negative number if the
    /// server doesn't report it.
    ///
    /// Without a total, a numbered or offset list ends with a page that is empty or shorter than an earlier page. Lists
    /// with cursors or links end with a page that doesn't name a next page.
    func total(in response: Response<Output>) throws -> Int?
    /// Returns the name of the next page in the style ``PagePosition/cursor(size:)``, or `nil` on the last page.
    /// Defaults to `nil`.
    func nextCursor(in response: Response<Output>) throws -> String?
}

extension PagedRequest {
    /// The default implementation returns `nil`: the server doesn't report a total.
    public func total(in response: Response<Output>) throws -> Int? { nil }
    /// The default implementation returns `nil`: there is no next page.
    public func nextCursor(in response: Response<Output>) throws -> String? { nil }
}

extension PagedRequest
where Output: RangeReplaceableCollection & ExpressibleByArrayLiteral, Output.Element: Sendable {
    /// Returns the array's elements.
    ///
    /// The constraint stands for "any array": with `Output == [Item]`, the compiler wouldn't infer `Item`.
    public func items(in response: Response<Output>) throws -> [Output.Element] { Array(response.value) }
}
