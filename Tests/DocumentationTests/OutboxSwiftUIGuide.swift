// The SwiftUI code of docs/outbox.md. It compiles only on Apple's platforms; elsewhere, `Tests/Platforms/check`
// type-checks it against stubs.
#if canImport(SwiftUI)
import Errand
import ErrandOutbox
import SwiftUI

struct OutboxList: View {
    let outbox: Outbox
    @State private var entries: [OutboxEntry] = []

    var body: some View {
        List(entries, id: \.id) { entry in
            Text(entry.lastError ?? entry.name)
        }
        .task {
            for await state in outbox.states { entries = state.entries }
        }
    }
}
#endif
