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
/// Where `Output` is an array, its elements are the items.
public protocol PagedRequest<Item>: Request {
    /// The type of an item on a page.
    associatedtype Item: Sendable
    /// The requested page; its initial value is the first page, with the style and the size.
    var page: PagePosition { get set }
    /// The items of a page.
    func items(in response: Response<Output>) throws -> [Item]
    /// The number of items in the whole list; nil, the default, or a negative number if the server doesn't say. Without a
    /// total the list ends with an empty page or one that is shorter than a page before it, or, in styles where the page
    /// before names the next one, with a page that names none.
    func total(in response: Response<Output>) throws -> Int?
    /// The name of the next page in the style ``PagePosition/cursor(size:)``; nil, the default, on the last page.
    func nextCursor(in response: Response<Output>) throws -> String?
}

extension PagedRequest {
    /// Nil: the server does not say.
    public func total(in response: Response<Output>) throws -> Int? { nil }
    /// Nil: there is no next page.
    public func nextCursor(in response: Response<Output>) throws -> String? { nil }
}

extension PagedRequest where Output == [Item] {
    /// The elements.
    public func items(in response: Response<Output>) throws -> [Item] { response.value }
}
