package import Errand
import ErrandCache
package import ErrandExampleRequests
import ErrandPaging
import Observation

/// A feed that shows what it had at once, then what the server has, and more of it page by page.
@Observable package final class FeedModel {
    /// Whether the articles come from the cache, and the server is being asked.
    package private(set) var isStored = false
    /// The sentence about what went wrong last.
    package private(set) var failure: String?
    private var isOpening = false
    private var first: [Article] = []
    private var list: PageModel<Article, Articles>
    @ObservationIgnored private let agent: NetworkAgent

    package init(_ agent: NetworkAgent) {
        self.agent = agent
        list = PageModel(GetArticles(), on: agent)
    }

    /// The visible articles.
    package var articles: [Article] { list.pages.isEmpty ? first : list.items }
    /// Whether a page is being loaded.
    package var isLoading: Bool { isOpening || list.isLoading }
    /// Whether there are no more.
    package var isLast: Bool { list.isLast }

    /// Shows the first page: the stored one, then the server's. Also for a pull to refresh.
    package func open() async {
        (isOpening, failure, list) = (true, nil, PageModel(GetArticles(), on: agent))
        do {
            for try await response in agent.cachedThenFresh(GetArticles()) {
                (first, isStored) = (response.value.articles, response.http.source.isStored)
            }
            // Takes the page that has just come from the cache.
            try await list.next()
        } catch {
            failure = error.sentence
        }
        (isOpening, isStored) = (false, false)
    }

    /// Adds the next page. May be called for each row that appears: one page is loaded at a time.
    package func more() async {
        if list.pages.isEmpty || isLast { return }
        do {
            try await list.next()
            failure = nil
        } catch {
            failure = error.sentence
        }
    }
}
