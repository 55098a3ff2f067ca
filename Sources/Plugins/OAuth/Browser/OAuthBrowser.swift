public import ErrandEssentials

/// Shows a server's sign-in page, and receives the redirect at its end. ``LoopbackBrowser`` is for desktops and
/// terminals; on Apple's platforms, `WebAuthenticationBrowser` shows the system's sheet.
///
/// For an app that receives the redirect by itself, conform to it:
///
/// ```swift
/// struct AppBrowser: OAuthBrowser {
///     let open: @Sendable (URL) async throws -> URL       // returns the URL with which the app was opened
///
///     func redirect(from page: SignInPage) async throws -> String {
///         try await open(page.url(for: "com.example.app:/signed-in")).absoluteString
///     }
/// }
/// ```
public protocol OAuthBrowser: Sendable {
    /// Shows the page and returns the URL to which the server redirects, as received. The client checks it.
    ///
    /// Stop when the task is cancelled. Throw ``OAuthError`` with `signInCancelled` if the user closes the page.
    func redirect(from page: SignInPage) async throws -> String
}

/// A server's sign-in page, as a browser receives it. Its URL depends on the browser's redirect URI.
public struct SignInPage: Sendable {
    private let makeURL: @Sendable (String) async throws -> URL
    /// Whether a redirect belongs to this sign-in. Anybody can send another one to a port of this machine.
    let isAnsweredBy: @Sendable (_ redirect: String) -> Bool

    /// Creates a page, for tests of your own browser.
    public init(_ makeURL: @escaping @Sendable (_ redirectURI: String) async throws -> URL) {
        self.init(isAnsweredBy: { _ in true }, makeURL)
    }

    init(
        isAnsweredBy: @escaping @Sendable (_ redirect: String) -> Bool,
        _ makeURL: @escaping @Sendable (_ redirectURI: String) async throws -> URL
    ) { (self.isAnsweredBy, self.makeURL) = (isAnsweredBy, makeURL) }

    /// Returns the URL to open. Call it once.
    ///
    /// - Parameter redirectURI: A redirect URI that's registered at the server.
    public func url(for redirectURI: String) async throws -> URL { try await makeURL(redirectURI) }
}
