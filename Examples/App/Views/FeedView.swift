import ErrandAppModels
import ErrandExampleRequests
import SwiftUI

/// The stored articles at once, then those of the server; the next page at the end of the list.
struct FeedView: View {
    let model: FeedModel
    /// Publishes another version of the first article.
    let revise: @MainActor () -> Void

    var body: some View {
        List {
            FailureText(text: model.failure)
            if model.isStored { Text("From the cache. Asking the server…") }
            ForEach(model.articles) { article in
                Text(article.title).task {
                    if article.id == model.articles.last?.id { await model.more() }
                }
            }
            if model.isLoading { ProgressView("Loading") }
        }
        .task { await model.open() }
        .refreshable { await model.open() }
        .toolbar { Button("Revise the first article", action: revise) }
        .navigationTitle("Feed")
    }
}
