// The view in docs/recipes.md. It compiles only with SwiftUI.
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
