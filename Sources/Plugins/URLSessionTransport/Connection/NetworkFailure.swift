import Errand
import Foundation

/// An error of the system's networking.
struct NetworkFailure: Sendable {
    enum Cause: Hashable, Sendable {
        case posix(POSIXErrorCode)
        /// A code of the name service's (`kDNSServiceErr_…`).
        case name(Int32)
        /// A code of the TLS implementation's (`errSSL…`).
        case security(Int32)
        /// The server was rejected, with the reason.
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

    /// The error of an attempt to connect.
    var unconnected: ErrandError { ErrandError(code, text, underlying: underlying) }

    /// The error of a connection that stood.
    var lost: ErrandError { ErrandError(.connectionLost, text, underlying: underlying) }

    private var code: ErrandError.Code {
        switch cause {
        case .posix(.ETIMEDOUT): .timedOut
        case .posix(.ECONNRESET), .posix(.ECONNABORTED), .posix(.EPIPE), .posix(.ENOTCONN): .connectionLost
        case .posix(.ECANCELED): .cancelled
        case .posix(let code) where Self.unreachable.contains(code): .cannotConnect
        // The user has not allowed the app to use the local network.
        case .name(Self.policyDenied): .cannotConnect
        case .name: .nameLookupFailed
        case .security, .rejection: .insecureConnection
        case .posix, .other: .transportFailed
        }
    }

    /// `kDNSServiceErr_PolicyDenied`.
    private static let policyDenied: Int32 = -65570

    /// What stands between the system and a host, and what forbids to connect.
    private static let unreachable: Set<POSIXErrorCode> = [
        .ECONNREFUSED, .ENETDOWN, .ENETUNREACH, .EHOSTDOWN, .EHOSTUNREACH, .EADDRNOTAVAIL, .EPERM, .EACCES,
    ]
}
