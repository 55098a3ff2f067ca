package import Errand
package import ErrandExampleRequests
import Observation

/// Searches as the user types. Each letter cancels the previous search, and a request is sent when typing pauses.
@Observable package final class SearchModel {
    /// The search text.
    package var text = "" {
        didSet { if text != oldValue { search() } }
    }
    /// The articles found.
    package private(set) var found: [Article] = []
    /// A message about the last failure.
    package private(set) var failure: String?
    @ObservationIgnored private let agent: NetworkAgent
    @ObservationIgnored private let time: any TimeSource
    /// The current search, or nil if there isn't one.
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
