package import Errand
package import ErrandCache
package import ErrandPaging

package struct Article: Codable, Sendable, Identifiable, Hashable {
    package var id: Int
    package var title: String

    package init(id: Int, title: String) { (self.id, self.title) = (id, title) }
}

package struct Articles: Codable, Sendable {
    package var articles: [Article]
    package var total: Int

    package init(articles: [Article], total: Int) { (self.articles, self.total) = (articles, total) }
}

/// One page of the feed, or of the articles that contain a text. Search results aren't stored.
package struct GetArticles: PagedRequest, CacheableRequest {
    package typealias Output = Articles
    package var search: String
    package var page = PagePosition.number()
    package var path: String { "articles" }
    package var query: Parameters {
        var query = page.query("page", size: "size")
        if !search.isEmpty { query.append("search", search) }
        return query
    }
    package var cachePolicy: CachePolicy { search.isEmpty ? .http : .off }
    package var label: String? { "page \(page.number)" }

    package init(search: String = "") { self.search = search }

    package func items(in response: Response<Articles>) -> [Article] { response.value.articles }
    package func total(in response: Response<Articles>) -> Int? { response.value.total }
}

/// One article in full.
package struct GetArticle: Request {
    package typealias Output = Article
    package let id: Int
    package var path: String { "articles/\(id)" }
    package var label: String? { "article \(id)" }

    package init(id: Int) { self.id = id }
}
