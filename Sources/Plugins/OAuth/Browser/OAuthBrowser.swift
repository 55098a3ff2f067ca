public import ErrandEssentials

/// Shows a server's sign-in page and receives the redirect. Use ``LoopbackBrowser`` in desktop apps and terminals. On
/// Apple's platforms, use `WebAuthenticationBrowser`, which shows the system's sheet.
///
/// Conform to this protocol if your app receives the redirect itself:
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
    /// Shows the page and returns the redirect's URL exactly as received. The client checks the URL.
    ///
    /// If the task is cancelled, close the page and throw. If the user closes the page, throw ``OAuthError`` with
    /// `signInCancelled`.
    func redirect(from page: SignInPage) async throws -> String
}

/// A server's sign-in page, for an ``OAuthBrowser`` to open. The page's URL contains the browser's redirect URI.
public struct SignInPage: Sendable {
    private let makeURL: @Sendable (String) async throws -> URL
    /// Other programs can also send redirects to the listener.
    let isAnsweredBy: @Sendable (_ redirect: String) -> Bool

    /// Creates a page. Use it to test your own browser.
    public init(_ makeURL: @escaping @Sendable (_ redirectURI: String) async throws -> URL) {
        self.init(isAnsweredBy: { _ in true }, makeURL)
    }

    init(
        isAnsweredBy: @escaping @Sendable (_ redirect: String) -> Bool,
        _ makeURL: @escaping @Sendable (_ redirectURI: String) async throws -> URL
    ) { (self.isAnsweredBy, self.makeURL) = (isAnsweredBy, makeURL) }

    /// Returns the URL to open. Call it once.
    ///
    /// - Parameter redirectURI: The redirect URI, registered at the server.
    public func url(for redirectURI: String) async throws -> URL { try await makeURL(redirectURI) }
}
