import Foundation
import Synchronization

@testable import ErrandURLSessionTransport

/// A driver whose connection follows the test's script.
final class ScriptedDriver: ConnectionDriver {
    typealias Receive = @Sendable (Data?, Bool, NetworkFailure?) -> Void

    private struct State: Sendable {
        var report: (@Sendable (ConnectionEvent) -> Void)?
        var receives: [(limit: Int, completion: Receive)] = []
        var sends: [(data: Data, completion: @Sendable (NetworkFailure?) -> Void)] = []
        var cancels = 0
    }

    private let state = Mutex(State())

    var isStarted: Bool { state.withLock { $0.report != nil } }
    var cancels: Int { state.withLock { $0.cancels } }
    /// The limits of the pending receives.
    var receives: [Int] { state.withLock { $0.receives.map(\.limit) } }
    /// The pieces of the pending sends.
    var sends: [Data] { state.withLock { $0.sends.map(\.data) } }

    func start(_ report: @escaping @Sendable (ConnectionEvent) -> Void) { state.withLock { $0.report = report } }

    func receive(upTo limit: Int, _ completion: @escaping Receive) {
        state.withLock { $0.receives.append((limit, completion)) }
    }

    func send(_ data: Data, _ completion: @escaping @Sendable (NetworkFailure?) -> Void) {
        state.withLock { $0.sends.append((data, completion)) }
    }

    func cancel() { state.withLock { $0.cancels += 1 } }

    func report(_ event: ConnectionEvent) { state.withLock { $0.report }?(event) }

    func complete(_ text: String?, isAtEnd: Bool = false, _ failure: NetworkFailure? = nil) {
        let first = state.withLock { $0.receives.isEmpty ? nil : $0.receives.removeFirst() }
        first?.completion(text.map { Data($0.utf8) }, isAtEnd, failure)
    }

    func completeSend(_ failure: NetworkFailure? = nil) {
        let first = state.withLock { $0.sends.isEmpty ? nil : $0.sends.removeFirst() }
        first?.completion(failure)
    }
}
