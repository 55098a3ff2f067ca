public import Errand
import ErrandEssentials
import ErrandMessageSyntax

/// A failure to get, renew, store or revoke a token. Descriptions never contain secrets.
///
/// ```swift
/// do { _ = try await client.signIn(browser: LoopbackBrowser()) } catch let error as OAuthError {
///     if error.code == .accessDenied { showSignIn() }
/// }
/// ```
public struct OAuthError: CodedError, Sendable {
    /// The error codes. More may be added, so write a `default` in a `switch`.
    public typealias Code = FailureCode<OAuthError>

    /// The kind of failure. Stable, so you can use it in metrics.
    public let code: Code
    /// The failure in one sentence. Text from the server is shortened to one line, and secrets that the client sent are
    /// masked.
    public let message: String
    /// The server's error code, such as `invalid_scope` (RFC 6749, section 5.2), or nil if the server didn't send a
    /// code.
    public let serverCode: String?
    /// The response's status, or nil without a response.
    public let status: Int?
    /// The cause, for example an error of the transport, the store, the key or the browser.
    public let underlying: (any Error)?
    /// The seconds between polls that the server asks a device for.
    let pollingInterval: Double?

    /// Creates an error, for your own browsers and stores.
    public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.init(code, message, serverCode: nil, status: nil, underlying: underlying)
    }

    init(
        _ code: Code, _ message: String, serverCode: String?, status: Int?, pollingInterval: Double? = nil,
        underlying: (any Error)? = nil
    ) {
        (self.code, self.message, self.serverCode) = (code, message, serverCode)
        (self.status, self.pollingInterval, self.underlying) = (status, pollingInterval, underlying)
    }

    /// The code, the message, and the cause, on one line.
    public var description: String {
        "\(code): \(message)" + (underlying.map { ": \($0.briefDescription)" } ?? "")
    }
}

extension OAuthError: RequestFailure {
    /// Whether the same request may succeed later, for example after a lost connection, status 503 or
    /// `temporarily_unavailable`.
    public var isRetryable: Bool {
        if serverCode == "temporarily_unavailable" { return true }
        if let status, StatusCodes.retryable.contains(status) { return true }
        return (underlying as? any RequestFailure)?.isRetryable ?? false
    }
}

extension OAuthError {
    /// The text that users see as `localizedDescription`.
    public var failureSentence: FailureSentence {
        switch code {
        case .invalidGrant, .noToken, .deviceCodeExpired: .signInRequired
        case .accessDenied: .notAllowed
        case .signInCancelled: .cancelled
        case .signInTimedOut: .timedOut
        case .refused: .refused
        case .storeFailed: .fileFailed
        case .invalidServer, .issuerMismatch, .invalidResponse, .tokenTypeMismatch, .userMismatch, .stateMismatch,
            .invalidRedirect:
            .unusableResponse
        case .requestFailed: (underlying as? any DescribedError)?.failureSentence ?? .unreachable
        default: .failed
        }
    }
}

extension OAuthError: CustomDebugStringConvertible, CustomReflectable {
    /// The same as `description`.
    public var debugDescription: String { description }
    /// A mirror with the code, the message, the server's code, the status and a description of the cause.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "code": code, "message": message, "serverCode": serverCode as Any, "status": status as Any,
                "underlying": underlying?.briefDescription as Any,
            ])
    }
}

extension FailureCode<OAuthError> {
    /// The server's metadata is malformed, or a URL doesn't use https.
    public static var invalidServer: Self { Self("invalidServer", 1) }
    /// The metadata, a redirect or an ID token comes from another issuer (RFC 8414, section 3.3; RFC 9207).
    public static var issuerMismatch: Self { Self("issuerMismatch", 2) }
    /// The server doesn't have the required endpoint, or doesn't support PKCE with S256.
    public static var unsupported: Self { Self("unsupported", 3) }
    /// A parameter isn't allowed, for example because the client sets it.
    public static var invalidParameter: Self { Self("invalidParameter", 4) }
    /// The redirect belongs to another sign-in: its `state` differs (RFC 6749, section 10.12).
    public static var stateMismatch: Self { Self("stateMismatch", 5) }
    /// The redirect goes to another URI, or is malformed.
    public static var invalidRedirect: Self { Self("invalidRedirect", 6) }
    /// The browser or the listener for the redirect failed to start.
    public static var browserFailed: Self { Self("browserFailed", 7) }
    /// The user closed the browser.
    public static var signInCancelled: Self { Self("signInCancelled", 8) }
    /// The user didn't sign in before the time limit.
    public static var signInTimedOut: Self { Self("signInTimedOut", 9) }
    /// The user or the server refused access: `access_denied`.
    public static var accessDenied: Self { Self("accessDenied", 10) }
    /// The code or the refresh token is invalid, expired or revoked: `invalid_grant`.
    public static var invalidGrant: Self { Self("invalidGrant", 11) }
    /// The user didn't enter the device's code in time (RFC 8628, section 3.5).
    public static var deviceCodeExpired: Self { Self("deviceCodeExpired", 12) }
    /// The server refused the request with another error; see ``OAuthError/serverCode``.
    public static var refused: Self { Self("refused", 13) }
    /// The server's response doesn't follow the specification.
    public static var invalidResponse: Self { Self("invalidResponse", 14) }
    /// The token doesn't have the requested type, for example because the server ignored DPoP.
    public static var tokenTypeMismatch: Self { Self("tokenTypeMismatch", 15) }
    /// A renewed token belongs to another user.
    public static var userMismatch: Self { Self("userMismatch", 16) }
    /// There's no token, or no refresh token.
    public static var noToken: Self { Self("noToken", 17) }
    /// The store couldn't read or write the token.
    public static var storeFailed: Self { Self("storeFailed", 18) }
    /// The key couldn't sign an assertion or a proof.
    public static var keyFailed: Self { Self("keyFailed", 19) }
    /// The request couldn't be sent, or its response was lost; see ``OAuthError/underlying``.
    public static var requestFailed: Self { Self("requestFailed", 20) }
}

enum ServerText {
    /// Many servers send blank text for missing parts.
    static func given(_ text: String?) -> String? {
        text?.utf8.contains { $0 > 0x20 && $0 != 0x7F } == true ? text : nil
    }

    /// Masks secrets before it cuts the text, so no part of a secret remains.
    static func shown(_ text: String, upTo limit: Int = 200, hiding secrets: [String]) -> String {
        let secrets = secrets.filter { $0.utf8.count >= 4 }
        // Limits the time for masking. The shown text is far shorter.
        var result = String(text.prefix(16_384))
        for secret in secrets {
            for form in Set([secret, PercentEncoding.encode(secret), FormEncoding.encode(secret)]) {
                result = result.replacing(form, with: Redaction.mask)
            }
        }
        let decoded = PercentEncoding.decodeLeniently(result, plusIsSpace: true)
        if secrets.contains(where: decoded.contains) { return Redaction.mask }
        let cut = result.count > limit ? result.prefix(limit) + "…" : Substring(result)
        return ControlCharacters.escaped(String(cut))
    }
}
