import Errand
import ErrandExampleRequests
import ErrandTesting
import Foundation
import Synchronization

/// Serves articles in pages, and searches their text.
package final class ArticleService: Sendable {
    private static let titles = [
        "Harbour", "Lighthouse", "Market", "Museum", "Railway", "River", "Theatre", "Tower", "University",
    ].flatMap { place in
        ["opens again", "closes for a year", "gets a new roof", "asks for volunteers", "turns one hundred"]
            .map { "\(place) \($0)" }
    }

    private let edition = Mutex(1)

    init() {}

    /// Publishes a new version of the first article.
    package func revise() { edition.withLock { $0 += 1 } }

    func page(_ request: RecordedRequest) throws -> TestResponse {
        let edition = edition.withLock { $0 }
        let search = request.query("search")?.lowercased() ?? ""
        let found = Self.titles.enumerated().filter {
            search.isEmpty || $0.element.lowercased().contains(search)
        }
        let size = max(1, request.query("size").flatMap { Int($0) } ?? 10)
        let page = max(1, request.query("page").flatMap { Int($0) } ?? 1)
        let items = found.dropFirst(min(page - 1, found.count) * size).prefix(size).map { index, title in
            Article(id: index + 1, title: index == 0 && edition > 1 ? "\(title) (edition \(edition))" : title)
        }
        let body = try JSONEncoder().encode(Articles(articles: items, total: found.count))
        let tag = "\"\(edition)-\(page)\""
        if request.headers["If-None-Match"] == tag { return .status(304, headers: ["ETag": tag]) }
        return .data(body, contentType: "application/json").header("ETag", tag)
            .header("Cache-Control", "private, max-age=300")
    }
}
