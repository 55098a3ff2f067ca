import ErrandAppModels
import ErrandExampleRequests
import SwiftUI

/// Search results, updated as the user types.
struct SearchView: View {
    @Bindable var model: SearchModel

    var body: some View {
        List {
            TextField("Search, such as for tower", text: $model.text)
            FailureText(text: model.failure)
            ForEach(model.found) { article in Text(article.title) }
        }
        .navigationTitle("Search")
    }
}
