#if os(iOS) || os(macOS) || os(visionOS)
public import AuthenticationServices
import Synchronization

/// Shows the sign-in page in the system's sheet (`ASWebAuthenticationSession`), which shares Safari's cookies.
///
/// ```swift
/// let browser = WebAuthenticationBrowser(redirectURI: "com.example.app:/signed-in") { window }
/// let token = try await client.signIn(scope: "profile", browser: browser)
/// ```
///
/// Cancelling the task closes the sheet. If the user closes it, the sign-in throws ``OAuthError`` with
/// `signInCancelled`.
public struct WebAuthenticationBrowser: OAuthBrowser {
    /// The redirect URI. It has a scheme that belongs to the app, or is an https URL whose domain is associated with
    /// the app.
    public let redirectURI: String
    /// Whether the sheet opens without Safari's cookies, so the user has to sign in again. Defaults to false.
    public var isEphemeral = false
    private let anchor: @MainActor @Sendable () -> ASPresentationAnchor

    /// Creates a browser.
    ///
    /// - Parameters:
    ///   - redirectURI: The redirect URI that's registered at the server.
    ///   - anchor: Returns the window that shows the sheet.
    public init(redirectURI: String, anchor: @escaping @MainActor @Sendable () -> ASPresentationAnchor) {
        (self.redirectURI, self.anchor) = (redirectURI, anchor)
    }

    /// Shows the sheet and returns the redirect's URL.
    public func redirect(from page: SignInPage) async throws -> String {
        guard let address = URL(string: redirectURI), let scheme = address.scheme else {
            throw OAuthError(.browserFailed, "the redirect URI isn't a URL")
        }
        let callback: ASWebAuthenticationSession.Callback
        if scheme.lowercased() == "https", let host = address.host {
            callback = .https(host: host, path: address.path)
        } else {
            callback = .customScheme(scheme)
        }
        return try await WebAuthenticationSheet.show(
            try await page.url(for: redirectURI), callback, isEphemeral, anchor)
    }
}

@MainActor
private final class WebAuthenticationSheet: NSObject, ASWebAuthenticationPresentationContextProviding {
    private let anchor: @MainActor @Sendable () -> ASPresentationAnchor
    private var session: ASWebAuthenticationSession?

    init(_ anchor: @escaping @MainActor @Sendable () -> ASPresentationAnchor) { self.anchor = anchor }

    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor { anchor() }

    static func show(
        _ page: URL, _ callback: ASWebAuthenticationSession.Callback, _ isEphemeral: Bool,
        _ anchor: @escaping @MainActor @Sendable () -> ASPresentationAnchor
    ) async throws -> String {
        let sheet = WebAuthenticationSheet(anchor)
        return try await withTaskCancellationHandler {
            try Task.checkCancellation()
            return try await sheet.run(page, callback, isEphemeral)
        } onCancel: {
            Task { @MainActor in sheet.session?.cancel() }
        }
    }

    private func run(
        _ page: URL, _ callback: ASWebAuthenticationSession.Callback, _ isEphemeral: Bool
    ) async throws -> String {
        defer { session = nil }
        return try await withCheckedThrowingContinuation { continuation in
            let session = ASWebAuthenticationSession(url: page, callback: callback) { @Sendable url, error in
                if let url { return continuation.resume(returning: url.absoluteString) }
                let isClosed = (error as? ASWebAuthenticationSessionError)?.code == .canceledLogin
                continuation.resume(
                    throwing: OAuthError(
                        isClosed ? .signInCancelled : .browserFailed,
                        isClosed ? "the user closed the sign-in" : "the sign-in sheet failed",
                        underlying: isClosed ? nil : error))
            }
            session.presentationContextProvider = self
            session.prefersEphemeralWebBrowserSession = isEphemeral
            self.session = session
            if !session.start() {
                continuation.resume(throwing: OAuthError(.browserFailed, "the sign-in sheet couldn't be shown"))
            }
        }
    }
}
#endif
