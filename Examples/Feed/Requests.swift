import Errand
import ErrandAuthentication
import ErrandCache
import ErrandPaging

struct Article: Codable, Sendable {
    var id: Int
    var title: String
}

struct Articles: Codable, Sendable {
    var articles: [Article]
    var total: Int
}

/// One page of the feed.
struct GetArticles: PagedRequest, CacheableRequest {
    typealias Output = Articles
    var page = PagePosition.number()
    var path: String { "articles" }
    var query: Parameters { page.query("page", size: "size") }
    var cachePolicy: CachePolicy { .http }
    var label: String? { "page \(page.number)" }

    func items(in response: Response<Articles>) -> [Article] { response.value.articles }
    func total(in response: Response<Articles>) -> Int? { response.value.total }
}

/// One article, whole.
struct GetArticle: Request {
    typealias Output = Article
    let id: Int
    var path: String { "articles/\(id)" }
    var label: String? { "article \(id)" }
}

/// The first token, or the one after another.
struct GetToken: Request {
    typealias Output = BearerToken
    let refreshToken: String?
    var method: HTTPMethod { .put }
    var path: String { "token" }
    var body: RequestBody { .json(["refreshToken": refreshToken ?? "", "user": "ada"]) }
}
