package import Errand
package import ErrandExampleRequests
import Observation

/// Searches while somebody types: each letter cancels the search before it, and a request is sent once the typing pauses.
@Observable package final class SearchModel {
    /// The text that is searched for.
    package var text = "" {
        didSet { if text != oldValue { search() } }
    }
    /// What was found for the text.
    package private(set) var found: [Article] = []
    /// The sentence about what went wrong last.
    package private(set) var failure: String?
    @ObservationIgnored private let agent: NetworkAgent
    @ObservationIgnored private let time: any TimeSource
    /// The search for the text; nil where there is none.
    @ObservationIgnored package private(set) var task: Task<Void, Never>?

    package init(_ agent: NetworkAgent, time: any TimeSource = SystemTimeSource()) {
        (self.agent, self.time) = (agent, time)
    }

    private func search() {
        task?.cancel()
        task = nil
        if text.isEmpty {
            (found, failure) = ([], nil)
            return
        }
        task = Task { [agent, time, text, weak self] in
            do {
                try await time.sleep(until: time.now.advanced(by: .milliseconds(300)))
                let found = try await agent.send(GetArticles(search: text)).value.articles
                if !Task.isCancelled { self?.show(found) }
            } catch {
                if let sentence = error.sentence { self?.show([], sentence) }
            }
        }
    }

    private func show(_ found: [Article], _ failure: String? = nil) { (self.found, self.failure) = (found, failure) }
}
