package import Errand
import ErrandCache
package import ErrandExampleRequests
import ErrandPaging
import Observation

/// A feed that shows stored articles at once, then the server's, and loads more page by page.
@Observable package final class FeedModel {
    /// Whether the articles come from the cache while the server's response is pending.
    package private(set) var isStored = false
    /// A message about the last failure.
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
    package var isLoading: Bool { isOpening || list.isLoading }
    /// Whether all pages are loaded.
    package var isLast: Bool { list.isLast }

    /// Shows the first page: the stored one, then the server's. Also call this for pull to refresh.
    package func open() async {
        (isOpening, failure, list) = (true, nil, PageModel(GetArticles(), on: agent))
        do {
            for try await response in agent.cachedThenFresh(GetArticles()) {
                (first, isStored) = (response.value.articles, response.http.source.isStored)
            }
            // Reads the page that the cache has just stored.
            try await list.next()
        } catch {
            failure = error.sentence
        }
        (isOpening, isStored) = (false, false)
    }

    /// Adds the next page. Call it for each row that appears: only one page loads at a time.
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
