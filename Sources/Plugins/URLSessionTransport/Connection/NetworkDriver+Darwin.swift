#if !canImport(FoundationNetworking)
import Errand
import Foundation
import Network
import Synchronization

struct NetworkDriver: ConnectionDriver {
    let connection: NWConnection
    let queue: DispatchQueue
    let options: TransportOptions
    let rejection: ServerRejection
    let waitsForConnectivity: Bool

    func start(_ report: @escaping @Sendable (ConnectionEvent) -> Void) {
        connection.stateUpdateHandler = { [weak connection, options, rejection, waitsForConnectivity] state in
            switch state {
            case .ready: report(.ready)
            case .waiting(let error):
                // Refused connections, unknown names and failed TLS handshakes also cause this state, but must fail.
                if waitsForConnectivity, connection?.currentPath?.status != .satisfied {
                    options.report(.waitingForConnectivity)
                } else {
                    report(.failed(rejection.failure(error)))
                }
            case .failed(let error): report(.failed(rejection.failure(error)))
            default: break
            }
        }
        connection.start(queue: queue)
    }

    func receive(
        upTo limit: Int, _ completion: @escaping @Sendable (Data?, _ isAtEnd: Bool, NetworkFailure?) -> Void
    ) {
        connection.receive(minimumIncompleteLength: 1, maximumLength: limit) { data, _, isComplete, error in
            completion(data, isComplete, error.map(NetworkFailure.init))
        }
    }

    func send(_ data: Data, _ completion: @escaping @Sendable (NetworkFailure?) -> Void) {
        connection.send(content: data, completion: .contentProcessed { completion($0.map(NetworkFailure.init)) })
    }

    func cancel() { connection.cancel() }
}

/// Why a server was rejected, which Network.framework doesn't report.
final class ServerRejection: Sendable {
    private let reason = Mutex<String?>(nil)

    func note(_ text: String) { reason.withLock { $0 = text } }

    func failure(_ error: NWError) -> NetworkFailure {
        guard let text = reason.withLock({ $0 }) else { return NetworkFailure(error) }
        return NetworkFailure(.rejection(text), text, underlying: error)
    }
}

extension NetworkFailure {
    init(_ error: NWError) {
        let cause: Cause =
            switch error {
            case .posix(let code): .posix(code)
            case .dns(let code): .name(code)
            case .tls(let status): .security(status)
            default: .other
            }
        self.init(cause, error.debugDescription, underlying: error)
    }
}
#endif
