import Errand
import Foundation

struct NetworkFailure: Sendable {
    enum Cause: Hashable, Sendable {
        case posix(POSIXErrorCode)
        /// A DNS error, `kDNSServiceErr_…`.
        case name(Int32)
        /// A TLS error, `errSSL…`.
        case security(Int32)
        case rejection(String)
        case other
    }

    let cause: Cause
    let text: String
    let underlying: (any Error)?

    init(_ cause: Cause, _ text: String, underlying: (any Error)? = nil) {
        self.cause = cause
        if case .rejection(let reason) = cause { self.text = reason } else { self.text = text }
        self.underlying = underlying
    }

    var unconnected: ErrandError { ErrandError(code, text, underlying: underlying) }

    var lost: ErrandError { ErrandError(.connectionLost, text, underlying: underlying) }

    private var code: ErrandError.Code {
        switch cause {
        case .posix(.ETIMEDOUT): .timedOut
        case .posix(.ECONNRESET), .posix(.ECONNABORTED), .posix(.EPIPE), .posix(.ENOTCONN): .connectionLost
        case .posix(.ECANCELED): .cancelled
        case .posix(let code) where Self.unreachable.contains(code): .cannotConnect
        // The user hasn't allowed the app to use the local network.
        case .name(Self.policyDenied): .cannotConnect
        case .name: .nameLookupFailed
        case .security, .rejection: .insecureConnection
        case .posix, .other: .transportFailed
        }
    }

    /// The DNS error `kDNSServiceErr_PolicyDenied`.
    private static let policyDenied: Int32 = -65570

    private static let unreachable: Set<POSIXErrorCode> = [
        .ECONNREFUSED, .ENETDOWN, .ENETUNREACH, .EHOSTDOWN, .EHOSTUNREACH, .EADDRNOTAVAIL, .EPERM, .EACCES,
    ]
}

protocol ConnectionDriver: Sendable {
    func start(_ report: @escaping @Sendable (ConnectionEvent) -> Void)

    /// Receives bytes. The completion is called once: with bytes, with the end and perhaps the last bytes, or with a
    /// failure.
    func receive(
        upTo limit: Int, _ completion: @escaping @Sendable (Data?, _ isAtEnd: Bool, NetworkFailure?) -> Void)

    /// Sends bytes. The completion is called once, when the system has accepted all bytes or with a failure.
    func send(_ data: Data, _ completion: @escaping @Sendable (NetworkFailure?) -> Void)

    /// Ends the connection. May be called several times. The system still sends bytes that it has accepted.
    func cancel()
}

enum ConnectionEvent: Sendable {
    case ready
    case failed(NetworkFailure)
}
