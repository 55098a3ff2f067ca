// The code of docs/paging.md.
import Errand
import ErrandPaging
import Foundation

nonisolated struct Article: Codable, Sendable {
    var title = ""
}
nonisolated struct Articles: Codable, Sendable {
    let articles: [Article]
    let total: Int
}
nonisolated struct Ticket: Codable, Sendable {}

struct GetArticles: PagedRequest {
    typealias Output = Articles
    var page = PagePosition.number(size: 20)
    var path: String { "articles" }
    var query: Parameters { page.query("page", size: "per_page") }

    func items(in response: Response<Articles>) -> [Article] { response.value.articles }
    func total(in response: Response<Articles>) -> Int? { response.value.total }
}

struct GetTickets: PagedRequest {
    typealias Output = [Ticket]
    var page = PagePosition.link(size: 100)
    var path: String { page.path("tickets") }
    var query: Parameters { page.query("page", size: "per_page") }
}

private func items(_ agent: NetworkAgent, show: (Any) -> Void) async throws {
    for try await article in agent.items(of: GetArticles()) { show(article) }
}

private func calls(_ agent: NetworkAgent, show: (Any) -> Void) async throws {
    let users = PageList(.number(size: 50)) { page in
        Call<[User]>(.get, "users", query: page.query("page", size: "per_page"))
    }
    for try await user in agent.items(of: users) { show(user) }
}

private func pages(_ agent: NetworkAgent, show: ([Article], Int?) -> Void) async throws {
    for try await page in agent.pages(of: GetArticles(), prefetching: true) {
        show(page.items, page.total)
        if page.number == 5 { break }
    }
}

private func screen(_ agent: NetworkAgent, show: ([Article], Bool, Bool) -> Void) async throws {
    let articles = PageController(GetArticles(), on: agent)
    try await articles.next()
    for await state in articles.states { show(state.items, state.isLoading, state.isLast) }
}

private func nextRun(_ articles: PageController<Article, Articles>, _ agent: NetworkAgent) async throws {
    let stored = try JSONEncoder().encode(articles.state.page?.position)
    let position = try JSONDecoder().decode(PagePosition?.self, from: stored)
    let resumed = PageController(GetArticles(), startingAt: position, on: agent)
    try await resumed.next()
}
