// The view in docs/paging.md. It compiles only with SwiftUI.
#if canImport(SwiftUI)
import Errand
import ErrandPaging
import SwiftUI

struct ArticleList: View {
    @State private var articles: PageModel<Article, Articles>

    init(on agent: NetworkAgent) { articles = PageModel(GetArticles(), on: agent) }

    var body: some View {
        List(articles.items.indices, id: \.self) { index in
            Text(articles.items[index].title).task {
                if index == articles.items.count - 1 { _ = try? await articles.next() }
            }
        }
        .task { _ = try? await articles.next() }
        .refreshable { _ = try? await articles.reload() }
    }
}
#endif
