// The code for background time in docs/recipes.md. It compiles only with UIKit.
#if canImport(UIKit) && !os(watchOS)
import Errand
import UIKit

@MainActor final class BackgroundTime {
    private var identifier = UIBackgroundTaskIdentifier.invalid

    init(_ name: String, expired: @escaping @MainActor @Sendable () -> Void) {
        identifier = UIApplication.shared.beginBackgroundTask(withName: name) { [weak self] in
            expired()
            self?.end()
        }
    }

    func end() {
        UIApplication.shared.endBackgroundTask(identifier)
        identifier = .invalid
    }
}

@MainActor func save(_ name: String, on agent: NetworkAgent) async throws {
    let task = Task { try await agent.send(CreateUser(name: name)) }
    let time = BackgroundTime("save") { task.cancel() }
    defer { time.end() }
    _ = try await task.value
}
#endif
