import ErrandAppModels
import ErrandExampleRequests
import SwiftUI

/// Shows the stored articles at once, then the server's. Reaching the end of the list loads the next page.
struct FeedView: View {
    let model: FeedModel
    /// Publishes a new version of the first article.
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
