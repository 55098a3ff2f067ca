// The view of docs/recipes.md, as code that compiles where there is SwiftUI.
#if canImport(SwiftUI)
import Errand
import SwiftUI

struct ProfileView: View {
    let agent: NetworkAgent
    let id: Int
    @State private var text = "Loading…"

    var body: some View {
        Text(text).task(id: id) {
            do {
                text = try await agent.send(GetUser(id: id)).value.name
            } catch let error as ErrandError where error.isCancelled {
                return
            } catch {
                text = error.localizedDescription
            }
        }
    }
}
#endif
